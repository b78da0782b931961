//! Pins during a run: what was remembered at its start, and what is to be remembered.

use crate::domain::{PinState, Tool, ToolDefinition, ToolId};
use crate::pin::{Pin, Pins, fingerprint};

/// The remembered pins and their changes. A tool stays *new* for the run that first sees it.
#[derive(Debug, Default)]
pub(super) struct Pinboard {
    /// As remembered at the start; what the user allows since is taken in.
    known: Pins,
    /// What goes to the file.
    current: Pins,
    changed: bool,
}

impl Pinboard {
    pub(super) fn new(known: Pins) -> Self {
        Self { current: known.clone(), known, changed: false }
    }

    /// How a definition compares with what is remembered. One that was never seen is remembered.
    pub(super) fn see(
        &mut self,
        endpoint: &str,
        id: &ToolId,
        definition: &ToolDefinition,
    ) -> (String, PinState) {
        let print = fingerprint(definition);
        let state = self.known.state(endpoint, id, &print);
        let tools = self.current.servers.entry(endpoint.to_owned()).or_default();
        if !tools.contains_key(id.tool.as_str()) {
            let pin = Pin { fingerprint: print.clone(), allowed: false };
            tools.insert(id.tool.to_string(), pin);
            self.changed = true;
        }
        (print, state)
    }

    /// Remembers that a call was allowed with this definition. Says if that changes its state.
    pub(super) fn allow(&mut self, endpoint: &str, tool: &Tool) -> bool {
        let pin = Pin { fingerprint: tool.pin.clone(), allowed: true };
        let tools = self.current.servers.entry(endpoint.to_owned()).or_default();
        if tools.get(tool.id.tool.as_str()) == Some(&pin) && tool.pin_state == PinState::Known {
            return false;
        }
        tools.insert(tool.id.tool.to_string(), pin.clone());
        let known = self.known.servers.entry(endpoint.to_owned()).or_default();
        known.insert(tool.id.tool.to_string(), pin);
        self.changed = true;
        true
    }

    /// All pins, if there is something to save.
    pub(super) fn to_save(&mut self) -> Option<Pins> {
        std::mem::take(&mut self.changed).then(|| self.current.clone())
    }
}
