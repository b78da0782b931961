//! `call` as a user runs it, against servers that ask.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::modern::asks;
use crate::support::server::Server;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the built program without a terminal, in a home that holds nothing.
async fn call(server: &Server, words: &[&str]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    command.args(["--url", &server.url("/mcp"), "call", "météo", "note=ask"]).args(words);
    command.env("MINI_ME_HOME", home.path()).env_remove("MINI_ME_CONFIG").stdin(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    Ran {
        code: ended.status.code().unwrap_or(-1),
        out: String::from_utf8(ended.stdout).unwrap(),
        err: String::from_utf8(ended.stderr).unwrap(),
    }
}

fn answers(server: &Server) -> Value {
    server.asked("tools/call").last().unwrap().json()["params"]["inputResponses"].clone()
}

#[tokio::test]
async fn answer_of_the_command_line_goes_to_the_server() {
    let server = asks(Some("s")).await;
    let ran = call(&server, &["--answer", "confirmed=true"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "12 C\n"), "{}", ran.err);
    assert!(ran.err.contains("local asks “Delete 3 files?”"), "{}", ran.err);
    let expected = json!({"confirm": {"action": "accept", "content": {"confirmed": true}}});
    assert_eq!(answers(&server), expected);
    let first = server.asked("tools/call")[0].json();
    let declared = &first["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    // Nobody is there who could open a page.
    assert_eq!(*declared, json!({"elicitation": {"form": {}}}));
}

#[tokio::test]
async fn form_that_the_defaults_do_not_fill_is_cancelled_and_the_command_says_what_to_give() {
    let server = asks(None).await;
    let ran = call(&server, &["--accept-defaults"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("“confirmed” must be filled in"), "{}", ran.err);
    assert_eq!(answers(&server), json!({"confirm": {"action": "cancel"}}));
}

#[tokio::test]
async fn nothing_is_declared_where_nothing_was_given() {
    let server = asks(None).await;
    let ran = call(&server, &[]).await;
    assert_eq!(ran.code, 6);
    assert!(ran.out.contains("nobody is there"), "{}", ran.out);
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn answer_without_a_key_is_wrong_usage() {
    let server = asks(None).await;
    let ran = call(&server, &["--answer", "yes"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("KEY=JSON") && server.requests().is_empty(), "{}", ran.err);
}
