//! Resources, templates, prompts and completion, in both eras.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::domain::{
    Answering, Changed, Completion, CompletionOf, Content, ElicitationReply, Found, Inquiry,
    InquiryFaultKind, InquiryId, Prompt, PromptMessage, PromptText, Resource,
};
use mini_me_tui::mcp::{Command, ServerEventKind};
use serde_json::{Value, json};

use crate::support::client::{Client, PATIENCE, eventually, spec};
use crate::support::server::{Recorded, Reply, Server, error, result};

/// What both eras answer alike.
fn answer(request: &Recorded) -> Option<Value> {
    let params = request.json()["params"].clone();
    let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
    Some(match request.rpc().as_str() {
        "tools/list" => json!({"tools": []}),
        "resources/list" => match params["cursor"].as_str() {
            None => json!({"resources": [{"uri": "a:1", "name": "one"}], "nextCursor": ""}),
            Some("") => json!({"resources": [{"uri": "a:2", "name": "two"}], "nextCursor": "x"}),
            Some("x") => json!({"resources": [{"uri": "a:3", "name": "three"}]}),
            Some(other) => panic!("a cursor of its own: {other}"),
        },
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": "b:{id}", "name": "each"}]})
        }
        "resources/read" if text("uri") == "a:é" => json!({"contents": [
            {"uri": "a:é/t", "mimeType": "text/plain", "text": "grüezi"},
            {"uri": "a:é/b", "mimeType": "image/png", "blob": "AAAA"}]}),
        "prompts/list" => json!({"prompts": [
            {"name": "haiku", "arguments": [{"name": "topic", "required": true}]}]}),
        "prompts/get" if text("name") == "haiku" => json!({"description": "d", "messages": [
            {"role": "user", "content": {"type": "text",
                "text": format!("on {}", params["arguments"]["topic"].as_str().unwrap())}},
            {"role": "assistant", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}]}),
        "completion/complete" => json!({"completion": {
            "values": [format!("{}lma", params["argument"]["value"].as_str().unwrap())],
            "total": 9, "hasMore": true}}),
        _ => return None,
    })
}

fn offers() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}})
}

fn legacy(request: &Recorded, capabilities: &Value) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let body = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "old", "version": "3"}});
            Reply::json(200, &result(request, &body))
        }
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", "resources/read" | "prompts/get") if answer(request).is_none() => {
            Reply::json(200, &error(request, -32002, "Resource not found"))
        }
        ("POST", _) => match answer(request) {
            Some(answer) => Reply::stream().event(&result(request, &answer)),
            None if request.json()["id"].is_null() => Reply::status(202),
            None => Reply::json(200, &error(request, -32601, "Method not found")),
        },
        _ => Reply::status(405),
    }
}

fn modern(request: &Recorded, capabilities: &Value) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "server/discover") => {
            let body = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities});
            Reply::json(200, &result(request, &body))
        }
        ("POST", "resources/read" | "prompts/get") if answer(request).is_none() => {
            Reply::json(200, &error(request, -32602, "Not here"))
        }
        ("POST", _) => match answer(request) {
            Some(mut answer) => {
                answer["resultType"] = json!("complete");
                Reply::json(200, &result(request, &answer))
            }
            None => Reply::json(404, &error(request, -32601, "Method not found")),
        },
        _ => Reply::status(405),
    }
}

async fn modern_except(
    other: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static,
) -> Server {
    Server::start(move |request| other(request).unwrap_or_else(|| modern(request, &offers()))).await
}

fn read(uri: &str) -> Inquiry {
    Inquiry::Read { uri: uri.to_owned() }
}

fn haiku() -> Inquiry {
    let arguments = BTreeMap::from([("topic".to_owned(), "snow".to_owned())]);
    Inquiry::Prompt { name: "haiku".to_owned(), arguments }
}

fn complete() -> Inquiry {
    Inquiry::Complete {
        of: CompletionOf::Template("b:{id}".to_owned()),
        argument: "id".to_owned(),
        value: "pa".to_owned(),
        others: BTreeMap::from([("lang".to_owned(), "it".to_owned())]),
    }
}

/// Everything there is to ask, asked and compared.
async fn answers_everything(server: &Server) {
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let Ok(Found::Resources(list)) = client.inquire(Inquiry::Resources).await else { panic!() };
    let uris: Vec<_> = list.items.iter().map(|item: &Resource| item.uri.as_str()).collect();
    assert_eq!(uris, ["a:1", "a:2", "a:3"]);
    assert!(list.remarks.is_empty());

    let Ok(Found::Templates(list)) = client.inquire(Inquiry::Templates).await else { panic!() };
    assert_eq!(list.items[0].uri_template, "b:{id}");

    let Ok(Found::Read(parts)) = client.inquire(read("a:é")).await else { panic!() };
    assert_eq!((parts[0].uri.as_str(), parts[0].mime.as_str()), ("a:é/t", "text/plain"));
    assert_eq!(parts[0].content, Content::Text("grüezi".to_owned()));
    let Content::Binary { size, data, .. } = &parts[1].content else { panic!("{parts:?}") };
    assert_eq!((*size, data.as_ref()), (3, "AAAA"));

    let Ok(Found::Prompts(list)) = client.inquire(Inquiry::Prompts).await else { panic!() };
    let Prompt { name, arguments, .. } = &list.items[0];
    assert_eq!((name.as_str(), arguments[0].required), ("haiku", true));

    let Ok(Found::Prompt(made)) = client.inquire(haiku()).await else { panic!() };
    let PromptText { description, messages } = made;
    assert_eq!(description, "d");
    let said = Content::Text("on snow".to_owned());
    assert_eq!(messages[0], PromptMessage { role: "user".to_owned(), content: said });
    assert!(matches!(messages[1].content, Content::Binary { .. }));

    let Ok(Found::Completion(found)) = client.inquire(complete()).await else { panic!() };
    let values = vec!["palma".to_owned()];
    assert_eq!(found, Completion { values, total: Some(9), more: true });
    let context = &server.asked("completion/complete")[0].json()["params"]["context"];
    assert_eq!(*context, json!({"arguments": {"lang": "it"}}));

    let missing = client.inquire(read("a:none")).await.unwrap_err();
    assert_eq!(missing.kind, InquiryFaultKind::NotFound);
    assert!(missing.message.contains("no resource a:none"), "{missing}");
    client.stop().await;
}

#[tokio::test]
async fn a_modern_server_answers_all_and_names_travel_in_headers() {
    let server = modern_except(|_| None).await;
    answers_everything(&server).await;
    let read = &server.asked("resources/read")[0];
    assert_eq!(read.header("mcp-method"), Some("resources/read"));
    assert_eq!(read.header("mcp-name"), Some("=?base64?YTrDqQ==?="));
    assert_eq!(server.asked("prompts/get")[0].header("mcp-name"), Some("haiku"));
    for other in
        ["resources/list", "resources/templates/list", "prompts/list", "completion/complete"]
    {
        let request = &server.asked(other)[0];
        assert_eq!(request.header("mcp-name"), None, "{other}");
        let meta = &request.json()["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        // A task may stand for a call alone.
        assert!(meta["io.modelcontextprotocol/clientCapabilities"]["extensions"].is_null());
    }
}

#[tokio::test]
async fn a_legacy_server_answers_all_without_those_headers() {
    let server = Server::start(|request| legacy(request, &offers())).await;
    answers_everything(&server).await;
    let read = &server.asked("resources/read")[0];
    assert_eq!((read.header("mcp-method"), read.header("mcp-name")), (None, None));
    assert!(read.json()["params"]["_meta"].is_null());
}

#[tokio::test]
async fn what_is_not_declared_is_not_asked_for() {
    let server = Server::start(|request| modern(request, &json!({"tools": {}}))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for inquiry in [Inquiry::Resources, read("a:1"), Inquiry::Prompts, haiku(), complete()] {
        let fault = client.inquire(inquiry).await.unwrap_err();
        assert_eq!(fault.kind, InquiryFaultKind::Unsupported);
        assert!(fault.message.contains("does not declare"), "{fault}");
    }
    client.stop().await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_server_that_declares_nothing_is_asked_all_the_same() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "prompts/list" => Reply::json(200, &error(request, -32601, "Method not found")),
        _ => legacy(request, &json!({})),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert!(client.inquire(Inquiry::Resources).await.is_ok());
    let fault = client.inquire(Inquiry::Prompts).await.unwrap_err();
    assert_eq!(fault.kind, InquiryFaultKind::Unsupported);
    assert!(fault.message.contains("does not know the request"), "{fault}");
    client.stop().await;
}

#[tokio::test]
async fn resources_without_a_request_for_templates_are_no_fault() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "resources/templates/list" => Reply::json(200, &error(request, -32601, "no")),
        _ => legacy(request, &json!({"resources": {}})),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let Ok(Found::Templates(list)) = client.inquire(Inquiry::Templates).await else { panic!() };
    assert!(list.items.is_empty());
    client.stop().await;
}

#[tokio::test]
async fn a_cursor_that_comes_back_ends_the_list_with_a_remark() {
    let server = modern_except(|request| {
        (request.rpc() == "prompts/list").then(|| {
            let page = json!({"prompts": [{"name": "p"}], "nextCursor": "same"});
            Reply::json(200, &result(request, &page))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let Ok(Found::Prompts(list)) = client.inquire(Inquiry::Prompts).await else { panic!() };
    assert_eq!(list.items.len(), 1);
    assert!(list.remarks.iter().any(|remark| remark.contains("same page cursor")), "{list:?}");
    assert_eq!(server.asked("prompts/list").len(), 2);
    client
        .until(|events| {
            let told = |kind: &ServerEventKind| match kind {
                ServerEventKind::Warned(warning) => warning.message.contains("same page cursor"),
                _ => false,
            };
            events.iter().any(told).then_some(())
        })
        .await;
    client.stop().await;
}

#[tokio::test]
async fn a_cursor_that_is_refused_starts_the_list_over_once() {
    let refused = AtomicUsize::new(0);
    let server = modern_except(move |request| {
        let with_cursor = request.json()["params"]["cursor"].is_string();
        (request.rpc() == "resources/list"
            && with_cursor
            && refused.fetch_add(1, Ordering::SeqCst) == 0)
            .then(|| Reply::json(200, &error(request, -32602, "Invalid cursor")))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let Ok(Found::Resources(list)) = client.inquire(Inquiry::Resources).await else { panic!() };
    assert_eq!(list.items.len(), 3);
    assert_eq!(server.asked("resources/list").len(), 5);
    client.stop().await;
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again() {
    let lost = AtomicUsize::new(0);
    let server = modern_except(move |request| {
        (request.rpc() == "resources/read" && lost.fetch_add(1, Ordering::SeqCst) == 0)
            .then(Reply::nothing)
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert!(client.inquire(read("a:é")).await.is_ok());
    assert_eq!(server.asked("resources/read").len(), 2);
    client.stop().await;
}

#[tokio::test]
async fn a_lost_session_is_made_anew_and_the_question_asked_again() {
    let sessions = AtomicUsize::new(0);
    let server = Server::start(move |request| match request.rpc().as_str() {
        "initialize" => {
            let session = format!("s-{}", sessions.fetch_add(1, Ordering::SeqCst) + 1);
            let body = json!({"protocolVersion": "2025-11-25", "capabilities": offers()});
            let headers =
                [("Content-Type", "application/json"), ("Mcp-Session-Id", session.as_str())];
            Reply::whole(200, &headers, result(request, &body).to_string().as_bytes())
        }
        "prompts/get" if request.header("mcp-session-id") == Some("s-1") => Reply::status(404),
        _ => legacy(request, &offers()),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert!(client.inquire(haiku()).await.is_ok());
    let sessions: Vec<_> = server
        .asked("prompts/get")
        .iter()
        .map(|request| request.header("mcp-session-id").map(str::to_owned))
        .collect();
    assert_eq!(sessions, [Some("s-1".to_owned()), Some("s-2".to_owned())]);
    client.stop().await;
}

#[tokio::test]
async fn an_error_of_the_server_is_said_in_its_words() {
    let server = modern_except(|request| {
        (request.rpc() == "resources/read")
            .then(|| Reply::json(500, &error(request, -32603, "The disk is on fire")))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let fault = client.inquire(read("a:1")).await.unwrap_err();
    assert_eq!(fault.kind, InquiryFaultKind::Refused);
    assert!(fault.message.contains("The disk is on fire"), "{fault}");
    let fault = client
        .inquire(Inquiry::Prompt { name: "none".to_owned(), arguments: BTreeMap::new() })
        .await
        .unwrap_err();
    assert_eq!(fault.kind, InquiryFaultKind::NotFound);
    assert!(fault.message.contains("no prompt none"), "{fault}");
    client.stop().await;
}

#[tokio::test]
async fn a_result_of_another_type_is_no_answer() {
    let server = modern_except(|request| {
        (request.rpc() == "resources/read").then(|| {
            let task = json!({"resultType": "task", "taskId": "t", "contents": []});
            Reply::json(200, &result(request, &task))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let fault = client.inquire(read("a:1")).await.unwrap_err();
    assert_eq!(fault.kind, InquiryFaultKind::Refused);
    assert!(fault.message.contains("unknown type"), "{fault}");
    client.stop().await;
}

#[tokio::test]
async fn a_fresh_answer_is_not_asked_for_again_until_a_notice_says_so() {
    let server = modern_except(|request| match request.rpc().as_str() {
        "resources/read" => {
            let fresh = json!({"resultType": "complete", "ttlMs": 600_000, "cacheScope": "private",
                "contents": [{"uri": "a:1", "text": "x"}]});
            Some(Reply::json(200, &result(request, &fresh)))
        }
        // The news of a change comes on the way of something else.
        "prompts/list" => {
            let news = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
                "params": {"uri": "a:1"}});
            let list = result(request, &json!({"prompts": []}));
            Some(Reply::stream().event(&news).event(&list))
        }
        _ => None,
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let first = client.inquire(read("a:1")).await.unwrap();
    assert_eq!(client.inquire(read("a:1")).await.unwrap(), first);
    assert_eq!(server.asked("resources/read").len(), 1);
    client.inquire(read("a:2")).await.unwrap();
    assert_eq!(server.asked("resources/read").len(), 2, "another address is another question");
    client.inquire(Inquiry::Prompts).await.unwrap();
    client.inquire(read("a:1")).await.unwrap();
    assert_eq!(server.asked("resources/read").len(), 3);
    client.stop().await;
}

#[tokio::test]
async fn input_that_a_prompt_needs_is_asked_of_the_user_and_sent_along() {
    let server = modern_except(|request| {
        let params = request.json()["params"].clone();
        (request.rpc() == "prompts/get" && params["inputResponses"].is_null()).then(|| {
            let schema = json!({"type": "object", "properties": {"mood": {"type": "string"}}});
            let needed = json!({"resultType": "input_required", "requestState": " s ",
                "inputRequests": {"q": {"method": "elicitation/create",
                    "params": {"message": "Which mood?", "requestedSchema": schema}}}});
            Reply::json(200, &result(request, &needed))
        })
    })
    .await;
    let spec = mini_me_tui::mcp::ServerSpec {
        answering: Answering::Everything,
        ..spec(&server.url("/mcp"))
    };
    let client = Client::ready(spec).await;
    let answering = async {
        let elicitation = client
            .until(|events| {
                events.iter().find_map(|kind| match kind {
                    ServerEventKind::Elicit(elicitation) => Some(elicitation.id),
                    _ => None,
                })
            })
            .await;
        let content = json!({"mood": "calm"}).as_object().cloned().map(std::sync::Arc::new);
        let reply = ElicitationReply::Accept(content);
        client.send(Command::Reply { elicitation, reply }).await;
    };
    let (answer, ()) = tokio::join!(client.inquire(haiku()), answering);
    assert!(matches!(answer, Ok(Found::Prompt(_))), "{answer:?}");
    let second = &server.asked("prompts/get")[1].json()["params"];
    assert_eq!(
        second["inputResponses"],
        json!({"q": {"action": "accept", "content": {"mood": "calm"}}})
    );
    assert_eq!((&second["requestState"], &second["name"]), (&json!(" s "), &json!("haiku")));
    client.stop().await;
}

#[tokio::test]
async fn a_legacy_server_that_logs_is_asked_for_log_messages_once() {
    let mut offers = offers();
    offers["logging"] = json!({});
    let server = Server::start(move |request| legacy(request, &offers)).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    eventually("the level is set", || !server.asked("logging/setLevel").is_empty()).await;
    // It is refused here, which changes nothing.
    assert!(client.inquire(Inquiry::Prompts).await.is_ok());
    client.stop().await;
    let asked = server.asked("logging/setLevel");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].json()["params"], json!({"level": "info"}));
}

/// The program without a face, and a server of its config.
fn program(server: &Server) -> mini_me_tui::runtime::Handle {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.yaml");
    let yaml = format!("servers: [{{ name: s, url: \"{}\" }}]", server.url("/mcp"));
    std::fs::write(&file, yaml).unwrap();
    let loaded = mini_me_tui::config::load(Some(&file), &|_: &str| None, None).unwrap();
    let interaction = mini_me_tui::runtime::Interaction::Interactive;
    mini_me_tui::runtime::start(mini_me_tui::runtime::Setup::new(loaded.config, interaction))
}

async fn notice<T>(
    program: &mut mini_me_tui::runtime::Handle,
    pick: impl Fn(Notice) -> Option<T>,
) -> T {
    let waiting = async {
        loop {
            if let Some(found) = pick(program.notices.recv().await.expect("it goes on")) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("in time")
}

// K2
#[tokio::test]
async fn a_completion_that_is_overtaken_is_given_up() {
    let server = modern_except(|request| {
        let first = request.json()["params"]["argument"]["value"] == "p";
        (request.rpc() == "completion/complete" && first).then(|| Reply::default().hang())
    })
    .await;
    let mut program = program(&server);
    notice(&mut program, |notice| match notice {
        Notice::CatalogChanged { catalog } if catalog.settled() => Some(()),
        _ => None,
    })
    .await;
    let ask = |nth: u64, value: &str| {
        let Inquiry::Complete { of, argument, others, .. } = complete() else { panic!() };
        let what = Inquiry::Complete { of, argument, value: value.to_owned(), others };
        Op::Inquire { inquiry: InquiryId(nth), server: "s".into(), what }
    };
    program.ops.send(ask(1, "p")).await.unwrap();
    eventually("it is asked", || server.asked("completion/complete").len() == 1).await;
    program.ops.send(ask(2, "pa")).await.unwrap();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let one = notice(&mut program, |notice| match notice {
            Notice::Inquired { inquiry, answer } => Some((inquiry.0, answer)),
            _ => None,
        });
        answers.push(one.await);
    }
    answers.sort_by_key(|(nth, _)| *nth);
    let given_up = answers[0].1.as_ref().as_ref().unwrap_err();
    assert_eq!(given_up.kind, InquiryFaultKind::Cancelled);
    assert!(matches!(answers[1].1.as_ref(), Ok(Found::Completion(_))), "{answers:?}");
    eventually("the exchange is closed", || server.left() == ["completion/complete"]).await;
    program.ops.send(Op::Quit).await.unwrap();
}

#[tokio::test]
async fn a_face_is_told_what_else_has_changed_at_a_server() {
    let server = modern_except(|request| {
        (request.rpc() == "server/discover")
            .then(|| {
                let found = json!({"supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "prompts": {"listChanged": true}}});
                Reply::json(200, &result(request, &found))
            })
            .or_else(|| {
                (request.rpc() == "subscriptions/listen").then(|| {
                let told = |method: &str| {
                    json!({"jsonrpc": "2.0", "method": format!("notifications/{method}")})
                };
                Reply::stream()
                    .event(&told("subscriptions/acknowledged"))
                    .event(&told("prompts/list_changed"))
                    .hang()
            })
            })
    })
    .await;
    let mut program = program(&server);
    let changed = notice(&mut program, |notice| match notice {
        Notice::OffersChanged { server, what } => Some((server.as_str().to_owned(), what)),
        _ => None,
    });
    assert_eq!(changed.await, ("s".to_owned(), Changed::Prompts));
    program.ops.send(Op::Quit).await.unwrap();
}
