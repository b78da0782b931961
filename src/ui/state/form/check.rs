//! From what was written to values, and what is wrong with them in plain sentences.

use serde_json::{Number, Value};

use crate::domain::FormField;
use crate::schema::form::asked;
use crate::text;

/// The value, where it is what is asked for. The same rules hold when the answer is sent.
pub(super) fn fitting(asked: Option<&FormField>, value: Value) -> Result<Value, String> {
    match asked.and_then(|field| asked::fault(field, &value)) {
        // It may quote a pattern of the server's.
        Some(why) => Err(format!("It {}.", text::strict_line(&why))),
        None => Ok(value),
    }
}

/// A number, exact where it is whole.
pub(super) fn number(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let Ok(number) = serde_json::from_str::<Number>(text) else {
        let shown = text::cut(text::strict_line(text).as_str(), 40);
        return Err(format!("“{shown}” is no number."));
    };
    Ok(Value::Number(number))
}

/// Any value, as JSON.
pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("This is no JSON: {error}."))
}
