//! Where a turn stands.

use std::sync::Arc;
use std::time::Instant;

use super::repeat::Repeats;
use crate::domain::turn::Reasoning;
use crate::domain::{CallId, Message, ModelName, Outcome, Question, RequestedCall, TurnId, Usage};

/// From a user's message until the model has nothing more to do.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) started: Instant,
    /// Requests to the model since the user last agreed to go on.
    pub(super) rounds: u32,
    pub(super) phase: Phase,
    pub(super) usage: Usage,
    pub(super) repeats: Repeats,
    /// Requests to the model in the whole turn.
    pub(super) all_rounds: u32,
    /// How often room was made because the endpoint said that the request is too long.
    pub(super) squeezed: u32,
    /// After how many requests the earlier conversation was summarised last, or that was tried.
    pub(super) summed_at: Option<u32>,
}

/// What a turn waits for.
#[derive(Debug)]
pub(super) enum Phase {
    /// The model's answer.
    Asking(Draft),
    /// A summary of the earlier conversation, before the model is asked.
    Summing(Draft, Summing),
    /// The results of the calls of one round.
    Calling {
        /// One for each call, in the model's order.
        slots: Vec<Slot>,
        /// The turn was cancelled and ends with the last of them.
        ending: bool,
    },
    /// The user's decision whether to go on.
    Questioning(Question),
}

/// What a summary that is waited for stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summing {
    /// It takes the place of so many messages from the beginning …
    pub(super) end: usize,
    /// … except this one.
    pub(super) keep: Option<usize>,
    /// Messages that it stands for.
    pub(super) messages: usize,
    /// Messages of which the model saw only a part.
    pub(super) cut: usize,
    /// Messages that the model did not see.
    pub(super) left_out: usize,
}

impl Turn {
    pub(super) fn new(id: TurnId, started: Instant) -> Self {
        Self {
            id,
            started,
            rounds: 0,
            phase: Phase::Asking(Draft::default()),
            usage: Usage::default(),
            repeats: Repeats::default(),
            all_rounds: 0,
            squeezed: 0,
            summed_at: None,
        }
    }

    /// The answer that is being received, if one is.
    pub(super) fn draft(&mut self) -> Option<&mut Draft> {
        match &mut self.phase {
            Phase::Asking(draft) | Phase::Summing(draft, _) => Some(draft),
            Phase::Calling { .. } | Phase::Questioning(_) => None,
        }
    }

    /// Set while what the model sends is a summary and no answer.
    pub(super) fn summing(&self) -> Option<Summing> {
        match self.phase {
            Phase::Summing(_, summing) => Some(summing),
            Phase::Asking(_) | Phase::Calling { .. } | Phase::Questioning(_) => None,
        }
    }

    /// Adds the tokens of one request.
    pub(super) fn spend(&mut self, usage: Usage) {
        self.usage = Usage {
            input: sum(self.usage.input, usage.input),
            output: sum(self.usage.output, usage.output),
            cached: sum(self.usage.cached, usage.cached),
        };
    }
}

fn sum(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.saturating_add(right)),
        (known, None) | (None, known) => known,
    }
}

/// What has come of the model's answer so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) reasoning_done: Option<Reasoning>,
    pub(super) calls: Vec<RequestedCall>,
    pub(super) usage: Usage,
}

impl Draft {
    /// Whether nothing came that belongs into the conversation.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }

    /// The message it makes.
    pub(super) fn into_message(self, incomplete: bool) -> Message {
        let plain = Reasoning { text: self.reasoning, ..Reasoning::default() };
        let reasoning = self.reasoning_done.or_else(|| (!plain.text.is_empty()).then_some(plain));
        Message::Assistant { text: self.text, reasoning, calls: self.calls, incomplete }
    }
}

/// The place of one call's result.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) provider_id: String,
    pub(super) name: ModelName,
    /// The arguments as text, to know a repeated call by.
    pub(super) arguments: String,
    pub(super) call: Option<CallId>,
    pub(super) settled: Option<Settled>,
}

/// What came of one call.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    /// What the call is called in a question: `server/tool`.
    pub(super) label: String,
    pub(super) outcome: Arc<Outcome>,
    pub(super) text: Arc<str>,
}

impl Slot {
    pub(super) fn new(requested: &RequestedCall) -> Self {
        let arguments = match &requested.arguments {
            Ok(arguments) => serde_json::to_string(arguments.as_ref()).unwrap_or_default(),
            Err(bad) => bad.raw.clone(),
        };
        Self {
            provider_id: requested.provider_id.clone(),
            name: requested.name.clone(),
            arguments,
            call: None,
            settled: None,
        }
    }
}
