//! The agent, by its events and effects alone.

mod approvals;
mod cancelling;
mod overlaps;
mod queueing;
mod rig;
mod rounds;
mod searching;
mod stories;
mod summing;
mod told;
mod windows;
