//! Arguments → face → exit code.

use std::process::ExitCode;

use clap::Parser;
use mini_me_tui::{cli, cmd};

fn main() -> color_eyre::Result<ExitCode> {
    cmd::crash::install()?;
    Ok(cmd::run(cli::Cli::parse()).into())
}
