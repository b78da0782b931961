//! What is wrong with arguments, in sentences a model can act on.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::form;
use crate::text;

/// Characters of a value that are quoted.
const QUOTED: usize = 80;
/// Names or values that one sentence lists.
const LISTED: usize = 20;

/// The report: every fault on a line of its own.
pub(super) fn whole(faults: &[String], most: usize) -> Result<(), String> {
    if faults.is_empty() {
        return Ok(());
    }
    let mut report =
        "The arguments do not fit the tool's input schema; nothing was sent.".to_owned();
    for fault in faults.iter().take(most) {
        // Writing to a String cannot fail.
        write!(report, "\n- {fault}").ok();
    }
    if faults.len() > most {
        report.push_str("\n- and more");
    }
    report.push_str("\nCorrect them and call the tool again.");
    Err(report)
}

/// One fault: where, what was found, what is allowed.
pub(super) fn sentence(error: &ValidationError<'_>, schema: &Value) -> String {
    let path = error.instance_path().to_string();
    let found = error.instance();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            missing(&path, property.as_str().unwrap_or_default(), schema)
        }
        ValidationErrorKind::Type { kind } => wrong_type(&path, found, &types(kind)),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unknown(&path, unexpected, schema)
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("{} is {}, must be one of {}", place(&path), quoted(found), listed(options))
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!("{} is {}, must be {}", place(&path), quoted(found), quoted(expected_value))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            none_of(&path, found, context, schema)
        }
        ValidationErrorKind::FalseSchema => format!("{} is not allowed", place(&path)),
        ValidationErrorKind::Pattern { pattern } => {
            let pattern = text::cut(pattern, QUOTED);
            format!("{} is {}, must match the pattern {pattern}", place(&path), quoted(found))
        }
        _ => format!("{}: {}", place(&path), text::cut(&error.to_string(), 3 * QUOTED)),
    }
}

/// A required property that is not there.
pub(super) fn missing(path: &str, name: &str, schema: &Value) -> String {
    let kind = top_level(path).then(|| form::field(schema, name)).flatten();
    let kind = kind.map(|field| format!(" ({})", field.kind)).unwrap_or_default();
    format!(
        "{} is missing, it is required{kind}",
        place(&format!("{path}/{}", super::super::escaped(name)))
    )
}

/// A value of another type than the schema asks for.
pub(super) fn wrong_type(path: &str, found: &Value, kinds: &str) -> String {
    format!(
        "{} is {} ({}), must be {}",
        place(path),
        quoted(found),
        kind(found),
        with_article(kinds)
    )
}

/// What a value is, in JSON's words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Whether a value is of a type of JSON Schema.
pub(super) fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { "the whole".to_owned() } else { text::cut(path, 2 * QUOTED) }
}

fn top_level(path: &str) -> bool {
    path.is_empty()
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn with_article(kinds: &str) -> String {
    match kinds {
        "null" => kinds.to_owned(),
        _ if kinds.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kinds}"),
        _ => format!("a {kinds}"),
    }
}

fn unknown(path: &str, names: &[String], schema: &Value) -> String {
    let fields = if top_level(path) { form::fields(schema) } else { Vec::new() };
    let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let names: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| match text::nearest(name, known.iter().copied()) {
            Some(near) => format!("“{}” (did you mean “{near}”?)", text::cut(name, QUOTED)),
            None => format!("“{}”", text::cut(name, QUOTED)),
        })
        .collect();
    let mut sentence = format!("{} has unknown properties: {}", place(path), names.join(", "));
    if !known.is_empty() {
        let known: Vec<&str> = known.into_iter().take(LISTED).collect();
        write!(sentence, "; known are {}", known.join(", ")).ok();
    }
    sentence
}

fn none_of(
    path: &str,
    found: &Value,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
) -> String {
    let reasons: Vec<String> = context
        .iter()
        .filter_map(|errors| errors.first())
        .take(4)
        .enumerate()
        .map(|(number, error)| format!("{}) {}", number + 1, shallow(error, schema)))
        .collect();
    let mut sentence =
        format!("{} is {}, fits none of the alternatives", place(path), quoted(found));
    if !reasons.is_empty() {
        write!(sentence, ": {}", reasons.join("; ")).ok();
    }
    text::cut(&sentence, 8 * QUOTED)
}

/// The sentence of an error inside alternatives; alternatives inside those are only counted.
fn shallow(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            format!("fits none of {} alternatives", context.len())
        }
        _ => sentence(error, schema),
    }
}

fn listed(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(LISTED).map(quoted).collect();
    if values.len() > LISTED {
        words.push(format!("and {} more", values.len() - LISTED));
    }
    words.join(", ")
}

fn quoted(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > LISTED => format!("a list of {} items", items.len()),
        Value::Object(members) if members.len() > LISTED => {
            format!("an object of {} members", members.len())
        }
        value => text::cut(&value.to_string(), QUOTED),
    }
}
