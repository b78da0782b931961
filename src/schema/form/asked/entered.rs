//! What a person entered: from text to values, checked field by field, with words for people.

use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};
use url::Url;

use crate::domain::{FieldKind, FormField};
use crate::schema::check;
use crate::text;

/// Reads what was typed into a field; `None` for nothing at all. Choices are known by their value
/// or their label; several are separated by commas, or written as JSON.
pub fn value(field: &FormField, typed: &str) -> Result<Option<Value>, String> {
    let trimmed = typed.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let value = match &field.kind {
        FieldKind::Text { .. } => json!(typed),
        FieldKind::Number { integer, .. } => number(trimmed, *integer)?,
        FieldKind::Bool => yes_or_no(trimmed)?,
        FieldKind::Choice(options) => json!(chosen(options, trimmed)?),
        FieldKind::Many { options, .. } => json!(several(options, trimmed)?),
    };
    match fault(field, &value) {
        None => Ok(Some(value)),
        Some(why) => Err(why),
    }
}

fn number(typed: &str, integer: bool) -> Result<Value, String> {
    let whole = typed.parse::<i64>().map(Number::from);
    let number = whole.ok().or_else(|| typed.parse::<f64>().ok().and_then(Number::from_f64));
    number.map(Value::Number).ok_or_else(|| {
        let kind = if integer { "a whole number" } else { "a number" };
        format!("must be {kind}")
    })
}

fn yes_or_no(typed: &str) -> Result<Value, String> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(json!(true)),
        "n" | "no" | "false" => Ok(json!(false)),
        _ => Err("must be yes or no".to_owned()),
    }
}

fn chosen<'a>(options: &'a [(String, String)], typed: &str) -> Result<&'a str, String> {
    let by_value = options.iter().find(|(value, _)| value == typed);
    let found = by_value.or_else(|| options.iter().find(|(_, label)| label == typed));
    found.map(|(value, _)| value.as_str()).ok_or_else(|| not_offered(options, typed))
}

fn several<'a>(options: &'a [(String, String)], typed: &str) -> Result<Vec<&'a str>, String> {
    if let Ok(words) = serde_json::from_str::<Vec<String>>(typed) {
        return words.iter().map(|word| chosen(options, word)).collect();
    }
    let words = typed.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| chosen(options, word)).collect()
}

fn not_offered(options: &[(String, String)], word: &str) -> String {
    let all = options.iter().take(20).map(|(value, _)| value.as_str());
    let all = all.collect::<Vec<_>>().join(", ");
    format!("“{}” is not among the choices: {}", text::cut(word, 40), text::cut(&all, 300))
}

/// The whole answer: what was given, defaults for every field that was left untouched, and nothing
/// for an optional one without (I3, I4). `Err` names each field that is wrong, and why.
pub fn answer(
    fields: &[FormField],
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<(String, String)>> {
    let mut content = given.clone();
    for field in fields {
        if let (false, Some(default)) = (content.contains_key(&field.name), &field.default) {
            content.insert(field.name.clone(), default.clone());
        }
    }
    exactly(fields, &content)
}

/// Checks an answer as it is, in the order of the form: what is not there was left out on purpose.
/// The error names each field and what is wrong with it.
pub fn exactly(
    fields: &[FormField],
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<(String, String)>> {
    let mut answer = Map::new();
    let mut faults = Vec::new();
    for field in fields {
        let value = given.get(&field.name);
        let why = match value {
            Some(value) => fault(field, value),
            None => field.required.then(|| "must be filled in".to_owned()),
        };
        match (why, value) {
            (Some(why), _) => faults.push((field.name.clone(), why)),
            (None, Some(value)) => {
                answer.insert(field.name.clone(), value.clone());
            }
            (None, None) => {}
        }
    }
    let known: HashSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let unknown = given.keys().filter(|name| !known.contains(name.as_str()));
    faults.extend(unknown.map(|name| (name.clone(), "is no field of this form".to_owned())));
    if faults.is_empty() { Ok(answer) } else { Err(faults) }
}

/// What is wrong with a value of a field; `None` if it fits.
pub fn fault(field: &FormField, value: &Value) -> Option<String> {
    match &field.kind {
        FieldKind::Text { min, max, format, pattern } => {
            let Some(text) = value.as_str() else { return Some("must be text".to_owned()) };
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            out_of(length, *min, *max, "characters")
                .or_else(|| format.as_deref().and_then(|format| misformed(text, format)))
                .or_else(|| pattern.as_deref().and_then(|pattern| no_match(value, pattern)))
        }
        FieldKind::Number { integer, min, max } => wrong_number(value, *integer, *min, *max),
        FieldKind::Bool => (!value.is_boolean()).then(|| "must be yes or no".to_owned()),
        FieldKind::Choice(options) => match value.as_str() {
            Some(word) => unknown(options, word),
            None => Some("must be one of the choices".to_owned()),
        },
        FieldKind::Many { options, min, max } => {
            let Some(items) = value.as_array() else {
                return Some("must be a list of choices".to_owned());
            };
            let mut seen = HashSet::new();
            let wrong = items.iter().find_map(|item| match item.as_str() {
                Some(word) if !seen.insert(word) => Some(format!("“{word}” is chosen twice")),
                Some(word) => unknown(options, word),
                None => Some("must be a list of choices".to_owned()),
            });
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            wrong.or_else(|| out_of(count, *min, *max, "choices"))
        }
    }
}

fn unknown(options: &[(String, String)], word: &str) -> Option<String> {
    let known = options.iter().any(|(value, _)| value == word);
    (!known).then(|| not_offered(options, word))
}

fn out_of(count: u64, min: Option<u64>, max: Option<u64>, what: &str) -> Option<String> {
    match (min, max) {
        (Some(min), _) if count < min => Some(format!("must have at least {min} {what}")),
        (_, Some(max)) if count > max => Some(format!("must have at most {max} {what}")),
        _ => None,
    }
}

fn wrong_number(
    value: &Value,
    integer: bool,
    min: Option<f64>,
    max: Option<f64>,
) -> Option<String> {
    let number = value.as_f64().filter(|_| value.is_number());
    let Some(number) = number else { return Some("must be a number".to_owned()) };
    if integer && number.fract() != 0.0 {
        return Some("must be a whole number".to_owned());
    }
    match (min, max) {
        (Some(min), _) if number < min => Some(format!("must be at least {min}")),
        (_, Some(max)) if number > max => Some(format!("must be at most {max}")),
        _ => None,
    }
}

/// The formats that forms may ask for; any other says nothing that could be checked.
fn misformed(text: &str, format: &str) -> Option<String> {
    let (fits, example) = match format {
        "email" => (is_address(text), "an e-mail address"),
        "uri" => (Url::parse(text).is_ok(), "a whole URL, such as https://host.example/page"),
        "date" => (
            Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok(),
            "a date, such as 2026-05-01",
        ),
        "date-time" => (
            OffsetDateTime::parse(text, &Rfc3339).is_ok(),
            "a time with date and zone, such as 2026-05-01T12:00:00Z",
        ),
        _ => return None,
    };
    (!fits).then(|| format!("must be {example}"))
}

fn is_address(text: &str) -> bool {
    let spaced = text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.rsplit_once('@');
    !spaced && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
}

/// A pattern is honoured if it compiles.
fn no_match(value: &Value, pattern: &str) -> Option<String> {
    let schema = json!({ "properties": { "text": { "pattern": pattern } } });
    let mut arguments = Map::new();
    arguments.insert("text".to_owned(), value.clone());
    let fits = check::check(&schema, &arguments).is_ok();
    (!fits).then(|| format!("must match {}", text::cut(pattern, 100)))
}
