//! Schemas that are put together from others, as one plain object schema.

use serde_json::{Map, Value, json};

use super::resolve;

/// How deep schemas may be put together from others.
const DEPTH: usize = 6;
/// Parts that one schema may be put together from: parts of parts multiply.
const PARTS: usize = 256;

/// The schema of the arguments as a plain object schema: `type`, `properties`, `required` at the
/// top. References and combinations at the top are resolved into it: a property that alternatives
/// define differently gets their union, and only what every alternative requires is required.
pub(super) fn flatten(root: &Value) -> Map<String, Value> {
    let mut left = PARTS;
    let mut flat = flat(root, root, 0, &mut left);
    flat.insert("type".to_owned(), "object".into());
    if !flat.get("properties").is_some_and(Value::is_object) {
        flat.insert("properties".to_owned(), json!({}));
    }
    flat
}

fn flat(root: &Value, schema: &Value, depth: usize, left: &mut usize) -> Map<String, Value> {
    let Some(schema) = schema.as_object() else {
        return Map::new();
    };
    let mut flat = schema.clone();
    for key in ["$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else"] {
        flat.shift_remove(key);
    }
    *left = left.saturating_sub(1);
    if depth >= DEPTH || *left == 0 {
        return flat;
    }
    let target = schema.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|reference| resolve(root, reference));
    for part in target.into_iter().chain(members(schema, "allOf")) {
        let part = self::flat(root, part, depth + 1, left);
        add(&mut flat, &part, "allOf");
        require(&mut flat, required(&part));
    }
    for key in ["anyOf", "oneOf"] {
        let mut common: Option<Vec<String>> = None;
        for part in members(schema, key).filter(|part| may_be_object(part)) {
            let part = self::flat(root, part, depth + 1, left);
            add(&mut flat, &part, "anyOf");
            let names = required(&part);
            common = Some(match common {
                None => names,
                Some(common) => common.into_iter().filter(|name| names.contains(name)).collect(),
            });
        }
        require(&mut flat, common.unwrap_or_default());
    }
    flat
}

fn members<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().take(PARTS)
}

fn may_be_object(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => true,
    })
}

fn required(schema: &Map<String, Value>) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn require(flat: &mut Map<String, Value>, names: Vec<String>) {
    let mut all = required(flat);
    all.extend(names.into_iter().filter(|name| !required(flat).contains(name)));
    if !all.is_empty() {
        flat.insert("required".to_owned(), all.into());
    }
}

/// Adds the properties of a part, and what else it says where the whole says nothing. Two schemas
/// of one property are joined under `joint`.
fn add(flat: &mut Map<String, Value>, part: &Map<String, Value>, joint: &str) {
    for (key, value) in part {
        match (key.as_str(), value) {
            ("properties", Value::Object(more)) => {
                let known = flat.entry("properties").or_insert_with(|| json!({}));
                let Some(known) = known.as_object_mut() else { continue };
                for (name, schema) in more {
                    join(known, name, schema, joint);
                }
            }
            ("required" | "properties", _) => {}
            // One alternative being closed does not close the others.
            ("additionalProperties", _) if joint == "anyOf" => {}
            _ => {
                flat.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
}

fn join(known: &mut Map<String, Value>, name: &str, schema: &Value, joint: &str) {
    let Some(old) = known.get_mut(name) else {
        known.insert(name.to_owned(), schema.clone());
        return;
    };
    if old == schema {
        return;
    }
    let joined = old.as_object().is_some_and(|old| old.len() == 1 && old.contains_key(joint));
    match old.get_mut(joint).and_then(Value::as_array_mut).filter(|_| joined) {
        Some(several) if several.contains(schema) => {}
        Some(several) => several.push(schema.clone()),
        None => {
            let mut both = Map::new();
            both.insert(joint.to_owned(), json!([old.clone(), schema]));
            *old = Value::Object(both);
        }
    }
}
