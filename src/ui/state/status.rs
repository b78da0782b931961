//! What the status line shows: the turn, the context, a line of the program.

use std::time::{Duration, Instant};

use crate::domain::{ContextParts, TurnId};

/// A turn that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub turn: TurnId,
    /// Since when.
    pub since: Instant,
    /// The user asked to cancel it.
    pub cancelling: bool,
    /// A retry of the model that is waited for: attempt and reason.
    pub retrying: Option<(u32, Duration, String)>,
}

/// What the status line shows.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// The turn that goes on.
    pub turn: Option<Running>,
    /// Tokens of the next request by part.
    pub context: ContextParts,
    /// A line of the program, and until when it stands.
    pub said: Option<(String, Instant)>,
    /// Messages that wait for the turn to end.
    pub queued: Vec<String>,
    /// Of these, those that were taken back to be dropped.
    pub dropping: Vec<String>,
}
