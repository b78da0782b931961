//! Conversation in, request body out.

use serde_json::{Map, Value, json};

use super::{Kept, Place, kept};
use crate::config::ModelConfig;
use crate::domain::turn::RequestedCall;
use crate::provider::ModelRequest;
use crate::provider::history::{Step, Told, sent_name, steps};
use crate::provider::openai::{Omit, Sent};
use crate::provider::rename::Renames;
use crate::schema::adapt::{Target, adapt};

/// The protocol demands a limit; this one fits every model of today.
const MAX_TOKENS: u64 = 8192;
/// Stands for a text where the protocol refuses an empty one.
const NO_TEXT: &str = "(no text)";

pub(super) fn build(request: &ModelRequest, config: &ModelConfig, omit: Omit) -> Sent {
    let (tools, renames) = tools(request);
    let limit = request.max_output_tokens.or(config.max_output_tokens).unwrap_or(MAX_TOKENS);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(config.name));
    body.insert("max_tokens".to_owned(), json!(limit));
    if !request.system.is_empty() {
        let mut system = json!({"type": "text", "text": request.system});
        mark_for_cache(&mut system);
        body.insert("system".to_owned(), json!([system]));
    }
    if !tools.is_empty() && !omit.tools {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    body.insert("messages".to_owned(), Value::Array(messages(request, config, &renames, omit)));
    if let Some(temperature) = request.temperature.or(config.temperature)
        && !omit.temperature
    {
        // The scale ends at 1 here and at 2 elsewhere.
        body.insert("temperature".to_owned(), json!(temperature.clamp(0.0, 1.0)));
    }
    body.insert("stream".to_owned(), json!(true));
    Sent { body: Value::Object(body), renames }
}

/// Everything up to this place is the same in the next request.
fn mark_for_cache(block: &mut Value) {
    if let Some(members) = block.as_object_mut() {
        members.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn tools(request: &ModelRequest) -> (Vec<Value>, Renames) {
    let mut renames = Renames::default();
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|offer| {
            let adapted = adapt(&offer.schema, Target::Anthropic);
            let schema = renames.add(&offer.name, adapted);
            json!({
                "name": offer.name.as_str(),
                "description": offer.description,
                "input_schema": schema,
            })
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        mark_for_cache(last);
    }
    (tools, renames)
}

/// Messages of alternating roles: what comes from the user's side is put together, results first.
fn messages(
    request: &ModelRequest,
    config: &ModelConfig,
    renames: &Renames,
    omit: Omit,
) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for step in steps(&request.messages) {
        match step {
            Step::User(text) => add(&mut turns, "user", vec![text_block(text)]),
            Step::Model { text, reasoning, calls } => {
                if turns.is_empty() {
                    add(&mut turns, "user", vec![text_block("")]);
                }
                let kept = reasoning.and_then(|reasoning| kept(reasoning, config));
                add(&mut turns, "assistant", said(text, kept, &calls, renames, omit));
                if !calls.is_empty() {
                    add(&mut turns, "user", calls.iter().map(|pair| told(pair, omit)).collect());
                }
            }
        }
    }
    if let Some(last) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        mark_for_cache(last);
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn add<'a>(turns: &mut Vec<(&'a str, Vec<Value>)>, role: &'a str, mut blocks: Vec<Value>) {
    match turns.last_mut() {
        Some((last, content)) if *last == role => content.append(&mut blocks),
        _ => turns.push((role, blocks)),
    }
}

fn text_block(text: &str) -> Value {
    let text = if text.trim().is_empty() { NO_TEXT } else { text };
    json!({"type": "text", "text": text})
}

fn said(
    text: &str,
    kept: Option<Kept>,
    calls: &[(&RequestedCall, Told<'_>)],
    renames: &Renames,
    omit: Omit,
) -> Vec<Value> {
    let uses = calls.iter().map(|(call, _)| tool_use(call, renames, omit));
    let Kept { blocks, order, .. } = kept.unwrap_or_default();
    if let Some(texts) = texts(text, &order, blocks.len(), calls.len()) {
        return in_order(&order, blocks, texts, uses);
    }
    let mut all = blocks;
    if !text.trim().is_empty() || calls.is_empty() {
        all.push(text_block(text));
    }
    all.extend(uses);
    all
}

/// The texts of an answer as they stood between its other blocks; `None` if the order is not that
/// of this message, which may have been cut or changed since.
fn texts<'a>(
    text: &'a str,
    order: &[Place],
    thoughts: usize,
    calls: usize,
) -> Option<Vec<&'a str>> {
    let count = |wanted| order.iter().filter(|place| **place == wanted).count();
    if order.is_empty() || count(Place::Thought) != thoughts || count(Place::Call) != calls {
        return None;
    }
    let mut rest = text;
    let mut texts = Vec::new();
    for place in order {
        if let Place::Text(length) = place {
            let (piece, after) = rest.split_at_checked(*length)?;
            texts.push(piece);
            rest = after;
        }
    }
    rest.is_empty().then_some(texts)
}

fn in_order(
    order: &[Place],
    thoughts: Vec<Value>,
    texts: Vec<&str>,
    mut uses: impl Iterator<Item = Value>,
) -> Vec<Value> {
    let (mut thoughts, mut texts) = (thoughts.into_iter(), texts.into_iter());
    let blocks = order.iter().filter_map(|place| match place {
        Place::Thought => thoughts.next(),
        // One of blanks alone would be refused.
        Place::Text(_) => texts.next().filter(|text| !text.trim().is_empty()).map(text_block),
        Place::Call => uses.next(),
    });
    blocks.collect()
}

/// Where tools are left out, calls and results become text: blocks of theirs would be refused.
fn tool_use(call: &RequestedCall, renames: &Renames, omit: Omit) -> Value {
    let mut input = call.arguments.as_ref().map(|known| (**known).clone()).unwrap_or_default();
    if omit.tools {
        let input = Value::Object(input);
        return text_block(&format!("[called {} with {input}]", call.name));
    }
    renames.out(&call.name, &mut input);
    json!({
        "type": "tool_use",
        "id": sent_id(&call.provider_id),
        "name": sent_name(call.name.as_str()),
        "input": input,
    })
}

fn told((call, told): &(&RequestedCall, Told<'_>), omit: Omit) -> Value {
    if omit.tools {
        return text_block(&format!("[result of {}: {}]", call.name, told.text));
    }
    json!({
        "type": "tool_result",
        "tool_use_id": sent_id(&call.provider_id),
        "content": told.text,
        "is_error": told.is_error,
    })
}

/// Ids of other providers may hold characters that are refused here.
fn sent_id(id: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    id.chars().map(clean).collect()
}
