//! mini-me-tui: a full-screen terminal agent for people who work with hosted MCP servers.
//!
//! # The map
//!
//! Lower layers know nothing of higher ones; `tests/it/layers.rs` holds this table to the code.
//!
//! | layer | modules | what lives there |
//! |---|---|---|
//! | 0 words | [`domain`], [`jsonrpc`], [`sse`], [`text`], [`redact`], [`net`], [`bridge`] | values, decoding, cleaning |
//! | 1 decisions | [`schema`], [`permission`], [`pin`], [`wire`], [`agent`], [`session`], [`config`], parts of [`mcp`] and [`provider`], [`ui`] | state machines and mappings: no I/O, no clock |
//! | 2 hands | `mcp::{http, exchange, desk, client}`, `provider::http`, `config::load`, `session::store`, [`store`], [`audit`], [`logging`], [`telemetry`], [`paths`], [`terminal`] | files, sockets, the terminal |
//! | 3 conductor | [`runtime`] | owns the agent and the catalog; performs effects |
//! | 4 faces | [`app`], [`cmd`], [`demo`] | what a person starts |
//!
//! `agent`, `mcp`, `provider` and `ui` never import one another: they meet in `runtime` and
//! [`bridge`].

pub mod agent;
pub mod app;
pub mod audit;
pub mod bridge;
pub mod cli;
pub mod cmd;
pub mod config;
#[cfg(feature = "demo")]
pub mod demo;
pub mod domain;
pub mod jsonrpc;
pub mod linear;
pub mod logging;
pub mod mcp;
pub mod net;
pub mod paths;
pub mod permission;
pub mod pin;
pub mod provider;
pub mod redact;
pub mod runtime;
pub mod schema;
pub mod session;
pub mod sse;
pub mod store;
pub mod telemetry;
pub mod terminal;
pub mod text;
pub mod ui;
pub mod wire;
