//! Fingerprints of tool definitions: what was seen, what was allowed, what changed.
//!
//! A fingerprint covers what a server can say to a model and to a person: name, title,
//! description, schemas, annotations. It does not depend on the order of members, nor on members that nobody
//! is shown.

pub mod board;
mod changes;
mod words;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::domain::change::Change;
use crate::domain::{PinState, ToolDefinition, ToolId};

pub use board::{Board, SetChange};
pub use changes::changes;

/// Definitions longer than this (as JSON, in bytes) are remembered by fingerprint alone.
const KEPT: usize = 32 * 1024;
/// The same for tools that were merely seen.
const SEEN_KEPT: usize = 8 * 1024;

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
    /// Fingerprint when first seen, or when last allowed or accepted.
    pub fingerprint: String,
    /// Whether a call of it, with this definition, was ever allowed.
    pub allowed: bool,
    /// Whether somebody accepted this definition in the place of another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// When the tool was first seen, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<u64>,
    /// That definition in its canonical form, for saying what changed; absent where it is very
    /// long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Arc<Value>>,
}

/// What is remembered of a server's list as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Set {
    /// Its fingerprint.
    pub fingerprint: String,
    /// The names in it, sorted.
    pub tools: Vec<String>,
}

/// The version of the file that this program reads and writes.
pub const VERSION: u32 = 1;

/// Everything remembered, by endpoint URL (without query) and original name, so that renaming a
/// server in the config does not lose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The version of the file.
    #[serde(default = "version")]
    pub version: u32,
    /// Endpoint → tool → pin.
    pub servers: BTreeMap<String, BTreeMap<String, Pin>>,
    /// Endpoint → its list when last seen.
    #[serde(default)]
    pub sets: BTreeMap<String, Set>,
}

fn version() -> u32 {
    VERSION
}

impl Default for Pins {
    fn default() -> Self {
        Self { version: VERSION, servers: BTreeMap::new(), sets: BTreeMap::new() }
    }
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

    /// Remembers a tool that was seen for the first time, with its definition where that is to be
    /// kept; gives what was added. One that is known stays as it is: a changed definition is never
    /// accepted by looking at it.
    pub fn see(
        &mut self,
        endpoint: &str,
        tool: &ToolId,
        fingerprint: &str,
        definition: Option<&ToolDefinition>,
        now: u64,
    ) -> Option<&Pin> {
        let tools = self.servers.entry(endpoint.to_owned()).or_default();
        match tools.entry(tool.tool.to_string()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(place.insert(Pin {
                fingerprint: fingerprint.to_owned(),
                first_seen: Some(now),
                definition: definition.and_then(|definition| board::kept(definition, SEEN_KEPT)),
                ..Pin::default()
            })),
        }
    }

    /// Puts a pin in the place of another.
    pub fn put(&mut self, endpoint: &str, tool: &ToolId, pin: Pin) {
        let tools = self.servers.entry(endpoint.to_owned()).or_default();
        tools.insert(tool.tool.to_string(), pin);
    }

    /// Accepts a definition as it stands now, without saying that a call was allowed.
    pub fn accept(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) {
        self.set(endpoint, tool, definition).accepted = true;
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
        self.set(endpoint, tool, definition).allowed = true;
        true
    }

    /// What changed since the definition that is remembered; empty where nothing did or its
    /// fingerprint alone is remembered. It quotes outside text.
    pub fn changes(&self, endpoint: &str, tool: &ToolId, now: &ToolDefinition) -> Vec<Change> {
        let old = self.get(endpoint, tool).and_then(|pin| pin.definition.as_deref());
        old.map(|old| changes(old, &canonical(now))).unwrap_or_default()
    }

    /// Adds what another instance, or this one, has learnt since: decisions count over what was
    /// merely seen, and of two decisions the later one.
    pub fn merge(&mut self, changes: &Self) {
        for (endpoint, tools) in &changes.servers {
            let known = self.servers.entry(endpoint.clone()).or_default();
            for (tool, pin) in tools {
                known
                    .entry(tool.clone())
                    .and_modify(|old| *old = old.merged(pin))
                    .or_insert_with(|| pin.clone());
            }
        }
        self.sets.extend(changes.sets.clone());
    }

    /// Forgets definitions, of merely seen tools or of all: their fingerprints stay.
    pub fn forget_definitions(&mut self, all: bool) {
        let pins = self.servers.values_mut().flat_map(BTreeMap::values_mut);
        pins.filter(|pin| all || !pin.allowed).for_each(|pin| pin.definition = None);
    }

    fn set(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) -> &mut Pin {
        let tools = self.servers.entry(endpoint.to_owned()).or_default();
        let pin = tools.entry(tool.tool.to_string()).or_default();
        let fingerprint = fingerprint(definition);
        if pin.fingerprint != fingerprint {
            *pin = Pin { fingerprint, first_seen: pin.first_seen, ..Pin::default() };
        }
        pin.definition = board::kept(definition, KEPT);
        pin
    }
}

impl Pin {
    /// Whether it stands for a decision: somebody allowed or accepted that definition.
    fn is_decided(&self) -> bool {
        self.allowed || self.accepted
    }

    /// Of one tool: what was remembered, and what is to be.
    fn merged(&self, new: &Self) -> Self {
        let same = self.fingerprint == new.fingerprint;
        let first_seen = self.first_seen.or(new.first_seen);
        if !same && !new.is_decided() {
            return Self { first_seen, ..self.clone() };
        }
        Self {
            fingerprint: new.fingerprint.clone(),
            allowed: new.allowed || same && self.allowed,
            accepted: new.accepted || same && self.accepted,
            first_seen,
            definition: new.definition.clone().or_else(|| self.definition.clone().filter(|_| same)),
        }
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
