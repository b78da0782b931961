//! Limits on how often a rule may let calls through (`maxCalls: 5/min`) and until when.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use super::rule::Rate;
use crate::domain::ToolId;

/// Calls that are remembered of one tool, whatever the rules say: a larger rate is no limit.
const REMEMBERED: usize = 10_000;

/// When tools were called, as far as rates need it.
#[derive(Debug, Clone, Default)]
pub(super) struct CallLog {
    calls: HashMap<ToolId, VecDeque<Instant>>,
}

impl CallLog {
    /// Notes a call.
    pub(super) fn record(&mut self, tool: &ToolId, now: Instant) {
        let calls = self.calls.entry(tool.clone()).or_default();
        if calls.len() >= REMEMBERED {
            calls.pop_front();
        }
        calls.push_back(now);
    }

    /// Whether the tools of `scope` together have used up `rate`.
    pub(super) fn used_up(
        &self,
        rate: Rate,
        now: Instant,
        scope: impl Fn(&ToolId) -> bool,
    ) -> bool {
        self.wait(rate, now, scope).is_some()
    }

    /// After how long the tools of `scope` may be called again within `rate`; `None` if at once.
    pub(super) fn wait(
        &self,
        rate: Rate,
        now: Instant,
        scope: impl Fn(&ToolId) -> bool,
    ) -> Option<Duration> {
        let recent = |at: &&Instant| now.saturating_duration_since(**at) < rate.per;
        let mut used: Vec<Instant> = self
            .calls
            .iter()
            .filter(|(tool, _)| scope(tool))
            .flat_map(|(_, calls)| calls.iter().rev().take_while(recent).copied())
            .collect();
        let most = usize::try_from(rate.calls).unwrap_or(usize::MAX).clamp(1, REMEMBERED);
        let beyond = used.len().checked_sub(most)?;
        used.sort_unstable();
        let frees = used.get(beyond)?.checked_add(rate.per)?;
        Some(frees.saturating_duration_since(now))
    }
}

/// A tool that the user allowed for the rest of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    /// Fingerprint of the definition that was allowed.
    pub(super) pin: String,
    /// When it ends.
    pub(super) until: Option<Instant>,
    /// How often it may be used.
    pub(super) rate: Option<Rate>,
}
