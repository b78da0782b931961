//! Cases of the terminal interface: each is played on the built binary on a pseudo-terminal, with a
//! model and servers on the loopback interface; by the renderer alone where the case says so, or
//! where it is about every size of the screen.
//!
//! Every word of a case is understood or the case fails. Figures in milliseconds are held to by
//! counting: bytes, frames, ticks of the processor. A machine that is busy changes none of them.

mod checks;
mod endings;
mod renderer;
mod script;
mod seen;

use serde_json::Value;

use super::{Case, of_kind, report};

/// What is wrong with a run; empty where it is as expected.
type Faults = Vec<String>;

#[test]
fn every_case_of_the_terminal_holds() {
    let not_yet = super::not_yet();
    // One of them, where it is named.
    let only = std::env::var("MINI_ME_CASE").ok();
    let wanted = |case: &Case| match &only {
        Some(id) => *id == case.id,
        None => !not_yet.contains(&case.id),
    };
    let cases: Vec<Case> = of_kind("tui").into_iter().filter(wanted).collect();
    // A few at a time: most of a run is waiting for quiet.
    let lanes = 4;
    let failed: Vec<String> = std::thread::scope(|scope| {
        let run = |lane: usize| {
            let mine = cases.iter().skip(lane).step_by(lanes);
            mine.filter_map(failure).collect::<Vec<_>>()
        };
        let all: Vec<_> = (0..lanes).map(|lane| scope.spawn(move || run(lane))).collect();
        all.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    report("tui", cases.len(), &failed);
}

fn failure(case: &Case) -> Option<String> {
    let played = std::panic::catch_unwind(|| play(case));
    let faults = played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        vec![
            said.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                .unwrap_or_default(),
        ]
    });
    (!faults.is_empty()).then(|| format!("{}:\n    {}", case.id, faults.join("\n    ")))
}

fn play(case: &Case) -> Faults {
    let input: Value = serde_json::from_slice(&std::fs::read(&case.input).unwrap()).unwrap();
    let mut faults = unknown(&input, &case.expected);
    let checks = case.expected["checks"].as_array().unwrap();
    let has = |key: &str| input.get(key).is_some();
    let played = if input["renderer_only"] == true {
        renderer::table(&input, checks)
    } else if has("sizes") {
        renderer::views(&input, checks)
    } else if has("variants") {
        endings::play(&input, checks)
    } else if has("places") {
        script::in_places(&input, checks)
    } else {
        script::play(&input, checks)
    };
    faults.extend(played);
    faults
}

/// Members of a case that no driver reads.
fn unknown(input: &Value, expected: &Value) -> Faults {
    let read = [
        "case",
        "type",
        "size",
        "steps",
        "sizes",
        "views",
        "renderer_only",
        "markdown",
        "stream",
        "variants",
        "places",
        "text",
        "server",
        "model_id",
        "terminal",
    ];
    let judged = ["case", "type", "input", "checks", "open_question"];
    let unread = |value: &Value, known: &[&str]| -> Vec<String> {
        let keys = value.as_object().unwrap().keys();
        keys.filter(|key| !known.contains(&key.as_str())).cloned().collect()
    };
    let unread = unread(input, &read).into_iter().chain(unread(expected, &judged));
    unread.map(|key| format!("the driver does not know `{key}`")).collect()
}

/// Columns and rows.
fn size(input: &Value) -> (u16, u16) {
    let number = |at: usize, otherwise: u16| {
        input["size"][at].as_u64().map_or(otherwise, |number| u16::try_from(number).unwrap())
    };
    (number(0, 80), number(1, 24))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
