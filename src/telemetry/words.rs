//! Names and values of the conventions. Pure.

use opentelemetry::KeyValue;
use serde_json::{Value, json};

use crate::config::{ModelConfig, ProviderKind};
use crate::domain::model::{Finish, ModelRequest, ProviderErrorKind};
use crate::domain::{Message, Outcome, TurnEnd, Usage};

/// Longest text of one attribute, in bytes.
const TEXT: usize = 16 * 1024;

/// Hosts whose providers the conventions have a word for.
const PROVIDERS: [(&str, &str); 8] = [
    ("openai.azure.com", "azure.ai.openai"),
    ("api.openai.com", "openai"),
    ("mistral.ai", "mistral_ai"),
    ("groq.com", "groq"),
    ("deepseek.com", "deepseek"),
    ("googleapis.com", "gcp.gemini"),
    ("x.ai", "x_ai"),
    ("perplexity.ai", "perplexity"),
];

/// `gen_ai.provider.name`: of an endpoint that only speaks as one, the one it speaks as.
pub(super) fn provider(model: &ModelConfig) -> &'static str {
    let host = model.base_url.host_str().unwrap_or_default();
    let is_at = |end: &str| {
        host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    match model.provider {
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Demo => "mini_me.demo",
        ProviderKind::OpenAi => {
            PROVIDERS.iter().find(|(end, _)| is_at(end)).map_or("openai", |(_, word)| *word)
        }
    }
}

pub(super) fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_call",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Refused => "refusal",
        Finish::Incomplete => "incomplete",
        Finish::Empty => "empty",
    }
}

/// `error.type` of a failed request. Messages of endpoints quote what was sent and stay out.
pub(super) fn error(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Unreachable => "unreachable",
        ProviderErrorKind::Auth => "auth",
        ProviderErrorKind::UnknownModel => "unknown_model",
        ProviderErrorKind::RateLimited => "rate_limited",
        ProviderErrorKind::TooLong => "context_length_exceeded",
        ProviderErrorKind::NoTools => "no_tool_support",
        ProviderErrorKind::Refused => "refused",
        ProviderErrorKind::Server => "server_error",
        ProviderErrorKind::Broken => "broken_stream",
        ProviderErrorKind::Cancelled => "cancelled",
    }
}

/// `error.type` of a turn; `None` where it came to a natural end.
pub(super) fn turn_error(reason: &TurnEnd) -> Option<&'static str> {
    Some(match reason {
        TurnEnd::Done | TurnEnd::Stopped => return None,
        TurnEnd::Length => "length",
        TurnEnd::ContentFilter => "content_filter",
        TurnEnd::Refused => "refusal",
        TurnEnd::Empty => "empty",
        TurnEnd::Incomplete { .. } => "incomplete",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Failed { unreachable: true, .. } => "unreachable",
        TurnEnd::Failed { .. } => "failed",
    })
}

/// `error.type` of a call; `None` where the tool answered.
pub(super) fn call_error(outcome: &Outcome) -> Option<&'static str> {
    Some(match outcome {
        Outcome::Ok(_) => return None,
        Outcome::ToolError(_) => "tool_error",
        Outcome::InvalidArguments { .. } => "invalid_arguments",
        Outcome::Denied(_) => "denied",
        Outcome::NotSent { .. } => "not_sent",
        Outcome::Unknown { .. } => "unknown_outcome",
        Outcome::Cancelled { .. } => "cancelled",
    })
}

/// Token counts, where they are known.
pub(super) fn usage(usage: &Usage) -> Vec<KeyValue> {
    [
        ("gen_ai.usage.input_tokens", usage.input),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached),
    ]
    .into_iter()
    .filter_map(|(name, count)| Some(KeyValue::new(name, number(count?))))
    .collect()
}

pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A text, bounded.
pub(super) fn text(name: &'static str, text: &str) -> KeyValue {
    let mut end = text.len().min(TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    KeyValue::new(name, text.get(..end).unwrap_or_default().to_owned())
}

/// The latest messages of a request in the conventions' shape, as many as there is room for.
pub(super) fn input(request: &ModelRequest) -> KeyValue {
    let mut room = TEXT;
    let mut messages = Vec::new();
    for message in request.messages.iter().rev() {
        let shaped = message_of(message);
        let size = shaped.to_string().len();
        if size > room {
            break;
        }
        room -= size;
        messages.push(shaped);
    }
    messages.reverse();
    KeyValue::new("gen_ai.input.messages", Value::Array(messages).to_string())
}

fn message_of(message: &Message) -> Value {
    let said = |role: &str, parts: Vec<Value>| json!({"role": role, "parts": parts});
    let text = |text: &str| json!({"type": "text", "content": text});
    match message {
        Message::User { text: words } => said("user", vec![text(words)]),
        Message::Assistant { text: words, calls, .. } => {
            let calls = calls.iter().map(|call| {
                let arguments = call.arguments.as_ref().ok().map(|arguments| &**arguments);
                json!({"type": "tool_call", "id": call.provider_id, "name": call.name,
                    "arguments": arguments})
            });
            let words = (!words.is_empty()).then(|| text(words));
            said("assistant", words.into_iter().chain(calls).collect())
        }
        Message::Result { provider_id, text, .. } => said(
            "tool",
            vec![json!({"type": "tool_call_response", "id": provider_id, "response": text})],
        ),
    }
}

/// An answer in the conventions' shape.
pub(super) fn output(said: &str, finish: &str) -> KeyValue {
    let parts = json!([{"type": "text", "content": said}]);
    let messages = json!([{"role": "assistant", "parts": parts, "finish_reason": finish}]);
    text("gen_ai.output.messages", &messages.to_string())
}
