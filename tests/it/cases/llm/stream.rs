//! Streams: what an answer's bytes become, however they are cut.

use mini_me_tui::config::ModelConfig;
use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::turn::Reasoning;
use mini_me_tui::domain::{Message, RequestedCall, Usage};
use mini_me_tui::provider::openai::Omit;
use mini_me_tui::provider::{
    Decoder, Finish, ModelEvent, ProviderError, Renames, anthropic, openai,
};
use serde_json::{Value, json};

use super::{Faults, cases, config, input, report, request, unjudged};

/// A provider that wants reasoning back, for the cases that ask for one.
const WANTS_REASONING: &str = "https://api.deepseek.com/v1";

/// The program behind these has a part in them; its own tests judge that part.
const OF_THE_TURN: [&str; 4] = ["tool_runs", "approval_dialogs", "requests_max", "shown_contains"];

#[derive(Debug, Default, PartialEq)]
struct Answer {
    text: String,
    reasoning: String,
    kept: Option<Reasoning>,
    calls: Vec<RequestedCall>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    error: Option<ProviderError>,
}

#[test]
fn answers_are_read_as_expected_however_they_are_cut() {
    let failed = cases("llm-stream").into_iter().map(|(path, expected)| {
        let config = match expected["dialect"].as_str() {
            Some("anthropic") => config(ProviderKind::Anthropic, "https://api.anthropic.com", "m"),
            _ => config(ProviderKind::OpenAi, WANTS_REASONING, "m"),
        };
        let mut faults = Faults::new();
        let inputs =
            std::iter::once(&expected).chain(expected["also"].as_array().into_iter().flatten());
        for expected in inputs {
            faults.extend(judge(&input(&path, &expected["input"]), expected, &config));
        }
        (expected["case"].to_string(), faults)
    });
    report(failed.collect());
}

fn judge(bytes: &[u8], expected: &Value, config: &ModelConfig) -> Faults {
    let whole = read(&[bytes], config);
    for size in sizes(expected, bytes.len()) {
        let pieces: Vec<_> = bytes.chunks(size).collect();
        let cut = read(&pieces, config);
        if cut != whole {
            return vec![format!("in pieces of {size}: {cut:?} instead of {whole:?}")];
        }
    }
    let mut faults = compare(&whole, expected);
    faults.extend(next_request(&whole, expected, config));
    let judged = [
        "text",
        "text_compare",
        "reasoning",
        "tool_calls",
        "finish",
        "usage",
        "error",
        "either",
        "continues",
        "refusal",
        "next_request",
        "also",
    ];
    faults.extend(unjudged(expected, &[&judged[..], &OF_THE_TURN[..]].concat()));
    faults
}

/// The sizes that the case names, and every small one.
fn sizes(expected: &Value, length: usize) -> Vec<usize> {
    let named = expected["feed"].as_array().into_iter().flatten();
    let named =
        named.filter_map(|feed| feed["bytes"].as_u64()).map(|size| usize::try_from(size).unwrap());
    (1..=64).chain(named).chain([length.div_ceil(2).max(1)]).collect()
}

fn read(pieces: &[&[u8]], config: &ModelConfig) -> Answer {
    let mut decoder: Decoder = match config.provider {
        ProviderKind::Anthropic => anthropic::decoder(config, Renames::default(), 1),
        _ => openai::decoder(config, Renames::default(), 1),
    };
    let mut events = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.push(piece, &mut events));
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    let mut answer = Answer { error: result.err(), ..Answer::default() };
    for event in events {
        match event {
            ModelEvent::Text(piece) => answer.text.push_str(&piece),
            ModelEvent::Reasoning(piece) => answer.reasoning.push_str(&piece),
            ModelEvent::ReasoningDone(reasoning) => answer.kept = Some(reasoning),
            ModelEvent::Call(call) => answer.calls.push(call),
            ModelEvent::Usage(usage) => answer.usage = Some(usage),
            ModelEvent::Finished(finish) => answer.finish = Some(finish),
            ModelEvent::Retrying { .. } | ModelEvent::Warned(_) => {}
        }
    }
    answer
}

fn compare(answer: &Answer, expected: &Value) -> Faults {
    let mut faults = Faults::new();
    let mut same = |what: &str, found: Value, wanted: &Value| {
        if found != *wanted {
            faults.push(format!("{what} is {found} instead of {wanted}"));
        }
    };
    let text = match expected["text_compare"].as_str() {
        Some("trim_start") => answer.text.trim_start(),
        _ => &answer.text,
    };
    // A refusal is shown as the answer's text.
    let wanted = expected.get("refusal").unwrap_or_else(|| &expected["text"]);
    same("text", json!(text), wanted);
    same(
        "refused",
        json!(answer.finish == Some(Finish::Refused)),
        &json!(expected.get("refusal").is_some()),
    );
    same("reasoning", json!(answer.reasoning), &expected["reasoning"]);
    same("tool_calls", calls(answer, &expected["tool_calls"]), &expected["tool_calls"]);
    if let Some(usage) = expected["usage"].as_object() {
        let found = answer.usage.unwrap_or_default();
        same("prompt_tokens", json!(found.input), &usage["prompt_tokens"]);
        same("completion_tokens", json!(found.output), &usage["completion_tokens"]);
    }
    let finish = finish(answer);
    let mut allowed = vec![&expected["finish"]];
    allowed.extend(expected["either"].as_array().into_iter().flatten().map(|one| &one["finish"]));
    let goes_on = expected["continues"] == true && answer.finish == Some(Finish::ToolCalls);
    if !goes_on && !allowed.iter().any(|allowed| **allowed == finish) {
        faults.push(format!("finish is {finish} instead of {allowed:?}"));
    }
    match (&answer.error, expected["error"]["message_contains"].as_str()) {
        (None, None) => {}
        (Some(error), Some(part)) if error.message.contains(part) => {}
        (found, wanted) => faults.push(format!("error is {found:?} instead of {wanted:?}")),
    }
    faults
}

/// The calls in the words of the case.
fn calls(answer: &Answer, expected: &Value) -> Value {
    let calls = answer.calls.iter().enumerate().map(|(place, call)| {
        let any_id = expected[place]["id"] == "*" && !call.provider_id.is_empty();
        let id = if any_id { "*" } else { &call.provider_id };
        match &call.arguments {
            Ok(arguments) => {
                json!({"id": id, "name": call.name.as_str(), "arguments": **arguments})
            }
            Err(_) => json!({"id": id, "name": call.name.as_str(), "arguments_error": true}),
        }
    });
    calls.collect()
}

fn finish(answer: &Answer) -> &'static str {
    match answer.finish {
        _ if answer.error.is_some() => "error",
        Some(Finish::Stop | Finish::Refused) => "stop",
        Some(Finish::ToolCalls) => "tool_calls",
        Some(Finish::Length) => "length",
        Some(Finish::ContentFilter) => "content_filter",
        Some(Finish::Incomplete) => "incomplete",
        Some(Finish::Empty) => "empty",
        None => "nothing",
    }
}

/// The request that follows this answer.
fn next_request(answer: &Answer, expected: &Value, config: &ModelConfig) -> Faults {
    let Some(wanted) = expected["next_request"].as_object() else { return Faults::new() };
    let messages = vec![
        Message::User { text: "go".to_owned() },
        Message::Assistant {
            text: answer.text.clone(),
            reasoning: answer.kept.clone(),
            calls: answer.calls.clone(),
            incomplete: false,
        },
    ];
    let sent = openai::request(&request(messages), config, Omit::default()).body;
    let assistant = &sent["messages"][1];
    let mut faults = Faults::new();
    for (key, wanted) in wanted {
        match key.as_str() {
            "assistant_arguments_type" => {
                let arguments = &assistant["tool_calls"][0]["function"]["arguments"];
                if wanted != "string" || !arguments.is_string() {
                    faults.push(format!("arguments are sent as {arguments}"));
                }
            }
            "assistant_field" => {
                for (field, text) in wanted.as_object().unwrap() {
                    if assistant.get(field) != Some(text) {
                        faults.push(format!("{field} is sent as {:?}", assistant.get(field)));
                    }
                }
            }
            "tool_message_for" => {
                let told = sent["messages"].as_array().unwrap().iter();
                let told: Vec<_> = told.filter_map(|it| it.get("tool_call_id")).cloned().collect();
                if json!(told) != *wanted {
                    faults.push(format!("tool messages are sent for {told:?}"));
                }
            }
            // What the message says is up to the turn.
            "when" | "tool_message_contains_any" | "tool_message_chars_max" => {}
            other => faults.push(format!("the driver does not know what {other} expects")),
        }
    }
    faults
}
