//! Does a rule fit a call? Four answers, because doubt must be told from both others.
//!
//! What loosens has to fit beyond doubt. What tightens is read generously: a value counts in every
//! reading that a server might give it, and a rule that fits nothing counts as it was probably
//! meant.

use serde_json::{Map, Value};

use super::misspelt::misspelt;
use super::pointer;
use super::rule::{Matcher, Pattern, Rule};
use super::standing::{Standing, meant};
use crate::domain::{Annotations, Mode, ServerName, Tool};

/// Values looked at inside one argument when a tightening rule searches it.
const SEARCHED: usize = 10_000;

/// How a condition and a call go together, in the order in which conditions outweigh each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It does not fit.
    No,
    /// It cannot be said.
    Doubt,
    /// It fits in one reading, and not in another.
    Likely,
    /// It fits.
    Yes,
}

impl Fit {
    fn sure(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }

    fn likely(fits: bool) -> Self {
        if fits { Self::Likely } else { Self::No }
    }
}

/// A rule as it applies to a server: by itself, or by a pattern over server names.
#[derive(Clone, Copy)]
pub(super) struct Applied<'a> {
    pub(super) rule: &'a Rule,
    pub(super) servers: Option<&'a Pattern>,
    pub(super) standing: Option<&'a Standing>,
}

impl Applied<'_> {
    /// Whether it fits no tool as it is written.
    fn is_stray(&self) -> bool {
        self.standing.is_some_and(|standing| standing.stray)
    }

    /// Whether its pattern over servers lets it apply to this one, as written or as meant.
    pub(super) fn concerns(&self, server: &ServerName) -> bool {
        self.servers.is_none_or(|servers| {
            servers.matches(server.as_str())
                || self.is_stray() && misspelt(servers, server.as_str())
        })
    }

    /// How it fits a call. A rule about data of other servers is none about the call alone.
    pub(super) fn fit(&self, tool: &Tool, arguments: &Map<String, Value>) -> Fit {
        if !self.rule.from.is_empty() {
            return Fit::No;
        }
        self.fit_apart_from_source(tool, arguments)
    }

    /// The same for a rule about data of other servers, whichever those are.
    pub(super) fn fit_apart_from_source(&self, tool: &Tool, arguments: &Map<String, Value>) -> Fit {
        let rule = self.rule;
        let written = self.servers.is_none_or(|all| all.matches(tool.id.server.as_str()))
            && rule.tool.matches(tool.id.tool.as_str());
        if !written && !self.is_meant(tool) {
            return Fit::No;
        }
        let loosens = rule.permissions == Mode::Auto;
        // A slip of the pen still tightens; it never loosens.
        let named = match (written, loosens) {
            (true, _) => Fit::Yes,
            (false, true) => Fit::Doubt,
            (false, false) => Fit::Likely,
        };
        let pin = match &rule.pin {
            Some(pin) if *pin != tool.pin => Fit::likely(!loosens),
            _ => Fit::Yes,
        };
        let conditions = rule
            .when
            .iter()
            .map(|(pointer, matcher)| self.condition(tool, arguments, pointer, matcher));
        let rest = conditions.chain([pin, named]).min().unwrap_or(Fit::Yes);
        let said = tool.definition.annotations;
        let claims = [
            self.claim(rule.read_only, said.read_only_hint, false, said, rest),
            self.claim(rule.destructive, destroys(said), true, said, rest),
        ];
        claims.into_iter().chain([rest]).min().unwrap_or(Fit::Yes)
    }

    /// A server's claim about a tool. It loosens only where it is made, by a rule for that very
    /// server, and not where the server contradicts itself. What was not said counts as the worst
    /// case, but settles no doubt about the rest; what tightens reads it both ways.
    fn claim(
        &self,
        wanted: Option<bool>,
        said: Option<bool>,
        worst: bool,
        all: Annotations,
        rest: Fit,
    ) -> Fit {
        let Some(wanted) = wanted else { return Fit::Yes };
        let contradicts = all.read_only_hint == Some(true) && all.destructive_hint == Some(true);
        let credible = self.servers.is_none() && !contradicts;
        match (self.rule.permissions, said) {
            (Mode::Auto, Some(said)) if credible => Fit::sure(said == wanted),
            (Mode::Auto, _) if wanted == worst || rest == Fit::Doubt => Fit::Doubt,
            (Mode::Auto, _) => Fit::No,
            (_, Some(said)) => Fit::sure(said == wanted),
            (_, None) => Fit::Likely,
        }
    }

    fn is_meant(&self, tool: &Tool) -> bool {
        self.is_stray() && meant(self.servers, self.rule, &tool.id.server, &tool.id.tool)
    }

    fn condition(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        pointer: &str,
        matcher: &Matcher,
    ) -> Fit {
        let loosens = self.rule.permissions == Mode::Auto;
        let found = at(arguments, pointer);
        if matches!(found, None | Some(Value::Null)) && !accepts_null(matcher, arguments, pointer) {
            let blind = self.standing.is_some_and(|all| all.blind.iter().any(|one| one == pointer));
            let read =
                if blind && !loosens { mended(tool, arguments, pointer, matcher) } else { None };
            return read.unwrap_or(Fit::Doubt);
        }
        match found {
            None => Fit::Doubt,
            Some(value) if loosens => strictly(matcher, value),
            Some(value) if strictly(matcher, value) == Fit::Yes => Fit::Yes,
            Some(value) => Fit::likely(generously(matcher, value)),
        }
    }
}

/// The condition read at the arguments that were probably meant: a pointer that leads nowhere
/// and is one letter away from them.
fn mended(
    tool: &Tool,
    arguments: &Map<String, Value>,
    pointer: &str,
    matcher: &Matcher,
) -> Option<Fit> {
    let declared = pointer::declared(&tool.definition.input_schema);
    let written = Pattern(pointer.replace('*', " "));
    let meant = declared.iter().filter(|known| misspelt(&written, known));
    meant
        .map(|known| match at(arguments, known) {
            None | Some(Value::Null) => Fit::Doubt,
            Some(value) => Fit::likely(generously(matcher, value)),
        })
        .max()
}

/// What the claims say of destroying: one that is said to only read does not.
fn destroys(annotations: Annotations) -> Option<bool> {
    let reads = annotations.read_only_hint == Some(true);
    annotations.destructive_hint.or_else(|| reads.then_some(false))
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
pub(super) fn at<'a>(arguments: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
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
