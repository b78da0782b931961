//! Calls being written: which fragment belongs to which call.
//!
//! Servers differ: one index for all calls, no index, null; empty ids and names in later
//! fragments, or both repeated; no ids at all. The rules, in this order:
//!
//! 1. A fragment with a known id continues that call.
//! 2. A new id together with a name starts a call, whatever the index says.
//! 3. Otherwise the index decides; without one, the call that was being written goes on.
//! 4. Without ids, a name on a call whose arguments are complete starts the next call.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::domain::ModelName;
use crate::domain::turn::RequestedCall;
use crate::provider::ProviderError;
use crate::provider::arguments::{CALLS_LIMIT, RawArguments, made_up_id};
use crate::provider::fault;

/// Longest name or id that is kept, in bytes.
const NAME_LIMIT: usize = 1024;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    calls: Vec<Building>,
    current: Option<usize>,
}

#[derive(Debug, Default)]
struct Building {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: RawArguments,
    /// What the endpoint wants back with the call, unread.
    extra: Option<Value>,
}

/// One fragment, empty values taken as absent.
#[derive(Debug)]
struct Fragment<'a> {
    index: Option<u64>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: Option<&'a Value>,
    extra: Option<&'a Value>,
}

impl<'a> Fragment<'a> {
    fn of(value: &'a Value) -> Self {
        // Some servers put the function's members on the call itself.
        let function = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
        let text = |value: Option<&'a Value>| value?.as_str().filter(|text| !text.is_empty());
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: text(value.get("id")),
            name: text(function.get("name")),
            arguments: function.get("arguments").filter(|inner| !inner.is_null()),
            extra: value.get("extra_content").filter(|inner| !inner.is_null()),
        }
    }

    fn has_arguments(&self) -> bool {
        self.arguments
            .is_some_and(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))
    }
}

impl Fragments {
    /// Takes one entry of `tool_calls`.
    pub(super) fn push(&mut self, value: &Value) -> Result<(), ProviderError> {
        let fragment = Fragment::of(value);
        let place = match self.place_of(&fragment) {
            Some(place) => place,
            None => self.start()?,
        };
        self.current = Some(place);
        if let Some(call) = self.calls.get_mut(place) {
            call.take(&fragment);
        }
        Ok(())
    }

    /// Nothing has been asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What the endpoint wants back with its calls, by id; and the calls. `cut` tells that the
    /// answer was ended at a limit while the last call may have been half written.
    pub(super) fn finish(self, seed: u64, cut: bool) -> (Vec<RequestedCall>, Map<String, Value>) {
        let (mut used, mut extras) = (HashSet::new(), Map::new());
        let last = self.calls.len().saturating_sub(1);
        let mut calls = Vec::with_capacity(self.calls.len());
        for (place, call) in self.calls.into_iter().enumerate() {
            let provider_id = unique_id(call.id, seed, place, &mut used);
            if let Some(extra) = call.extra {
                extras.insert(provider_id.clone(), extra);
            }
            let read = if cut && place == last {
                call.arguments.read_cut()
            } else {
                call.arguments.read()
            };
            let name = ModelName::new(call.name);
            calls.push(RequestedCall { provider_id, name, arguments: read });
        }
        (calls, extras)
    }

    fn start(&mut self) -> Result<usize, ProviderError> {
        if self.calls.len() >= CALLS_LIMIT {
            return Err(fault::broken(format!(
                "The model asks for more calls than the limit of {CALLS_LIMIT} (calls of one answer)."
            )));
        }
        self.calls.push(Building::default());
        Ok(self.calls.len() - 1)
    }

    /// The call that a fragment continues; `None` starts one.
    fn place_of(&self, fragment: &Fragment<'_>) -> Option<usize> {
        match fragment.id {
            Some(id) => self.by_id(id, fragment),
            None => self.continued(fragment),
        }
    }

    fn by_id(&self, id: &str, fragment: &Fragment<'_>) -> Option<usize> {
        let same = |call: &Building| {
            call.id.as_deref() == Some(id)
                && (fragment.index.is_none()
                    || call.index.is_none()
                    || call.index == fragment.index)
        };
        if let Some(place) = self.calls.iter().rposition(same) {
            return Some(place);
        }
        // The id comes after the name, or changes from fragment to fragment while the name does not
        // come again: the index still says which call it is.
        if fragment.name.is_none() { self.by_index(fragment.index?) } else { None }
    }

    fn continued(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let place = match fragment.index {
            Some(index) => self.by_index(index).or_else(|| self.unnumbered(fragment))?,
            None => self.current?,
        };
        let call = self.calls.get(place)?;
        (!call.is_followed_by(fragment)).then_some(place)
    }

    fn by_index(&self, index: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.index == Some(index))
    }

    /// The call being written came without an index and this is a later piece of it.
    fn unnumbered(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let place = self.current?;
        let call = self.calls.get(place)?;
        (call.index.is_none() && fragment.name.is_none()).then_some(place)
    }
}

impl Building {
    /// Without ids: a fragment with a name belongs to the next call once this one is complete.
    fn is_followed_by(&self, fragment: &Fragment<'_>) -> bool {
        let Some(name) = fragment.name else { return false };
        if self.name.is_empty() || self.arguments.is_blank() {
            return false;
        }
        name != self.name || (fragment.has_arguments() && self.arguments.is_object())
    }

    fn take(&mut self, fragment: &Fragment<'_>) {
        self.index = self.index.or(fragment.index);
        if let (None, Some(id)) = (&self.id, fragment.id) {
            self.id = Some(id.chars().take(NAME_LIMIT).collect());
        }
        if let Some(name) = fragment.name {
            self.name_piece(name);
        }
        if let Some(arguments) = fragment.arguments {
            self.arguments.push_value(arguments);
        }
        if let Some(extra) = fragment.extra {
            self.extra = Some(extra.clone());
        }
    }

    /// Names come whole, are repeated whole, or grow; a few servers cut them in pieces.
    fn name_piece(&mut self, name: &str) {
        if name.starts_with(&self.name) {
            self.name = name.chars().take(NAME_LIMIT).collect();
        } else if self.arguments.is_blank() && self.name.len() + name.len() <= NAME_LIMIT {
            self.name.push_str(name);
        }
    }
}

/// The endpoint's id where it is one and not used twice, else a made-up one.
fn unique_id(given: Option<String>, seed: u64, place: usize, used: &mut HashSet<String>) -> String {
    let made_up = (0..).map(|round| made_up_id(seed, place + round * CALLS_LIMIT));
    let mut candidates = given.into_iter().chain(made_up);
    candidates.find(|id| used.insert(id.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
