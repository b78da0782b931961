//! Pins during a run: what was remembered at its start, what was seen since, and what is to be
//! remembered.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pin, Pins, Set, canonical};
use crate::domain::change::Change;
use crate::domain::{PinState, ToolDefinition, ToolId};

/// Definitions of merely seen tools that are kept at most; of the others the fingerprint alone is.
const SEEN: usize = 2_000;

/// The remembered pins and their changes. A tool stays *new* for the run that first sees it; one
/// whose definition changes in that very run is *changed* all the same.
#[derive(Debug, Default)]
pub struct Board {
    /// As remembered at the start, and what was allowed or accepted since: who is new.
    known: Pins,
    /// With everything that was seen since: what definitions are compared with.
    current: Pins,
    /// What is not in the file yet.
    changes: Pins,
    /// The sets with which lists are compared: those of the last run, else the first of this one.
    sets: BTreeMap<String, Set>,
    seen: usize,
}

/// How a server's list differs from the one it had when it was last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetChange {
    /// Names that were not in it.
    pub added: Vec<String>,
    /// Names that are no longer in it.
    pub removed: Vec<String>,
}

impl From<Pins> for Board {
    fn from(known: Pins) -> Self {
        Self::new(known)
    }
}

impl Board {
    /// Begins with what was remembered.
    pub fn new(known: Pins) -> Self {
        let unlisted = known.servers.iter().filter(|(at, _)| !known.sets.contains_key(*at));
        let from_pins = unlisted.map(|(at, tools)| {
            (at.clone(), Set { fingerprint: String::new(), tools: tools.keys().cloned().collect() })
        });
        let sets = known.sets.clone().into_iter().chain(from_pins).collect();
        let pins = || known.servers.values().flat_map(BTreeMap::values);
        let seen = pins().filter(|pin| !pin.allowed && pin.definition.is_some()).count();
        Self { current: known.clone(), known, changes: Pins::default(), sets, seen }
    }

    /// How a definition compares with what is remembered.
    pub fn state(&self, endpoint: &str, tool: &ToolId, fingerprint: &str) -> PinState {
        match self.current.get(endpoint, tool) {
            Some(pin) if pin.fingerprint != fingerprint => PinState::Changed,
            Some(_) if self.known.get(endpoint, tool).is_some() => PinState::Known,
            Some(_) | None => PinState::New,
        }
    }

    /// What is remembered of a tool.
    pub fn get(&self, endpoint: &str, tool: &ToolId) -> Option<&Pin> {
        self.current.get(endpoint, tool)
    }

    /// Everything that is remembered of an endpoint, by tool.
    pub fn of(&self, endpoint: &str) -> impl Iterator<Item = (&String, &Pin)> {
        self.current.servers.get(endpoint).into_iter().flatten()
    }

    /// The set with which the endpoint's list is compared.
    pub fn set(&self, endpoint: &str) -> Option<&Set> {
        self.sets.get(endpoint)
    }

    /// What changed since the definition that is remembered; empty where nothing did, or where the
    /// fingerprint alone is remembered.
    pub fn changes(&self, endpoint: &str, tool: &ToolId, now: &ToolDefinition) -> Vec<Change> {
        self.current.changes(endpoint, tool, now)
    }

    /// How a list differs from the one that the server had when it was last seen; `None` on first
    /// sight. A tool that an earlier list had is no news: its definition is compared with the one
    /// remembered, and some servers list it only where somebody is there to be asked.
    pub fn set_change<'a>(
        &self,
        endpoint: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<SetChange> {
        let known: BTreeSet<&str> =
            self.sets.get(endpoint)?.tools.iter().map(String::as_str).collect();
        let listed: BTreeSet<&str> = names.into_iter().collect();
        let owned = |name: &&str| (*name).to_owned();
        let met = self.known.servers.get(endpoint);
        let met = |name: &&&str| met.is_some_and(|pins| pins.contains_key(**name));
        Some(SetChange {
            added: listed.difference(&known).filter(|name| !met(name)).map(owned).collect(),
            removed: known.difference(&listed).map(owned).collect(),
        })
    }

    /// Remembers a tool that was never seen before; `now` in seconds since 1970.
    pub fn see(
        &mut self,
        endpoint: &str,
        tool: &ToolId,
        fingerprint: &str,
        definition: &ToolDefinition,
        now: u64,
    ) {
        let kept = (self.seen < SEEN).then_some(definition);
        if let Some(pin) = self.current.see(endpoint, tool, fingerprint, kept, now) {
            self.seen += usize::from(pin.definition.is_some());
            self.changes.put(endpoint, tool, pin.clone());
        }
    }

    /// Remembers a server's list, with the fingerprint of the set.
    pub fn list<'a>(
        &mut self,
        endpoint: &str,
        fingerprint: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) {
        if self.current.sets.get(endpoint).is_some_and(|set| set.fingerprint == fingerprint) {
            return;
        }
        let tools: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        let set = Set { fingerprint: fingerprint.to_owned(), tools: tools.into_iter().collect() };
        self.sets.entry(endpoint.to_owned()).or_insert_with(|| set.clone());
        self.current.sets.insert(endpoint.to_owned(), set.clone());
        self.changes.sets.insert(endpoint.to_owned(), set);
    }

    /// Remembers that a call was allowed with this definition. Says if that changes anything.
    pub fn allow(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) -> bool {
        if !self.current.mark_allowed(endpoint, tool, definition) {
            return false;
        }
        self.settled(endpoint, tool);
        true
    }

    /// Accepts a definition as it stands now. It does not allow anything: what the rules say of the
    /// tool is what counts from then on.
    pub fn accept(&mut self, endpoint: &str, tool: &ToolId, definition: &ToolDefinition) {
        self.current.accept(endpoint, tool, definition);
        self.settled(endpoint, tool);
    }

    fn settled(&mut self, endpoint: &str, tool: &ToolId) {
        let Some(pin) = self.current.get(endpoint, tool).cloned() else { return };
        // An endpoint that is first seen in this run must not become one whose other tools are news.
        if self.known.knows(endpoint) {
            self.known.put(endpoint, tool, pin.clone());
        }
        self.changes.put(endpoint, tool, pin);
    }

    /// The changes since they were last taken, if there are any.
    pub fn take_changes(&mut self) -> Option<Pins> {
        let none = self.changes.servers.is_empty() && self.changes.sets.is_empty();
        (!none).then(|| std::mem::take(&mut self.changes))
    }
}

/// The definition for keeping, unless it is very long.
pub(super) fn kept(
    definition: &ToolDefinition,
    most: usize,
) -> Option<std::sync::Arc<serde_json::Value>> {
    let canonical = canonical(definition);
    (canonical.to_string().len() <= most).then(|| std::sync::Arc::new(canonical))
}

#[cfg(test)]
mod tests;
