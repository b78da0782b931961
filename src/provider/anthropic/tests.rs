use serde_json::json;

use super::*;
use crate::config::model::ProviderKind;
use crate::domain::ModelName;
use crate::domain::turn::{Message, RequestedCall, Usage};
use crate::provider::{Finish, ModelEvent, ProviderError, ProviderErrorKind, ToolOffer};

fn config() -> ModelConfig {
    ModelConfig {
        provider: ProviderKind::Anthropic,
        base_url: Url::parse("https://api.anthropic.com").unwrap(),
        name: "m".to_owned(),
        api_key: None,
        api_key_env: None,
        context_window: None,
        max_output_tokens: None,
        temperature: Some(1.5),
        headers: Vec::new(),
    }
}

fn decode(events: &[Value]) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    let frame =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let stream = events.iter().map(frame).collect::<Vec<_>>().concat();
    let mut decoder = decoder(&config(), Renames::default(), 7);
    let mut found = Vec::new();
    let result =
        decoder.push(stream.as_bytes(), &mut found).and_then(|()| decoder.finish(&mut found));
    (found, result)
}

fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ending(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

fn thinking_turn() -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 4,
            "cache_read_input_tokens": 10, "cache_creation_input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm"})),
        delta(0, &json!({"type": "signature_delta", "signature": "sig"})),
        stop(0),
        start(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "Looking"})),
        stop(1),
        start(2, &json!({"type": "tool_use", "id": "tu", "name": "look", "input": {}})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "{\"a\":"})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "1}"})),
        stop(2),
    ];
    events.extend(ending("tool_use"));
    events
}

fn look() -> RequestedCall {
    let arguments = json!({"a": 1}).as_object().cloned().unwrap();
    RequestedCall {
        provider_id: "tu".to_owned(),
        name: ModelName::from("look"),
        arguments: Ok(arguments.into()),
    }
}

#[test]
fn blocks_become_events_and_counts_are_added_up() {
    let (events, result) = decode(&thinking_turn());
    assert_eq!(result, Ok(()));
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": "sig"});
    let order = vec![Place::Thought, Place::Text(7), Place::Call];
    let kept = Kept { from: "api.anthropic.com:443 m".to_owned(), blocks: vec![block], order };
    let reasoning = Reasoning {
        text: "Hm".to_owned(),
        field: "thinking".to_owned(),
        signature: serde_json::to_string(&kept).ok(),
    };
    assert_eq!(
        events,
        [
            ModelEvent::Reasoning("Hm".to_owned()),
            ModelEvent::Text("Looking".to_owned()),
            ModelEvent::ReasoningDone(reasoning),
            ModelEvent::Call(look()),
            ModelEvent::Usage(Usage { input: Some(15), output: Some(9), cached: Some(10) }),
            ModelEvent::Finished(Finish::ToolCalls),
        ]
    );
}

#[test]
fn thinking_goes_back_unchanged_and_results_come_first() {
    let (events, _) = decode(&thinking_turn());
    let reasoning = events
        .into_iter()
        .find_map(|event| match event {
            ModelEvent::ReasoningDone(reasoning) => Some(reasoning),
            _ => None,
        })
        .unwrap();
    let messages = vec![
        Message::User { text: "x".to_owned() },
        Message::Assistant {
            text: "Looking".to_owned(),
            reasoning: Some(reasoning),
            calls: vec![look()],
            incomplete: false,
        },
        Message::User { text: "never mind".to_owned() },
    ];
    let asked = ModelRequest {
        system: "be brief".to_owned(),
        messages: messages.into(),
        tools: [ToolOffer {
            name: ModelName::from("look"),
            description: "looks".to_owned(),
            schema: json!({"type": "object", "properties": {}}).into(),
        }]
        .into(),
        max_output_tokens: None,
        temperature: None,
    };
    let body = request(&asked, &config(), Omit::default()).body;
    let cache = json!({"type": "ephemeral"});
    assert_eq!(body["max_tokens"], 8192);
    assert_eq!(body["temperature"], 1.0);
    assert_eq!(
        body["system"],
        json!([{"type": "text", "text": "be brief", "cache_control": cache}])
    );
    assert_eq!(body["tools"][0]["cache_control"], cache);
    let content = &body["messages"][1]["content"];
    let kinds: Vec<_> = content.as_array().unwrap().iter().map(|b| b["type"].clone()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(content[0], json!({"type": "thinking", "thinking": "Hm", "signature": "sig"}));
    let last = &body["messages"][2];
    assert_eq!(last["role"], "user");
    assert_eq!(last["content"][0]["tool_use_id"], "tu");
    assert_eq!(last["content"][0]["is_error"], true);
    let text = json!({"type": "text", "text": "never mind", "cache_control": cache});
    assert_eq!(last["content"][1], text);
}

#[test]
fn a_cut_stream_hands_over_no_call() {
    let events = thinking_turn();
    let (found, result) = decode(&events[..events.len() - 2]);
    assert_eq!(result, Ok(()));
    assert_eq!(found.last(), Some(&ModelEvent::Finished(Finish::Incomplete)));
    assert!(!found.iter().any(|event| matches!(event, ModelEvent::Call(_))));
}

#[test]
fn errors_in_the_stream_say_what_kind_they_are() {
    for (kind, expected) in [
        ("overloaded_error", ProviderErrorKind::Server),
        ("rate_limit_error", ProviderErrorKind::RateLimited),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "later"}});
        let error = decode(&[error]).1.unwrap_err();
        assert_eq!(error.kind, expected);
        assert!(error.message.contains("later"));
    }
}

#[test]
fn reasons_are_told_apart() {
    for (reason, expected) in
        [("end_turn", Finish::Stop), ("max_tokens", Finish::Length), ("refusal", Finish::Refused)]
    {
        let mut events = vec![start(0, &json!({"type": "text", "text": "x"}))];
        events.extend(ending(reason));
        assert_eq!(decode(&events).0.last(), Some(&ModelEvent::Finished(expected)));
    }
}

#[test]
fn the_base_may_leave_out_or_name_the_version() {
    for base in ["http://h", "http://h/v1/", "http://h/v1/messages"] {
        assert_eq!(url(&Url::parse(base).unwrap()).as_str(), "http://h/v1/messages");
    }
}

/// An answer that thinks before its text and once more before its call.
fn interleaved() -> Message {
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 4}}}),
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "first"})),
        delta(0, &json!({"type": "signature_delta", "signature": "s1"})),
        stop(0),
        start(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "Grüß "})),
        delta(1, &json!({"type": "text_delta", "text": "Gott"})),
        stop(1),
        start(2, &json!({"type": "redacted_thinking", "data": "d"})),
        stop(2),
        start(3, &json!({"type": "text", "text": "\n"})),
        stop(3),
        start(4, &json!({"type": "tool_use", "id": "tu", "name": "look", "input": {"a": 1}})),
        stop(4),
    ];
    events.extend(ending("tool_use"));
    let (events, result) = decode(&events);
    assert_eq!(result, Ok(()));
    let (mut text, mut reasoning, mut calls) = (String::new(), None, Vec::new());
    for event in events {
        match event {
            ModelEvent::Text(piece) => text.push_str(&piece),
            ModelEvent::ReasoningDone(done) => reasoning = Some(done),
            ModelEvent::Call(call) => calls.push(call),
            _ => {}
        }
    }
    Message::Assistant { text, reasoning, calls, incomplete: false }
}

fn sent(config: &ModelConfig, answer: Message) -> Vec<String> {
    let request = ModelRequest {
        system: String::new(),
        messages: vec![Message::User { text: "x".to_owned() }, answer].into(),
        tools: [].into(),
        max_output_tokens: None,
        temperature: None,
    };
    let body = super::request(&request, config, Omit::default()).body;
    let blocks = body["messages"][1]["content"].as_array().unwrap();
    blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn thinking_between_other_blocks_goes_back_to_its_place() {
    let expected = ["thinking", "text", "redacted_thinking", "tool_use"];
    assert_eq!(sent(&config(), interleaved()), expected);
}

#[test]
fn thinking_of_another_model_or_endpoint_is_not_handed_back() {
    let other_model = ModelConfig { name: "n".to_owned(), ..config() };
    let other_place =
        ModelConfig { base_url: Url::parse("https://proxy.example").unwrap(), ..config() };
    for config in [other_model, other_place] {
        assert_eq!(sent(&config, interleaved()), ["text", "tool_use"]);
    }
}

#[test]
fn an_order_that_is_not_that_of_the_message_is_passed_over() {
    let Message::Assistant { reasoning, calls, incomplete, .. } = interleaved() else { panic!() };
    let cut = Message::Assistant { text: "Gr".to_owned(), reasoning, calls, incomplete };
    let expected = ["thinking", "redacted_thinking", "text", "tool_use"];
    assert_eq!(sent(&config(), cut), expected);
}
