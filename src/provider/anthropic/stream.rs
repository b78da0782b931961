//! Blocks of a streamed answer, or a whole one, into events.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{FIELD, Kept, Place};
use crate::domain::ModelName;
use crate::domain::turn::{Reasoning, RequestedCall, Usage};
use crate::provider::answer::{Answer, Said};
use crate::provider::arguments::{
    ALL_ARGUMENTS_LIMIT, CALLS_LIMIT, RawArguments, made_up_id, too_much,
};
use crate::provider::fault;
use crate::provider::rename::Renames;
use crate::provider::stream::{Mapping, Progress};
use crate::provider::{ModelEvent, ProviderError};

type Out<'a> = &'a mut Vec<ModelEvent>;

/// One answer.
#[derive(Debug)]
pub(super) struct Blocks {
    origin: String,
    renames: Renames,
    seed: u64,
    answer: Answer,
    /// Thinking blocks, as they have to be handed back.
    thoughts: Vec<Value>,
    /// How all blocks follow one another.
    order: Vec<Place>,
    calls: Vec<Asked>,
    /// Index and kind of the blocks that are open.
    open: Vec<(u64, Open)>,
    done: bool,
}

/// A call being written.
#[derive(Debug)]
struct Asked {
    id: String,
    name: String,
    arguments: RawArguments,
}

/// Where the pieces of a block go: the place in `thoughts` or `calls`.
#[derive(Debug, Clone, Copy)]
enum Open {
    Text,
    Thought(usize),
    Call(usize),
    Other,
}

impl Blocks {
    pub(super) fn new(origin: String, renames: Renames, seed: u64) -> Self {
        Self {
            origin,
            renames,
            seed,
            answer: Answer::default(),
            thoughts: Vec::new(),
            order: Vec::new(),
            calls: Vec::new(),
            open: Vec::new(),
            done: false,
        }
    }

    fn take(&mut self, kind: &str, value: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        match kind {
            "message_start" => self.usage(value.get("message").and_then(|it| it.get("usage"))),
            "content_block_start" => self.start(value, out)?,
            "content_block_delta" => self.delta(value, out)?,
            "content_block_stop" => {
                let index = index_of(value);
                self.open.retain(|(open, _)| *open != index);
            }
            "message_delta" => {
                self.usage(value.get("usage"));
                let delta = value.get("delta");
                self.reason(delta.and_then(|delta| delta.get("stop_reason")));
            }
            "message_stop" => self.done = true,
            "error" => return Err(fault::of_stream(value)),
            // `ping`, and whatever comes later.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, value: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        let Some(block) = value.get("content_block") else { return Ok(()) };
        let open = self.block(block, out)?;
        self.open.push((index_of(value), open));
        Ok(())
    }

    /// A block as it begins, or whole.
    fn block(&mut self, block: &Value, out: Out<'_>) -> Result<Open, ProviderError> {
        match text_of(block, "type") {
            "text" => {
                self.order.push(Place::Text(0));
                self.text(text_of(block, "text"), out)?;
                Ok(Open::Text)
            }
            "thinking" => {
                self.answer.reasoning(text_of(block, "thinking"), out)?;
                self.order.push(Place::Thought);
                self.thoughts.push(json!({
                    "type": "thinking",
                    "thinking": text_of(block, "thinking"),
                    "signature": text_of(block, "signature"),
                }));
                Ok(Open::Thought(self.thoughts.len() - 1))
            }
            "redacted_thinking" => {
                self.answer.count(text_of(block, "data"))?;
                self.order.push(Place::Thought);
                self.thoughts.push(block.clone());
                Ok(Open::Other)
            }
            "tool_use" => self.call(block),
            _ => Ok(Open::Other),
        }
    }

    fn call(&mut self, block: &Value) -> Result<Open, ProviderError> {
        if self.calls.len() >= CALLS_LIMIT {
            return Err(too_much(CALLS_LIMIT, "calls of one answer"));
        }
        let mut arguments = RawArguments::default();
        // A stream begins with an empty object and sends the text of the real one afterwards.
        if let Some(input) = block.get("input").filter(|input| **input != json!({})) {
            arguments.push_value(input);
        }
        let (id, name) = (text_of(block, "id"), text_of(block, "name"));
        self.answer.count(name)?;
        self.order.push(Place::Call);
        self.calls.push(Asked { id: id.to_owned(), name: name.to_owned(), arguments });
        Ok(Open::Call(self.calls.len() - 1))
    }

    fn delta(&mut self, value: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        let Some(delta) = value.get("delta") else { return Ok(()) };
        let index = index_of(value);
        let open = self.open.iter().find(|(open, _)| *open == index).map(|(_, open)| *open);
        match (text_of(delta, "type"), open) {
            ("text_delta", _) => self.text(text_of(delta, "text"), out),
            ("thinking_delta", Some(Open::Thought(place))) => {
                let piece = text_of(delta, "thinking");
                self.answer.reasoning(piece, out)?;
                self.extend_thought(place, "thinking", piece);
                Ok(())
            }
            ("signature_delta", Some(Open::Thought(place))) => {
                let piece = text_of(delta, "signature");
                self.answer.count(piece)?;
                self.extend_thought(place, "signature", piece);
                Ok(())
            }
            ("input_json_delta", Some(Open::Call(place))) => {
                if let Some(call) = self.calls.get_mut(place) {
                    call.arguments.push(text_of(delta, "partial_json"));
                }
                let kept: usize = self.calls.iter().map(|call| call.arguments.len()).sum();
                if kept > ALL_ARGUMENTS_LIMIT {
                    return Err(too_much(ALL_ARGUMENTS_LIMIT, "bytes of arguments of one answer"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Text of the answer. What comes outside of any text block, or of one that is not the last, is
    /// counted as a block of its own: text is kept in the order in which it came.
    fn text(&mut self, piece: &str, out: Out<'_>) -> Result<(), ProviderError> {
        match self.order.last_mut() {
            Some(Place::Text(length)) => *length += piece.len(),
            _ if piece.is_empty() => {}
            _ => self.order.push(Place::Text(piece.len())),
        }
        self.answer.text(piece, out)
    }

    fn extend_thought(&mut self, place: usize, member: &str, piece: &str) {
        let block = self.thoughts.get_mut(place).and_then(|block| block.get_mut(member));
        if let Some(Value::String(text)) = block {
            text.push_str(piece);
        }
    }

    fn reason(&mut self, reason: Option<&Value>) {
        let said = match reason.and_then(Value::as_str) {
            None => return,
            Some("tool_use") => Said::ToolCalls,
            Some("max_tokens" | "model_context_window_exceeded") => Said::Length,
            Some("refusal") => Said::Refused,
            Some(_) => Said::Stop,
        };
        self.answer.said = Some(said);
    }

    /// Counts come in parts; what was read from a cache and written to it is part of the request.
    fn usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let number = |name: &str| usage.get(name).and_then(Value::as_u64);
        let known = self.answer.usage.unwrap_or_default();
        let cached = number("cache_read_input_tokens");
        let written = number("cache_creation_input_tokens").unwrap_or_default();
        let input = number("input_tokens")
            .map(|fresh| fresh.saturating_add(cached.unwrap_or_default()).saturating_add(written));
        self.answer.usage = Some(Usage {
            input: input.or(known.input),
            output: number("output_tokens").or(known.output),
            cached: cached.or(known.cached),
        });
    }

    fn finished_calls(&mut self) -> Vec<RequestedCall> {
        let cut = self.answer.said.is_some_and(Said::is_cut);
        let last = self.calls.len().saturating_sub(1);
        let mut used = HashSet::new();
        let mut calls = Vec::with_capacity(self.calls.len());
        for (place, asked) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let given = Some(asked.id).filter(|id| !id.is_empty() && used.insert(id.clone()));
            let provider_id = given.unwrap_or_else(|| made_up_id(self.seed, place));
            let name = ModelName::new(asked.name);
            let mut arguments = if cut && place == last {
                asked.arguments.read_cut()
            } else {
                asked.arguments.read()
            };
            if let Ok(arguments) = &mut arguments {
                self.renames.back(&name, Arc::make_mut(arguments));
            }
            calls.push(RequestedCall { provider_id, name, arguments });
        }
        calls
    }
}

impl Mapping for Blocks {
    fn event(&mut self, event: &str, data: &str, out: Out<'_>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) => {
                let kind = value.get("type").and_then(Value::as_str).unwrap_or(event).to_owned();
                self.take(&kind, &value, out)
            }
            Err(_) if event == "error" => Err(fault::of_stream(&Value::from(data))),
            Err(fault) => Err(fault::not_json("an event of the answer", data, &fault)),
        }
    }

    fn whole(&mut self, answer: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        if text_of(answer, "type") == "error" || answer.get("error").is_some() {
            return Err(fault::of_stream(answer));
        }
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return Err(fault::broken(format!(
                "The model's endpoint answered with JSON that is no message: {}",
                fault::excerpt(&answer.to_string())
            )));
        };
        for block in blocks {
            self.block(block, out)?;
        }
        self.usage(answer.get("usage"));
        self.reason(answer.get("stop_reason"));
        self.done = true;
        Ok(())
    }

    fn end(&mut self, out: Out<'_>) {
        let calls = self.finished_calls();
        let blocks = std::mem::take(&mut self.thoughts);
        let reasoning = (!blocks.is_empty()).then(|| {
            let order = std::mem::take(&mut self.order);
            let kept = Kept { from: std::mem::take(&mut self.origin), blocks, order };
            Reasoning {
                text: self.answer.thought.clone(),
                field: FIELD.to_owned(),
                signature: serde_json::to_string(&kept).ok(),
            }
        });
        self.answer.conclude(self.done, reasoning, calls, out);
    }

    fn progress(&self) -> Progress {
        match self.answer.said {
            _ if self.done => Progress::Done,
            Some(_) => Progress::Closing,
            None if self.answer.has_begun() || !self.calls.is_empty() => Progress::Running,
            None => Progress::Waiting,
        }
    }
}

fn index_of(value: &Value) -> u64 {
    value.get("index").and_then(Value::as_u64).unwrap_or_default()
}

fn text_of<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}
