//! Helpers for the tests.

pub(crate) mod client;
pub(crate) mod face;
pub(crate) mod fake;
pub(crate) mod model;
#[cfg(unix)]
pub(crate) mod pty;
pub(crate) mod run;
pub(crate) mod scripted;
pub(crate) mod server;
#[cfg(unix)]
pub(crate) mod stage;
