//! Room for the next answer: old results are shortened first, then the conversation is summarised,
//! then the results at hand are shortened. Each time a line says so, and nothing is dropped.
//!
//! Room is made in large steps and rarely: whatever changes at the beginning of a request makes its
//! provider read everything anew.

use std::sync::Arc;

use super::Agent;
use super::context::{Conversation, cost};
use super::kept::Kept;
use super::results::{self, beginning};
use crate::domain::{Message, Source, Warning};

/// Results at the end of the conversation that are not among the old ones: the model is at work on
/// them.
const RECENT: usize = 4;
/// Tokens that stay of an old result.
const OLD: u64 = 60;
/// Tokens that always stay of a result at hand.
const LEAST: u64 = 60;
/// One result takes at most one part in so many of the window.
const ONE_RESULT: u64 = 4;

impl Agent {
    /// Makes room if there is too little. True if a summary was asked for, with which the turn goes
    /// on.
    pub(super) fn make_room(&mut self) -> bool {
        let max_output = self.config.max_output_tokens;
        if self.conversation.excess(max_output) == 0 {
            return false;
        }
        let old = self.conversation.shorten_old(&self.kept);
        if old > 0 {
            self.say_shortened(old, "old");
        }
        if self.ask_summary() {
            return true;
        }
        let excess = self.conversation.excess(max_output);
        if excess > 0 {
            let recent = self.conversation.shorten_recent(&self.kept, excess);
            if recent > 0 {
                self.say_shortened(recent, "recent");
            }
        }
        false
    }

    fn say_shortened(&mut self, results: usize, which: &str) {
        self.conversation.read_results();
        let result = if results == 1 { "result was" } else { "results were" };
        self.warn(Warning::new(
            Source::Model,
            format!("The conversation nears the model's window: {results} {which} {result} shortened for the model."),
            "The session keeps them whole, and the model can read on in them; start a new session when the subject changes.",
        ));
    }

    /// Tokens of one result that the model sees at once: as configured, and never so much that a
    /// small window is full with it.
    pub(super) fn result_limit(&self) -> u64 {
        let share = self.conversation.limit().map(|limit| limit / ONE_RESULT);
        share.map_or(self.config.result_limit, |share| {
            self.config.result_limit.min(share.max(LEAST))
        })
    }
}

impl Conversation {
    /// Shortens all results but the latest. Returns how many.
    fn shorten_old(&mut self, kept: &Kept) -> usize {
        let results = self.results();
        let round = self.round();
        let old = results.len().saturating_sub(RECENT);
        let places: Vec<usize> = results.into_iter().take(old).filter(|at| *at < round).collect();
        places.into_iter().filter(|at| self.shorten(*at, OLD, kept)).count()
    }

    /// Shortens the latest results too, all to the same size, as far as needed. Returns how many.
    fn shorten_recent(&mut self, kept: &Kept, excess: u64) -> usize {
        let places = self.results();
        let all: u64 =
            places.iter().filter_map(|at| self.messages().get(*at)).map(|m| cost(m)).sum();
        let room = all.saturating_sub(self.estimated(excess));
        let count = u64::try_from(places.len()).unwrap_or(u64::MAX).max(1);
        let each = fair_share(room, places.iter().filter_map(|at| self.messages().get(*at)), count);
        places.into_iter().filter(|at| self.shorten(*at, each, kept)).count()
    }

    fn results(&self) -> Vec<usize> {
        let is_result = |(at, message): (usize, &Arc<Message>)| {
            matches!(**message, Message::Result { .. }).then_some(at)
        };
        self.messages().iter().enumerate().filter_map(is_result).collect()
    }

    /// Shortens one result to so many tokens of its text. False if nothing is gained by it.
    fn shorten(&mut self, at: usize, tokens: u64, kept: &Kept) -> bool {
        let Some(message) = self.messages().get(at).map(Arc::clone) else { return false };
        let Message::Result { provider_id, call, name, text, is_error } = message.as_ref() else {
            return false;
        };
        let whole = call.and_then(|id| kept.get(id));
        let shorter = match whole {
            Some(whole) => results::cut(&whole.text, tokens).map(|cut| {
                format!("[Shortened to make room.]\n{}", cut.told(*is_error, &whole.tool, whole.id))
            }),
            None => remains(text, tokens),
        };
        let Some(shorter) = shorter else { return false };
        let shorter = Message::Result {
            provider_id: provider_id.clone(),
            call: *call,
            name: name.clone(),
            text: shorter.into(),
            is_error: *is_error,
        };
        let gain = cost(&message) > cost(&shorter);
        if gain {
            self.replace(at, shorter);
        }
        gain
    }
}

/// What is left of a result that is not kept: an answer of a built-in tool, or of an earlier run.
fn remains(text: &str, tokens: u64) -> Option<String> {
    let start = beginning(text, tokens);
    let (shown, total) = (start.chars().count(), text.chars().count());
    (shown < total).then(|| {
        format!(
            "{}\n[Shortened to make room: {shown} of {total} characters stay. To see it again, make the call again.]",
            results::remains(start)
        )
    })
}

/// The most tokens that each of the results may take so that all together take `room`: what the
/// small ones leave is shared by the large ones.
fn fair_share<'a>(room: u64, results: impl Iterator<Item = &'a Arc<Message>>, count: u64) -> u64 {
    /// Tokens of the lines around a shortened result.
    const FRAME: u64 = 110;
    let mut costs: Vec<u64> = results.map(|message| cost(message)).collect();
    costs.sort_unstable();
    let (mut left, mut many) = (room, count);
    for cost in costs {
        if cost > left / many.max(1) {
            break;
        }
        left -= cost;
        many = many.saturating_sub(1);
    }
    (left / many.max(1)).saturating_sub(FRAME).max(LEAST)
}
