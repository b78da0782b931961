//! Long conversations in small windows.

use std::sync::Arc;

use serde_json::json;

use super::rig::*;
use crate::agent::{AgentConfig, Effect, Event};
use crate::bridge::Notice;
use crate::domain::model::{Finish, ModelRequest};
use crate::domain::turn::estimate_tokens;
use crate::domain::{CallId, ContextParts, Interaction, Message};

/// A conversation in which everything that happens is checked.
struct Long {
    rig: Rig,
    window: u64,
    turn: u64,
    call: u64,
    warned: Vec<String>,
    parts: ContextParts,
    /// What the model was asked last.
    request: Option<ModelRequest>,
    summaries: usize,
}

impl Long {
    fn new(window: u64) -> Self {
        let config = AgentConfig {
            window: Some(window),
            rounds: 1000,
            ..AgentConfig::new(Interaction::Interactive)
        };
        Self {
            rig: Rig::new(config),
            window,
            turn: 0,
            call: 0,
            warned: Vec::new(),
            parts: ContextParts::default(),
            request: None,
            summaries: 0,
        }
    }

    /// Takes an event in and answers requests for summaries.
    fn handle(&mut self, event: Event) {
        let mut asked = self.takes(event);
        while let Some(request) = asked.take() {
            if !request.system.starts_with("Summarise") {
                self.request = Some(request);
                return;
            }
            self.summaries += 1;
            assert!(tokens(&request) + request.max_output_tokens.unwrap() <= self.window);
            self.takes(text(self.turn, &format!("Summary {}.", self.summaries)));
            asked = self.takes(finish(self.turn, Finish::Stop));
        }
    }

    fn takes(&mut self, event: Event) -> Option<ModelRequest> {
        let effects = self.rig.agent.handle(event, self.rig.now);
        let mut asked = None;
        for effect in effects {
            match effect {
                Effect::AskModel { request, .. } => asked = Some(request),
                Effect::Tell(Notice::Warned { warning }) => self.warned.push(warning.message),
                Effect::Tell(Notice::ContextChanged { parts }) => self.parts = parts,
                _ => {}
            }
        }
        asked
    }

    fn submits(&mut self, message: &str) {
        self.turn += 1;
        self.handle(submit(message));
    }

    /// A round of calls with results of so many words each.
    fn round(&mut self, words: &[usize]) {
        for n in 0..words.len() {
            let call = wants(&format!("k{n}"), "free_one", json!({"n": self.call + n as u64}));
            self.handle(says(self.turn, crate::domain::model::ModelEvent::Call(call)));
        }
        self.handle(finish(self.turn, Finish::ToolCalls));
        self.request = None;
        for words in words {
            self.call += 1;
            self.handle(done(self.call, ok(&format!("r{} ", self.call).repeat(*words))));
        }
        self.fits();
    }

    fn ends(&mut self) {
        self.handle(text(self.turn, "All done, and this is what I found. "));
        self.handle(finish(self.turn, Finish::Stop));
    }

    /// The last request and its answer fit the window, and what is said of its size is true.
    fn fits(&self) {
        let request = self.request.as_ref().expect("the model is asked");
        let size = tokens(request);
        assert!(size <= self.window * 7 / 8, "{size} of {}: {request:#?}", self.window);
        let said = self.parts.total();
        assert!(said.abs_diff(size) <= size / 5 + 20, "{said} said of {size}");
    }

    fn roles(&self) -> Vec<String> {
        roles(self.request.as_ref().unwrap())
    }
}

/// What a request costs, counted from what is in it.
fn tokens(request: &ModelRequest) -> u64 {
    let messages: u64 = request
        .messages
        .iter()
        .map(|message| match message {
            Message::User { text } => estimate_tokens(text),
            Message::Assistant { text, calls, .. } => {
                estimate_tokens(text) + 12 * calls.len() as u64
            }
            Message::Result { text, .. } => estimate_tokens(text),
        })
        .sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| estimate_tokens(&tool.description) + estimate_tokens(&tool.schema.to_string()))
        .sum();
    estimate_tokens(&request.system) + messages + tools
}

#[test]
fn one_turn_of_many_rounds_stays_within_a_window_of_8k() {
    let mut long = Long::new(8192);
    long.submits("Find everything about project 42.");
    long.fits();
    for round in 0..60 {
        long.round(&[300 + (round % 7) * 100, 20]);
        let asked = "user Find everything about project 42.";
        assert!(long.roles().iter().any(|role| role == asked), "{:?}", long.roles());
    }
    assert!(long.summaries > 0);
    assert!(long.warned.iter().any(|said| said.contains("were shortened")), "{:?}", long.warned);
    let summarised = long.warned.iter().filter(|said| said.contains("were summarised")).count();
    assert_eq!(summarised, long.summaries, "each time is told");
}

#[test]
fn old_results_are_shortened_before_anything_is_summarised() {
    let mut long = Long::new(8192);
    long.submits("go");
    while long.warned.is_empty() {
        long.round(&[500]);
    }
    assert!(long.warned[0].contains("old results were shortened"), "{:?}", long.warned);
    assert_eq!(long.summaries, 0);
}

#[test]
fn many_turns_stay_within_a_window_of_2k_and_know_of_the_first() {
    let mut long = Long::new(2048);
    for turn in 0..30 {
        long.submits(&format!("Question {turn}: {}", "what about it? ".repeat(10)));
        long.fits();
        long.round(&[200]);
        long.round(&[40, 40]);
        long.ends();
    }
    assert!(long.summaries > 1, "{:?}", long.warned);
    long.submits("And now?");
    let roles = long.roles();
    assert!(roles[0].starts_with("user [Summary"), "{roles:?}");
}

#[test]
fn six_long_results_at_once_in_a_window_of_2k_are_shortened_together() {
    let mut long = Long::new(2048);
    long.submits("go");
    long.round(&[2000, 2000, 2000, 10, 2000, 2000]);
    assert!(long.warned.iter().any(|said| said.contains("recent results were shortened")));
    let request = long.request.as_ref().unwrap();
    let short = request.messages.iter().filter_map(|message| match message {
        Message::Result { text, call: Some(CallId(4)), .. } => Some(Arc::clone(text)),
        _ => None,
    });
    assert!(!short.last().unwrap().contains("Shortened"), "a short one stays whole");
}

#[test]
fn what_was_shortened_can_be_read_on_in() {
    let mut long = Long::new(8192);
    long.submits("go");
    while long.warned.is_empty() {
        long.round(&[500]);
    }
    let request = long.request.as_ref().unwrap();
    let first = request.messages.iter().find_map(|message| match message {
        Message::Result { text, .. } => Some(text.to_string()),
        _ => None,
    });
    let first = first.unwrap();
    assert!(first.contains("mini_me_read_result {\"id\": 1"), "{first}");
    let read = wants("k", "mini_me_read_result", json!({"id": 1, "offset": 600}));
    long.rig.does(says(1, crate::domain::model::ModelEvent::Call(read)));
    let told = long.rig.told(finish(1, Finish::ToolCalls));
    assert!(told.contains("\"totalCharacters\":1500") && told.contains("r1 r1 r1"), "{told}");
}

#[test]
fn the_endpoints_own_count_goes_into_the_meter_and_into_what_fits() {
    let mut long = Long::new(8192);
    long.submits("go");
    let estimated = long.parts.total();
    assert!(!long.parts.counted);
    let usage = crate::domain::Usage { input: Some(estimated * 2), ..Default::default() };
    long.handle(says(1, crate::domain::model::ModelEvent::Usage(usage)));
    let call = wants("k", "free_one", json!({}));
    long.handle(says(1, crate::domain::model::ModelEvent::Call(call)));
    long.handle(finish(1, Finish::ToolCalls));
    assert!(long.parts.counted);
    assert!(long.parts.total().abs_diff(estimated * 2) < 60, "{:?} {estimated}", long.parts);
}

#[test]
fn a_pasted_message_that_is_longer_than_the_window_is_summarised_in_part_and_that_is_told() {
    let mut long = Long::new(2048);
    long.submits(&"a very long paste ".repeat(1000));
    long.ends();
    long.submits("short");
    assert!(
        long.warned.iter().any(|said| said.contains("only the beginning and the end")),
        "{:?}",
        long.warned
    );
    long.fits();
}
