//! Chunks of a streamed answer, or a whole one, into events.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Kept;
use super::fragments::Fragments;
use super::think::{Piece, Think};
use crate::domain::turn::{Reasoning, RequestedCall, Usage};
use crate::provider::answer::{Answer, Said};
use crate::provider::fault;
use crate::provider::rename::{Renames, Way};
use crate::provider::stream::{Mapping, Progress};
use crate::provider::{ModelEvent, ProviderError};

/// Members under which reasoning comes.
const REASONING: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

type Out<'a> = &'a mut Vec<ModelEvent>;

/// One answer.
#[derive(Debug)]
pub(super) struct Chunks {
    origin: String,
    renames: Renames,
    seed: u64,
    answer: Answer,
    think: Think,
    calls: Fragments,
    /// The member that reasoning comes under; empty while it comes inside the text.
    field: &'static str,
    refused: bool,
    done: bool,
    warned_of_parts: bool,
}

impl Chunks {
    pub(super) fn new(origin: String, renames: Renames, seed: u64) -> Self {
        Self {
            origin,
            renames,
            seed,
            answer: Answer::default(),
            think: Think::default(),
            calls: Fragments::default(),
            field: "",
            refused: false,
            done: false,
            warned_of_parts: false,
        }
    }

    fn chunk(&mut self, chunk: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        if let Some(error) = error_of(chunk) {
            return Err(fault::of_stream(error));
        }
        if let Some(usage) = usage_of(chunk) {
            self.answer.usage = Some(usage);
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let first = choices
            .into_iter()
            .flatten()
            .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0);
        first.map_or(Ok(()), |choice| self.choice(choice, out))
    }

    fn choice(&mut self, choice: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        let delta = ["delta", "message"].iter().find_map(|name| choice.get(*name)?.as_object());
        if let Some(delta) = delta {
            self.delta(delta, out)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str)
            && !reason.is_empty()
        {
            self.answer.said = Some(said(reason)?);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Map<String, Value>, out: Out<'_>) -> Result<(), ProviderError> {
        self.reasoning(delta, out)?;
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, out)?,
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, out)?;
                }
            }
            Some(part @ Value::Object(_)) => self.part(part, out)?,
            _ => {}
        }
        if let Some(Value::String(refusal)) = delta.get("refusal") {
            self.refusal(refusal, out)?;
        }
        self.tool_calls(delta)
    }

    fn tool_calls(&mut self, delta: &Map<String, Value>) -> Result<(), ProviderError> {
        let one_or_many = match delta.get("tool_calls") {
            Some(Value::Array(calls)) => calls.as_slice(),
            Some(call @ Value::Object(_)) => std::slice::from_ref(call),
            _ => &[],
        };
        for call in one_or_many {
            self.calls.push(call)?;
        }
        match delta.get("function_call") {
            Some(call @ Value::Object(_)) => self.calls.push(call),
            _ => Ok(()),
        }
    }

    /// Some servers send the same reasoning under two names: the first one that speaks is kept to.
    fn reasoning(&mut self, delta: &Map<String, Value>, out: Out<'_>) -> Result<(), ProviderError> {
        let found = REASONING.iter().find_map(|name| {
            let usable = self.field.is_empty() || self.field == *name;
            let text = delta.get(*name)?.as_str()?;
            (usable && !text.is_empty()).then_some((*name, text))
        });
        let Some((field, text)) = found else { return Ok(()) };
        self.field = field;
        self.answer.reasoning(text, out)
    }

    fn text(&mut self, text: &str, out: Out<'_>) -> Result<(), ProviderError> {
        let pieces = self.think.push(text);
        self.pieces(pieces, out)
    }

    fn pieces(&mut self, pieces: Vec<Piece>, out: Out<'_>) -> Result<(), ProviderError> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.answer.text(&text, out)?,
                Piece::Reasoning(text) => self.answer.reasoning(&text, out)?,
            }
        }
        Ok(())
    }

    fn refusal(&mut self, text: &str, out: Out<'_>) -> Result<(), ProviderError> {
        self.refused |= !text.is_empty();
        self.answer.text(text, out)
    }

    /// One typed part of a content that is a list.
    fn part(&mut self, part: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        if let Some(text) = part.as_str() {
            return self.text(text, out);
        }
        match part.get("type").and_then(Value::as_str).unwrap_or("text") {
            "text" | "output_text" => self.text(&texts(part, &["text"]), out),
            "thinking" | "reasoning" | "reasoning_text" => {
                let text = texts(part, &["thinking", "reasoning", "text", "content"]);
                self.answer.reasoning(&text, out)
            }
            "refusal" => self.refusal(&texts(part, &["refusal"]), out),
            // A place in a source that the text names anyway.
            "reference" => Ok(()),
            other => {
                if !std::mem::replace(&mut self.warned_of_parts, true) {
                    out.push(ModelEvent::Warned(format!(
                        "The answer holds a part of type {}, which cannot be shown.",
                        fault::excerpt(other)
                    )));
                }
                Ok(())
            }
        }
    }

    fn kept_reasoning(&self, extra: Map<String, Value>) -> Option<Reasoning> {
        let text = self.answer.thought.clone();
        if text.is_empty() && extra.is_empty() {
            return None;
        }
        let kept = Kept { from: self.origin.clone(), extra };
        let signature = serde_json::to_string(&kept).ok();
        Some(Reasoning { text, field: self.field.to_owned(), signature })
    }

    fn named_back(&self, mut call: RequestedCall) -> RequestedCall {
        if let Ok(arguments) = &mut call.arguments {
            self.renames.apply(&call.name, Arc::make_mut(arguments), Way::Back);
        }
        call
    }
}

impl Mapping for Chunks {
    fn event(&mut self, event: &str, data: &str, out: Out<'_>) -> Result<(), ProviderError> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data.eq_ignore_ascii_case("[DONE]") {
            self.done = true;
            // The end mark alone ends an answer as well: some servers give no reason.
            self.answer.said = self.answer.said.or(Some(Said::Stop));
            return Ok(());
        }
        match serde_json::from_str::<Value>(data) {
            Ok(value) if event == "error" => Err(fault::of_stream(&value)),
            Ok(chunk) => self.chunk(&chunk, out),
            Err(_) if event == "error" => Err(fault::of_stream(&Value::from(data))),
            Err(fault) => Err(fault::not_json("an event of the answer", data, &fault)),
        }
    }

    fn whole(&mut self, answer: &Value, out: Out<'_>) -> Result<(), ProviderError> {
        let answer = answer.as_array().and_then(|list| list.first()).unwrap_or(answer);
        if error_of(answer).is_none() && answer.get("choices").is_none() {
            return Err(fault::broken(format!(
                "The model's endpoint answered with JSON that is no chat completion: {}",
                fault::excerpt(&answer.to_string())
            )));
        }
        self.done = true;
        self.chunk(answer, out)
    }

    fn end(&mut self, out: Out<'_>) {
        let held = self.think.end();
        // The bound on text was checked when these bytes came.
        if self.pieces(held, out).is_err() {
            self.answer.said = None;
            self.done = false;
        }
        if self.refused && matches!(self.answer.said, Some(Said::Stop | Said::ContentFilter)) {
            self.answer.said = Some(Said::Refused);
        }
        let cut = self.answer.said.is_some_and(Said::is_cut);
        let (calls, extra) = std::mem::take(&mut self.calls).finish(self.seed, cut);
        let calls = calls.into_iter().map(|call| self.named_back(call)).collect();
        let reasoning = self.kept_reasoning(extra);
        self.answer.conclude(self.done, reasoning, calls, out);
    }

    fn progress(&self) -> Progress {
        let begun = self.answer.has_begun() || !self.calls.is_empty();
        match self.answer.said {
            _ if self.done => Progress::Done,
            Some(_) => Progress::Closing,
            None if begun => Progress::Running,
            None => Progress::Waiting,
        }
    }
}

/// The error inside a chunk, whatever its shape.
fn error_of(chunk: &Value) -> Option<&Value> {
    let is_error = |value: &&Value| match value {
        Value::Object(object) => !object.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    if let Some(error) = chunk.get("error").filter(is_error) {
        return Some(error);
    }
    let named = |name| chunk.get(name).and_then(Value::as_str) == Some("error");
    let choice = chunk.get("choices").and_then(|choices| choices.get(0));
    let inner = choice.and_then(|choice| choice.get("error")).filter(is_error);
    inner.or_else(|| (named("object") || named("type")).then_some(chunk))
}

fn said(reason: &str) -> Result<Said, ProviderError> {
    match reason {
        "tool_calls" | "function_call" | "tool_use" => Ok(Said::ToolCalls),
        "length" | "max_tokens" | "model_length" | "MAX_TOKENS" => Ok(Said::Length),
        "content_filter" | "SAFETY" | "safety" => Ok(Said::ContentFilter),
        "refusal" => Ok(Said::Refused),
        "error" | "insufficient_system_resource" | "abort" => Err(fault::broken(format!(
            "The model's endpoint ended the answer with the reason {reason}. Send again."
        ))),
        // `stop`, `eos`, `end_turn` and whatever else says that it is over.
        _ => Ok(Said::Stop),
    }
}

fn usage_of(chunk: &Value) -> Option<Usage> {
    let usage = chunk
        .get("usage")
        .filter(|usage| usage.is_object())
        .or_else(|| chunk.get("x_groq")?.get("usage"))?;
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let details = usage.get("prompt_tokens_details");
    let usage = Usage {
        input: number(usage.get("prompt_tokens")),
        output: number(usage.get("completion_tokens")),
        cached: number(details.and_then(|details| details.get("cached_tokens")))
            .or_else(|| number(usage.get("prompt_cache_hit_tokens"))),
    };
    (usage != Usage::default()).then_some(usage)
}

/// The text of a part: under one of `names`, as text or as a list of parts.
fn texts(part: &Value, names: &[&str]) -> String {
    match names.iter().find_map(|name| part.get(*name)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(inner)) => inner.iter().map(inner_text).collect(),
        _ => String::new(),
    }
}

fn inner_text(part: &Value) -> &str {
    part.as_str().or_else(|| part.get("text")?.as_str()).unwrap_or_default()
}
