//! What changed between two definitions, in words.

use serde_json::{Map, Value};

/// Changes that are told; more are counted.
const TOLD: usize = 12;
/// Characters of a value that are quoted.
const QUOTED: usize = 120;

/// What changed from one definition to another, in words: name, title, description, parameters,
/// schemas, annotations. Takes canonical forms or definitions as they came. The words quote both.
pub fn changes(old: &Value, new: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for key in ["name", "title", "description"] {
        told.extend(replaced(key, old.get(key), new.get(key)));
    }
    told.extend(schema("parameter", old.get("inputSchema"), new.get("inputSchema")));
    told.extend(schema("result", old.get("outputSchema"), new.get("outputSchema")));
    told.extend(annotations(old.get("annotations"), new.get("annotations")));
    if told.len() > TOLD {
        let more = told.len() - TOLD;
        told.truncate(TOLD);
        told.push(format!("and {more} more changes"));
    }
    told
}

fn replaced(what: &str, old: Option<&Value>, new: Option<&Value>) -> Option<String> {
    let (old, new) = (old.filter(|old| !old.is_null()), new.filter(|new| !new.is_null()));
    match (old, new) {
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => Some(format!("{what} was {}, is {}", quoted(old), quoted(new))),
        (Some(old), None) => Some(format!("{what} was {}, is gone", quoted(old))),
        (None, Some(new)) => Some(format!("{what} is new: {}", quoted(new))),
        (None, None) => None,
    }
}

fn annotations(old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
    let empty = Map::new();
    let (old, new) = (members(old, &empty), members(new, &empty));
    keys(old, new).filter_map(|key| replaced(key, old.get(key), new.get(key))).collect()
}

/// Compares two object schemas property by property.
fn schema(what: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let empty = Map::new();
    let properties =
        |schema: Option<&Value>| schema.and_then(|schema| schema.get("properties")).cloned();
    let (old_properties, new_properties) = (properties(old), properties(new));
    let (before, after) =
        (members(old_properties.as_ref(), &empty), members(new_properties.as_ref(), &empty));
    let mut told: Vec<String> = keys(before, after)
        .filter_map(|key| {
            let name = format!("{what} “{key}”");
            match (before.get(key), after.get(key)) {
                (Some(_), None) => Some(format!("{name} is gone")),
                (None, Some(_)) => Some(format!("{name} is new")),
                (old, new) => replaced(&name, old, new),
            }
        })
        .collect();
    for key in keys(before, after) {
        match (is_required(old, key), is_required(new, key)) {
            (false, true) => told.push(format!("{what} “{key}” is required now")),
            (true, false) => told.push(format!("{what} “{key}” is no longer required")),
            _ => {}
        }
    }
    if told.is_empty() {
        told.push(format!("the {what} schema changed"));
    }
    told
}

fn is_required(schema: Option<&Value>, key: &str) -> bool {
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|name| name == key))
}

fn members<'a>(value: Option<&'a Value>, empty: &'a Map<String, Value>) -> &'a Map<String, Value> {
    value.and_then(Value::as_object).unwrap_or(empty)
}

fn keys<'a>(
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a String> {
    old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)))
}

fn quoted(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("“{}…”", text.get(..end).unwrap_or_default()),
        None => format!("“{text}”"),
    }
}
