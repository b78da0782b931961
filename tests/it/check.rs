//! `check`, as a user runs it, against servers that fail at each stage.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::era_legacy::tools;
use crate::support::server::{Recorded, Reply, Server, error, result};

/// `check --json` on one server: its report and the exit code.
async fn check(url: &str) -> (Value, i32) {
    let home = tempfile::tempdir().unwrap();
    let config =
        format!("mcp: {{ discoveryTimeout: 1s, servers: [{{ name: s, url: \"{url}\" }}] }}");
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    command.args(["check", "--json"]).env("MINI_ME_HOME", home.path()).stdin(Stdio::null());
    for name in [
        "MINI_ME_CONFIG",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let shape: Value = serde_json::from_str(&shown).unwrap_or_else(|why| panic!("{why}: {shown}"));
    (shape["servers"][0].clone(), output.status.code().unwrap())
}

/// Fails unless the check stopped at that stage, said all of this, and ended with 4.
async fn stops(url: &str, stage: &str, said: &[&str]) {
    let (report, code) = check(url).await;
    let stages = report["stages"].as_array().unwrap();
    let failed: Vec<&str> = stages
        .iter()
        .filter(|step| step["outcome"] == "failed")
        .filter_map(|step| step["stage"].as_str())
        .collect();
    assert_eq!((failed, code), (vec![stage], 4), "{report:#}");
    assert_eq!(report["ok"], false);
    let next = report["next"].as_str().unwrap();
    for word in said {
        assert!(next.contains(word), "{word:?} in {next}");
    }
}

fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_port_stops_at_tcp() {
    let port = closed_port();
    stops(&format!("http://127.0.0.1:{port}/mcp"), "tcp", &[&port.to_string(), "running"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_none_stops_at_dns() {
    stops("https://no-such-host.invalid/mcp", "dns", &["no-such-host.invalid", "host name"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_stops_at_http_and_its_first_words_are_shown_clean() {
    let server = Server::start(|_| {
        let page = b"<html><head><title>Sign in</title></head><body>\x1b[31mPlease</body></html>";
        Reply::whole(200, &[("Content-Type", "text/html")], page)
    })
    .await;
    stops(&server.url("/mcp"), "http", &["text/html", "Sign in", "Please", "check the URL"]).await;
    let (report, _) = check(&server.url("/mcp")).await;
    assert!(!report["next"].as_str().unwrap().contains(['\u{1b}', '<']));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_stops_at_http_and_says_what_is_asked_for() {
    let server =
        Server::start(|_| Reply::whole(401, &[("WWW-Authenticate", "Bearer realm=\"x\"")], b"no"))
            .await;
    stops(&server.url("/mcp"), "http", &["401", "Bearer realm", "auth"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_stops_at_http_with_the_limit_named() {
    let server = Server::start(|_| Reply::nothing().hang()).await;
    stops(&server.url("/mcp"), "http", &["1s", "discoveryTimeout"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_server_behind_https_stops_at_tls() {
    let server = Server::start(|_| Reply::status(404)).await;
    let url = server.url("/mcp").replace("http://", "https://");
    stops(&url, "tls", &["TLS", "http://"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_fails_leaves_the_stages_before_it_in_the_report() {
    let server = Server::start(|request| match request.rpc().as_str() {
        "server/discover" => Reply::json(
            200,
            &result(
                request,
                &json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
            ),
        ),
        _ => Reply::whole(200, &[("Content-Type", "text/plain")], b"{}"),
    })
    .await;
    stops(&server.url("/mcp"), "list", &["text/plain"]).await;
    let (report, _) = check(&server.url("/mcp")).await;
    let stages = report["stages"].as_array().unwrap();
    let named = |name: &str| stages.iter().find(|step| step["stage"] == name);
    for name in ["http", "negotiate"] {
        assert_eq!(named(name).map(|step| &step["outcome"]), Some(&json!("ok")), "{report:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_server_has_every_stage_and_what_it_does_wrong_is_listed() {
    fn answers(request: &Recorded) -> Reply {
        match request.rpc().as_str() {
            "server/discover" => {
                let found =
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
                let mut answer = result(request, &found);
                answer["id"] = json!(answer["id"].to_string());
                Reply::json(200, &answer)
            }
            "tools/list" => tools(request, &["echo"]),
            _ => Reply::json(404, &error(request, -32601, "Method not found")),
        }
    }
    let server = Server::start(answers).await;
    let (report, code) = check(&server.url("/mcp")).await;
    assert_eq!((code, &report["ok"]), (0, &json!(true)), "{report:#}");
    let stages: Vec<&str> = report["stages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|step| step["stage"].as_str())
        .collect();
    let all =
        ["config", "credential", "dns", "tcp", "http", "negotiate", "list", "schemas", "pins"];
    assert_eq!(stages, all);
    for timed in ["tcp", "http", "negotiate", "list"] {
        let step = report["stages"].as_array().unwrap().iter().find(|step| step["stage"] == timed);
        assert!(step.unwrap()["durationMs"].is_number(), "{timed}");
    }
    let warning = report["warnings"][0]["message"].as_str().unwrap();
    assert!(warning.contains("does not follow the protocol"), "{warning}");
}
