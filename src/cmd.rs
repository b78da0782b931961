//! Subcommands, one a file.

pub mod config;
