//! Words between the agent and a language model's provider.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::name::ModelName;
use super::turn::{Message, Reasoning, RequestedCall, Usage};

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// System prompt.
    pub system: String,
    /// The conversation so far. Every call has exactly one result right after its message.
    pub messages: Messages,
    /// The tools on offer.
    pub tools: Arc<[ToolOffer]>,
    /// Limit on the answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
}

/// Messages of a conversation. A copy costs nothing for each byte of them: the conversation and all
/// requests made from it share every message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Messages(Arc<[Arc<Message>]>);

impl Messages {
    /// The messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> + Clone {
        self.0.iter().map(AsRef::as_ref)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Message> {
        self.0.last().map(AsRef::as_ref)
    }
}

impl Deref for Messages {
    type Target = [Arc<Message>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<&[Arc<Message>]> for Messages {
    fn from(messages: &[Arc<Message>]) -> Self {
        Self(messages.into())
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        Self(messages.into_iter().map(Arc::new).collect())
    }
}

impl<const N: usize> From<[Message; N]> for Messages {
    fn from(messages: [Message; N]) -> Self {
        Self(messages.into_iter().map(Arc::new).collect())
    }
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// What the model calls it.
    pub name: ModelName,
    /// What it does.
    pub description: String,
    /// The original schema of its arguments; each provider adapts a copy.
    pub schema: Arc<Value>,
}

/// What comes back while the model answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// Text of the answer.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// The reasoning of the message, whole, in the form in which the provider may want it back.
    ReasoningDone(Reasoning),
    /// A complete call.
    Call(RequestedCall),
    /// Token counts.
    Usage(Usage),
    /// The request failed before the first token and is sent again.
    Retrying {
        /// The attempt that comes next, from 2.
        attempt: u32,
        /// How long it waits.
        after: Duration,
        /// Why.
        reason: String,
    },
    /// Something odd that did no harm, such as a model without tool support.
    Warned(String),
    /// The answer is complete. The last event of a request that did not fail.
    Finished(Finish),
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had nothing more to say.
    Stop,
    /// It wants its calls run.
    ToolCalls,
    /// The output limit.
    Length,
    /// The provider withheld the answer.
    ContentFilter,
    /// It refused, in a field of its own; the text is the refusal.
    Refused,
    /// The stream ended without saying why: no call of it may run.
    Incomplete,
    /// Nothing at all came.
    Empty,
}

/// Why a model request failed. The message never holds a key or a URL's query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What kind.
    pub kind: ProviderErrorKind,
    /// What happened, to what, and what to try.
    pub message: String,
    /// How long the endpoint asks to wait.
    pub retry_after: Option<Duration>,
}

/// What the caller can do about a [`ProviderError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// No answer: DNS, connection, TLS.
    Unreachable,
    /// 401, 403.
    Auth,
    /// 404 or the endpoint says that the model does not exist.
    UnknownModel,
    /// 429.
    RateLimited,
    /// The conversation is longer than the window.
    TooLong,
    /// The model has no tool support.
    NoTools,
    /// Another refusal of the request (4xx).
    Refused,
    /// 5xx.
    Server,
    /// The stream broke after it had begun, or said that something went wrong.
    Broken,
    /// Cancelled by us.
    Cancelled,
}
