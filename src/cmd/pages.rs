//! Completions and the man page, made from the definition of the command line.

use clap_complete::Shell;

use super::{Exit, Stop, output};
use crate::cli;

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::definition(), "mini-me-tui", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints the man page, its commands included.
pub fn man() -> Result<Exit, Stop> {
    let mut page = Vec::new();
    let definition = cli::definition();
    clap_mangen::Man::new(definition.clone()).render(&mut page)?;
    for command in definition.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("mini-me-tui {}", command.get_name());
        let one = clap_mangen::Man::new(command.clone().display_name(name.clone()).bin_name(name));
        one.render_name_section(&mut page)?;
        one.render_synopsis_section(&mut page)?;
        one.render_options_section(&mut page)?;
    }
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}
