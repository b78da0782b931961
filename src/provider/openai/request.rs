//! Conversation in, request body out.

use serde_json::{Map, Value, json};

use super::{Kept, Omit, Sent, origin, target, wants_reasoning};
use crate::config::ModelConfig;
use crate::domain::turn::{Reasoning, RequestedCall};
use crate::provider::ModelRequest;
use crate::provider::arguments::made_up_id;
use crate::provider::history::{Step, Told, sent_name, steps};
use crate::provider::place::is_host;
use crate::provider::rename::Renames;
use crate::schema::adapt::adapt;

/// What the model is made to have said where a turn was cancelled or failed after its calls.
const NO_ANSWER: &str = "(The turn ended here, before an answer.)";

pub(super) fn build(request: &ModelRequest, config: &ModelConfig, omit: Omit) -> Sent {
    let (tools, renames) = tools(request, config);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(config.name));
    body.insert("messages".to_owned(), messages(request, config, &renames, omit));
    if !tools.is_empty() && !omit.tools {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    body.insert("stream".to_owned(), json!(true));
    // Mistral counts without being asked and refuses the member.
    if !omit.stream_options && !is_host(&config.base_url, "mistral.ai") {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some(temperature) = request.temperature.or(config.temperature)
        && !omit.temperature
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = request.max_output_tokens.or(config.max_output_tokens) {
        body.insert(limit_name(config, omit).to_owned(), json!(limit));
    }
    Sent { body: Value::Object(body), renames }
}

fn limit_name(config: &ModelConfig, omit: Omit) -> &'static str {
    let new_name = is_host(&config.base_url, "api.openai.com");
    if new_name == omit.other_limit_name { "max_tokens" } else { "max_completion_tokens" }
}

fn tools(request: &ModelRequest, config: &ModelConfig) -> (Vec<Value>, Renames) {
    let target = target(&config.base_url);
    let mut renames = Renames::default();
    let tools = request.tools.iter().map(|offer| {
        let adapted = adapt(&offer.schema, target);
        let schema = renames.add(&offer.name, adapted);
        json!({
            "type": "function",
            "function": {
                "name": offer.name.as_str(),
                "description": offer.description,
                "parameters": schema,
            },
        })
    });
    (tools.collect(), renames)
}

fn messages(request: &ModelRequest, config: &ModelConfig, renames: &Renames, omit: Omit) -> Value {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for step in steps(&request.messages) {
        match step {
            Step::User(text) => {
                if wants_an_end(config) && messages.last().is_some_and(|it| it["role"] == "tool") {
                    messages.push(json!({"role": "assistant", "content": NO_ANSWER}));
                }
                add_user(&mut messages, text);
            }
            Step::Model { text, calls, .. } if omit.tools => {
                told_as_text(text, &calls, &mut messages);
            }
            Step::Model { text, reasoning, calls } => {
                let kept = reasoning.and_then(|reasoning| kept(reasoning, config));
                let asked = calls.iter().map(|(call, _)| *call);
                let asked: Vec<_> =
                    asked.map(|call| tool_call(call, config, renames, kept.as_ref())).collect();
                let reasoning = reasoning.zip(kept.as_ref());
                messages.push(assistant(text, asked, reasoning, config));
                messages.extend(calls.iter().map(|(call, told)| {
                    let id = sent_id(&call.provider_id, config);
                    json!({"role": "tool", "tool_call_id": id, "content": told.text})
                }));
            }
        }
    }
    Value::Array(messages)
}

/// Mistral's endpoint and the chat templates of its models refuse a user right after results.
fn wants_an_end(config: &ModelConfig) -> bool {
    is_host(&config.base_url, "mistral.ai") || config.name.to_lowercase().contains("stral")
}

/// Chat templates of local models demand that roles take turns: what the user says twice in a row (a
/// turn that failed, a summary) is one message.
fn add_user(messages: &mut Vec<Value>, text: &str) {
    if let Some(last) = messages.last_mut()
        && last["role"] == "user"
        && let Some(Value::String(content)) = last.get_mut("content")
    {
        content.push_str("\n\n");
        content.push_str(text);
        return;
    }
    messages.push(json!({"role": "user", "content": text}));
}

fn assistant(
    text: &str,
    calls: Vec<Value>,
    reasoning: Option<(&Reasoning, &Kept)>,
    config: &ModelConfig,
) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".to_owned(), content);
    if calls.is_empty() {
        return Value::Object(message);
    }
    // Only for messages with calls: elsewhere it is refused or thrown away.
    if let Some((reasoning, kept)) = reasoning
        && wants_reasoning(&config.base_url)
    {
        if !kept.details.is_empty() {
            message.insert("reasoning_details".to_owned(), json!(kept.details));
        } else if !reasoning.field.is_empty() {
            message.insert(reasoning.field.clone(), json!(reasoning.text));
        }
    }
    message.insert("tool_calls".to_owned(), Value::Array(calls));
    Value::Object(message)
}

/// Where tools are left out, earlier calls and their results would be refused: they become text.
fn told_as_text(text: &str, calls: &[(&RequestedCall, Told<'_>)], messages: &mut Vec<Value>) {
    let none = Renames::default();
    let asked = calls
        .iter()
        .map(|(call, _)| format!("[called {} with {}]", call.name, arguments(call, &none)));
    let said: Vec<_> =
        (!text.is_empty()).then(|| text.to_owned()).into_iter().chain(asked).collect();
    messages.push(json!({"role": "assistant", "content": said.join("\n")}));
    if !calls.is_empty() {
        let told = calls.iter().map(|(call, told)| format!("[{} gave: {}]", call.name, told.text));
        let told: Vec<_> = told.collect();
        add_user(messages, &told.join("\n"));
    }
}

/// What was kept beside a message's reasoning, if it came from this very endpoint and model.
fn kept(reasoning: &Reasoning, config: &ModelConfig) -> Option<Kept> {
    let kept: Kept = serde_json::from_str(reasoning.signature.as_deref()?).ok()?;
    (kept.from == origin(config)).then_some(kept)
}

/// The id of a call as this endpoint takes it. Mistral refuses ids of other makers: they come from
/// a conversation that was begun elsewhere.
fn sent_id(id: &str, config: &ModelConfig) -> String {
    let fits = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if fits || !is_host(&config.base_url, "mistral.ai") {
        return id.to_owned();
    }
    // FNV-1a: the same id becomes the same one in every request.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    made_up_id(hash, 0)
}

fn tool_call(
    call: &RequestedCall,
    config: &ModelConfig,
    renames: &Renames,
    kept: Option<&Kept>,
) -> Value {
    let mut sent = json!({
        "id": sent_id(&call.provider_id, config),
        "type": "function",
        "function": {
            "name": sent_name(call.name.as_str()),
            "arguments": arguments(call, renames),
        },
    });
    if let Some(extra) = kept.and_then(|kept| kept.extra.get(&call.provider_id))
        && let Some(members) = sent.as_object_mut()
    {
        members.insert("extra_content".to_owned(), extra.clone());
    }
    sent
}

/// Always a JSON object as text: servers parse it, and one that cannot be parsed has the whole
/// conversation refused. The call's result tells the model what was wrong with the original.
fn arguments(call: &RequestedCall, renames: &Renames) -> String {
    let Ok(arguments) = &call.arguments else { return "{}".to_owned() };
    let mut arguments = (**arguments).clone();
    renames.out(&call.name, &mut arguments);
    Value::Object(arguments).to_string()
}
