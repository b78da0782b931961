//! Whatever happens in whatever order: what both providers make of a request is what their protocols
//! accept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mini_me_tui::agent::{Agent, AgentConfig, Effect, Event};
use mini_me_tui::config::ModelConfig;
use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::model::{
    Finish, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind,
};
use mini_me_tui::domain::turn::{BadArguments, Reasoning};
use mini_me_tui::domain::{
    Annotations, Answer, CallId, Catalog, Content, Interaction, Mode, ModelName, Outcome, PinState,
    QuestionId, RequestedCall, Server, ServerState, Tool, ToolDefinition, ToolId, ToolOutput,
    TurnId, Usage,
};
use mini_me_tui::permission::Policy;
use mini_me_tui::permission::policy::ServerPolicy;
use mini_me_tui::provider::openai::Omit;
use mini_me_tui::provider::{anthropic, openai};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One step of a story; whom it is about is filled in from what is open.
#[derive(Debug, Clone)]
enum Step {
    Says(String),
    Wants(Vec<(String, String, bool)>),
    Reasons,
    Finishes(Finish),
    Fails(ProviderErrorKind),
    Counts(u64),
    Submits(String),
    TakesBack,
    Answers(Answer),
    Ends(Outcome),
    Decides(bool),
    Interrupts,
    Loses,
    Finds,
    StartsOver,
}

fn tool(server: &str, name: &str, tokens: u32) -> Arc<Tool> {
    let definition = ToolDefinition {
        name: name.into(),
        title: None,
        description: format!("does {name}"),
        input_schema: Arc::new(json!({"type": "object"})),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::default(),
    };
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(definition),
        pin: String::new(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens,
    })
}

fn catalog(asks: ServerState) -> Event {
    let server = |name: &str, state| Server {
        name: name.into(),
        url: String::new(),
        host: String::new(),
        state,
        connection: None,
        permission: Mode::Ask,
        tools: (0..4).map(|n| tool(name, &format!("t{n}"), 40)).collect(),
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    };
    let servers = vec![server("free", ServerState::Ready), server("asks", asks)];
    Event::CatalogChanged { catalog: Arc::new(Catalog::new(servers, Vec::new(), 1)) }
}

fn texts() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "", "a longer sentence ", "\n"]).prop_flat_map(|text| {
        prop::sample::select(vec![1_usize, 1, 1, 60, 400]).prop_map(move |times| text.repeat(times))
    })
}

fn wanted() -> impl Strategy<Value = (String, String, bool)> {
    let names = prop::sample::select(vec![
        "free_t0",
        "free_t1",
        "asks_t0",
        "asks_t1",
        "no such tool!",
        "",
        "mini_me_search_tools",
        "mini_me_read_result",
    ]);
    let ids = prop::sample::select(vec!["k", "l", "", "toolu.odd id"]);
    (ids, names, prop::bool::weighted(0.1))
        .prop_map(|(id, name, bad)| (id.to_owned(), name.to_owned(), bad))
}

fn steps() -> impl Strategy<Value = Step> {
    use ProviderErrorKind as Kind;
    let finishes = vec![
        Finish::Stop,
        Finish::ToolCalls,
        Finish::Length,
        Finish::ContentFilter,
        Finish::Refused,
        Finish::Incomplete,
        Finish::Empty,
    ];
    let kinds = vec![Kind::Broken, Kind::TooLong, Kind::Server, Kind::Unreachable];
    let answers = vec![
        Answer::Once,
        Answer::Session,
        Answer::Edit(Arc::default()),
        Answer::Deny { note: "no".into() },
    ];
    let text = |text: &str| {
        let content = vec![Content::Text(text.to_owned())];
        Outcome::Ok(ToolOutput { content, ..ToolOutput::default() })
    };
    let outcomes = vec![
        text("fine"),
        text(&"some long result\n".repeat(2000)),
        Outcome::Ok(ToolOutput::default()),
        Outcome::Unknown { reason: "lost".into() },
        Outcome::Cancelled { sent: true },
    ];
    prop_oneof![
        6 => texts().prop_map(Step::Says),
        8 => prop::collection::vec(wanted(), 1..4).prop_map(Step::Wants),
        1 => Just(Step::Reasons),
        10 => prop::sample::select(finishes).prop_map(Step::Finishes),
        2 => prop::sample::select(kinds).prop_map(Step::Fails),
        1 => (0..20_000_u64).prop_map(Step::Counts),
        5 => texts().prop_map(Step::Submits),
        1 => Just(Step::TakesBack),
        6 => prop::sample::select(answers).prop_map(Step::Answers),
        8 => prop::sample::select(outcomes).prop_map(Step::Ends),
        2 => any::<bool>().prop_map(Step::Decides),
        1 => Just(Step::Interrupts),
        1 => Just(Step::Loses),
        1 => Just(Step::Finds),
        1 => prop::bool::weighted(0.1).prop_map(|yes| if yes { Step::StartsOver } else { Step::Interrupts }),
    ]
}

/// An agent and what is open in it, as the conductor would know.
struct Scene {
    agent: Agent,
    now: Instant,
    turn: TurnId,
    calls: Vec<CallId>,
    asked: Vec<CallId>,
    questions: u64,
    requests: Vec<ModelRequest>,
}

impl Scene {
    fn new(window: Option<u64>) -> Self {
        let mode = |mode| ServerPolicy { mode: Some(mode), rules: Vec::new() };
        let servers =
            HashMap::from([("free".into(), mode(Mode::Auto)), ("asks".into(), mode(Mode::Ask))]);
        let config = AgentConfig { window, ..AgentConfig::new(Interaction::Interactive) };
        let mut scene = Self {
            agent: Agent::new(config, Policy::new(Mode::Ask, servers)),
            now: Instant::now(),
            turn: TurnId(0),
            calls: Vec::new(),
            asked: Vec::new(),
            questions: 0,
            requests: Vec::new(),
        };
        scene.handle(catalog(ServerState::Ready));
        scene
    }

    fn handle(&mut self, event: Event) {
        self.now += Duration::from_millis(10);
        for effect in self.agent.handle(event, self.now) {
            match effect {
                Effect::AskModel { turn, request } => {
                    self.turn = turn;
                    self.requests.push(request);
                }
                Effect::RunCall { call } => self.calls.push(call.id),
                Effect::Tell(mini_me_tui::bridge::Notice::Asked { approval }) => {
                    self.asked.push(approval.call.id);
                }
                Effect::Tell(mini_me_tui::bridge::Notice::Questioned { question }) => {
                    self.questions = question.id.0;
                }
                _ => {}
            }
        }
    }

    fn says(&mut self, event: ModelEvent) {
        self.handle(Event::Model { turn: self.turn, event });
    }

    fn does(&mut self, step: Step) {
        match step {
            Step::Says(text) => self.says(ModelEvent::Text(text)),
            Step::Wants(calls) => {
                for (id, name, bad) in calls {
                    let fault = || BadArguments { raw: "{\"q".into(), fault: "cut".into() };
                    let arguments = json!({"q": "x", "id": 1, "query": "t0"});
                    let arguments = arguments.as_object().cloned().unwrap();
                    let arguments = if bad { Err(fault()) } else { Ok(Arc::new(arguments)) };
                    let name = ModelName::new(name);
                    let call = RequestedCall { provider_id: id, name, arguments };
                    self.says(ModelEvent::Call(call));
                }
            }
            Step::Reasons => {
                self.says(ModelEvent::Reasoning("hm".into()));
                let reasoning =
                    Reasoning { text: "hm".into(), field: "reasoning".into(), signature: None };
                self.says(ModelEvent::ReasoningDone(reasoning));
            }
            Step::Finishes(finish) => self.says(ModelEvent::Finished(finish)),
            Step::Fails(kind) => {
                let error = ProviderError { kind, message: "no".into(), retry_after: None };
                self.handle(Event::ModelFailed { turn: self.turn, error });
            }
            Step::Counts(input) => {
                self.says(ModelEvent::Usage(Usage { input: Some(input), ..Usage::default() }));
            }
            Step::Submits(text) => self.handle(Event::Submitted { text }),
            Step::TakesBack => self.handle(Event::TakenBack { at: 0, text: "x".into() }),
            Step::Answers(answer) => {
                if !self.asked.is_empty() {
                    let call = self.asked.remove(0);
                    self.handle(Event::Answered { call, answer });
                }
            }
            Step::Ends(outcome) => {
                if let Some(call) = self.calls.pop() {
                    self.handle(Event::CallDone { call, outcome });
                }
            }
            Step::Decides(go_on) => {
                self.handle(Event::Decided { question: QuestionId(self.questions), go_on });
            }
            Step::Interrupts => self.handle(Event::Interrupted),
            Step::Loses => {
                self.handle(catalog(ServerState::Disabled { reason: "off".into() }));
            }
            Step::Finds => self.handle(catalog(ServerState::Ready)),
            Step::StartsOver => self.handle(Event::NewSession),
        }
    }
}

fn config(provider: ProviderKind) -> ModelConfig {
    ModelConfig {
        provider,
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

/// Roles take turns, and each call has its one result right after the message that asked.
fn openai_accepts(request: &ModelRequest) {
    let body = openai::request(request, &config(ProviderKind::OpenAi), Omit::default()).body;
    let mut due: Vec<String> = Vec::new();
    let mut before = "system";
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        let role = message["role"].as_str().unwrap();
        match role {
            "system" => assert_eq!(at, 0, "{body}"),
            "tool" => {
                assert!(!due.is_empty(), "a result without a call: {body}");
                assert_eq!(due.remove(0), message["tool_call_id"].as_str().unwrap(), "{body}");
            }
            "user" => {
                assert!(due.is_empty() && before != "user", "{body}");
                assert!(message["content"].is_string());
            }
            "assistant" => {
                assert!(due.is_empty() && before != "assistant" && before != "system", "{body}");
                let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
                assert!(!calls.is_empty() || !message["content"].as_str().unwrap().is_empty());
                due = calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect();
                for call in &calls {
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
                    assert!(!call["function"]["name"].as_str().unwrap().is_empty());
                }
            }
            other => panic!("{other}: {body}"),
        }
        before = role;
    }
    assert!(due.is_empty() && (before == "user" || before == "tool"), "{body}");
}

/// Roles alternate from the user on; each call has its one result at the beginning of the next
/// message; no text is empty.
fn anthropic_accepts(request: &ModelRequest) {
    let body = anthropic::request(request, &config(ProviderKind::Anthropic), Omit::default()).body;
    let messages = body["messages"].as_array().unwrap();
    let mut due: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{body}");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty(), "{body}");
        let (results, others): (Vec<_>, Vec<_>) =
            blocks.iter().partition(|block| block["type"] == "tool_result");
        let ids: Vec<String> =
            results.iter().map(|block| block["tool_use_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, due, "{body}");
        assert!(
            blocks.iter().take(ids.len()).all(|block| block["type"] == "tool_result"),
            "{body}"
        );
        for block in &others {
            let text = block["text"].as_str();
            assert!(text.is_none_or(|text| !text.trim().is_empty()), "{body}");
        }
        due = others
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| block["id"].as_str().unwrap().to_owned())
            .collect();
        let mut distinct = due.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), due.len(), "{body}");
    }
    assert!(due.is_empty() && messages.len() % 2 == 1, "{body}");
}

proptest! {
    #[test]
    fn both_providers_get_what_they_accept(
        window in prop::sample::select(vec![None, Some(2_000_u64), Some(8_000)]),
        story in prop::collection::vec(steps(), 1..100),
    ) {
        let mut scene = Scene::new(window);
        scene.handle(Event::Submitted { text: "go".into() });
        for step in story {
            scene.does(step);
        }
        scene.handle(Event::Interrupted);
        scene.handle(Event::Interrupted);
        scene.handle(Event::Submitted { text: "last".into() });
        for request in &scene.requests {
            openai_accepts(request);
            anthropic_accepts(request);
        }
    }
}
