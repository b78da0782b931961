//! An agent on a bench: a catalog, permissions, and shorthand for events and effects.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::agent::{Agent, AgentConfig, AuditWhat, Effect, Event};
use crate::bridge::Notice;
use crate::domain::model::{Finish, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind};
use crate::domain::turn::BadArguments;
use crate::domain::{
    Annotations, Answer, CallId, CallState, Catalog, Content, Era, Interaction, Message, Mode,
    ModelName, Outcome, PinState, QuestionId, RequestedCall, Server, ServerConnection, ServerState,
    Tool, ToolDefinition, ToolId, ToolOutput, TurnEnd, TurnId,
};
use crate::permission::policy::ServerPolicy;
use crate::permission::{Pattern, Policy, Rule};

pub(super) struct Rig {
    pub(super) agent: Agent,
    pub(super) now: Instant,
}

/// The server `free` runs without a question, `asks` asks, `closed` denies; each has the tools
/// `one`, `two` and `picky` (which wants a text `q`).
pub(super) fn rig() -> Rig {
    Rig::new(AgentConfig::new(Interaction::Interactive))
}

pub(super) fn headless() -> Rig {
    Rig::new(AgentConfig::new(Interaction::Headless))
}

impl Rig {
    pub(super) fn new(config: AgentConfig) -> Self {
        let mode = |mode| ServerPolicy { mode: Some(mode), rules: Vec::new() };
        let servers = HashMap::from([
            ("free".into(), mode(Mode::Auto)),
            ("asks".into(), mode(Mode::Ask)),
            ("closed".into(), mode(Mode::Deny)),
        ]);
        let mut agent = Agent::new(config, Policy::new(Mode::Ask, servers));
        let now = Instant::now();
        agent.handle(Event::CatalogChanged { catalog: catalog("pin") }, now);
        Self { agent, now }
    }

    /// All effects of an event but those about the size of the context.
    pub(super) fn all(&mut self, event: Event) -> Vec<Effect> {
        self.now += Duration::from_millis(10);
        let context =
            |effect: &Effect| matches!(effect, Effect::Tell(Notice::ContextChanged { .. }));
        let mut effects = self.agent.handle(event, self.now);
        effects.retain(|effect| !context(effect));
        effects
    }

    /// The effects of an event in short words; those about files are left out.
    pub(super) fn does(&mut self, event: Event) -> Vec<String> {
        self.all(event).iter().filter_map(in_short).collect()
    }

    /// Begins a turn and lets the model answer with these calls.
    pub(super) fn model_calls(&mut self, calls: Vec<RequestedCall>) -> Vec<String> {
        self.does(submit("go"));
        self.model_calls_again(1, calls)
    }

    pub(super) fn model_calls_again(
        &mut self,
        turn: u64,
        calls: Vec<RequestedCall>,
    ) -> Vec<String> {
        let mut done = Vec::new();
        for call in calls {
            done.extend(self.does(says(turn, ModelEvent::Call(call))));
        }
        done.extend(self.does(says(turn, ModelEvent::Finished(Finish::ToolCalls))));
        done
    }

    /// The request that this event leads to.
    pub(super) fn request(&mut self, event: Event) -> ModelRequest {
        let asked = self.all(event).into_iter().find_map(|effect| match effect {
            Effect::AskModel { request, .. } => Some(request),
            _ => None,
        });
        asked.expect("the model is asked")
    }

    /// What the model is told of a call that ends so.
    pub(super) fn told(&mut self, event: Event) -> String {
        let text = self.all(event).into_iter().find_map(|effect| match effect {
            Effect::Tell(
                Notice::CallChanged { state: CallState::Done { for_model, .. }, .. }
                | Notice::CallRefused { for_model, .. },
            ) => Some(for_model.to_string()),
            _ => None,
        });
        text.expect("a call ends")
    }
}

pub(super) fn in_short(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::AskModel { turn, .. } => format!("ask model {turn}"),
        Effect::StopModel { turn } => format!("stop model {turn}"),
        Effect::RunCall { call } => {
            format!("run {} {}", call.id, Value::Object(call.arguments.as_ref().clone()))
        }
        Effect::StopCall { call } => format!("stop {call}"),
        Effect::Remember { server, rule } => {
            format!("remember {}", rule.to_yaml_value(Some(server)))
        }
        Effect::Audit(_) | Effect::Save(_) => return None,
        Effect::Tell(notice) => told_in_short(notice),
    })
}

fn told_in_short(notice: &Notice) -> String {
    match notice {
        Notice::TurnStarted { turn, text } => format!("turn {turn} starts: {text}"),
        Notice::Queued { texts } => format!("queued {texts:?}"),
        Notice::TakenBack { texts } => format!("back {texts:?}"),
        Notice::Text { chunk, .. } => format!("text {chunk}"),
        Notice::Reasoning { chunk, .. } => format!("reasoning {chunk}"),
        Notice::CallChanged { call, state } => match state {
            CallState::Asking => format!("{} asking", call.id),
            CallState::Running { progress: None } => format!("{} running", call.id),
            CallState::Running { progress: Some(progress) } => {
                format!("{} at {}", call.id, progress.done)
            }
            CallState::Done { outcome, .. } => format!("{} {}", call.id, outcome.word()),
        },
        Notice::CallRefused { name, outcome, .. } => format!("refused {name}: {}", outcome.word()),
        Notice::Asked { approval } => format!("asked {}", approval.call.id),
        Notice::AskClosed { call, why } => format!("closed {call}: {why}"),
        Notice::Questioned { question } => format!("question {}: {:?}", question.id, question.kind),
        Notice::QuestionClosed { question } => format!("question {question} closed"),
        Notice::Warned { .. } => "warned".to_owned(),
        Notice::TurnEnded { reason: TurnEnd::Failed { unreachable, .. }, .. } => {
            format!("ended Failed unreachable={unreachable}")
        }
        Notice::TurnEnded { reason: TurnEnd::Incomplete { .. }, .. } => {
            "ended Incomplete".to_owned()
        }
        Notice::TurnEnded { reason, .. } => format!("ended {reason:?}"),
        other => format!("{other:?}"),
    }
}

/// Decisions and outcomes of the audit log, in short words.
pub(super) fn audits(effects: &[Effect]) -> Vec<String> {
    let audit = |effect: &Effect| match effect {
        Effect::Audit(record) => Some(match &record.what {
            AuditWhat::Decision { allowed, by } => {
                let word = if *allowed { "allowed" } else { "denied" };
                format!("{} {word} by {by}", record.call.id)
            }
            AuditWhat::Outcome { outcome, .. } => format!("{} {outcome}", record.call.id),
        }),
        _ => None,
    };
    effects.iter().filter_map(audit).collect()
}

/// The messages of a request in short: `user`, `assistant`, `result k1`.
pub(super) fn roles(request: &ModelRequest) -> Vec<String> {
    let role = |message: &Message| match message {
        Message::User { text } => format!("user {text}"),
        Message::Assistant { text, calls, incomplete, .. } => {
            let ids: Vec<&str> = calls.iter().map(|call| call.provider_id.as_str()).collect();
            let mark = if *incomplete { " (incomplete)" } else { "" };
            format!("assistant {text}{ids:?}{mark}")
        }
        Message::Result { provider_id, is_error, .. } => {
            format!("{} {provider_id}", if *is_error { "error" } else { "result" })
        }
    };
    request.messages.iter().map(role).collect()
}

pub(super) fn submit(text: &str) -> Event {
    Event::Submitted { text: text.into() }
}

pub(super) fn says(turn: u64, event: ModelEvent) -> Event {
    Event::Model { turn: TurnId(turn), event }
}

pub(super) fn text(turn: u64, chunk: &str) -> Event {
    says(turn, ModelEvent::Text(chunk.into()))
}

pub(super) fn finish(turn: u64, finish: Finish) -> Event {
    says(turn, ModelEvent::Finished(finish))
}

pub(super) fn fails(turn: u64, kind: ProviderErrorKind) -> Event {
    let error = ProviderError { kind, message: "it said no".into(), retry_after: None };
    Event::ModelFailed { turn: TurnId(turn), error }
}

pub(super) fn wants(id: &str, name: &str, arguments: Value) -> RequestedCall {
    RequestedCall {
        provider_id: id.into(),
        name: name.into(),
        arguments: Ok(Arc::new(object(arguments))),
    }
}

pub(super) fn wants_broken(id: &str, name: &str) -> RequestedCall {
    let bad =
        BadArguments { raw: "{\"q\": \"never en".into(), fault: "the text never ends".into() };
    RequestedCall { provider_id: id.into(), name: name.into(), arguments: Err(bad) }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("no object: {value}") };
    object
}

pub(super) fn answer(call: u64, answer: Answer) -> Event {
    Event::Answered { call: CallId(call), answer }
}

pub(super) fn deny(note: &str) -> Answer {
    Answer::Deny { note: note.into() }
}

pub(super) fn done(call: u64, outcome: Outcome) -> Event {
    Event::CallDone { call: CallId(call), outcome }
}

pub(super) fn ok(text: &str) -> Outcome {
    Outcome::Ok(output(vec![Content::Text(text.into())]))
}

pub(super) fn output(content: Vec<Content>) -> ToolOutput {
    ToolOutput { content, ..ToolOutput::default() }
}

pub(super) fn decide(question: u64, go_on: bool) -> Event {
    Event::Decided { question: QuestionId(question), go_on }
}

pub(super) fn tool(server: &str, name: &str, pin: &str) -> Tool {
    let schema = if name == "picky" {
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
    } else {
        json!({"type": "object"})
    };
    let definition = ToolDefinition {
        name: name.into(),
        title: None,
        description: format!("does {name}"),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::new(Value::Null),
    };
    Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(definition),
        pin: pin.into(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 10,
    }
}

pub(super) fn server(name: &str, state: ServerState, pin: &str) -> Server {
    let connection = ServerConnection {
        era: Era::Modern,
        protocol_version: "2026-07-28".into(),
        session: false,
        capabilities: Vec::new(),
        identity: name.into(),
        instructions: (name == "free").then(|| "List before you get.".to_owned()),
    };
    Server {
        name: name.into(),
        url: format!("https://{name}.example/mcp"),
        host: format!("{name}.example:443"),
        state,
        connection: Some(connection),
        permission: Mode::Ask,
        tools: ["one", "two", "picky"].map(|tool_name| Arc::new(tool(name, tool_name, pin))).into(),
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    }
}

/// All three servers ready; every definition has this pin.
pub(super) fn catalog(pin: &str) -> Arc<Catalog> {
    let servers = ["free", "asks", "closed"].map(|name| server(name, ServerState::Ready, pin));
    Arc::new(Catalog::new(servers.into(), Vec::new(), 1))
}

pub(super) fn catalog_without_asks() -> Arc<Catalog> {
    let failed = ServerState::Disabled { reason: "switched off by you".into() };
    let servers = vec![server("free", ServerState::Ready, "pin"), server("asks", failed, "pin")];
    Arc::new(Catalog::new(servers, Vec::new(), 2))
}

pub(super) fn deny_rule(tool: &str) -> Rule {
    Rule::new(Pattern(tool.into()), Mode::Deny)
}
