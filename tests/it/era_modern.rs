//! The client against servers of the modern era.

use std::sync::atomic::{AtomicUsize, Ordering};

use mini_me_tui::config::Protocol;
use mini_me_tui::domain::{Era, Outcome, ServerState, Stage};
use mini_me_tui::mcp::ServerEventKind;
use serde_json::{Value, json};

use crate::support::client::{Client, eventually, spec, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

fn discovered(request: &Recorded) -> Reply {
    let body = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "logging": {}}, "instructions": "Look first.",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "1"}}});
    let body = result(request, &body).to_string();
    let headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", "never")];
    Reply::whole(200, &headers, body.as_bytes())
}

fn query_tool() -> Value {
    json!({"name": "météo", "inputSchema": {"type": "object", "properties": {
        "city": {"type": "string", "x-mcp-header": "City"},
        "days": {"type": "integer", "x-mcp-header": "Days"},
        "note": {"type": "string"}}}})
}

fn said(request: &Recorded, text: &str) -> Value {
    result(request, &json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
}

pub(crate) fn usual(request: &Recorded) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "server/discover") => discovered(request),
        ("POST", "tools/list") => {
            Reply::json(200, &result(request, &json!({"tools": [query_tool()]})))
        }
        ("POST", "tools/call") => Reply::stream().bytes(b": hi\n\n").event(&said(request, "12 C")),
        ("POST", _) => Reply::json(404, &error(request, -32601, "Method not found")),
        _ => Reply::status(405),
    }
}

async fn except(other: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static) -> Server {
    Server::start(move |request| other(request).unwrap_or_else(|| usual(request))).await
}

#[tokio::test]
async fn a_modern_server_is_discovered_listed_and_called_without_a_session() {
    let server = Server::start(usual).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let connection = client.connection().await;
    assert_eq!(connection.era, Era::Modern);
    assert_eq!(connection.protocol_version, "2026-07-28");
    assert!(!connection.session);
    assert_eq!(connection.identity, "new 1");
    assert_eq!(client.tools(), ["météo"]);
    let outcome =
        client.call("météo", &json!({"city": "Zürich ", "days": null, "note": "x"})).await;
    assert_eq!(text(&outcome), "12 C");
    client.stop().await;

    let rpc: Vec<_> = server.requests().iter().map(Recorded::rpc).collect();
    assert_eq!(rpc, ["server/discover", "tools/list", "tools/call"]);
    for request in server.requests() {
        let meta = request.json()["params"]["_meta"].clone();
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mini-me-tui");
        assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(request.header("mcp-method"), Some(request.rpc().as_str()));
        assert_eq!(request.header("mcp-session-id"), None);
    }
    let call = &server.asked("tools/call")[0];
    assert_eq!(call.header("mcp-name"), Some("=?base64?bcOpdMOpbw==?="));
    assert_eq!(call.header("mcp-param-city"), Some("=?base64?WsO8cmljaCA=?="));
    assert_eq!(call.header("mcp-param-days"), None);
    assert_eq!(call.header("mcp-param-note"), None);
    let params = call.json()["params"].clone();
    assert_eq!(params["arguments"], json!({"city": "Zürich ", "days": null, "note": "x"}));
    assert_eq!(params["_meta"]["progressToken"], call.json()["id"]);
    assert_eq!(params["_meta"]["io.modelcontextprotocol/logLevel"], "info");
}

#[tokio::test]
async fn localhost_is_found_on_either_of_its_addresses() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // Where there is no IPv6 there is nothing to find there.
        let Ok(listener) = tokio::net::TcpListener::bind(address).await else { continue };
        let server = Server::on(listener, usual);
        let url = format!("http://localhost:{}/mcp", server.address.port());
        let client = Client::ready(spec(&url)).await;
        assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
        client.stop().await;
    }
}

#[tokio::test]
async fn cancelling_closes_the_stream_and_sends_nothing() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| Reply::stream().bytes(b": hi\n\n").hang())
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    eventually("the stream is closed", || server.left() == ["tools/call"]).await;
    assert!(server.asked("notifications/cancelled").is_empty());
    client.stop().await;
    assert_eq!(server.count("DELETE") + server.count("GET"), 0);
}

#[tokio::test]
async fn cancelling_works_before_the_head_of_the_answer() {
    let server =
        except(|request| (request.rpc() == "tools/call").then(|| Reply::default().hang())).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    eventually("the exchange is closed", || server.left() == ["tools/call"]).await;
    client.stop().await;
}

#[tokio::test]
async fn a_probe_refused_for_its_version_is_sent_again_with_the_same_one() {
    let probes = AtomicUsize::new(0);
    let server = except(move |request| {
        let first =
            request.rpc() == "server/discover" && probes.fetch_add(1, Ordering::Relaxed) == 0;
        first.then(|| {
            let mut answer = error(request, -32022, "unsupported");
            answer["error"]["data"] = json!({"supported": ["2026-07-28"]});
            Reply::json(400, &answer)
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.connection().await.era, Era::Modern);
    client.stop().await;
    assert_eq!(server.asked("server/discover").len(), 2);
    assert!(server.asked("initialize").is_empty());
}

#[tokio::test]
async fn a_header_mismatch_lists_again_and_sends_once_more() {
    let calls = AtomicUsize::new(0);
    let server = except(move |request| {
        let first = request.rpc() == "tools/call" && calls.fetch_add(1, Ordering::Relaxed) == 0;
        first.then(|| Reply::json(400, &error(request, -32020, "header mismatch")))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("météo", &json!({"city": "Rome"})).await;
    assert_eq!(text(&outcome), "12 C");
    let rpc: Vec<_> = server.requests().iter().map(Recorded::rpc).take(5).collect();
    assert_eq!(rpc, ["server/discover", "tools/list", "tools/call", "tools/list", "tools/call"]);
    client.stop().await;
}

#[tokio::test]
async fn a_tool_with_a_broken_header_annotation_is_dropped_alone() {
    let server = except(|request| {
        (request.rpc() == "tools/list").then(|| {
            let bad = json!({"name": "bad", "inputSchema": {"type": "object",
                "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}});
            Reply::json(200, &result(request, &json!({"tools": [bad, query_tool()]})))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.tools(), ["météo"]);
    let dropped = client
        .until(|events| {
            events.iter().find_map(|kind| match kind {
                ServerEventKind::Tools { dropped, .. } => Some(dropped.clone()),
                _ => None,
            })
        })
        .await;
    assert_eq!(dropped.len(), 1);
    assert_eq!(dropped[0].0, "bad");
    client.stop().await;
}

#[tokio::test]
async fn an_empty_cursor_is_followed_and_a_repeated_one_is_not() {
    let server = except(|request| {
        (request.rpc() == "tools/list").then(|| {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            let cursor = request.json()["params"]["cursor"].clone();
            let name = if cursor.is_null() { "first" } else { "second" };
            let page = json!({"tools": [tool(name)], "nextCursor": ""});
            Reply::stream().event(&result(request, &page))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.tools(), ["first", "second"]);
    assert_eq!(server.asked("tools/list").len(), 2);
    assert!(
        client.warnings().iter().any(|w| w.contains("cursor twice")),
        "{:?}",
        client.warnings()
    );
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_speaks_none_of_our_versions_is_refused_by_name() {
    let server = except(|request| {
        (request.rpc() == "server/discover").then(|| {
            let mut answer = error(request, -32022, "unsupported");
            answer["error"]["data"] = json!({"supported": ["2031-01-01"]});
            Reply::json(400, &answer)
        })
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp")));
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::Negotiate);
    assert!(reason.contains("2031-01-01"), "{reason}");
    client.stop().await;
}

#[tokio::test]
async fn a_forced_legacy_version_is_not_probed() {
    let server = Server::start(usual).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.protocol = Protocol::V20250618;
    let client = Client::start(spec);
    let state = client.settled().await;
    assert_eq!(state.word(), "failed");
    assert!(server.asked("server/discover").is_empty());
    assert_eq!(server.asked("initialize")[0].json()["params"]["protocolVersion"], "2025-06-18");
    client.stop().await;
}

/// The usual server, which tells of changes and answers a subscription as the closure says.
async fn telling(listen: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Server {
    except(move |request| match request.rpc().as_str() {
        "server/discover" => {
            let body = json!({"supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}}});
            Some(Reply::json(200, &result(request, &body)))
        }
        "subscriptions/listen" => Some(listen(request)),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_server_that_tells_of_changes_is_subscribed_to_and_listed_again() {
    let server = telling(|request| {
        let id = request.json()["id"].clone();
        let notice = |method: &str| {
            json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": {
                "_meta": {"io.modelcontextprotocol/subscriptionId": id}}})
        };
        let acknowledged = Reply::stream().event(&notice("subscriptions/acknowledged"));
        acknowledged.wait(20).event(&notice("tools/list_changed")).hang()
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    eventually("it is listed again", || server.asked("tools/list").len() == 2).await;
    let listen = &server.asked("subscriptions/listen")[0];
    assert_eq!(listen.json()["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(listen.header("mcp-method"), Some("subscriptions/listen"));
    client.stop().await;
    eventually("the stream is closed", || server.left() == ["subscriptions/listen"]).await;
}

#[tokio::test]
async fn a_subscription_that_is_refused_is_asked_for_once() {
    for status in [404, 200] {
        let server = telling(move |request| {
            Reply::json(status, &error(request, -32601, "Method not found"))
        })
        .await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        eventually("it is asked for", || !server.asked("subscriptions/listen").is_empty()).await;
        assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
        client.stop().await;
        assert_eq!(server.asked("subscriptions/listen").len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_became_legacy_is_found_out_and_the_call_is_made_there() {
    let before = AtomicUsize::new(0);
    let server = Server::start(move |request| {
        let modern = request.header("mcp-method").is_some();
        if request.rpc() == "tools/call" && modern {
            before.store(1, Ordering::Relaxed);
        }
        if before.load(Ordering::Relaxed) == 0 {
            return usual(request);
        }
        match request.rpc().as_str() {
            _ if modern => Reply::status(404),
            "initialize" => crate::era_legacy::initialized(request, "s-1"),
            "tools/list" => crate::era_legacy::tools(request, &["météo"]),
            "tools/call" => Reply::json(200, &crate::era_legacy::said(request, "old 12 C")),
            _ if request.method == "GET" => Reply::status(405),
            _ => Reply::status(202),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("météo", &json!({})).await), "old 12 C");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 2);
}
