//! Going on with an earlier conversation: its messages, and the whole results that the model saw
//! only a part of.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::kept::Whole;
use super::phase::Phase;
use super::{Agent, Told, builtin, results};
use crate::domain::{Call, CallId, Message, Outcome, ToolId};

/// An earlier conversation, as it is gone on with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// Its messages in order, all of them.
    pub messages: Vec<Message>,
    /// Summaries that were made of it: after how many of the messages, and what the model has had
    /// since in their place.
    pub summaries: Vec<(usize, String)>,
    /// What its calls gave, oldest first. Where two have the same identity the later one counts.
    pub results: Vec<PastResult>,
    /// The tools that were allowed for the session in the run before.
    pub granted: Vec<ToolId>,
}

/// What a call of an earlier run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct PastResult {
    /// Which call.
    pub call: CallId,
    /// Of which tool.
    pub tool: ToolId,
    /// How it ended, whole.
    pub outcome: Arc<Outcome>,
    /// What the model was told; `None` for a call that the user made.
    pub told: Option<Arc<str>>,
}

/// What becomes of what the user allowed for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grants {
    /// It holds on: the same conversation in the same run.
    Kept,
    /// It ends: they were for another conversation.
    Ended,
}

impl From<Vec<Message>> for Past {
    fn from(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }
}

impl Past {
    /// The highest identity of a call in it.
    fn last_call(&self) -> u64 {
        let told = self.messages.iter().filter_map(|message| match message {
            Message::Result { call, .. } => *call,
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        let ran = self.results.iter().map(|result| result.call);
        told.chain(ran).map(|id| id.0).max().unwrap_or(0)
    }
}

impl Agent {
    /// Goes on with an earlier conversation. Calls without a result get one that says so, results
    /// without a call are left out.
    #[must_use]
    pub fn resume(mut self, past: impl Into<Past>) -> Self {
        self.take_up(past.into());
        self
    }

    /// Leaves this conversation and goes on with another.
    pub(super) fn resumed(&mut self, past: Past, grants: Grants, now: Instant) {
        self.new_session(now);
        if grants == Grants::Ended {
            self.policy.end_grants();
        }
        self.take_up(past);
    }

    fn take_up(&mut self, past: Past) {
        // Identities of the earlier run stay taken: results are found again by them.
        self.ids.call = self.ids.call.max(past.last_call());
        let mut seen = HashSet::new();
        let latest = past.results.iter().rev().filter(|result| seen.insert(result.call));
        let kept: Vec<(Whole, bool)> = latest.filter_map(kept).collect();
        self.learn_past(&past);
        self.conversation.resume(past.messages, past.summaries);
        for (whole, cut) in kept.into_iter().rev() {
            self.kept.keep(whole);
            if cut {
                self.conversation.read_results();
            }
        }
        self.conversation.describe(&self.catalog, &self.config.system);
    }

    /// What is written of a call that answers a request of the model.
    pub(super) fn told_of(&self, call: &Call, text: &Arc<str>) -> Option<Told> {
        let turn = self.turn.as_ref().filter(|turn| Some(turn.id) == call.turn)?;
        let Phase::Calling { slots, .. } = &turn.phase else { return None };
        let slot = slots.iter().find(|slot| slot.call == Some(call.id))?;
        Some(Told { provider_id: slot.provider_id.clone(), text: Arc::clone(text) })
    }
}

/// The whole of a result, and whether the model was told only a part of it.
fn kept(result: &PastResult) -> Option<(Whole, bool)> {
    let told = result.told.as_deref()?;
    let (Outcome::Ok(output) | Outcome::ToolError(output)) = result.outcome.as_ref() else {
        return None;
    };
    if result.tool.server.as_str() == builtin::SERVER {
        return None;
    }
    let text = results::flatten(output)?;
    let cut = !told.contains(&text);
    Some((Whole { id: result.call, tool: result.tool.clone(), text: text.into() }, cut))
}

/// What a tool answered, whole, as text; `None` where it gave no answer.
pub fn whole(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => {
            Some(results::flatten(output).unwrap_or_else(|| results::EMPTY.to_owned()))
        }
        Outcome::InvalidArguments { .. }
        | Outcome::Denied(_)
        | Outcome::NotSent { .. }
        | Outcome::Unknown { .. }
        | Outcome::Cancelled { .. } => None,
    }
}

/// What the model is told of an outcome, whole and without the words of its own turn: for files
/// that do not hold them.
pub fn retell(call: &Call, outcome: &Outcome) -> String {
    results::sentence(outcome, &call.tool)
}
