//! Requests of a legacy server to the user, and answers that come on other streams.

use mini_me_tui::config::Protocol;
use mini_me_tui::domain::{Answering, ElicitationKind, ElicitationReply, Outcome};
use mini_me_tui::mcp::{Command, ServerEventKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{accept, sure};
use crate::era_legacy::{initialized, said, usual};
use crate::support::client::{Client, eventually, spec, text};
use crate::support::server::{Recorded, Reply, Server};

fn ask(id: &Value, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

/// Our answers to the server's requests so far.
fn answers(server: &Server) -> Vec<Recorded> {
    let all = server.requests().into_iter();
    all.filter(|request| request.method == "POST" && request.rpc().is_empty()).collect()
}

/// A server that asks on a call's own stream and goes on once it is answered.
async fn asking_on_the_calls_stream(questions: Vec<Value>) -> Server {
    let answered = CancellationToken::new();
    Server::start(move |request: &Recorded| {
        if request.method == "POST" && request.rpc().is_empty() {
            answered.cancel();
        }
        if request.rpc() == "tools/call" {
            let stream = questions.iter().fold(Reply::stream(), Reply::event);
            return stream.until(&answered).event(&said(request, "done"));
        }
        usual(request)
    })
    .await
}

#[tokio::test]
async fn question_on_the_standing_stream_is_answered_in_a_post_of_its_own() {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive"], "default": "active"},
        "verified": {"type": "boolean", "default": true}}, "required": []});
    let params = json!({"message": "Please review", "requestedSchema": schema});
    let (called, answered) = (CancellationToken::new(), CancellationToken::new());
    let server = Server::start(move |request: &Recorded| {
        match (request.method.as_str(), request.rpc().as_str()) {
            ("GET", _) => {
                let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
                let stream = Reply::stream().bytes(b": ok\n\n").until(&called);
                stream.event(&ask(&json!(0.5), &params)).event(&ping).hang()
            }
            ("POST", "tools/call") => {
                called.cancel();
                Reply::stream().bytes(b": hi\n\n").until(&answered).event(&said(request, "done"))
            }
            ("POST", "") => {
                if request.json()["id"] == 0.5 {
                    answered.cancel();
                }
                Reply::status(202)
            }
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let asked = client.asked(0).await;
    // It can only belong to the one call that there is.
    assert_eq!(asked.call, Some(calling.id));
    let ElicitationKind::Form { fields, .. } = &asked.kind else { panic!("{asked:?}") };
    assert_eq!(fields.len(), 5);
    eventually("the ping is answered meanwhile", || answers(&server).len() == 1).await;
    client.reply(asked.id, ElicitationReply::Accept(None)).await;
    assert_eq!(text(&calling.outcome().await), "done");
    client.stop().await;
    let all = answers(&server);
    let [_, answer] = all.as_slice() else { panic!("{all:?}") };
    let expected = json!({"action": "accept", "content": {"name": "John Doe", "age": 30,
        "score": 95.5, "status": "active", "verified": true}});
    assert_eq!(answer.json(), json!({"jsonrpc": "2.0", "id": 0.5, "result": expected}));
    assert_eq!(answer.header("mcp-session-id"), Some("s-1"));
    let capabilities = server.asked("initialize")[0].json()["params"]["capabilities"].clone();
    assert_eq!(capabilities, json!({"elicitation": {"form": {}, "url": {}}}));
}

#[tokio::test]
async fn repeated_request_is_put_and_answered_once() {
    let question = ask(&json!("q"), &sure());
    let server = asking_on_the_calls_stream(vec![question.clone(), question]).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let asked = client.asked(0).await;
    assert_eq!(asked.call, Some(calling.id));
    client.reply(asked.id, accept(&json!({"confirmed": true}))).await;
    assert_eq!(text(&calling.outcome().await), "done");
    let put = |kind: &&ServerEventKind| matches!(kind, ServerEventKind::Elicit(_));
    assert_eq!(client.events().iter().filter(put).count(), 1);
    client.stop().await;
    assert_eq!(answers(&server).len(), 1);
}

#[tokio::test]
async fn question_that_the_server_withdraws_is_closed_and_not_answered() {
    let withdrawn = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": "q", "reason": "too late"}});
    let unknown = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": "other"}});
    let shown = CancellationToken::new();
    let released = shown.clone();
    let server = Server::start(move |request: &Recorded| {
        if request.rpc() == "tools/call" {
            return Reply::stream()
                .event(&ask(&json!("q"), &sure()))
                .event(&unknown)
                .until(&shown)
                .event(&withdrawn)
                .event(&said(request, "without you"));
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let asked = client.asked(0).await;
    released.cancel();
    assert_eq!(client.closed(asked.id).await, "withdrawn by the server");
    assert_eq!(text(&calling.outcome().await), "without you");
    client.reply(asked.id, ElicitationReply::Decline).await;
    client.stop().await;
    assert!(answers(&server).is_empty());
}

#[tokio::test]
async fn cancelling_the_call_closes_its_question_with_a_cancel() {
    let server = asking_on_the_calls_stream(vec![ask(&json!(3), &sure())]).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let asked = client.asked(0).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    assert_eq!(client.closed(asked.id).await, "cancelled");
    eventually("it is answered", || answers(&server).len() == 1).await;
    assert_eq!(answers(&server)[0].json()["result"], json!({"action": "cancel"}));
    client.stop().await;
    assert_eq!(server.asked("notifications/cancelled").len(), 1);
}

#[tokio::test]
async fn what_was_not_declared_is_refused_with_the_right_code() {
    let page = json!({"mode": "url", "message": "m", "elicitationId": "e",
        "url": "https://a.example/"});
    for (answering, params, declared, code) in [
        (Answering::Nobody, sure(), json!({}), -32601),
        (Answering::Forms, page.clone(), json!({"elicitation": {"form": {}}}), -32602),
        (
            Answering::Everything,
            json!({"mode": "url", "message": "m", "url": "file:///etc/passwd"}),
            json!({"elicitation": {"form": {}, "url": {}}}),
            -32602,
        ),
    ] {
        let server = asking_on_the_calls_stream(vec![ask(&json!(1), &params)]).await;
        let mut spec = spec(&server.url("/mcp"));
        spec.answering = answering;
        let client = Client::ready(spec).await;
        assert_eq!(text(&client.call("echo", &json!({})).await), "done");
        client.stop().await;
        let initialize = server.asked("initialize")[0].json();
        assert_eq!(initialize["params"]["capabilities"], declared);
        assert_eq!(answers(&server)[0].json()["error"]["code"], code, "{answering:?}");
    }
}

#[tokio::test]
async fn version_that_knows_no_elicitation_is_told_nothing_of_it() {
    let server = Server::start(usual).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.protocol = Protocol::V20250326;
    let client = Client::start(spec);
    client.settled().await;
    client.stop().await;
    assert_eq!(server.asked("initialize")[0].json()["params"]["capabilities"], json!({}));
}

#[tokio::test]
async fn pages_that_are_required_are_opened_first_and_the_call_is_sent_again_when_they_are_done() {
    let opened = CancellationToken::new();
    let released = opened.clone();
    let done = json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
        "params": {"elicitationId": "e-1"}});
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |request: &Recorded| {
        match (request.method.as_str(), request.rpc().as_str()) {
            ("GET", _) => Reply::stream().bytes(b": ok\n\n").until(&opened).event(&done).hang(),
            ("POST", "tools/call")
                if calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 =>
            {
                let page = json!({"mode": "url", "elicitationId": "e-1", "message": "Sign in",
                    "url": "https://login.example/start"});
                let error = json!({"code": -32042, "message": "sign in first",
                    "data": {"elicitations": [page]}});
                let id = request.json()["id"].clone();
                Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    let page = client.asked(0).await;
    let ElicitationKind::Url { host, .. } = &page.kind else { panic!("{page:?}") };
    assert_eq!(host, "login.example");
    client.reply(page.id, ElicitationReply::Accept(None)).await;
    let finished = client.asked(1).await;
    assert_eq!(server.asked("tools/call").len(), 1);
    released.cancel();
    assert!(client.closed(finished.id).await.contains("done with"));
    assert_eq!(text(&calling.outcome().await), "pong");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 2);
}

#[tokio::test]
async fn page_that_is_refused_ends_the_call_with_the_servers_error() {
    let server = Server::start(|request: &Recorded| {
        if request.rpc() == "tools/call" {
            let page = json!({"mode": "url", "elicitationId": "e-1", "message": "Sign in",
                "url": "https://login.example/start"});
            let error = json!({"code": -32042, "message": "sign in first",
                "data": {"elicitations": [page]}});
            let id = request.json()["id"].clone();
            return Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("echo", &json!({})).await;
    client.reply(client.asked(0).await.id, ElicitationReply::Decline).await;
    let outcome = calling.outcome().await;
    assert!(text(&outcome).contains("sign in first"), "{outcome:?}");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn answer_on_another_stream_is_taken_by_its_id() {
    let called = CancellationToken::new();
    let server = Server::start(move |request: &Recorded| {
        match (request.method.as_str(), request.rpc().as_str()) {
            ("GET", _) => {
                let answer = |id: i32, text: &str| {
                    json!({"jsonrpc": "2.0", "id": id,
                        "result": {"content": [{"type": "text", "text": text}]}})
                };
                let stream = Reply::stream().bytes(b": ok\n\n").until(&called);
                stream.event(&answer(99, "stray")).event(&answer(4, "elsewhere")).hang()
            }
            ("POST", "tools/call") => {
                called.cancel();
                Reply::stream().bytes(b": hi\n\n").hang()
            }
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(server.asked("tools/call")[0].json()["id"], 4);
    assert_eq!(text(&outcome), "elsewhere");
    client.stop().await;
}

#[tokio::test]
async fn reconnecting_by_hand_ends_the_old_session() {
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |request: &Recorded| {
        if request.rpc() == "initialize" {
            let nth = sessions.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            return initialized(request, &format!("s-{nth}"));
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    client.send(Command::Connect).await;
    client
        .until(|events| {
            let connected = events.iter().filter(|k| matches!(k, ServerEventKind::Connected(_)));
            (connected.count() == 2).then_some(())
        })
        .await;
    eventually("the old one is ended", || server.count("DELETE") == 1).await;
    client.stop().await;
    let ended: Vec<_> = server
        .requests()
        .iter()
        .filter(|request| request.method == "DELETE")
        .map(|request| request.header("mcp-session-id").unwrap().to_owned())
        .collect();
    assert_eq!(ended, ["s-1", "s-2"]);
}
