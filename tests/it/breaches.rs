//! What servers do that the protocol does not allow: put up with, and told once.

use std::time::Duration;

use mini_me_tui::mcp::ServerEventKind;
use serde_json::{Value, json};

use crate::era_legacy::{initialized, said, tools};
use crate::support::client::{Client, eventually, spec, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

/// A modern server that lists one tool; whatever it does not know is not found.
fn modern(request: &Recorded, capabilities: &Value) -> Reply {
    match request.rpc().as_str() {
        "server/discover" => {
            let found = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
            Reply::json(200, &result(request, &found))
        }
        "tools/list" => tools(request, &["echo"]),
        "tools/call" => Reply::json(200, &said(request, "pong")),
        _ => Reply::json(404, &error(request, -32601, "Method not found")),
    }
}

async fn except(other: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static) -> Server {
    let capabilities = json!({"tools": {}});
    Server::start(move |request| other(request).unwrap_or_else(|| modern(request, &capabilities)))
        .await
}

/// The conformance warnings so far, without what all of them say.
fn breaches(client: &Client) -> Vec<String> {
    let events = client.events().into_iter();
    let warned = events.filter_map(|kind| match kind {
        ServerEventKind::Warned(warning) if warning.is_conformance() => Some(warning.message),
        _ => None,
    });
    let start = "The server does not follow the protocol: it ";
    warned.map(|message| message.strip_prefix(start).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_cursor_that_repeats_is_told_and_what_was_read_is_kept() {
    let server = except(|request| {
        (request.rpc() == "tools/list").then(|| {
            let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
            Reply::json(200, &result(request, &json!({"tools": [tool], "nextCursor": "again"})))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.tools(), ["echo"]);
    assert_eq!(
        breaches(&client),
        ["gives the same page cursor twice, so that its list of tools was cut."]
    );
    client.stop().await;
}

#[tokio::test]
async fn schemas_that_are_none_are_told_with_the_tool() {
    let server = except(|request| {
        (request.rpc() == "tools/list").then(|| {
            let schema = json!({"type": "object", "required": true});
            let tools = ["a", "b"].map(|name| json!({"name": name, "inputSchema": schema}));
            Reply::json(200, &result(request, &json!({ "tools": tools })))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(breaches(&client), ["lists an input schema that is no schema (a)."]);
    client.stop().await;
}

#[tokio::test]
async fn an_answer_with_another_media_type_is_told_once_and_not_taken() {
    let server = except(|request| {
        let body = said(request, "pong").to_string();
        (request.rpc() == "tools/call")
            .then(|| Reply::whole(200, &[("Content-Type", "text/plain")], body.as_bytes()))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for _ in 0..2 {
        let outcome = client.call("echo", &json!({})).await;
        assert!(text(&outcome).contains("text/plain"), "{outcome:?}");
    }
    let told = breaches(&client);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("answers a request with what is no answer (HTTP 200 (text/plain)"));
    client.stop().await;
}

#[tokio::test]
async fn changes_that_were_not_declared_are_told_and_taken_in_all_the_same() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Reply::stream().event(&notice).event(&said(request, "pong"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    eventually("it is listed again", || server.asked("tools/list").len() == 2).await;
    let told = breaches(&client);
    assert_eq!(told, ["tells of changes to its tools without having declared listChanged."]);
    client.stop().await;
}

#[tokio::test]
async fn ids_as_text_unfinished_events_and_progress_that_goes_back_are_each_told_once() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            let id = request.json()["id"].clone();
            let progress = |done: u64| {
                json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": id, "progress": done}})
            };
            let mut answer = said(request, "pong");
            answer["id"] = json!(id.to_string());
            Reply::stream()
                .event(&progress(5))
                .event(&progress(3))
                .bytes(format!("data: {answer}\n").as_bytes())
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for _ in 0..2 {
        assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    }
    assert_eq!(
        breaches(&client),
        [
            "reports progress that goes back.",
            "gives ids back as text where they were numbers.",
            "closes its streams without the empty line that ends the last event."
        ]
    );
    client.stop().await;
}

#[tokio::test]
async fn a_session_id_that_none_may_be_is_told_and_not_sent() {
    let server = Server::start(|request| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => initialized(request, "a session"),
        ("POST", "tools/list") => tools(request, &["echo"]),
        ("POST", "server/discover") => Reply::status(404),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let told = breaches(&client);
    assert_eq!(told, ["gives an MCP session id with characters that none may have."]);
    client.stop().await;
    assert!(server.requests().iter().all(|request| request.header("mcp-session-id").is_none()));
}

#[tokio::test]
async fn a_server_that_keeps_to_the_protocol_or_is_merely_generous_is_not_blamed() {
    let server = Server::start(|request| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => initialized(request, "s-1"),
        ("POST", "tools/list") => tools(request, &["echo"]),
        ("POST", "tools/call") => {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Reply::stream().event(&notice).event(&said(request, "pong"))
        }
        // An acknowledgement may have any body.
        ("POST", "notifications/initialized") => {
            Reply::whole(200, &[("Content-Type", "text/html")], b"<p>ok</p>")
        }
        ("POST", "server/discover") => Reply::whole(200, &[("Content-Type", "text/html")], b"?"),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    eventually("it is listed again", || server.asked("tools/list").len() == 2).await;
    tokio::time::timeout(Duration::from_secs(5), client.until(|_| Some(()))).await.unwrap();
    assert_eq!(breaches(&client), Vec::<String>::new());
    client.stop().await;
}
