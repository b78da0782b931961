//! Conversations on disk: one event a line, append-only.

pub mod store;
