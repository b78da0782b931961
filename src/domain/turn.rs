//! Turns and messages: the conversation as the program keeps it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::CallId;
use super::name::ModelName;

/// Identity of a turn within one run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(pub u64);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A call as the model asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestedCall {
    /// The provider's id of the call, made up where the provider gave none. Unique in its message.
    pub provider_id: String,
    /// The name the model used. It may not exist.
    pub name: ModelName,
    /// The arguments; `Err` holds what is wrong with the raw text.
    #[serde(with = "Parsed")]
    pub arguments: Result<Arc<Map<String, Value>>, BadArguments>,
}

/// How parsed arguments stand in a file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Result", rename_all = "camelCase")]
enum Parsed<T, E> {
    Ok(T),
    Err(E),
}

/// Arguments that could not be read as a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BadArguments {
    /// What the model wrote.
    pub raw: String,
    /// What is wrong with it.
    pub fault: String,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Message {
    /// From the user.
    User {
        /// What the user wrote.
        text: String,
    },
    /// From the model.
    Assistant {
        /// The answer's text; may be empty when there are calls.
        text: String,
        /// Reasoning, with the field name it came under (for the providers that want it back).
        reasoning: Option<Reasoning>,
        /// The calls it asked for, in order.
        calls: Vec<RequestedCall>,
        /// The stream broke or was cancelled before the end.
        incomplete: bool,
    },
    /// The result of one call of the assistant message before it.
    Result {
        /// The provider's id of the call.
        provider_id: String,
        /// Our id of the call, where it became one.
        call: Option<CallId>,
        /// The name the model used.
        name: ModelName,
        /// What the model is told.
        text: Arc<str>,
        /// Whether it is told as an error.
        is_error: bool,
    },
}

/// Reasoning text of one assistant message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reasoning {
    /// The text.
    pub text: String,
    /// The member it came under, such as `reasoning_content`.
    pub field: String,
    /// Opaque signature or data that some providers demand back unchanged.
    pub signature: Option<String>,
}

/// Token counts of one model request; `None` where the endpoint does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Of the request, how many came from a cache.
    pub cached: Option<u64>,
}

/// Estimated size of the next model request by part, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextParts {
    /// System prompt with the servers' instructions.
    pub system: u64,
    /// Tool definitions.
    pub tools: u64,
    /// User and assistant messages.
    pub messages: u64,
    /// Results of calls.
    pub results: u64,
    /// The model's window; `None` where not known.
    pub window: Option<u64>,
    /// Whether the endpoint's own count of an earlier request went into the figures.
    #[serde(default)]
    pub counted: bool,
    /// How tools are searched for; `None` while the definitions of all are in every request.
    #[serde(default)]
    pub tool_search: Option<ToolSearch>,
}

/// The mode in which the model searches for tools instead of getting all definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSearch {
    /// Tools that can be found.
    pub tools: u32,
    /// Of these, how many the model has the definitions of.
    pub handed: u32,
    /// What the definitions of all would cost in every request, in tokens.
    pub tokens: u64,
}

impl ContextParts {
    /// All parts together.
    pub fn total(&self) -> u64 {
        self.system + self.tools + self.messages + self.results
    }
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TurnEnd {
    /// The model had nothing more to do.
    Done,
    /// The model ran into its output limit.
    Length,
    /// The provider withheld the answer.
    ContentFilter,
    /// The model refused, in a field of its own.
    Refused,
    /// The model answered with nothing at all.
    Empty,
    /// The model's stream ended in the middle.
    Incomplete {
        /// What happened.
        reason: String,
    },
    /// The user cancelled it.
    Cancelled,
    /// The user did not want to go on after the round limit or a repeated call.
    Stopped,
    /// The model could not be reached or answered with an error.
    Failed {
        /// What happened and what to try.
        reason: String,
        /// Whether the cause is that no model was reachable (exit code 3).
        unreachable: bool,
    },
}

/// A good guess at how many tokens a text costs, before an endpoint has said so: one token for
/// every four bytes of ASCII, and more for scripts that tokenizers split finer.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let wide = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4) + wide
}
