//! Messages: conversation in, JSON out; stream in, events out. Pure.
//!
//! Thinking blocks are handed back exactly as they came, to the endpoint and model that made them
//! and to no other: the `signature` of a message's reasoning is a note of our own that holds both.
//! What stays the same from request to request is marked for caching.

mod request;
mod stream;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::openai::{Omit, Sent};
use super::place::origin;
use super::rename::Renames;
use super::{Decoder, ModelRequest};
use crate::config::ModelConfig;
use crate::domain::turn::Reasoning;

/// The protocol's version, sent as `anthropic-version`.
pub const VERSION: &str = "2023-06-01";
/// The member that reasoning of this protocol is marked with.
const FIELD: &str = "thinking";

/// What is kept beside the reasoning of a message, in its `signature`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Kept {
    /// The endpoint and model that made them.
    from: String,
    /// Thinking blocks as they came.
    blocks: Vec<Value>,
    /// Where they stood among the other blocks: they have to stand there again.
    #[serde(default)]
    order: Vec<Place>,
}

/// One block of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Place {
    /// The next thinking block.
    Thought,
    /// So many bytes of the answer's text.
    Text(usize),
    /// The next call.
    Call,
}

/// The request in the endpoint's dialect.
pub fn request(request: &ModelRequest, config: &ModelConfig, omit: Omit) -> Sent {
    request::build(request, config, omit)
}

/// A decoder for the answer to a request. `seed` makes made-up ids unique.
pub fn decoder(config: &ModelConfig, renames: Renames, seed: u64) -> Decoder {
    Decoder::new(Box::new(stream::Blocks::new(origin(config), renames, seed)))
}

/// Where requests go.
pub(super) fn url(base: &Url) -> Url {
    below(base, "messages")
}

/// `base` with `path` below its `/v1`, which may be left out of the base.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let trimmed = base.path().trim_end_matches('/');
    let root = trimmed.strip_suffix("/messages").unwrap_or(trimmed);
    let root = root.strip_suffix("/v1").unwrap_or(root);
    let mut url = base.clone();
    url.set_path(&format!("{root}/v1/{path}"));
    url
}

/// What was kept beside a message's reasoning, if this very endpoint and model made it: a signature
/// of another one has the whole conversation refused.
fn kept(reasoning: &Reasoning, config: &ModelConfig) -> Option<Kept> {
    if reasoning.field != FIELD {
        return None;
    }
    let kept: Kept = serde_json::from_str(reasoning.signature.as_deref()?).ok()?;
    (kept.from == origin(config)).then_some(kept)
}

#[cfg(test)]
mod tests;
