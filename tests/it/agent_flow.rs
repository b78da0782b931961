//! The runtime as a face sees it: operations in, notices out, with a scripted model and a scripted
//! MCP server on the loopback interface.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mini_me_tui::audit;
use mini_me_tui::bridge::{Notice, Op, Target};
use mini_me_tui::config::{
    AuditConfig, Config, McpConfig, ModelConfig, ProviderKind, RefusedServer, ServerConfig,
    UiConfig,
};
use mini_me_tui::domain::{
    Answer, Approval, CallState, Catalog, Message, Mode, Outcome, ServerState, ToolId, TurnEnd,
};
use mini_me_tui::paths::Paths;
use mini_me_tui::runtime::{self, Handle, Interaction, Setup};
use mini_me_tui::session::{SessionId, store};
use serde_json::{Value, json};

use crate::support::client::PATIENCE;
use crate::support::server::{Recorded, Reply, Server, error, result};

/// The face: it takes every notice and remembers it.
struct Face {
    handle: Handle,
    seen: Vec<Notice>,
}

impl Face {
    fn start(setup: Setup) -> Self {
        Self { handle: runtime::start(setup), seen: Vec::new() }
    }

    /// A face whose servers have settled.
    async fn settled(setup: Setup) -> Self {
        let mut face = Self::start(setup);
        face.catalog(Catalog::settled).await;
        face
    }

    async fn does(&self, op: Op) {
        self.handle.ops.send(op).await.unwrap();
    }

    async fn submits(&self, text: &str) {
        self.does(Op::Submit { text: text.into() }).await;
    }

    /// Takes notices until one of them is it.
    async fn until<T>(&mut self, what: &str, pick: impl Fn(&Notice) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let notice = self.handle.notices.recv().await;
                let notice = notice.unwrap_or_else(|| panic!("the runtime ended before {what}"));
                let picked = pick(&notice);
                self.seen.push(notice);
                if let Some(picked) = picked {
                    return picked;
                }
            }
        };
        let picked = tokio::time::timeout(PATIENCE, waiting).await.ok();
        picked.unwrap_or_else(|| panic!("never: {what}; seen: {:#?}", self.seen))
    }

    async fn catalog(&mut self, holds: impl Fn(&Catalog) -> bool) -> Arc<Catalog> {
        self.until("the catalog", |notice| match notice {
            Notice::CatalogChanged { catalog } if holds(catalog) => Some(Arc::clone(catalog)),
            _ => None,
        })
        .await
    }

    async fn asked(&mut self) -> Arc<Approval> {
        self.until("an approval", |notice| match notice {
            Notice::Asked { approval } => Some(Arc::clone(approval)),
            _ => None,
        })
        .await
    }

    async fn call_ends(&mut self) -> (Arc<Outcome>, Arc<str>) {
        self.until("the end of a call", |notice| match notice {
            Notice::CallChanged { state: CallState::Done { outcome, for_model, .. }, .. } => {
                Some((Arc::clone(outcome), Arc::clone(for_model)))
            }
            _ => None,
        })
        .await
    }

    async fn turn_ends(&mut self) -> TurnEnd {
        self.until("the end of the turn", |notice| match notice {
            Notice::TurnEnded { reason, .. } => Some(reason.clone()),
            _ => None,
        })
        .await
    }

    /// The text of the model so far.
    fn text(&self) -> String {
        let text = |notice: &Notice| match notice {
            Notice::Text { chunk, .. } => Some(chunk.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(text).collect()
    }

    /// Quits and takes what still comes.
    async fn quit(mut self) -> Vec<Notice> {
        self.does(Op::Quit).await;
        let ending = async {
            while let Some(notice) = self.handle.notices.recv().await {
                self.seen.push(notice);
            }
            self.handle.join().await;
        };
        assert!(tokio::time::timeout(PATIENCE, ending).await.is_ok(), "the runtime does not end");
        self.seen
    }
}

/// The desk: an MCP server of the legacy era with three tools; `slow` never answers.
fn desk(request: &Recorded) -> Reply {
    let named = request.json()["params"]["name"].as_str().unwrap_or_default().to_owned();
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let answer = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"}, "instructions": "Echo first."});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "tools/list") => {
            let tool =
                |name| json!({"name": name, "description": "d", "inputSchema": {"type": "object"}});
            let tools = ["echo", "slow", "huge"].map(tool);
            Reply::json(200, &result(request, &json!({ "tools": tools })))
        }
        ("POST", "tools/call") if named == "slow" => Reply::stream().hang(),
        ("POST", "tools/call") => {
            let said = request.json()["params"]["arguments"].to_string();
            let said = if named == "huge" { "long line\n".repeat(20_000) } else { said };
            let answer = json!({"content": [{"type": "text", "text": said}]});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

fn streamed(deltas: &[Value], finish: &str) -> Reply {
    let choice = |delta: &Value, finish: Value| {
        json!({"id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut reply = Reply::stream();
    for delta in deltas {
        reply = reply.event(&choice(delta, Value::Null));
    }
    reply.event(&choice(&json!({}), finish.into())).bytes(b"data: [DONE]\n\n")
}

fn says(text: &str) -> Reply {
    streamed(&[json!({"role": "assistant", "content": text})], "stop")
}

fn calls(tool: &str, arguments: &str) -> Reply {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": tool, "arguments": arguments}});
    streamed(&[json!({"role": "assistant", "tool_calls": [call]})], "tool_calls")
}

fn messages(request: &Recorded) -> Vec<Value> {
    request.json()["messages"].as_array().cloned().unwrap_or_default()
}

fn is_chat(request: &Recorded) -> bool {
    request.method == "POST" && request.target.ends_with("/chat/completions")
}

/// A model that calls this tool for every user message and then says what it was told.
fn calls_then_says(tool: &'static str) -> impl Fn(&Recorded) -> Reply + Send + Sync + 'static {
    move |request| {
        if !is_chat(request) {
            return Reply::status(404);
        }
        match messages(request).last() {
            Some(last) if last["role"] == "tool" => {
                says(&format!("told: {}", last["content"].as_str().unwrap_or_default()))
            }
            _ => calls(tool, "{\"a\": 1}"),
        }
    }
}

fn model(url: &str) -> ModelConfig {
    ModelConfig {
        context_window: Some(100_000),
        ..ModelConfig::new(ProviderKind::OpenAi, url.parse().unwrap(), "m")
    }
}

fn server(name: &str, url: &str) -> ServerConfig {
    ServerConfig::new(name.into(), url.parse().unwrap())
}

fn setup(model_url: Option<&str>, servers: Vec<ServerConfig>) -> Setup {
    let config = Config {
        file: None,
        model: model_url.map(model),
        mcp: McpConfig { servers, ..McpConfig::default() },
        ui: UiConfig::default(),
        keys: std::collections::BTreeMap::default(),
        audit: AuditConfig::default(),
    };
    Setup::new(config, Interaction::Interactive)
}

fn paths(home: &Path) -> Paths {
    Paths { config: home.to_owned(), state: home.join("state"), data: home.join("data") }
}

/// The desk, a model, and a setup for both.
async fn scene(
    script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
) -> (Server, Server, Setup) {
    let tools = Server::start(desk).await;
    let model = Server::start(script).await;
    let setup = setup(Some(&model.url("/v1")), vec![server("desk", &tools.url("/mcp"))]);
    (tools, model, setup)
}

#[tokio::test]
async fn a_whole_turn_is_asked_run_answered_and_written_down() {
    let home = tempfile::tempdir().unwrap();
    let (tools, _model, mut setup) = scene(calls_then_says("desk_echo")).await;
    setup.paths = Some(paths(home.path()));
    let mut face = Face::settled(setup).await;
    face.submits("echo it").await;
    let approval = face.asked().await;
    assert_eq!(approval.call.tool, ToolId::new("desk", "echo"));
    assert_eq!(tools.asked("tools/call").len(), 0);
    face.does(Op::Answer { call: approval.call.id, answer: Answer::Once }).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    assert_eq!(tools.asked("tools/call").len(), 1);
    assert!(face.text().contains("{\"a\":1}"), "{}", face.text());
    let notices = face.quit().await;

    let id = notices.iter().find_map(|notice| match notice {
        Notice::SessionStarted { id, path: Some(_) } => SessionId::parse(id),
        _ => None,
    });
    let transcript = store::read(&home.path().join("data/sessions"), &id.unwrap()).unwrap();
    let messages = transcript.messages();
    assert!(matches!(messages[0], Message::User { .. }), "{messages:?}");
    assert_eq!((messages.len(), transcript.skipped), (4, 0));
    let audit = audit::read(&home.path().join("state/audit.jsonl")).unwrap();
    let lines: Vec<_> = audit
        .iter()
        .map(|line| (line.decision.as_deref(), line.by.as_deref(), line.outcome.as_deref()))
        .collect();
    assert_eq!(lines, [(Some("allowed"), Some("user: once"), None), (None, None, Some("ok"))]);
}

#[tokio::test]
async fn the_first_snapshot_is_there_at_once_and_has_every_server() {
    let mut off = server("off", "http://127.0.0.1:9/mcp");
    off.disabled = Some("`enabled: false` in the config".into());
    let mut setup = setup(None, vec![server("on", "http://127.0.0.1:9/mcp"), off]);
    setup.refused = vec![RefusedServer {
        name: "broken".into(),
        url: String::new(),
        reason: "config.yaml:3: no url".into(),
        line: 3,
    }];
    let face = Face::start(setup);
    let states: Vec<(String, &str)> = face
        .handle
        .catalog
        .servers
        .iter()
        .map(|server| (server.name.to_string(), server.state.word()))
        .collect();
    let expected = [("on", "connecting"), ("off", "disabled"), ("broken", "disabled")];
    assert_eq!(states, expected.map(|(name, word)| (name.to_owned(), word)));
    face.quit().await;
}

#[tokio::test]
async fn without_a_model_the_turn_fails_with_advice() {
    let mut face = Face::start(setup(None, Vec::new()));
    face.submits("hello").await;
    let end = face.turn_ends().await;
    let TurnEnd::Failed { reason, unreachable: true } = end else { panic!("{end:?}") };
    assert!(reason.contains("config init"), "{reason}");
    face.quit().await;
}

#[tokio::test]
async fn an_interrupt_stops_a_model_that_hangs_and_the_next_message_is_answered() {
    let asked = AtomicUsize::new(0);
    let (_tools, _model, setup) = scene(move |request| {
        if !is_chat(request) {
            return Reply::status(404);
        }
        match asked.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let chunk = json!({"choices": [{"index": 0, "delta": {"content": "I thi"}}]});
                Reply::stream().event(&chunk).hang()
            }
            _ => says(&format!("{} messages", messages(request).len())),
        }
    })
    .await;
    let mut face = Face::settled(setup).await;
    face.submits("one").await;
    face.until("text", |notice| matches!(notice, Notice::Text { .. }).then_some(())).await;
    face.does(Op::Interrupt).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Cancelled);
    face.submits("two").await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    // System, user, incomplete answer, user.
    assert!(face.text().ends_with("4 messages"), "{}", face.text());
    face.quit().await;
}

#[tokio::test]
async fn an_interrupt_cancels_a_running_call_and_the_conversation_stays_valid() {
    let (tools, _model, mut setup) = scene(|request| {
        if !is_chat(request) {
            return Reply::status(404);
        }
        match messages(request).len() {
            2 => calls("desk_slow", "{}"),
            _ => says(&messages(request)[3]["content"].to_string()),
        }
    })
    .await;
    setup.config.mcp.permissions = Mode::Auto;
    let mut face = Face::settled(setup).await;
    face.submits("one").await;
    crate::support::client::eventually("the call arrives", || tools.asked("tools/call").len() == 1)
        .await;
    face.does(Op::Interrupt).await;
    let (outcome, _) = face.call_ends().await;
    assert_eq!(*outcome, Outcome::Cancelled { sent: true });
    assert_eq!(face.turn_ends().await, TurnEnd::Cancelled);
    face.submits("two").await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    assert!(face.text().contains("may have run"), "{}", face.text());
    face.quit().await;
}

#[tokio::test]
async fn a_face_that_takes_nothing_is_still_heard() {
    let (_tools, _model, setup) = scene(|request| {
        let delta = json!({"choices": [{"index": 0, "delta": {"content": "word ".repeat(200)}}]});
        let stream = Reply::stream();
        if is_chat(request) {
            (0..3000).fold(stream, |reply, _| reply.event(&delta)).hang()
        } else {
            Reply::status(404)
        }
    })
    .await;
    let mut face = Face::settled(setup).await;
    face.submits("talk").await;
    face.until("text", |notice| matches!(notice, Notice::Text { .. }).then_some(())).await;
    // Nothing is taken from here on until the interrupt was heard.
    face.does(Op::Interrupt).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Cancelled);
    let length = face.text().len();
    assert!(length < 3000 * 1000, "the whole stream came through: {length}");
    face.quit().await;
}

#[tokio::test]
async fn always_is_remembered_by_the_next_run() {
    let home = tempfile::tempdir().unwrap();
    let (_tools, _model, mut setup) = scene(calls_then_says("desk_echo")).await;
    setup.paths = Some(paths(home.path()));
    let mut face = Face::settled(setup.clone()).await;
    face.submits("one").await;
    let approval = face.asked().await;
    face.does(Op::Answer { call: approval.call.id, answer: Answer::Always }).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    face.quit().await;

    let mut face = Face::settled(setup).await;
    face.submits("two").await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    let asked = face.quit().await.iter().any(|notice| matches!(notice, Notice::Asked { .. }));
    assert!(!asked);
}

#[tokio::test]
async fn a_server_can_be_switched_off_and_on() {
    let (_tools, _model, setup) = scene(|_| Reply::status(404)).await;
    let mut face = Face::settled(setup).await;
    let target = || Target::Server("desk".into());
    face.does(Op::SetEnabled { target: target(), on: false }).await;
    let off = |catalog: &Catalog| matches!(catalog.servers[0].state, ServerState::Disabled { .. });
    face.catalog(off).await;
    face.does(Op::SetEnabled { target: target(), on: true }).await;
    let catalog = face.catalog(|catalog| catalog.servers[0].state == ServerState::Ready).await;
    assert_eq!(catalog.servers[0].tools.len(), 3);
    face.quit().await;
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_not_called() {
    let (tools, _model, setup) = scene(|_| Reply::status(404)).await;
    let mut face = Face::settled(setup).await;
    let tool = ToolId::new("desk", "echo");
    face.does(Op::SetEnabled { target: Target::Tool(tool.clone()), on: false }).await;
    face.does(Op::CallDirect { tool, arguments: Arc::default(), consent: true }).await;
    let (outcome, _) = face.call_ends().await;
    assert_eq!(outcome.word(), "not sent");
    assert_eq!(tools.asked("tools/call").len(), 0);
    face.quit().await;
}

#[tokio::test]
async fn without_a_person_a_call_is_denied_and_the_model_told_the_rule() {
    let (tools, _model, mut setup) = scene(calls_then_says("desk_echo")).await;
    setup.interaction = Interaction::Headless;
    let mut face = Face::settled(setup).await;
    face.submits("echo it").await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    assert!(face.text().contains("desk/echo"), "{}", face.text());
    assert_eq!(tools.asked("tools/call").len(), 0);
    face.quit().await;
}

#[tokio::test]
async fn a_long_result_is_cut_for_the_model_with_exact_figures() {
    let (_tools, model, mut setup) = scene(calls_then_says("desk_huge")).await;
    setup.config.mcp.permissions = Mode::Auto;
    let mut face = Face::settled(setup).await;
    face.submits("fetch it").await;
    let (outcome, for_model) = face.call_ends().await;
    let Outcome::Ok(output) = outcome.as_ref() else { panic!("{outcome:?}") };
    assert_eq!(output.content.len(), 1);
    assert!(for_model.contains("of 200000 characters"), "{for_model}");
    assert!(for_model.len() < 30_000);
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    let last = model.requests().into_iter().rfind(is_chat).unwrap().json();
    assert!(last["tools"].to_string().contains("mini_me_read_result"), "{last}");
    face.quit().await;
}

#[tokio::test]
async fn a_conversation_is_gone_on_with() {
    let (_tools, model, mut setup) =
        scene(|request| if is_chat(request) { says("yes") } else { Reply::status(404) }).await;
    setup.resume = Some(vec![Message::User { text: "earlier".into() }].into());
    let mut face = Face::settled(setup).await;
    face.submits("now").await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    let asked = messages(&model.requests().into_iter().find(is_chat).unwrap());
    let said: Vec<&Value> =
        asked.iter().filter(|m| m["role"] == "user").map(|m| &m["content"]).collect();
    assert_eq!(said, ["earlier\n\nnow"]);
    face.quit().await;
}

#[tokio::test]
async fn quitting_in_the_middle_of_a_call_is_bounded_and_leaves_a_valid_session() {
    let home = tempfile::tempdir().unwrap();
    let (tools, _model, mut setup) = scene(calls_then_says("desk_slow")).await;
    setup.config.mcp.permissions = Mode::Auto;
    setup.paths = Some(paths(home.path()));
    let mut face = Face::settled(setup).await;
    face.submits("one").await;
    crate::support::client::eventually("the call arrives", || tools.asked("tools/call").len() == 1)
        .await;
    face.until("the call runs", |notice| match notice {
        Notice::CallChanged { state: CallState::Running { .. }, .. } => Some(()),
        _ => None,
    })
    .await;
    tokio::time::timeout(Duration::from_secs(10), face.quit()).await.expect("a bounded end");
    let directory = home.path().join("data/sessions");
    let id = store::latest(&directory).unwrap().unwrap();
    let messages = store::read(&directory, &id).unwrap().messages();
    assert!(
        matches!(messages.last(), Some(Message::Result { is_error: true, .. })),
        "{messages:?}"
    );
}

#[tokio::test]
async fn a_session_that_is_gone_on_with_stays_one_file() {
    let home = tempfile::tempdir().unwrap();
    let (_tools, _model, mut setup) =
        scene(|request| if is_chat(request) { says("yes") } else { Reply::status(404) }).await;
    setup.paths = Some(paths(home.path()));
    let directory = home.path().join("data/sessions");
    let mut face = Face::settled(setup.clone()).await;
    face.submits("first").await;
    face.turn_ends().await;
    face.quit().await;

    let id = store::latest(&directory).unwrap().unwrap();
    setup.resume = Some(store::open(&directory, &id).unwrap().into());
    let mut face = Face::settled(setup).await;
    face.submits("second").await;
    face.turn_ends().await;
    face.quit().await;
    let sessions = store::list(&directory).unwrap();
    let found: Vec<_> = sessions.iter().map(|summary| (&summary.id, summary.turns)).collect();
    assert_eq!(found, [(&id, 2)]);
}

#[tokio::test]
async fn a_new_session_is_another_file_and_an_empty_conversation() {
    let home = tempfile::tempdir().unwrap();
    let (_tools, model, mut setup) =
        scene(|request| if is_chat(request) { says("yes") } else { Reply::status(404) }).await;
    setup.paths = Some(paths(home.path()));
    let mut face = Face::settled(setup).await;
    face.submits("first").await;
    face.turn_ends().await;
    face.does(Op::NewSession).await;
    face.submits("second").await;
    face.turn_ends().await;
    face.quit().await;
    let last = messages(&model.requests().into_iter().rfind(is_chat).unwrap());
    assert_eq!(last.iter().filter(|message| message["role"] == "user").count(), 1);
    assert_eq!(store::list(&home.path().join("data/sessions")).unwrap().len(), 2);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_fails_alone() {
    let (_tools, _model, mut setup) = scene(|_| Reply::status(404)).await;
    setup.config.mcp.servers.push(server("gone", "http://127.0.0.1:9/mcp"));
    let mut face = Face::start(setup);
    let catalog = face.catalog(Catalog::settled).await;
    let words: Vec<&str> = catalog.servers.iter().map(|server| server.state.word()).collect();
    assert_eq!(words, ["ready", "failed"]);
    face.quit().await;
}

#[tokio::test]
async fn messages_that_wait_come_back_when_the_turn_is_cancelled_and_can_be_taken_back() {
    let (_tools, model, setup) = scene(|request| {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "I thi"}}]});
        if is_chat(request) { Reply::stream().event(&chunk).hang() } else { Reply::status(404) }
    })
    .await;
    let mut face = Face::settled(setup).await;
    face.submits("one").await;
    face.until("text", |notice| matches!(notice, Notice::Text { .. }).then_some(())).await;
    for text in ["two", "three", "four"] {
        face.submits(text).await;
    }
    let back = |notice: &Notice| match notice {
        Notice::TakenBack { texts } => Some(texts.clone()),
        _ => None,
    };
    face.does(Op::TakeBack { at: 1, text: "three".into() }).await;
    assert_eq!(face.until("a message that comes back", back).await, ["three"]);
    face.does(Op::Interrupt).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Cancelled);
    assert_eq!(face.until("what waited", back).await, ["two", "four"]);
    face.quit().await;
    assert_eq!(model.requests().iter().filter(|request| is_chat(request)).count(), 1);
}

/// A model that tells its window only when it is asked, in its own time.
fn window_of(tokens: u64) -> impl Fn(&Recorded) -> Reply + Send + Sync + 'static {
    move |request| {
        if is_chat(request) {
            return says("yes");
        }
        let models = json!({"object": "list", "data": [{"id": "m", "object": "model", "context_length": tokens}]});
        let told = request.target.ends_with("/models");
        if told { Reply::json(200, &models) } else { Reply::status(404) }
    }
}

#[tokio::test]
async fn the_first_request_already_goes_by_the_window_that_the_endpoint_tells() {
    for interaction in [Interaction::Interactive, Interaction::Headless] {
        let (_tools, model, mut setup) = scene(window_of(200)).await;
        setup.interaction = interaction;
        setup.config.model.as_mut().unwrap().context_window = None;
        let mut face = Face::settled(setup).await;
        face.submits("now").await;
        assert_eq!(face.turn_ends().await, TurnEnd::Done);
        let asked = model.requests().into_iter().find(is_chat).unwrap().json();
        let names: Vec<&Value> = asked["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| &tool["function"]["name"])
            .collect();
        assert_eq!(names, ["mini_me_search_tools"]);
        face.quit().await;
    }
}
