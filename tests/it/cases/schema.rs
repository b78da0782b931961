//! Tools and arguments: every case of types `tools` and `arguments`, from the list that a server
//! gives by way of the catalog to what a provider is sent, and back to the server.
//!
//! The driver reads what a case expects and knows none by name. What it does not understand, and a
//! case that expects nothing, fails.

use serde_json::{Map, Value};

use super::{Case, not_yet, of_kind, report};

mod arguments;
mod checks;
mod offered;
mod picture;
mod reach;

/// What an expected file may say besides what is checked: words for people.
const WORDS: [&str; 6] = ["case", "type", "input", "notes", "must", "open_question"];

/// Runs all cases of a type but those that are known not to hold.
async fn run<F: Future<Output = Result<(), String>>>(
    kind: &str,
    judge: impl Fn(Value, Map<String, Value>) -> F,
) {
    let not_yet = not_yet();
    let cases: Vec<Case> =
        of_kind(kind).into_iter().filter(|case| !not_yet.contains(&case.id)).collect();
    let count = cases.len();
    let mut failed = Vec::new();
    for case in cases {
        let input = std::fs::read(&case.input).unwrap();
        let input: Value = serde_json::from_slice(&input).unwrap();
        let mut expected = case.expected.as_object().unwrap().clone();
        expected.retain(|key, _| !WORDS.contains(&key.as_str()));
        if expected.is_empty() {
            failed.push(format!("{}: it expects nothing", case.id));
        } else if let Err(why) = judge(input, expected).await {
            failed.push(format!("{}: {why}", case.id));
        }
    }
    report(kind, count, &failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_list_of_tools_is_offered_as_it_should() {
    run("tools", |input, expected| async move {
        let offered = offered::Offered::of(&input)?;
        let Some(ways) = expected.get("either") else {
            return way(&input, &expected, &offered).await;
        };
        let mut faults = Vec::new();
        for own in ways.as_array().ok_or("`either` is no list")? {
            let mut all = expected.clone();
            all.remove("either");
            all.extend(own.as_object().ok_or("a way is no map")?.clone());
            match way(&input, &all, &offered).await {
                Ok(()) => return Ok(()),
                Err(why) => faults.push(why),
            }
        }
        Err(faults.join("; or "))
    })
    .await;
}

/// All that one way out of several expects.
async fn way(
    input: &Value,
    expected: &Map<String, Value>,
    offered: &offered::Offered,
) -> Result<(), String> {
    for (key, value) in expected {
        let checked = match key.as_str() {
            "round_trip" => reach::as_wished(value, offered).await,
            "call_uses_original" => reach::by_original_name(value, offered).await,
            _ => checks::member(key, value, input, expected, offered),
        };
        checked.map_err(|why| format!("{key}: {why}"))?;
    }
    checks::nothing_is_lost(expected, offered)
}

#[tokio::test]
async fn arguments_are_sent_as_they_fit_or_not_at_all() {
    run("arguments", |input, expected| async move { arguments::judge(&input, &expected) }).await;
}
