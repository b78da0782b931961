//! Does a rule fit a call? Three answers, because doubt must be told from both others.
//!
//! What loosens has to fit beyond doubt. What tightens is read generously: a value counts in every
//! reading that a server might give it.

use serde_json::{Map, Value};

use super::rule::{Matcher, Pattern, Rule};
use crate::domain::{Mode, Tool};

/// Values looked at inside one argument when a tightening rule searches it.
const SEARCHED: usize = 10_000;

/// How a condition and a call go together, in the order in which conditions outweigh each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It does not fit.
    No,
    /// It cannot be said.
    Doubt,
    /// It fits.
    Yes,
}

impl Fit {
    fn sure(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// How a rule fits a call. `wide` says that it was written for several servers at once. A rule
/// about data of other servers is none about the call alone.
pub(super) fn rule(rule: &Rule, tool: &Tool, arguments: &Map<String, Value>, wide: bool) -> Fit {
    if !rule.from.is_empty() {
        return Fit::No;
    }
    apart_from_source(rule, tool, arguments, wide)
}

/// The same for a rule about data of other servers, whichever those are.
pub(super) fn apart_from_source(
    rule: &Rule,
    tool: &Tool,
    arguments: &Map<String, Value>,
    wide: bool,
) -> Fit {
    if !rule.tool.matches(tool.id.tool.as_str()) {
        return Fit::No;
    }
    let loosens = rule.permissions == Mode::Auto;
    let claims = claims(rule, tool, wide);
    let pin = match &rule.pin {
        Some(pin) if loosens => Fit::sure(*pin == tool.pin),
        _ => Fit::Yes,
    };
    rule.when
        .iter()
        .map(|(pointer, matcher)| match at(arguments, pointer) {
            None | Some(Value::Null) if !accepts_null(matcher, arguments, pointer) => Fit::Doubt,
            None => Fit::Doubt,
            Some(value) if loosens => strictly(matcher, value),
            Some(value) => Fit::sure(generously(matcher, value)),
        })
        .chain([claims, pin])
        .min()
        .unwrap_or(Fit::Yes)
}

/// The server's claim to be read-only. A claim loosens only by a rule for that very server, and not
/// where the server contradicts itself.
fn claims(rule: &Rule, tool: &Tool, wide: bool) -> Fit {
    let Some(wanted) = rule.read_only else {
        return Fit::Yes;
    };
    let annotations = &tool.definition.annotations;
    let claimed = annotations.read_only_hint == Some(true);
    let credible = !wide && annotations.destructive_hint != Some(true);
    match rule.permissions {
        Mode::Auto if claimed && wanted && !credible => Fit::Doubt,
        _ => Fit::sure(claimed == wanted),
    }
}

fn accepts_null(matcher: &Matcher, arguments: &Map<String, Value>, pointer: &str) -> bool {
    let present = at(arguments, pointer).is_some();
    match matcher {
        Matcher::Value(wanted) => present && wanted.is_null(),
        Matcher::OneOf(several) => {
            several.iter().any(|matcher| accepts_null(matcher, arguments, pointer))
        }
        Matcher::Text(_) => false,
    }
}

/// The argument at a JSON pointer.
fn at<'a>(arguments: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let path = pointer.strip_prefix('/')?;
    let (first, rest) = match path.find('/') {
        Some(slash) => path.split_at(slash),
        None => (path, ""),
    };
    arguments.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
}

fn strictly(matcher: &Matcher, value: &Value) -> Fit {
    match (matcher, value) {
        (Matcher::OneOf(several), value) => {
            several.iter().map(|matcher| strictly(matcher, value)).max().unwrap_or(Fit::No)
        }
        (Matcher::Value(wanted), value) => Fit::sure(wanted == value),
        (Matcher::Text(pattern), Value::String(text)) if pattern.matches(text) => {
            if is_tricky(text) { Fit::Doubt } else { Fit::Yes }
        }
        (Matcher::Text(_), Value::String(_)) => Fit::No,
        (Matcher::Text(_), _) => Fit::Doubt,
    }
}

/// Whether a text may mean another place than it seems to: a `..` segment, a backslash or a control
/// character, percent-encoded or not.
fn is_tricky(text: &str) -> bool {
    let text = decoded(text);
    text.contains(|c: char| c == '\\' || c.is_control()) || text.split('/').any(|part| part == "..")
}

fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut plain = text.to_owned();
    for (code, meaning) in
        [("%2e", "."), ("%2E", "."), ("%2f", "/"), ("%2F", "/"), ("%5c", "\\"), ("%5C", "\\")]
    {
        plain = plain.replace(code, meaning);
    }
    plain
}

fn generously(matcher: &Matcher, value: &Value) -> bool {
    match matcher {
        Matcher::OneOf(several) => several.iter().any(|matcher| generously(matcher, value)),
        Matcher::Value(wanted) => wanted == value || spelled(wanted) == spelled(value),
        Matcher::Text(pattern) => anywhere(pattern, value),
    }
}

/// Whether any text inside the value fits, in any reading.
fn anywhere(pattern: &Pattern, value: &Value) -> bool {
    let mut pending = vec![value];
    let mut left = SEARCHED;
    while let Some(value) = pending.pop() {
        left -= 1;
        let fits = match value {
            Value::Array(items) => {
                pending.extend(items);
                false
            }
            Value::Object(members) => {
                pending.extend(members.values());
                members.keys().any(|key| in_any_reading(pattern, key))
            }
            Value::String(text) => {
                in_any_reading(pattern, text) || in_any_reading(pattern, text.trim())
            }
            scalar => pattern.matches(&spelled(scalar)),
        };
        // Too much to look through is doubt, and doubt tightens.
        if fits || left == 0 {
            return true;
        }
    }
    pattern.matches(&value.to_string())
}

fn in_any_reading(pattern: &Pattern, text: &str) -> bool {
    if pattern.matches(text) {
        return true;
    }
    let plain: String =
        decoded(text).replace('\\', "/").chars().filter(|c| !c.is_control()).collect();
    pattern.matches(&plain) || pattern.matches(&resolved(&plain))
}

/// A path without its `.` and `..` segments.
fn resolved(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A number or a boolean as the text that some servers take for it.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 1e15)
            .map_or_else(|| number.to_string(), |number| format!("{number:.0}")),
        other => other.to_string(),
    }
}
