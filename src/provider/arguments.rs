//! Arguments of a call as they arrive: pieces of JSON text, or already an object. Bounded in size
//! and, by the JSON reader, in nesting.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::domain::turn::BadArguments;

/// Longest arguments of one call, in bytes.
pub(super) const ARGUMENTS_LIMIT: usize = 4 * 1024 * 1024;
/// Most calls in one answer.
pub(super) const CALLS_LIMIT: usize = 128;

/// A JSON object, or what is wrong with the text.
pub(super) type Arguments = Result<Arc<Map<String, Value>>, BadArguments>;

/// Arguments being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawArguments {
    text: String,
    too_long: bool,
}

impl RawArguments {
    /// Appends a piece; what goes beyond the limit is left out and remembered as a fault.
    pub(super) fn push(&mut self, piece: &str) {
        if self.too_long || self.text.len() + piece.len() > ARGUMENTS_LIMIT {
            self.too_long = true;
            return;
        }
        self.text.push_str(piece);
    }

    /// Takes a value in whatever form it came: text is a piece, an object is the whole.
    pub(super) fn push_value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(piece) => self.push(piece),
            whole => {
                self.text.clear();
                self.push(&whole.to_string());
            }
        }
    }

    /// Nothing has been written yet, blanks aside.
    pub(super) fn is_blank(&self) -> bool {
        !self.too_long && self.text.trim().is_empty()
    }

    /// What has been written is a JSON object.
    pub(super) fn is_object(&self) -> bool {
        let text = self.text.trim();
        text.starts_with('{')
            && text.ends_with('}')
            && serde_json::from_str::<Map<String, Value>>(text).is_ok()
    }

    /// Reads the text. Nothing at all counts as an empty object: that is how tools without
    /// parameters are called.
    pub(super) fn read(self) -> Arguments {
        if self.too_long {
            let fault =
                format!("longer than the limit of {ARGUMENTS_LIMIT} bytes (arguments of one call)");
            return Err(BadArguments { raw: self.text, fault });
        }
        read(self.text)
    }

    /// The output limit ended the answer while this call was being written: nothing written does
    /// not mean nothing meant.
    pub(super) fn read_cut(self) -> Arguments {
        if self.is_blank() {
            let fault = "not written: the answer ended at its limit".to_owned();
            return Err(BadArguments { raw: self.text, fault });
        }
        self.read()
    }
}

fn read(raw: String) -> Arguments {
    if raw.trim().is_empty() {
        return Ok(Arc::default());
    }
    match serde_json::from_str(&raw) {
        Ok(Value::Object(object)) => Ok(Arc::new(object)),
        Ok(Value::Null) => Ok(Arc::default()),
        Ok(Value::String(inner)) => wrapped(raw, &inner),
        Ok(other) => {
            let fault = format!("a JSON object is needed, this is {}", kind(&other));
            Err(BadArguments { raw, fault })
        }
        Err(fault) => Err(BadArguments { raw, fault: format!("not valid JSON: {fault}") }),
    }
}

/// Some models write the object as a JSON string of JSON.
fn wrapped(raw: String, inner: &str) -> Arguments {
    let Ok(object) = serde_json::from_str(inner) else {
        let fault = "a JSON object is needed, this is a string".to_owned();
        return Err(BadArguments { raw, fault });
    };
    Ok(Arc::new(object))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// An id for the `n`th call of an answer whose endpoint gave none: nine letters and digits, which
/// is the only form that every endpoint takes back.
pub(super) fn made_up_id(seed: u64, n: usize) -> String {
    let mut rest = seed.wrapping_add(n as u64);
    (0..9)
        .map(|_| {
            let digit = u32::try_from(rest % 36).unwrap_or_default();
            rest /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawArguments {
        let mut raw = RawArguments::default();
        raw.push(text);
        raw
    }

    #[test]
    fn nothing_blank_and_null_are_an_empty_object() {
        for text in ["", " \n", "null", "{}"] {
            assert_eq!(raw(text).read(), Ok(Arc::default()), "{text:?}");
        }
    }

    #[test]
    fn broken_text_is_kept_with_what_is_wrong() {
        let bad = raw("{\"a\":\"un").read().unwrap_err();
        assert_eq!(bad.raw, "{\"a\":\"un");
        assert!(bad.fault.contains("JSON"), "{}", bad.fault);
        assert!(raw("[1]").read().unwrap_err().fault.contains("a list"));
    }

    #[test]
    fn json_in_a_json_string_is_read() {
        let read = raw(r#""{\"a\":1}""#).read().unwrap();
        assert_eq!(read.get("a"), Some(&Value::from(1)));
    }

    #[test]
    fn nesting_beyond_the_readers_bound_is_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert!(raw(&deep).read().is_err());
    }

    #[test]
    fn length_beyond_the_limit_is_refused_by_name() {
        let mut long = raw("{\"a\":\"");
        long.push(&"x".repeat(ARGUMENTS_LIMIT));
        long.push("\"}");
        let bad = long.read().unwrap_err();
        assert!(bad.fault.contains("arguments of one call"), "{}", bad.fault);
        assert!(bad.raw.len() <= ARGUMENTS_LIMIT);
    }

    #[test]
    fn unwritten_arguments_of_a_cut_answer_are_not_an_empty_object() {
        assert!(raw(" ").read_cut().is_err());
        assert!(raw("{}").read_cut().is_ok());
    }

    #[test]
    fn made_up_ids_are_nine_letters_and_digits_and_differ() {
        let ids: std::collections::HashSet<_> = (0..200).map(|n| made_up_id(7, n)).collect();
        assert_eq!(ids.len(), 200);
        assert!(
            ids.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()))
        );
    }
}
