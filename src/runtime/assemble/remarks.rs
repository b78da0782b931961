//! What the user should know about a server's tools, in words.

use std::sync::Arc;

use super::{Board, Fault, Input, PinMode, PinState, Policy};
use crate::domain::{ServerName, Source, Tool, ToolId, Warning};
use crate::permission::lint::{self, Finding, Oddity};
use crate::permission::{Pattern, Rule};
use crate::text;

/// Names that one warning lists.
const LISTED: usize = 8;
/// Changes of a definition that one warning tells.
const TOLD: usize = 12;

/// Why a tool is not offered, for the list of filtered tools.
pub(super) fn reason(fault: &Fault) -> String {
    match fault {
        Fault::Schema(fault) => fault.clone(),
        Fault::Binary(parameter) => format!("needs binary data in “{parameter}”"),
    }
}

/// Names of a server's tools that are not what they seem, or look like those of others; of many
/// the first.
pub(super) fn on_names(server: &ServerName, ids: &[ToolId]) -> Vec<Warning> {
    let own = ids.iter().filter(|id| id.server == *server && !is_plain(id.tool.as_str()));
    let odd = own.take(LISTED).filter_map(|id| {
        let name = id.tool.as_str();
        let others = ids.iter().filter(|other| *other != id).map(|other| other.tool.as_str());
        let message = if let Some(other) = text::resembles(name, others) {
            format!("the name of this tool looks like “{other}”, another one")
        } else {
            let odd = text::is_suspicious(name)?;
            format!("the name of this tool is not what it seems: {odd}")
        };
        let advice = "Compare it letter by letter with what you mean before you allow it.";
        Some(Warning::new(Source::Tool(id.clone()), message, advice))
    });
    odd.collect()
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_graphic() || c == ' ')
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
                    "`{field}: {pattern}` matches no tool of this server{}{}",
                    line.unwrap_or_default(),
                    left_out(field, pattern, &names)
                ),
                did_you_mean(&pattern.0, &names),
            )
        })
        .collect()
}

/// What a misspelt entry of `excludeTools` leaves out all the same.
fn left_out(field: &str, pattern: &Pattern, names: &[&str]) -> String {
    let meant: Vec<&&str> = names.iter().filter(|name| pattern.nearly_matches(name)).collect();
    if field == "tools" || meant.is_empty() {
        return String::new();
    }
    let names = listed(meant.iter().map(ToString::to_string), meant.len());
    format!("; until it is mended it leaves out {names}")
}

/// What is odd about the server's rules.
pub(super) fn on_rules(input: &Input<'_>, policy: &Policy) -> Vec<Warning> {
    let listings = super::listings(std::slice::from_ref(input));
    let findings = listings.flat_map(|listing| lint::lint(policy, &listing));
    findings.map(|finding| odd(&input.config.name, &finding)).collect()
}

fn odd(server: &ServerName, finding: &Finding) -> Warning {
    let Finding { rule, what } = finding;
    let (word, tool) = (rule.permissions.word(), &rule.tool);
    let itself = format!("the rule for “{tool}” ({word})");
    let known = "`mini-me-tui tools` shows the names it has.".to_owned();
    let (message, advice) = match what {
        Oddity::Stray { nearest, meant } => {
            let mut message = format!("{itself} matches no tool of the server {server}");
            if !meant.is_empty() {
                let meant = listed(meant.iter().cloned(), meant.len());
                message = format!("{message}; until it is mended it applies to {meant}");
            }
            (message, nearest.as_ref().map_or(known, |near| format!("Did you mean “{near}”?")))
        }
        Oddity::Shadowed { by } => (
            format!("{itself} of the server {server} is never reached: {by} decides before it"),
            "Put it before that one, or take it out.".to_owned(),
        ),
        Oddity::Denied { by } => (
            format!("{itself} of the server {server} never decides: {by} denies whatever it fits"),
            "A denial beats every other rule; take one of the two out.".to_owned(),
        ),
        Oddity::Pointer { pointer, nearest } => (
            format!(
                "{itself} asks for {pointer}, which no tool of the server {server} that it fits has among its parameters"
            ),
            nearest.as_ref().map_or_else(
                || "`mini-me-tui tools --json --schemas` shows the parameters.".to_owned(),
                |near| format!("Did you mean “{near}”?"),
            ),
        ),
    };
    Warning::new(rule_source(rule, server), message, advice)
}

fn rule_source(rule: &Rule, server: &ServerName) -> Source {
    match &rule.origin.file {
        Some(file) => Source::Config {
            file: file.clone(),
            line: rule.origin.line,
            field: format!("rules of {server}"),
        },
        None => Source::Server(server.clone()),
    }
}

/// Rules for several servers, of the command line and of the user's file, that speak of no tool of
/// any. Meaningful once every server has listed its tools or failed to; one that did not list them
/// may have had what a rule speaks of.
pub fn stray_rules(inputs: &[Input<'_>], policy: &Policy) -> Vec<Warning> {
    let concerned =
        |server: &Pattern, input: &Input<'_>| server.matches(input.config.name.as_str());
    policy
        .global_rules()
        .filter(|(_, rule)| rule.pin.is_none())
        .filter(|(server, rule)| {
            let mut servers = inputs.iter().filter(|input| concerned(server, input));
            !servers.any(|input| {
                names(input).is_none_or(|names| names.iter().any(|name| rule.tool.matches(name)))
            })
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
            let of = if rule.origin.file.is_some() { "" } else { " of the command line" };
            let source = match &rule.origin.file {
                Some(_) => rule_source(rule, &ServerName::from(server.0.as_str())),
                None => Source::Program,
            };
            let message = format!("the rule “{pattern}” ({word}){of} matches no tool");
            Warning::new(source, message, advice)
        })
        .collect()
}

/// Tools whose definition is not the one remembered.
pub(super) fn on_pins(
    tools: &[Arc<Tool>],
    mode: PinMode,
    pins: &Board,
    endpoint: &str,
) -> Vec<Warning> {
    let changed = tools.iter().filter(|tool| tool.pin_state == PinState::Changed);
    changed.map(|tool| self::changed(tool, mode, pins, endpoint)).collect()
}

/// Tools that the server did not list when it was last seen, and those that it no longer lists.
pub(super) fn on_set(input: &Input<'_>, pins: &Board, endpoint: &str) -> Vec<Warning> {
    let Some(names) = names(input) else { return Vec::new() };
    let Some(change) = pins.set_change(endpoint, names) else { return Vec::new() };
    let source = || Source::Server(input.config.name.clone());
    let told = |names: &[String], what: &str, advice: &str| {
        let list = listed(names.iter().cloned(), names.len());
        let warning = Warning::new(source(), format!("{what}: {list}"), advice);
        (!names.is_empty()).then_some(warning)
    };
    let added = told(
        &change.added,
        "new since this server was last seen",
        "Look at their descriptions before allowing them.",
    );
    let removed = told(
        &change.removed,
        "no longer listed since this server was last seen",
        "What was remembered of them stays: one that comes back is compared with it.",
    );
    added.into_iter().chain(removed).collect()
}

fn changed(tool: &Tool, mode: PinMode, pins: &Board, endpoint: &str) -> Warning {
    let allowed = pins.get(endpoint, &tool.id).is_some_and(|pin| pin.allowed);
    let since = if allowed { "allowed" } else { "seen" };
    let mut message =
        format!("the definition of “{}” changed since it was last {since}", tool.id.tool);
    if !tool.changes.is_empty() {
        let sentences = tool.changes.iter().map(ToString::to_string);
        message = format!("{message}: {}", joined(sentences, tool.changes.len()));
    }
    let accept = format!("mini-me-tui tools --accept-pin {}", tool.id);
    let advice = match mode {
        PinMode::Block => format!(
            "It cannot be called until the change is accepted: on its page, or with `{accept}`."
        ),
        PinMode::Warn | PinMode::Off => {
            "It is asked about again; look at what changed before allowing it.".to_owned()
        }
    };
    Warning::new(Source::Tool(tool.id.clone()), message, advice)
}

fn joined(sentences: impl Iterator<Item = String>, total: usize) -> String {
    let words = sentences.take(TOLD).collect::<Vec<_>>().join("; ");
    match total.saturating_sub(TOLD) {
        0 => words,
        more => format!("{words}; and {more} more changes"),
    }
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
