//! The decision log, written by the built binary and then tampered with.
#![cfg(feature = "demo")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("audit.jsonl")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(words).env("MINI_ME_HOME", self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = self.command(words).output().unwrap();
        let code = output.status.code().unwrap_or(-1);
        (code, String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
    }

    fn json(&self, words: &[&str]) -> Value {
        let (_, out) = self.run(words);
        serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}"))
    }

    /// A home in which a turn was refused, and another one ran.
    fn used() -> Self {
        let home = Self::new();
        home.run(&["--demo", "exec", "list the tasks"]);
        home.run(&["--demo", "exec", "list the tasks", "--allow", "tracker/*"]);
        home.run(&["--demo", "call", "get_current_project"]);
        home
    }

    fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(self.log()).unwrap().lines().map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) {
        write(&self.log(), lines);
    }
}

fn write(path: &Path, lines: &[String]) {
    let mut text = lines.join("\n");
    text.push('\n');
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_log_that_nobody_touched_holds() {
    let home = Home::used();
    let (code, out) = home.run(&["audit", "verify"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("The chain holds: 6 lines"), "{out}");
    let shape = home.json(&["audit", "verify", "--json"]);
    assert_eq!((&shape["ok"], &shape["chained"]), (&true.into(), &6.into()), "{shape}");
    assert_eq!(Home::new().run(&["audit", "verify"]).0, 0);
}

/// What is done to the lines, the line where it shows, and how.
type Change<'a> = (&'a str, u64, &'a dyn Fn(&mut Vec<String>));

#[test]
fn every_way_to_change_it_is_found_with_its_line_and_ends_with_1() {
    let home = Home::used();
    let whole = home.lines();
    assert_eq!(whole.len(), 6);
    let changes: [Change<'_>; 7] = [
        ("deleted", 3, &|lines| drop(lines.remove(2))),
        ("edited", 1, &|lines| lines[0] = lines[0].replace("denied", "allowed")),
        ("reordered", 4, &|lines| lines.swap(2, 3)),
        ("inserted", 5, &|lines| lines.insert(4, lines[1].clone())),
        ("inserted", 3, &|lines| lines.insert(2, "{\"when\":\"now\"}".to_owned())),
        ("truncated", 5, &|lines| lines.truncate(5)),
        ("beginningMissing", 1, &|lines| drop(lines.remove(0))),
    ];
    for (kind, line, change) in changes {
        let mut lines = whole.clone();
        change(&mut lines);
        home.write(&lines);
        let shape = home.json(&["audit", "verify", "--json"]);
        let first = &shape["problems"][0];
        assert_eq!((&first["kind"], &first["line"]), (&kind.into(), &line.into()), "{shape}");
        let (code, out) = home.run(&["audit", "verify"]);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains(&format!("line {line}")), "{kind}: {out}");
    }
    home.write(&whole);
    assert_eq!(home.run(&["audit", "verify"]).0, 0);
}

#[test]
fn what_was_cut_stays_visible_when_the_program_goes_on() {
    let home = Home::used();
    let lines = home.lines();
    home.write(&lines[..4]);
    home.run(&["--demo", "call", "get_current_project"]);
    let (code, out) = home.run(&["audit", "verify"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("entries 5 to 6 are missing"), "{out}");
    // Moved away as a whole.
    std::fs::rename(home.log(), home.log().with_extension("old")).unwrap();
    home.run(&["--demo", "call", "get_current_project"]);
    let (code, out) = home.run(&["audit", "verify"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("were cut off or moved away"), "{out}");
}

#[test]
fn a_torn_line_is_healed_and_noted() {
    let home = Home::used();
    let mut text = std::fs::read_to_string(home.log()).unwrap();
    text.push_str("{\"v\":1,\"when\":\"20");
    std::fs::write(home.log(), text).unwrap();
    home.run(&["--demo", "call", "get_current_project"]);
    let (code, out) = home.run(&["audit", "verify"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("noted: line 7: cut off"), "{out}");
    assert!(home.run(&["audit"]).1.contains("the program was stopped while it wrote"));
}

#[test]
fn instances_at_work_at_once_write_one_chain() {
    let home = Home::new();
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let mut command = home.command(&["--demo", "call", "get_current_project"]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut call in calls {
        assert!(call.wait().unwrap().success());
    }
    let shape = home.json(&["audit", "verify", "--json"]);
    assert_eq!((&shape["ok"], &shape["chained"]), (&true.into(), &8.into()), "{shape}");
}

#[test]
fn lines_of_earlier_versions_stay_as_a_prefix() {
    let home = Home::new();
    let old = r#"{"when":"2026-01-02T03:04:05Z","session":"s","turn":null,"call":1,"server":"old","tool":"t","pin":"p","argumentsHash":"h","decision":"allowed","by":"user: once"}"#;
    std::fs::write(home.log(), format!("{old}\n{old}\n")).unwrap();
    assert_eq!(home.run(&["audit", "verify"]).0, 0);
    home.run(&["--demo", "call", "get_current_project"]);
    let (code, out) = home.run(&["audit", "verify"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("2 lines from before the chain"), "{out}");
    assert!(home.run(&["audit"]).1.contains("old/t"));
    let lines = home.lines();
    let changed = lines.iter().map(|line| line.replace("user: once", "user: always"));
    home.write(&changed.collect::<Vec<_>>());
    let shape = home.json(&["audit", "verify", "--json"]);
    assert_eq!(shape["problems"][0]["kind"], "oldLinesChanged", "{shape}");
}

#[test]
fn lines_are_picked_by_time_and_server() {
    let home = Home::used();
    let count = |words: &[&str]| home.json(words)["entries"].as_array().unwrap().len();
    assert_eq!(count(&["audit", "--json", "--since", "1h"]), 6);
    assert_eq!(count(&["audit", "--json", "--since", "2100-01-01"]), 0);
    assert_eq!(count(&["audit", "--json", "--server", "tracker"]), 6);
    assert_eq!(count(&["audit", "--json", "--server", "other"]), 0);
    let (code, out) = home.run(&["audit", "--since", "yesterday"]);
    assert_eq!(code, 2);
    assert!(out.contains("2026-11-30"), "{out}");
}

#[test]
fn a_line_says_who_decided_by_which_rule_and_for_which_definition() {
    let home = Home::used();
    let entries = home.json(&["audit", "--json"])["entries"].clone();
    assert_eq!(entries[0]["decider"], "headless", "{entries}");
    assert_eq!(entries[2]["decider"], "policy", "{entries}");
    assert!(entries[2]["by"].as_str().unwrap().contains("command line"), "{entries}");
    assert_eq!(entries[4]["decider"], "commandLine", "{entries}");
    for entry in entries.as_array().unwrap() {
        assert_eq!(entry["v"], 1, "{entry}");
        assert_eq!(entry["pin"].as_str().unwrap().len(), 64, "{entry}");
        assert_eq!(entry["argumentsHash"].as_str().unwrap().len(), 64, "{entry}");
        assert!(entry.get("arguments").is_none(), "{entry}");
    }
}

#[test]
fn whole_arguments_are_written_where_the_config_asks_for_them() {
    let home = Home::new();
    std::fs::write(home.0.path().join("config.yaml"), "audit: { arguments: full }\n").unwrap();
    home.run(&["--demo", "call", "get_task", "task=#42"]);
    let entries = home.json(&["audit", "--json"])["entries"].clone();
    assert_eq!(entries[0]["arguments"]["task"], "#42", "{entries}");
}

#[test]
fn figures_are_counted_by_server_and_tool() {
    let home = Home::used();
    let shape = home.json(&["audit", "stats", "--json"]);
    assert_eq!(shape["servers"][0]["server"], "tracker", "{shape}");
    assert_eq!(shape["servers"][0]["calls"], 2, "{shape}");
    assert_eq!(shape["servers"][0]["denials"], 1, "{shape}");
    let listed = shape["tools"].as_array().unwrap();
    let tasks = listed.iter().find(|tool| tool["tool"] == "list_tasks").unwrap();
    assert_eq!((&tasks["calls"], &tasks["denials"]), (&1.into(), &1.into()), "{shape}");
    assert!(tasks["p50Ms"].is_u64() && tasks["p95Ms"].is_u64(), "{shape}");
    assert!(home.run(&["audit", "stats"]).1.contains("list_tasks"));
}
