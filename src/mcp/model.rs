//! What travels between client and server, read and written: versions, metadata, answers. Pure.
//!
//! Reading is tolerant where servers are known to be sloppy and never loses a member that is passed
//! on; everything read is raw.

pub mod list;
pub mod question;
pub mod read;
pub mod result;
pub mod task;
pub mod tool;

use serde_json::{Map, Value, json};

use crate::domain::{Answering, Era};

/// The modern version that is spoken.
pub const MODERN: &str = "2026-07-28";
/// The legacy versions that are spoken, newest first.
pub const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// Older than what is spoken, yet close enough over Streamable HTTP (E15).
pub const OLDER: &str = "2024-11-05";

/// Longest `instructions` that are kept, in bytes (W1).
const INSTRUCTIONS_LIMIT: usize = 64 * 1024;

/// What was agreed with a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreed {
    /// The family.
    pub era: Era,
    /// The version that goes into every request.
    pub version: String,
    /// The server's capabilities.
    pub capabilities: Map<String, Value>,
    /// Name and version it gives itself.
    pub identity: String,
    /// Its hints for the model.
    pub instructions: Option<String>,
    /// What it did that it should not have.
    pub remarks: Vec<String>,
}

/// Name and version of this program, as servers are told.
fn client_info() -> Value {
    json!({ "name": "mini-me-tui", "version": env!("CARGO_PKG_VERSION") })
}

/// Parameters of `initialize` (G1). Nothing is declared that cannot be served (G13).
pub fn initialize_params(version: &str, answering: Answering) -> Value {
    let capabilities = capabilities(version, answering);
    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client_info() })
}

/// What this program can do for a server of this version.
fn capabilities(version: &str, answering: Answering) -> Map<String, Value> {
    let elicitation = question::declared(answering, version);
    elicitation.map(|value| ("elicitation".to_owned(), value)).into_iter().collect()
}

/// `_meta` of a modern request (P1, P2).
pub fn modern_meta(version: &str, answering: Answering) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!(version));
    meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client_info());
    let capabilities = Value::Object(capabilities(version, answering));
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities);
    meta
}

/// Asks a modern server for log messages of one request (P3).
pub fn ask_for_logs(meta: &mut Map<String, Value>) {
    meta.insert("io.modelcontextprotocol/logLevel".to_owned(), json!("info"));
}

/// Tells a modern server that a call may be answered by a task (Y4).
pub fn offer_tasks(meta: &mut Map<String, Value>) {
    let key = "io.modelcontextprotocol/clientCapabilities";
    let Some(Value::Object(ours)) = meta.get_mut(key) else { return };
    let extensions = ours.entry("extensions").or_insert_with(|| json!({}));
    if let Some(extensions) = extensions.as_object_mut() {
        extensions.insert("io.modelcontextprotocol/tasks".to_owned(), json!({}));
    }
}

/// A valid result of `server/discover`.
#[derive(Debug, Clone, PartialEq)]
pub struct Discovered {
    /// The versions the server speaks.
    pub supported: Vec<String>,
    /// Everything else, under the version that was sent.
    pub agreed: Agreed,
}

/// Reads a discover result; `None` where it is not one, whatever it may be (E10).
pub fn read_discover(result: &Value) -> Option<Discovered> {
    let supported = strings(result.get("supportedVersions")?)?;
    let capabilities = result.get("capabilities")?.as_object()?.clone();
    if supported.is_empty() || other_type(result, Era::Modern).is_some() {
        return None;
    }
    let agreed = Agreed {
        era: Era::Modern,
        version: MODERN.to_owned(),
        capabilities,
        identity: identity(result),
        instructions: instructions(result),
        remarks: Vec::new(),
    };
    Some(Discovered { supported, agreed })
}

/// Reads an `initialize` result. `Err` says what is wrong with it.
pub fn read_initialize(result: &Value) -> Result<Agreed, String> {
    let Some(version) = result.get("protocolVersion").and_then(Value::as_str) else {
        return Err("its answer to initialize names no protocolVersion".to_owned());
    };
    let mut remarks = Vec::new();
    if version == OLDER {
        remarks.push(format!("it agreed to {OLDER}, which is older than this transport"));
    } else if !LEGACY.contains(&version) {
        return Err(format!(
            "it answered with version “{version}”; this program speaks {MODERN} and {}",
            LEGACY.join(", ")
        ));
    }
    let capabilities = result.get("capabilities").and_then(Value::as_object);
    Ok(Agreed {
        era: Era::Legacy,
        version: version.to_owned(),
        capabilities: capabilities.cloned().unwrap_or_default(),
        identity: identity(result),
        instructions: instructions(result),
        remarks,
    })
}

/// A list of strings, `None` where any of it is something else.
pub fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// P5: in `_meta`, or in the body.
fn identity(result: &Value) -> String {
    let meta = result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    let Some(info) = meta.or_else(|| result.get("serverInfo")) else { return String::new() };
    let part = |key| info.get(key).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", part("name"), part("version")).trim().to_owned()
}

fn instructions(result: &Value) -> Option<String> {
    let text = result.get("instructions")?.as_str()?;
    Some(cut(text, INSTRUCTIONS_LIMIT)).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// P6: what a modern result says it is, where that is not a complete one.
pub fn other_type(result: &Value, era: Era) -> Option<&Value> {
    let kind = result.get("resultType").filter(|_| era == Era::Modern)?;
    (kind != "complete").then_some(kind)
}

/// At most `limit` bytes of a text, not ending inside a character.
pub fn cut(text: &str, limit: usize) -> &str {
    (0..=limit.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
