//! Chat completions: conversation in, JSON out; stream in, events out. Pure.
//!
//! Spoken by OpenAI, Docker Model Runner, Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, Mistral,
//! Groq and Gemini's compatible endpoint. The decoder bears the ways in which they are known to
//! differ and never loses a call silently.
//!
//! Reasoning is handed back only to the endpoint it came from, and only where endpoints want it:
//! its `signature` is a note of our own that says where that was.

mod fragments;
mod request;
mod stream;
mod think;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::place::{is_host, origin};
use super::rename::Renames;
use super::{Decoder, ModelRequest};
use crate::config::ModelConfig;
use crate::net::is_this_machine;
use crate::schema::adapt::Target;

/// Hosts that refuse a conversation whose calls come without the reasoning that led to them, or
/// answer better with it. The machine itself is one of them: local servers take it or ignore it.
const WANT_REASONING: [&str; 8] = [
    "deepseek.com",
    "moonshot.ai",
    "moonshot.cn",
    "minimax.io",
    "minimaxi.com",
    "openrouter.ai",
    "z.ai",
    "bigmodel.cn",
];

/// What is left out of a request because the endpoint refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the request by itself")]
pub struct Omit {
    /// Tools: the model cannot call them.
    pub tools: bool,
    /// The wish for token counts.
    pub stream_options: bool,
    /// The temperature: some models take only their own.
    pub temperature: bool,
    /// The limit goes by its other name.
    pub other_limit_name: bool,
}

/// A request as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The body.
    pub body: Value,
    /// Properties that go by another name in it.
    pub renames: Renames,
}

/// What is kept beside the reasoning of a message, in its `signature`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Kept {
    /// The endpoint it came from.
    from: String,
    /// What the endpoint wants back with its calls, by the call's id.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
    /// Reasoning in the typed parts of a router, which it wants back as they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<Value>,
}

/// The request in the endpoint's dialect.
pub fn request(request: &ModelRequest, config: &ModelConfig, omit: Omit) -> Sent {
    request::build(request, config, omit)
}

/// A decoder for the answer to a request. `seed` makes made-up ids unique.
pub fn decoder(config: &ModelConfig, renames: Renames, seed: u64) -> Decoder {
    Decoder::new(Box::new(stream::Chunks::new(origin(config), renames, seed)))
}

/// Where requests go.
pub(super) fn url(base: &Url) -> Url {
    below(base, "chat/completions")
}

/// `base` with `path` below it, the query kept. A base that names the chat endpoint itself, as
/// people paste it, counts as the one above.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let trimmed = base.path().trim_end_matches('/');
    let root = trimmed.strip_suffix("/chat/completions").unwrap_or(trimmed);
    let mut url = base.clone();
    url.set_path(&format!("{root}/{path}"));
    url
}

/// Which of the adapted schemas an endpoint takes.
fn target(base: &Url) -> Target {
    match base.host_str() {
        Some("generativelanguage.googleapis.com") => Target::Gemini,
        _ => Target::OpenAi,
    }
}

fn wants_reasoning(base: &Url) -> bool {
    is_this_machine(base) || WANT_REASONING.iter().any(|host| is_host(base, host))
}

#[cfg(test)]
mod tests;
