//! The subcommands, run as a user runs them: the built binary, a home of its own, the demo.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home that holds nothing, and the program in it.
struct Home(TempDir);

/// How a run ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}", self.out))
    }

    #[track_caller]
    fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(words).env("MINI_ME_HOME", self.path()).stdin(Stdio::null());
        for name in ["MINI_ME_CONFIG", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        ran(self.command(words).output().unwrap())
    }

    fn run_with_input(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap())
    }

    fn configure(&self, yaml: &str) {
        std::fs::write(self.path().join("config.yaml"), yaml).unwrap();
    }
}

fn ran(output: std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A process that is ended with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A port on which nothing listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn tools_of_the_demo_have_the_documented_shape() {
    let shape = Home::new().run(&["--demo", "tools", "--json"]).ends(0).json();
    let tools = shape["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 7);
    let task = tools.iter().find(|tool| tool["name"] == "get_task").unwrap();
    assert_eq!(task["server"], "tracker");
    assert_eq!(task["modelName"], "tracker_get_task");
    assert_eq!(task["permission"], "ask");
    assert_eq!(task["readOnly"], true);
    assert!(task["tokens"].as_u64().unwrap() > 0);
    assert!(task["pin"].is_string());
    assert!(shape["filtered"].is_array() && shape["warnings"].is_array());
}

#[test]
fn resources_of_the_demo_are_listed_and_read() {
    let home = Home::new();
    let shape = home.run(&["--demo", "resources", "list", "--json"]).ends(0).json();
    let resources = shape["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 9);
    assert_eq!(resources[0]["server"], "tracker");
    assert_eq!(resources[0]["mimeType"], "application/json");
    assert_eq!(shape["templates"], serde_json::json!([]));
    assert_eq!(shape["failed"], serde_json::json!([]));
    let uri = resources[0]["uri"].as_str().unwrap();

    let read = home.run(&["--demo", "resources", "read", uri, "--json"]).ends(0).json();
    assert_eq!((&read["server"], &read["uri"]), (&"tracker".into(), &uri.into()));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
    let shown = home.run(&["--demo", "resources", "read", uri]).ends(0).out.clone();
    assert_eq!(shown.trim_end(), text);

    let listed = home.run(&["--demo", "resources", "list", "--server", "tracker"]);
    assert!(listed.ends(0).out.contains(uri), "{}", listed.out);
}

#[test]
fn a_resource_that_is_not_there_is_said_to_be_missing() {
    let ran = Home::new().run(&["--demo", "resources", "read", "harbor://reports/none"]);
    assert!(ran.ends(1).err.contains("no resource harbor://reports/none"), "{}", ran.err);
}

#[test]
fn prompts_of_the_demo_are_listed_and_made() {
    let home = Home::new();
    let shape = home.run(&["--demo", "prompts", "list", "--json"]).ends(0).json();
    let prompt = &shape["prompts"][0];
    assert_eq!((&prompt["server"], &prompt["name"]), (&"tracker".into(), &"triage_task".into()));
    assert_eq!(prompt["arguments"][0]["required"], true);

    let words = ["--demo", "prompts", "get", "triage_task", "task=#42"];
    let made = home.run(&words);
    assert!(made.ends(0).out.starts_with("user:\nLook at task #42"), "{}", made.out);
    let words = ["--demo", "prompts", "get", "tracker/triage_task", "task=#42", "--json"];
    let shape = home.run(&words).ends(0).json();
    assert_eq!(shape["messages"][0]["role"], "user");
    assert_eq!(shape["messages"][0]["content"]["type"], "text");
}

#[test]
fn a_prompt_is_not_asked_for_in_a_way_that_cannot_work() {
    let home = Home::new();
    for (words, says) in [
        (&["triage_task"][..], "needs task=…"),
        (&["triage_task", "tsk=1"], "it takes: task"),
        (&["triage"], "there is no prompt triage"),
        (&["triage_task", "task"], "write KEY=VALUE"),
    ] {
        let all: Vec<&str> = ["--demo", "prompts", "get"].iter().chain(words).copied().collect();
        let ran = home.run(&all);
        assert!(ran.ends(2).err.contains(says), "{words:?}: {}", ran.err);
    }
    // The server knows better what a task is.
    let ran = home.run(&["--demo", "prompts", "get", "triage_task", "task=#4242"]);
    assert!(ran.ends(1).err.contains("tracker: The server has no prompt"), "{}", ran.err);
}

#[test]
fn resources_and_prompts_of_a_server_that_is_down_are_exit_code_4() {
    let home = Home::new();
    let port = closed_port();
    home.configure(&format!(
        "mcp: {{ servers: [{{ name: down, url: \"http://127.0.0.1:{port}/mcp\" }}] }}\n"
    ));
    for words in [
        &["resources", "list"][..],
        &["resources", "read", "a:b", "--server", "down"],
        &["prompts", "list", "--server", "down"],
        &["prompts", "get", "p"],
    ] {
        let ran = home.run(words);
        assert!(ran.ends(4).err.contains("the server down failed"), "{words:?}: {}", ran.err);
    }
    let shape = home.run(&["resources", "list", "--json"]).ends(4).json();
    assert_eq!(shape["failed"][0]["server"], "down");
    home.run(&["prompts", "list", "--server", "dwn"]).ends(2);
}

#[test]
fn servers_of_the_demo_have_the_documented_shape() {
    let shape = Home::new().run(&["servers", "--demo", "--json"]).ends(0).json();
    let server = &shape["servers"][0];
    assert_eq!(
        (&server["name"], &server["state"], &server["era"]),
        (&"tracker".into(), &"ready".into(), &"modern".into())
    );
    assert_eq!((&server["protocolVersion"], &server["tools"]), (&"2026-07-28".into(), &7.into()));
    assert!(server["latencyMs"].as_f64().unwrap() > 0.0);
}

#[test]
fn check_of_the_demo_passes_every_stage() {
    let home = Home::new();
    let shape = home.run(&["--demo", "check", "--json"]).ends(0).json();
    let stages = shape["servers"][0]["stages"].as_array().unwrap();
    let names: Vec<&str> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["config", "credential", "dns", "tcp", "http", "negotiate", "list", "schemas", "pins"]
    );
    assert!(stages.iter().all(|stage| stage["outcome"] == "ok"), "{shape}");
}

#[test]
fn call_takes_names_of_every_kind_and_typed_values() {
    let home = Home::new();
    for tool in ["get_task", "tracker/get_task", "tracker_get_task"] {
        let ran = home.run(&["--demo", "call", tool, "task=#42"]);
        assert!(ran.ends(0).out.contains("payment provider time-outs"), "{}", ran.out);
    }
    let shape = home.run(&["--demo", "call", "list_tasks", "limit=3", "--json"]).ends(0).json();
    assert_eq!(shape["outcome"], "ok");
    assert_eq!(shape["structuredContent"]["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(shape["content"][0]["type"], "text");
    assert!(shape["durationMs"].is_number());
    let words = ["--demo", "call", "get_task", "--args", "-"];
    home.run_with_input(&words, r##"{"task": "#17"}"##).ends(0);
}

#[test]
fn call_that_cannot_be_made_says_why_and_what_is_near() {
    let home = Home::new();
    let unknown = home.run(&["--demo", "call", "get_tsk", "task=1"]);
    assert!(unknown.ends(2).err.contains("get_task"), "{}", unknown.err);
    let error = home.run(&["--demo", "call", "get_task", "task=#4711"]);
    assert!(error.ends(6).out.contains("list_tasks"), "{}", error.out);
    home.run(&["--demo", "call", "get_task", "nonsense=1"]).ends(2);
    home.run(&["--demo", "call", "get_task", "nonsense=1", "--unchecked"]).ends(6);
    home.run(&["--demo", "call", "get_task", "--args", "[]"]).ends(2);
}

#[test]
fn exec_with_everything_allowed_quotes_what_the_telemetry_holds() {
    let words = ["--demo", "exec", "Look at task #42 and explain it", "--allow", "*/*"];
    let ran = Home::new().run(&words);
    assert!(ran.ends(0).out.contains("at formatMoney (src/money/format.ts:48:31)"), "{}", ran.out);
    let calls = ran.err.lines().filter(|line| line.starts_with('→')).count();
    assert_eq!(calls, 6, "{}", ran.err);
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'));
}

#[test]
fn exec_that_nobody_allowed_names_the_rule_and_is_exit_code_5() {
    let ran = Home::new().run(&["--demo", "exec", "Look at task #42 and explain it"]);
    assert!(ran.ends(5).err.contains("--allow 'tracker/list_tasks'"), "{}", ran.err);
    assert!(ran.out.contains("not allowed"), "{}", ran.out);
}

#[test]
fn exec_denies_what_deny_names_whatever_is_allowed() {
    let words = [
        "--demo",
        "exec",
        "-",
        "--json",
        "--allow",
        "*/*",
        "--deny",
        "tracker/get_report_telemetry",
    ];
    let ran = Home::new().run_with_input(&words, "Look at task #42 and explain it");
    let events: Vec<Value> =
        ran.ends(5).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("turnStarted", "turnEnded"));
    let denied = events.iter().find(|event| event["type"] == "denied").unwrap();
    assert_eq!(denied["tool"], "get_report_telemetry");
    assert!(!ran.out.contains("formatMoney"));
}

#[test]
fn exec_without_a_model_is_exit_code_3_and_says_what_to_do() {
    let ran = Home::new().run(&["exec", "hello"]);
    assert!(ran.ends(3).err.contains("--demo"), "{}", ran.err);
}

#[test]
fn server_that_does_not_answer_is_exit_code_4_and_check_names_the_stage() {
    let home = Home::new();
    let url = format!("http://127.0.0.1:{}/mcp", closed_port());
    let tools = home.run(&["--url", &url, "tools"]);
    assert!(tools.ends(4).out.contains("failed"), "{}", tools.out);
    home.run(&["--url", &url, "call", "local/x"]).ends(4);
    let check = home.run(&["--url", &url, "check"]);
    assert!(check.ends(4).out.contains("stopped at TCP"), "{}", check.out);
    let shape = home.run(&["--url", &url, "servers", "--json"]).ends(0).json();
    assert_eq!(shape["servers"][0]["state"], "failed");
}

#[test]
fn demo_server_prints_its_url_and_serves_any_client() {
    let home = Home::new();
    let mut command = home.command(&["demo-server"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut server = Ended(child);
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let shape = home.run(&["--url", url.trim(), "tools", "--json"]).ends(0).json();
    assert_eq!(shape["tools"].as_array().unwrap().len(), 7);
}

#[test]
fn completions_and_man_page_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(home.run(&["completions", shell]).ends(0).out.contains("demo-server"), "{shell}");
    }
    let man = home.run(&["man"]);
    assert!(man.ends(0).out.starts_with(".ie") || man.out.contains(".TH"), "{}", man.out);
    assert!(man.out.contains("mini\\-me\\-tui exec"), "{}", man.out);
}

#[test]
fn config_is_written_once_shown_and_found() {
    let home = Home::new();
    home.run(&["config", "init"]).ends(0);
    let again = home.run(&["config", "init"]);
    assert!(again.ends(1).err.contains("left as it is"), "{}", again.err);
    let file = home.path().join("config.yaml");
    assert!(home.run(&["config", "path"]).ends(0).out.contains(&*file.to_string_lossy()));
    home.run(&["config", "show"]).ends(0);
    home.run(&["config", "show", "--json"]).ends(0).json();
    assert!(home.run(&["config", "schema"]).ends(0).json()["properties"].is_object());
}

#[test]
fn unreadable_config_is_exit_code_2_with_its_line() {
    let home = Home::new();
    home.configure("model:\n  provider: openai\n bad: [\n");
    let ran = home.run(&["tools"]);
    assert!(ran.ends(2).err.contains("config.yaml"), "{}", ran.err);
    assert!(ran.err.contains('3'), "{}", ran.err);
}

#[test]
fn exchanges_of_a_run_are_written_to_an_archive() {
    let home = Home::new();
    let file = home.path().join("run.har");
    let wire = file.to_str().unwrap();
    let words = ["--demo", "call", "tracker/get_task", "task=#42", "--wire", wire];
    home.run(&words).ends(0);
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };
    let har = read();
    let entries = har["log"]["entries"].as_array().unwrap();
    let call = entries.iter().find(|entry| entry["_rpcMethod"] == "tools/call").unwrap();
    assert_eq!((&call["_server"], &call["_subject"]), (&"tracker".into(), &"get_task".into()));
    assert_eq!(call["response"]["status"], 200);
    assert!(call["request"]["postData"]["text"].as_str().unwrap().contains("#42"));
    let headers = call["request"]["headers"].to_string();
    assert!(headers.contains("Bearer $MINI_ME_DEMO_KEY"), "{headers}");
    for (words, method) in [(["check"].as_slice(), "tools/list"), (&["exec", "hello"], "")] {
        home.run(&[words, &["--demo", "--wire", wire]].concat()).ends(0);
        let har = read();
        let mut entries = har["log"]["entries"].as_array().unwrap().iter();
        let found = entries.any(|entry| match method {
            "" => entry.get("_model").is_some(),
            method => entry["_rpcMethod"] == method,
        });
        assert!(found, "{words:?}: {har}");
    }
}

#[cfg(unix)]
#[test]
fn an_archive_that_cannot_be_written_is_said_before_anything_is_done() {
    let home = Home::new();
    let ran = home.run(&["--demo", "tools", "--wire", "/dev/null/run.har"]);
    ran.ends(2);
    assert!(ran.err.contains("--wire") && ran.out.is_empty(), "{}", ran.err);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let home = Home::new();
    home.run(&["tools", "--nope"]).ends(2);
    home.run(&["--token-env", "X", "tools"]).ends(2);
    home.run(&["--demo", "tools", "--server", "trackr"]).ends(2);
    home.run(&["--demo", "exec", "hello", "--allow", "no-slash"]).ends(2);
    let misplaced = home.run(&["hello", "tools"]);
    assert!(misplaced.ends(2).err.contains("exec"), "{}", misplaced.err);
    let screen = home.run(&["--demo"]);
    assert!(screen.ends(2).err.contains("terminal"), "{}", screen.err);
}

#[test]
fn reader_that_goes_away_is_no_failure_and_no_panic() {
    let home = Home::new();
    let mut command = home.command(&["completions", "bash"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn interrupted_turn_is_exit_code_130() {
    let home = Home::new();
    let words = ["--demo", "exec", "Show me some markdown"];
    let mut command = home.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut running = Ended(child);
    let mut first = [0_u8; 1];
    running.0.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let pid = running.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
}

#[test]
fn conversation_is_listed_shown_exported_resumed_and_deleted() {
    let home = Home::new();
    home.run(&["--demo", "exec", "list the tasks", "--allow", "tracker/list_tasks"]).ends(0);
    let listed = home.run(&["sessions", "list", "--json"]).ends(0).json();
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["title"], "list the tasks");
    let id = sessions[0]["id"].as_str().unwrap().to_owned();
    assert!(home.run(&["sessions", "show", &id]).ends(0).out.contains("| #42 |"));
    let whole = home.run(&["sessions", "export", &id, "--json"]).ends(0).json();
    assert!(whole["events"].as_array().unwrap().len() >= 4, "{whole}");
    // What was asked before is known when the conversation goes on: a follow-up finds its task.
    home.run(&["--demo", "exec", "Explain #40", "--allow", "*/*"]).ends(0);
    let words = ["--demo", "exec", "check the network", "--allow", "*/*", "--continue"];
    assert!(home.run(&words).ends(0).out.contains("#40"));
    home.run(&["sessions", "delete", "--yes", &id]).ends(0);
    home.run(&["sessions", "show", &id]).ends(2);
    home.run(&["--continue", "tools"]).ends(2);
}

#[test]
fn decisions_are_in_the_audit_log() {
    let home = Home::new();
    home.run(&["--demo", "exec", "list the tasks"]).ends(5);
    home.run(&["--demo", "exec", "list the tasks", "--allow", "tracker/*"]).ends(0);
    let entries = home.run(&["audit", "--json"]).ends(0).json();
    let decisions: Vec<&str> = entries["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["decision"].as_str())
        .collect();
    assert_eq!(decisions, ["denied", "allowed"]);
    assert!(home.run(&["audit"]).ends(0).out.contains("tracker/list_tasks"));
}

#[test]
fn explain_names_what_decides() {
    let home = Home::new();
    home.configure("mcp:\n  permissions: auto\n");
    let words = ["--demo", "tools", "--explain", "get_task", "--args", r##"{"task":"#42"}"##];
    let ran = home.run(&words);
    assert!(ran.ends(0).out.contains("auto"), "{}", ran.out);
    assert!(ran.out.contains("the mode for all servers"), "{}", ran.out);
    home.run(&["--demo", "tools", "--explain", "no_such_tool"]).ends(2);
}

/// The program with nothing but these variables.
fn bare(words: &[&str], env: &[(&str, &std::ffi::OsStr)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    command.args(words).env_clear().envs(env.iter().copied()).stdin(Stdio::null());
    ran(command.output().unwrap())
}

#[test]
fn without_any_home_nothing_is_remembered_and_everything_else_works() {
    for (words, code) in [
        (&["--demo", "tools", "--json"][..], 0),
        (&["--demo", "exec", "hello"], 0),
        (&["config", "show"], 0),
        (&["check"], 0),
        (&["exec", "hello"], 3),
        (&["config", "init"], 2),
        (&["config", "path"], 2),
        (&["sessions", "list"], 2),
        (&["audit"], 2),
        (&["--demo"], 2),
    ] {
        let ran = bare(words, &[]);
        assert!(ran.ends(code).code == 0 || !ran.err.is_empty(), "{words:?} says nothing");
    }
}

#[test]
fn home_that_cannot_be_written_is_a_warning_and_no_failure() {
    let home = Home::new();
    // Nothing can be made below a file, not even by root.
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    home.configure("");
    let config = home.path().join("config.yaml");
    let variables = [("MINI_ME_HOME", file.as_os_str()), ("MINI_ME_CONFIG", config.as_os_str())];
    let turn = bare(&["--demo", "exec", "hello"], &variables);
    assert!(turn.ends(0).err.contains("warning"), "{}", turn.err);
    bare(&["--demo", "tools"], &variables).ends(0);
    let init = bare(&["config", "init"], &variables[..1]);
    assert!(init.ends(1).err.contains(&*file.to_string_lossy()), "{}", init.err);
}

#[cfg(unix)]
#[test]
fn variables_that_are_no_text_end_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    let home = Home::new();
    for name in ["TERM", "NO_COLOR", "HTTP_PROXY", "NO_PROXY", "RUST_LOG", "LANG", "HOME"] {
        let variables = [("MINI_ME_HOME", home.path().as_os_str()), (name, odd)];
        bare(&["--demo", "tools"], &variables).ends(0);
    }
    let ran = bare(&["tools"], &[("MINI_ME_CONFIG", odd)]);
    assert!(ran.ends(2).err.contains("MINI_ME_CONFIG"), "{}", ran.err);
    let home = Home::new();
    home.configure(
        "servers:\n  - { name: a, url: \"https://a.example.test/\", auth: { type: bearer, tokenEnv: T } }\n",
    );
    let variables = [("MINI_ME_HOME", home.path().as_os_str()), ("T", odd)];
    let shown = bare(&["config", "show", "--json"], &variables).ends(0).json();
    assert!(shown["warnings"].to_string().contains("`T`"), "{shown}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure_with_its_reason() {
    let home = Home::new();
    for words in [&["--demo", "tools"][..], &["config", "show"], &["man"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = ran(home.command(words).stdout(full).output().unwrap());
        assert!(ran.ends(1).err.contains("standard output"), "{words:?}: {}", ran.err);
    }
}

#[test]
fn every_command_survives_a_reader_that_is_gone() {
    let home = Home::new();
    for words in [
        &["--demo", "tools"][..],
        &["--demo", "servers", "--json"],
        &["--demo", "exec", "hello", "--json"],
        &["--demo", "call", "get_task", "task=#42"],
        &["config", "schema"],
        &["man"],
    ] {
        let mut command = home.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = ran(child.wait_with_output().unwrap());
        assert!(!ended.ends(0).err.contains("panicked"), "{words:?}: {}", ended.err);
    }
}

#[test]
fn token_of_a_further_server_has_to_be_there() {
    let home = Home::new();
    let words =
        ["--url", "https://mcp.example.test/mcp", "--token-env", "NO_SUCH_VARIABLE", "tools"];
    assert!(home.run(&words).ends(2).err.contains("NO_SUCH_VARIABLE"));
    let words = ["--url", "https://u:pw-EXAMPLE@mcp.example.test/mcp", "tools"];
    let refused = home.run(&words);
    assert!(refused.ends(2).err.contains("--url") && !refused.err.contains("pw-EXAMPLE"));
}

#[test]
fn token_that_would_travel_unencrypted_is_warned_about() {
    let home = Home::new();
    let url = "http://mcp.example.test/mcp";
    let mut command = home.command(&["--url", url, "--token-env", "T", "tools", "--json"]);
    let ran = ran(command.env("T", "tok-EXAMPLE-9").output().unwrap());
    let warnings = ran.ends(4).json()["warnings"].to_string();
    assert!(warnings.contains("https") && !warnings.contains("tok-EXAMPLE"), "{warnings}");
}

#[test]
fn keys_of_unknown_actions_are_warnings_with_their_line_and_the_nearest_name() {
    let home = Home::new();
    home.configure("mcp: { permissions: ask }\nkeys:\n  aprove: y\n");
    let shown = home.run(&["config", "show", "--json"]).ends(0).json();
    let warning = &shown["warnings"][0];
    assert_eq!((&warning["field"], &warning["line"]), (&"keys.aprove".into(), &3.into()));
    assert!(warning["advice"].as_str().unwrap().contains("`approve`"), "{warning}");
    let listed = home.run(&["tools", "--json"]).ends(0).json();
    assert_eq!(listed["warnings"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn certificate_file_that_is_missing_is_said_once() {
    let home = Home::new();
    home.configure("mcp: { caFile: nowhere.pem }\n");
    for words in [&["tools", "--json"][..], &["check", "--json"]] {
        let warnings = home.run(words).ends(0).json()["warnings"].clone();
        assert_eq!(warnings.as_array().unwrap().len(), 1, "{warnings}");
    }
}

#[test]
fn refused_entry_never_hides_the_server_that_has_its_name() {
    let home = Home::new();
    let url = format!("http://127.0.0.1:{}/mcp", closed_port());
    home.configure(&format!(
        "servers:\n  - {{ name: bad, command: x }}\n  - {{ name: a, url: \"{url}\" }}\n  - {{ name: a, url: \"{url}\", permissions: auto }}\n"
    ));
    let shape = home.run(&["servers", "--json"]).ends(0).json();
    let states: Vec<(&str, &str)> = shape["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (server["name"].as_str().unwrap(), server["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("a", "failed"), ("bad", "disabled"), ("a", "disabled")]);
}

#[test]
fn configs_of_the_documentation_load_without_a_warning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let mut configs: Vec<String> = readme
        .split("```yaml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect();
    assert!(!configs.is_empty());
    configs.push(std::fs::read_to_string(root.join("config.example.yaml")).unwrap());
    for config in configs {
        let home = Home::new();
        home.configure(&config);
        let mut command = home.command(&["config", "show", "--json"]);
        for name in ["GITHUB_PERSONAL_ACCESS_TOKEN", "GITHUB_TENANT", "CONTEXT7_API_KEY"] {
            command.env(name, "x-EXAMPLE");
        }
        let shown = ran(command.output().unwrap()).ends(0).json();
        assert_eq!(shown["warnings"].as_array().unwrap().len(), 0, "{config}: {shown}");
        assert_eq!(shown["refused"].as_array().unwrap().len(), 0, "{config}: {shown}");
    }
}

#[test]
fn a_direct_call_is_remembered_as_allowed_and_begins_no_conversation() {
    let home = Home::new();
    home.run(&["--demo", "call", "get_current_project"]).ends(0);
    let pins: Value =
        serde_json::from_slice(&std::fs::read(home.path().join("pins.json")).unwrap()).unwrap();
    let endpoints: Vec<&Value> = pins["servers"].as_object().unwrap().values().collect();
    assert_eq!(endpoints.len(), 1);
    assert_eq!(endpoints[0]["get_current_project"]["allowed"], true);
    assert_eq!(endpoints[0]["get_task"]["allowed"], false);
    assert_eq!(home.run(&["sessions", "list"]).ends(0).out, "No conversations yet.\n");
    assert!(home.run(&["audit"]).ends(0).out.contains("command line"));
}

#[test]
fn going_on_with_a_conversation_writes_into_the_same_session() {
    let home = Home::new();
    home.run_with_input(&["--demo", "exec", "-"], "hello\n").ends(0);
    home.run(&["--demo", "exec", "--continue", "hello again"]).ends(0);
    let sessions = home.run(&["sessions", "list", "--json"]).ends(0).json();
    let sessions = sessions["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!((&sessions[0]["title"], &sessions[0]["turns"]), (&"hello".into(), &2.into()));
}

#[test]
#[cfg(unix)]
fn everything_that_is_written_is_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let inside = home.path().join("new").join("home");
    let mut command = home.command(&["--demo", "exec", "hello"]);
    assert!(command.env("MINI_ME_HOME", &inside).output().unwrap().status.success());
    let mut waiting = vec![inside];
    let mut files = 0;
    while let Some(path) = waiting.pop() {
        let metadata = std::fs::metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            let entries = std::fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
    assert!(files >= 3, "{files}");
}
