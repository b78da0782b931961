//! What was entered against what is asked for, said in plain sentences.

use serde_json::{Map, Number, Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

use crate::schema;
use crate::text;

/// Fewest and most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
}

/// Text: its length, its format, its pattern.
pub(super) fn text(
    text: String,
    limits: Limits,
    format: Option<&str>,
    pattern: Option<&str>,
) -> Result<Value, String> {
    let length = text.chars().count() as u64;
    if let Some(min) = limits.min.filter(|min| length < *min) {
        return Err(format!("At least {}; it has {length}.", characters(min)));
    }
    if let Some(max) = limits.max.filter(|max| length > *max) {
        return Err(format!("At most {}; it has {length}.", characters(max)));
    }
    if let Some(fault) = format.and_then(|format| misformatted(&text, format)) {
        return Err(fault.to_owned());
    }
    if let Some(pattern) = pattern.filter(|pattern| !fits(&text, pattern)) {
        let pattern = text::cut(text::strict_line(pattern).as_str(), 80);
        return Err(format!("It has to fit the pattern {pattern}"));
    }
    Ok(text.into())
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

/// What is wrong with the format. Formats that are not known are not checked.
fn misformatted(text: &str, format: &str) -> Option<&'static str> {
    let (good, fault) = match format {
        "email" => (is_mail(text), "This is no e-mail address, such as ana@example.org."),
        "uri" => {
            (url::Url::parse(text).is_ok(), "This is no address, such as https://example.org.")
        }
        "date" => (
            Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok(),
            "Write a date such as 2026-11-30.",
        ),
        "date-time" => (
            OffsetDateTime::parse(text, &Rfc3339).is_ok(),
            "Write date and time such as 2026-11-30T18:00:00Z.",
        ),
        _ => return None,
    };
    (!good).then_some(fault)
}

fn is_mail(text: &str) -> bool {
    let blank = text.contains(|c: char| c.is_whitespace() || c.is_control());
    let sound = |host: &str| !host.is_empty() && host.split('.').all(|label| !label.is_empty());
    !blank
        && text
            .rsplit_once('@')
            .is_some_and(|(who, host)| !who.is_empty() && !who.contains('@') && sound(host))
}

/// A pattern that does not compile asks for nothing.
fn fits(text: &str, pattern: &str) -> bool {
    let schema = json!({"properties": {"text": {"type": "string", "pattern": pattern}}});
    let value = Map::from_iter([("text".to_owned(), Value::from(text))]);
    schema::check::check(&schema, &value).is_ok()
}

/// A number, exact where it is whole.
pub(super) fn number(
    text: &str,
    integer: bool,
    min: Option<f64>,
    max: Option<f64>,
) -> Result<Value, String> {
    let text = text.trim();
    let shown = || text::cut(text::strict_line(text).as_str(), 40);
    let Ok(number) = serde_json::from_str::<Number>(text) else {
        return Err(format!("“{}” is no number.", shown()));
    };
    if integer && !(number.is_i64() || number.is_u64()) {
        return Err("This has to be a whole number.".to_owned());
    }
    let value = number.as_f64().unwrap_or_default();
    if let Some(min) = min.filter(|min| value < *min) {
        return Err(format!("At least {min}."));
    }
    if let Some(max) = max.filter(|max| value > *max) {
        return Err(format!("At most {max}."));
    }
    Ok(Value::Number(number))
}

/// Several of a list.
pub(super) fn several(
    chosen: Vec<Value>,
    min: Option<u64>,
    max: Option<u64>,
) -> Result<Value, String> {
    let count = chosen.len() as u64;
    if let Some(min) = min.filter(|min| count < *min) {
        return Err(format!("Choose at least {min}; {count} chosen."));
    }
    if let Some(max) = max.filter(|max| count > *max) {
        return Err(format!("Choose at most {max}; {count} chosen."));
    }
    Ok(Value::Array(chosen))
}

/// Any value, as JSON.
pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("This is no JSON: {error}."))
}
