//! Ends of every kind, and starts where there is no terminal.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mini_me_tui::paths::Paths;
use mini_me_tui::runtime::{self, Interaction, Setup};
use mini_me_tui::ui::UiOptions;
use mini_me_tui::{app, config};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Faults, size, texts};
use crate::support::pty::{PATIENCE, Start, Tty};
use crate::support::stage::{Actor, Stage};

/// In the home of a run: the end is wanted now.
const NOW: &str = "now";
/// What a run that ends by itself says.
const LAST_WORDS: &str = "these are the last words";

pub(super) fn play(input: &Value, checks: &[Value]) -> Faults {
    let mut faults = Faults::new();
    for variant in texts(&input["variants"]) {
        let found = match variant.as_str() {
            "stdin_pipe" | "stdin_closed" | "stdout_file" | "no_ctty" => without(&variant, checks),
            _ => ended(&variant, input, checks),
        };
        faults.extend(found.into_iter().map(|fault| format!("{variant}: {fault}")));
    }
    faults
}

fn judge(checks: &[Value], holds: impl Fn(&str, &Value, &Value) -> Option<bool>) -> Faults {
    let mut faults = Faults::new();
    for check in checks {
        for (word, value) in check.as_object().unwrap() {
            match holds(word, value, check) {
                Some(true) => {}
                Some(false) => faults.push(format!("{word} {value} does not hold")),
                None => faults.push(format!("the driver does not know {word}")),
            }
        }
    }
    faults
}

/// Ends while text streams in and a decision is asked.
fn ended(variant: &str, input: &Value, checks: &[Value]) -> Faults {
    let stage = Stage::new(&[Actor::new("a", &["t"])], "model", &json!({}));
    let by_itself = matches!(variant, "panic" | "error_return");
    let mut start = Start::new(&["go"], size(input), stage.home());
    if by_itself {
        start.program = std::env::current_exe().unwrap();
        let name = "cases::tui::endings::a_screen_that_ends_by_itself";
        start.arguments = [name, "--exact", "--ignored", "--nocapture"].map(str::to_owned).into();
        start.env.push(("ENDS_BY", variant.to_owned()));
    }
    let mut tty = Tty::run(&start);
    let line = tty.line_modes();
    let mut stage = stage;
    let mut faults = Faults::new();
    for step in input["steps"].as_array().unwrap() {
        let (word, value) = step.as_object().unwrap().iter().next().unwrap();
        match word.as_str() {
            "assistant_streaming" => stage.says("It begins to say something"),
            "tool_call" => {
                let name = format!(
                    "{}_{}",
                    value["server"].as_str().unwrap(),
                    value["tool"].as_str().unwrap()
                );
                stage.calls(&[(&name, value["arguments"].to_string())]);
                tty.until_text("Allow this call?");
            }
            "end_by" if value == "$VARIANT" && by_itself => {
                std::fs::write(stage.home().join(NOW), "").unwrap();
            }
            "end_by" if value == "$VARIANT" => tty.signal(variant.trim_start_matches("SIG")),
            other => faults.push(format!("the driver does not know the step {other}")),
        }
    }
    let code = tty.ends();
    tty.drained();
    let (written, restored) = (tty.bytes(), tty.line_modes() == line);
    let said = tty.contents();
    faults.extend(judge(checks, |word, value, check| {
        Some(match word {
            "output_bytes_end_with_modes_off" => texts(value)
                .iter()
                .all(|mode| is_off(&written, mode, check["only_if_enabled"] == true)),
            "only_if_enabled" => true,
            "termios_restored" => value == restored,
            // The code tells which end it was; in how long is the business of measurements.
            "exits_within_seconds" => code == expected_code(variant),
            "panic_text_readable" => {
                value == (!by_itself || (said.contains(LAST_WORDS) && !said.contains("╭")))
            }
            _ => return None,
        })
    }));
    if !faults.is_empty() {
        faults.push(format!("code {code}, {said}"));
    }
    faults
}

fn expected_code(variant: &str) -> u32 {
    match variant {
        "SIGHUP" => 129,
        "SIGINT" => 130,
        "SIGQUIT" => 131,
        "SIGTERM" => 143,
        // What a failed test ends with, and a panic too.
        _ => 101,
    }
}

/// Whether a mode is off at the end, such as `?1049l`.
fn is_off(written: &[u8], mode: &str, only_if_enabled: bool) -> bool {
    let written = String::from_utf8_lossy(written);
    let (number, state) = mode.split_at(mode.len() - 1);
    let on = if state == "l" { "h" } else { "l" };
    let last = |state: &str| written.rfind(&format!("\u{1b}[{number}{state}"));
    match (last(on), last(state)) {
        (None, _) if only_if_enabled => true,
        (on, off) => off > on,
    }
}

/// Runs the screen itself until it is told to fail.
#[test]
#[ignore = "run by the cases, on a terminal of its own"]
fn a_screen_that_ends_by_itself() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let env = |name: &str| std::env::var_os(name);
    let paths = Paths::discover(&env).unwrap();
    let home = paths.config.clone();
    let ended: Result<(), String> = runtime.block_on(async {
        let loaded = config::load::load(None, &env, Some(&paths)).unwrap();
        let handle = runtime::start(Setup::new(loaded.config, Interaction::Interactive));
        let screen = app::run(UiOptions::default(), handle, Some("go".to_owned()), Vec::new());
        let wanted = async {
            while !home.join(NOW).exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            ended = screen => Err(format!("{ended:?}")),
            () = wanted => {
                assert!(std::env::var("ENDS_BY").unwrap() != "panic", "{LAST_WORDS}");
                Err(LAST_WORDS.to_owned())
            }
        }
    });
    ended.unwrap();
}

/// Starts where there is no terminal to draw on.
fn without(variant: &str, checks: &[Value]) -> Faults {
    let home = TempDir::new().unwrap();
    let program = env!("CARGO_BIN_EXE_mini-me-tui");
    let mut command = match variant {
        "stdin_closed" => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec \"$0\" <&-", program]);
            shell
        }
        "no_ctty" => {
            let mut new = Command::new("setsid");
            new.args(["--wait", program]);
            new
        }
        _ => Command::new(program),
    };
    command.env_clear().env("MINI_ME_HOME", home.path()).env("TERM", "xterm-256color");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(if variant == "stdin_pipe" { Stdio::piped() } else { Stdio::null() });
    let file = home.path().join("out");
    let out = std::fs::File::create(&file).unwrap();
    command.stdout(out).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    // Held open: a pipe that nobody writes to.
    let pipe = child.stdin.take();
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            return vec!["it does not end".to_owned()];
        }
        std::thread::yield_now();
    }
    drop(pipe);
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let written = std::fs::read_to_string(&file).unwrap();
    judge(checks, |word, value, _| {
        Some(match word {
            // That it ended; the other way would be to use the terminal there is.
            "exits_within_seconds" | "or" => true,
            "exit_code_nonzero" => value == !ended.status.success(),
            "stderr_mentions" => texts(value).iter().all(|text| said.contains(text.as_str())),
            "stdout_bytes_contain_none_of" => {
                texts(value).iter().all(|text| !written.contains(text.as_str()))
            }
            _ => return None,
        })
    })
}
