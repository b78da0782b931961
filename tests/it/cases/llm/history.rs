//! Histories: the request that a stored conversation becomes.

use std::sync::Arc;

use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::domain::{Message, ModelName, RequestedCall};
use mini_me_tui::provider::openai::{self, Omit};
use serde_json::{Value, json};

use super::{Faults, cases, config, input, report, request, unjudged};

#[test]
fn stored_conversations_become_requests_that_are_accepted() {
    let failed = cases("history").into_iter().map(|(path, expected)| {
        let stored: Value = serde_json::from_slice(&input(&path, &expected["input"])).unwrap();
        let messages = stored["messages"].as_array().unwrap().iter().map(message).collect();
        let config = config(ProviderKind::OpenAi, "http://localhost:1/v1", "m");
        let sent = openai::request(&request(messages), &config, Omit::default()).body;
        (expected["case"].to_string(), judge(&sent["messages"], &expected))
    });
    report(failed.collect());
}

fn judge(sent: &Value, expected: &Value) -> Faults {
    let sent = sent.as_array().unwrap();
    let told = || sent.iter().filter(|message| message["role"] == "tool");
    let mut faults = Faults::new();
    let roles: Value = sent.iter().map(|message| message["role"].clone()).collect();
    if roles != expected["request_roles"] {
        faults.push(format!("roles are {roles}"));
    }
    let ids: Value = told().map(|message| message["tool_call_id"].clone()).collect();
    if ids != expected["tool_ids_in_order"] {
        faults.push(format!("tool ids are {ids}"));
    }
    for (id, parts) in expected["content_contains"].as_object().unwrap() {
        let content = told().find(|message| message["tool_call_id"] == *id).unwrap()["content"]
            .to_string()
            .to_lowercase();
        let mut parts = parts.as_array().unwrap().iter();
        let holds = |part: &Value| content.contains(part.as_str().unwrap());
        let held = match expected["content_contains_mode"].as_str() {
            Some("any") => parts.any(holds),
            _ => parts.all(holds),
        };
        if !held {
            faults.push(format!("{id} is told {content}"));
        }
    }
    let judged =
        ["request_roles", "tool_ids_in_order", "content_contains", "content_contains_mode"];
    faults.extend(unjudged(expected, &judged));
    faults
}

fn message(stored: &Value) -> Message {
    let text = || stored["content"].as_str().unwrap_or_default().to_owned();
    match stored["role"].as_str().unwrap() {
        "user" => Message::User { text: text() },
        "tool" => Message::Result {
            provider_id: stored["tool_call_id"].as_str().unwrap().to_owned(),
            call: None,
            name: ModelName::from("any"),
            text: Arc::from(text()),
            is_error: false,
        },
        "assistant" => Message::Assistant {
            text: text(),
            reasoning: None,
            calls: stored["tool_calls"].as_array().into_iter().flatten().map(call).collect(),
            incomplete: false,
        },
        other => panic!("a message of role {other}: {}", json!(stored)),
    }
}

fn call(stored: &Value) -> RequestedCall {
    let function = &stored["function"];
    let arguments = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
    RequestedCall {
        provider_id: stored["id"].as_str().unwrap().to_owned(),
        name: ModelName::from(function["name"].as_str().unwrap()),
        arguments: Ok(Arc::new(arguments)),
    }
}
