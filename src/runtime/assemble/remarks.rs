//! What the user should know about a server's tools, in words.

use std::sync::Arc;

use super::{Fault, Input, PinMode, PinState, Pins, Policy};
use crate::domain::{ServerName, Source, Tool, ToolId, Warning};
use crate::permission::{Pattern, Rule};
use crate::text;

/// Names that one warning lists.
const LISTED: usize = 8;

/// Why a tool is not offered, for the list of filtered tools.
pub(super) fn reason(fault: &Fault) -> String {
    match fault {
        Fault::Schema(fault) => fault.clone(),
        Fault::Binary(parameter) => format!("needs binary data in “{parameter}”"),
    }
}

pub(super) fn fault(id: &ToolId, fault: &Fault) -> Warning {
    let (message, advice) = match fault {
        Fault::Schema(fault) => (
            format!("the tool “{}” is not offered: {fault}", id.tool),
            "Tell whoever runs the server; its other tools are not affected.",
        ),
        Fault::Binary(parameter) => (
            format!(
                "the tool “{}” is not offered: its parameter “{parameter}” asks for binary data",
                id.tool
            ),
            "Only text can be sent; exclude the tool with `excludeTools` to be rid of this warning.",
        ),
    };
    Warning::new(Source::Tool(id.clone()), message, advice)
}

pub(super) fn collision(server: &ServerName, set: &[ToolId]) -> Warning {
    let tools = listed(set.iter().map(ToString::to_string), set.len());
    Warning::new(
        Source::Server(server.clone()),
        format!("these tools would have the same model name: {tools}"),
        "Each model name of them ends in a hash; rename one of the servers to get plain names.",
    )
}

/// Entries of `tools` and `excludeTools` that speak of no tool.
pub(super) fn on_config(input: &Input<'_>) -> Vec<Warning> {
    let Some(names) = names(input) else { return Vec::new() };
    let stray = |pattern: &&Pattern| !names.iter().any(|name| pattern.matches(name));
    let wanted =
        input.config.tools.iter().flatten().filter(stray).map(|pattern| ("tools", pattern));
    // A pattern that excludes nothing today is a precaution; a name that does is a slip.
    let unwanted =
        input.config.exclude_tools.iter().filter(stray).filter(|pattern| pattern.is_literal());
    wanted
        .chain(unwanted.map(|pattern| ("excludeTools", pattern)))
        .map(|(field, pattern)| {
            let line = input.config.line.map(|line| format!(" (line {line} of the config)"));
            Warning::new(
                Source::Server(input.config.name.clone()),
                format!(
                    "`{field}: {pattern}` matches no tool of this server{}",
                    line.unwrap_or_default()
                ),
                did_you_mean(&pattern.0, &names),
            )
        })
        .collect()
}

/// Rules of the config that speak of no tool. Those that were remembered may outlive their tool.
pub(super) fn on_rules(input: &Input<'_>, policy: &Policy) -> Vec<Warning> {
    let (Some(names), Some(server)) = (names(input), policy.servers.get(&input.config.name)) else {
        return Vec::new();
    };
    let stray = |rule: &&Rule| {
        rule.pin.is_none()
            && rule.tool.is_literal()
            && !names.iter().any(|name| rule.tool.matches(name))
    };
    server
        .rules
        .iter()
        .filter(stray)
        .map(|rule| {
            let source = match &rule.origin.file {
                Some(file) => Source::Config {
                    file: file.clone(),
                    line: rule.origin.line,
                    field: format!("rules of {}", input.config.name),
                },
                None => Source::Server(input.config.name.clone()),
            };
            let message = format!(
                "the rule for “{}” ({}) matches no tool of the server {}",
                rule.tool,
                rule.permissions.word(),
                input.config.name
            );
            Warning::new(source, message, did_you_mean(&rule.tool.0, &names))
        })
        .collect()
}

/// Rules of the command line that speak of no tool of any server. Meaningful once every server has
/// listed its tools.
pub fn stray_rules(inputs: &[Input<'_>], policy: &Policy) -> Vec<Warning> {
    policy
        .global_rules()
        .filter(|(server, rule)| {
            let mut servers =
                inputs.iter().filter(|input| server.matches(input.config.name.as_str()));
            !servers
                .any(|input| names(input).into_iter().flatten().any(|name| rule.tool.matches(name)))
        })
        .map(|(server, rule)| {
            let known: Vec<String> = inputs
                .iter()
                .flat_map(|input| {
                    let names = names(input).into_iter().flatten();
                    names.map(|name| format!("{}/{name}", input.config.name))
                })
                .collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let pattern = format!("{server}/{}", rule.tool);
            let advice = did_you_mean(&pattern, &known);
            let word = rule.permissions.word();
            Warning::new(
                Source::Program,
                format!("the rule “{pattern}” ({word}) of the command line matches no tool"),
                advice,
            )
        })
        .collect()
}

pub(super) fn on_pins(
    tools: &[Arc<Tool>],
    mode: PinMode,
    pins: &Pins,
    endpoint: &str,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = tools
        .iter()
        .filter(|tool| tool.pin_state == PinState::Changed)
        .map(|tool| changed(tool, mode, pins, endpoint))
        .collect();
    let new: Vec<&Arc<Tool>> =
        tools.iter().filter(|tool| tool.pin_state == PinState::New).collect();
    if let (true, Some(first)) = (pins.knows(endpoint), new.first()) {
        let names = listed(new.iter().map(|tool| tool.id.tool.to_string()), new.len());
        warnings.push(Warning::new(
            Source::Server(first.id.server.clone()),
            format!("new since this server was last seen: {names}"),
            "Look at their descriptions before allowing them.",
        ));
    }
    warnings
}

fn changed(tool: &Tool, mode: PinMode, pins: &Pins, endpoint: &str) -> Warning {
    let allowed = pins.get(endpoint, &tool.id).is_some_and(|pin| pin.allowed);
    let since = if allowed { "allowed" } else { "seen" };
    let mut message =
        format!("the definition of “{}” changed since it was last {since}", tool.id.tool);
    if !tool.changes.is_empty() {
        message = format!("{message}: {}", tool.changes.join("; "));
    }
    let advice = match mode {
        PinMode::Block => {
            "It cannot be called. To accept it, set `pins: warn` for one run and allow a call of it."
        }
        PinMode::Warn | PinMode::Off => {
            "It is asked about again; look at what changed before allowing it."
        }
    };
    Warning::new(Source::Tool(tool.id.clone()), message, advice)
}

/// The original names of everything a server lists; `None` while nothing is known.
fn names<'a>(input: &Input<'a>) -> Option<Vec<&'a str>> {
    let listed = input.listed?.iter().map(|listed| listed.definition.name.as_str());
    Some(listed.chain(input.dropped.iter().map(|(name, _)| name.as_str())).collect())
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    match text::nearest(word, known.iter().copied()) {
        Some(near) => format!("Did you mean “{near}”?"),
        None if known.is_empty() => "The server lists no tools at all.".to_owned(),
        None => "`mini-me-tui tools` shows the names it has.".to_owned(),
    }
}

fn listed(names: impl Iterator<Item = String>, total: usize) -> String {
    let words = names.take(LISTED).collect::<Vec<_>>().join(", ");
    match total.saturating_sub(LISTED) {
        0 => words,
        more => format!("{words} and {more} more"),
    }
}
