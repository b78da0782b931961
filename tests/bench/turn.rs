//! The turn on top of a conversation of 10 MB: building the next request, and taking in a piece of
//! the model's answer.
//!
//! `cargo bench --bench turn`. Each figure stands beside a floor that was measured in the same run:
//! copying the same bytes, and appending to a plain string. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mini_me_tui::agent::{Agent, AgentConfig, Effect, Event};
use mini_me_tui::config::ModelConfig;
use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::model::{Finish, ModelEvent, ModelRequest};
use mini_me_tui::domain::{CallId, Interaction, Message, Mode, RequestedCall, TurnId};
use mini_me_tui::permission::Policy;
use mini_me_tui::provider::openai::{self, Omit};
use serde_json::json;

/// Bytes of the conversation, and of one of its messages.
const HISTORY: usize = 10 << 20;
const MESSAGE: usize = 2 << 10;
const ROUNDS: usize = 50;
const DELTAS: usize = 20_000;

fn main() {
    println!("medians of {ROUNDS}; `floor` is the same bytes copied once");
    for bytes in [0, HISTORY / 100, HISTORY / 10, HISTORY] {
        requests(bytes);
    }
    println!("one piece of an answer, mean of {DELTAS}; `floor` is appending it to a string");
    for bytes in [0, HISTORY / 10, HISTORY] {
        deltas(bytes);
    }
}

/// Turns of a message, a call, its result and an answer, until there are so many bytes.
fn history(bytes: usize) -> Vec<Message> {
    let text = "some words, one after the other ".repeat(MESSAGE / 32);
    let turns = bytes / (3 * MESSAGE);
    let turn = |n: usize| {
        let arguments = json!({"n": n}).as_object().cloned().unwrap();
        let call = RequestedCall {
            provider_id: format!("call_{n}"),
            name: "desk_echo".into(),
            arguments: Ok(Arc::new(arguments)),
        };
        let said = |text: &str, calls| Message::Assistant {
            text: text.to_owned(),
            reasoning: None,
            calls,
            incomplete: false,
        };
        let result = Message::Result {
            provider_id: format!("call_{n}"),
            call: Some(CallId(n as u64)),
            name: "desk_echo".into(),
            text: text.as_str().into(),
            is_error: false,
        };
        [
            Message::User { text: text.clone() },
            said("", vec![call]),
            result,
            said(&text, Vec::new()),
        ]
    };
    (0..turns).flat_map(turn).collect()
}

fn agent(bytes: usize) -> Agent {
    let config = AgentConfig::new(Interaction::Interactive);
    let policy = Policy::new(Mode::Ask, std::collections::HashMap::new());
    Agent::new(config, policy).resume(history(bytes))
}

fn asked(effects: Vec<Effect>) -> (TurnId, ModelRequest) {
    let asked = effects.into_iter().find_map(|effect| match effect {
        Effect::AskModel { turn, request } => Some((turn, request)),
        _ => None,
    });
    asked.unwrap()
}

fn requests(bytes: usize) {
    let mut agent = agent(bytes);
    let copied = history(bytes);
    let (mut building, mut floor, mut mapping) = (Vec::new(), Vec::new(), Vec::new());
    let config = endpoint();
    // The provider still holds the last request while the next one is made.
    let mut held;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let effects = agent.handle(Event::Submitted { text: "next".into() }, begun);
        building.push(begun.elapsed());
        let (turn, request) = asked(effects);
        let begun = Instant::now();
        black_box(copied.clone());
        floor.push(begun.elapsed());
        if mapping.len() < 5 {
            let begun = Instant::now();
            let body = openai::request(&request, &config, Omit::default()).body;
            black_box(serde_json::to_vec(&body).unwrap());
            mapping.push(begun.elapsed());
        }
        held = request;
        agent.handle(Event::Model { turn, event: ModelEvent::Text("yes".into()) }, begun);
        agent.handle(Event::Model { turn, event: ModelEvent::Finished(Finish::Stop) }, begun);
        black_box(&held);
    }
    let (building, floor, mapping) = (median(building), median(floor), median(mapping));
    println!(
        "{:>9} bytes, {:>6} messages: request {:>10.1?}, floor {:>10.1?} (ratio {:.3}); as JSON of the protocol {:>10.1?}",
        bytes,
        copied.len(),
        building,
        floor,
        building.as_secs_f64() / floor.as_secs_f64().max(1e-9),
        mapping,
    );
}

fn deltas(bytes: usize) {
    let mut agent = agent(bytes);
    let effects = agent.handle(Event::Submitted { text: "next".into() }, Instant::now());
    let (turn, _request) = asked(effects);
    let begun = Instant::now();
    for _ in 0..DELTAS {
        let event = ModelEvent::Text("some words ".into());
        black_box(agent.handle(Event::Model { turn, event }, begun));
    }
    let ours = begun.elapsed() / u32::try_from(DELTAS).unwrap();
    let mut plain = String::new();
    let begun = Instant::now();
    for _ in 0..DELTAS {
        let chunk = black_box("some words ".to_owned());
        plain.push_str(&chunk);
    }
    let floor = begun.elapsed() / u32::try_from(DELTAS).unwrap();
    black_box(plain);
    println!(
        "{bytes:>9} bytes: piece {ours:>8.1?}, floor {floor:>8.1?} (ratio {:.1})",
        ours.as_secs_f64() / floor.as_secs_f64().max(1e-9)
    );
}

fn endpoint() -> ModelConfig {
    ModelConfig {
        provider: ProviderKind::OpenAi,
        base_url: "http://localhost:1/v1".parse().unwrap(),
        name: "m".into(),
        api_key: None,
        api_key_env: None,
        context_window: None,
        max_output_tokens: None,
        temperature: None,
        headers: Vec::new(),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
