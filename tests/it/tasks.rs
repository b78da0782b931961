//! Calls that become tasks (2026-07-28), and structured results against their schema.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mini_me_tui::domain::{Answering, ElicitationReply, Outcome, ToolOutput};
use mini_me_tui::mcp::{Command, ServerEventKind, ServerSpec};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::client::{Client, eventually, spec, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

fn usual(request: &Recorded) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "server/discover") => {
            let body = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}});
            Reply::json(200, &result(request, &body))
        }
        ("POST", "tools/list") => {
            let tools = json!([{"name": "bake", "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object", "required": ["cakes"],
                    "properties": {"cakes": {"type": "integer"}}}}]);
            Reply::json(200, &result(request, &json!({ "tools": tools })))
        }
        ("POST", "tools/call") => task(request, "task", "working", &json!({})),
        ("POST", "tasks/cancel" | "tasks/update") => {
            Reply::json(200, &result(request, &json!({"resultType": "complete"})))
        }
        ("POST", _) => Reply::json(404, &error(request, -32601, "Method not found")),
        _ => Reply::status(405),
    }
}

/// A task of this status as an answer; `more` is merged in.
fn task(request: &Recorded, kind: &str, status: &str, more: &Value) -> Reply {
    let mut task = json!({"resultType": kind, "taskId": "tâche", "status": status, "ttlMs": null,
        "createdAt": "2026-11-30T10:00:00Z", "lastUpdatedAt": "2026-11-30T10:00:00Z",
        "pollIntervalMs": 60});
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Reply::json(200, &result(request, &task))
}

fn completed(request: &Recorded) -> Reply {
    let done = json!({"result": {"content": [{"type": "text", "text": "baked"}],
        "structuredContent": {"cakes": 2}}});
    task(request, "complete", "completed", &done)
}

/// A server whose task goes through these answers, one a look; the last one again and again.
async fn going(looks: Vec<fn(&Recorded) -> Reply>) -> Server {
    let seen = Mutex::new(0);
    Server::start(move |request| {
        if request.rpc() != "tasks/get" {
            return usual(request);
        }
        let mut seen = seen.lock().unwrap();
        *seen += 1;
        looks[(*seen - 1).min(looks.len() - 1)](request)
    })
    .await
}

async fn outcome_after(looks: Vec<fn(&Recorded) -> Reply>) -> (Outcome, Server) {
    let server = going(looks).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("bake", &json!({})).await;
    client.stop().await;
    (outcome, server)
}

fn notes(events: &[ServerEventKind]) -> Vec<String> {
    let note = |kind: &ServerEventKind| match kind {
        ServerEventKind::Progress { progress, .. } => Some(progress.note.clone()),
        _ => None,
    };
    events.iter().filter_map(note).collect()
}

#[tokio::test]
async fn a_task_is_looked_at_until_it_is_done_and_its_result_is_the_calls() {
    let server = going(vec![
        |r| {
            task(
                r,
                "complete",
                "working",
                &json!({"statusMessage": "stirring", "requestState": "1"}),
            )
        },
        |r| task(r, "task", "working", &json!({"statusMessage": "stirring"})),
        completed,
    ])
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("bake", &json!({})).await;
    assert_eq!((outcome.word(), text(&outcome).as_str()), ("ok", "baked"));
    let notes = client.until(|events| Some(notes(events)).filter(|notes| notes.len() >= 2)).await;
    assert_eq!(notes, ["task working", "task working: stirring"]);
    client.stop().await;

    let call = &server.asked("tools/call")[0].json()["params"]["_meta"];
    let declared = &call["io.modelcontextprotocol/clientCapabilities"]["extensions"];
    assert_eq!(*declared, json!({"io.modelcontextprotocol/tasks": {}}));
    let looks = server.asked("tasks/get");
    assert_eq!(looks.len(), 3);
    let states: Vec<_> =
        looks.iter().map(|look| look.json()["params"]["requestState"].clone()).collect();
    assert_eq!(states, [Value::Null, json!("1"), Value::Null]);
    for look in looks {
        assert_eq!(look.header("mcp-name"), Some("=?base64?dMOiY2hl?="));
        assert_eq!(look.json()["params"]["taskId"], "tâche");
        let meta = &look.json()["params"]["_meta"];
        assert!(meta["io.modelcontextprotocol/clientCapabilities"]["extensions"].is_object());
    }
}

#[tokio::test]
async fn every_end_of_a_task_is_an_outcome_of_the_call() {
    let (outcome, _) = outcome_after(vec![|r| {
        task(r, "complete", "failed", &json!({"error": {"code": -32603, "message": "burnt"}}))
    }])
    .await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("-32603: burnt"), "{outcome:?}");
    let (outcome, _) = outcome_after(vec![|r| {
        task(r, "complete", "cancelled", &json!({"statusMessage": "closing time"}))
    }])
    .await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("The server cancelled the task: closing time"), "{outcome:?}");
    let (outcome, _) = outcome_after(vec![|r| {
        let failed = json!({"result": {"content": [], "isError": true}});
        task(r, "complete", "completed", &failed)
    }])
    .await;
    assert_eq!(outcome, Outcome::ToolError(ToolOutput::default()));
}

#[tokio::test]
async fn a_task_that_the_server_forgot_may_have_run() {
    let (outcome, server) =
        outcome_after(vec![|r| Reply::json(400, &error(r, -32602, "Unknown task"))]).await;
    assert_eq!(outcome.word(), "unknown");
    assert!(text(&outcome).contains("may have run"), "{outcome:?}");
    assert_eq!(server.asked("tasks/get").len(), 1);
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn a_look_whose_answer_is_lost_is_taken_again() {
    let (outcome, server) = outcome_after(vec![|_| Reply::nothing(), completed]).await;
    assert_eq!(outcome.word(), "ok");
    assert_eq!(server.asked("tasks/get").len(), 2);
}

#[tokio::test]
async fn an_answer_without_an_id_or_about_another_task_is_no_success() {
    let (outcome, _) = outcome_after(vec![|r| {
        task(r, "complete", "completed", &json!({"taskId": "another", "result": {"content": []}}))
    }])
    .await;
    assert_eq!(outcome.word(), "unknown");
    let server = Server::start(|request| match request.rpc().as_str() {
        "tools/call" => task(request, "task", "working", &json!({"taskId": ""})),
        _ => usual(request),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.call("bake", &json!({})).await.word(), "unknown");
    client.stop().await;
    assert!(server.asked("tasks/get").is_empty());
}

#[tokio::test]
async fn a_cancelled_task_is_cancelled_by_a_request_and_never_by_a_notice() {
    let server =
        going(vec![|r| task(r, "complete", "working", &json!({"requestState": "7"}))]).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("bake", &json!({})).await;
    eventually("it was looked at twice", || server.asked("tasks/get").len() >= 2).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    eventually("it is told", || !server.asked("tasks/cancel").is_empty()).await;
    client.stop().await;
    let cancels = server.asked("tasks/cancel");
    assert_eq!(cancels.len(), 1);
    assert_eq!(cancels[0].header("mcp-name"), Some("=?base64?dMOiY2hl?="));
    assert_eq!(cancels[0].json()["params"]["taskId"], "tâche");
    assert_eq!(cancels[0].json()["params"]["requestState"], "7");
    assert!(server.asked("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn a_client_that_ends_cancels_its_tasks() {
    let server = going(vec![|r| task(r, "complete", "working", &json!({}))]).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("bake", &json!({})).await;
    eventually("it was looked at", || !server.asked("tasks/get").is_empty()).await;
    client.stop().await;
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    assert_eq!(server.asked("tasks/cancel").len(), 1);
}

fn asking(request: &Recorded) -> Reply {
    let schema = json!({"type": "object", "properties": {"sweet": {"type": "boolean"}}});
    let question = json!({"method": "elicitation/create",
        "params": {"message": "Sweet?", "requestedSchema": schema}});
    task(request, "complete", "input_required", &json!({"inputRequests": {"q1": question}}))
}

#[tokio::test]
async fn input_for_a_task_is_asked_once_and_sent_by_an_update() {
    // The second look still shows what was answered already.
    let server = going(vec![asking, asking, completed]).await;
    let spec = ServerSpec { answering: Answering::Everything, ..spec(&server.url("/mcp")) };
    let client = Client::ready(spec).await;
    let calling = client.begin("bake", &json!({})).await;
    let elicitation = client
        .until(|events| {
            events.iter().find_map(|kind| match kind {
                ServerEventKind::Elicit(elicitation) => Some(Arc::clone(elicitation)),
                _ => None,
            })
        })
        .await;
    assert_eq!(elicitation.call, Some(calling.id));
    let content = json!({"sweet": true}).as_object().cloned().map(Arc::new);
    let reply = ElicitationReply::Accept(content);
    client.send(Command::Reply { elicitation: elicitation.id, reply }).await;
    assert_eq!(calling.outcome().await.word(), "ok");
    let asked = |kind: &&ServerEventKind| matches!(kind, ServerEventKind::Elicit(_));
    assert_eq!(client.events().iter().filter(asked).count(), 1);
    client.stop().await;
    let updates = server.asked("tasks/update");
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0].header("mcp-name"), Some("=?base64?dMOiY2hl?="));
    let answers = json!({"q1": {"action": "accept", "content": {"sweet": true}}});
    assert_eq!(updates[0].json()["params"]["inputResponses"], answers);
}

#[tokio::test]
async fn a_task_that_asks_what_nobody_can_answer_is_cancelled_with_a_clear_error() {
    let server = going(vec![asking]).await;
    let client =
        Client::ready(ServerSpec { answering: Answering::Nobody, ..spec(&server.url("/mcp")) })
            .await;
    let outcome = client.call("bake", &json!({})).await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("nobody is there"), "{outcome:?}");
    eventually("it is cancelled", || server.asked("tasks/cancel").len() == 1).await;
    client.stop().await;
}

// Y7
#[tokio::test]
async fn news_of_a_task_make_further_looks_needless() {
    let looked = CancellationToken::new();
    let server = Server::start({
        let looked = looked.clone();
        move |request| match request.rpc().as_str() {
            "subscriptions/listen" => {
                let notice = |method: &str, params: Value| {
                    json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"),
                        "params": params})
                };
                let whole = json!({"taskId": "tâche", "status": "completed", "ttlMs": null,
                    "result": {"content": [{"type": "text", "text": "told"}],
                        "structuredContent": {"cakes": 1}}});
                let granted = json!({"notifications": {"taskIds": ["tâche"]}});
                Reply::stream()
                    .event(&notice("subscriptions/acknowledged", granted))
                    .event(&notice("tasks", json!({"taskId": "another", "status": "failed"})))
                    .until(&looked)
                    .wait(300)
                    .event(&notice("tasks", whole))
                    .hang()
            }
            "tasks/get" => {
                looked.cancel();
                task(request, "complete", "working", &json!({}))
            }
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("bake", &json!({})).await;
    assert_eq!((outcome.word(), text(&outcome).as_str()), ("ok", "told"));
    client.stop().await;
    let listen = &server.asked("subscriptions/listen")[0].json()["params"];
    assert_eq!(listen["notifications"], json!({"taskIds": ["tâche"]}));
    let declared = &listen["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
    assert!(declared["io.modelcontextprotocol/tasks"].is_object(), "{declared}");
    // One before it was clear that news come, one for what happened until then.
    assert!(server.asked("tasks/get").len() <= 2, "{}", server.asked("tasks/get").len());
}

#[tokio::test]
async fn a_server_without_news_of_tasks_is_asked_for_them_once() {
    let server = going(vec![completed]).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for _ in 0..3 {
        assert_eq!(client.call("bake", &json!({})).await.word(), "ok");
    }
    client.stop().await;
    assert_eq!(server.asked("subscriptions/listen").len(), 1);
}

/// Stops the clock until the sender is dropped: no timer fires but by `advance`.
pub(crate) fn freeze() -> std::sync::mpsc::Sender<()> {
    tokio::time::pause();
    let (thaw, frozen) = std::sync::mpsc::channel::<()>();
    // While something blocks, the paused clock does not move by itself.
    drop(tokio::task::spawn_blocking(move || frozen.recv()));
    thaw
}

/// Gives everything that is ready its turn until something holds. The clock stands.
pub(crate) async fn meanwhile(what: &str, holds: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never: {what}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_task_is_looked_at_no_faster_than_its_server_asks_for_and_no_longer_than_allowed() {
    let thaw = freeze();
    let server = Server::start({
        let looks = Mutex::new(0);
        move |request| match request.rpc().as_str() {
            "tools/call" => task(request, "task", "working", &json!({"pollIntervalMs": 8000})),
            "tasks/get" => {
                let mut looks = looks.lock().unwrap();
                *looks += 1;
                // The latest wish counts.
                let wish =
                    json!({"pollIntervalMs": 2000 * *looks, "statusMessage": looks.to_string()});
                task(request, "complete", "working", &wish)
            }
            _ => usual(request),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("bake", &json!({})).await;
    meanwhile("the task is known", || notes(&client.events()).len() == 1).await;
    for (looks, wait) in [8, 2, 4, 6, 8].into_iter().enumerate() {
        tokio::time::advance(Duration::from_millis(1000 * wait - 10)).await;
        for _ in 0..500 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.asked("tasks/get").len(), looks, "before {wait} s have passed");
        tokio::time::advance(Duration::from_millis(20)).await;
        meanwhile("the look is taken", || server.asked("tasks/get").len() == looks + 1).await;
        meanwhile("its answer is known", || notes(&client.events()).len() == looks + 2).await;
    }
    // The whole call may take 30 s, and 28 of them have passed.
    tokio::time::advance(Duration::from_secs(2)).await;
    let outcome = calling.outcome().await;
    assert_eq!(outcome.word(), "unknown");
    assert!(text(&outcome).contains("maxCallTime"), "{outcome:?}");
    meanwhile("it is cancelled", || !server.asked("tasks/cancel").is_empty()).await;
    drop(thaw);
    tokio::time::resume();
    client.stop().await;
}

/// Remarks on the outcome of a plain call with this result, and the warnings about its server.
async fn called(answer: Value) -> (Vec<String>, Vec<String>) {
    let server = Server::start(move |request| match request.rpc().as_str() {
        "tools/call" => Reply::json(200, &result(request, &answer)),
        _ => usual(request),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let outcome = client.call("bake", &json!({})).await;
    let (Outcome::Ok(output) | Outcome::ToolError(output)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(output.content.len(), 1, "nothing is lost");
    if !output.remarks.is_empty() {
        // The warning comes before the outcome, on a channel of its own.
        client.until(|events| events.iter().any(is_warning).then_some(())).await;
    }
    let warnings = client.warnings();
    client.stop().await;
    (output.remarks, warnings)
}

fn is_warning(kind: &ServerEventKind) -> bool {
    matches!(kind, ServerEventKind::Warned(_))
}

fn answered(structured: &Value) -> Value {
    json!({"content": [{"type": "text", "text": "baked"}], "structuredContent": structured})
}

#[tokio::test]
async fn a_structured_result_that_does_not_fit_is_a_remark_and_a_warning() {
    let (remarks, warnings) = called(answered(&json!({"cakes": "two"}))).await;
    assert_eq!(remarks.len(), 1);
    assert!(remarks[0].contains("/cakes") && remarks[0].contains("integer"), "{remarks:?}");
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("do not fit the outputSchema of their tool (bake)"),
        "{warnings:?}"
    );
    let (remarks, _) = called(json!({"content": [{"type": "text", "text": "baked"}]})).await;
    assert!(remarks[0].contains("there is none"), "{remarks:?}");
}

#[tokio::test]
async fn a_structured_result_that_fits_and_a_failure_without_one_are_not_remarked_on() {
    assert_eq!(called(answered(&json!({"cakes": 2}))).await, (Vec::new(), Vec::new()));
    let failed = json!({"content": [{"type": "text", "text": "burnt"}], "isError": true});
    assert_eq!(called(failed).await, (Vec::new(), Vec::new()));
}
