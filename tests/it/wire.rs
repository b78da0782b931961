//! The wire view from end to end: what is recorded of real exchanges on the loopback interface, and
//! that no secret is in any of it, wherever the other side repeats it.

mod frames;
mod keys;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::config;
use mini_me_tui::domain::exchange::{Ending, Exchange, Exchanges, Side};
use mini_me_tui::domain::{CallState, Interaction, ToolId};
use mini_me_tui::paths::Paths;
use mini_me_tui::runtime::{self, Handle, Setup};
use mini_me_tui::ui::{Intent, Msg, Ui, UiOptions};
use mini_me_tui::wire;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::support::client::{PATIENCE, eventually};
use crate::support::server::{Recorded, Reply, Server, result};

/// What must not be found anywhere.
const SECRETS: [&str; 5] = [
    "tok-EXAMPLE-bearer",
    "tenant/EXAMPLE \"2\"",
    "q-EXAMPLE-query",
    "session-EXAMPLE",
    "key-EXAMPLE-model",
];

/// A server that repeats in every place what it was sent; an endpoint of a model that does too.
fn echo(request: &Recorded) -> Reply {
    let told = |name: &str| request.header(name).unwrap_or_default().to_owned();
    let all = format!(
        "{} {} {} {}",
        told("authorization"),
        told("x-tenant"),
        request.target,
        told("mcp-session-id")
    );
    if request.target.contains("/chat/completions") {
        let error = json!({ "error": { "message": format!("{all} is no key") } });
        return Reply::json(401, &error);
    }
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let agreed = json!({ "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "echo", "version": "1" } });
            let body = result(request, &agreed).to_string();
            let headers = [
                ("Content-Type", "application/json"),
                ("Mcp-Session-Id", "session-EXAMPLE"),
                ("X-Echo", &all),
            ];
            Reply::whole(200, &headers, body.as_bytes())
        }
        ("POST", "tools/list") => {
            // It travels on to the model; no other side knows of the session.
            let all = all.replace("session-EXAMPLE", "");
            let tool =
                json!({ "name": "say", "description": all, "inputSchema": { "type": "object" } });
            Reply::json(200, &result(request, &json!({ "tools": [tool] })))
        }
        ("POST", "tools/call") => {
            let content = json!({ "content": [{ "type": "text", "text": all }] });
            let event = format!(": {all}\n\ndata: {}\n\n", result(request, &content));
            // In the middle of a secret.
            let middle = event.find("EXAMPLE-bearer").unwrap() + 3;
            let (first, second) = event.as_bytes().split_at(middle);
            Reply::stream().bytes(first).wait(30).bytes(second)
        }
        ("POST", "" | "notifications/initialized") => Reply::status(202),
        ("GET", _) => {
            Reply::stream().bytes(format!("data: \nid: 1\n\n: {all}\n\n").as_bytes()).hang()
        }
        ("POST", _) => Reply::whole(404, &[], all.as_bytes()),
        _ => Reply::status(405),
    }
}

struct Program {
    handle: Handle,
    wire: Arc<wire::Recorder>,
    home: tempfile::TempDir,
}

impl Program {
    async fn start(server: &Server) -> Self {
        let home = tempfile::tempdir().unwrap();
        let env = |name: &str| {
            let value = match name {
                "DOCS_TOKEN" => SECRETS[0],
                "DOCS_TENANT" => SECRETS[1],
                "MODEL_KEY" => SECRETS[4],
                "MINI_ME_HOME" => return Some(home.path().into()),
                _ => return None,
            };
            Some(OsString::from(value))
        };
        let yaml = format!(
            "model: {{ provider: openai, baseUrl: '{}', name: m, apiKeyEnv: MODEL_KEY }}\n\
             servers:\n\
             \x20 - name: docs\n    url: '{}'\n    auth: {{ type: bearer, tokenEnv: DOCS_TOKEN }}\n\
             \x20   headersEnv: {{ X-Tenant: DOCS_TENANT }}\n    permissions: auto\n",
            server.url("/v1"),
            server.url("/mcp?where=q-EXAMPLE-query")
        );
        let loaded = config::decode(&yaml, Path::new("config.yaml"), &env).unwrap();
        let mut setup = Setup::new(loaded.config, Interaction::Interactive);
        setup.paths = Paths::discover(&env);
        let wire = Arc::clone(&setup.wire);
        let mut program = Self { handle: runtime::start(setup), wire, home };
        program
            .until(|notice| match notice {
                Notice::CatalogChanged { catalog } => catalog.settled().then_some(()),
                _ => None,
            })
            .await;
        program
    }

    async fn does(&self, op: Op) {
        self.handle.ops.send(op).await.unwrap();
    }

    async fn until<T>(&mut self, wanted: impl Fn(&Notice) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let notice = self.handle.notices.recv().await.expect("the runtime goes on");
                if let Some(found) = wanted(&notice) {
                    return found;
                }
            }
        };
        timeout(PATIENCE, waiting).await.expect("in time")
    }

    async fn call(&mut self) {
        let arguments = json!({ "q": "it's" }).as_object().unwrap().clone();
        let arguments = Arc::new(arguments);
        let tool = ToolId::new("docs", "say");
        self.does(Op::CallDirect { tool, arguments, consent: true }).await;
        let done = |notice: &Notice| match notice {
            Notice::CallChanged { state: CallState::Done { outcome, .. }, .. } => {
                Some(Arc::clone(outcome))
            }
            _ => None,
        };
        let outcome = self.until(done).await;
        assert_eq!(outcome.word(), "ok", "{outcome:?}");
    }

    fn kept(&self) -> Exchanges {
        self.wire.snapshot()
    }

    fn one(&self, method: &str) -> Arc<Exchange> {
        let found = self.kept().kept.into_iter().find(|one| one.about.method == method);
        found.unwrap_or_else(|| panic!("no {method}"))
    }
}

/// Everything that can be made of the record, as one text.
pub(crate) fn everything(exchanges: &Exchanges) -> String {
    let mut all = format!("{exchanges:?}");
    all.push_str(&wire::har(exchanges.kept.iter().map(Arc::as_ref)));
    for exchange in &exchanges.kept {
        all.push_str(&String::from_utf8_lossy(&exchange.sent.bytes));
        all.push_str(&String::from_utf8_lossy(&exchange.received.bytes));
        all.push_str(&wire::curl(exchange).unwrap_or_default());
        all.push_str(&wire::command(exchange, "mini-me-tui").unwrap_or_default());
    }
    all.push_str(&screens(exchanges));
    all
}

/// Whether a text is anywhere in the record.
pub(crate) fn holds(exchanges: &Exchanges, text: &str) -> bool {
    exchanges.kept.iter().any(|one| {
        let bodies = [&one.sent.bytes, &one.received.bytes];
        let headers = one.head.iter().flat_map(|head| &head.headers).chain(&one.headers);
        let mut shown = headers.map(|header| header.value.shown());
        bodies.into_iter().any(|body| memchr::memmem::find(body, text.as_bytes()).is_some())
            || shown.any(|value| value.contains(text))
            || format!("{} {:?} {:?}", one.url, one.ending, one.about).contains(text)
    })
}

pub(crate) fn press(ui: &mut Ui, code: KeyCode) -> Vec<Intent> {
    let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    ui.update(Msg::Input { event, at: Instant::now() })
}

/// The list and every exchange of it, as the screen shows them.
fn screens(exchanges: &Exchanges) -> String {
    let catalog = mini_me_tui::domain::Catalog::new(Vec::new(), Vec::new(), 1);
    let mut ui = Ui::new(UiOptions::default(), Arc::new(catalog));
    let mut terminal = Terminal::new(TestBackend::new(200, 300)).unwrap();
    drop(press(&mut ui, KeyCode::F(6)));
    let exchanges = Arc::new(exchanges.clone());
    drop(ui.update(Msg::Notice { notice: Notice::Wire { exchanges }, at: Instant::now() }));
    let mut shown = String::new();
    for key in
        [KeyCode::Null, KeyCode::Home, KeyCode::Enter].into_iter().chain([KeyCode::Right; 20])
    {
        drop(press(&mut ui, key));
        terminal.draw(|frame| ui.draw(frame, Instant::now())).unwrap();
        shown.push_str(&terminal.backend().to_string());
    }
    shown
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_in_the_record_however_it_is_echoed() {
    let server = Server::start(echo).await;
    let mut program = Program::start(&server).await;
    program.call().await;
    program.does(Op::Submit { text: "Hello".to_owned() }).await;
    program.until(|notice| matches!(notice, Notice::TurnEnded { .. }).then_some(())).await;
    // What is to be hidden did travel.
    let travelled = format!("{:?}", server.requests());
    for secret in SECRETS {
        assert!(travelled.contains(&secret.replace('"', "\\\"")), "{secret} was not sent");
    }
    let kept = program.kept();
    let told = everything(&kept);
    for secret in SECRETS {
        let parts = [secret, secret.split('/').next_back().unwrap()];
        let found = parts.into_iter().find(|part| told.contains(part));
        assert!(found.is_none(), "{secret} in a text of {}", told.len());
    }
    assert!(!told.contains("EXAMPLE"), "a part of a secret");
    for variable in ["$DOCS_TOKEN", "$DOCS_TENANT", "$MODEL_KEY", "$WHERE", "$MCP_SESSION_ID"] {
        assert!(told.contains(variable), "{variable}");
    }
    let model = kept.kept.iter().find(|one| matches!(one.side, Side::Model(_))).unwrap();
    assert_eq!(model.head.as_ref().unwrap().status, 401);
    assert!(model.is_failure());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_are_recorded_as_they_go_on() {
    let server = Server::start(echo).await;
    let mut program = Program::start(&server).await;
    let standing = || program.kept().kept.into_iter().find(|one| one.verb == "GET");
    eventually("the standing stream", || {
        standing().is_some_and(|one| !wire::events(&one.received).is_empty())
    })
    .await;
    assert_eq!(standing().unwrap().ending, Ending::Open, "it lasts");
    program.call().await;
    let call = program.one("tools/call");
    assert_eq!(call.about.subject.as_deref(), Some("say"));
    assert!(call.about.call.is_some());
    let events = wire::events(&call.received);
    assert_eq!(events.len(), 1);
    assert!(events[0].at >= Duration::from_millis(25), "{:?}", events[0].at);
    assert!(call.head.as_ref().unwrap().after < events[0].at);
    let sent: Value = serde_json::from_slice(&call.sent.bytes).unwrap();
    assert_eq!(sent["params"]["arguments"], json!({ "q": "it's" }));
    assert_eq!(
        wire::command(&call, "mini-me-tui").unwrap(),
        r#"mini-me-tui call docs/say --args '{"q":"it'\''s"}'"#
    );
    let curl = wire::curl(&call).unwrap();
    assert!(curl.contains("-H 'authorization: Bearer '\"$DOCS_TOKEN\""), "{curl}");
    assert_eq!(program.one("notifications/initialized").ending, Ending::Complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_face_is_told_of_exchanges_while_it_looks_and_not_afterwards() {
    let server = Server::start(echo).await;
    let mut program = Program::start(&server).await;
    program.call().await;
    program.does(Op::WatchWire { on: true }).await;
    let wire = |notice: &Notice| match notice {
        Notice::Wire { exchanges } => Some(Arc::clone(exchanges)),
        _ => None,
    };
    let first = program.until(wire).await;
    assert!(first.kept.iter().any(|one| one.about.method == "tools/call"));
    let arguments = Arc::new(Map::new());
    let tool = ToolId::new("docs", "say");
    program.does(Op::CallDirect { tool, arguments, consent: true }).await;
    let done = |notice: &Notice| {
        let calls =
            wire(notice)?.kept.iter().filter(|one| one.about.method == "tools/call").count();
        (calls == 2).then_some(())
    };
    program.until(done).await;
    program.does(Op::WatchWire { on: false }).await;
    // An answer to what is asked last shows that everything before it was heard.
    program.does(Op::ExportWire { only: None }).await;
    let exported = |notice: &Notice| match notice {
        Notice::WireExported { written } => Some(written.clone()),
        _ => None,
    };
    let (count, file) = program.until(exported).await.unwrap();
    assert!(file.starts_with(program.home.path()), "{file:?}");
    assert_eq!(count, program.kept().kept.len());
    program.call().await;
    program.does(Op::ExportWire { only: Some(vec![program.one("tools/list").id]) }).await;
    let told =
        program.until(|notice| wire(notice).map(|_| None).or_else(|| exported(notice).map(Some)));
    assert_eq!(told.await.expect("nobody looks any more").unwrap().0, 1);
}
