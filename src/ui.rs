//! The screen as pure functions: state in, frame out; messages in, intents out.
//!
//! It knows nothing of HTTP, MCP or models: only [`crate::domain`] and [`crate::bridge`].

pub mod conversation;
pub mod theme;
