//! A scripted server on one side, the client on the other: each case of folder `sse` in each of
//! its variants, checked member by member. What is not understood fails the case.

use serde_json::{Map, Value};

use super::{Case, not_yet, of_kind, report};

mod checks;
mod play;
mod script;

/// What an expected file may say besides what is checked: words for people.
const WORDS: [&str; 8] =
    ["case", "type", "input", "must", "must_not", "notes", "variants", "error_class"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scripted_server_is_handled_as_it_should() {
    let cases: Vec<Case> = of_kind("http-script")
        .into_iter()
        .filter(|case| case.input.parent().is_some_and(|folder| folder.ends_with("sse")))
        .collect();
    let not_yet = not_yet();
    let runs: Vec<(String, Value, Value)> =
        cases.iter().filter(|case| !not_yet.contains(&case.id)).flat_map(runs_of).collect();
    let checked = runs.iter().map(|(name, script, expected)| async move {
        let failed = check(script, expected).await.err();
        failed.map(|why| format!("{name}: {why}"))
    });
    let failed: Vec<String> =
        futures_util::future::join_all(checked).await.into_iter().flatten().collect();
    report("http-script", cases.len(), &failed);
}

/// The runs of a case: name, script, expectations.
fn runs_of(case: &Case) -> Vec<(String, Value, Value)> {
    let script: Value = serde_json::from_slice(&std::fs::read(&case.input).unwrap()).unwrap();
    let Some(variants) = script["variants"].as_array() else {
        return vec![(case.id.clone(), script, case.expected.clone())];
    };
    let run = |variant: &Value| {
        let name = variant["name"].as_str().unwrap();
        let mut one = script.as_object().unwrap().clone();
        one.extend(variant.as_object().unwrap().clone());
        let mut expected = case.expected.as_object().unwrap().clone();
        if let Some(own) = case.expected["variants"][name].as_object() {
            merge(&mut expected, own);
        }
        (format!("{} {name}", case.id), Value::Object(one), Value::Object(expected))
    };
    variants.iter().map(run).collect()
}

fn merge(base: &mut Map<String, Value>, own: &Map<String, Value>) {
    for (key, value) in own {
        match (base.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

async fn check(script: &Value, expected: &Value) -> Result<(), String> {
    let played = play::play(script, expected).await;
    checks::recorded(&played).map_err(|why| format!("the record: {why}"))?;
    if let Some(ways) = expected["either"].as_array() {
        let mut faults = Vec::new();
        for way in ways {
            let mut all = expected.as_object().unwrap().clone();
            for key in ["either", "connect", "call"] {
                if all.get(key).is_some_and(|value| key == "either" || value == "either") {
                    all.remove(key);
                }
            }
            all.extend(way.as_object().unwrap().clone());
            match members(&Value::Object(all), &played) {
                Ok(()) => return Ok(()),
                Err(fault) => faults.push(fault),
            }
        }
        return Err(faults.join("; or "));
    }
    members(expected, &played)
}

fn members(expected: &Value, played: &play::Played) -> Result<(), String> {
    for (key, value) in expected.as_object().unwrap() {
        if !WORDS.contains(&key.as_str()) {
            checks::member(key, value, played).map_err(|why| format!("{key}: {why}"))?;
        }
    }
    Ok(())
}
