//! Prompts of servers: messages made for the user to start from (PROTOCOL §14). All text is raw,
//! and written by the server: it is shown before it goes to a model (Q2).

use super::call::Content;

/// A prompt that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What it is asked for by.
    pub name: String,
    /// Its label, where it has one.
    pub title: Option<String>,
    /// What it is for; may be empty.
    pub description: String,
    /// What it can be given.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt; its value is always text (Q1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its label, where it has one.
    pub title: Option<String>,
    /// What it is; may be empty.
    pub description: String,
    /// Whether the prompt cannot do without it.
    pub required: bool,
}

/// A prompt as it was made for certain arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptText {
    /// What it is; may be empty.
    pub description: String,
    /// Its messages in order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a [`PromptText`].
#[derive(Debug, Clone, PartialEq)]
pub struct PromptMessage {
    /// `user` or `assistant`, as the server says.
    pub role: String,
    /// Its content.
    pub content: Content,
}
