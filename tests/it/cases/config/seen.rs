//! What a run of the built binary shows: every command that says something about the config.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::world::World;

/// How one command ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) words: String,
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) took: Duration,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or(Value::Null)
    }
}

/// All commands of a run.
pub(super) struct Seen {
    pub(super) runs: Vec<Ran>,
    pub(super) show: Value,
    pub(super) tools: Value,
    pub(super) servers: Value,
    pub(super) check: Value,
    /// The home as it appears in texts, which no expectation is about.
    home: String,
}

impl Seen {
    pub(super) fn of(world: &World, expected: &Value) -> Self {
        let run = |words: &[&str]| run(world, expected["log_level"].as_str(), words);
        let mut runs = vec![run(&["config", "show", "--json"])];
        let mut commands: Vec<&[&str]> =
            vec![&["tools", "--json"], &["servers", "--json"], &["check", "--json"]];
        let human: [&[&str]; 4] = [&["config", "show"], &["tools"], &["servers"], &["check"]];
        if expected.get("must_not_appear").is_some() || expected.get("no_panic").is_some() {
            commands.extend(human);
        }
        if world.has_model || expected["load"] == "hint" {
            commands.push(&["exec", "hello"]);
        }
        let rest: Vec<Ran> = std::thread::scope(|scope| {
            let started: Vec<_> = commands.iter().map(|words| scope.spawn(|| run(words))).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let [show, tools, servers, check] = [&runs[0], &rest[0], &rest[1], &rest[2]].map(Ran::json);
        runs.extend(rest);
        let home = world.home().display().to_string();
        Self { runs, show, tools, servers, check, home }
    }

    /// Every warning, as one text each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let text = |warning: &Value| {
            let part = |key: &str| warning[key].as_str().unwrap_or_default().to_owned();
            let line = warning["line"].as_u64().map_or_else(String::new, |line| format!(":{line}"));
            let whole = [part("source"), line, part("message"), part("advice")].join(" ");
            whole.replace(&self.home, "")
        };
        // The tools' list has those of the config too; without it, the config says its own.
        let given = self.tools["warnings"].as_array().or_else(|| self.show["warnings"].as_array());
        given.into_iter().flatten().map(text).collect()
    }

    /// Everything that is said to the user besides the values in force.
    pub(super) fn messages(&self) -> String {
        let mut said = self.warnings();
        said.extend(self.runs.iter().map(|ran| ran.err.clone()));
        let servers = self.servers["servers"].as_array().into_iter().flatten();
        said.extend(servers.filter_map(|server| server["reason"].as_str()).map(str::to_owned));
        for server in self.check["servers"].as_array().into_iter().flatten() {
            said.extend(server["stages"].as_array().into_iter().flatten().map(Value::to_string));
        }
        said.join("\n").replace(&self.home, "")
    }

    /// The text of a place that a case names; `None` if the program has no such place.
    pub(super) fn place(&self, world: &World, place: &str) -> Option<String> {
        let of = |wanted: &dyn Fn(&Ran) -> bool, part: &dyn Fn(&Ran) -> &str| {
            self.runs.iter().filter(|ran| wanted(ran)).map(part).collect::<Vec<_>>().join("\n")
        };
        let all = |_: &Ran| true;
        Some(match place {
            "stderr" | "panic text" => of(&all, &|ran| &ran.err),
            "stdout" => of(&all, &|ran| &ran.out),
            "config show" => of(&|ran| ran.words.starts_with("config"), &|ran| &ran.out),
            "check --json" | "check" => of(&|ran| ran.words.starts_with("check"), &|ran| &ran.out),
            "tools --json" | "tools" => of(&|ran| ran.words.starts_with("tools"), &|ran| &ran.out),
            "servers --json" | "servers" => {
                of(&|ran| ran.words.starts_with("servers"), &|ran| &ran.out)
            }
            "exec" | "exec --json" => of(&|ran| ran.words.starts_with("exec"), &|ran| &ran.out),
            // What people read without the full screen; the screen itself is drawn elsewhere.
            "screen" => of(&all, &|ran| &ran.out),
            "log file" | "log" => files(&world.home().join("log")),
            "session file" | "session" => files(&world.home().join("sessions")),
            "audit" | "audit file" | "audit log" => files(&world.home().join("audit.jsonl")),
            "pins" | "pins file" => files(&world.home().join("pins.json")),
            // They come out of the screen, whose record is looked at elsewhere.
            "wire view" | "HAR export" | "HAR" | "curl text" => String::new(),
            _ => return None,
        })
    }

    /// Whether anything panicked.
    pub(super) fn panic(&self) -> Option<&Ran> {
        self.runs
            .iter()
            .find(|ran| ran.code.is_none_or(|code| code == 101) || ran.err.contains("panicked at"))
    }

    /// The states that a server is in, by all the words for them.
    pub(super) fn state(&self, name: &str) -> Vec<String> {
        if self.runs[0].code == Some(2) {
            return vec!["not started".to_owned()];
        }
        let named = |server: &&Value| server["name"] == name || server["name"]["value"] == name;
        let configured = self.show["mcp"]["servers"].as_array().into_iter().flatten();
        let used = configured.into_iter().any(|server| named(&server));
        let refused = self.show["refused"].as_array().into_iter().flatten();
        if !used && refused.into_iter().any(|server| named(&server)) {
            return ["skipped", "not started"].map(str::to_owned).to_vec();
        }
        let servers = self.servers["servers"].as_array().into_iter().flatten();
        let state = servers.into_iter().find(named).and_then(|server| server["state"].as_str());
        match state {
            Some("disabled") => ["disabled", "not started"].map(str::to_owned).to_vec(),
            Some(word) => vec![word.to_owned()],
            None => vec!["absent".to_owned()],
        }
    }
}

/// The text of a file, or of all files below a directory.
fn files(path: &std::path::Path) -> String {
    if let Ok(entries) = std::fs::read_dir(path) {
        return entries.map(|entry| files(&entry.unwrap().path())).collect();
    }
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

fn run(world: &World, log_level: Option<&str>, words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
    if let Some(level) = log_level {
        command.args(["--log-level", level]);
    }
    command.args(words).env_clear().envs(&world.env).current_dir(world.cwd.path());
    let begun = Instant::now();
    let output = command.stdin(Stdio::null()).output().unwrap();
    Ran {
        words: words.join(" "),
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        took: begun.elapsed(),
    }
}
