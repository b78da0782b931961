//! Calls: one tool invocation inside a turn (or made directly), and its outcome.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::name::{ModelName, ToolId};
use super::turn::TurnId;

/// Identity of a call within one run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One tool invocation: what will be sent, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Identity.
    pub id: CallId,
    /// The turn it belongs to; `None` for a call made directly by the user.
    pub turn: Option<TurnId>,
    /// Which tool of which server.
    pub tool: ToolId,
    /// The name under which the model asked for it.
    pub model_name: ModelName,
    /// The arguments that are shown are the ones that are sent.
    pub arguments: Arc<Map<String, Value>>,
}

/// Where a call stands in a trace, in the format of the W3C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate`; empty where there is none.
    pub state: String,
}

/// Who refused a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DeniedBy {
    /// The user; `note` is a message to the model, empty if none.
    User {
        /// What the user wants the model to know.
        note: String,
    },
    /// A rule or a mode; `rule` says which and where it is written.
    Rule {
        /// The deciding rule in words.
        rule: String,
    },
    /// Nobody was there to ask; `rule` is what would allow it (`server/tool`).
    Headless {
        /// The `--allow` rule that would allow it.
        rule: String,
        /// Why it would ask: the rule or mode that decided.
        #[serde(default)]
        why: String,
    },
}

/// Part of a tool's result (PROTOCOL D14).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, audio or binary resource: not shown, can be saved.
    Binary {
        /// `image`, `audio` or `resource`.
        kind: String,
        /// Media type as the server says.
        mime: String,
        /// URI of a resource, empty for image and audio.
        uri: String,
        /// Decoded size in bytes.
        size: usize,
        /// The data, still in Base64.
        data: Arc<str>,
    },
    /// A text resource embedded in the result.
    Resource {
        /// Its URI.
        uri: String,
        /// Its text.
        text: String,
    },
    /// A link to a resource.
    Link {
        /// Its URI.
        uri: String,
        /// Its name or title.
        name: String,
    },
    /// A content type this program does not know, kept as it came.
    Unknown(Value),
}

/// What a tool answered, whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The parts in order.
    pub content: Vec<Content>,
    /// `structuredContent`; `Some(Value::Null)` differs from absent.
    pub structured: Option<Value>,
    /// Remarks of the client, such as a structured result that does not fit its schema.
    pub remarks: Vec<String>,
}

/// Whether a structured result is nothing but this text in the wrapping that servers give what is no
/// object: `{"result": …}`.
pub fn is_wrapped(text: &str, structured: &Value) -> bool {
    let Some(members) = structured.as_object().filter(|members| members.len() == 1) else {
        return false;
    };
    match members.get("result") {
        Some(Value::String(inner)) => inner == text,
        Some(inner @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => {
            let spelled = inner.to_string();
            spelled == text
        }
        _ => false,
    }
}

/// How a call ended. A tool that says it failed is an outcome, not an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// The tool answered.
    Ok(ToolOutput),
    /// The tool answered that it failed, or the server answered with an error.
    ToolError(ToolOutput),
    /// The arguments are not JSON or do not fit the schema; nothing was asked or sent.
    InvalidArguments {
        /// What is wrong, with paths, so that the model can mend it.
        message: String,
    },
    /// Refused.
    Denied(DeniedBy),
    /// Could not be sent: no such tool, server not usable, connection refused.
    NotSent {
        /// Why, and what to do.
        reason: String,
    },
    /// Sent, and the answer was lost: it may have run. Never sent again by itself.
    Unknown {
        /// What happened to the answer.
        reason: String,
    },
    /// Cancelled by the user; `sent` says whether it may have run.
    Cancelled {
        /// Whether it had been sent.
        sent: bool,
    },
}

impl Outcome {
    /// The outcome in a word or two, as cards and JSON show it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::ToolError(_) => "tool error",
            Self::InvalidArguments { .. } => "invalid arguments",
            Self::Denied(_) => "denied",
            Self::NotSent { .. } => "not sent",
            Self::Unknown { .. } => "unknown",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// Progress of a running call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done, in the server's unit.
    pub done: f64,
    /// Of how much, if known.
    pub total: Option<f64>,
    /// What the server says about it, or its last log line.
    pub note: String,
}

impl Progress {
    /// For a line of text: what the server says, else how much is done; raw. `None` where it says
    /// neither.
    pub fn words(&self) -> Option<String> {
        match self.total {
            _ if !self.note.is_empty() => Some(self.note.clone()),
            Some(total) if total > 0.0 => Some(format!("{} of {total}", self.done)),
            _ if self.done > 0.0 => Some(self.done.to_string()),
            _ => None,
        }
    }
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CallState {
    /// Waiting for the user's answer.
    Asking,
    /// Allowed, waiting for its turn or on its way.
    Running {
        /// Latest progress.
        progress: Option<Progress>,
    },
    /// Settled.
    Done {
        /// How it ended.
        outcome: Arc<Outcome>,
        /// From being sent (or asked for, if never sent) to the end.
        took: Duration,
        /// The text that the model gets as the result.
        for_model: Arc<str>,
    },
}
