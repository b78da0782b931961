//! Conversations on disk: one event a line, append-only (DESIGN §10).

pub mod store;
