//! What is remembered of a server's era: it saves the probe, and heals where it is wrong.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mini_me_tui::domain::{Era, ServerState};
use mini_me_tui::mcp::{self, Limits, ServerSpec};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::era_legacy::{initialized, tools};
use crate::support::client::{Client, spec, states};
use crate::support::server::{Recorded, Reply, Server, error, result};

fn legacy(request: &Recorded) -> Reply {
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => initialized(request, "s-1"),
        ("POST", "tools/list") => tools(request, &["echo"]),
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

fn modern(request: &Recorded) -> Reply {
    match request.rpc().as_str() {
        "server/discover" => Reply::json(
            200,
            &result(
                request,
                &json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
            ),
        ),
        "tools/list" => tools(request, &["echo"]),
        _ => Reply::json(404, &error(request, -32601, "Method not found")),
    }
}

fn remembering(server: &Server, era: Era) -> ServerSpec {
    ServerSpec { remembered: Some(era), ..spec(&server.url("/mcp")) }
}

#[tokio::test]
async fn a_remembered_legacy_server_is_not_probed() {
    let server = Server::start(legacy).await;
    let client = Client::ready(remembering(&server, Era::Legacy)).await;
    assert_eq!(client.connection().await.era, Era::Legacy);
    client.stop().await;
    assert_eq!(server.asked("server/discover").len(), 0);
    assert_eq!(server.asked("initialize").len(), 1);
}

#[tokio::test]
async fn a_wrong_memory_heals_itself_within_one_connection() {
    let server = Server::start(modern).await;
    let client = Client::ready(remembering(&server, Era::Legacy)).await;
    assert_eq!(client.connection().await.era, Era::Modern);
    client.stop().await;
    let server = Server::start(legacy).await;
    let client = Client::ready(remembering(&server, Era::Modern)).await;
    assert_eq!(client.connection().await.era, Era::Legacy);
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_as_remembered_is_probed_the_next_time() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "initialize" => Reply::nothing().hang(),
        _ => modern(request),
    })
    .await;
    let limits = Limits { discovery: Duration::from_millis(200), ..spec("http://x/").limits };
    let client = Client::start(ServerSpec { limits, ..remembering(&server, Era::Legacy) });
    let failed = client.settled().await;
    assert!(matches!(failed, ServerState::Failed { .. }), "{failed:?}");
    client.send(mcp::Command::Connect).await;
    client.until(|events| states(events).contains(&ServerState::Ready).then_some(())).await;
    client.stop().await;
}

/// `servers` of the built program, with a config that names this URL.
async fn servers(home: &Path, url: &str) -> Value {
    let config = format!("mcp: {{ servers: [{{ name: s, url: \"{url}\" }}] }}");
    std::fs::write(home.join("config.yaml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    command.args(["servers", "--json"]).env("MINI_ME_HOME", home).stdin(Stdio::null());
    command.env_remove("MINI_ME_CONFIG");
    let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let shape: Value = serde_json::from_str(&shown).unwrap();
    shape["servers"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_outlives_the_run_and_is_kept_for_each_endpoint_and_query() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(legacy).await;
    let url = server.url("/mcp");
    for probes in [1, 1] {
        let shown = servers(home.path(), &url).await;
        assert_eq!((&shown["state"], &shown["era"]), (&json!("ready"), &json!("legacy")));
        assert_eq!(server.asked("server/discover").len(), probes);
    }
    servers(home.path(), &format!("{url}?project=s3cret-value")).await;
    assert_eq!(server.asked("server/discover").len(), 2);
    let file = std::fs::read_to_string(home.path().join("eras.json")).unwrap();
    let kept: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(kept["endpoints"].as_object().unwrap().len(), 2);
    assert!(!file.contains("s3cret"), "{file}");
}
