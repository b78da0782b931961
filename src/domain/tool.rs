//! Tools: what a server says of them and what we make of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Change;
use super::name::{ModelName, ToolId, ToolName};

/// What may be done without asking. Also the word in the config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Run without a question.
    Auto,
    /// Ask the user.
    Ask,
    /// Never run.
    Deny,
}

impl Mode {
    /// The config word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A server's claims about one of its tools. Claims, not facts; `None` means not said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// Does not change anything. Not said means it may.
    pub read_only_hint: Option<bool>,
    /// May destroy. Not said means it may.
    pub destructive_hint: Option<bool>,
    /// Calling it twice is like calling it once. Not said means it is not.
    pub idempotent_hint: Option<bool>,
    /// Reaches beyond the server. Not said means it does.
    pub open_world_hint: Option<bool>,
}

/// A tool as its server defines it (`tools/list`, PROTOCOL D1–D11).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Original name.
    pub name: ToolName,
    /// Label: `title`, else `annotations.title`.
    pub title: Option<String>,
    /// What it does, in the server's words; may be empty.
    pub description: String,
    /// JSON Schema of the arguments, verbatim.
    pub input_schema: Arc<Value>,
    /// JSON Schema of `structuredContent`, verbatim.
    pub output_schema: Option<Arc<Value>>,
    /// The server's claims.
    pub annotations: Annotations,
    /// The whole definition as it came, unknown members included.
    pub raw: Arc<Value>,
}

/// How a tool's definition compares with what was remembered of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PinState {
    /// The same as remembered.
    Known,
    /// Never seen before on this server.
    #[default]
    New,
    /// Not what was remembered.
    Changed,
}

/// A tool that is offered: its definition and what the program decided about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Identity.
    pub id: ToolId,
    /// What the model calls it.
    pub model_name: ModelName,
    /// What its server says of it.
    pub definition: Arc<ToolDefinition>,
    /// Fingerprint of the definition: lower-case hex of SHA-256.
    pub pin: String,
    /// How the fingerprint compares with the remembered one.
    pub pin_state: PinState,
    /// What changed since the definition that is remembered; quotes outside text. Empty where nothing
    /// did or nothing is remembered to compare with.
    pub changes: Vec<Change>,
    /// The mode in force for a call with unknown arguments.
    pub permission: Mode,
    /// Switched off by the user for this run.
    pub disabled: bool,
    /// Estimated price of the definition in every model request, in tokens.
    pub tokens: u32,
}
