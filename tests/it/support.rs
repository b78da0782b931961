//! Helpers for the tests.

pub(crate) mod client;
pub(crate) mod model;
pub(crate) mod server;
