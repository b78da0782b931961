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
mod audit;
mod breaches;
mod cases;
mod check;
mod cleaning;
mod commands;
mod dialog;
mod era_items;
mod era_legacy;
mod era_memory;
mod era_modern;
mod era_rules;
mod era_states;
mod era_streams;
mod exec;
mod exfiltration;
mod frames;
mod inquiries;
mod layers;
mod models;
mod one_door;
mod pins;
mod policy;
mod provider;
mod pty;
mod questions;
mod rough_server;
mod sdk_server;
mod secrets;
mod sessions;
mod sse_differential;
mod support;
mod tasks;
mod telemetry;
mod turn;
mod type_ahead;
mod wire;
