//! The client against servers of the legacy era.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mini_me_tui::domain::{Era, Outcome, ServerState};
use mini_me_tui::mcp::{Command, ServerEventKind};
use serde_json::{Value, json};

use crate::support::client::{Client, eventually, spec, states, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

pub(crate) fn initialized(request: &Recorded, session: &str) -> Reply {
    let body = result(
        request,
        &json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "old", "version": "3"}, "instructions": "Be kind."}),
    );
    let headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", session)];
    Reply::whole(200, &headers, body.to_string().as_bytes())
}

pub(crate) fn tools(request: &Recorded, names: &[&str]) -> Reply {
    let tools: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    Reply::json(200, &result(request, &json!({ "tools": tools })))
}

/// A well-behaved server with a session and without a standing stream.
pub(crate) fn usual(request: &Recorded) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => initialized(request, "s-1"),
        ("POST", "tools/list") => tools(request, &["echo"]),
        ("POST", "tools/call") => Reply::json(200, &said(request, "pong")),
        ("POST", "server/discover") => {
            Reply::json(400, &error(request, -32600, "Bad Request: no session"))
        }
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

pub(crate) fn said(request: &Recorded, text: &str) -> Value {
    result(request, &json!({"content": [{"type": "text", "text": text}]}))
}

/// The usual server, except where `other` answers.
async fn except(other: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static) -> Server {
    Server::start(move |request| other(request).unwrap_or_else(|| usual(request))).await
}

#[tokio::test]
async fn a_legacy_server_is_found_initialized_listed_and_called() {
    let server = Server::start(usual).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let connection = client.connection().await;
    assert_eq!(connection.era, Era::Legacy);
    assert_eq!(connection.protocol_version, "2025-06-18");
    assert!(connection.session);
    assert_eq!(connection.identity, "old 3");
    assert_eq!(connection.instructions.as_deref(), Some("Be kind."));
    assert_eq!(client.tools(), ["echo"]);
    assert_eq!(text(&client.call("echo", &json!({"a": 1})).await), "pong");
    client.stop().await;

    let seen: Vec<_> = server.requests().iter().map(|r| (r.method.clone(), r.rpc())).collect();
    let pair = |method: &str, rpc: &str| (method.to_owned(), rpc.to_owned());
    for expected in [
        pair("POST", "server/discover"),
        pair("POST", "initialize"),
        pair("POST", "notifications/initialized"),
        pair("POST", "tools/list"),
        pair("POST", "tools/call"),
        pair("GET", ""),
        pair("DELETE", ""),
    ] {
        assert_eq!(seen.iter().filter(|s| **s == expected).count(), 1, "{expected:?} in {seen:?}");
    }
}

#[tokio::test]
async fn session_and_version_travel_with_everything_after_initialize() {
    let server = Server::start(usual).await;
    let client = Client::ready(spec(&server.url("/mcp?project=a%2Fb"))).await;
    client.call("echo", &json!({})).await;
    client.stop().await;
    let initialize = &server.asked("initialize")[0];
    assert_eq!(initialize.header("mcp-session-id"), None);
    assert_eq!(initialize.header("mcp-protocol-version"), None);
    let requests = server.requests();
    let after = requests.iter().skip_while(|request| request.rpc() != "initialize").skip(1);
    for request in after {
        assert_eq!(request.header("mcp-session-id"), Some("s-1"), "{request:?}");
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(request.header("mcp-method"), None);
    }
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer tok-EXAMPLE"));
        assert_eq!(request.header("accept-encoding"), Some("identity"));
        assert_eq!(request.header("origin"), None);
        assert_eq!(request.target, "/mcp?project=a%2Fb");
    }
}

#[tokio::test]
async fn the_standing_stream_is_open_before_the_first_call() {
    let server = except(|request| {
        (request.method == "GET").then(|| Reply::default().wait(150).bytes(b"").hang())
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    eventually("the stream is opened", || server.count("GET") == 1).await;
    assert!(server.asked("tools/call").is_empty());
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: false });
    client.stop().await;
}

#[tokio::test]
async fn a_lost_session_is_made_anew_once_for_all_calls_that_wait() {
    let sessions = AtomicUsize::new(0);
    let server = except(move |request| match request.rpc().as_str() {
        "initialize" => {
            let nth = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            Some(initialized(request, &format!("s-{nth}")))
        }
        "tools/call" if request.header("mcp-session-id") == Some("s-1") => {
            Some(Reply::json(404, &error(request, -32001, "no such session")))
        }
        _ => None,
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calls = [
        client.begin("echo", &json!({})).await,
        client.begin("echo", &json!({})).await,
        client.begin("echo", &json!({})).await,
    ];
    for calling in calls {
        assert_eq!(text(&calling.outcome().await), "pong");
    }
    client.stop().await;
    assert_eq!(server.asked("initialize").len(), 2);
    assert_eq!(server.asked("server/discover").len(), 1);
    assert_eq!(server.asked("initialize")[1].header("mcp-session-id"), None);
    let with = |id| {
        server.asked("tools/call").iter().filter(|r| r.header("mcp-session-id") == Some(id)).count()
    };
    assert_eq!((with("s-1"), with("s-2")), (3, 3));
}

#[tokio::test]
async fn a_session_lost_by_400_and_words_is_made_anew_and_a_second_loss_is_the_end() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            Reply::json(400, &error(request, -32000, "Bad Request: No valid session ID provided"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(outcome.word(), "not sent");
    assert_eq!(server.asked("tools/call").len(), 2);
    client.stop().await;
    assert_eq!(server.asked("initialize").len(), 2);
}

#[tokio::test]
async fn requests_of_the_server_are_answered_in_posts_of_their_own() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            Reply::stream()
                .event(&json!({"jsonrpc": "2.0", "id": "srv-1", "method": "ping"}))
                .event(&json!({"jsonrpc": "2.0", "id": 7, "method": "roots/list"}))
                .event(&said(request, "pong"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    let answers = || -> Vec<Value> {
        let all = server.requests();
        let posts = all.iter().filter(|r| r.method == "POST" && r.rpc().is_empty());
        posts.map(Recorded::json).collect()
    };
    eventually("both are answered", || answers().len() == 2).await;
    assert!(answers().contains(&json!({"jsonrpc": "2.0", "id": "srv-1", "result": {}})));
    assert!(answers().iter().any(|answer| answer["error"]["code"] == -32601 && answer["id"] == 7));
    client.stop().await;
}

#[tokio::test]
async fn cancelling_sends_a_notice_and_does_not_wait_for_the_stream() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| Reply::stream().bytes(b": hi\n\n").hang())
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    eventually("the notice comes", || server.asked("notifications/cancelled").len() == 1).await;
    let notice = server.asked("notifications/cancelled")[0].json();
    assert_eq!(notice["params"]["requestId"], server.asked("tools/call")[0].json()["id"]);
    client.stop().await;
}

#[tokio::test]
async fn a_broken_stream_is_resumed_after_its_last_event() {
    let server = except(|request| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "tools/call") => {
            Some(Reply::stream().bytes(b"id: s1-1\nretry: 30\ndata:\n\n"))
        }
        ("GET", _) if request.header("last-event-id") == Some("s1-1") => {
            // The answer to the call, whose id is the latest that was given.
            Some(Reply::stream().bytes(
                b"id: s1-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"$\",\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"late\"}]}}\n\n",
            ))
        }
        _ => None,
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(server.asked("tools/call")[0].json()["id"], 4);
    assert_eq!(text(&outcome), "late");
    assert_eq!(server.asked("tools/call").len(), 1);
    client.stop().await;
}

#[tokio::test]
async fn progress_and_log_notices_reach_the_call() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            let token = request.json()["params"]["_meta"]["progressToken"].clone();
            let progress = |token: &Value, done: i32| {
                json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": done, "total": 4, "message": "m"}})
            };
            Reply::stream()
                .event(&progress(&token, 2))
                .event(&progress(&json!("other"), 3))
                .event(&json!({"jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"level": "info", "data": "looking"}}))
                .event(&said(request, "pong"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let id = calling.id;
    calling.outcome().await;
    let notes: Vec<_> = client
        .until(|events| {
            let notes: Vec<_> = events
                .iter()
                .filter_map(|kind| match kind {
                    ServerEventKind::Progress { call, progress } if *call == id => {
                        Some((progress.done, progress.total, progress.note.clone()))
                    }
                    _ => None,
                })
                .collect();
            (notes.len() == 2).then_some(notes)
        })
        .await;
    assert_eq!(notes, [(2.0, Some(4.0), "m".to_owned()), (2.0, Some(4.0), "looking".to_owned())]);
    client.stop().await;
}

#[tokio::test]
async fn a_burst_of_change_notices_makes_one_listing() {
    let server = except(|request| {
        (request.rpc() == "tools/call").then(|| {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let burst = (0..200).fold(Reply::stream(), |reply, _| reply.event(&notice));
            burst.event(&said(request, "pong"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    eventually("it is listed again", || server.asked("tools/list").len() >= 2).await;
    client
        .until(|events| {
            let lists = events.iter().filter(|k| matches!(k, ServerEventKind::Tools { .. }));
            (lists.count() >= 2).then_some(())
        })
        .await;
    client.stop().await;
    assert!(server.asked("tools/list").len() <= 3);
}

#[tokio::test]
async fn a_listing_that_fails_later_keeps_the_old_list_as_degraded() {
    let lists = AtomicUsize::new(0);
    let server = except(move |request| {
        (request.rpc() == "tools/list" && lists.fetch_add(1, Ordering::Relaxed) > 0)
            .then(|| Reply::status(500))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    client.send(Command::Refresh).await;
    let reason = client
        .until(|events| match states(events).pop() {
            Some(ServerState::Degraded { reason }) => Some(reason),
            _ => None,
        })
        .await;
    assert!(reason.contains("500"), "{reason}");
    assert_eq!(client.tools(), ["echo"]);
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    client.stop().await;
}

#[tokio::test]
async fn quitting_settles_calls_and_does_not_wait_for_a_server_that_hangs() {
    let server = except(|request| {
        let hangs = request.rpc() == "tools/call" || request.method == "DELETE";
        hangs.then(|| Reply::default().hang())
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    eventually("it is sent", || server.asked("tools/call").len() == 1).await;
    let took = client.stop().await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    assert_eq!(server.count("DELETE"), 1);
    assert_eq!(server.asked("notifications/cancelled").len(), 1);
}
