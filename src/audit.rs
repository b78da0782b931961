//! The decision log: one line for every decision about a call and for every outcome.
//!
//! Arguments are not written, only their hash: enough to show that two calls were the same.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::agent::{AuditRecord, AuditWhat};

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditLine {
    /// When, RFC 3339 in UTC.
    pub when: String,
    /// The conversation; empty where none is written.
    pub session: String,
    /// The turn; absent for a direct call.
    pub turn: Option<u64>,
    /// The call within one run of the program.
    pub call: u64,
    /// The server.
    pub server: String,
    /// The tool's original name.
    pub tool: String,
    /// Fingerprint of its definition.
    pub pin: String,
    /// SHA-256 of the arguments as JSON with sorted members, lower-case hex.
    pub arguments_hash: String,
    /// `allowed` or `denied`; absent on a line about an outcome.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<String>,
    /// Which rule or person decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// How it ended; absent on a line about a decision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
}

impl AuditLine {
    /// The line for a record of the agent.
    pub fn new(record: &AuditRecord, when: String, session: &str) -> Self {
        let call = &record.call;
        let line = Self {
            when,
            session: session.to_owned(),
            turn: call.turn.map(|turn| turn.0),
            call: call.id.0,
            server: call.tool.server.to_string(),
            tool: call.tool.tool.to_string(),
            pin: record.pin.clone(),
            arguments_hash: hash(&call.arguments),
            decision: None,
            by: None,
            outcome: None,
            duration_ms: None,
        };
        match &record.what {
            AuditWhat::Decision { allowed, by } => {
                let word = if *allowed { "allowed" } else { "denied" };
                Self { decision: Some(word.to_owned()), by: Some(by.clone()), ..line }
            }
            AuditWhat::Outcome { outcome, took } => Self {
                outcome: Some(outcome.clone()),
                duration_ms: Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
                ..line
            },
        }
    }
}

/// All lines, oldest first. Lines that cannot be read are left out; no file is no lines.
pub fn read(path: &Path) -> io::Result<Vec<AuditLine>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(fault) => return Err(fault),
    };
    let mut lines = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        lines.extend(serde_json::from_slice(&line?).ok());
    }
    Ok(lines)
}

fn hash(arguments: &Map<String, Value>) -> String {
    let mut sorted = Value::Object(arguments.clone());
    sorted.sort_all_objects();
    let digest = Sha256::digest(sorted.to_string());
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::domain::{Call, CallId, ToolId, TurnId};

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn record(what: AuditWhat) -> AuditRecord {
        let call = Call {
            id: CallId(7),
            turn: Some(TurnId(2)),
            tool: ToolId::new("a", "b"),
            model_name: "a_b".into(),
            arguments: Arc::new(object(&json!({ "secret": "swordfish" }))),
        };
        AuditRecord { call: Arc::new(call), pin: "ff".into(), what }
    }

    #[test]
    fn a_decision_says_who_decided_and_shows_no_argument() {
        let what = AuditWhat::Decision { allowed: false, by: "user: denied".into() };
        let line = AuditLine::new(&record(what), "2026-11-30T18:15:12Z".into(), "s1");
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.contains(r#""decision":"denied","by":"user: denied""#), "{text}");
        assert!(!text.contains("swordfish") && !text.contains("outcome"), "{text}");
    }

    #[test]
    fn an_outcome_says_how_it_ended_and_how_long_it_took() {
        let took = Duration::from_millis(1500);
        let what = AuditWhat::Outcome { outcome: "unknown".into(), took };
        let line = AuditLine::new(&record(what), String::new(), "");
        assert_eq!((line.outcome.as_deref(), line.duration_ms), (Some("unknown"), Some(1500)));
    }

    #[test]
    fn the_order_of_members_does_not_change_the_hash() {
        let one = hash(&object(&json!({ "a": 1, "b": { "c": 2, "d": 3 } })));
        let two = hash(&object(&json!({ "b": { "d": 3, "c": 2 }, "a": 1 })));
        assert_eq!(one, two);
        assert_ne!(one, hash(&object(&json!({ "a": 1 }))));
        assert_eq!(one.len(), 64);
    }
}
