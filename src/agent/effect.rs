//! What has to be done for the agent, and what is written down about it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bridge::Notice;
use crate::domain::model::ModelRequest;
use crate::domain::{Call, CallId, Message, Outcome, ServerName, ToolId, TurnEnd, TurnId};
use crate::permission::Rule;

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
        server: ServerName,
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
    /// The arguments as they were proposed: those of the call, unless the user changed them.
    pub proposed: Arc<Map<String, Value>>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "type")]
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
        /// What the model gets; absent for a call that the user made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// Another model answers from here on.
    ModelChanged {
        /// Its name as its endpoint knows it.
        model: String,
    },
    /// From here on the model gets a summary in the place of what was said before; the user's last
    /// message and the round at hand stay as they are.
    Summarised {
        /// What stands there instead.
        text: String,
    },
    /// The end of a turn.
    TurnEnded {
        /// Why.
        reason: TurnEnd,
    },
    /// The user allowed a tool for the rest of the run.
    Granted {
        /// Which.
        tool: ToolId,
    },
    /// Another run goes on with the conversation from here.
    Resumed,
}

/// The result of a call as the model gets it, once all calls of its round are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// The provider's id of the call.
    pub provider_id: String,
    /// The text.
    pub text: Arc<str>,
}
