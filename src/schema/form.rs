//! Schemas as something a person can fill in: rows for a table, values from `KEY=VALUE`, forms of
//! servers.

pub mod asked;
pub mod entry;
mod typed;

use serde_json::{Map, Value};

use super::{merge, resolve};
use crate::text;

/// Choices that a type in words lists.
const CHOICES: usize = 12;
/// References that are followed in a row.
const REFERENCES: usize = 8;
/// Alternatives inside alternatives, and lists of lists, that are followed: they multiply.
const DEPTH: usize = 3;

/// A parameter of a tool, as shown in its details.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name of the property.
    pub name: String,
    /// Its type in words, such as `string`, `integer`, `list of string`, `one of a, b`.
    pub kind: String,
    /// Whether it is required.
    pub required: bool,
    /// Its description; raw.
    pub description: String,
    /// Its default.
    pub default: Option<Value>,
}

/// The top-level parameters in the schema's order.
pub fn fields(schema: &Value) -> Vec<Field> {
    let flat = merge::flatten(schema);
    let properties = flat.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(_, property)| **property != Value::Bool(false))
        .map(|(name, property)| row(schema, &flat, name, property))
        .collect()
}

/// One top-level parameter.
pub(super) fn field(schema: &Value, name: &str) -> Option<Field> {
    fields(schema).into_iter().find(|field| field.name == name)
}

/// The types that a top-level parameter may have; `None` where it may have any.
pub(super) fn types(schema: &Value, name: &str) -> Option<Vec<String>> {
    let flat = merge::flatten(schema);
    let property = flat.get("properties")?.get(name)?;
    typed::types(schema, property, DEPTH)
}

fn row(root: &Value, flat: &Map<String, Value>, name: &str, property: &Value) -> Field {
    let required = flat.get("required").and_then(Value::as_array);
    let says = |key: &str| {
        let own = property.get(key);
        own.or_else(|| follow(root, property).get(key))
    };
    Field {
        name: name.to_owned(),
        kind: kind(root, property, DEPTH),
        required: required.is_some_and(|names| names.iter().any(|known| known == name)),
        description: says("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        default: says("default").cloned(),
    }
}

/// Follows references to the schema they lead to.
fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..REFERENCES {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(target) = reference.and_then(|reference| resolve(root, reference)) else { break };
        schema = target;
    }
    schema
}

/// A type in words.
fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = follow(root, schema);
    if depth == 0 {
        return "any".to_owned();
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choice(choices);
    }
    if let Some(value) = schema.get("const") {
        return format!("always {}", plain(value));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(members) = schema.get(key).and_then(Value::as_array) {
            return union(members.iter().map(|member| kind(root, member, depth - 1)));
        }
    }
    if let Some([only]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        return kind(root, only, depth - 1);
    }
    match schema.get("type") {
        Some(Value::String(name)) => named(root, schema, name, depth),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            union(names.map(|name| named(root, schema, name, depth)))
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

fn named(root: &Value, schema: &Value, name: &str, depth: usize) -> String {
    match (name, schema.get("items"), schema.get("format").and_then(Value::as_str)) {
        ("array", Some(items @ Value::Object(_)), _) => {
            format!("list of {}", kind(root, items, depth - 1))
        }
        ("array", ..) => "list".to_owned(),
        ("string", _, Some(format)) => format!("string ({})", text::cut(format, 30)),
        (name, ..) => text::cut(name, 30),
    }
}

fn union(kinds: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for kind in kinds.take(CHOICES) {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    if distinct.is_empty() { "any".to_owned() } else { distinct.join(" or ") }
}

fn choice(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(CHOICES).map(plain).collect();
    if values.len() > CHOICES {
        words.push("…".to_owned());
    }
    format!("one of {}", words.join(", "))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text::cut(text, 60),
        other => text::cut(&other.to_string(), 60),
    }
}

/// Builds arguments from `KEY=VALUE` words: values take the type that the schema asks for. A list
/// is written as JSON, or by naming its key once for every item. `KEY:=JSON` takes a value as it
/// is written, whatever the schema says.
pub fn arguments(schema: &Value, words: &[String]) -> Result<Map<String, Value>, String> {
    gather(words, |word| typed::read(schema, word))
}

/// The same, but a word that does not fit the schema is taken as text: for arguments that nobody
/// checks by it.
pub fn loose_arguments(schema: &Value, words: &[String]) -> Result<Map<String, Value>, String> {
    let open = Value::Object(Map::new());
    gather(words, |word| typed::read(schema, word).or_else(|_| typed::read(&open, word)))
}

fn gather(
    words: &[String],
    read: impl Fn(&str) -> Result<(String, Value), String>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for word in words {
        let (key, value) = read(word)?;
        match (arguments.get_mut(&key), value) {
            (None, value) => {
                arguments.insert(key, value);
            }
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (Some(_), _) => return Err(format!("“{key}” is given twice")),
        }
    }
    Ok(arguments)
}
