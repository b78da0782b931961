//! Forms that servers ask the user to fill in (I2–I4): from the schema to fields, from what was
//! entered to a checked answer. Pure.

mod entered;

use serde_json::{Map, Value};

use crate::domain::{FieldKind, FormField};

pub use entered::{answer, exactly, fault, value};

/// Most fields of one form.
const FIELDS: usize = 64;
/// Most choices of one field.
const CHOICES: usize = 500;

/// The fields of a form in the schema's order. `Err` says why it cannot be shown as one: it can
/// only be refused then (I2).
pub fn form(schema: &Value) -> Result<Vec<FormField>, String> {
    let Some(root) = schema.as_object() else {
        return Err("its schema is no object".to_owned());
    };
    if root.get("type").is_some_and(|kind| kind != "object") {
        return Err("its schema asks for something else than an object".to_owned());
    }
    let none = Map::new();
    let properties = match root.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err("its fields are no object".to_owned()),
    };
    if properties.len() > FIELDS {
        return Err(format!("it has more fields than the limit of {FIELDS} (form fields)"));
    }
    let required: Vec<&str> = root
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    if let Some(missing) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(format!("it requires “{missing}” but does not say what that is"));
    }
    properties
        .iter()
        .map(|(name, property)| {
            let field = field(name, property, required.contains(&name.as_str()));
            field.map_err(|why| format!("“{name}” {why}"))
        })
        .collect()
}

fn field(name: &str, property: &Value, required: bool) -> Result<FormField, String> {
    let Some(outer) = property.as_object() else {
        return Err("has no schema".to_owned());
    };
    let says = |key: &str| outer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let title = says("title");
    let mut field = FormField {
        name: name.to_owned(),
        label: if title.is_empty() { name.to_owned() } else { title },
        description: says("description"),
        kind: kind(bare(outer))?,
        required,
        default: None,
    };
    // A default that does not fit its own field is none.
    field.default = outer.get("default").filter(|value| fault(&field, value).is_none()).cloned();
    Ok(field)
}

/// What is left of “this or null”, as some libraries write optional fields.
fn bare(property: &Map<String, Value>) -> &Map<String, Value> {
    let Some(members) = property.get("anyOf").and_then(Value::as_array) else { return property };
    let not_null = |member: &&Value| member.get("type").is_none_or(|kind| kind != "null");
    let mut others = members.iter().filter(not_null);
    match (others.next().and_then(Value::as_object), others.next()) {
        (Some(only), None) if only.contains_key("type") => only,
        _ => property,
    }
}

fn kind(property: &Map<String, Value>) -> Result<FieldKind, String> {
    if let Some(options) = options(property) {
        return options.map(FieldKind::Choice);
    }
    let limit = |key: &str| property.get(key).and_then(Value::as_u64);
    let bound = |key: &str| property.get(key).and_then(Value::as_f64);
    let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
    match type_of(property) {
        Some("string") => Ok(FieldKind::Text {
            min: limit("minLength"),
            max: limit("maxLength"),
            format: text("format"),
            pattern: text("pattern"),
        }),
        Some(kind @ ("number" | "integer")) => Ok(FieldKind::Number {
            integer: kind == "integer",
            min: bound("minimum"),
            max: bound("maximum"),
        }),
        Some("boolean") => Ok(FieldKind::Bool),
        Some("array") => {
            let items = property.get("items").and_then(Value::as_object);
            let Some(options) = items.and_then(options) else {
                return Err("is a list of anything, not of given choices".to_owned());
            };
            Ok(FieldKind::Many {
                options: options?,
                min: limit("minItems"),
                max: limit("maxItems"),
            })
        }
        Some(other) => Err(format!("is of type {}", crate::text::cut(other, 40))),
        None => Err("has no type".to_owned()),
    }
}

/// The one type besides `null`.
fn type_of(property: &Map<String, Value>) -> Option<&str> {
    match property.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut others = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    }
}

/// Value and label of each choice, in any of the ways in which they are written; `None` where
/// nothing is to be chosen.
fn options(schema: &Map<String, Value>) -> Option<Result<Vec<(String, String)>, String>> {
    let listed = |key: &str| schema.get(key).and_then(Value::as_array);
    let (values, titled) = match (listed("enum"), listed("oneOf").or_else(|| listed("anyOf"))) {
        (Some(values), _) => (values, false),
        (None, Some(members)) => (members, true),
        (None, None) => return None,
    };
    if values.len() > CHOICES {
        return Some(Err(format!("has more choices than the limit of {CHOICES} (form choices)")));
    }
    let labels = listed("enumNames");
    let option = |(nth, value): (usize, &Value)| {
        let (value, label) = if titled {
            (value.get("const")?.as_str()?, value.get("title").and_then(Value::as_str))
        } else {
            let label = labels.and_then(|labels| labels.get(nth)).and_then(Value::as_str);
            (value.as_str()?, label)
        };
        Some((value.to_owned(), label.unwrap_or(value).to_owned()))
    };
    let options: Option<Vec<_>> = values.iter().enumerate().map(option).collect();
    Some(match options {
        Some(options) if !options.is_empty() => Ok(options),
        _ => Err("has choices that are no texts".to_owned()),
    })
}

#[cfg(test)]
mod tests;
