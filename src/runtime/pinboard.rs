//! Pins during a run: what was remembered at its start, and what is to be remembered.

use crate::domain::{Tool, ToolDefinition, ToolId};
use crate::pin::Pins;

/// The remembered pins and their changes. A tool stays *new* for the run that first sees it.
#[derive(Debug, Default)]
pub(super) struct Pinboard {
    /// As remembered at the start, and what was allowed since: what definitions are compared with.
    known: Pins,
    /// With everything that was seen since.
    current: Pins,
    /// What is not in the file yet.
    changes: Pins,
}

impl Pinboard {
    pub(super) fn new(known: Pins) -> Self {
        Self { current: known.clone(), known, changes: Pins::default() }
    }

    /// What definitions are compared with.
    pub(super) fn known(&self) -> &Pins {
        &self.known
    }

    /// Remembers a tool that was never seen before.
    pub(super) fn see(&mut self, endpoint: &str, tool: &Tool) {
        if self.current.see(endpoint, &tool.id, &tool.pin) {
            self.changes.see(endpoint, &tool.id, &tool.pin);
        }
    }

    /// Remembers that a call was allowed with this definition. Says if that changes anything.
    pub(super) fn allow(
        &mut self,
        endpoint: &str,
        id: &ToolId,
        definition: &ToolDefinition,
    ) -> bool {
        if !self.current.mark_allowed(endpoint, id, definition) {
            return false;
        }
        self.changes.mark_allowed(endpoint, id, definition);
        // An endpoint that is first seen in this run must not become one whose other tools are news.
        if self.known.knows(endpoint) {
            self.known.mark_allowed(endpoint, id, definition);
        }
        true
    }

    /// The changes since they were last taken, if there are any.
    pub(super) fn take_changes(&mut self) -> Option<Pins> {
        (!self.changes.servers.is_empty()).then(|| std::mem::take(&mut self.changes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{Annotations, Mode, PinState};
    use crate::pin::fingerprint;

    const AT: &str = "https://host.example/mcp";

    fn tool(name: &str, description: &str) -> Tool {
        let definition = ToolDefinition {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: Arc::new(json!({"type": "object"})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(Value::Null),
        };
        Tool {
            id: ToolId::new("s", name),
            model_name: name.into(),
            pin: fingerprint(&definition),
            definition: Arc::new(definition),
            pin_state: PinState::New,
            changes: Vec::new(),
            permission: Mode::Ask,
            disabled: false,
            tokens: 1,
        }
    }

    fn state(board: &Pinboard, tool: &Tool) -> PinState {
        board.known().state(AT, &tool.id, &tool.pin)
    }

    fn remembered(tool: &Tool) -> Pinboard {
        let mut pins = Pins::default();
        pins.mark_allowed(AT, &tool.id, &tool.definition);
        Pinboard::new(pins)
    }

    #[test]
    fn what_is_seen_for_the_first_time_is_saved_once_and_stays_new() {
        let mut board = remembered(&tool("t", "a"));
        let other = tool("other", "b");
        board.see(AT, &other);
        assert!(board.take_changes().is_some());
        board.see(AT, &other);
        assert!(board.take_changes().is_none());
        assert_eq!(state(&board, &other), PinState::New);
    }

    #[test]
    fn a_changed_definition_stays_changed_until_it_is_allowed() {
        let mut board = remembered(&tool("t", "a"));
        let changed = tool("t", "b");
        board.see(AT, &changed);
        assert!(board.take_changes().is_none());
        assert_eq!(state(&board, &changed), PinState::Changed);
        assert!(board.allow(AT, &changed.id, &changed.definition));
        assert_eq!(state(&board, &changed), PinState::Known);
        assert!(!board.allow(AT, &changed.id, &changed.definition));
        assert!(board.take_changes().is_some());
    }

    #[test]
    fn allowing_one_tool_of_a_new_endpoint_makes_no_news_of_the_others() {
        let mut board = Pinboard::default();
        let tool = tool("t", "a");
        board.see(AT, &tool);
        assert!(board.allow(AT, &tool.id, &tool.definition));
        assert!(!board.known().knows(AT));
    }
}
