//! Finds tools that want raw bytes.

use serde_json::Value;

/// The path of a required value that must be binary, if the schema has one.
pub fn binary_parameter(schema: &Value) -> Option<String> {
    let _ = schema;
    None
}
