//! Parameters as a person can enter them: a field of its own where the value is flat, JSON else.

use serde_json::{Map, Value};

use super::{Field, fields, follow, merge};
use crate::domain::FieldKind;

/// Values in a list of choices; longer ones are written as text.
const CHOICES: usize = 100;

/// How the value of a parameter is entered.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// As a field of this kind.
    Field(FieldKind),
    /// By choosing one of these.
    Values(Vec<Value>),
    /// As JSON: the value is nested, or may be of several types.
    Json,
}

/// A parameter and how it is entered.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What the schema says of it.
    pub field: Field,
    /// How its value is entered.
    pub entry: Entry,
    /// Whether `null` is a value of it.
    pub nullable: bool,
}

/// The top-level parameters in the schema's order, to be filled in.
pub fn parameters(schema: &Value) -> Vec<Parameter> {
    let flat = merge::flatten(schema);
    let properties = flat.get("properties").and_then(Value::as_object);
    fields(schema)
        .into_iter()
        .map(|field| {
            let property = properties.and_then(|all| all.get(&field.name)).unwrap_or(&Value::Null);
            let (entry, nullable) = entry(schema, property);
            Parameter { field, entry, nullable }
        })
        .collect()
}

fn entry(root: &Value, property: &Value) -> (Entry, bool) {
    let (schema, nullable) = without_null(root, follow(root, property));
    let Some(map) = schema.as_object() else { return (Entry::Json, nullable) };
    if let Some(value) = map.get("const").filter(|value| is_flat(value)) {
        return (Entry::Values(vec![value.clone()]), nullable);
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        let null = values.contains(&Value::Null);
        let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        let few = (1..=CHOICES).contains(&values.len()) && values.iter().all(is_flat);
        return (if few { Entry::Values(values) } else { Entry::Json }, nullable || null);
    }
    let (kind, null) = only_type(map);
    let entry = kind.map_or(Entry::Json, |kind| plain(root, map, kind));
    (entry, nullable || null)
}

/// The one alternative besides `null`, where there is just one.
fn without_null<'a>(root: &'a Value, schema: &'a Value) -> (&'a Value, bool) {
    for key in ["anyOf", "oneOf"] {
        let Some(members) = schema.get(key).and_then(Value::as_array) else { continue };
        let is_null = |member: &&Value| member.get("type").is_some_and(|kind| kind == "null");
        let mut others = members.iter().filter(|member| !is_null(member));
        return match (others.next(), others.next()) {
            (Some(only), None) => (follow(root, only), members.len() > 1),
            _ => (&Value::Null, false),
        };
    }
    if let Some([only]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        return (follow(root, only), false);
    }
    (schema, false)
}

/// The one type besides `null`, and whether `null` is one too.
fn only_type(schema: &Map<String, Value>) -> (Option<&str>, bool) {
    match schema.get("type") {
        Some(Value::String(name)) => (Some(name), false),
        Some(Value::Array(names)) => {
            let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let only = others.next().filter(|_| others.next().is_none());
            (only, names.iter().any(|name| name == "null"))
        }
        _ => (None, false),
    }
}

fn plain(root: &Value, schema: &Map<String, Value>, kind: &str) -> Entry {
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let word = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    match kind {
        "string" => Entry::Field(FieldKind::Text {
            min: count("minLength"),
            max: count("maxLength"),
            format: word("format"),
            pattern: word("pattern"),
        }),
        "integer" | "number" => Entry::Field(FieldKind::Number {
            integer: kind == "integer",
            min: bound("minimum"),
            max: bound("maximum"),
        }),
        "boolean" => Entry::Field(FieldKind::Bool),
        "array" => several(root, schema).unwrap_or(Entry::Json),
        _ => Entry::Json,
    }
}

/// A list of words out of a given set.
fn several(root: &Value, schema: &Map<String, Value>) -> Option<Entry> {
    let items = follow(root, schema.get("items")?);
    let words = items.get("enum")?.as_array()?;
    let options: Option<Vec<(String, String)>> = words
        .iter()
        .map(|word| Some((word.as_str()?.to_owned(), word.as_str()?.to_owned())))
        .collect();
    let options = options.filter(|options| (1..=CHOICES).contains(&options.len()))?;
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (min, max) = (count("minItems"), count("maxItems"));
    Some(Entry::Field(FieldKind::Many { options, min, max }))
}

fn is_flat(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(property: &Value) -> (Entry, bool) {
        let schema = json!({"type": "object", "properties": {"x": property}});
        let mut all = parameters(&schema);
        let only = all.remove(0);
        (only.entry, only.nullable)
    }

    #[test]
    fn flat_values_are_fields_of_their_kind() {
        let text = FieldKind::Text { min: Some(1), max: None, format: None, pattern: None };
        assert_eq!(one(&json!({"type": "string", "minLength": 1})), (Entry::Field(text), false));
        let number = FieldKind::Number { integer: true, min: None, max: Some(9.0) };
        assert_eq!(one(&json!({"type": "integer", "maximum": 9})).0, Entry::Field(number));
        assert_eq!(one(&json!({"enum": [1, 2]})).0, Entry::Values(vec![1.into(), 2.into()]));
    }

    #[test]
    fn what_may_be_null_is_a_field_of_the_rest() {
        for schema in [
            json!({"type": ["boolean", "null"]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": null}),
        ] {
            assert_eq!(one(&schema), (Entry::Field(FieldKind::Bool), true), "{schema}");
        }
    }

    #[test]
    fn nested_and_unclear_values_are_json() {
        for schema in [
            json!({"type": "object"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": ["string", "integer"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"enum": [["a"], "b"]}),
            json!({"$ref": "#/nowhere"}),
            json!(true),
        ] {
            assert_eq!(one(&schema).0, Entry::Json, "{schema}");
        }
    }

    #[test]
    fn references_that_lead_in_circles_end() {
        let schema = json!({
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        });
        assert_eq!(parameters(&schema).len(), 1);
    }
}
