//! The walk over a schema: keywords are told from parameter names by where they stand.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::super::{escaped, resolve};
use super::{Target, narrow};

/// Deepest nesting that is copied.
const DEPTH: usize = 48;
/// Schemas in one copy.
const NODES: usize = 1_500;
/// The place of definitions that can be reached from several places.
const NOWHERE: &str = "?";

/// The types that JSON Schema knows.
pub(super) const TYPES: [&str; 7] =
    ["string", "number", "integer", "boolean", "array", "object", "null"];

type Renamed = Vec<(String, String, String)>;

/// Copies a flat object schema for a target. References stay where the target takes them, unless a
/// key behind one has to be renamed: then they are written out, so that each place is known.
pub(super) fn copy(root: &Value, target: Target) -> (Value, Renamed) {
    let (schema, renamed) = Copier::new(root, target, target == Target::Gemini).run();
    if renamed.iter().any(|(place, ..)| place.starts_with(NOWHERE)) {
        return Copier::new(root, target, true).run();
    }
    (schema, renamed)
}

struct Copier<'a> {
    root: &'a Value,
    target: Target,
    inline: bool,
    open: Vec<String>,
    left: usize,
    /// By place and original key.
    keys: HashMap<(String, String), String>,
    /// By place and sent key, the original one.
    sent: BTreeMap<(String, String), String>,
}

impl<'a> Copier<'a> {
    fn new(root: &'a Value, target: Target, inline: bool) -> Self {
        Self {
            root,
            target,
            inline,
            open: Vec::new(),
            left: NODES,
            keys: HashMap::new(),
            sent: BTreeMap::new(),
        }
    }

    fn run(mut self) -> (Value, Renamed) {
        let schema = self.node(self.root, "", 0);
        let mut renamed: Renamed = self
            .sent
            .into_iter()
            .filter(|((_, sent), original)| sent != original)
            .map(|((place, sent), original)| (place, sent, original))
            .collect();
        renamed.sort_by_key(|(place, ..)| std::cmp::Reverse(place.matches('/').count()));
        (schema, renamed)
    }

    fn node(&mut self, schema: &Value, place: &str, depth: usize) -> Value {
        let exhausted = depth > DEPTH || self.left == 0;
        self.left = self.left.saturating_sub(1);
        match schema {
            Value::Object(_) if exhausted => json!({}),
            Value::Object(map) => self.object(map, place, depth),
            Value::Bool(false) if self.target != Target::Gemini => json!({"not": {}}),
            _ => json!({}),
        }
    }

    fn object(&mut self, map: &Map<String, Value>, place: &str, depth: usize) -> Value {
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            match resolve(root, reference) {
                Some(target) if self.inline => {
                    return self.written_out(reference, target, map, place, depth);
                }
                Some(_) => {}
                None => return self.object(&open_object(map), place, depth),
            }
        }
        let mut copy = Map::new();
        for (key, value) in map {
            if let Some(value) = self.keyword(key, value, map, place, depth) {
                copy.insert(key.clone(), value);
            }
        }
        complete(&mut copy);
        if self.target == Target::Gemini {
            copy = narrow::narrow(copy);
        }
        Value::Object(copy)
    }

    /// What a reference leads to, in its place; members beside it win. A circle ends in a schema of
    /// the same type that says nothing more.
    fn written_out(
        &mut self,
        reference: &str,
        target: &Value,
        siblings: &Map<String, Value>,
        place: &str,
        depth: usize,
    ) -> Value {
        if self.left == 0 || depth > DEPTH {
            return json!({});
        }
        let mut merged = target.as_object().cloned().unwrap_or_default();
        if self.open.iter().any(|open| open == reference) {
            merged.retain(|key, _| matches!(key.as_str(), "type" | "description" | "title"));
        }
        let siblings = siblings.iter().filter(|(key, _)| *key != "$ref");
        merged.extend(siblings.map(|(key, value)| (key.clone(), value.clone())));
        self.open.push(reference.to_owned());
        let copy = self.object(&merged, place, depth + 1);
        self.open.pop();
        copy
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &Value,
        map: &Map<String, Value>,
        place: &str,
        depth: usize,
    ) -> Option<Value> {
        let below = || format!("{place}/*");
        match (key, value) {
            ("properties", Value::Object(properties)) => {
                Some(self.properties(properties, place, depth))
            }
            ("required", Value::Array(names)) => Some(self.required(names, map, place)),
            (
                "items"
                | "contains"
                | "additionalItems"
                | "unevaluatedItems"
                | "additionalProperties"
                | "unevaluatedProperties",
                Value::Object(_),
            )
            | ("items", Value::Bool(_)) => Some(self.node(value, &below(), depth + 1)),
            ("items" | "prefixItems", Value::Array(items)) => Some(Value::Array(
                items.iter().map(|item| self.node(item, &below(), depth + 1)).collect(),
            )),
            ("anyOf" | "oneOf" | "allOf", Value::Array(members)) => Some(Value::Array(
                members.iter().map(|member| self.node(member, place, depth + 1)).collect(),
            )),
            ("not" | "if" | "then" | "else", Value::Object(_)) => {
                Some(self.node(value, place, depth + 1))
            }
            ("$defs" | "definitions", Value::Object(_)) if self.inline => None,
            ("$defs" | "definitions", Value::Object(map)) => Some(self.each(map, NOWHERE, depth)),
            ("patternProperties", Value::Object(map)) => Some(self.each(map, &below(), depth)),
            ("dependentSchemas", Value::Object(map)) => Some(self.each(map, place, depth)),
            ("type", kinds) => known_types(kinds),
            _ => {
                self.left = self.left.saturating_sub(bulk(value));
                Some(value.clone())
            }
        }
    }

    fn each(&mut self, map: &Map<String, Value>, place: &str, depth: usize) -> Value {
        let copies = map.iter().map(|(key, value)| {
            let place = if place == NOWHERE { format!("{NOWHERE}{key}") } else { place.to_owned() };
            (key.clone(), self.node(value, &place, depth + 1))
        });
        Value::Object(copies.collect())
    }

    /// A property that nothing can fill is left out.
    fn properties(&mut self, properties: &Map<String, Value>, place: &str, depth: usize) -> Value {
        let mut copy = Map::new();
        for (name, schema) in properties.iter().filter(|(_, schema)| **schema != Value::Bool(false))
        {
            let key = self.key(name, properties, place);
            let place = format!("{place}/{}", escaped(&key));
            copy.insert(key, self.node(schema, &place, depth + 1));
        }
        Value::Object(copy)
    }

    fn required(&mut self, names: &[Value], map: &Map<String, Value>, place: &str) -> Value {
        let empty = Map::new();
        let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let possible = |name: &&str| properties.get(*name) != Some(&Value::Bool(false));
        let names = names.iter().filter_map(Value::as_str).filter(possible);
        names.map(|name| Value::from(self.key(name, properties, place))).collect()
    }

    /// The key under which a property is sent.
    fn key(&mut self, name: &str, siblings: &Map<String, Value>, place: &str) -> String {
        let id = (place.to_owned(), name.to_owned());
        if let Some(key) = self.keys.get(&id) {
            return key.clone();
        }
        let wanted = sendable(name, self.target);
        let mut key = wanted.clone();
        let mut number = 2;
        while key != name
            && (siblings.contains_key(&key)
                || self.sent.contains_key(&(place.to_owned(), key.clone())))
        {
            let head: String = wanted.chars().take(58).collect();
            key = format!("{head}_{number}");
            number += 1;
        }
        self.sent.insert((place.to_owned(), key.clone()), name.to_owned());
        self.keys.insert(id, key.clone());
        key
    }
}

/// A key that the target takes: itself where possible.
fn sendable(name: &str, target: Target) -> String {
    if target == Target::OpenAi {
        return name.to_owned();
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let mut key: String = name.chars().map(legal).take(64).collect();
    let bad_start = |c: char| !c.is_ascii_alphabetic() && c != '_';
    if key.is_empty() || (target == Target::Gemini && key.starts_with(bad_start)) {
        key = format!("_{}", key.chars().take(63).collect::<String>());
    }
    key
}

/// What a value that is copied as it is weighs, in schemas: long lists and texts would multiply
/// where references are written out.
fn bulk(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 256,
        Value::Array(items) => items.len() / 16 + items.iter().map(bulk).sum::<usize>(),
        Value::Object(map) => map.len() / 16 + map.values().map(bulk).sum::<usize>(),
        _ => 0,
    }
}

fn open_object(map: &Map<String, Value>) -> Map<String, Value> {
    let mut open = map.clone();
    open.shift_remove("$ref");
    open.entry("type").or_insert_with(|| "object".into());
    open
}

/// Lists that do not say what they hold are refused by strict providers.
fn complete(copy: &mut Map<String, Value>) {
    let is_list = match copy.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_list && !copy.contains_key("items") && !copy.contains_key("prefixItems") {
        copy.insert("items".to_owned(), json!({}));
    }
}

/// The types without those that do not exist: a provider refuses the whole request for one.
fn known_types(kinds: &Value) -> Option<Value> {
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match kinds {
        Value::Array(kinds) => {
            let kinds: Vec<Value> = kinds.iter().filter(|kind| known(kind)).cloned().collect();
            (!kinds.is_empty()).then_some(Value::Array(kinds))
        }
        kind => known(kind).then(|| kind.clone()),
    }
}
