//! The agent, by its events and effects alone.

mod approvals;
mod cancelling;
mod overlaps;
mod rig;
mod rounds;
mod stories;
mod summing;
mod told;
