//! Faults that users reported of comparable programs: every file under `tests/cases`.

use std::path::{Path, PathBuf};

use serde_json::Value;

mod config;
mod http_script;
mod llm;
mod schema;
mod sse_decode;

/// Where the cases are: `$MINI_ME_CASES`, else those of this repository.
pub(crate) fn root() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    std::env::var_os("MINI_ME_CASES").map_or_else(own, PathBuf::from)
}

/// One case: its id, what is expected, and its input.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) expected: Value,
    pub(crate) input: PathBuf,
}

/// All cases of a kind, in the order of their names, from every folder below the root.
pub(crate) fn of_kind(kind: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            cases.extend(in_folder(&folder, kind));
        }
    }
    cases.extend(in_folder(&root(), kind));
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    cases
}

fn in_folder(folder: &Path, kind: &str) -> Vec<Case> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let expected = files.filter(|path| path.to_string_lossy().ends_with(".expected.json"));
    expected
        .filter_map(|path| {
            let expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let input = folder.join(expected["input"].as_str()?);
            let id = expected["case"].as_str()?.to_owned();
            (expected["type"] == kind).then_some(Case { id, expected, input })
        })
        .collect()
}

/// Fails naming every case that failed, and why.
pub(crate) fn report(kind: &str, count: usize, failed: &[String]) {
    assert!(count > 0, "no {kind} case under {}", root().display());
    assert!(
        failed.is_empty(),
        "{} of {count} {kind} cases failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// Ids of cases that are known not to hold, each with its reason in the file.
pub(crate) fn not_yet() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases-not-yet.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}
