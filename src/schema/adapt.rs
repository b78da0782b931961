//! Copies of schemas for providers that cannot take every keyword. The original is never changed.

use serde_json::Value;

/// What kind of endpoint a schema is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Chat completions as OpenAI and most others take them.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Gemini's compatible endpoint, the narrowest of all.
    Gemini,
}

/// A schema adapted for a provider, and how renamed properties lead back.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The copy.
    pub schema: Value,
    /// Renamed properties: JSON pointer of the object in the arguments, sent key, original key.
    pub renamed: Vec<(String, String, String)>,
}

/// Adapts a copy of `schema`.
pub fn adapt(schema: &Value, target: Target) -> Adapted {
    let _ = target;
    Adapted { schema: schema.clone(), renamed: Vec::new() }
}
