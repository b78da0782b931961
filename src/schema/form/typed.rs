//! From a word of the command line to a value of the type that the schema asks for.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::super::merge;
use super::{CHOICES, DEPTH, follow, kind};
use crate::text;

/// Reads `KEY=VALUE` or `KEY:=JSON`.
pub(super) fn read(schema: &Value, word: &str) -> Result<(String, Value), String> {
    let Some((key, value)) = word.split_once('=') else {
        return Err(format!("“{word}” is no argument: write KEY=VALUE, or KEY:=JSON"));
    };
    let flat = merge::flatten(schema);
    let empty = Map::new();
    let properties = flat.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if let Some(property) = properties.get(key) {
        return Ok((key.to_owned(), typed(schema, property, key, value, DEPTH)?));
    }
    if let Some(key) = key.strip_suffix(':') {
        let value = serde_json::from_str(value)
            .map_err(|error| format!("“{key}” holds no JSON: {error}"))?;
        return Ok((key.to_owned(), value));
    }
    let known = || properties.keys().map(String::as_str);
    let near = text::nearest(key, known());
    match (flat.get("additionalProperties"), near) {
        (Some(further @ Value::Object(_)), _) => {
            Ok((key.to_owned(), typed(schema, further, key, value, DEPTH)?))
        }
        (Some(Value::Bool(true)), _) | (None, None) => Ok((key.to_owned(), value.into())),
        (_, Some(near)) => {
            Err(format!("“{key}” is no parameter of this tool: did you mean “{near}”?"))
        }
        (_, None) => {
            let known = known().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none".to_owned() } else { known };
            Err(format!("“{key}” is no parameter of this tool; it has: {known}"))
        }
    }
}

/// Lists of lists are followed `depth` deep: a list may be defined as holding itself.
fn typed(
    root: &Value,
    schema: &Value,
    key: &str,
    text: &str,
    depth: usize,
) -> Result<Value, String> {
    let schema = follow(root, schema);
    if let Some(value) = chosen(schema, text) {
        return Ok(value);
    }
    let fault = || {
        let kind = kind(root, schema, DEPTH);
        format!("“{key}” must be {kind}, but “{}” is none", text::cut(text, 60))
    };
    if schema.get("enum").or_else(|| schema.get("const")).is_some() {
        return Err(fault());
    }
    let Some(types) = types(root, schema, DEPTH) else {
        return Ok(text.into());
    };
    // A text fits a string always: whatever else is allowed is tried before.
    let mut types: Vec<&str> = types.iter().map(String::as_str).collect();
    types.sort_by_key(|kind| (*kind == "string", *kind == "array"));
    types
        .into_iter()
        .find_map(|kind| match kind {
            "array" if depth == 0 => None,
            "array" => Some(list(root, schema, key, text, depth - 1)),
            kind => as_type(kind, text).map(Ok),
        })
        .unwrap_or_else(|| Err(fault()))
}

/// The choice whose text was given.
fn chosen(schema: &Value, text: &str) -> Option<Value> {
    let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut choices = choices.chain(schema.get("const"));
    choices.find(|choice| spelled(choice) == text).cloned()
}

fn spelled(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

fn as_type(kind: &str, text: &str) -> Option<Value> {
    let json = || serde_json::from_str::<Value>(text).ok();
    match kind {
        "string" => Some(text.into()),
        "integer" => json().filter(|value| value.is_i64() || value.is_u64()),
        "number" => json().filter(Value::is_number),
        "boolean" => json().filter(Value::is_boolean),
        "null" => json().filter(Value::is_null),
        "object" => json().filter(Value::is_object),
        _ => None,
    }
}

fn list(
    root: &Value,
    schema: &Value,
    key: &str,
    text: &str,
    depth: usize,
) -> Result<Value, String> {
    if let Ok(value @ Value::Array(_)) = serde_json::from_str(text) {
        return Ok(value);
    }
    let items = list_schema(root, schema, DEPTH).and_then(|list| list.get("items"));
    let item = match items {
        Some(items) => typed(root, items, key, text, depth)?,
        None => text.into(),
    };
    Ok(Value::Array(vec![item]))
}

/// The alternative that is a list.
fn list_schema<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Option<&'a Value> {
    let schema = follow(root, schema);
    if depth == 0 || schema.get("items").is_some() {
        return Some(schema);
    }
    let members = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut members = members("anyOf").chain(members("oneOf")).chain(members("allOf"));
    members.by_ref().take(CHOICES).find_map(|member| {
        let found = list_schema(root, member, depth - 1)?;
        found.get("items").is_some().then_some(found)
    })
}

/// The types that a schema allows; `None` for any.
pub(super) fn types(root: &Value, schema: &Value, depth: usize) -> Option<Vec<String>> {
    let schema = follow(root, schema);
    let depth = depth.checked_sub(1)?;
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(vec![kind.clone()]),
        Some(Value::Array(kinds)) => {
            return Some(kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
        _ => {}
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(members) = schema.get(key).and_then(Value::as_array) {
            let kinds = members.iter().take(CHOICES).map(|member| types(root, member, depth));
            return kinds.collect::<Option<Vec<_>>>().map(|kinds| kinds.concat());
        }
    }
    let members = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    if let Some(kinds) =
        members.into_iter().take(CHOICES).find_map(|member| types(root, member, depth))
    {
        return Some(kinds);
    }
    let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let choices: Vec<String> =
        choices.chain(schema.get("const")).map(|value| type_of(value).to_owned()).collect();
    if !choices.is_empty() {
        // None of the choices was given: no text fits.
        return Some(Vec::new());
    }
    schema.get("properties").is_some().then(|| vec!["object".to_owned()])
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
