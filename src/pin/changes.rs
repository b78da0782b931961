//! What changed between two definitions: texts word by word, schemas part by part.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::words::words;
use crate::domain::change::{Change, ChangeKind};

/// Changes that are told; more are counted.
const TOLD: usize = 64;
/// Characters of a value that a sentence quotes.
const QUOTED: usize = 120;
/// Characters of a value that is kept.
const KEPT: usize = 4_000;
/// Levels of a schema that are compared part by part.
const DEPTH: usize = 12;
/// Members of a schema that hold schemas by name, and what one of them is called.
const NAMED: [(&str, &str); 5] = [
    ("properties", ""),
    ("patternProperties", "pattern "),
    ("$defs", "definition "),
    ("definitions", "definition "),
    ("dependentSchemas", "dependent "),
];

/// What changed from one definition to another: name, title, description, parameters, schemas,
/// annotations. Takes canonical forms or definitions as they came.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Found { changes: Vec::new(), more: 0 };
    for key in ["name", "title", "description"] {
        found.text(&format!("/{key}"), key, old.get(key), new.get(key));
    }
    for (key, what) in [("inputSchema", "parameter"), ("outputSchema", "result")] {
        let place = Place { path: format!("/{key}"), names: String::new(), what, depth: 0 };
        match (present(old.get(key)), present(new.get(key))) {
            (Some(old), Some(new)) => found.schema(&place, old, new),
            (old, new) => {
                found.value(&place.path, &format!("{what} schema"), old, new);
            }
        }
    }
    let none = Value::Object(Map::new());
    let claims = |value: &Value| present(value.get("annotations")).unwrap_or(&none).clone();
    let (before, after) = (claims(old), claims(new));
    for key in keys(&before, &after) {
        let path = format!("/annotations/{}", escaped(&key));
        found.value(&path, &key, before.get(&key), after.get(&key));
    }
    found.told()
}

/// Where a schema stands in a definition.
struct Place {
    path: String,
    /// The names that lead to it, joined by dots.
    names: String,
    what: &'static str,
    depth: usize,
}

impl Place {
    fn inner(&self, path: &str, name: &str) -> Self {
        let dot = if self.names.is_empty() || name.starts_with('[') { "" } else { "." };
        Self {
            path: format!("{}/{path}", self.path),
            names: format!("{}{dot}{name}", self.names),
            what: self.what,
            depth: self.depth + 1,
        }
    }

    /// What is being spoken of: `parameter “filter.state”`.
    fn subject(&self) -> String {
        if self.names.is_empty() {
            format!("the {}s", self.what)
        } else {
            format!("{} “{}”", self.what, self.names)
        }
    }
}

struct Found {
    changes: Vec<Change>,
    more: usize,
}

impl Found {
    fn add(&mut self, path: &str, subject: &str, kind: ChangeKind, sentence: String) {
        if self.changes.len() >= TOLD {
            self.more += 1;
            return;
        }
        let (path, subject) = (path.to_owned(), subject.to_owned());
        self.changes.push(Change { path, subject, kind, sentence });
    }

    fn told(mut self) -> Vec<Change> {
        if self.more > 0 {
            let sentence = format!("and {} more changes", self.more);
            let kind = ChangeKind::Replaced { old: String::new(), new: String::new() };
            let subject = "the rest".to_owned();
            self.changes.push(Change { path: String::new(), subject, kind, sentence });
        }
        self.changes
    }

    /// A text of which single words may have changed.
    fn text(&mut self, path: &str, subject: &str, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(Value::String(old)), Some(Value::String(new)))
                if old != new && !old.is_empty() && !new.is_empty() =>
            {
                let sentence = format!("{subject} was {}, is {}", quoted(old), quoted(new));
                let kind = ChangeKind::Reworded { words: words(old, new) };
                self.add(path, subject, kind, sentence);
            }
            (old, new) => self.value(path, subject, old, new),
        }
    }

    /// A value that counts as a whole.
    fn value(&mut self, path: &str, subject: &str, old: Option<&Value>, new: Option<&Value>) {
        let (old, new) = (present(old), present(new));
        let (kind, sentence) = match (old.map(shown), new.map(shown)) {
            _ if old == new => return,
            (Some(old), Some(new)) => {
                let sentence = format!("{subject} was {}, is {}", quoted(&old), quoted(&new));
                (ChangeKind::Replaced { old, new }, sentence)
            }
            (Some(old), None) => {
                let sentence = format!("{subject} was {}, is gone", quoted(&old));
                (ChangeKind::Removed { old }, sentence)
            }
            (None, Some(new)) => {
                let sentence = format!("{subject} is new: {}", quoted(&new));
                (ChangeKind::Added { new }, sentence)
            }
            (None, None) => return,
        };
        self.add(path, subject, kind, sentence);
    }

    fn schema(&mut self, place: &Place, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        if place.depth >= DEPTH || !(old.is_object() && new.is_object()) {
            return self.value(&place.path, &place.subject(), Some(old), Some(new));
        }
        for key in keys(old, new) {
            let (before, after) = (old.get(&key), new.get(&key));
            if before == after {
                continue;
            }
            let path = format!("{}/{}", place.path, escaped(&key));
            let subject = format!("{}: {key}", place.subject());
            match key.as_str() {
                "required" => self.required(place, before, after),
                "enum" => self.values(&path, &subject, before, after),
                "description" | "title" => self.text(&path, &subject, before, after),
                "items" | "additionalProperties" | "not" | "contains" | "propertyNames" => {
                    let name = if key == "items" { "[]".to_owned() } else { format!("[{key}]") };
                    match (before, after) {
                        (Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                            self.schema(&place.inner(&escaped(&key), &name), before, after);
                        }
                        (before, after) => self.value(&path, &subject, before, after),
                    }
                }
                key => match NAMED.iter().find(|(named, _)| *named == key) {
                    Some((_, word)) => self.members(place, key, word, before, after),
                    None => self.value(&path, &subject, before, after),
                },
            }
        }
    }

    /// Schemas by name: parameters, mostly.
    fn members(
        &mut self,
        place: &Place,
        key: &str,
        word: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let none = Value::Object(Map::new());
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for name in keys(old, new) {
            let inner = place.inner(&format!("{key}/{}", escaped(&name)), &format!("{word}{name}"));
            let subject = inner.subject();
            match (old.get(&name), new.get(&name)) {
                (Some(old), Some(new)) => self.schema(&inner, old, new),
                (Some(old), None) => {
                    let kind = ChangeKind::Removed { old: shown(old) };
                    self.add(&inner.path, &subject, kind, format!("{subject} is gone"));
                }
                (None, Some(new)) => {
                    let new = shown(new);
                    let sentence = format!("{subject} is new: {}", quoted(&new));
                    self.add(&inner.path, &subject, ChangeKind::Added { new }, sentence);
                }
                (None, None) => {}
            }
        }
    }

    fn required(&mut self, place: &Place, old: Option<&Value>, new: Option<&Value>) {
        let (before, after) = (set(old), set(new));
        let path = format!("{}/required", place.path);
        if before == after {
            // The order is another, or it is no list.
            return self.value(&path, &format!("{}: required", place.subject()), old, new);
        }
        for name in after.difference(&before) {
            let subject = place.inner("", &bare(name)).subject();
            let kind = ChangeKind::Added { new: "required".to_owned() };
            self.add(&path, &subject, kind, format!("{subject} is required now"));
        }
        for name in before.difference(&after) {
            let subject = place.inner("", &bare(name)).subject();
            let kind = ChangeKind::Removed { old: "required".to_owned() };
            self.add(&path, &subject, kind, format!("{subject} is no longer required"));
        }
    }

    /// What may be chosen from.
    fn values(&mut self, path: &str, subject: &str, old: Option<&Value>, new: Option<&Value>) {
        let (before, after) = (set(old), set(new));
        if before == after || old.is_none() || new.is_none() {
            return self.value(path, subject, old, new);
        }
        for value in after.difference(&before) {
            let kind = ChangeKind::Added { new: cut(value, KEPT) };
            self.add(path, subject, kind, format!("{subject} allows {} now", quoted(&bare(value))));
        }
        for value in before.difference(&after) {
            let kind = ChangeKind::Removed { old: cut(value, KEPT) };
            let sentence = format!("{subject} no longer allows {}", quoted(&bare(value)));
            self.add(path, subject, kind, sentence);
        }
    }
}

fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null() && value.as_str() != Some(""))
}

/// The items of a list as JSON.
fn set(value: Option<&Value>) -> BTreeSet<String> {
    value.and_then(Value::as_array).into_iter().flatten().map(ToString::to_string).collect()
}

/// JSON of a text without its quotes.
fn bare(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_no_text| json.to_owned())
}

/// All names of both, those of the old one first.
fn keys(old: &Value, new: &Value) -> Vec<String> {
    let names = |value: &Value| -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let mut all = names(old);
    let known: BTreeSet<String> = all.iter().cloned().collect();
    all.extend(names(new).into_iter().filter(|key| !known.contains(key)));
    all
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text, KEPT),
        other => cut(&other.to_string(), KEPT),
    }
}

fn quoted(text: &str) -> String {
    format!("“{}”", cut(text, QUOTED))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
