//! Plays a run: the client against the script, as far as the expectations want to look.

use std::sync::Arc;
use std::time::Duration;

use mini_me_tui::config::Protocol;
use mini_me_tui::domain::exchange::{Exchanges, Side};
use mini_me_tui::domain::{Outcome, ServerState};
use mini_me_tui::mcp::{ServerEventKind, ServerSpec};
use mini_me_tui::runtime;
use mini_me_tui::wire::{Guard, Limits, Needles, Recorder, Tap};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::script::Script;
use crate::support::client::{Client, spec};
use crate::support::server::{Recorded, Reply, Server};

/// What was seen of one run.
pub(super) struct Played {
    pub(super) state: ServerState,
    pub(super) tools: Vec<String>,
    pub(super) calls: Vec<Outcome>,
    pub(super) events: Vec<ServerEventKind>,
    /// Before the client was ended.
    pub(super) requests: Vec<Recorded>,
    pub(super) elsewhere: Vec<Recorded>,
    /// Until the state was settled and the calls had their outcomes.
    pub(super) took: Duration,
    pub(super) ending: Duration,
    /// From the first call to its first progress.
    pub(super) first_progress: Option<Duration>,
    pub(super) unit: Duration,
    /// What the wire view kept of it.
    pub(super) wire: Exchanges,
}

pub(super) async fn play(script: &Value, expected: &Value) -> Played {
    let unit = Duration::from_millis(script["time_unit_ms"].as_u64().unwrap_or(100));
    let elsewhere = Server::start(|_| Reply::status(404)).await;
    let steps = Script::new(script, elsewhere.url(""));
    let server = Server::start(move |request| steps.answer(request)).await;
    let path = script["path"].as_str().unwrap_or("/mcp");
    let recorder = runtime::recorder(Limits::VIEW);
    let client = Client::start(configured(script, &server.url(path), unit, &recorder));
    let begun = Instant::now();
    let state = client.settled().await;
    let mut calls = Vec::new();
    let mut first_progress = None;
    let mut before_then = None;
    for wanted in [&expected["call"], &expected["then"]["call"]] {
        if state == ServerState::Ready && !wanted.is_null() {
            let calling = Instant::now();
            let (outcome, ()) = tokio::join!(call(&client, wanted), async {
                if wanted == "either" {
                    let progressed =
                        |k: &ServerEventKind| matches!(k, ServerEventKind::Progress { .. });
                    let seen = client.until(|events| events.iter().any(progressed).then_some(()));
                    first_progress =
                        timeout(unit * 15, seen).await.ok().map(|()| calling.elapsed());
                }
            });
            calls.push(outcome);
            before_then.get_or_insert_with(|| server.requests());
        }
    }
    let took = begun.elapsed();
    settle(&server, expected).await;
    let tools = client.tools();
    // What comes with a second call is its own affair.
    let requests = match before_then {
        Some(requests) if !expected["then"].is_null() => requests,
        _ => server.requests(),
    };
    let events = client.events();
    let ending = client.stop().await;
    let elsewhere = elsewhere.requests();
    let wire = recorder.snapshot();
    Played {
        state,
        tools,
        calls,
        events,
        requests,
        elsewhere,
        took,
        ending,
        first_progress,
        unit,
        wire,
    }
}

fn configured(script: &Value, url: &str, unit: Duration, recorder: &Arc<Recorder>) -> ServerSpec {
    let mut spec = spec(url);
    let values = spec.headers.iter().map(|(_, value)| {
        let token = value.expose_secret().split(' ').next_back().unwrap();
        token.to_owned().into()
    });
    let secrets = Needles::new(values, [&spec.url]);
    let guard = Guard::new(secrets).header("Authorization", "Bearer ", "TOKEN");
    spec.wire = Some(Tap::new(Arc::clone(recorder), Side::Server(spec.name.clone()), guard));
    spec.protocol = match script["era"].as_str() {
        Some("legacy") => Protocol::V20251125,
        Some("modern") => Protocol::V20260728,
        Some("dual") => Protocol::Auto,
        other => panic!("an unknown era: {other:?}"),
    };
    for (name, units) in script["client_settings_units"].as_object().into_iter().flatten() {
        let time = unit * u32::try_from(units.as_u64().unwrap()).unwrap();
        match name.as_str() {
            "callTimeout" => spec.limits.silence = time,
            "maxCallTime" => spec.limits.call = time,
            "discoveryTimeout" => spec.limits.discovery = time,
            other => panic!("an unknown setting: {other}"),
        }
    }
    spec
}

async fn call(client: &Client, wanted: &Value) -> Outcome {
    let first = client.tools().into_iter().next().unwrap_or_else(|| "echo".to_owned());
    let name = wanted["name"].as_str().unwrap_or(&first);
    let arguments = wanted.get("arguments").cloned().unwrap_or_else(|| json!({}));
    client.call(name, &arguments).await
}

/// Lets happen what the expectations look for: requests that have to come, or that must not.
async fn settle(server: &Server, expected: &Value) {
    let posts = expected["client_posts"].as_array().map_or(0, Vec::len);
    let answers =
        || server.requests().iter().filter(|r| r.method == "POST" && r.rpc().is_empty()).count();
    crate::support::client::eventually("the client's posts", || answers() >= posts).await;
    if let Some(seconds) = expected["observe_seconds"].as_u64() {
        let most = expected["request_counts_max"]["GET"].as_u64().unwrap_or(u64::MAX);
        let too_many = async {
            while server.count("GET") as u64 <= most {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_secs(seconds), too_many).await.ok();
    }
}
