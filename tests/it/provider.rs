//! The model's provider over real HTTP: streams, waits, cuts, cancelling, what is sent to whom.

use std::time::Duration;

use mini_me_tui::config::ModelConfig;
use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::{Message, RequestedCall, Usage};
use mini_me_tui::provider::http::Provider;
use mini_me_tui::provider::{
    Finish, ModelEvent, ModelRequest, OfferedModel, ProviderError, ProviderErrorKind as Kind,
};
use secrecy::SecretString;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::model::{End, ModelServer, Reply, chunk};

const KEY: &str = "sk-EXAMPLE-key";

fn config(base: &str) -> ModelConfig {
    ModelConfig {
        api_key: Some(SecretString::from(KEY)),
        api_key_env: Some("DEMO_KEY".to_owned()),
        headers: vec![("X-Title".to_owned(), "mini-me".to_owned())],
        ..ModelConfig::new(ProviderKind::OpenAi, base.parse().unwrap(), "tiny".to_owned())
    }
}

fn provider(server: &ModelServer) -> Provider {
    Provider::new(config(server.url().as_str()), None)
}

fn hello() -> ModelRequest {
    ModelRequest {
        system: String::new(),
        messages: [Message::User { text: "hello".to_owned() }].into(),
        tools: [].into(),
        max_output_tokens: None,
        temperature: None,
    }
}

/// Asks and hears everything, skipping the waits. `heard` sees each event as it comes.
async fn ask_hearing(
    provider: &Provider,
    cancel: &CancellationToken,
    mut heard: impl FnMut(&ModelEvent),
) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    let (sender, mut receiver) = mpsc::channel(16);
    let asked = hello();
    let ask = async {
        let result = provider.ask(&asked, &sender, cancel).await;
        drop(sender);
        result
    };
    let listen = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            heard(&event);
            if let ModelEvent::Retrying { after, .. } = &event {
                tokio::time::pause();
                tokio::time::advance(*after).await;
                tokio::time::resume();
            }
            events.push(event);
        }
        events
    };
    let (result, events) = tokio::join!(ask, listen);
    (events, result)
}

async fn ask(provider: &Provider) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    ask_hearing(provider, &CancellationToken::new(), |_| ()).await
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

fn retries(events: &[ModelEvent]) -> Vec<u32> {
    let attempt = |event: &ModelEvent| match event {
        ModelEvent::Retrying { attempt, .. } => Some(*attempt),
        _ => None,
    };
    events.iter().filter_map(attempt).collect()
}

#[tokio::test]
async fn an_answer_streams_and_the_request_carries_key_and_headers() {
    let server = ModelServer::start(|_, _| {
        Reply::stream(
            [
                chunk(&json!({"delta": {"content": "Hel"}})),
                chunk(&json!({"delta": {"tool_calls": [{"index": 0, "id": "c",
                    "function": {"name": "look", "arguments": "{\"a\":1}"}}]}})),
                chunk(&json!({"delta": {}, "finish_reason": "tool_calls"})),
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n"
                    .to_owned(),
                "data: [DONE]\n\n".to_owned(),
            ]
            .concat(),
        )
    });
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!(result, Ok(()));
    let call = RequestedCall {
        provider_id: "c".to_owned(),
        name: "look".into(),
        arguments: Ok(json!({"a": 1}).as_object().cloned().unwrap().into()),
    };
    let usage = Usage { input: Some(3), output: Some(2), cached: None };
    assert_eq!(
        events,
        [
            text("Hel"),
            ModelEvent::Call(call),
            ModelEvent::Usage(usage),
            ModelEvent::Finished(Finish::ToolCalls),
        ]
    );
    let seen = &server.seen()[0];
    assert_eq!(seen.target, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-EXAMPLE-key"));
    assert_eq!(seen.header("x-title"), Some("mini-me"));
    assert_eq!(seen.body["stream"], true);
}

#[tokio::test]
async fn a_limited_rate_is_waited_out_visibly() {
    let server = ModelServer::start(|number, _| match number {
        0 => {
            Reply::json(429, &json!({"error": {"message": "slow down"}})).header("Retry-After", "7")
        }
        _ => Reply::text("fine"),
    });
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!(result, Ok(()));
    let Some(ModelEvent::Retrying { attempt: 2, after, reason }) = events.first() else {
        panic!("{events:?}")
    };
    assert!(*after >= Duration::from_secs(7) && *after < Duration::from_secs(8), "{after:?}");
    assert!(reason.contains("slow down"), "{reason}");
    assert_eq!(events[1..], [text("fine"), ModelEvent::Finished(Finish::Stop)]);
}

#[tokio::test]
async fn a_wish_to_wait_an_hour_is_handed_back() {
    let server =
        ModelServer::start(|_, _| Reply::json(429, &json!({})).header("Retry-After", "3600"));
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!(events, []);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind, error.retry_after),
        (Kind::RateLimited, Some(Duration::from_secs(3600)))
    );
    assert!(error.message.contains("3600 s"), "{}", error.message);
}

#[tokio::test]
async fn trouble_that_lasts_is_tried_five_times_in_all() {
    let server = ModelServer::start(|_, _| Reply::json(503, &json!({"error": "overloaded"})));
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!(retries(&events), [2, 3, 4, 5]);
    assert_eq!(server.seen().len(), 5);
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Server);
    assert!(error.message.contains("5 attempts"), "{}", error.message);
}

#[tokio::test]
async fn a_refusal_is_not_repeated() {
    for status in [400, 401, 403, 404, 422] {
        let server = ModelServer::start(move |_, _| Reply::json(status, &json!({"error": "no"})));
        let (events, result) = ask(&provider(&server)).await;
        assert_eq!((events, server.seen().len()), (vec![], 1), "{status}");
        assert!(result.is_err());
    }
}

#[tokio::test]
async fn a_connection_lost_before_the_first_token_is_tried_again() {
    for end in [End::Drop, End::Cut, End::Complete] {
        let server = ModelServer::start(move |number, _| match number {
            0 => Reply::stream("").end(end),
            _ => Reply::text("fine"),
        });
        let (events, result) = ask(&provider(&server)).await;
        assert_eq!(result, Ok(()), "{end:?}");
        assert_eq!(retries(&events), [2], "{end:?}");
        assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Stop)));
    }
}

#[tokio::test]
async fn a_connection_lost_after_the_first_token_is_not() {
    let call = json!({"delta": {"content": "half", "tool_calls": [{"index": 0, "id": "c",
        "function": {"name": "look", "arguments": "{}"}}]}});
    let body = chunk(&call);
    let cut = body.clone();
    let server = ModelServer::start(move |_, _| Reply::stream(cut.clone()).end(End::Cut));
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!((events, server.seen().len()), (vec![text("half")], 1));
    assert_eq!(result.unwrap_err().kind, Kind::Broken);

    let server = ModelServer::start(move |_, _| Reply::stream(body.clone()));
    let (events, result) = ask(&provider(&server)).await;
    assert_eq!(result, Ok(()));
    assert_eq!(events, [text("half"), ModelEvent::Finished(Finish::Incomplete)]);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn cancelling_ends_the_answer_and_hangs_up() {
    let body = chunk(&json!({"delta": {"content": "on and on"}}));
    let server = ModelServer::start(move |_, _| Reply::stream(body.clone()).end(End::Hang));
    let cancel = CancellationToken::new();
    let provider = provider(&server);
    let (events, result) = ask_hearing(&provider, &cancel, |_| cancel.cancel()).await;
    assert_eq!(events, [text("on and on")]);
    assert_eq!(result.unwrap_err().kind, Kind::Cancelled);
    assert!(server.hung_up());
}

#[tokio::test]
async fn a_complete_answer_does_not_wait_for_a_server_that_stays_silent() {
    let body = chunk(&json!({"delta": {"content": "all"}, "finish_reason": "stop"}));
    let server = ModelServer::start(move |_, _| Reply::stream(body.clone()).end(End::Hang));
    let provider = provider(&server);
    // Once the answer is complete nothing but the clock can move it on.
    let heard = |event: &ModelEvent| {
        if matches!(event, ModelEvent::Text(_)) {
            tokio::time::pause();
        }
    };
    let (events, result) = ask_hearing(&provider, &CancellationToken::new(), heard).await;
    assert_eq!(result, Ok(()));
    assert_eq!(events, [text("all"), ModelEvent::Finished(Finish::Stop)]);
}

#[tokio::test]
async fn silence_in_the_middle_of_an_answer_ends_it() {
    let body = chunk(&json!({"delta": {"content": "half"}}));
    let server = ModelServer::start(move |_, _| Reply::stream(body.clone()).end(End::Hang));
    let provider = provider(&server);
    let heard = |_: &ModelEvent| tokio::time::pause();
    let (events, result) = ask_hearing(&provider, &CancellationToken::new(), heard).await;
    assert_eq!(events, [text("half")]);
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Broken);
    assert!(error.message.contains("silent"), "{}", error.message);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_says_what_to_change() {
    let other = ModelServer::start(|_, _| Reply::text("stolen"));
    let target = format!("{}/chat/completions", other.url());
    let server = ModelServer::start(move |_, _| {
        Reply::new(307, "text/plain", "").header("Location", &target)
    });
    let (_, result) = ask(&provider(&server)).await;
    let error = result.unwrap_err();
    assert!(error.message.contains("baseUrl"), "{}", error.message);
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn a_key_that_the_endpoint_repeats_is_not_shown() {
    let told = format!("Incorrect API key provided: {KEY}");
    let server =
        ModelServer::start(move |_, _| Reply::json(401, &json!({"error": {"message": told}})));
    let base = format!("http://user:pw-EXAMPLE@127.0.0.1:{}/v1?key=k-EXAMPLE", server.port());
    let (_, result) = ask(&Provider::new(config(&base), None)).await;
    let message = result.unwrap_err().message;
    for secret in [KEY, "pw-EXAMPLE", "k-EXAMPLE"] {
        assert!(!message.contains(secret), "{message}");
    }
    assert!(message.contains("DEMO_KEY"), "{message}");
}

#[tokio::test]
async fn a_member_that_the_endpoint_does_not_know_is_left_out_from_then_on() {
    let server = ModelServer::start(|_, seen| match seen.body.get("stream_options") {
        Some(_) => Reply::json(422, &json!({"detail": "stream_options: extra inputs"})),
        None => Reply::text("fine"),
    });
    let provider = provider(&server);
    for requests in [2, 3] {
        assert_eq!(ask(&provider).await.1, Ok(()));
        assert_eq!(server.seen().len(), requests);
    }
}

#[tokio::test]
async fn nobody_listening_is_told_with_place_and_advice() {
    let port = ModelServer::start(|_, _| Reply::text("gone")).port();
    let (events, result) =
        ask(&Provider::new(config(&format!("http://localhost:{port}/v1")), None)).await;
    assert_eq!(retries(&events), [2, 3]);
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable);
    for part in [&format!("localhost:{port}"), "127.0.0.1", "[::1]", "refused", "baseUrl"] {
        assert!(error.message.contains(part), "{part}: {}", error.message);
    }
}

#[tokio::test]
async fn localhost_is_reached_in_either_family() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        if std::net::TcpListener::bind(address).is_err() {
            continue;
        }
        let server = ModelServer::start_at(address, |_, _| Reply::text("fine"));
        let base = format!("http://localhost:{}/v1", server.port());
        let (events, result) = ask(&Provider::new(config(&base), None)).await;
        assert_eq!((retries(&events), result), (vec![], Ok(())), "{address}");
        let host = format!("localhost:{}", server.port());
        assert_eq!(server.seen()[0].header("host"), Some(host.as_str()));
    }
}

#[tokio::test]
async fn a_web_page_is_not_taken_for_an_answer() {
    let server = ModelServer::start(|_, _| Reply::new(200, "text/html; charset=utf-8", "<html>"));
    let (_, result) = ask(&provider(&server)).await;
    let error = result.unwrap_err();
    assert!(error.message.contains("web page"), "{}", error.message);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn window_and_models_are_asked_from_the_endpoint() {
    let server = ModelServer::start(|_, seen| match seen.target.as_str() {
        "GET /v1/models" => {
            Reply::json(200, &json!({"data": [{"id": "tiny", "meta": {"n_ctx_train": 8192}}]}))
        }
        "GET /props" => Reply::json(200, &json!({"default_generation_settings": {"n_ctx": 4096}})),
        _ => Reply::json(404, &json!({})),
    });
    let provider = provider(&server);
    assert_eq!(provider.context_window().await, Some(4096));
    let tiny = OfferedModel { name: "tiny".to_owned(), window: Some(8192) };
    assert_eq!(provider.models().await, Ok(vec![tiny]));
    let configured = ModelConfig { context_window: Some(1), ..config("http://127.0.0.1:1/v1") };
    assert_eq!(Provider::new(configured, None).context_window().await, Some(1));
}

#[tokio::test]
async fn messages_are_spoken_with_their_own_headers() {
    let body = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 4}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "fine"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let body = body.map(|event| format!("data: {event}\n\n")).concat();
    let server = ModelServer::start(move |_, _| Reply::stream(body.clone()));
    let config = ModelConfig { provider: ProviderKind::Anthropic, ..config(server.url().as_str()) };
    let (events, result) = ask(&Provider::new(config, None)).await;
    assert_eq!(result, Ok(()));
    assert_eq!(events.first(), Some(&text("fine")));
    let seen = &server.seen()[0];
    assert_eq!(seen.target, "POST /v1/messages");
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("authorization"), None);
}

/// Where the child of the next test asks.
const CHILD_URL: &str = "MINI_ME_TEST_MODEL_URL";

#[tokio::test]
#[ignore = "the child of proxies_are_used_but_never_for_this_machine"]
async fn child_that_asks() {
    let Ok(base) = std::env::var(CHILD_URL) else { return };
    assert_eq!(ask(&Provider::new(config(&base), None)).await.1, Ok(()));
}

#[test]
fn proxies_are_used_but_never_for_this_machine() {
    let proxy = ModelServer::start(|_, _| Reply::text("by proxy"));
    let server = ModelServer::start(|_, _| Reply::text("direct"));
    let port = server.port();
    let here = [format!("http://127.0.0.1:{port}/v1"), format!("http://localhost:{port}/v1")];
    let away = "http://model.example.test/v1".to_owned();
    // A process has one environment, so each question is put by a process of its own.
    for base in here.iter().chain([&away]) {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "provider::child_that_asks"])
            .env(CHILD_URL, base)
            .env("http_proxy", format!("http://127.0.0.1:{}", proxy.port()))
            .env_remove("no_proxy")
            .env_remove("NO_PROXY")
            .output()
            .unwrap();
        assert!(child.status.success(), "{base}: {}", String::from_utf8_lossy(&child.stdout));
    }
    let targets = |server: &ModelServer| {
        server.seen().into_iter().map(|seen| seen.target).collect::<Vec<_>>()
    };
    assert_eq!(targets(&server), ["POST /v1/chat/completions"; 2]);
    assert_eq!(targets(&proxy), ["POST http://model.example.test/v1/chat/completions"]);
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    let server = ModelServer::start(|_, _| Reply::text("plain"));
    let base = format!("https://127.0.0.1:{}/v1", server.port());
    let (events, result) = ask(&Provider::new(config(&base), None)).await;
    assert_eq!(events, []);
    let message = result.unwrap_err().message;
    assert!(message.contains("stage TLS") && message.contains("http://"), "{message}");
}
