//! Pins during a run: what was remembered at its start, and what is to be remembered.

use crate::domain::{PinState, ToolDefinition, ToolId};
use crate::pin::{Pins, fingerprint};

/// The remembered pins and their changes. A tool stays *new* for the run that first sees it.
#[derive(Debug, Default)]
pub(super) struct Pinboard {
    /// As remembered at the start, and what was allowed since.
    known: Pins,
    /// What is not in the file yet.
    changes: Pins,
}

impl Pinboard {
    pub(super) fn new(known: Pins) -> Self {
        Self { known, changes: Pins::default() }
    }

    /// Fingerprint of a definition and how it compares with what is remembered. One that was never
    /// seen is remembered; on an endpoint that was never seen nothing is news.
    pub(super) fn see(
        &mut self,
        endpoint: &str,
        id: &ToolId,
        definition: &ToolDefinition,
    ) -> (String, PinState) {
        let print = fingerprint(definition);
        let state = self.known.state(endpoint, id, &print);
        if state == PinState::New {
            self.changes.see(endpoint, id, &print);
        }
        match state {
            PinState::New if !self.known.knows(endpoint) => (print, PinState::Known),
            other => (print, other),
        }
    }

    /// Remembers that a call was allowed with this definition. Says if that changes anything.
    pub(super) fn allow(
        &mut self,
        endpoint: &str,
        id: &ToolId,
        definition: &ToolDefinition,
    ) -> bool {
        // An endpoint that is first seen in this run must not become one whose tools are all new.
        let changed = self
            .known
            .get(endpoint, id)
            .is_none_or(|pin| !pin.allowed || pin.fingerprint != fingerprint(definition));
        if changed {
            self.changes.mark_allowed(endpoint, id, definition);
            if self.known.knows(endpoint) {
                self.known.mark_allowed(endpoint, id, definition);
            }
        }
        changed
    }

    /// The changes since they were last asked for, if there are any.
    pub(super) fn to_save(&mut self) -> Option<Pins> {
        (!self.changes.servers.is_empty()).then(|| std::mem::take(&mut self.changes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::Annotations;

    const AT: &str = "https://host.example/mcp";

    fn definition(description: &str) -> ToolDefinition {
        ToolDefinition {
            name: "t".into(),
            title: None,
            description: description.into(),
            input_schema: Arc::new(json!({"type": "object"})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(Value::Null),
        }
    }

    fn id(tool: &str) -> ToolId {
        ToolId::new("s", tool)
    }

    fn remembered(definition: &ToolDefinition) -> Pinboard {
        let mut pins = Pins::default();
        pins.mark_allowed(AT, &id("t"), definition);
        Pinboard::new(pins)
    }

    #[test]
    fn nothing_is_news_on_an_endpoint_that_was_never_seen() {
        let mut board = Pinboard::default();
        assert_eq!(board.see(AT, &id("t"), &definition("a")).1, PinState::Known);
        assert!(board.to_save().is_some());
        assert!(board.to_save().is_none());
    }

    #[test]
    fn a_tool_that_came_since_the_last_run_is_new_for_the_whole_run() {
        let mut board = remembered(&definition("a"));
        assert_eq!(board.see(AT, &id("other"), &definition("b")).1, PinState::New);
        assert_eq!(board.see(AT, &id("other"), &definition("b")).1, PinState::New);
    }

    #[test]
    fn a_changed_definition_stays_changed_until_it_is_allowed() {
        let mut board = remembered(&definition("a"));
        assert_eq!(board.see(AT, &id("t"), &definition("b")).1, PinState::Changed);
        assert!(board.to_save().is_none());
        assert!(board.allow(AT, &id("t"), &definition("b")));
        assert_eq!(board.see(AT, &id("t"), &definition("b")).1, PinState::Known);
        assert!(!board.allow(AT, &id("t"), &definition("b")));
        assert!(board.to_save().is_some());
    }
}
