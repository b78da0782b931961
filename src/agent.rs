//! The agent's turn as a state machine: events in, effects out. No I/O, no clock.

use std::sync::Arc;
use std::time::Duration;

use crate::bridge::Notice;
use crate::domain::model::{ModelEvent, ModelRequest, ProviderError};
use crate::domain::{
    Answer, Call, CallId, Catalog, Message, Outcome, Progress, QuestionId, ToolId, TurnId,
};
use crate::permission::Rule;

/// What can happen to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user sent a message.
    Submitted {
        /// The message.
        text: String,
    },
    /// A direct call by the user.
    CallDirect {
        /// Which tool.
        tool: ToolId,
        /// With what.
        arguments: Arc<serde_json::Map<String, serde_json::Value>>,
        /// Whether asking is answered already.
        consent: bool,
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
}

/// What the conductor has to do for the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send this to the model and feed its events back.
    AskModel {
        /// For which turn.
        turn: TurnId,
        /// What.
        request: ModelRequest,
    },
    /// Stop the model request of this turn.
    StopModel {
        /// Which turn.
        turn: TurnId,
    },
    /// Run this call: it has been decided.
    RunCall {
        /// Which.
        call: Arc<Call>,
    },
    /// Cancel this running call; its outcome still comes.
    StopCall {
        /// Which.
        call: CallId,
    },
    /// Remember a rule that the user wrote with *always*.
    Remember {
        /// The server it belongs to.
        server: crate::domain::ServerName,
        /// The rule.
        rule: Rule,
    },
    /// Write a line to the audit log.
    Audit(AuditRecord),
    /// Append to the session file.
    Save(SessionEvent),
    /// Tell the face.
    Tell(Notice),
}

/// A decision or an outcome, for the audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// The call.
    pub call: Arc<Call>,
    /// Fingerprint of the tool's definition.
    pub pin: String,
    /// `decision` or `outcome`.
    pub what: AuditWhat,
}

/// What an audit line is about.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditWhat {
    /// Whether it may run, and who decided: a rule in words, or `user: once`.
    Decision {
        /// Allowed or not.
        allowed: bool,
        /// Who or what decided.
        by: String,
    },
    /// How it ended.
    Outcome {
        /// The word of the outcome.
        outcome: String,
        /// How long it took.
        took: Duration,
    },
}

/// A line of the session file.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum SessionEvent {
    /// A message of the conversation, complete.
    Message {
        /// The message.
        message: Message,
    },
    /// A call that came to its end, with its whole result.
    Call {
        /// The call.
        call: Arc<Call>,
        /// How it ended.
        outcome: Arc<Outcome>,
        /// How long it took, in milliseconds.
        took_ms: u64,
    },
    /// The end of a turn.
    TurnEnded {
        /// Why.
        reason: crate::domain::TurnEnd,
    },
}
