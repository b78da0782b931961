//! The decision log: one line for every decision about a call and for every outcome.
//!
//! Lines are chained: each holds the hash of the one before and its own, and a small file beside
//! the log (`audit.head`) holds the last one. What is removed, changed, added, moved or cut shows
//! ([`chain::verify`]). The chain has no key: whoever can rewrite the log *and* its head can forge
//! both, so who needs more keeps the hash that `audit verify` prints somewhere else.
//!
//! Arguments are written by their hash, or whole without their secrets where the user asked for it.

pub mod chain;
mod file;
mod line;
pub mod since;
pub mod stats;

pub use file::{append, check, head_file, read};
pub use line::{AuditLine, Decider, VERSION, Written};
