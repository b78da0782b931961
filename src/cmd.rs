//! Subcommands, one a file: the program without a screen, to be scripted and tested.
//!
//! Each is a pure renderer and a thin part that talks to the runtime. Text from outside is cleaned
//! before it is printed for people; JSON is escaped by its encoder.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::cli::{Cli, Command};

pub mod audit;
pub mod call;
pub mod check;
pub mod config;
pub mod crash;
#[cfg(feature = "demo")]
pub mod demo_server;
pub mod exec;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod headless;
mod inquire;
pub mod json;
pub mod launch;
pub mod models;
pub mod output;
pub mod pages;
pub mod prompts;
pub mod questions;
pub mod resolve;
pub mod resources;
pub mod rules;
pub mod screen;
pub mod servers;
pub mod sessions;
pub mod tools;

/// How a command ended, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what it should.
    Done,
    /// It failed.
    Failed,
    /// The command line or the config cannot be used.
    Usage,
    /// No model can be reached.
    NoModel,
    /// A server that was needed is unavailable.
    NoServer,
    /// A call was denied by policy.
    Denied,
    /// The tool itself reported an error.
    ToolError,
    /// The user interrupted it.
    Interrupted,
    /// A signal ended it.
    Signal(i32),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NoModel => 3,
            Self::NoServer => 4,
            Self::Denied => 5,
            Self::ToolError => 6,
            Self::Interrupted => 130,
            Self::Signal(number) => {
                u8::try_from(number).map_or(1, |number| number.saturating_add(128))
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command stopped: what to tell the user, and how it ends.
#[derive(Debug)]
pub struct Stop {
    /// How it ends.
    pub exit: Exit,
    /// What happened, to what, and what to do. May hold outside text. Empty: nothing to say.
    pub message: String,
}

impl Stop {
    /// Stops with a message.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// The command line cannot be used.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}

impl From<io::Error> for Stop {
    /// A reader that went away (`| head`) has seen what it wanted: that is no failure.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Exit::Done, "");
        }
        Self::new(Exit::Failed, error.to_string())
    }
}

/// Runs what the command line asks for.
pub fn run(cli: Cli) -> Exit {
    match dispatch(cli) {
        Ok(exit) => exit,
        Err(stop) => {
            output::complain(&stop.message);
            stop.exit
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit, Stop> {
    let Some(command) = cli.command else {
        let face = if cli.linear || screen::accessible() {
            screen::Face::Linear
        } else {
            screen::Face::Screen
        };
        return screen::run(&cli.common, &cli.resume, cli.prompt, face);
    };
    if let Some(prompt) = cli.prompt {
        return Err(Stop::usage(format!(
            "`{prompt}` stands before a command, and commands take no message there. Use `exec \"{prompt}\"` for one turn without a screen."
        )));
    }
    let asked = &cli.resume;
    if (asked.resume.is_some() || asked.r#continue) && !matches!(command, Command::Exec(_)) {
        return Err(Stop::usage(
            "--resume and --continue belong to the screen and to `exec` only.",
        ));
    }
    let common = &cli.common;
    match command {
        Command::Exec(mut exec) => {
            exec.resume.take_over(cli.resume);
            block_on(exec::run(common, &exec))
        }
        Command::Tools(tools) => block_on(tools::run(common, &tools)),
        Command::Call(call) => block_on(call::run(common, &call)),
        Command::Resources(what) => block_on(resources::run(common, &what)),
        Command::Prompts(what) => block_on(prompts::run(common, &what)),
        Command::Servers(servers) => block_on(servers::run(common, servers.json)),
        Command::Models(models) => block_on(models::run(common, models.json)),
        Command::Check(check) => block_on(check::run(common, check.json)),
        Command::Sessions(what) => sessions::run(&what),
        Command::Audit(what) => audit::run(&what),
        Command::Config(config) => launch::config(common, &config),
        #[cfg(feature = "demo")]
        Command::DemoServer(server) => {
            block_on(demo_server::run(server.port, server.extra_tools.into()))
        }
        Command::Completions { shell } => pages::completions(shell),
        Command::Man => pages::man(),
    }
}

/// Runs a command's future to its end, or to Ctrl-C.
fn block_on(command: impl Future<Output = Result<Exit, Stop>>) -> Result<Exit, Stop> {
    runtime()?.block_on(command)
}

/// The tokio runtime of this process.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
