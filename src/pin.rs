//! Fingerprints of tool definitions: what was seen, what was allowed, what changed.
//!
//! A fingerprint covers what a server can say to a model and to a person: name, title,
//! description, schemas, annotations. It does not depend on the order of members, nor on members that nobody
//! is shown.

mod changes;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::domain::{PinState, ToolDefinition, ToolId};

pub use changes::changes;

/// Definitions longer than this (as JSON, in bytes) are remembered by fingerprint alone.
const KEPT: usize = 32 * 1024;

/// Fingerprint of a definition: lower-case hex of SHA-256 over its canonical form (name,
/// title, description, input and output schema, annotations; members sorted).
pub fn fingerprint(definition: &ToolDefinition) -> String {
    hex(&Sha256::digest(canonical(definition).to_string()))
}

/// Fingerprint of a server's whole set of tools, from the names and fingerprints of its members in
/// any order.
pub fn set_fingerprint<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let tools: BTreeMap<&str, &str> = tools.into_iter().collect();
    let mut digest = Sha256::new();
    for (name, pin) in tools {
        // With its length before it no name can run into what follows.
        digest.update(name.len().to_be_bytes());
        digest.update(name);
        digest.update(pin);
    }
    hex(&digest.finalize())
}

/// What a fingerprint covers, with sorted members: two definitions are the same if and only if
/// these are.
pub fn canonical(definition: &ToolDefinition) -> Value {
    let claims = || serde_json::to_value(definition.annotations).unwrap_or_default();
    let mut covered = Map::new();
    let raw = definition.raw.get("annotations");
    covered.insert("annotations".to_owned(), raw.map_or_else(claims, sorted));
    covered.insert("description".to_owned(), definition.description.as_str().into());
    covered.insert("inputSchema".to_owned(), sorted(&definition.input_schema));
    covered.insert("name".to_owned(), definition.name.as_str().into());
    let output = definition.output_schema.as_deref();
    covered.insert("outputSchema".to_owned(), output.map_or(Value::Null, sorted));
    covered.insert("title".to_owned(), definition.title.as_deref().into());
    Value::Object(covered)
}

/// What is remembered of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pin {
    /// Fingerprint when last seen and accepted.
    pub fingerprint: String,
    /// Whether a call of it was ever allowed.
    pub allowed: bool,
    /// The definition that was allowed, in its canonical form, for saying what changed; absent
    /// where it was never allowed or is very long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Arc<Value>>,
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
        match self.get(endpoint, tool) {
            None => PinState::New,
            Some(pin) if pin.fingerprint == fingerprint => PinState::Known,
            Some(_) => PinState::Changed,
        }
    }

    /// What is remembered of a tool.
    pub fn get(&self, endpoint: &str, tool: &ToolId) -> Option<&Pin> {
        self.servers.get(endpoint)?.get(tool.tool.as_str())
    }

    /// Whether anything is remembered of an endpoint: only then a new tool is news.
    pub fn knows(&self, endpoint: &str) -> bool {
        self.servers.contains_key(endpoint)
    }

    /// Remembers a tool that was seen for the first time. One that is known stays as it is: a
    /// changed definition is never accepted by looking at it. Says whether anything was added.
    pub fn see(&mut self, endpoint: &str, tool: &ToolId, fingerprint: &str) -> bool {
        let tools = self.servers.entry(endpoint.to_owned()).or_default();
        if tools.contains_key(tool.tool.as_str()) {
            return false;
        }
        let pin = Pin { fingerprint: fingerprint.to_owned(), ..Pin::default() };
        tools.insert(tool.tool.to_string(), pin);
        true
    }

    /// Accepts a definition as it stands now, without saying that a call was allowed.
    pub fn accept(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) {
        self.set(endpoint, tool, definition);
    }

    /// Notes that a call of the tool, with this definition, was allowed. Says whether anything
    /// changed by it.
    pub fn mark_allowed(
        &mut self,
        endpoint: &str,
        tool: &ToolId,
        definition: &ToolDefinition,
    ) -> bool {
        let fingerprint = fingerprint(definition);
        let known = self.get(endpoint, tool);
        if known.is_some_and(|pin| pin.allowed && pin.fingerprint == fingerprint) {
            return false;
        }
        let pin = self.set(endpoint, tool, definition);
        let canonical = canonical(definition);
        pin.allowed = true;
        pin.definition = (canonical.to_string().len() <= KEPT).then(|| Arc::new(canonical));
        true
    }

    /// What changed since the tool was last allowed, in words; empty where nothing did or nothing
    /// is remembered to compare with. The words quote outside text.
    pub fn changes(&self, endpoint: &str, tool: &ToolId, now: &ToolDefinition) -> Vec<String> {
        let old = self.get(endpoint, tool).and_then(|pin| pin.definition.as_deref());
        old.map(|old| changes(old, &canonical(now))).unwrap_or_default()
    }

    fn set(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) -> &mut Pin {
        let tools = self.servers.entry(endpoint.to_owned()).or_default();
        let pin = tools.entry(tool.tool.to_string()).or_default();
        let fingerprint = fingerprint(definition);
        if pin.fingerprint != fingerprint {
            pin.definition = None;
        }
        pin.fingerprint = fingerprint;
        pin
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            let sorted = members.into_iter().map(|(key, value)| (key.clone(), sorted(value)));
            Value::Object(sorted.collect())
        }
        other => other.clone(),
    }
}

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

#[cfg(test)]
mod tests;
