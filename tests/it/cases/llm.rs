//! Model streams, refusals and histories: every case below `llm`.
//!
//! The driver reads what a case expects and knows none by name. An expectation that it does not
//! understand fails the case.

mod history;
mod script;
mod stream;
mod wire;

use std::path::{Path, PathBuf};

use mini_me_tui::config::ModelConfig;
use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::Message;
use mini_me_tui::provider::ModelRequest;
use serde_json::Value;
use url::Url;

/// What is wrong with a case, in sentences.
type Faults = Vec<String>;

fn directory() -> PathBuf {
    let cases = std::env::var_os("MINI_ME_CASES").map(PathBuf::from);
    cases.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).join("llm")
}

/// The expected files of one type, in order.
fn cases(kind: &str) -> Vec<(PathBuf, Value)> {
    let mut found: Vec<_> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().is_some_and(|name| name.ends_with(".expected.json")))
        .map(|path| {
            let expected = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            (path, expected)
        })
        .filter(|(_, expected): &(PathBuf, Value)| expected["type"] == kind)
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(!found.is_empty(), "no case of type {kind} below {}", directory().display());
    found
}

/// The bytes of an input file beside the expected one.
fn input(expected_file: &Path, name: &Value) -> Vec<u8> {
    std::fs::read(expected_file.with_file_name(name.as_str().unwrap())).unwrap()
}

/// Fails with all faults of all cases, by their names.
fn report(failed: Vec<(String, Faults)>) {
    let lines: Vec<_> = failed
        .into_iter()
        .filter(|(_, faults)| !faults.is_empty())
        .map(|(case, faults)| format!("{case}:\n    {}", faults.join("\n    ")))
        .collect();
    assert!(lines.is_empty(), "{} cases fail\n{}", lines.len(), lines.join("\n"));
}

/// Expectations that nobody judged.
fn unjudged(expected: &Value, judged: &[&str]) -> Faults {
    let described = ["case", "type", "input", "feed", "dialect", "open_question", "http"];
    expected
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !judged.contains(&key.as_str()) && !described.contains(&key.as_str()))
        .map(|key| format!("the driver does not know what {key} expects"))
        .collect()
}

fn config(provider: ProviderKind, base: &str, model: &str) -> ModelConfig {
    ModelConfig::new(provider, Url::parse(base).unwrap(), model.to_owned())
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: String::new(),
        messages: messages.into(),
        tools: [].into(),
        max_output_tokens: None,
        temperature: None,
    }
}
