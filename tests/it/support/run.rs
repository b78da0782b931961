//! The built binary, run as a user runs it: a home of its own, nothing of the environment that
//! could steer it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Variables of a developer's own shell.
const STEERING: [&str; 9] = [
    "MINI_ME_CONFIG",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "TRACEPARENT",
];

/// A home that holds nothing, and the program in it.
pub(crate) struct Home(TempDir);

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    /// Standard output as one JSON value a line.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let parse = |line| {
            serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}\n{}", self.err))
        };
        self.out.lines().map(parse).collect()
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn configure(&self, yaml: &str) {
        std::fs::write(self.path().join("config.yaml"), yaml).unwrap();
    }

    /// A home whose config has this model and these servers (`name`, `url`).
    pub(crate) fn with(model: &str, servers: &[(&str, &str)]) -> Self {
        let home = Self::new();
        let entry =
            |(name, url): &(&str, &str)| format!("    - {{ name: {name}, url: \"{url}\" }}\n");
        let servers: Vec<String> = servers.iter().map(entry).collect();
        let servers = servers.concat();
        home.configure(&format!(
            "model: {{ baseUrl: \"{model}\", name: m, contextWindow: 100000 }}\nmcp:\n  servers:\n{servers}"
        ));
        home
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(words).env("MINI_ME_HOME", self.path()).stdin(Stdio::null());
        for name in STEERING {
            command.env_remove(name);
        }
        command
    }

    /// Runs to the end, away from the threads that serve.
    pub(crate) async fn run(&self, words: &[&str]) -> Ran {
        run(self.command(words)).await
    }

    pub(crate) async fn run_with_input(&self, words: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let input = input.as_ref().to_vec();
        let running = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(&input).unwrap();
            child.wait_with_output().unwrap()
        });
        running.await.unwrap().into()
    }
}

/// Runs a command to its end, away from the threads that serve.
pub(crate) async fn run(mut command: Command) -> Ran {
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap().into()
}
