//! What every mapping keeps of an answer while it is written, and how an answer ends.
//!
//! Calls are handed over only at the end, and only of an answer that ended: a cut stream never
//! leads to a call.

use super::fault;
use super::{Finish, ModelEvent, ProviderError};
use crate::domain::turn::{Reasoning, RequestedCall, Usage};

/// Most text of one answer, reasoning included, in bytes.
const TEXT_LIMIT: usize = 32 * 1024 * 1024;

/// Why the provider says that the answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing more to say.
    Stop,
    /// Calls are to be run.
    ToolCalls,
    /// The output limit.
    Length,
    /// Withheld.
    ContentFilter,
    /// Refused.
    Refused,
}

impl Said {
    /// The answer was ended from outside while something may have been half written.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, Self::Length | Self::ContentFilter)
    }
}

/// An answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Why it ended, once said.
    pub(super) said: Option<Said>,
    /// Token counts, the latest.
    pub(super) usage: Option<Usage>,
    /// Its reasoning.
    pub(super) thought: String,
    spoke: bool,
    received: usize,
}

impl Answer {
    /// Text of the answer.
    pub(super) fn text(
        &mut self,
        piece: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.count(piece)?;
        self.spoke = true;
        out.push(ModelEvent::Text(piece.to_owned()));
        Ok(())
    }

    /// Reasoning.
    pub(super) fn reasoning(
        &mut self,
        piece: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ProviderError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.count(piece)?;
        self.thought.push_str(piece);
        out.push(ModelEvent::Reasoning(piece.to_owned()));
        Ok(())
    }

    /// The first token has come.
    pub(super) fn has_begun(&self) -> bool {
        self.received > 0
    }

    /// Counts bytes that were received and are kept for the end.
    pub(super) fn count(&mut self, piece: &str) -> Result<(), ProviderError> {
        self.received += piece.len();
        if self.received > TEXT_LIMIT {
            return Err(fault::broken(format!(
                "The answer is longer than the limit of {TEXT_LIMIT} bytes (text of one answer)."
            )));
        }
        Ok(())
    }

    /// Hands over what was held for the end. `ended` tells whether the provider closed the answer.
    pub(super) fn conclude(
        &mut self,
        ended: bool,
        reasoning: Option<Reasoning>,
        calls: Vec<RequestedCall>,
        out: &mut Vec<ModelEvent>,
    ) {
        let ended = ended || self.said.is_some();
        let finish = if ended { self.finish(calls.is_empty()) } else { Finish::Incomplete };
        if let Some(reasoning) = reasoning {
            out.push(ModelEvent::ReasoningDone(reasoning));
        }
        if ended {
            if calls.is_empty() && self.said == Some(Said::ToolCalls) {
                out.push(ModelEvent::Warned(
                    "The model says that it calls tools, but its answer holds no call.".to_owned(),
                ));
            }
            out.extend(calls.into_iter().map(ModelEvent::Call));
        }
        if let Some(usage) = self.usage {
            out.push(ModelEvent::Usage(usage));
        }
        out.push(ModelEvent::Finished(finish));
    }

    /// The presence of calls decides, not the reason given: several servers say *stop* with calls.
    fn finish(&self, no_calls: bool) -> Finish {
        match self.said {
            Some(Said::Length) => Finish::Length,
            Some(Said::ContentFilter) => Finish::ContentFilter,
            Some(Said::Refused) => Finish::Refused,
            _ if !no_calls => Finish::ToolCalls,
            _ if self.spoke || !self.thought.is_empty() => Finish::Stop,
            _ => Finish::Empty,
        }
    }
}
