//! One member of an expected file against what was seen.

use std::time::Duration;

use mini_me_tui::domain::exchange::Ending;
use mini_me_tui::domain::{Era, Outcome, ServerState};
use mini_me_tui::mcp::ServerEventKind;
use serde_json::Value;

use super::play::Played;
use crate::support::client::text;
use crate::support::server::Recorded;

type Checked = Result<(), String>;

fn hold(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(why()) }
}

fn listed(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().unwrap()).collect(),
        one => vec![one.as_str().unwrap()],
    }
}

pub(super) fn member(key: &str, value: &Value, played: &Played) -> Checked {
    match key {
        "connect" => connect(value, &played.state),
        "tools" => hold(listed(value) == played.tools, || format!("{:?}", played.tools)),
        "era" => era(value, played),
        "call" => call(value, played, 0),
        "then" => call(&value["call"], played, 1),
        "error_mentions" => mentions(value, played.state.reason()),
        "request_counts" => counts(value, played, |found, wanted| found == wanted),
        "request_counts_max" => counts(value, played, |found, most| found <= most),
        "request_checks" => requests(value, &played.requests),
        "other_origin_checks" => each_of(value, &played.elsewhere.iter().collect::<Vec<_>>()),
        "client_posts" => posts(value, played),
        "limits" => limits(value, played),
        "exit" => exit(value, played),
        "observe_seconds" => Ok(()),
        "warns" => warns(value, played),
        "progress_shown" => {
            hold(progressed(played) == value.as_bool().unwrap(), || "no".to_owned())
        }
        "progress_seen_before_unit" => {
            let limit = played.unit * u32::try_from(value.as_u64().unwrap()).unwrap();
            hold(played.first_progress.is_some_and(|at| at < limit), || "not seen".to_owned())
        }
        "must_not_appear_in_logs" => {
            let told = format!("{:?}", played.events);
            let kept = |word: &&str| crate::wire::holds(&played.wire, word);
            let clean = listed(value).iter().all(|word| !told.contains(word) && !kept(word));
            hold(clean, || told.clone())
        }
        other => Err(format!("an unknown member: {other}")),
    }
}

/// Every request is in the record once, whatever became of it, and has come to an end with the
/// client; the credential is in none of it.
pub(super) fn recorded(played: &Played) -> Checked {
    let kept = &played.wire.kept;
    let sent = played.requests.len();
    hold(kept.len() >= sent, || format!("{} exchanges of {sent} requests", kept.len()))?;
    let open = kept.iter().find(|exchange| exchange.ending == Ending::Open);
    hold(open.is_none(), || format!("{open:?} never ends"))?;
    let kept = crate::wire::holds(&played.wire, "tok-EXAMPLE");
    hold(!kept, || "it holds the credential".to_owned())
}

fn connect(value: &Value, state: &ServerState) -> Checked {
    let found = if *state == ServerState::Ready { "ok" } else { "error" };
    hold(listed(value).contains(&found), || format!("{state:?}"))
}

fn era(value: &Value, played: &Played) -> Checked {
    let connected = played.events.iter().find_map(|kind| match kind {
        ServerEventKind::Connected(connection) => Some(connection.era),
        _ => None,
    });
    let found = connected.map(|era| if era == Era::Legacy { "legacy" } else { "modern" });
    hold(found == value.as_str(), || format!("{found:?}"))
}

fn call(value: &Value, played: &Played, nth: usize) -> Checked {
    let outcome = played.calls.get(nth).ok_or_else(|| format!("no call: {:?}", played.state))?;
    for (key, value) in value.as_object().unwrap() {
        let word = outcome.word().replace(' ', "_");
        let said = text(outcome);
        match key.as_str() {
            "rpc" | "name" | "arguments" => Ok(()),
            "outcome" | "outcome_any_of" => {
                let wanted = listed(value);
                let error = wanted.contains(&"error") && word == "tool_error";
                hold(error || wanted.contains(&word.as_str()), || format!("{outcome:?}"))
            }
            "result_text" => hold(value == &said, || said.clone()),
            "result_text_chars" => {
                let count = said.chars().count() as u64;
                hold(value.as_u64() == Some(count), || count.to_string())
            }
            "tool_message_contains" => mentions(value, &for_model(outcome)),
            "tool_message_contains_any" => {
                let message = for_model(outcome);
                hold(listed(value).iter().any(|word| message.contains(word)), || message.clone())
            }
            "error_mentions" => mentions(value, &said),
            other => Err(format!("an unknown member: {other}")),
        }
        .map_err(|why| format!("{key}: {why}"))?;
    }
    Ok(())
}

/// All that a message for the model can be made of.
fn for_model(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => {
            let structured = output.structured.as_ref().map(Value::to_string);
            text(outcome) + &structured.unwrap_or_default()
        }
        _ => text(outcome),
    }
}

fn mentions(value: &Value, said: &str) -> Checked {
    let lower = said.to_lowercase();
    let all = listed(value).iter().all(|word| lower.contains(&word.to_lowercase()));
    hold(all, || said.to_owned())
}

fn counts(value: &Value, played: &Played, fits: fn(u64, u64) -> bool) -> Checked {
    for (on, wanted) in value.as_object().unwrap() {
        let found = matching(on, &played.requests)?.len() as u64;
        hold(fits(found, wanted.as_u64().unwrap()), || format!("{on}: {found}"))?;
    }
    Ok(())
}

/// The requests that a place such as `POST tools/call #2` means.
fn matching<'a>(on: &str, requests: &'a [Recorded]) -> Result<Vec<&'a Recorded>, String> {
    if on == "every" {
        return Ok(requests.iter().collect());
    }
    if let Some(rpc) = on.strip_prefix("every after ") {
        let after = requests.iter().skip_while(|request| request.rpc() != rpc);
        return Ok(after.filter(|request| request.rpc() != rpc).collect());
    }
    let (on, nth) = match on.split_once(" #") {
        Some((on, nth)) => (on, Some(nth.parse::<usize>().map_err(|fault| fault.to_string())?)),
        None => (on, None),
    };
    let (method, what) = on.split_once(' ').unwrap_or((on, ""));
    let fits = |request: &&Recorded| {
        request.method == method
            && (what.is_empty()
                || request.rpc() == what
                || request.target.split('?').next() == Some(what))
    };
    let all: Vec<_> = requests.iter().filter(fits).collect();
    Ok(match nth {
        Some(nth) => all.into_iter().skip(nth - 1).take(1).collect(),
        None => all,
    })
}

fn requests(value: &Value, requests: &[Recorded]) -> Checked {
    for check in value.as_array().unwrap() {
        let on = check["on"].as_str().unwrap();
        let found = matching(on, requests)?;
        hold(!found.is_empty(), || format!("no request is {on}"))?;
        // One of several requests at the same place is enough where a body is looked for.
        if check.get("body_rpc").is_some() {
            let any = found.iter().any(|request| check["body_rpc"] == request.rpc());
            hold(any, || format!("{check}"))?;
        }
        for request in found {
            one(check, request).map_err(|why| format!("{check}: {why}"))?;
        }
    }
    Ok(())
}

fn each_of(value: &Value, requests: &[&Recorded]) -> Checked {
    for check in value.as_array().unwrap() {
        for request in requests {
            one(check, request).map_err(|why| format!("{check}: {why}"))?;
        }
    }
    Ok(())
}

fn one(check: &Value, request: &Recorded) -> Checked {
    let header = check["header"].as_str().and_then(|name| request.header(name));
    for (key, value) in check.as_object().unwrap() {
        let holds = match key.as_str() {
            "on" | "header" | "pointer" | "body_rpc" => true,
            "equals" => header == value.as_str(),
            "present" => header.is_some() == value.as_bool().unwrap(),
            "absent" => header.is_none() == value.as_bool().unwrap(),
            "not_contains" => !header.unwrap_or_default().contains(value.as_str().unwrap()),
            "exists" => {
                let pointer = check["pointer"].as_str().unwrap();
                request.json().pointer(pointer).is_some() == value.as_bool().unwrap()
            }
            "query" => request.target.split_once('?').map(|(_, query)| query) == value.as_str(),
            other => return Err(format!("an unknown check: {other}")),
        };
        hold(holds, || format!("{header:?} in {request:?}"))?;
    }
    Ok(())
}

fn posts(value: &Value, played: &Played) -> Checked {
    for wanted in value.as_array().unwrap() {
        let found = played.requests.iter().any(|request| request.json() == *wanted);
        hold(found, || format!("{wanted} was not posted"))?;
    }
    Ok(())
}

fn limits(value: &Value, played: &Played) -> Checked {
    for (key, value) in value.as_object().unwrap() {
        let most = value.as_u64().unwrap();
        match key.as_str() {
            "seconds_max" => {
                hold(played.took <= Duration::from_secs(most), || format!("{:?}", played.took))?;
            }
            "message_chars_max" => {
                let said = played.state.reason();
                hold(said.chars().count() as u64 <= most, || said.to_owned())?;
            }
            other => return Err(format!("an unknown limit: {other}")),
        }
    }
    Ok(())
}

fn exit(value: &Value, played: &Played) -> Checked {
    let most = Duration::from_secs(value["seconds_max"].as_u64().unwrap());
    hold(played.ending <= most, || format!("{:?}", played.ending))?;
    hold(value["shows_error"] == false, || "only exits that show nothing are known".to_owned())?;
    let warned = played.events.iter().any(|kind| matches!(kind, ServerEventKind::Warned(_)));
    hold(!warned, || format!("{:?}", played.events))
}

fn warns(value: &Value, played: &Played) -> Checked {
    let count =
        played.events.iter().filter(|kind| matches!(kind, ServerEventKind::Warned(_))).count();
    hold((count == 1) == value.as_bool().unwrap(), || format!("{count} warnings"))
}

fn progressed(played: &Played) -> bool {
    played.events.iter().any(|kind| matches!(kind, ServerEventKind::Progress { .. }))
}
