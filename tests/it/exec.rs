//! `exec` as a script sees it: the built binary, its events against their schema, its exit codes,
//! signals, closed pipes, no home.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::run::{Home, Ran, run};
use crate::support::scripted::{calls, desk, is_chat, last, obedient, says, streamed};
use crate::support::server::{Recorded, Reply, Server};

/// A desk, a model with this script, and a home whose config names both.
struct World {
    home: Home,
    mcp: Server,
    model: Server,
}

impl World {
    async fn new(script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let (mcp, model) = (Server::start(desk).await, Server::start(script).await);
        let home = Home::with(&model.url("/v1"), &[("desk", &mcp.url("/mcp"))]);
        Self { home, mcp, model }
    }

    async fn obedient() -> Self {
        Self::new(obedient).await
    }

    async fn exec(&self, words: &[&str]) -> Ran {
        self.home.run(&[&["exec"], words].concat()).await
    }
}

fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../assets/exec-events.schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// Checks every event against the schema and gives their types, each once, in order.
#[track_caller]
fn sound(events: &[Value]) -> Vec<String> {
    let schema = schema();
    let mut kinds: Vec<String> = Vec::new();
    for event in events {
        if let Err(fault) = schema.validate(event) {
            panic!("{fault}: {event}");
        }
        let kind = event["type"].as_str().unwrap().to_owned();
        if kinds.last() != Some(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn end(events: &[Value]) -> (&str, u64) {
    let last = events.last().unwrap();
    assert_eq!(last["type"], "turnEnded");
    (last["reason"].as_str().unwrap(), last["exitCode"].as_u64().unwrap())
}

/// A model that thinks, says and calls in one answer.
fn thinking(request: &Recorded) -> Reply {
    if !is_chat(request) {
        return Reply::status(404);
    }
    if last(request).1 {
        return says("Done.");
    }
    let call = json!({"index": 0, "id": "c", "type": "function",
        "function": {"name": "desk_steps", "arguments": "{}"}});
    streamed(
        &[
            json!({"reasoning_content": "Hm."}),
            json!({"content": "I look."}),
            json!({"tool_calls": [call]}),
        ],
        "tool_calls",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_printed_whole() {
    let ran = Home::new().run(&["exec", "--json-schema"]).await;
    let printed: Value = serde_json::from_str(&ran.ends(0).out).unwrap();
    let kept: Value =
        serde_json::from_str(include_str!("../../assets/exec-events.schema.json")).unwrap();
    assert_eq!(printed, kept);
    assert!(!schema().is_valid(&json!({"type": "call"})));
    assert!(!schema().is_valid(&json!({"type": "text", "turn": "1", "text": "x"})));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_run_with_everything_in_it_fit_the_schema() {
    let world = World::new(thinking).await;
    let ran = world.exec(&["go", "--json", "--allow", "desk/*"]).await;
    let events = ran.ends(0).events();
    let expected =
        ["turnStarted", "reasoning", "text", "call", "progress", "call", "text", "turnEnded"];
    assert_eq!(sound(&events), expected);
    assert_eq!(end(&events), ("done", 0));
    assert_eq!((&events[0]["version"], &events[0]["model"]), (&json!(1), &json!("m")));
    let session = events[0]["session"].as_str().unwrap();
    assert!(world.home.path().join(format!("sessions/{session}.jsonl")).exists());
    assert_eq!(ran.err, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_says_which_rule_would_allow_it_and_why_it_would_ask() {
    let world = World::obedient().await;
    let ran = world.exec(&["call desk_echo", "--json"]).await;
    let events = ran.ends(5).events();
    assert_eq!(sound(&events), ["turnStarted", "denied", "text", "turnEnded"]);
    let denied = &events[1];
    assert_eq!((&denied["by"], &denied["rule"]), (&json!("headless"), &json!("desk/echo")));
    assert_eq!(denied["why"], "the mode for all servers");
    assert_eq!(end(&events), ("done", 5));
    assert!(world.mcp.asked("tools/call").is_empty());

    let told = world.exec(&["call desk_echo"]).await;
    let line = "✗ desk/echo denied: it would ask (the mode for all servers), and nobody is here to \
                be asked; --allow 'desk/echo' would allow it\n";
    assert_eq!(told.ends(5).err, line);
    // It says the truth.
    world.exec(&["call desk_echo", "--allow", "desk/echo"]).await.ends(0);
    let denied = world.exec(&["call desk_echo", "--allow", "*/*", "--deny", "desk/echo", "--json"]);
    let events = denied.await.ends(5).events();
    sound(&events);
    assert_eq!(events[1]["by"], "rule");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_fit_nothing_are_warned_about_with_what_is_near() {
    let world = World::obedient().await;
    let words =
        ["hello", "--json", "--allow", "dsek/echo", "--allow", "desk/ehco", "--deny", "x/*"];
    let events = world.exec(&words).await.ends(0).events();
    assert_eq!(sound(&events), ["warning", "turnStarted", "text", "turnEnded"]);
    let warnings: Vec<&Value> = events.iter().filter(|it| it["type"] == "warning").collect();
    assert_eq!(warnings.len(), 3, "each once: {warnings:?}");
    let advice = |event: &&Value| event["advice"].as_str().unwrap().contains("desk/echo");
    assert_eq!(warnings.iter().filter(|event| advice(event)).count(), 2, "{warnings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_failed_last_is_exit_code_6_and_one_that_was_mended_is_none() {
    let world = World::obedient().await;
    let ran = world.exec(&["call desk_fail", "--allow", "desk/*"]).await;
    assert!(ran.ends(6).err.contains("exit code 6: the last call of desk/fail"), "{}", ran.err);
    let events = world.exec(&["call desk_fail", "--allow", "*/*", "--json"]).await.ends(6).events();
    assert_eq!(sound(&events), ["turnStarted", "call", "text", "turnEnded"]);
    assert_eq!(events[2]["outcome"], "tool error");
    let cut = world.exec(&["call desk_cut", "--allow", "*/*", "--json"]).await;
    let events = cut.ends(1).events();
    sound(&events);
    assert_eq!(events[2]["outcome"], "unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_does_not_exist_is_refused_and_the_turn_goes_on() {
    let events = World::obedient().await.exec(&["call desk_nope", "--json"]).await.ends(0).events();
    assert_eq!(sound(&events), ["turnStarted", "call", "text", "turnEnded"]);
    assert_eq!(
        (&events[1]["outcome"], &events[1]["modelName"]),
        (&json!("not sent"), &json!("desk_nope"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_away_is_exit_code_3_and_one_that_refuses_is_1() {
    let home = Home::with(&format!("http://127.0.0.1:{}/v1", closed_port()), &[]);
    let events = home.run(&["exec", "hello", "--json"]).await.ends(3).events();
    assert_eq!(sound(&events), ["turnStarted", "retrying", "turnEnded"]);
    assert_eq!(end(&events), ("failed", 3));
    assert!(events.last().unwrap()["message"].as_str().unwrap().contains("connection refused"));

    // Also with no server to wait for, the conversation has its name from the start.
    assert!(events[0]["session"].is_string(), "{}", events[0]);

    let error = json!({"error": {"message": "no"}});
    let world = World::new(move |_| Reply::json(400, &error)).await;
    let events = world.exec(&["hello", "--json"]).await.ends(1).events();
    assert_eq!(sound(&events), ["turnStarted", "turnEnded"]);
    Home::new().run(&["exec", "hello"]).await.ends(3);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_is_exit_code_2_before_anything_is_sent() {
    let world = World::obedient().await;
    world.exec(&[""]).await.ends(2);
    world.exec(&[]).await.ends(2);
    world.exec(&["hello", "--allow", "desk"]).await.ends(2);
    world.exec(&["hello", "--nonsense"]).await.ends(2);
    assert!(world.home.run_with_input(&["exec", "-"], " \n").await.ends(2).out.is_empty());
    let ran = world.home.run_with_input(&["exec", "-"], b"caf\xe9").await;
    assert!(ran.ends(2).err.contains("standard input"), "{}", ran.err);
    assert!(world.model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_needed_and_is_away_is_exit_code_4() {
    let world = World::obedient().await;
    let url = format!("http://127.0.0.1:{}/mcp", closed_port());
    let ran = world.exec(&["hello", "--url", &url]).await;
    assert!(ran.ends(4).err.contains("the server local failed"), "{}", ran.err);
    assert!(world.model.requests().is_empty());

    // One of the config is a warning: the model may do without it.
    let home = Home::with(&world.model.url("/v1"), &[("down", &url)]);
    let ran = home.run(&["exec", "hello"]).await;
    assert!(ran.ends(0).err.contains("down failed"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_message_comes_from_standard_input_and_the_answer_goes_out_bare() {
    let world = World::obedient().await;
    let ran = world.home.run_with_input(&["exec", "-"], "two\nlines\n\n").await;
    assert_eq!((ran.ends(0).out.as_str(), ran.err.as_str()), ("You said: two\nlines\n", ""));
}

/// A running `exec` with its events read up to one of a kind.
async fn until(
    mut command: Command,
    kind: &'static str,
) -> (Child, BufReader<std::process::ChildStdout>, Vec<Value>) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let reading = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut events = Vec::new();
        let mut line = String::new();
        while out.read_line(&mut line).unwrap() > 0 {
            let event: Value = serde_json::from_str(&line).unwrap();
            let found = event["type"] == kind;
            events.push(event);
            if found {
                break;
            }
            line.clear();
        }
        (child, out, events)
    });
    reading.await.unwrap()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_the_turn_in_order_and_the_call_with_it() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let world = World::obedient().await;
        let words = ["exec", "call desk_slow", "--json", "--allow", "desk/*"];
        let (child, mut out, mut events) = until(world.home.command(&words), "call").await;
        let pid = child.id().to_string();
        let ending = tokio::task::spawn_blocking(move || {
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            (rest, child.wait_with_output().unwrap())
        });
        let (rest, output) = ending.await.unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{signal}: {err}");
        events.extend(rest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        assert_eq!(sound(&events), ["turnStarted", "call", "turnEnded"], "{signal}: {events:?}");
        assert_eq!(end(&events), ("cancelled", u64::try_from(code).unwrap()));
        assert_eq!(events[events.len() - 2]["outcome"], "cancelled");
        assert_eq!(world.mcp.asked("notifications/cancelled").len(), 1, "{signal}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_ends_it_quietly() {
    let long = |request: &Recorded| {
        if !is_chat(request) {
            return Reply::status(404);
        }
        let line = json!({"content": "a line of the answer\n"});
        streamed(&vec![line; 20_000], "stop")
    };
    let world = World::new(long).await;
    for json in [&["--json"][..], &[]] {
        let words = [&["exec", "go"][..], json].concat();
        let mut command = world.home.command(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::with_capacity(16, child.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            child.wait_with_output().unwrap()
        });
        let output = ran.await.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_is_told() {
    let world = World::obedient().await;
    let mut command = world.home.command(&["exec", "hello"]);
    command.stdout(std::fs::File::create("/dev/full").unwrap()).stderr(Stdio::piped());
    let child = tokio::task::spawn_blocking(move || command.spawn().unwrap().wait_with_output());
    let output = child.await.unwrap().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write to standard output"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_home_nothing_is_kept_and_all_works() {
    let world = World::obedient().await;
    let config = world.home.path().join("config.yaml");
    let words = ["exec", "call desk_echo", "--json", "--allow", "desk/*", "--config"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    let elsewhere = tempfile::tempdir().unwrap();
    command.args(words).arg(&config).env_clear().current_dir(elsewhere.path()).stdin(Stdio::null());
    let ran = run(command).await;
    let events = ran.ends(0).events();
    assert_eq!(sound(&events), ["turnStarted", "call", "text", "turnEnded"]);
    assert_eq!(events[0]["session"], Value::Null);
    assert_eq!(ran.err, "");
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_without_end_is_stopped_with_the_reason() {
    let endless = |request: &Recorded| {
        if is_chat(request) { calls("desk_echo", "{}") } else { Reply::status(404) }
    };
    let world = World::new(endless).await;
    let events = world.exec(&["go", "--json", "--allow", "desk/*"]).await.ends(1).events();
    sound(&events);
    assert_eq!(end(&events), ("stopped", 1));
}
