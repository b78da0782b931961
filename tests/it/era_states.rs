//! What a server's state says while it cannot be reached, and what a busy server means for a call.

use std::sync::atomic::{AtomicUsize, Ordering};

use mini_me_tui::domain::{Outcome, ServerState};
use mini_me_tui::mcp::ServerEventKind;
use serde_json::json;

use crate::support::client::{Client, eventually, spec, states, text};
use crate::support::server::{Recorded, Reply, Server};
use crate::{era_legacy, era_modern};

/// The usual servers of both eras, whose calls are answered by the closure as long as it does.
async fn both(call: impl Fn(usize) -> Option<Reply> + Send + Sync + Copy + 'static) -> [Server; 2] {
    let usual: [fn(&Recorded) -> Reply; 2] = [era_legacy::usual, era_modern::usual];
    let start = |usual: fn(&Recorded) -> Reply| {
        let calls = AtomicUsize::new(0);
        Server::start(move |request| match request.rpc().as_str() {
            "tools/call" => {
                let nth = calls.fetch_add(1, Ordering::Relaxed) + 1;
                call(nth).unwrap_or_else(|| usual(request))
            }
            _ => usual(request),
        })
    };
    [start(usual[0]).await, start(usual[1]).await]
}

fn notes(events: &[ServerEventKind]) -> Vec<String> {
    let note = |kind: &ServerEventKind| match kind {
        ServerEventKind::Progress { progress, .. } => Some(progress.note.clone()),
        _ => None,
    };
    events.iter().filter_map(note).collect()
}

#[tokio::test]
async fn a_call_that_is_refused_at_the_port_degrades_its_server_until_it_is_back() {
    for (usual, tool) in
        [(era_legacy::usual as fn(&Recorded) -> Reply, "echo"), (era_modern::usual, "météo")]
    {
        let server = Server::start(usual).await;
        let address = server.address;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        drop(server);
        eventually("the port is closed", || std::net::TcpStream::connect(address).is_err()).await;
        let outcome = client.call(tool, &json!({})).await;
        assert_eq!(outcome.word(), "not sent", "{outcome:?}");
        let reason = client
            .until(|events| match states(events).pop() {
                Some(ServerState::Degraded { reason }) => Some(reason),
                _ => None,
            })
            .await;
        assert!(reason.contains("TCP") && reason.contains(&address.to_string()), "{reason}");
        assert_eq!(client.tools(), [tool], "the last good list is kept");
        let _server = Server::on(tokio::net::TcpListener::bind(address).await.unwrap(), usual);
        // By itself, and on demand where that is sooner.
        assert_eq!(client.call(tool, &json!({})).await.word(), "ok");
        client
            .until(|events| (states(events).pop() == Some(ServerState::Ready)).then_some(()))
            .await;
        client.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_is_tried_again_keeps_its_reason_in_sight() {
    let server = Server::start(|_| Reply::status(503)).await;
    let client = Client::start(spec(&server.url("/mcp")));
    eventually("it is tried again", || server.asked("server/discover").len() >= 2).await;
    client
        .until(|events| {
            let failed = states(events).into_iter().filter(|state| state.word() == "failed");
            (failed.count() >= 2).then_some(())
        })
        .await;
    let states: Vec<_> = states(&client.events()).iter().map(ServerState::word).collect();
    assert_eq!(states[..3], ["connecting", "failed", "failed"]);
    client.stop().await;
}

// H13, §2.4
#[tokio::test]
async fn a_call_that_a_busy_server_did_not_look_at_is_sent_again_when_it_says() {
    let busy = |nth| {
        let headers = [("Retry-After", "1"), ("Content-Type", "application/json")];
        let error = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}"#;
        match nth {
            1 => Some(Reply::whole(429, &headers, error)),
            2 => Some(Reply::whole(503, &[("Retry-After", "0")], b"")),
            _ => None,
        }
    };
    let runs = both(busy).await.map(|server| async move {
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        let tool = client.tools().remove(0);
        let outcome = client.call(&tool, &json!({})).await;
        assert_eq!(outcome.word(), "ok", "{outcome:?}");
        assert_eq!(server.asked("tools/call").len(), 3);
        let notes = notes(&client.events());
        assert!(notes[0].contains("HTTP 429") && notes[0].contains("sent again"), "{notes:?}");
        assert!(notes[1].contains("HTTP 503"), "{notes:?}");
        client.stop().await;
    });
    futures_util::future::join_all(runs).await;
}

#[tokio::test]
async fn a_call_is_not_kept_waiting_for_long_nor_sent_again_where_it_may_have_run() {
    let [server, _] = both(|_| Some(Reply::whole(429, &[("Retry-After", "3600")], b""))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(outcome.word(), "not sent");
    assert!(text(&outcome).contains("3600 s"), "{outcome:?}");
    client.stop().await;
    let [server, _] = both(|_| Some(Reply::status(503))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.call("echo", &json!({})).await.word(), "unknown");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn a_call_that_waits_for_a_busy_server_was_not_sent_if_it_is_cancelled_then() {
    let [server, _] = both(|_| Some(Reply::whole(429, &[("Retry-After", "30")], b""))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    client.until(|events| (!notes(events).is_empty()).then_some(())).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: false });
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn a_request_that_is_too_large_is_said_to_be() {
    let [server, _] = both(|_| Some(Reply::status(413))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(outcome.word(), "not sent");
    assert!(text(&outcome).contains("larger than the server takes"), "{outcome:?}");
    client.stop().await;
}
