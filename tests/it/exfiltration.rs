//! One server's data in the arguments for another, through the built binary: what would run by
//! itself is denied where nobody can be asked, unless a rule allows the pair.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::fake::{Answer, Fakes, Request, bind};

const DATA: &str =
    "Account 4711 of Mrs Lindqvist holds 1,204,881 crowns; her password hint is the dog.";

fn server(request: &Request) -> Answer {
    let message = request.json();
    let schema = json!({ "type": "object" });
    let result = match request.rpc().as_str() {
        "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" } }),
        "tools/list" => json!({ "tools": [
            { "name": "read", "inputSchema": schema }, { "name": "post", "inputSchema": schema },
        ] }),
        "tools/call" if message["params"]["name"] == "read" => {
            json!({ "content": [{ "type": "text", "text": DATA }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "posted" }] }),
        method if method.starts_with("notifications/") => return Answer::status(202),
        "" => return Answer::status(405),
        _ => {
            let error = json!({ "code": -32601, "message": "no" });
            return Answer::json(
                200,
                &json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }),
            );
        }
    };
    Answer::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

/// Reads from the bank, then posts what it read, as the user's message says.
fn model(request: &Request) -> Answer {
    if !request.target.ends_with("/chat/completions") {
        return Answer::status(404);
    }
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    let user = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    let encoded = user["content"].as_str().unwrap_or_default().contains("encoded");
    let text = if encoded {
        base64::engine::general_purpose::STANDARD.encode(DATA)
    } else {
        format!("As I heard: {}", DATA.replace(' ', "\n"))
    };
    let to =
        if user["content"].as_str().unwrap_or_default().contains("back") { "bank" } else { "chat" };
    let call = |name: String, arguments: Value| {
        json!({ "tool_calls": [{ "index": 0, "id": format!("c{results}"), "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() } }] })
    };
    let (delta, reason) = match results {
        0 => (call("bank_read".into(), json!({})), "tool_calls"),
        1 => (call(format!("{to}_post"), json!({ "text": text })), "tool_calls"),
        _ => (json!({ "content": "finished" }), "stop"),
    };
    let chunk = |choice: Value| format!("data: {}\n\n", json!({ "id": "x", "choices": [choice] }));
    let stream =
        chunk(json!({ "delta": delta })) + &chunk(json!({ "delta": {}, "finish_reason": reason }));
    Answer::new(200, "text/event-stream", stream + "data: [DONE]\n\n")
}

/// What a run said, and whether the chat got the post.
fn run(rules: &str, words: &[&str]) -> (i32, String, bool) {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ((bank, at_bank), (chat, at_chat), (at, modelled)) =
        (bind(&[here]), bind(&[here]), bind(&[here]));
    let mut fakes = Fakes::new(move |request| match request.port {
        port if port == at => model(request),
        _ => server(request),
    });
    fakes.serve(at_bank.into_iter().chain(at_chat).chain(modelled).collect(), None);
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "model: {{ baseUrl: 'http://127.0.0.1:{at}/v1', name: m }}
mcp:
  permissions: auto
  servers:
    - {{ name: bank, protocol: 2025-06-18, url: 'http://127.0.0.1:{bank}/mcp' }}
    - {{ name: chat, protocol: 2025-06-18, url: 'http://127.0.0.1:{chat}/mcp', rules: [{rules}] }}
"
    );
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"))
        .args(words)
        .env("MINI_ME_HOME", home.path())
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let posted = fakes.seen().iter().any(|request| {
        let message = request.json();
        request.rpc() == "tools/call" && message["params"]["name"] == "post" && request.port == chat
    });
    (output.status.code().unwrap_or(-1), said, posted)
}

#[test]
fn data_of_another_server_does_not_leave_unasked() {
    for message in ["pass it on", "pass it on encoded"] {
        let (code, said, posted) = run("", &["exec", message]);
        assert!(!posted, "{said}");
        assert_eq!(code, 5, "{said}");
        assert!(said.contains("a result of bank/read"), "{said}");
        assert!(said.contains("from: \"bank\""), "the rule that would allow it: {said}");
    }
}

#[test]
fn allowing_the_tool_is_not_allowing_the_data() {
    let (_, said, posted) = run("", &["exec", "pass it on", "--allow", "chat/*"]);
    assert!(!posted, "{said}");
    let (_, said, posted) = run("{ tool: post, permissions: auto }", &["exec", "pass it on"]);
    assert!(!posted, "{said}");
}

#[test]
fn a_rule_for_the_pair_allows_it_and_one_that_denies_it_wins() {
    let pair = "{ tool: post, from: bank, permissions: auto }";
    let (code, said, posted) = run(pair, &["exec", "pass it on"]);
    assert!(posted, "{said}");
    assert_eq!(code, 0, "{said}");
    let (_, said, posted) =
        run("{ tool: post, from: [other], permissions: auto }", &["exec", "pass it on"]);
    assert!(!posted, "{said}");
    let both = format!("{pair}, {{ tool: '*', from: '*', permissions: deny }}");
    let (_, said, posted) = run(&both, &["exec", "pass it on"]);
    assert!(!posted, "{said}");
}

#[test]
fn a_misspelt_source_closes() {
    let (_, said, posted) =
        run("{ tool: post, form: bank, permissions: auto }", &["exec", "pass it on"]);
    assert!(!posted, "{said}");
    assert!(said.contains("form"), "{said}");
}

#[test]
fn the_bank_may_have_its_own_data_back() {
    let (code, said, posted) = run("", &["exec", "give it back"]);
    assert!(!posted, "{said}");
    assert_eq!(code, 0, "{said}");
}
