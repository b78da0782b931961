//! Helpers for the tests.

pub(crate) mod client;
pub(crate) mod server;
