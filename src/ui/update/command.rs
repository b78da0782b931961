//! The `/` commands: one table, completion, and what each one does.

use std::time::Instant;

use super::{global, models, queue, sessions};
use crate::bridge::{Op, Target};
use crate::config::ThemeName;
use crate::domain::{Catalog, ServerName, ToolId};
use crate::text;
use crate::ui::conversation::Move;
use crate::ui::intent::Intent;
use crate::ui::keymap::Place;
use crate::ui::state::UiState;
use crate::ui::state::input::Composer;
use crate::ui::state::page::Subject;

/// One command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What follows it; empty where nothing does, in `[…]` where it may be left out.
    pub argument: &'static str,
    /// What it does.
    pub help: &'static str,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Help,
    New,
    Resume,
    Fork,
    Tools,
    Warnings,
    Context,
    Queue,
    Permissions,
    Reconnect,
    Enable,
    Disable,
    Theme,
    Mouse,
    Copy,
    Model,
    Wire,
    Quit,
}

macro_rules! command {
    ($name:literal, $aliases:expr, $argument:literal, $what:ident, $help:literal) => {
        Command {
            name: $name,
            aliases: &$aliases,
            argument: $argument,
            help: $help,
            what: What::$what,
        }
    };
}

/// All commands, in the order in which they are shown.
pub const COMMANDS: &[Command] = &[
    command!("help", ["?"], "", Help, "keys and commands"),
    command!("new", ["clear"], "", New, "new conversation; the old one stays on disk"),
    command!("resume", ["sessions"], "[id]", Resume, "go on with an earlier conversation"),
    command!("fork", ["branch"], "[number]", Fork, "go on in a copy, from an earlier message"),
    command!("tools", ["servers"], "", Tools, "servers and tools in the side panel"),
    command!("warnings", [], "", Warnings, "all warnings with their advice"),
    command!("context", [], "", Context, "what the next request is made of, in tokens"),
    command!("permissions", [], "", Permissions, "what runs, what asks, what is denied"),
    command!("reconnect", [], "[server]", Reconnect, "connect a server again, or all that failed"),
    command!("enable", [], "server or tool", Enable, "switch a server or a tool on"),
    command!("disable", [], "server or tool", Disable, "switch a server or a tool off"),
    command!("theme", [], "auto, dark, light, ansi or none", Theme, "change the colours"),
    command!("mouse", [], "on or off", Mouse, "capture the mouse, or leave it to the terminal"),
    command!("copy", [], "", Copy, "copy the selected item, or the last answer"),
    command!("model", ["models"], "[name]", Model, "choose the model that answers"),
    command!("wire", [], "", Wire, "every exchange with servers and the model"),
    command!("quit", ["exit", "q"], "", Quit, "leave"),
    command!("queue", [], "[edit 1, drop 1, clear]", Queue, "messages that wait to be sent"),
];

/// The commands that the draft may become: it is a slash and the beginning of a name.
pub fn completions(input: &Composer) -> Vec<&'static Command> {
    let [line] = input.area.lines() else { return Vec::new() };
    let Some(word) = line.strip_prefix('/').filter(|_| !input.completion_closed) else {
        return Vec::new();
    };
    let begins = |command: &&Command| {
        command.name.starts_with(word)
            || (!word.is_empty() && command.aliases.iter().any(|alias| alias.starts_with(word)))
    };
    COMMANDS.iter().filter(begins).collect()
}

/// Carries out the command in the draft. What is not understood is said and stays in the draft.
pub(super) fn run(state: &mut UiState, now: Instant) -> Vec<Intent> {
    let line = state.input.text();
    let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
    let word = word.trim_start_matches('/');
    let found =
        COMMANDS.iter().find(|command| command.name == word || command.aliases.contains(&word));
    let done = match found {
        Some(command) => carry_out(state, command, argument.trim(), now),
        None => Err(unknown(word)),
    };
    match done {
        Ok(intents) => {
            state.input.take();
            intents
        }
        Err(fault) => {
            state.say(fault, now);
            Vec::new()
        }
    }
}

fn unknown(word: &str) -> String {
    let known = COMMANDS.iter().map(|command| command.name);
    let word = text::strict_line(word);
    text::nearest(word.as_str(), known).map_or_else(
        || format!("there is no command /{word}; a space before it sends it as a message"),
        |near| format!("there is no command /{word}; did you mean /{near}?"),
    )
}

/// Carries out one command.
pub(super) fn carry_out(
    state: &mut UiState,
    command: &Command,
    argument: &str,
    now: Instant,
) -> Result<Vec<Intent>, String> {
    match command.what {
        What::Help => global::open(state, Subject::Help(Place::Input)),
        What::Context => global::open(state, Subject::Context),
        What::Queue => return queue::command(state, argument, now),
        What::Warnings => global::open(state, Subject::Warnings),
        What::Permissions => global::open(state, Subject::Permissions),
        What::Tools => global::show_panel(state, true),
        What::New => {
            state.conversation.go(Move::Bottom);
            return Ok(vec![Intent::Send(Op::NewSession)]);
        }
        What::Resume => return Ok(sessions::resume(state, argument)),
        What::Fork => return sessions::fork(state, argument),
        What::Reconnect => return reconnect(state, argument, now),
        What::Enable => return switch(state, argument, true),
        What::Disable => return switch(state, argument, false),
        What::Theme => state.options.theme = theme(argument)?,
        What::Mouse => return mouse(state, argument),
        What::Copy => return Ok(global::copy(state, now)),
        What::Model if argument.is_empty() => return Ok(models::open(state)),
        What::Model => return Ok(models::switch(argument)),
        What::Wire => super::wire::open(state, None),
        What::Quit => return Ok(vec![Intent::Exit]),
    }
    Ok(Vec::new())
}

fn theme(word: &str) -> Result<ThemeName, String> {
    match word {
        "auto" => Ok(ThemeName::Auto),
        "dark" => Ok(ThemeName::Dark),
        "light" => Ok(ThemeName::Light),
        "ansi" => Ok(ThemeName::Ansi),
        "none" => Ok(ThemeName::None),
        _ => Err("themes: auto, dark, light, ansi, none".to_owned()),
    }
}

fn mouse(state: &mut UiState, word: &str) -> Result<Vec<Intent>, String> {
    let on = match word {
        "on" => true,
        "off" => false,
        _ => return Err("write /mouse on or /mouse off".to_owned()),
    };
    state.options.mouse = on;
    Ok(vec![Intent::Mouse { on }])
}

fn reconnect(state: &mut UiState, word: &str, now: Instant) -> Result<Vec<Intent>, String> {
    let server = if word.is_empty() { None } else { Some(server(&state.catalog, word)?) };
    let said = server.as_ref().map_or_else(
        || "reconnecting every server that is not usable".to_owned(),
        |name| format!("reconnecting {}", text::strict_line(name.as_str())),
    );
    state.say(said, now);
    Ok(vec![Intent::Send(Op::Reconnect { server })])
}

fn server(catalog: &Catalog, word: &str) -> Result<ServerName, String> {
    let names = || catalog.servers.iter().map(|server| server.name.as_str());
    let found = catalog.servers.iter().find(|server| server.name.as_str() == word);
    found.map(|server| server.name.clone()).ok_or_else(|| missing("server", word, names()))
}

fn missing<'a>(kind: &str, word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let word = text::strict_line(word);
    text::nearest(word.as_str(), known).map_or_else(
        || format!("there is no {kind} {word}"),
        |near| format!("there is no {kind} {word}; did you mean {}?", text::strict_line(near)),
    )
}

fn switch(state: &UiState, word: &str, on: bool) -> Result<Vec<Intent>, String> {
    let target = target(&state.catalog, word)?;
    Ok(vec![Intent::Send(Op::SetEnabled { target, on })])
}

/// A server's name, a tool's model name, `server/tool`, or an original name only one server has.
fn target(catalog: &Catalog, word: &str) -> Result<Target, String> {
    if word.is_empty() {
        return Err("which server or tool?".to_owned());
    }
    if let Ok(name) = server(catalog, word) {
        return Ok(Target::Server(name));
    }
    if let Some(tool) =
        catalog.tools().find(|tool| tool.model_name.as_str() == word || tool.id.to_string() == word)
    {
        return Ok(Target::Tool(tool.id.clone()));
    }
    let by_name = || catalog.tools().filter(|tool| tool.id.tool.as_str() == word);
    let ids: Vec<ToolId> = by_name().map(|tool| tool.id.clone()).collect();
    match ids.as_slice() {
        [only] => Ok(Target::Tool(only.clone())),
        [] => Err(missing(
            "server or tool",
            word,
            catalog.tools().map(|tool| tool.model_name.as_str()),
        )),
        _ => Err(format!("several servers have {}: write server/tool", text::strict_line(word))),
    }
}
