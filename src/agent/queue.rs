//! Messages that the user sends while a turn goes on: they wait, in order, and can be taken back.

use std::time::Instant;

use super::Agent;
use crate::bridge::Notice;

impl Agent {
    pub(super) fn submitted(&mut self, text: String, now: Instant) {
        if text.trim().is_empty() {
            return;
        }
        if self.turn.is_none() {
            return self.begin_turn(text, now);
        }
        self.queue.push_back(text);
        self.tell_queue();
    }

    fn tell_queue(&mut self) {
        let texts = self.queue.iter().cloned().collect();
        self.tell(Notice::Queued { texts });
    }

    /// Begins a turn with the oldest message that waits, if any.
    pub(super) fn send_queued(&mut self, now: Instant) {
        if let Some(text) = self.queue.pop_front() {
            self.begin_turn(text, now);
            self.tell_queue();
        }
    }

    /// Gives everything that waits back to the user.
    pub(super) fn hand_back_queued(&mut self) {
        if !self.queue.is_empty() {
            let texts = self.queue.drain(..).collect();
            self.tell_queue();
            self.tell(Notice::TakenBack { texts });
        }
    }

    /// Gives one message that waits back to the user, so that it can be changed or dropped. It may
    /// have been sent in the meantime: then nothing happens.
    pub(super) fn taken_back(&mut self, at: usize, text: &str) {
        if self.queue.get(at).is_some_and(|waiting| waiting == text) {
            let texts = self.queue.remove(at).into_iter().collect();
            self.tell_queue();
            self.tell(Notice::TakenBack { texts });
        }
    }
}
