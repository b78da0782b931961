//! Sessions through the built binary: killed at any moment, resumed twice, on a disk that refuses,
//! with servers that tell secrets.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use mini_me_tui::domain::{Message, Outcome};
use mini_me_tui::session::{SessionEvent, SessionId, Transcript, store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::PATIENCE;
use crate::support::server::{Recorded, Reply, Server, error, result};

/// Kills in the middle of a turn.
const KILLS: usize = 20;
/// What the server's credential is.
const TOKEN: &str = "tok-EXAMPLE-of-the-desk";

/// A home of its own for the program.
struct Home(TempDir);

/// How a run ended.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "out: {}\nerr: {}", self.out, self.err);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}", self.out))
    }
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A home with these services, everything allowed.
    fn with(model: &Server, desk: &Server) -> Self {
        let home = Self::new();
        let config = format!(
            "model: {{ provider: openai, baseUrl: \"{}\", name: m, contextWindow: 100000 }}\n\
             mcp:\n  permissions: auto\n  resultLimit: 500\n  servers:\n    - name: desk\n      url: \"{}\"\n      auth: {{ type: bearer, tokenEnv: DESK_TOKEN }}\n",
            model.url("/v1"),
            desk.url("/mcp"),
        );
        fs::write(home.path().join("config.yaml"), config).unwrap();
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn sessions(&self) -> PathBuf {
        self.path().join("sessions")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(words);
        self.dressed(&mut command);
        command
    }

    fn dressed(&self, command: &mut Command) {
        command.env("MINI_ME_HOME", self.path()).env("DESK_TOKEN", TOKEN).stdin(Stdio::null());
        for name in ["MINI_ME_CONFIG", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(name);
        }
    }

    fn run(&self, words: &[&str]) -> Ran {
        ran(self.command(words).output().unwrap())
    }

    /// The only session there is.
    fn only(&self) -> (SessionId, Transcript) {
        let all = store::list(&self.sessions()).unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        (all[0].id.clone(), store::read(&self.sessions(), &all[0].id).unwrap())
    }
}

fn ran(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A run that is killed with the test.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) {
        // It may have ended just now.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until something holds.
#[track_caller]
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::yield_now();
    }
}

/// Every call of the model has exactly one result, right after the message that asked.
fn assert_sound(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Result { provider_id, .. } => {
                assert!(!open.is_empty() && open.remove(0) == provider_id, "{messages:#?}");
            }
            _ if !open.is_empty() => panic!("{open:?} have no result: {messages:#?}"),
            Message::Assistant { calls, .. } => {
                open = calls.iter().map(|call| call.provider_id.as_str()).collect();
            }
            Message::User { .. } => {}
        }
    }
    assert!(open.is_empty(), "{messages:#?}");
}

fn ended_calls(transcript: &Transcript) -> usize {
    let is_call = |event: &SessionEvent| matches!(event, SessionEvent::Call { .. });
    transcript.lines.iter().filter(|line| is_call(&line.event)).count()
}

#[cfg(feature = "demo")]
#[test]
fn a_session_that_was_killed_twenty_times_has_everything_that_was_finished() {
    let home = Home::new();
    let mut chance = fastrand::Rng::with_seed(0x005e_5510);
    let prompts = ["Look at task #42 and explain it", "Show me some markdown", "list the tasks"];
    let mut before: Vec<Message> = Vec::new();
    let mut calls_before = 0;
    for kill in 0..KILLS {
        let mut words = vec!["--demo", "exec", "--json", "--allow", "*/*"];
        words.push(prompts[chance.usize(..prompts.len())]);
        if kill > 0 {
            words.push("--continue");
        }
        let mut running = Running::start(home.command(&words));
        let mut out = BufReader::new(running.0.stdout.take().unwrap());
        let (mut sent, mut ended) = (false, 0);
        for _ in 0..chance.usize(2..60) {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                break;
            }
            let event: Value = serde_json::from_str(&line).unwrap();
            sent |= event["type"] == "turnStarted";
            ended += usize::from(event["type"] == "call" && event["state"] == "done");
        }
        // Half of them are killed at once; the others once the disk has what was told.
        let waits = kill % 2 == 0;
        if waits && sent {
            eventually("what was told is on the disk", || {
                store::list(&home.sessions()).is_ok_and(|all| {
                    all.first().is_some_and(|found| {
                        let read = store::read(&home.sessions(), &found.id).unwrap();
                        ended_calls(&read) >= calls_before + ended
                            && read.messages().len() > before.len()
                    })
                })
            });
        }
        running.kill();
        if !sent && before.is_empty() {
            continue;
        }
        let all = store::list(&home.sessions()).unwrap();
        if all.is_empty() {
            assert!(!waits, "nothing was kept");
            continue;
        }
        let (_, read) = home.only();
        let messages = read.messages();
        assert_sound(&messages);
        assert!(messages.starts_with(&before), "kill {kill} lost what was there before");
        assert!(!waits || ended_calls(&read) >= calls_before + ended, "kill {kill} lost a call");
        assert_eq!(read.skipped, 0);
        calls_before = ended_calls(&read);
        before = messages;
    }
    home.run(&["--demo", "exec", "--continue", "hello"]).ends(0);
    let (_, read) = home.only();
    assert!(read.messages().starts_with(&before));
    assert!(read.turns() > 1, "{}", read.turns());
}

/// A desk whose credential is in everything it says; `slow` never answers.
fn desk(request: &Recorded) -> Reply {
    let named = request.json()["params"]["name"].as_str().unwrap_or_default().to_owned();
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let answer = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"}});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "tools/list") => {
            let tool =
                |name| json!({"name": name, "description": "d", "inputSchema": {"type": "object"}});
            let tools = ["echo", "slow", "huge", "fault"].map(tool);
            Reply::json(200, &result(request, &json!({ "tools": tools })))
        }
        ("POST", "tools/call") if named == "slow" => Reply::stream().hang(),
        ("POST", "tools/call") if named == "fault" => {
            Reply::json(200, &error(request, -32000, &format!("no entry with {TOKEN}")))
        }
        ("POST", "tools/call") => {
            let rows: Vec<String> = (0..3000).map(|row| format!("row {row}")).collect();
            let huge = rows.join("\n");
            let said = if named == "huge" { huge } else { format!("echo of {TOKEN}") };
            let answer = json!({"content": [{"type": "text", "text": said}],
                "structuredContent": {"headers": {"Authorization": format!("Bearer {TOKEN}")}}});
            let answer = if named == "huge" {
                json!({"content": [{"type": "text", "text": said}]})
            } else {
                answer
            };
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

fn streamed(deltas: &[Value], finish: &str) -> Reply {
    let choice = |delta: &Value, finish: Value| {
        json!({"id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let reply = deltas
        .iter()
        .fold(Reply::stream(), |reply, delta| reply.event(&choice(delta, Value::Null)));
    reply.event(&choice(&json!({}), finish.into())).bytes(b"data: [DONE]\n\n")
}

fn says(text: &str) -> Reply {
    streamed(&[json!({"role": "assistant", "content": text})], "stop")
}

fn calls(tools: &[(&str, &str)]) -> Reply {
    let call = |(index, (tool, arguments)): (usize, &(&str, &str))| {
        json!({"index": index, "id": format!("call_{index}"), "type": "function",
            "function": {"name": tool, "arguments": arguments}})
    };
    let calls: Vec<Value> = tools.iter().enumerate().map(call).collect();
    streamed(&[json!({"role": "assistant", "tool_calls": calls})], "tool_calls")
}

fn messages(request: &Recorded) -> Vec<Value> {
    request.json()["messages"].as_array().cloned().unwrap_or_default()
}

fn is_chat(request: &Recorded) -> bool {
    request.method == "POST" && request.target.ends_with("/chat/completions")
}

/// A model that does what the user's last message says, and then says what it was told.
fn obedient(request: &Recorded) -> Reply {
    if !is_chat(request) {
        return Reply::status(404);
    }
    let messages = messages(request);
    let said = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let last = messages.last().cloned().unwrap_or_default();
    if last["role"] == "tool" {
        return says(&format!("told: {}", said(&last)));
    }
    match said(&last).as_str() {
        "both" => calls(&[("desk_echo", "{}"), ("desk_slow", "{\"a\": 1}")]),
        "huge" => calls(&[("desk_huge", "{}")]),
        "secrets" => calls(&[("desk_echo", "{}"), ("desk_fault", "{}")]),
        "wait" => Reply::stream().event(&json!({"choices": []})).hang(),
        "read on" => {
            let cut = messages.iter().map(said).find(|text| text.contains("To read on")).unwrap();
            let (_, id) = cut.rsplit_once("mini_me_search_result {\"id\": ").unwrap();
            let id = id.split(',').next().unwrap();
            let read = format!("{{\"id\": {id}, \"offset\": 20000}}");
            let find = format!("{{\"id\": {id}, \"pattern\": \"row 2777\"}}");
            calls(&[("mini_me_read_result", &read), ("mini_me_search_result", &find)])
        }
        _ => says("yes"),
    }
}

/// What the model was told of calls in its latest request.
fn told(model: &Server) -> Vec<String> {
    let last = model.requests().into_iter().rfind(is_chat).unwrap();
    let results = messages(&last).into_iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_flight_at_the_kill_is_unknown_and_its_finished_neighbour_is_not_lost() {
    let desk = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::with(&model, &desk);
    let mut running = Running::start(home.command(&["exec", "both"]));
    eventually("both calls are sent and one has ended", || {
        desk.asked("tools/call").len() == 2
            && store::list(&home.sessions()).is_ok_and(|all| {
                all.first().is_some_and(|found| {
                    ended_calls(&store::read(&home.sessions(), &found.id).unwrap()) == 1
                })
            })
    });
    running.kill();
    home.run(&["exec", "--continue", "go on"]).ends(0);
    let told = told(&model);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("echo of"), "{told:?}");
    assert!(told[1].contains("may have run or not"), "{told:?}");
    assert_eq!(desk.asked("tools/call").len(), 2, "a call was sent again");
    let (_, read) = home.only();
    assert_sound(&read.messages());
    let page = home.run(&["sessions", "show", "2"]).ends(0).out;
    assert!(page.contains("No result of `desk_slow`: unknown"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_was_cut_is_read_on_in_a_later_run() {
    let desk = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::with(&model, &desk);
    home.run(&["exec", "huge"]).ends(0);
    home.run(&["exec", "--continue", "read on"]).ends(0);
    let told = told(&model);
    let [_, read, found] = told.as_slice() else { panic!("{told:?}") };
    assert!(read.contains("\"hasMore\":true") && read.contains("row 2400\n"), "{read}");
    assert!(found.contains("row 2777"), "{found}");
    // Whoever exports it gets the whole, not what the model saw.
    let page = home.run(&["sessions", "export", "2"]).ends(0).out;
    assert!(page.contains("row 1500\n"), "the whole result is not in the export");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn configured_secrets_are_nowhere_in_a_session_file() {
    let desk = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::with(&model, &desk);
    // One of the calls reports an error, which may make the exit code.
    let code = home.run(&["exec", "secrets"]).code;
    assert!(matches!(code, Some(0 | 6)), "{code:?}");
    home.run(&["exec", "--continue", &format!("my token is {TOKEN}")]).ends(0);
    let (id, read) = home.only();
    let text = fs::read_to_string(store::file(&home.sessions(), &id)).unwrap();
    assert!(!text.contains(TOKEN), "{text}");
    assert!(text.contains("[redacted]"), "{text}");
    assert_eq!(read.skipped, 0);
    let outcomes: Vec<&str> = read
        .lines
        .iter()
        .filter_map(|line| match &line.event {
            SessionEvent::Call { outcome, .. } => Some(Outcome::word(outcome)),
            _ => None,
        })
        .collect();
    assert!(outcomes.contains(&"ok") && outcomes.contains(&"tool error"), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_resumed_twice_is_gone_on_with_in_a_copy() {
    let desk = Server::start(desk).await;
    let model = Server::start(obedient).await;
    let home = Home::with(&model, &desk);
    home.run(&["exec", "hello"]).ends(0);
    let (first, _) = home.only();
    let mut running = Running::start(home.command(&["exec", "--continue", "wait"]));
    eventually("the first one waits for the model", || {
        let asked = |request: &Recorded| {
            is_chat(request) && messages(request).last().unwrap()["content"] == "wait"
        };
        model.requests().iter().any(asked)
    });
    let second = home.run(&["exec", "--resume", first.as_str(), "and you?"]).ends(0);
    assert!(second.err.contains("is open in another window"), "{}", second.err);
    home.run(&["sessions", "delete", "--yes", first.as_str()]).ends(1);
    running.kill();
    let all = store::list(&home.sessions()).unwrap();
    assert_eq!(all.len(), 2);
    for summary in &all {
        let read = store::read(&home.sessions(), &summary.id).unwrap();
        let said: Vec<&str> = read.user_messages().collect();
        // The copy has what the other one had when it was made.
        let expected: &[&str] =
            if summary.id == first { &["hello", "wait"] } else { &["hello", "wait", "and you?"] };
        assert_eq!((read.skipped, said.as_slice(), summary.turns), (0, expected, said.len()));
    }
    let copy = all.iter().find(|summary| summary.id != first).unwrap();
    assert_eq!(copy.parent.as_ref().unwrap().id, first);
}

#[cfg(all(unix, feature = "demo"))]
#[test]
fn a_full_disk_is_a_warning_and_the_conversation_goes_on() {
    let home = Home::new();
    let script = "ulimit -f 16; exec \"$0\" \"$@\"";
    let long = format!("hello {}", "x".repeat(40_000));
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_mini-me-tui"), "--demo", "exec", &long]);
    home.dressed(&mut command);
    let ran = ran(command.output().unwrap()).ends(0);
    assert!(ran.err.contains("The session is not kept: "), "{}", ran.err);
    assert!(!ran.out.is_empty());
    // What did not fit left nothing behind that could not be read.
    for summary in store::list(&home.sessions()).unwrap() {
        assert_eq!(store::read(&home.sessions(), &summary.id).unwrap().skipped, 0);
    }
}

#[cfg(feature = "demo")]
#[test]
fn a_place_that_cannot_be_written_is_a_warning_and_the_conversation_goes_on() {
    let home = Home::new();
    fs::write(home.sessions(), "in the way").unwrap();
    let ran = home.run(&["--demo", "exec", "hello"]).ends(0);
    assert!(ran.err.contains("The session is not kept: "), "{}", ran.err);
}

#[cfg(feature = "demo")]
#[test]
fn a_damaged_session_is_gone_on_with_and_says_what_is_missing() {
    let home = Home::new();
    home.run(&["--demo", "exec", "hello"]).ends(0);
    let (id, whole) = home.only();
    let path = store::file(&home.sessions(), &id);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(&[0; 512]);
    bytes.extend_from_slice(b"\n{\"at\":\"2026");
    fs::write(&path, bytes).unwrap();
    let ran = home.run(&["--demo", "exec", "--continue", "hello again"]).ends(0);
    assert!(ran.err.contains("1 line of the session"), "{}", ran.err);
    assert!(ran.err.contains("was not written to its end"), "{}", ran.err);
    let (_, read) = home.only();
    assert!(read.messages().starts_with(&whole.messages()));
    assert_eq!(read.turns(), 2);
}

#[cfg(feature = "demo")]
#[test]
fn sessions_are_forked_exported_and_deleted_by_their_commands() {
    let home = Home::new();
    home.run(&["--demo", "exec", "hello"]).ends(0);
    home.run(&["--demo", "exec", "--continue", "hello again"]).ends(0);
    let (parent, _) = home.only();
    let forked = home.run(&["sessions", "fork", "2", "--at", "2", "--json"]).ends(0).json();
    assert_eq!((&forked["turns"], &forked["draft"]), (&json!(1), &json!("hello again")));
    let fork = forked["id"].as_str().unwrap().to_owned();
    home.run(&["sessions", "fork", parent.as_str(), "--at", "3"]).ends(2);

    let listed = home.run(&["sessions", "list", "--json"]).ends(0).json();
    assert_eq!((&listed["version"], listed["sessions"].as_array().unwrap().len()), (&json!(1), 2));
    let child = listed["sessions"].as_array().unwrap();
    let child = child.iter().find(|session| session["id"] == fork.as_str()).unwrap();
    assert_eq!(child["parent"], json!({ "id": parent, "before": 2 }));
    assert_eq!(child["servers"], json!(["tracker"]));

    let file = home.path().join("out").join("page.json");
    let words = ["sessions", "export", &fork, "--format", "json", "--output"];
    home.run(&[&words[..], &[file.to_str().unwrap()]].concat()).ends(0);
    let page: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&page["version"], &page["session"]["id"]), (&json!(1), &json!(fork)));

    let refused = home.run(&["sessions", "delete", &fork]).ends(2);
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    home.run(&["sessions", "delete", "--yes", &fork, parent.as_str()]).ends(0);
    assert!(store::list(&home.sessions()).unwrap().is_empty());
    let missing = home.run(&["exec", "--resume", &fork, "x"]).ends(2);
    assert!(missing.err.contains("there is no session"), "{}", missing.err);
}

#[cfg(feature = "demo")]
#[test]
fn output_of_a_killed_run_is_what_a_reader_had_of_it() {
    let home = Home::new();
    let words = ["--demo", "exec", "Show me some markdown"];
    let mut running = Running::start(home.command(&words));
    let mut first = [0_u8; 1];
    running.0.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    eventually("the message is on the disk", || {
        store::list(&home.sessions()).is_ok_and(|all| all.first().is_some_and(|one| one.turns == 1))
    });
    running.kill();
    let (_, read) = home.only();
    // The answer was not finished: it is not there, and the message that asked for it is.
    assert_eq!(read.messages(), [Message::User { text: "Show me some markdown".into() }]);
    let shown = home.run(&["sessions", "list"]).ends(0).out;
    assert!(shown.contains("Show me some markdown"), "{shown}");
}
