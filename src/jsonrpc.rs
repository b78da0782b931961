//! JSON-RPC 2.0 messages: ids, encoding, decoding (PROTOCOL §5). No I/O.
//!
//! Decoding never fails as a whole for one bad message: an array is taken apart (J7) and what is
//! no message is reported beside the others.

use std::fmt;

use serde_json::{Map, Value, json};

/// Deepest nesting that is read; `serde_json` stops there.
pub const DEPTH_LIMIT: usize = 128;

/// The version that every message names.
const VERSION: &str = "2.0";

/// Codes with a meaning (J9).
pub mod code {
    /// Method not found.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Invalid parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// No such resource, as legacy servers say it.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// Header and body of a modern request differ.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The server needs a client capability that was not declared.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the request's version.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Pages have to be opened first (2025-11-25 alone).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
}

/// The id of a request of the other side: its own namespace, echoed as it came (J10).
#[derive(Debug, Clone, PartialEq)]
pub struct Id(Value);

impl Id {
    /// The id as JSON.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

/// The error object of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// Its code.
    pub code: i64,
    /// Its message; raw.
    pub message: String,
    /// Further data of any shape; `Null` where there is none.
    pub data: Value,
}

impl ErrorObject {
    /// Whether it is one of the errors that only a modern server gives (E3).
    pub fn is_modern(&self) -> bool {
        matches!(
            self.code,
            code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION
        )
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

/// One message of the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Wants an answer.
    Request {
        /// What the answer has to carry.
        id: Id,
        /// What is asked.
        method: String,
        /// With what; `Null` where there is nothing.
        params: Value,
    },
    /// Wants none (J6).
    Notification {
        /// What is told.
        method: String,
        /// With what; `Null` where there is nothing.
        params: Value,
    },
    /// An answer.
    Response {
        /// The request's id as it came back; `Null` where it is missing.
        id: Value,
        /// Result or error.
        body: Result<Value, ErrorObject>,
    },
    /// Not a message.
    Invalid {
        /// The id, if it has one: a request of ours is answered by it all the same.
        id: Value,
        /// What is wrong with it.
        reason: String,
    },
}

/// The text is not JSON, or too deep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Deeper than [`DEPTH_LIMIT`].
    #[error("JSON nested deeper than the limit of {DEPTH_LIMIT} (nesting depth)")]
    TooDeep,
    /// Not JSON.
    #[error("not valid JSON at line {line}, column {column}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The text ends too early.
    #[error("JSON that ends too early")]
    Truncated,
}

/// Reads a text as one message or an array of them. An empty array gives one invalid message.
pub fn decode(text: &[u8]) -> Result<Vec<Message>, DecodeError> {
    read(text).map(|read| read.messages)
}

/// What a text holds, and what is wrong with it that does no harm.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// Its messages, as [`decode`] gives them.
    pub messages: Vec<Message>,
    /// Whether all of them say that they are of this protocol (J1): `jsonrpc` is `"2.0"`.
    pub versioned: bool,
}

/// Reads a text as [`decode`] does, and looks at the form of the messages too.
pub fn read(text: &[u8]) -> Result<Read, DecodeError> {
    let value: Value = serde_json::from_slice(text).map_err(|error| fault(&error))?;
    let unsaid = |message: &Value| {
        message.is_object() && message.get("jsonrpc").is_none_or(|said| said != VERSION)
    };
    let versioned = match &value {
        Value::Array(items) => !items.iter().any(unsaid),
        one => !unsaid(one),
    };
    let messages = match value {
        Value::Array(items) if items.is_empty() => {
            vec![Message::Invalid { id: Value::Null, reason: "an empty array".to_owned() }]
        }
        Value::Array(items) => items.into_iter().map(message).collect(),
        other => vec![message(other)],
    };
    Ok(Read { messages, versioned })
}

fn fault(error: &serde_json::Error) -> DecodeError {
    if error.is_eof() {
        DecodeError::Truncated
    } else if error.to_string().starts_with("recursion limit") {
        DecodeError::TooDeep
    } else {
        DecodeError::Syntax { line: error.line(), column: error.column() }
    }
}

fn message(value: Value) -> Message {
    let Value::Object(mut object) = value else {
        let reason = "neither an object nor an array".to_owned();
        return Message::Invalid { id: Value::Null, reason };
    };
    let id = object.remove("id");
    match object.remove("method") {
        Some(Value::String(method)) => incoming(id, method, &mut object),
        Some(_) => Message::Invalid {
            id: id.unwrap_or(Value::Null),
            reason: "its method is not a string".to_owned(),
        },
        None => response(id.unwrap_or(Value::Null), object),
    }
}

fn incoming(id: Option<Value>, method: String, object: &mut Map<String, Value>) -> Message {
    let params = object.remove("params").unwrap_or(Value::Null);
    match id {
        None => Message::Notification { method, params },
        Some(id @ (Value::String(_) | Value::Number(_))) => {
            Message::Request { id: Id(id), method, params }
        }
        Some(id) => {
            let reason = "a request whose id is neither string nor number".to_owned();
            Message::Invalid { id, reason }
        }
    }
}

/// J4: exactly one of result and error.
fn response(id: Value, mut object: Map<String, Value>) -> Message {
    let invalid = |id, reason: &str| Message::Invalid { id, reason: reason.to_owned() };
    match (object.remove("result"), object.remove("error")) {
        (Some(_), Some(error)) if !error.is_null() => invalid(id, "both result and error"),
        (Some(result), _) => Message::Response { id, body: Ok(result) },
        (None, Some(Value::Object(error))) => {
            Message::Response { id, body: Err(error_object(error)) }
        }
        (None, Some(Value::String(message))) => {
            let error = ErrorObject { code: 0, message, data: Value::Null };
            Message::Response { id, body: Err(error) }
        }
        (None, _) => invalid(id, "neither result nor error"),
    }
}

/// Reads an error object, tolerant of what is missing.
pub fn error_object(mut object: Map<String, Value>) -> ErrorObject {
    let code = object.get("code").and_then(Value::as_i64).unwrap_or(0);
    let message = match object.remove("message") {
        Some(Value::String(message)) => message,
        Some(other) => other.to_string(),
        None => "no message".to_owned(),
    };
    ErrorObject { code, message, data: object.remove("data").unwrap_or(Value::Null) }
}

/// Whether an id that came back is `ours` (J3). An integral float counts, and so does the number
/// as text: all our ids are numbers, so no two of them read the same.
pub fn answers(id: &Value, ours: u64) -> bool {
    match id {
        Value::Number(number) => {
            #[expect(clippy::cast_precision_loss, reason = "our ids stay far below 2^53")]
            let float = ours as f64;
            number.as_u64() == Some(ours)
                || number.as_f64().is_some_and(|given| (given - float).abs() < f64::EPSILON)
        }
        Value::String(text) => text.parse() == Ok(ours),
        _ => false,
    }
}

/// A request of ours.
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of ours; `params` is left out where it is `Null`.
pub fn notification(method: &str, params: &Value) -> Value {
    if params.is_null() {
        json!({ "jsonrpc": "2.0", "method": method })
    } else {
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    }
}

/// Our answer to a request of the other side.
pub fn result(id: &Id, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.0, "result": result })
}

/// Our refusal of a request of the other side.
pub fn error(id: &Id, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.0, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests;
