//! The screen as pure functions: state in, frame out; messages in, intents out.
//!
//! It knows nothing of HTTP, MCP or models: only [`crate::domain`] and [`crate::bridge`].

pub mod code;
pub mod conversation;
pub mod flow;
pub mod markdown;
pub mod stream;
pub mod theme;
