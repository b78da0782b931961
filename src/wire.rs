//! The wire: every HTTP exchange of a run, bounded, without secrets; and what can be made of one.
//!
//! [`Recorder`] keeps them, [`Tap`] is what a client records through, [`curl()`], [`command()`] and
//! [`har()`] write them for other programs. Pure: whoever makes a recorder gives it a clock, and what
//! is shown of an exchange is worked out when somebody looks, never while it is recorded.

mod command;
mod curl;
mod events;
#[cfg(test)]
mod fixtures;
mod guard;
mod har;
mod quote;
mod recorder;
mod ring;
mod tap;

pub use command::command;
pub use curl::curl;
pub use events::{StreamEvent, events};
pub use guard::{Guard, Needles, variable_of};
pub use har::{har, stamp};
pub use quote::{bytes as quote_bytes, word as quote};
pub use recorder::{Clock, Recorder};
pub use ring::Limits;
pub use tap::{Request, Tap, Track};
