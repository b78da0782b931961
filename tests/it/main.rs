//! Integration tests, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets the unexpected must fail loudly; the switches in .clippy.toml cover test functions only"
)]

mod agent_flow;
mod breaches;
mod cases;
mod check;
mod commands;
mod era_legacy;
mod era_memory;
mod era_modern;
mod era_states;
mod era_streams;
mod exec;
mod frames;
mod inquiries;
mod layers;
mod provider;
mod pty;
mod questions;
mod rough_server;
mod sdk_server;
mod sse_differential;
mod support;
mod tasks;
mod telemetry;
mod turn;
mod wire;
