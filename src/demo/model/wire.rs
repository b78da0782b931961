//! A step in the words of chat completions: whole, or in the pieces that real servers send.

use serde_json::{Value, json};

use super::{NAME, Step, Wanted};

/// Characters of a piece, about as many as a token has.
const PIECE: usize = 6;

/// One answer of the endpoint.
#[derive(Debug)]
pub(super) struct Answer {
    step: Step,
    id: String,
    prompt_tokens: u64,
    wants_usage: bool,
}

impl Answer {
    pub(super) fn new(request: &Value, step: Step) -> Self {
        let asked = request.get("messages").map(Value::to_string).unwrap_or_default();
        let tools = request.get("tools").map(Value::to_string).unwrap_or_default();
        let rounds = request.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
        let prompt_tokens = ((asked.len() + tools.len()) / 4) as u64;
        Self {
            step,
            // Calls of one conversation need ids of their own; the length of the conversation
            // grows with every request.
            id: format!("demo-{rounds}-{prompt_tokens}"),
            prompt_tokens,
            wants_usage: request.pointer("/stream_options/include_usage") == Some(&true.into()),
        }
    }

    fn text(&self) -> &str {
        match &self.step {
            Step::Say(text) | Step::Call { text, .. } => text,
        }
    }

    fn calls(&self) -> &[Wanted] {
        match &self.step {
            Step::Say(_) => &[],
            Step::Call { calls, .. } => calls,
        }
    }

    fn finish(&self) -> &'static str {
        if self.calls().is_empty() { "stop" } else { "tool_calls" }
    }

    fn usage(&self) -> Value {
        let calls: usize = self.calls().iter().map(|call| call.arguments.to_string().len()).sum();
        let output = ((self.text().len() + calls) / 4) as u64;
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": output,
            "total_tokens": self.prompt_tokens + output,
        })
    }

    /// The answer in one piece.
    pub(super) fn whole(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text() });
        if !self.calls().is_empty() {
            let calls: Vec<Value> = self
                .calls()
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    json!({
                        "id": self.call_id(index),
                        "type": "function",
                        "function": { "name": call.name, "arguments": call.arguments.to_string() },
                    })
                })
                .collect();
            if let Some(members) = message.as_object_mut() {
                members.insert("tool_calls".to_owned(), calls.into());
            }
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": NAME,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish() }],
            "usage": self.usage(),
        })
    }

    /// The answer in pieces: role, text, calls, finish, and the usage if it was asked for.
    pub(super) fn chunks(&self) -> Vec<Value> {
        let mut chunks = vec![self.chunk(&json!({ "role": "assistant", "content": "" }), None)];
        chunks.extend(
            pieces(self.text()).map(|piece| self.chunk(&json!({ "content": piece }), None)),
        );
        for (index, call) in self.calls().iter().enumerate() {
            let opening = json!({
                "index": index,
                "id": self.call_id(index),
                "type": "function",
                "function": { "name": call.name, "arguments": "" },
            });
            chunks.push(self.chunk(&json!({ "tool_calls": [opening] }), None));
            let arguments = call.arguments.to_string();
            chunks.extend(pieces(&arguments).map(|piece| {
                let part = json!({ "index": index, "function": { "arguments": piece } });
                self.chunk(&json!({ "tool_calls": [part] }), None)
            }));
        }
        chunks.push(self.chunk(&json!({}), Some(self.finish())));
        if self.wants_usage {
            let mut last = self.envelope(&json!([]));
            if let Some(members) = last.as_object_mut() {
                members.insert("usage".to_owned(), self.usage());
            }
            chunks.push(last);
        }
        chunks
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        self.envelope(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }]))
    }

    fn envelope(&self, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 1_795_000_000,
            "model": NAME,
            "choices": choices,
        })
    }

    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.id)
    }
}

/// Cuts a text into small pieces, between characters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        rest.peek()?;
        Some(rest.by_ref().take(PIECE).collect())
    })
}
