//! What the narrowest provider takes: a keyword it refuses becomes one it knows, or a sentence in
//! the description, so that its meaning is not lost.

use serde_json::{Map, Value, json};

/// Keywords that it takes.
const TAKEN: [&str; 19] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
];
/// Formats that it takes; others are named in the description.
const FORMATS: [&str; 6] = ["date-time", "enum", "int32", "int64", "float", "double"];

/// Narrows one schema whose inner schemas are narrow already.
pub(super) fn narrow(mut schema: Map<String, Value>) -> Map<String, Value> {
    merge_all(&mut schema);
    constant(&mut schema);
    alternatives(&mut schema);
    types(&mut schema);
    choices(&mut schema);
    bounds(&mut schema);
    items(&mut schema);
    format(&mut schema);
    schema.retain(|key, _| TAKEN.contains(&key.as_str()));
    required(&mut schema);
    schema
}

fn say(schema: &mut Map<String, Value>, sentence: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(said) if !said.trim().is_empty() => format!("{} {sentence}", said.trim_end()),
        _ => sentence.to_owned(),
    };
    schema.insert("description".to_owned(), text.into());
}

/// `allOf` becomes one schema; of two that speak about the same thing the first holds.
fn merge_all(schema: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = schema.shift_remove("allOf") else { return };
    for part in parts {
        let Value::Object(part) = part else { continue };
        for (key, value) in part {
            match (schema.get_mut(&key), value) {
                (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                    for (name, value) in more {
                        known.entry(name).or_insert(value);
                    }
                }
                (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                    known.extend(more);
                }
                (Some(_), _) => {}
                (None, value) => {
                    schema.insert(key, value);
                }
            }
        }
    }
}

fn constant(schema: &mut Map<String, Value>) {
    match schema.shift_remove("const") {
        None => {}
        Some(Value::String(text)) => {
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), json!([text]));
        }
        Some(value) => {
            schema.entry("type").or_insert_with(|| kind(&value).into());
            say(schema, &format!("Always {value}."));
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `oneOf` becomes `anyOf`; alternatives that only list texts become one list of texts; an
/// alternative that is null becomes `nullable`.
fn alternatives(schema: &mut Map<String, Value>) {
    let one = schema.shift_remove("oneOf");
    let any = schema.shift_remove("anyOf");
    let mut members: Vec<Value> =
        [any, one].into_iter().flatten().filter_map(into_list).flatten().collect();
    let before = members.len();
    members.retain(|member| member.get("type") != Some(&json!("null")));
    if members.len() < before {
        schema.insert("nullable".to_owned(), true.into());
    }
    let texts: Option<Vec<Value>> =
        members.iter().map(texts).collect::<Option<Vec<_>>>().map(|texts| texts.concat());
    match (texts, members.len()) {
        (_, 0) => {}
        (Some(texts), _) => {
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), texts.into());
        }
        (None, 1) => {
            let only = members.into_iter().filter_map(into_map).flatten();
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
        (None, _) => {
            schema.insert("anyOf".to_owned(), members.into());
        }
    }
}

fn into_list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn into_map(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

/// The texts of a schema that is nothing but a list of texts.
fn texts(schema: &Value) -> Option<Vec<Value>> {
    let schema = schema.as_object()?;
    let plain = schema.keys().all(|key| matches!(key.as_str(), "type" | "enum" | "title"));
    let texts = schema.get("enum")?.as_array()?;
    (plain && texts.iter().all(Value::is_string)).then(|| texts.clone())
}

/// A list of types becomes one type, alternatives of one type each, and `nullable`.
fn types(schema: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = schema.get("type").cloned() else { return };
    let real: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
    if real.len() < kinds.len() {
        schema.insert("nullable".to_owned(), true.into());
    }
    match real.as_slice() {
        [] => {
            schema.shift_remove("type");
        }
        [only] => {
            schema.insert("type".to_owned(), only.clone());
        }
        several => {
            schema.shift_remove("type");
            let members = several.iter().map(|kind| {
                if kind == "array" {
                    json!({"type": kind, "items": {}})
                } else {
                    json!({"type": kind})
                }
            });
            let members: Vec<Value> = members.collect();
            schema.entry("anyOf").or_insert(members.into());
            schema.shift_remove("items");
        }
    }
}

/// Only texts can be listed; other values are named in the description.
fn choices(schema: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = schema.get("enum").cloned() else { return };
    if values.iter().any(Value::is_null) {
        schema.insert("nullable".to_owned(), true.into());
    }
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty())) {
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), values.into());
        return;
    }
    schema.shift_remove("enum");
    if let Some(first) = values.first() {
        schema.entry("type").or_insert_with(|| kind(first).into());
    }
    let listed: Vec<String> = values.iter().take(50).map(ToString::to_string).collect();
    say(schema, &format!("One of {}.", listed.join(", ")));
}

fn bounds(schema: &mut Map<String, Value>) {
    for (key, words) in [
        ("exclusiveMinimum", "Greater than"),
        ("exclusiveMaximum", "Less than"),
        ("multipleOf", "A multiple of"),
    ] {
        if let Some(bound) = schema.shift_remove(key).filter(Value::is_number) {
            say(schema, &format!("{words} {bound}."));
        }
    }
}

/// A list whose items differ by place holds anything.
fn items(schema: &mut Map<String, Value>) {
    let by_place = schema.shift_remove("prefixItems").is_some();
    if schema.get("items").is_some_and(Value::is_array)
        || (by_place && !schema.contains_key("items"))
    {
        schema.insert("items".to_owned(), json!({}));
    }
}

fn format(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        schema.shift_remove("format");
        return;
    };
    if !FORMATS.contains(&format) {
        let sentence = format!("Format: {format}.");
        schema.shift_remove("format");
        say(schema, &sentence);
    }
}

fn required(schema: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = schema.get("required") else {
        schema.shift_remove("required");
        return;
    };
    let known = schema.get("properties").and_then(Value::as_object);
    let names: Vec<Value> = names
        .iter()
        .filter(|name| {
            let name = name.as_str().unwrap_or_default();
            known.is_some_and(|known| known.contains_key(name))
        })
        .cloned()
        .collect();
    if names.is_empty() {
        schema.shift_remove("required");
    } else {
        schema.insert("required".to_owned(), names.into());
    }
}
