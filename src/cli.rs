//! Command line: clap types only; completions and the man page come from them.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use url::Url;

use crate::config::ThemeName;

/// A full-screen terminal agent for people who work with hosted MCP servers.
#[derive(Debug, Parser)]
#[command(name = "mini-me-tui", version, about, after_help = EXITS)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub common: Common,
    /// Which conversation to go on with.
    #[command(flatten)]
    pub resume: Resume,
    /// Plain lines instead of the full screen, for screen readers; `ACCESSIBLE=1` and `TERM=dumb` do the same
    #[arg(long)]
    pub linear: bool,
    /// Message that is sent once all servers have been asked for their tools
    pub prompt: Option<String>,
    /// What to do without a screen.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXITS: &str = "\
Without a command the screen opens. `mini-me-tui --demo` needs no configuration and no network.

Exit codes: 0 done, 1 failed, 2 wrong usage or unreadable config, 3 no model reachable, 4 a server \
that was needed is unavailable, 5 a call was denied by policy, 6 the tool reported an error, 130 \
interrupted.";

/// Options that every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// One more server for this run
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<Url>,
    /// Variable that holds the bearer token for --url
    #[arg(long, global = true, value_name = "VAR")]
    pub token_env: Option<String>,
    /// Use the embedded demo server and demo model, and nothing else
    #[arg(long, global = true)]
    pub demo: bool,
    /// Config file
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Name of the model, as its endpoint knows it
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Colours
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<Theme>,
    /// Write every exchange with servers and the model to this file at the end (HAR, no secrets)
    #[arg(long, global = true, value_name = "FILE.har")]
    pub wire: Option<PathBuf>,
    /// How much goes to the log file
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<LogLevel>,
}

/// Which conversation to go on with, on the screen or with `exec`.
#[derive(Debug, Clone, Default, Args)]
pub struct Resume {
    /// Go on with a conversation: its id, or the beginning of it; without one it is asked
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// Go on with the latest conversation
    #[arg(long, conflicts_with = "resume")]
    pub r#continue: bool,
}

impl Resume {
    /// Takes what stands before the command's name, where nothing stands after it.
    pub fn take_over(&mut self, before: Self) {
        if self.resume.is_none() && !self.r#continue {
            *self = before;
        }
    }
}

/// Names of the themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// By terminal
    Auto,
    /// For dark backgrounds
    Dark,
    /// For light backgrounds
    Light,
    /// The sixteen colours alone
    Ansi,
    /// No colours
    None,
}

impl From<Theme> for ThemeName {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Auto => Self::Auto,
            Theme::Dark => Self::Dark,
            Theme::Light => Self::Light,
            Theme::Ansi => Self::Ansi,
            Theme::None => Self::None,
        }
    }
}

/// How much goes to the log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing
    Off,
    /// What failed
    Error,
    /// What was odd
    Warn,
    /// What happened
    Info,
    /// Why it happened
    Debug,
    /// What is sent too, redacted and cut
    Trace,
}

impl LogLevel {
    /// The level as a filter word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// What to do without a screen.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Run one turn and print the answer; progress goes to standard error
    Exec(Exec),
    /// List the tools that were discovered
    Tools(Tools),
    /// Call one tool; the command line is the consent
    Call(Call),
    /// List what servers offer to be read, or read it
    #[command(subcommand)]
    Resources(Resources),
    /// List the messages that servers have ready, or get one
    #[command(subcommand)]
    Prompts(Prompts),
    /// Show the state of each server
    Servers(Json),
    /// List the models that the configured endpoint offers
    Models(Json),
    /// Check each server stage by stage
    Check(Json),
    /// Show or write the config
    #[command(subcommand)]
    Config(Config),
    /// List, show, export, fork or delete conversations
    #[command(subcommand)]
    Sessions(Sessions),
    /// Show the log of decisions and outcomes
    Audit(Audit),
    /// Serve the demo's bug tracker to any MCP client of this machine
    #[cfg(feature = "demo")]
    DemoServer(DemoServer),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

/// Run one turn.
#[derive(Debug, Clone, Args)]
pub struct Exec {
    /// The message; `-` reads it from standard input
    #[arg(required_unless_present = "json_schema")]
    pub prompt: Option<String>,
    /// Print one event per line as JSON
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of the events of --json, and do nothing else
    #[arg(long)]
    pub json_schema: bool,
    /// Allow calls that this matches: `server/tool` in original names, `*` allowed
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Deny calls that this matches; beats every --allow
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Which conversation to go on with.
    #[command(flatten)]
    pub resume: Resume,
}

/// List tools.
#[derive(Debug, Clone, Args)]
pub struct Tools {
    /// Only this server
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// With --json: each tool's input and output schema too, as the server gave them
    #[arg(long, requires = "json")]
    pub schemas: bool,
    /// Say which rule decides about a tool, where it is written, and what would change the answer
    #[arg(long, value_name = "TOOL")]
    pub explain: Option<String>,
    /// Arguments that --explain decides about: JSON, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON|@FILE|-", requires = "explain")]
    pub args: Option<String>,
    /// Show what is remembered of each tool's definition, and what changed since
    #[arg(long, conflicts_with = "explain")]
    pub pins: bool,
    /// Accept the changed definition of a tool, after showing what changed; it allows no call
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["explain", "pins"])]
    pub accept_pin: Option<String>,
    /// Accept it only if its fingerprint begins with this
    #[arg(long, value_name = "HEX", requires = "accept_pin")]
    pub fingerprint: Option<String>,
}

/// Call one tool.
#[derive(Debug, Clone, Args)]
pub struct Call {
    /// `server/tool`, a model name, or an original name that only one server has
    pub tool: String,
    /// Arguments; values take the type that the tool's schema asks for
    #[arg(value_name = "KEY=VALUE")]
    pub arguments: Vec<String>,
    /// Arguments as a JSON object: the text itself, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub args: Option<String>,
    /// Send the arguments without checking them by the tool's schema, to see what the server does
    #[arg(long)]
    pub unchecked: bool,
    /// Answer for a form that the server asks for meanwhile: a field and its value; without one, and
    /// with a terminal, it is asked there
    #[arg(long, value_name = "KEY=JSON")]
    pub answer: Vec<String>,
    /// Accept forms of the server whose defaults (and answers) are enough
    #[arg(long)]
    pub accept_defaults: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which server is meant, and the form of the output.
#[derive(Debug, Clone, Args)]
pub struct Origin {
    /// Only this server
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Resources of servers.
#[derive(Debug, Clone, Subcommand)]
pub enum Resources {
    /// List resources and templates of resources
    List(Origin),
    /// Read one
    Read(ReadResource),
}

/// Read a resource.
#[derive(Debug, Clone, Args)]
pub struct ReadResource {
    /// Its URI, or a template and the values of its variables
    pub uri: String,
    /// Values of the template's variables
    #[arg(value_name = "KEY=VALUE")]
    pub variables: Vec<String>,
    /// Which server, and the form of the output.
    #[command(flatten)]
    pub from: Origin,
}

/// Prompts of servers.
#[derive(Debug, Clone, Subcommand)]
pub enum Prompts {
    /// List prompts
    List(Origin),
    /// Get one, made for these arguments
    Get(GetPrompt),
}

/// Get a prompt.
#[derive(Debug, Clone, Args)]
pub struct GetPrompt {
    /// `server/prompt`, or a name that only one server has
    pub name: String,
    /// Arguments; their values are text
    #[arg(value_name = "KEY=VALUE")]
    pub arguments: Vec<String>,
    /// Which server, and the form of the output.
    #[command(flatten)]
    pub from: Origin,
}

/// The decision log.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Audit {
    /// Verify it, or count
    #[command(subcommand)]
    pub what: Option<AuditWhat>,
    /// Which lines
    #[command(flatten)]
    pub lines: AuditLines,
}

/// What is done with the decision log.
#[derive(Debug, Clone, Subcommand)]
pub enum AuditWhat {
    /// Find lines that were removed, changed, added or moved; 1 if there are any
    Verify(Json),
    /// Calls, denials, errors and times by server and tool
    Stats(AuditLines),
}

/// Which lines of the decision log.
#[derive(Debug, Clone, Args)]
pub struct AuditLines {
    /// Only lines since then: a span such as 30m, 2h, 7d, or a date (UTC)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only lines about this server
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A command whose only option is the form of its output.
#[derive(Debug, Clone, Args)]
pub struct Json {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Show or write the config.
#[derive(Debug, Clone, Subcommand)]
pub enum Config {
    /// Write a starter file, if there is none
    Init,
    /// Show what is in force and where each value comes from
    Show(Json),
    /// Print where the config is looked for
    Path,
    /// Print the JSON Schema of the config, for editors
    Schema,
}

/// Conversations on disk. An ID may be the beginning of one.
#[derive(Debug, Clone, Subcommand)]
pub enum Sessions {
    /// List all, the one that was last written to first
    List(Json),
    /// Show one, cleaned for a terminal
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Print one as Markdown or JSON, as it is, or write it to a file
    Export(Export),
    /// Copy one into a new session that goes on from an earlier message
    Fork {
        /// Its id, or the beginning of it
        id: String,
        /// The message of yours, counted from 1, before which the copy ends; all without it
        #[arg(long, value_name = "N")]
        at: Option<usize>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete for good; asks first on a terminal
    Delete {
        /// Their ids, or the beginnings of them
        #[arg(required = true)]
        ids: Vec<String>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

/// Export a conversation.
#[derive(Debug, Clone, Args)]
pub struct Export {
    /// Its id, or the beginning of it
    pub id: String,
    /// The form
    #[arg(long, value_name = "FORM", default_value = "markdown")]
    pub format: ExportFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write to this file, for you alone to read, instead of printing
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// To be read
    #[value(alias = "md")]
    Markdown,
    /// To be processed: every event, nothing left out
    Json,
}

/// Serve the demo's bug tracker.
#[cfg(feature = "demo")]
#[derive(Debug, Clone, Args)]
pub struct DemoServer {
    /// Port on the loopback interface; 0 takes any free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Made-up tools beside the seven, to see what many tools are like
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=10_000))]
    pub extra_tools: u16,
}

/// The definition of the whole command line.
pub fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once(&"mini-me-tui").chain(words))
    }

    #[test]
    fn definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn common_options_stand_before_or_after_the_command() {
        assert!(parse(&["--demo", "tools"]).unwrap().common.demo);
        assert!(parse(&["tools", "--demo", "--json"]).unwrap().common.demo);
        let cli = parse(&["--url", "http://localhost:1/mcp", "call", "x/y", "a=1"]).unwrap();
        assert_eq!(cli.common.url.unwrap().as_str(), "http://localhost:1/mcp");
        assert!(matches!(cli.command, Some(Command::Call(call)) if call.arguments == ["a=1"]));
    }

    #[test]
    fn a_sentence_is_a_prompt_and_not_a_command() {
        let cli = parse(&["Look at task #42 and explain it"]).unwrap();
        assert_eq!(cli.prompt.as_deref(), Some("Look at task #42 and explain it"));
        assert!(cli.command.is_none());
    }

    #[test]
    fn rules_can_be_repeated() {
        let words = ["exec", "-", "--allow", "a/*", "--allow", "b/*", "--deny", "b/x"];
        let Some(Command::Exec(exec)) = parse(&words).unwrap().command else { panic!() };
        assert_eq!((exec.allow.len(), exec.deny.len(), exec.prompt.as_deref()), (2, 1, Some("-")));
    }

    #[test]
    fn wrong_usage_is_exit_code_2() {
        assert_eq!(parse(&["tools", "--nope"]).unwrap_err().exit_code(), 2);
        assert_eq!(parse(&["--url", "not a url"]).unwrap_err().exit_code(), 2);
        assert_eq!(parse(&["--help"]).unwrap_err().exit_code(), 0);
    }
}
