//! Every call to a server's tool passes one door, whichever way it came.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mini_me_tui::bridge::Op;
use mini_me_tui::config::PinMode;
use mini_me_tui::domain::{
    Answer, ElicitationId, ElicitationReply, Mode, Outcome, ToolId, TurnEnd,
};
use serde_json::json;

use crate::support::face::{Came, Face, rule, server, setup};
use crate::support::model;
use crate::support::server::{Recorded, Reply, Server, error, result};

/// What of the program's source is no test: path under `src` and text without comments.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                walk(&path, files);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && !path.ends_with("tests.rs")
                && !path.ends_with("fixtures.rs")
            {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        (name, code.collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(read).collect()
}

/// Where a piece of code stands: the file, once for each time.
fn places(piece: &str) -> Vec<String> {
    let count = |(name, code): (String, String)| {
        std::iter::repeat_n(name, code.matches(piece).count()).collect::<Vec<_>>()
    };
    sources().into_iter().flat_map(count).collect()
}

#[test]
fn the_command_to_call_is_made_in_one_place_and_taken_in_one() {
    // `runtime/work.rs` makes it; the client takes it apart.
    assert_eq!(places("Command::Call {"), ["mcp/client.rs", "runtime/work.rs"]);
    assert_eq!(places("work::carry("), ["runtime/conductor.rs"]);
    assert_eq!(places("self.run_call("), ["runtime/conductor.rs"]);
    // The effect that leads there: the agent makes it where a call was let through.
    assert_eq!(places("Effect::RunCall {"), ["agent/calls.rs", "runtime/conductor.rs"]);
    assert_eq!(places("method: \"tools/call\""), ["mcp/client/call.rs"]);
}

#[test]
fn what_is_let_through_was_decided_about() {
    let (_, calls) = sources().into_iter().find(|(name, _)| name == "agent/calls.rs").unwrap();
    // The door is entered by the two ways in which calls begin, and it asks the policy.
    assert_eq!(calls.matches("self.door(").count(), 2);
    let door = calls.split("fn door(").nth(1).unwrap().split("\n    fn ").next().unwrap();
    assert!(door.contains("self.policy.decide(") || door.contains("self.judged("), "{door}");
    // Nothing else lets a call run but the door and a person's answer.
    for (name, code) in sources() {
        let runs = code.matches("self.run(id, ").count();
        assert!(
            runs == 0 || ["agent/calls.rs", "agent/reviews.rs"].contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn nothing_that_permits_is_kept_by_model_name() {
    let keyed = ["Map<ModelName", "Set<ModelName", "Map<&ModelName", "Set<&ModelName"];
    for piece in keyed {
        let places = places(piece);
        // The way back from the model's word to the tool's identity, what a provider makes of a name,
        // and what the model has been handed to choose from: nothing besides.
        let known =
            ["agent/context.rs", "agent/offers.rs", "domain/catalog.rs", "provider/rename.rs"];
        assert!(places.iter().all(|place| known.contains(&place.as_str())), "{piece}: {places:?}");
    }
    for (name, code) in sources() {
        let permits = ["permission", "pin", "store.rs", "config", "runtime/assemble/"];
        let decides =
            permits.iter().any(|part| name.starts_with(part)) && !name.contains("exfiltration");
        assert!(!decides || !code.contains("model_name"), "{name}");
    }
}

/// The operations of a face, and whether they can lead to a call. Every one that can is tried below;
/// one that is not here yet has to be thought about first.
const OPERATIONS: [(&str, bool); 21] = [
    ("Submit", true),
    ("Answer", true),
    ("Decide", true),
    ("Reply", true),
    ("Interrupt", false),
    ("Reconnect", false),
    ("SetEnabled", false),
    ("CallDirect", true),
    ("CallUnchecked", true),
    ("AcceptPin", false),
    ("Inquire", false),
    ("NewSession", false),
    ("TakeBack", false),
    ("ListSessions", false),
    ("Resume", false),
    ("Fork", false),
    ("ListModels", false),
    ("SwitchModel", false),
    ("WatchWire", false),
    ("ExportWire", false),
    ("Quit", false),
];

#[test]
fn every_operation_of_a_face_is_thought_about() {
    let (_, bridge) = sources().into_iter().find(|(name, _)| name == "bridge.rs").unwrap();
    let body = bridge.split("pub enum Op {").nth(1).unwrap().split("\n}").next().unwrap();
    let names = body.lines().filter_map(|line| {
        let name = line.strip_prefix("    ")?;
        name.starts_with(char::is_uppercase).then(|| name.trim_end_matches([' ', '{', ',']))
    });
    for name in names {
        let known = OPERATIONS.iter().any(|(known, _)| *known == name);
        assert!(known, "can Op::{name} lead to a call? say so in OPERATIONS, and try it if it can");
    }
}

const DENIED: &str = "drop_table";

/// A server with a tool that must not be called and one that may.
fn guarded(request: &Recorded) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let answer = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"}});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "tools/list") => {
            let tool = |name| {
                json!({"name": name, "description": "d", "inputSchema": {"type": "object"},
                "execution": {"taskSupport": "optional"}})
            };
            Reply::json(200, &result(request, &json!({"tools": [tool(DENIED), tool("look")]})))
        }
        ("POST", "tools/call") => {
            let answer = json!({"content": [{"type": "text", "text": "done"}]});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

async fn scene(model: Option<&str>) -> (Server, Face) {
    let tools = Server::start(guarded).await;
    let config = server("db", &tools.url("/mcp"), Mode::Auto, vec![rule(DENIED, Mode::Deny)]);
    let face = Face::settled(setup(vec![config], model, PinMode::Warn, None)).await;
    (tools, face)
}

#[track_caller]
fn none_was_sent(server: &Server) {
    let calls = server.asked("tools/call");
    assert!(calls.iter().all(|call| call.json()["params"]["name"] != DENIED), "{calls:?}");
}

#[tokio::test]
async fn a_form_on_the_screen_and_the_command_line_pass_the_door() {
    let (tools, mut face) = scene(None).await;
    for consent in [false, true] {
        let came = face.calls(&format!("db/{DENIED}"), json!({}), consent).await;
        assert_eq!(came.word(), "denied");
    }
    let op = Op::CallUnchecked { tool: ToolId::new("db", DENIED), arguments: Arc::default() };
    face.does(op).await;
    assert_eq!(face.comes_of(&ToolId::new("db", DENIED)).await.word(), "denied");
    assert_eq!(face.calls("db/look", json!({}), false).await.word(), "ok");
    none_was_sent(&tools);
    face.quits().await;
}

#[tokio::test]
async fn answers_and_replies_to_what_was_never_asked_send_nothing() {
    let (tools, mut face) = scene(None).await;
    let call = mini_me_tui::domain::CallId(1);
    for answer in [Answer::Once, Answer::Session, Answer::Always, Answer::Edit(Arc::default())] {
        face.answers(call, answer).await;
    }
    let reply = ElicitationReply::Decline;
    let op = Op::Reply { elicitation: ElicitationId(1), reply };
    face.does(op).await;
    // What comes after was heard after them.
    assert_eq!(face.calls(&format!("db/{DENIED}"), json!({}), false).await.word(), "denied");
    assert_eq!(tools.asked("tools/call").len(), 0);
    face.quits().await;
}

/// A model that calls these names in turn, then says that it is done.
fn calling(names: &'static [&'static str]) -> impl Fn(usize, &model::Seen) -> model::Reply {
    move |_, request| {
        let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
        let done = messages.iter().filter(|message| message["role"] == "tool").count();
        let Some(name) = names.get(done) else { return model::Reply::text("done") };
        let call = json!({"index": 0, "id": format!("c{done}"), "type": "function",
            "function": {"name": name, "arguments": "{\"id\": 1, \"query\": \"db/drop_table\", \"tool\": \"drop_table\"}"}});
        model::Reply::chunks(&[
            json!({"delta": {"role": "assistant", "tool_calls": [call]}}),
            json!({"delta": {}, "finish_reason": "tool_calls"}),
        ])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_passes_the_door_and_the_programs_own_tools_reach_no_server() {
    const NAMES: [&str; 6] = [
        "db_drop_table",
        "drop_table",
        "db/drop_table",
        "mini_me_read_result",
        "mini_me_search_result",
        "mini_me_search_tools",
    ];
    let model = model::ModelServer::start(calling(&NAMES));
    let url = model.url().to_string();
    let (tools, mut face) = scene(Some(&url)).await;
    face.does(Op::Submit { text: "drop it".to_owned() }).await;
    assert_eq!(face.turn_ends().await, TurnEnd::Done);
    assert_eq!(tools.asked("tools/call").len(), 0);
    face.quits().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_passes_the_door() {
    let tools = Server::start(guarded).await;
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "mcp:\n  servers:\n    - name: db\n      url: {}\n      permissions: auto\n      rules:\n        - {{ tool: {DENIED}, permissions: deny }}\n",
        tools.url("/mcp")
    );
    fs::write(home.path().join("config.yaml"), config).unwrap();
    for words in [vec!["call", "db/drop_table"], vec!["call", "db/drop_table", "--unchecked"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(&words).env("MINI_ME_HOME", home.path());
        for name in ["MINI_ME_CONFIG", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(name);
        }
        assert_eq!(command.output().unwrap().status.code(), Some(5), "{words:?}");
    }
    assert_eq!(tools.asked("tools/call").len(), 0);
}

#[tokio::test]
async fn a_call_is_not_made_again_with_a_definition_that_changed_in_between() {
    let sessions = AtomicUsize::new(0);
    let tools = Server::start(move |request| {
        let nth = sessions.load(Ordering::SeqCst);
        match (request.method.as_str(), request.rpc().as_str()) {
            ("POST", "initialize") => {
                let nth = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                let answer = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"}});
                let session = format!("s-{nth}");
                let headers =
                    [("Content-Type", "application/json"), ("Mcp-Session-Id", session.as_str())];
                Reply::whole(200, &headers, result(request, &answer).to_string().as_bytes())
            }
            ("POST", "tools/list") => {
                let tool = json!({"name": "look", "description": format!("definition {nth}"),
                    "inputSchema": {"type": "object"}});
                Reply::json(200, &result(request, &json!({"tools": [tool]})))
            }
            ("POST", "tools/call") if request.header("mcp-session-id") == Some("s-1") => {
                Reply::json(404, &error(request, -32001, "no such session"))
            }
            _ => guarded(request),
        }
    })
    .await;
    let config = server("db", &tools.url("/mcp"), Mode::Auto, Vec::new());
    let mut face = Face::settled(setup(vec![config], None, PinMode::Warn, None)).await;
    let Came::Ended(outcome) = face.calls("db/look", json!({}), false).await else {
        panic!("asked too early")
    };
    let Outcome::NotSent { reason } = &*outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("changed the definition"), "{reason}");
    assert_eq!(tools.asked("tools/call").len(), 1);
    let id = ToolId::new("db", "look");
    face.until_catalog("the change", |catalog| {
        catalog.tool(&id).is_some_and(|tool| !tool.changes.is_empty())
    })
    .await;
    assert_eq!(face.calls("db/look", json!({}), false).await.word(), "asked");
    face.quits().await;
}
