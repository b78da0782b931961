//! Multi round-trip requests of the modern era.

use std::sync::atomic::{AtomicUsize, Ordering};

use mini_me_tui::domain::{Answering, ElicitationReply, Outcome};
use mini_me_tui::mcp::ServerEventKind;
use serde_json::{Value, json};

use super::{accept, sure};
use crate::era_modern::usual;
use crate::support::client::{Client, eventually, spec, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

/// JSON text that would look otherwise if it were read and written again.
const STATE: &str = "{\"step\": 1.0,  \"é\":\"\\u00e9\"}";

fn required(request: &Recorded, state: Option<&str>, requests: &Value) -> Reply {
    let mut body = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        body["requestState"] = json!(state);
    }
    Reply::json(200, &result(request, &body))
}

fn confirm() -> Value {
    json!({"confirm": {"method": "elicitation/create", "params": sure()}})
}

/// Asks once in the first call of each request whose note says so.
fn asking(state: Option<&'static str>) -> impl Fn(&Recorded) -> Reply + Send + Sync + 'static {
    move |request| {
        let params = request.json()["params"].clone();
        let first = params.get("inputResponses").is_none();
        match request.rpc().as_str() {
            "tools/call" if params["arguments"]["note"] == "ask" && first => {
                required(request, state, &confirm())
            }
            _ => usual(request),
        }
    }
}

pub(super) async fn asks(state: Option<&'static str>) -> Server {
    Server::start(asking(state)).await
}

#[tokio::test]
async fn answer_and_state_go_back_as_a_new_request_with_the_same_parameters() {
    let server = asks(Some(STATE)).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({"note": "ask", "city": "Bern"})).await;
    let asked = client.asked(0).await;
    assert_eq!((asked.message.as_str(), asked.call), ("Delete 3 files?", Some(calling.id)));
    assert_eq!(
        (asked.server.as_str(), asked.host.as_str()),
        ("demo", &*server.address.to_string())
    );
    client.reply(asked.id, accept(&json!({"confirmed": true}))).await;
    assert_eq!(text(&calling.outcome().await), "12 C");
    assert_eq!(client.closed(asked.id).await, "answered");
    client.stop().await;

    let calls = server.asked("tools/call");
    let [first, second] = calls.as_slice() else { panic!("{calls:?}") };
    let (first_params, mut params) =
        (first.json()["params"].clone(), second.json()["params"].clone());
    let answers = json!({"confirm": {"action": "accept", "content": {"confirmed": true}}});
    assert_eq!(params["inputResponses"], answers);
    assert_eq!(params["requestState"], STATE);
    assert_ne!(first.json()["id"], second.json()["id"]);
    assert_eq!(params["_meta"]["progressToken"], second.json()["id"]);
    let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*capabilities, json!({"elicitation": {"form": {}, "url": {}}}));
    for header in ["mcp-method", "mcp-name", "mcp-param-city", "mcp-protocol-version"] {
        assert!(second.header(header).is_some());
        assert_eq!(first.header(header), second.header(header), "{header}");
    }
    let params = params.as_object_mut().unwrap();
    params.retain(|key, _| !["inputResponses", "requestState", "_meta"].contains(&key.as_str()));
    assert_eq!(Value::Object(params.clone())["arguments"], first_params["arguments"]);
    assert_eq!(params["name"], first_params["name"]);
}

#[tokio::test]
async fn no_state_is_sent_where_there_was_none_and_a_refusal_is_an_answer() {
    for (reply, action) in
        [(ElicitationReply::Decline, "decline"), (ElicitationReply::Cancel, "cancel")]
    {
        let server = asks(None).await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        let calling = client.begin("météo", &json!({"note": "ask"})).await;
        client.reply(client.asked(0).await.id, reply).await;
        assert_eq!(text(&calling.outcome().await), "12 C");
        client.stop().await;
        let params = server.asked("tools/call")[1].json()["params"].clone();
        assert_eq!(params["inputResponses"], json!({"confirm": {"action": action}}));
        assert!(!params.as_object().unwrap().contains_key("requestState"));
    }
}

#[tokio::test]
async fn another_call_meanwhile_carries_nothing_of_it() {
    let server = asks(Some("")).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({"note": "ask"})).await;
    let asked = client.asked(0).await;
    client.call("météo", &json!({"note": "other"})).await;
    client.reply(asked.id, accept(&json!({"confirmed": false}))).await;
    calling.outcome().await;
    client.stop().await;
    let calls = server.asked("tools/call");
    let other = calls[1].json()["params"].clone();
    assert_eq!(other["arguments"]["note"], "other");
    assert!(other.get("inputResponses").is_none() && other.get("requestState").is_none());
    // An empty state is a state.
    assert_eq!(calls[2].json()["params"]["requestState"], "");
}

#[tokio::test]
async fn all_questions_of_a_round_are_answered_before_it_goes_on() {
    let server = Server::start(|request: &Recorded| {
        let first = request.json()["params"].get("inputResponses").is_none();
        if request.rpc() == "tools/call" && first {
            let one = json!({"method": "elicitation/create", "params": sure()});
            return required(request, None, &json!({"a": one, "b": one}));
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    let (first, second) = (client.asked(0).await, client.asked(1).await);
    client.reply(second.id, ElicitationReply::Decline).await;
    client.closed(second.id).await;
    assert_eq!(server.asked("tools/call").len(), 1);
    client.reply(first.id, accept(&json!({"confirmed": true}))).await;
    assert_eq!(text(&calling.outcome().await), "12 C");
    client.stop().await;
    let answers = server.asked("tools/call")[1].json()["params"]["inputResponses"].clone();
    assert_eq!(answers["a"]["action"], "accept");
    assert_eq!(answers["b"], json!({"action": "decline"}));
}

#[tokio::test]
async fn server_that_asks_for_ever_is_stopped_after_ten_rounds() {
    let server = Server::start(|request: &Recorded| {
        if request.rpc() == "tools/call" {
            return required(request, None, &confirm());
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    for nth in 0..10 {
        client.reply(client.asked(nth).await.id, ElicitationReply::Decline).await;
    }
    let outcome = calling.outcome().await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("10 rounds"), "{outcome:?}");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 11);
}

#[tokio::test]
async fn what_was_not_declared_ends_the_call_with_the_reason() {
    let server = Server::start(|request: &Recorded| {
        if request.rpc() == "tools/call" {
            let sampling = json!({"s": {"method": "sampling/createMessage", "params": {}}});
            return required(request, None, &sampling);
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("météo", &json!({})).await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("sampling/createMessage"), "{outcome:?}");
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn nothing_is_declared_or_asked_where_nobody_is_there() {
    let server = asks(None).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.answering = Answering::Nobody;
    let client = Client::ready(spec).await;
    let outcome = client.call("météo", &json!({"note": "ask"})).await;
    assert!(text(&outcome).contains("nobody is there"), "{outcome:?}");
    assert!(!client.events().iter().any(|kind| matches!(kind, ServerEventKind::Elicit(_))));
    client.stop().await;
    for request in server.requests() {
        let meta = &request.json()["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    }
}

#[tokio::test]
async fn cancelling_while_the_user_is_asked_closes_the_question_and_sends_nothing() {
    let server = asks(Some(STATE)).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({"note": "ask"})).await;
    let asked = client.asked(0).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    assert_eq!(client.closed(asked.id).await, "cancelled");
    // A late answer does nothing.
    client.reply(asked.id, accept(&json!({"confirmed": true}))).await;
    client.call("météo", &json!({})).await;
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 2);
}

#[tokio::test]
async fn state_alone_is_sent_back_without_asking_anybody() {
    let calls = AtomicUsize::new(0);
    let server = Server::start(move |request: &Recorded| {
        if request.rpc() == "tools/call" && calls.fetch_add(1, Ordering::Relaxed) == 0 {
            let body = json!({"resultType": "input_required", "requestState": STATE});
            return Reply::json(200, &result(request, &body));
        }
        usual(request)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
    client.stop().await;
    let params = server.asked("tools/call")[1].json()["params"].clone();
    assert_eq!(params["requestState"], STATE);
    assert!(params.get("inputResponses").is_none());
}

#[tokio::test]
async fn answer_that_cannot_be_delivered_leaves_the_call_unknown() {
    let server = Server::start(|request: &Recorded| {
        let params = request.json()["params"].clone();
        match request.rpc().as_str() {
            "tools/call" if params.get("inputResponses").is_some() => {
                Reply::json(403, &error(request, -32000, "no"))
            }
            "tools/call" => required(request, None, &confirm()),
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    client.reply(client.asked(0).await.id, ElicitationReply::Decline).await;
    let outcome = calling.outcome().await;
    assert_eq!(outcome.word(), "unknown", "{outcome:?}");
    assert!(text(&outcome).contains("may have run"));
    client.stop().await;
    eventually("nothing more is sent", || server.asked("tools/call").len() == 2).await;
}
