//! Arguments as a model wrote them: what of them goes into a call, or what the model is told.

use mini_me_tui::schema::check;
use serde_json::{Map, Value};

use super::checks::listed;

/// What stands for arguments that are not sent.
const INVALID: &str = "invalid arguments";

pub(super) fn judge(input: &Value, expected: &Map<String, Value>) -> Result<(), String> {
    let calls = input["calls"].as_array().ok_or("the input has no calls")?;
    let mut refusals = Vec::new();
    let results: Vec<Value> = calls
        .iter()
        .map(|call| match check::check(&input["schema"], call.as_object().unwrap()) {
            Ok(()) => call.clone(),
            Err(why) => {
                refusals.push(why);
                INVALID.into()
            }
        })
        .collect();
    for (key, value) in expected {
        match key.as_str() {
            "sent_any_of" => {
                let wanted = value.as_array().ok_or("it is no list")?;
                if wanted.len() != results.len() {
                    return Err(format!("{} calls, {} expectations", results.len(), wanted.len()));
                }
                for ((call, result), wanted) in calls.iter().zip(&results).zip(wanted) {
                    let any = wanted.as_array().ok_or("an expectation is no list")?;
                    if !any.contains(result) {
                        return Err(format!("{call} became {result}"));
                    }
                }
            }
            "invalid_mentions" => {
                for refusal in &refusals {
                    let lower = refusal.to_lowercase();
                    let missing =
                        listed(value).into_iter().find(|w| !lower.contains(&w.to_lowercase()));
                    if let Some(word) = missing {
                        return Err(format!("{word:?} is not in {refusal:?}"));
                    }
                }
            }
            other => return Err(format!("an unknown member: {other}")),
        }
    }
    Ok(())
}
