//! Helpers for the tests.

pub(crate) mod client;
pub(crate) mod face;
pub(crate) mod fake;
pub(crate) mod model;
pub(crate) mod run;
pub(crate) mod scripted;
pub(crate) mod server;
