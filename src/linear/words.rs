//! How things are said in plain lines. Everything of outside is cleaned here.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cmd::{json, output, servers};
use crate::domain::{
    Annotations, Approval, Call, Catalog, Outcome, PinState, Question, QuestionKind, Server, Tool,
    TurnEnd, Warning,
};
use crate::text;

/// Lines of arguments or of a result that are said without being asked for.
const LINES: usize = 60;
/// Columns of a call's arguments in passing.
const ARGUMENTS: usize = 100;

/// The first word of a line, and the rest.
pub(super) fn word(line: &str) -> (&str, &str) {
    line.trim().split_once(' ').unwrap_or_else(|| (line.trim(), ""))
}

/// Servers, tools and warnings, in sentences.
pub(super) fn banner(catalog: &Catalog, model: &str) -> String {
    let mut said = String::new();
    if model.is_empty() {
        said.push_str("No model is configured.\n");
    } else {
        let _infallible = writeln!(said, "Model: {}.", text::strict_line(model));
    }
    for server in &catalog.servers {
        said.push_str(&state(server));
    }
    if catalog.servers.is_empty() {
        said.push_str("No servers are configured.\n");
    }
    for warning in catalog.all_warnings() {
        said.push_str(&caution(warning));
    }
    said
}

/// How a server stands, on one line.
pub(super) fn state(server: &Server) -> String {
    let tools = match (server.state.usable(), server.tools.len()) {
        (false, _) => String::new(),
        (true, 1) => ", 1 tool".to_owned(),
        (true, count) => format!(", {count} tools"),
    };
    let mode = if server.state.usable() {
        format!(", permission {}", server.permission.word())
    } else {
        String::new()
    };
    format!("Server {}{tools}{mode}.\n", text::line(output::stands(server).trim_end_matches('.')))
}

/// A warning.
pub(super) fn caution(warning: &Warning) -> String {
    output::warning(output::Paint::Plain, warning)
}

/// The tools whose name holds this text.
pub(super) fn tools(catalog: &Catalog, filter: &str) -> String {
    let filter = filter.to_lowercase();
    let all = catalog.servers.iter().flat_map(|server| &server.tools);
    let fits = |tool: &&Tool| tool.id.to_string().to_lowercase().contains(&filter);
    let mut said = String::new();
    for tool in all.map(AsRef::as_ref).filter(fits) {
        let _infallible = writeln!(
            said,
            "{}: {}, {}, pin {}.",
            text::strict_line(&tool.id.to_string()),
            if tool.disabled { "switched off" } else { tool.permission.word() },
            claims(tool.definition.annotations),
            json::pin_state(tool.pin_state),
        );
    }
    if said.is_empty() { "No tools.\n".to_owned() } else { said }
}

/// What the server claims; what it does not say counts as the worst.
fn claims(claims: Annotations) -> String {
    let word = |claim: Option<bool>, worst: bool, yes: &str, no: &str| {
        let said = if claim.unwrap_or(worst) { yes } else { no };
        if claim.is_some() { said.to_owned() } else { format!("{said} (not said)") }
    };
    let mut all = vec![word(claims.read_only_hint, false, "read-only", "may change things")];
    if claims.read_only_hint != Some(true) {
        all.push(word(claims.destructive_hint, true, "may destroy", "does not destroy"));
    }
    all.push(word(claims.open_world_hint, true, "open world", "closed world"));
    all.join(", ")
}

/// Everything that a decision about a call depends on. Long arguments are cut unless `whole`.
pub(super) fn approval(approval: &Approval, whole: bool) -> String {
    let (call, tool) = (&approval.call, &approval.tool);
    let strict = |raw: &str| text::strict_line(raw).into_string();
    let mut said = String::new();
    let _infallible = writeln!(
        said,
        "  Server: {}, host {}.",
        strict(call.tool.server.as_str()),
        strict(&approval.host)
    );
    let _infallible = writeln!(
        said,
        "  Tool: {}, known to the model as {}.",
        strict(call.tool.tool.as_str()),
        strict(call.model_name.as_str())
    );
    let _infallible =
        writeln!(said, "  The server claims: {}.", claims(tool.definition.annotations));
    let pin = match tool.pin_state {
        PinState::Known => "known, and unchanged",
        PinState::New => "new: never seen before",
        PinState::Changed => "CHANGED since it was remembered",
    };
    let _infallible = writeln!(said, "  Definition: {pin}.");
    for change in &tool.changes {
        let _infallible = writeln!(said, "    {}", strict(change));
    }
    let _infallible = writeln!(said, "  Why it asks: {}.", strict(&approval.why));
    for carried in &approval.carried {
        let (words, piece) = (carried.sentence(), strict(&carried.piece));
        let _infallible = writeln!(said, "  CAUTION: {}: “{piece}”", strict(&words));
    }
    let value = Value::Object((*call.arguments).clone());
    let names = [call.tool.tool.as_str(), approval.host.as_str()];
    let odd = names.into_iter().find_map(text::is_suspicious);
    for warning in odd.into_iter().chain(text::is_suspicious_value(&value)) {
        let _infallible = writeln!(said, "  CAUTION: {warning}");
    }
    said.push_str(&arguments(&call.arguments, whole));
    said
}

/// The arguments, exactly as they will be sent, every invisible character written out.
pub(super) fn arguments(arguments: &Map<String, Value>, whole: bool) -> String {
    if arguments.is_empty() {
        return "  It has no arguments.\n".to_owned();
    }
    let raw = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let more = "Type arguments for all of them.";
    format!("  Arguments:\n{}", some(text::strict_block(&raw).as_str(), whole, more))
}

/// The first lines, and in figures what is missing.
fn some(shown: &str, whole: bool, more: &str) -> String {
    let mut said = String::new();
    let total = shown.lines().count();
    let limit = if whole { total } else { LINES };
    for line in shown.lines().take(limit) {
        let _infallible = writeln!(said, "    {line}");
    }
    if total > limit {
        let _infallible = writeln!(said, "    {} more lines. {more}", total - limit);
    }
    said
}

/// Messages that were not sent: they are said again, so that nothing typed is lost.
pub(super) fn taken_back(texts: &[String]) -> String {
    let all = texts.iter().map(|text| format!("Not sent: {}\n", text::block(text)));
    all.collect()
}

/// Whether to go on.
pub(super) fn question(question: &Question) -> String {
    match &question.kind {
        QuestionKind::Rounds { rounds } => {
            format!("The turn has gone through {rounds} rounds of calls.\n")
        }
        QuestionKind::Repeated { tool, times } => format!(
            "{} was called {times} times in a row with the same arguments and gave the same result.\n",
            text::strict_line(tool)
        ),
    }
}

/// A call that was sent.
pub(super) fn calling(call: &Call) -> String {
    let arguments = serde_json::to_string(&*call.arguments).unwrap_or_default();
    let arguments = text::cut(text::strict_line(&arguments).as_str(), ARGUMENTS);
    format!("Calling {} with {arguments}.\n", name(call))
}

/// What a running call says of itself.
pub(super) fn progress(call: &Call, note: &str) -> String {
    format!("{}: {}\n", name(call), text::line(note))
}

/// How a call ended.
pub(super) fn ended(call: &Call, outcome: &Outcome, took: std::time::Duration) -> String {
    let reason = json::reason(outcome);
    let because =
        if reason.is_empty() { String::new() } else { format!(": {}", text::line(&reason)) };
    let sent = if matches!(outcome, Outcome::Denied(_) | Outcome::InvalidArguments { .. }) {
        String::new()
    } else {
        format!(" after {}", servers::time(took))
    };
    format!("{}: {}{sent}{because}.\n", name(call), outcome.word())
}

fn name(call: &Call) -> String {
    text::strict_line(&call.tool.to_string()).into_string()
}

/// A result as the model got it.
pub(super) fn result(name: &str, for_model: &str) -> String {
    let mut said = format!("{name}, as the model got it:\n");
    said.push_str(text::block(for_model).as_str());
    if !said.ends_with('\n') {
        said.push('\n');
    }
    said
}

/// How a turn ended, where that is not plain.
pub(super) fn turn_end(reason: &TurnEnd) -> Option<String> {
    Some(match reason {
        TurnEnd::Done => return None,
        TurnEnd::Length => "The answer ran into the model's output limit.".to_owned(),
        TurnEnd::ContentFilter => "The provider withheld the rest of the answer.".to_owned(),
        TurnEnd::Refused => "The model refused.".to_owned(),
        TurnEnd::Empty => "The model answered with nothing at all.".to_owned(),
        TurnEnd::Incomplete { reason } => {
            format!("The answer broke off: {}", text::line(reason))
        }
        TurnEnd::Cancelled => "Cancelled.".to_owned(),
        TurnEnd::Stopped => "Stopped.".to_owned(),
        TurnEnd::Failed { reason, .. } => format!("Failed: {}", text::line(reason)),
    })
}
