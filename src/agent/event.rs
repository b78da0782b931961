//! What can happen to the agent.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::past::{Grants, Past};
use crate::domain::model::{ModelEvent, ProviderError};
use crate::domain::{Answer, CallId, Catalog, Outcome, Progress, QuestionId, ToolId, TurnId};

/// What can happen to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user sent a message.
    Submitted {
        /// The message.
        text: String,
    },
    /// The user takes back a message that waits.
    TakenBack {
        /// Its place among those that wait, from 0.
        at: usize,
        /// The message; if another one stands there by now, nothing happens.
        text: String,
    },
    /// A direct call by the user.
    CallDirect {
        /// Which tool.
        tool: ToolId,
        /// With what.
        arguments: Arc<Map<String, Value>>,
        /// Whether asking is answered already.
        consent: bool,
    },
    /// A direct call with consent whose arguments are not checked by the tool's schema.
    CallUnchecked {
        /// Which tool.
        tool: ToolId,
        /// With what.
        arguments: Arc<Map<String, Value>>,
    },
    /// The model sent something.
    Model {
        /// For which turn.
        turn: TurnId,
        /// What.
        event: ModelEvent,
    },
    /// The model request failed for good.
    ModelFailed {
        /// Which turn.
        turn: TurnId,
        /// Why.
        error: ProviderError,
    },
    /// The user answered an approval.
    Answered {
        /// For which call.
        call: CallId,
        /// What.
        answer: Answer,
    },
    /// The user decided whether to go on.
    Decided {
        /// Which question.
        question: QuestionId,
        /// Whether to go on.
        go_on: bool,
    },
    /// A running call made progress.
    Progressed {
        /// Which call.
        call: CallId,
        /// What it says.
        progress: Progress,
    },
    /// A running call came to its end.
    CallDone {
        /// Which call.
        call: CallId,
        /// How.
        outcome: Outcome,
    },
    /// Servers or tools changed.
    CatalogChanged {
        /// The new snapshot.
        catalog: Arc<Catalog>,
    },
    /// The user cancelled the turn.
    Interrupted,
    /// The user starts a new conversation.
    NewSession,
    /// The user goes on with an earlier conversation instead of this one.
    Resumed {
        /// What is known of it.
        past: Box<Past>,
        /// What becomes of what was allowed for the session.
        grants: Grants,
    },
}
