//! Merges notices while the face is slow. Pure.
//!
//! Nothing is dropped: text of one turn is appended, of progress, context and catalog the latest
//! stays, everything else waits in order. Whoever fills it asks `Outbox::has_room` before taking
//! more from the model; so a slow face holds the model back, and never the other way round.

use std::collections::VecDeque;

use crate::bridge::{NOTICES, Notice};
use crate::domain::CallState;

/// Bytes of text that may wait before the model is held back.
const WAITING_BYTES: usize = 256 * 1024;
/// Bytes of one merged piece of text.
const PIECE_BYTES: usize = 32 * 1024;

/// Notices on their way to the face.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Notice>,
    bytes: usize,
}

impl Outbox {
    /// Whether more of the model's output may be taken in.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < NOTICES && self.bytes < WAITING_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<Notice> {
        let notice = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(text_bytes(&notice));
        Some(notice)
    }

    pub(super) fn push(&mut self, notice: Notice) {
        self.bytes = self.bytes.saturating_add(text_bytes(&notice));
        let Some(notice) = self.append(notice) else { return };
        if let Some(at) = self.waiting.iter().position(|old| replaces(&notice, old)) {
            self.waiting.remove(at);
        }
        self.waiting.push_back(notice);
    }

    /// Appends text to the last notice if it is of the same kind and turn; else gives it back.
    fn append(&mut self, notice: Notice) -> Option<Notice> {
        match (self.waiting.back_mut(), &notice) {
            (Some(Notice::Text { turn, chunk }), Notice::Text { turn: same, chunk: more })
            | (
                Some(Notice::Reasoning { turn, chunk }),
                Notice::Reasoning { turn: same, chunk: more },
            ) if turn == same && chunk.len() < PIECE_BYTES => {
                chunk.push_str(more);
                None
            }
            _ => Some(notice),
        }
    }
}

fn text_bytes(notice: &Notice) -> usize {
    match notice {
        Notice::Text { chunk, .. } | Notice::Reasoning { chunk, .. } => chunk.len(),
        _ => 0,
    }
}

/// Whether the older notice says nothing that the newer one does not say.
fn replaces(new: &Notice, old: &Notice) -> bool {
    match (new, old) {
        (Notice::ContextChanged { .. }, Notice::ContextChanged { .. })
        | (Notice::CatalogChanged { .. }, Notice::CatalogChanged { .. })
        | (Notice::Wire { .. }, Notice::Wire { .. })
        | (Notice::Queued { .. }, Notice::Queued { .. })
        | (
            Notice::ModelChanged { switched: false, .. },
            Notice::ModelChanged { switched: false, .. },
        ) => true,
        (
            Notice::CallChanged { call, state: CallState::Running { progress: Some(_) } },
            Notice::CallChanged { call: old, state: CallState::Running { progress: Some(_) } },
        ) => call.id == old.id,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Map;

    use super::*;
    use crate::domain::{Call, CallId, ContextParts, ModelName, Progress, ToolId, TurnId};

    fn text(turn: u64, chunk: &str) -> Notice {
        Notice::Text { turn: TurnId(turn), chunk: chunk.to_owned() }
    }

    fn progress(call: u64, done: f64) -> Notice {
        let call = Call {
            id: CallId(call),
            turn: None,
            tool: ToolId::new("s", "t"),
            model_name: ModelName::from("s_t"),
            arguments: Arc::new(Map::new()),
        };
        let progress = Some(Progress { done, ..Progress::default() });
        Notice::CallChanged { call: Arc::new(call), state: CallState::Running { progress } }
    }

    fn context(system: u64) -> Notice {
        Notice::ContextChanged { parts: ContextParts { system, ..ContextParts::default() } }
    }

    fn through(notices: impl IntoIterator<Item = Notice>) -> Vec<Notice> {
        let mut outbox = Outbox::default();
        notices.into_iter().for_each(|notice| outbox.push(notice));
        std::iter::from_fn(|| outbox.pop()).collect()
    }

    #[test]
    fn text_of_one_turn_is_appended() {
        assert_eq!(through([text(1, "a"), text(1, "b")]), [text(1, "ab")]);
    }

    #[test]
    fn text_of_two_turns_stays_apart() {
        assert_eq!(through([text(1, "a"), text(2, "b")]), [text(1, "a"), text(2, "b")]);
    }

    #[test]
    fn text_is_not_moved_across_other_notices() {
        let notices = [text(1, "a"), progress(1, 1.0), text(1, "b")];
        assert_eq!(through(notices.clone()), notices);
    }

    #[test]
    fn of_progress_and_context_the_latest_stays() {
        let notices =
            [progress(1, 1.0), context(1), progress(2, 1.0), progress(1, 2.0), context(2)];
        assert_eq!(through(notices), [progress(2, 1.0), progress(1, 2.0), context(2)]);
    }

    #[test]
    fn a_face_that_takes_nothing_holds_the_model_back() {
        let mut outbox = Outbox::default();
        let piece = "x".repeat(1024);
        for _ in 0..WAITING_BYTES / 1024 {
            assert!(outbox.has_room());
            outbox.push(text(1, &piece));
        }
        assert!(!outbox.has_room());
        assert!(outbox.waiting.len() <= WAITING_BYTES / PIECE_BYTES);
        while outbox.pop().is_some() {}
        assert!(outbox.has_room());
    }
}
