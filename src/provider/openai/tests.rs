use serde_json::json;
use url::Url;

use super::*;
use crate::config::model::ProviderKind;
use crate::domain::ModelName;
use crate::domain::turn::{BadArguments, Message, Reasoning, RequestedCall, Usage};
use crate::provider::{Finish, ModelEvent, ProviderError, ProviderErrorKind, ToolOffer};

fn config(base: &str) -> ModelConfig {
    ModelConfig::new(ProviderKind::OpenAi, Url::parse(base).unwrap(), "m".to_owned())
}

fn asking(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: "be brief".to_owned(),
        messages: messages.into(),
        tools: [ToolOffer {
            name: ModelName::from("look"),
            description: "looks".to_owned(),
            schema: json!({"type": "object"})
                .as_object()
                .cloned()
                .map(Value::Object)
                .unwrap()
                .into(),
        }]
        .into(),
        max_output_tokens: Some(99),
        temperature: Some(0.5),
    }
}

fn user(text: &str) -> Message {
    Message::User { text: text.to_owned() }
}

fn calling(reasoning: Option<Reasoning>, calls: Vec<RequestedCall>) -> Message {
    Message::Assistant { text: String::new(), reasoning, calls, incomplete: false }
}

fn call(id: &str, name: &str, arguments: &Value) -> RequestedCall {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    RequestedCall {
        provider_id: id.to_owned(),
        name: ModelName::from(name),
        arguments: Ok(arguments.into()),
    }
}

fn body(config: &ModelConfig, messages: Vec<Message>) -> Value {
    request(&asking(messages), config, Omit::default()).body
}

fn sse(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<Vec<_>>().concat()
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn decode(stream: &str) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    let mut decoder = decoder(&config("http://localhost/v1"), Renames::default(), 7);
    let mut events = Vec::new();
    let result =
        decoder.push(stream.as_bytes(), &mut events).and_then(|()| decoder.finish(&mut events));
    (events, result)
}

fn text(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| match event {
        ModelEvent::Text(text) => text.clone(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

#[test]
fn a_request_holds_everything_that_was_asked_for() {
    let body = body(&config("http://localhost:1/v1"), vec![user("hi")]);
    assert_eq!(
        body,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "hi"},
            ],
            "tools": [{"type": "function", "function":
                {"name": "look", "description": "looks", "parameters": body["tools"][0]["function"]["parameters"]}}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "temperature": 0.5,
            "max_tokens": 99,
        })
    );
}

#[test]
fn the_limit_goes_by_the_name_that_the_endpoint_takes() {
    let openai = body(&config("https://api.openai.com/v1"), vec![user("hi")]);
    assert_eq!(openai["max_completion_tokens"], 99);
    assert!(openai.get("max_tokens").is_none());
    let omit = Omit { other_limit_name: true, ..Omit::default() };
    let other = request(&asking(vec![user("hi")]), &config("https://gw.example/v1"), omit).body;
    assert_eq!(other["max_completion_tokens"], 99);
}

#[test]
fn what_is_left_out_is_not_sent() {
    let omit = Omit { tools: true, stream_options: true, temperature: true, ..Omit::default() };
    let sent = request(&asking(vec![user("hi")]), &config("http://localhost/v1"), omit).body;
    for member in ["tools", "stream_options", "temperature"] {
        assert!(sent.get(member).is_none(), "{member}");
    }
}

#[test]
fn results_follow_their_calls_and_arguments_are_text() {
    let bad = RequestedCall {
        provider_id: "k2".to_owned(),
        name: ModelName::from("no such.tool"),
        arguments: Err(BadArguments { raw: "{\"a".to_owned(), fault: "not JSON".to_owned() }),
    };
    let sent = body(
        &config("http://localhost/v1"),
        vec![
            user("both"),
            calling(None, vec![call("k1", "look", &json!({"a": 1})), bad]),
            Message::Result {
                provider_id: "k1".to_owned(),
                call: None,
                name: ModelName::from("look"),
                text: "done".into(),
                is_error: false,
            },
            user("say hi"),
        ],
    );
    let messages = sent["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    let calls = &messages[2]["tool_calls"];
    assert_eq!(calls[0]["function"]["arguments"], "{\"a\":1}");
    assert_eq!(calls[1]["function"], json!({"name": "no_such_tool", "arguments": "{}"}));
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "k1", "content": "done"}));
    assert_eq!(messages[4]["tool_call_id"], "k2");
    assert!(messages[4]["content"].as_str().unwrap().contains("cancelled"));
}

#[test]
fn reasoning_goes_back_to_the_endpoint_it_came_from_and_nowhere_else() {
    let here = config("https://api.deepseek.com/v1");
    let mut decoder = decoder(&here, Renames::default(), 7);
    let mut events = Vec::new();
    let stream = sse(&[
        delta(&json!({"reasoning_content": "Must ask."})),
        delta(&json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "look"}}]})),
        finish("tool_calls"),
    ]);
    decoder.push(stream.as_bytes(), &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let reasoning = events
        .iter()
        .find_map(|event| match event {
            ModelEvent::ReasoningDone(reasoning) => Some(reasoning.clone()),
            _ => None,
        })
        .unwrap();
    let history =
        || vec![user("x"), calling(Some(reasoning.clone()), vec![call("t", "look", &json!({}))])];
    let sent_to = |base: &str| body(&config(base), history())["messages"][2].clone();
    assert_eq!(sent_to("https://api.deepseek.com/v1")["reasoning_content"], "Must ask.");
    for other in ["https://api.moonshot.ai/v1", "https://api.groq.com/openai/v1"] {
        assert!(sent_to(other).get("reasoning_content").is_none(), "{other}");
    }
}

#[test]
fn what_an_endpoint_wants_back_with_a_call_goes_back_with_it() {
    let here = config("https://generativelanguage.googleapis.com/v1beta/openai");
    let extra = json!({"google": {"thought_signature": "abc"}});
    let stream = sse(&[
        delta(&json!({"tool_calls": [{"index": 0, "id": "t", "extra_content": extra,
            "function": {"name": "look", "arguments": "{}"}}]})),
        finish("stop"),
    ]);
    let mut decoder = decoder(&here, Renames::default(), 7);
    let mut events = Vec::new();
    decoder.push(stream.as_bytes(), &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let Some(ModelEvent::ReasoningDone(kept)) = events.first().cloned() else {
        panic!("{events:?}")
    };
    let history = vec![user("x"), calling(Some(kept), vec![call("t", "look", &json!({}))])];
    let sent = body(&here, history);
    assert_eq!(sent["messages"][2]["tool_calls"][0]["extra_content"], extra);
}

#[test]
fn typed_reasoning_of_a_router_goes_back_as_it_came() {
    let here = config("https://openrouter.ai/api/v1");
    let part = |more: Value| {
        let mut part = json!({"type": "reasoning.text", "index": 0});
        part.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        part
    };
    let sealed = json!({"type": "reasoning.encrypted", "index": 1, "data": "xyz"});
    let stream = sse(&[
        delta(
            &json!({"reasoning": "a", "reasoning_details": [part(json!({"text": "a", "signature": null}))]}),
        ),
        delta(
            &json!({"reasoning": "b", "reasoning_details": [part(json!({"text": "b", "signature": "s"}))]}),
        ),
        delta(&json!({"reasoning_details": [sealed]})),
        delta(&json!({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "look"}}]})),
        finish("tool_calls"),
    ]);
    let mut decoder = decoder(&here, Renames::default(), 7);
    let mut events = Vec::new();
    decoder.push(stream.as_bytes(), &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    let kept = events.iter().find_map(|event| match event {
        ModelEvent::ReasoningDone(kept) => Some(kept.clone()),
        _ => None,
    });
    let history = vec![user("x"), calling(kept, vec![call("t", "look", &json!({}))])];
    let sent = &body(&here, history)["messages"][2];
    let whole = part(json!({"text": "ab", "signature": "s"}));
    assert_eq!(sent["reasoning_details"], json!([whole, sealed]));
    assert!(sent.get("reasoning").is_none());
}

#[test]
fn without_tools_earlier_calls_and_results_become_text() {
    let omit = Omit { tools: true, ..Omit::default() };
    let history = vec![user("x"), calling(None, vec![call("t", "look", &json!({"a": 1}))])];
    let sent = request(&asking(history), &config("http://localhost/v1"), omit).body;
    let messages = &sent["messages"];
    assert_eq!(messages[2]["content"], "[called look with {\"a\":1}]");
    assert!(messages[2].get("tool_calls").is_none());
    assert_eq!(messages[3]["role"], "user");
}

#[test]
fn urls_are_built_below_the_base_and_keep_its_query() {
    let cases = [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h", "http://h/chat/completions"),
        ("http://h/d?api-version=1", "http://h/d/chat/completions?api-version=1"),
    ];
    for (base, expected) in cases {
        assert_eq!(url(&Url::parse(base).unwrap()).as_str(), expected);
    }
}

#[test]
fn one_json_value_instead_of_a_stream_is_a_whole_answer() {
    let answer = json!({"choices": [{"message": {"content": "Plain", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}});
    let (events, result) = decode(&format!("\n {answer:#}\n"));
    assert_eq!(result, Ok(()));
    assert_eq!(
        events,
        [
            ModelEvent::Text("Plain".to_owned()),
            ModelEvent::Call(call("a", "look", &json!({}))),
            ModelEvent::Usage(Usage { input: Some(3), output: Some(2), cached: None }),
            ModelEvent::Finished(Finish::ToolCalls),
        ]
    );
    let (_, error) = decode(r#"{"error": {"message": "no seats left"}}"#);
    assert!(error.unwrap_err().message.contains("no seats left"));
    assert!(decode("{\"cut").1.is_err());
    assert!(decode("{\"hello\": 1}").1.is_err());
}

#[test]
fn a_cut_stream_hands_over_no_call() {
    let stream = sse(&[
        delta(&json!({"content": "Writing"})),
        delta(&json!({"tool_calls": [{"index": 0, "id": "a",
            "function": {"name": "look", "arguments": "{}"}}]})),
    ]);
    let (events, result) = decode(&stream);
    assert_eq!(result, Ok(()));
    let expected =
        [ModelEvent::Text("Writing".to_owned()), ModelEvent::Finished(Finish::Incomplete)];
    assert_eq!(events, expected);
}

#[test]
fn calls_are_run_whatever_reason_is_given() {
    let asked = delta(&json!({"tool_calls": [{"id": "a", "function": {"name": "look"}}]}));
    for reason in ["stop", "eos", "tool_calls"] {
        let (events, _) = decode(&sse(&[asked.clone(), finish(reason)]));
        assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::ToolCalls)), "{reason}");
        assert_eq!(events.len(), 2);
    }
}

#[test]
fn a_reason_without_its_call_is_told() {
    let (events, _) = decode(&sse(&[delta(&json!({"content": "x"})), finish("tool_calls")]));
    assert!(matches!(&events[1], ModelEvent::Warned(told) if told.contains("no call")));
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Stop)));
}

#[test]
fn reasons_are_told_apart() {
    for (reason, expected) in [
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("stop", Finish::Stop),
    ] {
        let (events, _) = decode(&sse(&[delta(&json!({"content": "x"})), finish(reason)]));
        assert_eq!(events.last(), Some(&ModelEvent::Finished(expected)));
    }
    let (events, _) = decode(&sse(&[finish("stop")]));
    assert_eq!(events, [ModelEvent::Finished(Finish::Empty)]);
    let (events, _) = decode(&(sse(&[delta(&json!({"content": "x"}))]) + "data: [DONE]\n\n"));
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Stop)));
}

#[test]
fn a_refusal_is_text_and_says_that_it_is_one() {
    let stream = sse(&[
        delta(&json!({"content": null, "refusal": "I cannot "})),
        delta(&json!({"refusal": "help."})),
        finish("stop"),
    ]);
    let (events, _) = decode(&stream);
    assert_eq!(text(&events), "I cannot help.");
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Refused)));
}

#[test]
fn an_error_in_the_stream_keeps_the_text_before_it() {
    let error = json!({"choices": [], "error": {"code": 429, "message": "later"}});
    let stream = sse(&[delta(&json!({"content": "Hel"})), error]) + "data: [DONE]\n\n";
    let (events, result) = decode(&stream);
    assert_eq!(events, [ModelEvent::Text("Hel".to_owned())]);
    assert_eq!(result.unwrap_err().kind, ProviderErrorKind::RateLimited);
    for stream in ["event: error\ndata: worker died\n\n", "data: {broken\n\n"] {
        assert_eq!(decode(stream).1.unwrap_err().kind, ProviderErrorKind::Broken);
    }
}

#[test]
fn reasoning_sent_under_two_names_is_taken_once() {
    let stream = sse(&[
        delta(&json!({"reasoning": "Hm", "reasoning_content": "Hm"})),
        delta(&json!({"content": "x"})),
        finish("stop"),
    ]);
    let reasoning: Vec<_> = decode(&stream)
        .0
        .into_iter()
        .filter(|event| matches!(event, ModelEvent::Reasoning(_)))
        .collect();
    assert_eq!(reasoning, [ModelEvent::Reasoning("Hm".to_owned())]);
}

#[test]
fn parts_that_cannot_be_shown_are_told_once() {
    let image = delta(&json!({"content": [{"type": "image_url"}, {"type": "image_url"}]}));
    let (events, _) = decode(&sse(&[image, finish("stop")]));
    let told = |event: &&ModelEvent| matches!(event, ModelEvent::Warned(_));
    assert_eq!(events.iter().filter(told).count(), 1);
}

#[test]
fn comments_and_counts_on_every_chunk_do_no_harm() {
    let mut counted = delta(&json!({"content": "x"}));
    counted["usage"] = json!({"prompt_tokens": 5, "completion_tokens": 1});
    let stream = format!(": OPENROUTER PROCESSING\n\n{}", sse(&[counted, finish("stop")]));
    let (events, _) = decode(&stream);
    let usage = Usage { input: Some(5), output: Some(1), cached: None };
    let expected = [
        ModelEvent::Text("x".to_owned()),
        ModelEvent::Usage(usage),
        ModelEvent::Finished(Finish::Stop),
    ];
    assert_eq!(events, expected);
}

#[test]
fn nothing_after_the_end_mark_counts() {
    let stream = sse(&[delta(&json!({"content": "x"})), finish("stop")])
        + "data: [DONE]\n\ndata: {broken\n\n";
    assert_eq!(decode(&stream).1, Ok(()));
}

mod any_cut {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hostile_streams_never_panic_and_cuts_do_not_matter(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("data: {\"choices\":[{\"delta\":{\"content\":\"<think>a\"}}]}\n\n".to_owned()),
                    Just("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"n\",\"arguments\":\"{\"}}]}}]}\n\n".to_owned()),
                    Just("data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\r\n\r\n".to_owned()),
                    Just("data: [DONE]\n\n".to_owned()),
                    "[ -~\n]{0,20}",
                ],
                0..8,
            ),
            step in 1usize..20,
        ) {
            let stream: String = pieces.concat();
            let whole = decode(&stream);
            let mut decoder = decoder(&config("http://localhost/v1"), Renames::default(), 7);
            let mut events = Vec::new();
            let mut result = Ok(());
            for bytes in stream.as_bytes().chunks(step) {
                result = decoder.push(bytes, &mut events);
                if result.is_err() {
                    break;
                }
            }
            if result.is_ok() {
                result = decoder.finish(&mut events);
            }
            prop_assert_eq!((events, result), whole);
        }
    }
}

#[test]
fn ids_of_other_makers_become_ones_that_mistral_takes() {
    let messages =
        || vec![user("x"), calling(None, vec![call("toolu_01AbCdEf", "look", &json!({}))])];
    let ids = |base: &str| {
        let sent = body(&config(base), messages());
        let [.., asked, told] = &sent["messages"].as_array().unwrap()[..] else { panic!("{sent}") };
        assert_eq!(asked["tool_calls"][0]["id"], told["tool_call_id"]);
        told["tool_call_id"].as_str().unwrap().to_owned()
    };
    assert_eq!(ids("https://api.openai.com/v1"), "toolu_01AbCdEf");
    let id = ids("https://api.mistral.ai/v1");
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(id, ids("https://api.mistral.ai/v1"));
}

#[test]
fn a_user_of_mistral_never_speaks_right_after_results() {
    let asked = calling(None, vec![call("abcdefgh1", "look", &json!({}))]);
    let sent =
        body(&config("https://api.mistral.ai/v1"), vec![user("x"), asked, user("never mind")]);
    let roles: Vec<_> = sent["messages"].as_array().unwrap().iter().map(|m| &m["role"]).collect();
    assert_eq!(roles[1..], ["user", "assistant", "tool", "assistant", "user"]);
}
