//! What decoding carries along: the file, the environment, the warnings so far; and a map's
//! entries with their path.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use super::keys;
use super::node::{Entry, Node, Position, Value};
use super::{scalar, secret};
use crate::domain::{Mode, Source, Warning};

/// Looks a variable up in the environment.
pub type Env<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

/// Where the values in force come from: the line for each (section, key) that the file gives. The
/// section of a server is [`Origins::server`]. What is not here is a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(HashMap<(String, String), usize>);

impl Origins {
    /// The section name of a server.
    pub fn server(name: &str) -> String {
        format!("server {name}")
    }

    /// Line, from 1, at which the file gives this key; `None` for a default.
    pub fn line(&self, section: &str, key: &str) -> Option<usize> {
        self.0.get(&(section.to_owned(), key.to_owned())).copied()
    }

    /// Forgets a value that is not used: what is in force is the default.
    pub(super) fn forget(&mut self, field: &str) {
        if let Some((section, key)) = field.split_once('.') {
            self.0.remove(&(section.to_owned(), key.to_owned()));
        }
    }

    /// Notes all keys of a map.
    pub(super) fn note(&mut self, section: &str, fields: &Fields<'_>) {
        for entry in fields.entries {
            self.0.entry((section.to_owned(), entry.key.clone())).or_insert(entry.key_at.line);
        }
    }
}

/// Something wrong with a value: where, what was found, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) at: Position,
    pub(super) field: String,
    pub(super) what: String,
    pub(super) advice: String,
}

impl Problem {
    pub(super) fn new(
        at: Position,
        field: impl Into<String>,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { at, field: field.into(), what: what.into(), advice: advice.into() }
    }

    /// `found` where `allowed` was expected.
    pub(super) fn found(at: Position, field: &str, found: &Node, allowed: &str) -> Self {
        Self::new(
            at,
            field,
            format!("found {}, which is not allowed here", describe(found)),
            format!("Allowed: {allowed}."),
        )
    }
}

/// A value for a message.
pub(super) fn describe(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Int(value) => format!("`{value}`"),
        Value::Float(value) => format!("`{value}`"),
        Value::Text(text) => secret::quote(text),
        Value::List(items) => match items.as_slice() {
            [Node { value: Value::Text(text), .. }] => {
                format!("a list ([{}])", secret::quote(text))
            }
            _ => "a list".to_owned(),
        },
        Value::Map(_) => "a map".to_owned(),
        Value::Tagged => "a value with a tag (`!…`)".to_owned(),
    }
}

/// What decoding carries along.
pub(super) struct Context<'a> {
    pub(super) file: &'a Path,
    pub(super) env: &'a Env<'a>,
    pub(super) warnings: Vec<Warning>,
    pub(super) origins: Origins,
}

impl Context<'_> {
    /// A permission word. One that is not known counts as *ask*, or as *deny* where that was
    /// probably meant, with a warning.
    pub(super) fn mode(&mut self, node: &Node, field: &str) -> Mode {
        scalar::mode(node, field).unwrap_or_else(|problem| {
            self.warn(&problem);
            scalar::meant_mode(node)
        })
    }

    /// Adds a warning about a place in the file.
    pub(super) fn warn(&mut self, problem: &Problem) {
        let source = Source::Config {
            file: self.file.to_path_buf(),
            line: Some(problem.at.line),
            field: problem.field.clone(),
        };
        // Every face shows file and line of the source in front of the message.
        let message = format!("`{}`: {}.", problem.field, problem.what);
        self.warnings.push(Warning::new(source, message, problem.advice.clone()));
    }

    /// A problem as a sentence that names file, line and field.
    pub(super) fn sentence(&self, problem: &Problem) -> String {
        let file = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy();
        format!("{file}:{}: `{}`: {}.", problem.at.line, problem.field, problem.what)
    }

    /// Warns about a value and goes on as if it were not there.
    pub(super) fn or_default<T>(&mut self, value: Result<T, Problem>, default: T, kept: &str) -> T {
        value.unwrap_or_else(|mut problem| {
            problem.what = format!("{}; {kept} stays in force", problem.what);
            self.warn(&problem);
            self.origins.forget(&problem.field);
            default
        })
    }
}

/// The entries of a map and where it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Fields<'n> {
    pub(super) entries: &'n [Entry],
    pub(super) path: String,
    pub(super) at: Position,
}

impl<'n> Fields<'n> {
    /// The entries of `node`, or what it is instead.
    pub(super) fn of(node: &'n Node, path: &str, allowed: &str) -> Result<Self, Problem> {
        match &node.value {
            Value::Map(entries) => Ok(Self { entries, path: path.to_owned(), at: node.at }),
            _ => Err(Problem::found(node.at, path, node, allowed)),
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key that is given and not empty.
    pub(super) fn given(&self, key: &str) -> Option<&'n Node> {
        self.get(key).map(|entry| &entry.value).filter(|node| node.value != Value::Null)
    }

    /// The path of one of its keys.
    pub(super) fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Second and later entries of the same key, with the line of the first.
    pub(super) fn repeated(&self) -> Vec<(&'n Entry, usize)> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        let mut again = Vec::new();
        for entry in self.entries {
            match first.get(entry.key.as_str()) {
                Some(line) => again.push((entry, *line)),
                None => {
                    first.insert(&entry.key, entry.key_at.line);
                }
            }
        }
        again
    }

    /// Entries whose key is not one of `known`.
    pub(super) fn unknown(&self, known: &[&str]) -> Vec<&'n Entry> {
        self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())).collect()
    }

    /// The problem that an unknown key is.
    pub(super) fn unknown_key(&self, entry: &Entry, known: &[&'static str]) -> Problem {
        let (what, advice) = keys::explain(&entry.key, known);
        Problem::new(entry.key_at, self.path_of(shown_key(&entry.key)), what, advice)
    }
}

/// A key for a path: hidden if somebody pasted a secret in its place.
pub(super) fn shown_key(key: &str) -> &str {
    if secret::looks_secret(key) { secret::HIDDEN } else { key }
}

/// `a` and `b` as `a.b`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The first duplicate key, merge key or tag anywhere under `node`.
pub(super) fn fault(node: &Node, path: &str) -> Option<Problem> {
    match &node.value {
        Value::Tagged => Some(Problem::new(
            node.at,
            path,
            "tags (`!…`) are not supported",
            "Take the tag away: secrets are named by variable, as in `tokenEnv: NAME`.",
        )),
        Value::List(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| fault(item, &format!("{path}[{index}]"))),
        Value::Map(entries) => {
            let fields = Fields { entries, path: path.to_owned(), at: node.at };
            let merge = fields.get("<<").map(|entry| merge_key(&fields, entry));
            let twice = || {
                let (entry, line) = fields.repeated().into_iter().next()?;
                Some(twice(&fields, entry, line))
            };
            let inside = || {
                entries
                    .iter()
                    .find_map(|entry| fault(&entry.value, &fields.path_of(shown_key(&entry.key))))
            };
            merge.or_else(twice).or_else(inside)
        }
        _ => None,
    }
}

pub(super) fn merge_key(fields: &Fields<'_>, entry: &Entry) -> Problem {
    Problem::new(
        entry.key_at,
        fields.path_of("<<"),
        "merge keys (`<<`) are not supported, so what it would bring is missing",
        "Write the merged values out.",
    )
}

pub(super) fn twice(fields: &Fields<'_>, entry: &Entry, first: usize) -> Problem {
    let key = shown_key(&entry.key);
    Problem::new(
        entry.key_at,
        fields.path_of(key),
        format!(
            "the key `{key}` is given twice, first on line {first}: a duplicate decides nothing"
        ),
        "Keep one of the two.",
    )
}
