//! The client against servers that are half there, slow, lying or huge.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mini_me_tui::domain::{Outcome, ServerState, Stage};
use mini_me_tui::mcp::Command;
use serde_json::{Value, json};

use crate::era_legacy::{initialized, said, tools};
use crate::support::client::{Client, eventually, spec, states, text};
use crate::support::server::{Recorded, Reply, Server, error, result};

/// A legacy server that answers calls as the closure says, and everything else well.
async fn answering(call: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.rpc().as_str() {
        "initialize" => initialized(request, "s-1"),
        "server/discover" => Reply::json(200, &error(request, -32601, "unknown method")),
        "tools/list" => tools(request, &["echo"]),
        "tools/call" => call(request),
        _ if request.method == "GET" => Reply::status(405),
        _ => Reply::status(202),
    })
    .await
}

/// What one call comes to at such a server; it is sent exactly once.
async fn outcome(
    call: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
) -> (Outcome, Vec<String>) {
    let server = answering(call).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.limits.silence = Duration::from_millis(600);
    let client = Client::ready(spec).await;
    let outcome = client.call("echo", &json!({})).await;
    let warnings = client.warnings();
    client.stop().await;
    assert_eq!(server.asked("tools/call").len(), 1);
    (outcome, warnings)
}

fn assert_unknown(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.word(), "unknown", "{outcome:?}");
    let reason = text(outcome);
    assert!(reason.contains("may have run"), "{reason}");
    assert!(reason.to_lowercase().contains(words), "{reason}");
}

#[tokio::test]
async fn a_connection_lost_after_sending_makes_the_call_unknown_and_it_is_not_sent_again() {
    assert_unknown(&outcome(|_| Reply::nothing()).await.0, "lost");
    assert_unknown(&outcome(|_| Reply::default().reset()).await.0, "lost");
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_streamed_answer() {
    let server = answering(|request| Reply::kept_stream(&said(request, "pong"))).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for _ in 0..3 {
        assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    }
    client.stop().await;
    let mut connections: Vec<_> = server.asked("tools/call").iter().map(|r| r.connection).collect();
    connections.dedup();
    assert_eq!(connections.len(), 1, "{connections:?}");
}

#[tokio::test]
async fn an_answer_cut_in_the_middle_makes_the_call_unknown() {
    let cut = |_: &Recorded| {
        Reply::head(200, &[("Content-Type", "application/json"), ("Content-Length", "500")])
            .bytes(b"{\"jsonrpc\":\"2.0\",")
    };
    assert_unknown(&outcome(cut).await.0, "middle of the answer");
    let stream = |_: &Recorded| Reply::stream().bytes(b"data: {\"jsonrpc\":\"2.0\",\"id\"");
    assert_unknown(&outcome(stream).await.0, "ended before the answer");
}

#[tokio::test]
async fn a_complete_answer_without_the_last_empty_line_is_taken_with_a_warning() {
    let (outcome, warnings) = outcome(|request| {
        Reply::stream().bytes(format!("data: {}\n", said(request, "pong")).as_bytes())
    })
    .await;
    assert_eq!(text(&outcome), "pong");
    assert!(warnings.iter().any(|warning| warning.contains("empty line")), "{warnings:?}");
}

#[tokio::test]
async fn an_answer_whose_line_has_no_end_is_not_taken() {
    let (outcome, _) = outcome(|request| {
        Reply::stream().bytes(format!("data: {}", said(request, "pong")).as_bytes())
    })
    .await;
    assert_unknown(&outcome, "ended before the answer");
}

#[tokio::test]
async fn silence_makes_the_call_unknown_and_it_is_called_off() {
    let server = answering(|_| Reply::stream().bytes(b": hi\n\n").hang()).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.limits.silence = Duration::from_millis(100);
    let client = Client::ready(spec).await;
    let outcome = client.call("echo", &json!({})).await;
    assert_unknown(&outcome, "calltimeout");
    eventually("it is called off", || server.asked("notifications/cancelled").len() == 1).await;
    client.stop().await;
}

#[tokio::test]
async fn any_sign_of_life_starts_the_silence_anew_a_comment_too() {
    let (outcome, _) = outcome(|request| {
        let alive = (0..8).fold(Reply::stream(), |reply, _| reply.wait(100).bytes(b": hi\n\n"));
        alive.event(&said(request, "late"))
    })
    .await;
    assert_eq!(text(&outcome), "late");
}

#[tokio::test]
async fn limits_beyond_all_reckoning_are_no_limits() {
    let server = answering(|request| Reply::stream().event(&said(request, "pong"))).await;
    let mut spec = spec(&server.url("/mcp"));
    spec.limits.silence = Duration::MAX;
    spec.limits.call = Duration::MAX;
    spec.limits.discovery = Duration::MAX;
    let client = Client::ready(spec).await;
    assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    client.stop().await;
}

#[tokio::test]
async fn bytes_without_sense_break_nothing() {
    let mut random = 1_u32;
    for round in 0..40 {
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..200).map(|_| next()).collect();
        let (outcome, _) = outcome(move |_| match round % 4 {
            0 => Reply::default().bytes(&noise),
            1 => Reply::stream().bytes(b"data: ").bytes(&noise).bytes(b"\n\n"),
            2 => Reply::head(200, &[("Content-Type", "application/json")]).bytes(&noise),
            _ => Reply::head(500, &[("Content-Type", "application/json")]).bytes(&noise),
        })
        .await;
        assert_eq!(outcome.word(), "unknown");
    }
}

#[tokio::test]
async fn many_talkative_calls_at_once_are_all_settled() {
    let server = answering(|request| {
        let token = request.json()["params"]["_meta"]["progressToken"].clone();
        let progress = |step: i32| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": step}})
        };
        let talking = (0..20).fold(Reply::stream(), |reply, step| reply.event(&progress(step)));
        talking.event(&said(request, &request.json()["params"]["arguments"]["n"].to_string()))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let mut calls = Vec::new();
    for n in 0..60 {
        calls.push(client.begin("echo", &json!({ "n": n })).await);
    }
    for (n, calling) in calls.into_iter().enumerate() {
        assert_eq!(text(&calling.outcome().await), n.to_string());
    }
    client.stop().await;
}

#[tokio::test]
async fn a_runtime_that_does_not_listen_cannot_keep_the_client_from_ending() {
    let server = answering(|_| Reply::default().hang()).await;
    let (commands, inbox) = tokio::sync::mpsc::channel(1);
    let (events, _unread) = tokio::sync::mpsc::channel(1);
    let cancel = tokio_util::sync::CancellationToken::new();
    let running = mini_me_tui::mcp::client::run(spec(&server.url("/mcp")), inbox, events, cancel);
    let task = crate::support::client::spawn(running);
    eventually("it has begun", || !server.requests().is_empty()).await;
    commands.send(Command::Shutdown).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), task).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn a_call_never_takes_longer_than_its_limit() {
    let server =
        answering(|_| (0..200).fold(Reply::stream(), |reply, _| reply.wait(50).bytes(b": hi\n\n")))
            .await;
    let mut spec = spec(&server.url("/mcp"));
    spec.limits.call = Duration::from_millis(300);
    let client = Client::ready(spec).await;
    assert_unknown(&client.call("echo", &json!({})).await, "maxcalltime");
    eventually("it is called off", || server.asked("notifications/cancelled").len() == 1).await;
    client.stop().await;
}

#[tokio::test]
async fn odd_answers_are_named_and_never_taken_for_an_empty_success() {
    for (reply, words) in [
        (Reply::status(202), "http 202"),
        (Reply::whole(200, &[("Content-Type", "text/html")], b"<b>Sign in</b>"), "text/html"),
        (Reply::whole(200, &[("Content-Type", "application/json")], b"{\"a\""), "ends too early"),
        (Reply::whole(200, &[("Content-Type", "application/json")], b"null"), "neither an object"),
        (Reply::whole(200, &[("Content-Type", "application/json")], b"[]"), "empty array"),
        (Reply::json(200, &json!({"jsonrpc": "2.0", "id": 99, "result": {}})), "id of the request"),
        (
            Reply::whole(
                200,
                &[("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")],
                b"\x1f\x8b",
            ),
            "gzip",
        ),
        (Reply::status(502), "http 502"),
    ] {
        let (outcome, _) = outcome(move |_| reply.clone()).await;
        assert_unknown(&outcome, words);
    }
}

#[tokio::test]
async fn an_error_without_an_id_ends_the_request_it_answers() {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no"}});
    for reply in [Reply::json(200, &error), Reply::json(500, &error), Reply::stream().event(&error)]
    {
        let (outcome, _) = outcome(move |_| reply.clone()).await;
        assert_eq!(outcome.word(), "tool error");
        assert_eq!(text(&outcome), "The server answered with error -32000: no");
    }
}

#[tokio::test]
async fn ids_given_back_as_text_and_batches_are_understood() {
    let (as_text, _) = outcome(|request| {
        let mut answer = said(request, "pong");
        answer["id"] = json!(answer["id"].to_string());
        Reply::json(200, &answer)
    })
    .await;
    assert_eq!(text(&as_text), "pong");
    let (batch, _) = outcome(|request| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/odd"});
        let page = json!([notice, 7, said(request, "pong")]);
        Reply::stream().bytes(b"data: nonsense\n\n").event(&page)
    })
    .await;
    assert_eq!(text(&batch), "pong");
}

#[tokio::test]
async fn an_event_larger_than_the_limit_is_an_error_that_names_it() {
    let (outcome, _) = outcome(|_| {
        let piece = vec![b'x'; 1 << 20];
        (0..17).fold(Reply::stream().bytes(b"data: "), |reply, _| reply.bytes(&piece))
    })
    .await;
    assert_unknown(&outcome, "16777216 bytes (sse event)");
}

#[tokio::test]
async fn a_refused_connection_is_a_failure_with_stage_and_place() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let client = Client::start(spec(&format!("http://127.0.0.1:{port}/mcp?key=geheim")));
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::Tcp);
    assert!(reason.contains(&format!("127.0.0.1:{port}")), "{reason}");
    assert!(!reason.contains("geheim"), "{reason}");
    let outcome = client.call("echo", &json!({})).await;
    assert_eq!(outcome.word(), "not sent");
    client.stop().await;
}

#[tokio::test]
async fn a_server_without_tls_behind_https_fails_at_that_stage() {
    let server = Server::start(|_| Reply::status(404)).await;
    let client = Client::start(spec(&server.url("/mcp").replace("http://", "https://")));
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::Tls, "{reason}");
    assert!(reason.contains("127.0.0.1"), "{reason}");
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_was_overloaded_is_tried_again_by_itself() {
    let away = AtomicUsize::new(0);
    let server = Server::start(move |request| match request.rpc().as_str() {
        "server/discover" if away.fetch_add(1, Ordering::Relaxed) == 0 => Reply::status(503),
        "initialize" => initialized(request, "s-1"),
        "tools/list" => tools(request, &["echo"]),
        "server/discover" => Reply::status(404),
        _ => Reply::status(202),
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp")));
    assert_eq!(client.settled().await.word(), "failed");
    client.until(|events| states(events).contains(&ServerState::Ready).then_some(())).await;
    client.stop().await;
}

#[tokio::test]
async fn a_web_page_is_no_server_and_is_told_without_markup_and_query() {
    let server = Server::start(|_| {
        let page = b"<html><title>Sign in</title><body>Please sign in</body></html>";
        Reply::whole(200, &[("Content-Type", "text/html; charset=utf-8")], page)
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp?key=geheim")));
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::Http);
    for words in ["HTTP 200", "text/html", "/mcp", "Please sign in"] {
        assert!(reason.contains(words), "{words} in {reason}");
    }
    assert!(!reason.contains('<') && !reason.contains("geheim") && reason.len() < 400, "{reason}");
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_wants_a_credential_says_which_and_is_left_alone() {
    let server =
        Server::start(|_| Reply::whole(401, &[("WWW-Authenticate", "Bearer scope=\"read\"")], b""))
            .await;
    let client = Client::start(spec(&server.url("/mcp")));
    let ServerState::NeedsAuth { reason } = client.settled().await else { panic!() };
    assert!(reason.contains("scope=\"read\"") && !reason.contains("tok-EXAMPLE"), "{reason}");
    assert_eq!(server.requests().len(), 1);
    client.stop().await;
}

#[tokio::test]
async fn a_credential_that_expires_ends_the_connection_and_a_call_is_not_sent_again() {
    let server = answering(|_| Reply::status(401)).await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.call("echo", &json!({})).await.word(), "not sent");
    client
        .until(|events| {
            states(events).last().is_some_and(|s| s.word() == "needs auth").then_some(())
        })
        .await;
    assert_eq!(client.call("echo", &json!({})).await.word(), "not sent");
    assert_eq!(server.asked("tools/call").len(), 1);
    client.stop().await;
}

#[tokio::test]
async fn what_a_server_repeats_of_secrets_is_not_told() {
    let server = Server::start(|request| {
        let page = format!(
            "<pre>Cannot POST {} with {}</pre>",
            request.target,
            request.header("authorization").unwrap()
        );
        Reply::whole(404, &[("Content-Type", "text/html")], page.as_bytes())
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp?key=geheim")));
    let ServerState::Failed { reason, .. } = client.settled().await else { panic!() };
    assert!(reason.contains("Cannot POST"), "{reason}");
    assert!(!reason.contains("geheim") && !reason.contains("tok-EXAMPLE"), "{reason}");
    client.stop().await;
}

#[tokio::test]
async fn a_redirect_on_the_origin_is_followed_and_one_to_another_is_not() {
    let server = Server::start(|request| {
        if request.target == "/mcp" {
            return Reply::whole(307, &[("Location", "/mcp/")], b"");
        }
        match request.rpc().as_str() {
            "initialize" => initialized(request, "s-1"),
            "tools/list" => tools(request, &["echo"]),
            "server/discover" => Reply::status(404),
            _ => Reply::status(202),
        }
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    let initialize = &server.asked("initialize")[1];
    assert_eq!(initialize.target, "/mcp/");
    assert_eq!(initialize.header("authorization"), Some("Bearer tok-EXAMPLE"));
    client.stop().await;

    let target = server.url("/mcp/?key=geheim");
    let before = server.requests().len();
    let other =
        Server::start(move |_| Reply::whole(307, &[("Location", target.as_str())], b"")).await;
    let client = Client::start(spec(&other.url("/mcp")));
    let ServerState::Failed { reason, .. } = client.settled().await else { panic!() };
    assert!(reason.contains("redirect") && reason.contains(&server.url("/mcp/")), "{reason}");
    assert!(!reason.contains("geheim"), "{reason}");
    client.stop().await;
    assert_eq!(server.requests().len(), before);
}

#[tokio::test]
async fn discovery_is_bounded_and_says_how_far_it_came() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "server/discover" => Reply::status(404),
        "initialize" => initialized(request, "s-1"),
        "notifications/initialized" => Reply::status(202),
        _ => Reply::default().hang(),
    })
    .await;
    let mut spec = spec(&server.url("/mcp"));
    spec.limits.discovery = Duration::from_millis(400);
    let client = Client::start(spec);
    let ServerState::Failed { stage, reason } = client.settled().await else { panic!() };
    assert_eq!(stage, Stage::List);
    assert!(reason.contains("discoveryTimeout"), "{reason}");
    client.stop().await;
}

#[tokio::test]
async fn a_list_whose_answer_was_lost_is_asked_for_again() {
    let lists = AtomicUsize::new(0);
    let server = Server::start(move |request| match request.rpc().as_str() {
        "server/discover" => Reply::status(404),
        "initialize" => initialized(request, "s-1"),
        "tools/list" if lists.fetch_add(1, Ordering::Relaxed) == 0 => Reply::nothing(),
        "tools/list" => tools(request, &["echo"]),
        _ => Reply::status(202),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.tools(), ["echo"]);
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_was_away_is_connected_on_demand() {
    let away = AtomicUsize::new(0);
    let server = Server::start(move |request| {
        if away.fetch_add(1, Ordering::Relaxed) == 0 {
            return Reply::whole(503, &[("Retry-After", "3600")], b"");
        }
        match request.rpc().as_str() {
            "server/discover" => Reply::status(404),
            "initialize" => initialized(request, "s-1"),
            "tools/list" => tools(request, &["echo"]),
            _ => Reply::status(202),
        }
    })
    .await;
    let client = Client::start(spec(&server.url("/mcp")));
    let ServerState::Failed { reason, .. } = client.settled().await else { panic!() };
    assert!(reason.contains("503"), "{reason}");
    client.send(Command::Connect).await;
    client.until(|events| states(events).contains(&ServerState::Ready).then_some(())).await;
    client.stop().await;
}

#[tokio::test]
async fn a_standing_stream_that_is_none_is_asked_for_once() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "server/discover" => Reply::status(404),
        "initialize" => initialized(request, "s-1"),
        "tools/list" => tools(request, &["echo"]),
        "tools/call" => Reply::json(200, &said(request, "pong")),
        _ if request.method == "GET" => {
            Reply::whole(200, &[("Content-Type", "text/plain")], b"MCP endpoint, use POST")
        }
        _ => Reply::status(202),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for _ in 0..3 {
        assert_eq!(text(&client.call("echo", &json!({})).await), "pong");
    }
    client.stop().await;
    assert_eq!(server.count("GET"), 1);
}

#[tokio::test]
async fn an_acknowledgement_may_be_any_success_with_any_body() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "server/discover" => Reply::json(200, &result(request, &json!({}))),
        "initialize" => initialized(request, "s-1"),
        "tools/list" => tools(request, &["echo"]),
        _ => Reply::json(200, &Value::Null),
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    assert_eq!(client.tools(), ["echo"]);
    client.stop().await;
}
