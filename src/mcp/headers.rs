//! Values in modern request headers: how they are written (H11, H12) and which arguments are
//! mirrored into `Mcp-Param-…` (X1–X4, X6). Pure.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// Most bytes of all mirrored arguments of one call together (X6).
pub const PARAM_LIMIT: usize = 16 * 1024;

const ANNOTATION: &str = "x-mcp-header";
const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
/// Largest integer that every JSON reader keeps exactly (X4).
const SAFE: i64 = (1 << 53) - 1;
/// The same as a float, which holds it exactly.
const MOST: f64 = 9_007_199_254_740_991.0;

/// One argument that also travels in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// The annotation's value; the header is `Mcp-Param-` and this.
    pub name: String,
    /// Names of the properties that lead to it from the root.
    pub path: Vec<String>,
}

/// Writes a value so that it survives as a header: bare where it can be, else in Base64 (H11).
pub fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    let marked = value.starts_with(OPEN) && value.ends_with(CLOSE);
    if plain && !marked && !value.starts_with(' ') && !value.ends_with(' ') {
        return value.to_owned();
    }
    format!("{OPEN}{}{CLOSE}", STANDARD.encode(value))
}

/// Finds the annotated properties of an input schema. `Err` says why the tool has to go (X3).
pub fn scan(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut scan = Scan { found: Vec::new(), names: HashSet::new() };
    scan.reachable(schema, &mut Vec::new())?;
    Ok(scan.found)
}

struct Scan {
    found: Vec<ParamHeader>,
    names: HashSet<String>,
}

impl Scan {
    /// A schema that `properties` keys alone lead to.
    fn reachable(&mut self, schema: &Value, path: &mut Vec<String>) -> Result<(), String> {
        let Value::Object(schema) = schema else { return Ok(()) };
        if let Some(name) = schema.get(ANNOTATION) {
            self.annotated(name, schema, path)?;
        }
        for (key, value) in schema {
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        path.push(name.clone());
                        self.reachable(property, path)?;
                        path.pop();
                    }
                }
                (ANNOTATION, _) => {}
                _ => refuse_below(key, value)?,
            }
        }
        Ok(())
    }

    fn annotated(
        &mut self,
        name: &Value,
        schema: &Map<String, Value>,
        path: &[String],
    ) -> Result<(), String> {
        let place = path.join("/");
        let Some(name) = name.as_str().filter(|name| is_token(name)) else {
            return Err(format!("{ANNOTATION} of “{place}” is not a header name"));
        };
        if path.is_empty() || !is_mirrored_type(schema.get("type")) {
            return Err(format!(
                "{ANNOTATION} of “{place}” sits on a type that is not string, integer or boolean"
            ));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("{ANNOTATION} “{name}” is used twice"));
        }
        self.found.push(ParamHeader { name: name.to_owned(), path: path.to_vec() });
        Ok(())
    }
}

/// Anywhere else an annotation is an error; inside plain data the word means nothing.
fn refuse_below(key: &str, value: &Value) -> Result<(), String> {
    match (key, value) {
        ("default" | "const" | "enum" | "examples", _) => Ok(()),
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(named),
        ) => named.values().try_for_each(refuse_in),
        (_, Value::Array(items)) => items.iter().try_for_each(refuse_in),
        (_, value) => refuse_in(value),
    }
}

fn refuse_in(value: &Value) -> Result<(), String> {
    match value {
        Value::Object(schema) if schema.contains_key(ANNOTATION) => {
            Err(format!("{ANNOTATION} sits where no argument can be found by its path"))
        }
        Value::Object(schema) => {
            schema.iter().try_for_each(|(key, value)| refuse_below(key, value))
        }
        Value::Array(items) => items.iter().try_for_each(refuse_in),
        _ => Ok(()),
    }
}

fn is_token(name: &str) -> bool {
    let tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(tchar)
}

/// One of the three types, or an array of one of them and `null`.
fn is_mirrored_type(kind: Option<&Value>) -> bool {
    let permitted = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => {
            let rest: Vec<_> = kinds.iter().filter(|kind| *kind != "null").collect();
            matches!(rest.as_slice(), [one] if permitted(one))
        }
        Some(kind) => permitted(kind),
        None => false,
    }
}

/// The headers of one call: name and encoded value. An argument that is absent or null has none
/// (X2). `Err` says why the call cannot be sent.
pub fn mirror(
    headers: &[ParamHeader],
    arguments: &Map<String, Value>,
) -> Result<Vec<(String, String)>, String> {
    let mut mirrored = Vec::new();
    let mut size = 0;
    for header in headers {
        let Some(value) = find(arguments, &header.path) else { continue };
        let Some(text) = written(value, &header.path)? else { continue };
        let (name, value) = (format!("Mcp-Param-{}", header.name), encode(&text));
        size += name.len() + value.len();
        if size > PARAM_LIMIT {
            return Err(format!(
                "its arguments in headers are larger than the limit of {PARAM_LIMIT} bytes (mirrored arguments)"
            ));
        }
        mirrored.push((name, value));
    }
    Ok(mirrored)
}

fn find<'a>(arguments: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(arguments.get(first)?, |value, name| value.get(name))
}

/// H12: a string as it is, an integer in decimal, a boolean as a word.
fn written(value: &Value, path: &[String]) -> Result<Option<String>, String> {
    Ok(match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Number(number) => match number.as_i64() {
            Some(integer) if (-SAFE..=SAFE).contains(&integer) => Some(integer.to_string()),
            Some(_) => return Err(beyond(path)),
            None => match number.as_f64() {
                // A schema takes 3.0 for an integer; a header has it in decimal.
                Some(whole) if whole.fract() == 0.0 && whole.abs() <= MOST => {
                    Some(format!("{whole:.0}"))
                }
                Some(whole) if whole.fract() == 0.0 => return Err(beyond(path)),
                _ => Some(number.to_string()),
            },
        },
        _ => None,
    })
}

fn beyond(path: &[String]) -> String {
    format!("“{}” is beyond ±(2^53−1)", path.join("/"))
}

#[cfg(test)]
mod tests;
