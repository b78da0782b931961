//! The agent, by its events and effects alone.

mod approvals;
mod cancelling;
mod rig;
mod rounds;
mod stories;
mod told;
