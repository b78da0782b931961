//! Rules of the protocol that no other test is about, each under its number.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use mini_me_tui::domain::{Inquiry, ServerState, Stage};
use mini_me_tui::mcp::ServerEventKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::era_legacy::{self, said};
use crate::era_modern;
use crate::support::client::{Client, eventually, spec, states, text};
use crate::support::server::{Recorded, Reply, Server, error, result};
use crate::tasks::{freeze, meanwhile};

/// The usual server of an era, except where `other` answers.
async fn except(
    usual: fn(&Recorded) -> Reply,
    other: impl Fn(&Recorded) -> Option<Reply> + Send + Sync + 'static,
) -> Server {
    Server::start(move |request| other(request).unwrap_or_else(|| usual(request))).await
}

fn warned(client: &Client, words: &str) -> bool {
    client.warnings().iter().any(|warning| warning.contains(words))
}

// H1–H5, H8, H9, J1, J2: in both eras.
#[tokio::test]
async fn every_message_is_one_object_in_a_post_of_its_own_with_the_headers_it_needs() {
    for usual in [era_legacy::usual as fn(&Recorded) -> Reply, era_modern::usual] {
        let server = Server::start(usual).await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        let tool = client.tools().remove(0);
        client.call(&tool, &json!({})).await;
        client.call(&tool, &json!({})).await;
        client.stop().await;
        let mut last = 0;
        for request in server.requests() {
            assert_eq!(request.header("authorization"), Some("Bearer tok-EXAMPLE"));
            assert_eq!((request.header("origin"), request.header("referer")), (None, None));
            if request.method != "POST" {
                let accepts = request.header("accept").unwrap();
                assert!(request.method != "GET" || accepts == "text/event-stream", "{accepts}");
                continue;
            }
            assert_eq!(request.header("content-type"), Some("application/json"));
            let accepts = request.header("accept").unwrap();
            assert!(accepts.contains("application/json") && accepts.contains("text/event-stream"));
            let message = request.json();
            assert_eq!(message["jsonrpc"], "2.0");
            assert_eq!((request.body.first(), request.body.last()), (Some(&b'{'), Some(&b'}')));
            if let Some(id) = message["id"].as_u64() {
                assert!(id > last, "{id} after {last}");
                last = id;
            } else {
                assert_eq!(request.rpc(), "notifications/initialized");
            }
        }
    }
}

// H10
#[tokio::test]
async fn names_of_headers_count_in_any_case_and_their_values_as_they_are() {
    let server = except(era_legacy::usual, |request| {
        (request.rpc() == "initialize").then(|| {
            let body =
                result(request, &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
            let headers =
                [("CONTENT-TYPE", "Application/JSON; Charset=UTF-8"), ("mCP-sESSION-iD", "Ab-9")];
            Reply::whole(200, &headers, body.to_string().as_bytes())
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    client.stop().await;
    let list = &server.asked("tools/list")[0];
    assert_eq!(list.header("mcp-session-id"), Some("Ab-9"));
}

// G2
#[tokio::test]
async fn nothing_is_asked_before_the_server_took_the_notice_that_it_is_initialized() {
    let taken = CancellationToken::new();
    let server = except(era_legacy::usual, {
        let taken = taken.clone();
        move |request| {
            (request.rpc() == "notifications/initialized").then(|| {
                let slow = Reply::default().until(&taken);
                slow.bytes(b"HTTP/1.1 202 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            })
        }
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp")));
    eventually("it is told", || !server.asked("notifications/initialized").is_empty()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(server.asked("tools/list").is_empty());
    taken.cancel();
    assert_eq!(client.settled().await, ServerState::Ready);
    client.stop().await;
}

// T1, H4: a modern server may not ask; there is no way to answer.
#[tokio::test]
async fn a_request_on_a_modern_stream_is_told_and_not_answered() {
    let server = except(era_modern::usual, |request| {
        (request.rpc() == "tools/call").then(|| {
            let ask = json!({"jsonrpc": "2.0", "id": "srv-1", "method": "elicitation/create",
                "params": {"message": "m", "requestedSchema": {"type": "object"}}});
            Reply::stream().event(&ask).event(&said(request, "12 C"))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
    client.stop().await;
    let posts: Vec<String> = server.requests().iter().map(Recorded::rpc).collect();
    assert_eq!(posts, ["server/discover", "tools/list", "tools/call"]);
}

// S8, S9, J5, J6, J8: what a stream may hold besides.
#[tokio::test]
async fn what_is_not_the_answer_on_a_stream_is_passed_over() {
    for usual in [era_legacy::usual as fn(&Recorded) -> Reply, era_modern::usual] {
        let server = except(usual, |request| {
            (request.rpc() == "tools/call").then(|| {
                let answer = said(request, "another type");
                Reply::stream()
                    .bytes(format!("event: ping\ndata: {answer}\n\n").as_bytes())
                    .bytes(b"data: {broken\n\n")
                    .event(&json!({"jsonrpc": "2.0", "id": 99_999, "result": {"content": []}}))
                    .event(&json!({"jsonrpc": "2.0", "method": "notifications/from/tomorrow"}))
                    .event(&said(request, "the answer"))
            })
        })
        .await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        let tool = client.tools().remove(0);
        let before = server.count("POST");
        assert_eq!(text(&client.call(&tool, &json!({})).await), "the answer");
        assert!(warned(&client, "events that are no JSON"), "{:?}", client.warnings());
        assert_eq!(server.count("POST"), before + 1, "nothing of it is answered");
        client.stop().await;
    }
}

// J1
#[tokio::test]
async fn messages_without_the_version_are_taken_and_told() {
    let server = except(era_modern::usual, |request| {
        (request.rpc() == "tools/call").then(|| {
            let mut answer = said(request, "12 C");
            answer.as_object_mut().unwrap().remove("jsonrpc");
            Reply::json(200, &answer)
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
    assert!(warned(&client, "“jsonrpc”: “2.0”"), "{:?}", client.warnings());
    client.stop().await;
}

// P6
#[tokio::test]
async fn a_list_of_another_type_is_no_list() {
    let server = except(era_modern::usual, |request| {
        let odd = json!({"resultType": "input_required", "requestState": "s", "tools": []});
        (request.rpc() == "tools/list").then(|| Reply::json(200, &result(request, &odd)))
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp")));
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::List);
    assert!(reason.contains("unknown type (\"input_required\")"), "{reason}");
    client.stop().await;
}

// R9, R10: on a resource too.
#[tokio::test]
async fn what_took_an_answer_of_the_user_is_not_kept_and_the_question_names_its_server() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "server/discover" => {
            let found = json!({"supportedVersions": ["2026-07-28"],
                "capabilities": {"resources": {}}});
            Reply::json(200, &result(request, &found))
        }
        "resources/read" if request.json()["params"]["inputResponses"].is_null() => {
            let schema = json!({"type": "object", "properties": {}});
            let needed = json!({"resultType": "input_required", "inputRequests": {"q":
                {"method": "elicitation/create",
                    "params": {"message": "Sure?", "requestedSchema": schema}}}});
            Reply::json(200, &result(request, &needed))
        }
        "resources/read" => {
            let read = json!({"ttlMs": 600_000, "contents": [{"uri": "a:1", "text": "x"}]});
            Reply::json(200, &result(request, &read))
        }
        _ => Reply::json(404, &error(request, -32601, "Method not found")),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for nth in 0..2 {
        let answering = async {
            let asked = client.asked(nth).await;
            assert_eq!(asked.server.as_str(), "demo");
            assert_eq!(asked.host, server.address.to_string());
            client.reply(asked.id, mini_me_tui::domain::ElicitationReply::Accept(None)).await;
        };
        let reading = client.inquire(Inquiry::Read { uri: "a:1".to_owned() });
        let (read, ()) = tokio::join!(reading, answering);
        assert!(read.is_ok(), "{read:?}");
    }
    client.stop().await;
    let reads = server.asked("resources/read");
    assert_eq!(reads.len(), 4);
    assert!(reads.iter().all(|read| read.header("mcp-name") == Some("a:1")));
}

// C2, U6: nobody tells of changes, so a stale list is fetched when somebody needs it, and no sooner.
// The legacy server announces changes and has no stream to tell of them.
#[tokio::test]
async fn a_stale_list_of_a_server_that_tells_of_no_changes_is_fetched_at_the_next_call() {
    let thaw = freeze();
    for (usual, tool) in
        [(era_modern::usual as fn(&Recorded) -> Reply, "météo"), (era_legacy::usual, "echo")]
    {
        let server = Server::start(usual).await;
        let client = Client::ready(spec(&server.url("/mcp"))).await;
        client.call(tool, &json!({})).await;
        assert_eq!(server.asked("tools/list").len(), 1);
        tokio::time::advance(Duration::from_secs(61)).await;
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.asked("tools/list").len(), 1, "time alone is no need");
        client.call(tool, &json!({})).await;
        meanwhile("it is listed again", || server.asked("tools/list").len() == 2).await;
        client.send(mini_me_tui::mcp::Command::Shutdown).await;
    }
    drop(thaw);
    tokio::time::resume();
}

// T10, T11: the wait is the server's, whatever version was agreed on, as often as it closes.
#[tokio::test]
async fn a_stream_is_resumed_after_the_wait_that_the_server_asks_for_as_often_as_it_closes() {
    let times = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let resumed = AtomicUsize::new(0);
    let server = except(era_legacy::usual, {
        let times = std::sync::Arc::clone(&times);
        move |request| match (request.method.as_str(), request.rpc().as_str()) {
            ("POST", "initialize") => {
                let body = json!({"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}});
                Some(Reply::json(200, &result(request, &body)))
            }
            ("GET", _) if request.header("last-event-id").is_none() => Some(Reply::status(405)),
            ("POST", "tools/call") | ("GET", _) => {
                times.lock().unwrap().push(tokio::time::Instant::now());
                let nth = resumed.fetch_add(1, Ordering::Relaxed);
                if nth == 3 {
                    let late = json!({"jsonrpc": "2.0", "id": 4, "result": {"content": []}});
                    return Some(Reply::stream().event(&late));
                }
                let primer = format!("id: e-{nth}\nretry: 120\ndata:\n\n");
                Some(Reply::stream().bytes(primer.as_bytes()))
            }
            _ => None,
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.connection().await.protocol_version, "2025-03-26");
    assert_eq!(client.call("echo", &json!({})).await.word(), "ok");
    client.stop().await;
    let requests = server.requests();
    let after: Vec<&str> = requests.iter().filter_map(|r| r.header("last-event-id")).collect();
    assert_eq!(after, ["e-0", "e-1", "e-2"]);
    let times = times.lock().unwrap();
    assert!(times.windows(2).all(|two| two[1] - two[0] >= Duration::from_millis(120)));
}

// E5, §2.4: the endpoint is gone as such, and the era is found anew.
#[tokio::test]
async fn a_modern_endpoint_that_is_gone_is_probed_again() {
    let gone = std::sync::Arc::new(AtomicBool::new(false));
    let server = except(era_modern::usual, {
        let gone = std::sync::Arc::clone(&gone);
        move |request| {
            let now = gone.load(Ordering::Relaxed) && request.rpc() == "tools/call";
            now.then(|| {
                gone.store(false, Ordering::Relaxed);
                Reply::whole(404, &[("Content-Type", "text/html")], b"<h1>not found</h1>")
            })
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    gone.store(true, Ordering::Relaxed);
    assert_eq!(text(&client.call("météo", &json!({})).await), "12 C");
    client.stop().await;
    assert_eq!(server.asked("server/discover").len(), 2);
    assert_eq!(server.asked("tools/call").len(), 2);
}

// V4, G11: log messages of no call in particular.
#[tokio::test]
async fn a_log_message_outside_any_call_is_passed_on_with_its_level() {
    let server = except(era_legacy::usual, |request| {
        (request.method == "GET").then(|| {
            let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "pondering", "data": {"n": 1}}});
            Reply::stream().event(&log).hang()
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let (level, line) = client
        .until(|events| {
            events.iter().find_map(|kind| match kind {
                ServerEventKind::Log { level, text } => Some((level.clone(), text.clone())),
                _ => None,
            })
        })
        .await;
    assert_eq!((level.as_str(), line.as_str()), ("pondering", "{\"n\":1}"));
    assert_eq!(states(&client.events()).last(), Some(&ServerState::Ready));
    client.stop().await;
}

// X1, H12: at whatever depth, and the body says the same.
#[tokio::test]
async fn a_nested_argument_travels_in_its_header_and_in_the_body() {
    let server = except(era_modern::usual, |request| {
        let nested = json!({"name": "météo", "inputSchema": {"type": "object", "properties": {
            "where": {"type": "object", "properties": {
                "country": {"type": "object", "properties": {
                    "code": {"type": "string", "x-mcp-header": "Country"}}},
                "floor": {"type": ["integer", "null"], "x-mcp-header": "Floor"}}},
            "brief": {"type": "boolean", "x-mcp-header": "Brief"}}}});
        (request.rpc() == "tools/list")
            .then(|| Reply::json(200, &result(request, &json!({"tools": [nested]}))))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let arguments =
        json!({"where": {"country": {"code": "Österreich"}, "floor": -2}, "brief": true});
    assert_eq!(text(&client.call("météo", &arguments).await), "12 C");
    client.call("météo", &json!({"where": {"country": "flat", "floor": null}})).await;
    client.stop().await;
    let calls = server.asked("tools/call");
    assert_eq!(calls[0].header("mcp-param-country"), Some("=?base64?w5ZzdGVycmVpY2g=?="));
    assert_eq!(calls[0].header("mcp-param-floor"), Some("-2"));
    assert_eq!(calls[0].header("mcp-param-brief"), Some("true"));
    assert_eq!(calls[0].json()["params"]["arguments"], arguments);
    for absent in ["mcp-param-country", "mcp-param-floor", "mcp-param-brief"] {
        assert_eq!(calls[1].header(absent), None, "{absent}");
    }
}

// E3, §2.4: the request fails alone, in words, and is not sent again.
#[tokio::test]
async fn a_capability_that_is_missing_is_said_and_changes_nothing_else() {
    let server = except(era_modern::usual, |request| {
        (request.rpc() == "tools/call").then(|| {
            let mut refused = error(request, -32021, "Elicitation is required");
            refused["error"]["data"] = json!({"requiredCapabilities": {"elicitation": {}}});
            Reply::json(400, &refused)
        })
    })
    .await;
    let mut spec = spec(&server.url("/mcp"));
    spec.answering = mini_me_tui::domain::Answering::Nobody;
    let client = Client::ready(spec).await;
    let outcome = client.call("météo", &json!({})).await;
    assert_eq!(outcome.word(), "tool error");
    assert!(text(&outcome).contains("nobody is there"), "{outcome:?}");
    assert_eq!(states(&client.events()).last(), Some(&ServerState::Ready));
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
    assert!(server.asked("initialize").is_empty());
}

// I7, R3: a page in the middle of a modern call.
#[tokio::test]
async fn a_page_that_a_modern_call_needs_is_consented_to_without_content() {
    let server = except(era_modern::usual, |request| {
        let params = request.json()["params"].clone();
        (request.rpc() == "tools/call" && params["inputResponses"].is_null()).then(|| {
            let page = json!({"method": "elicitation/create", "params": {"mode": "url",
                "message": "Sign in", "url": "https://xn--mnchen-3ya.example/in?a=1"}});
            let needed = json!({"resultType": "input_required", "inputRequests": {"p": page}});
            Reply::json(200, &result(request, &needed))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let calling = client.begin("météo", &json!({})).await;
    let asked = client.asked(0).await;
    let mini_me_tui::domain::ElicitationKind::Url { url, host } = &asked.kind else { panic!() };
    assert_eq!(host, "xn--mnchen-3ya.example");
    assert_eq!(url, "https://xn--mnchen-3ya.example/in?a=1");
    client.reply(asked.id, mini_me_tui::domain::ElicitationReply::Accept(None)).await;
    assert_eq!(text(&calling.outcome().await), "12 C");
    client.stop().await;
    let answer = &server.asked("tools/call")[1].json()["params"]["inputResponses"];
    assert_eq!(*answer, json!({"p": {"action": "accept"}}));
}

// S1–S3, S7: the corners of the format, in the middle of a call and cut into single bytes.
#[tokio::test]
async fn an_answer_in_the_oddest_form_that_the_format_allows_is_read() {
    let server = except(era_legacy::usual, |request| {
        (request.rpc() == "tools/call").then(|| {
            let answer = said(request, "Grüße 🎈");
            let answer = answer.to_string();
            let (first, second) = answer.split_once(',').unwrap();
            let odd = format!(
                "\u{feff}: hi\r\nid: a\0b\r:\n\revent\ndata:{first},\r\ndata: {second}\r\r\ndata: {{unfinished"
            );
            odd.bytes().fold(Reply::stream(), |reply, byte| reply.bytes(&[byte]))
        })
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "Grüße 🎈");
    client.stop().await;
}
