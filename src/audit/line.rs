//! What a line says. Its place in the chain is added when it is appended.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::chain::hex;
use crate::agent::{AuditRecord, AuditWhat};
use crate::config::AuditArguments;
use crate::redact::Secrets;

/// Version of the lines. Members may be added within a version.
pub const VERSION: u32 = 1;

/// Who or what decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decider {
    /// A rule, a mode, a pin or a session grant: `by` names it, with file and line.
    Policy,
    /// A person, asked about this call.
    Person,
    /// The command line was the consent.
    CommandLine,
    /// Nobody was there to be asked.
    Headless,
}

impl Decider {
    /// Reads it off the agent's words.
    fn of(by: &str) -> Self {
        match by.split_once(':') {
            Some(("user", how)) if how.trim() == "command line" => Self::CommandLine,
            Some(("user", _)) => Self::Person,
            _ if by.starts_with("nobody to ask") => Self::Headless,
            _ => Self::Policy,
        }
    }
}

/// How arguments are written, and what is taken out of them.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// By hash, or whole.
    pub arguments: AuditArguments,
    /// What no line may hold.
    pub secrets: Secrets,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditLine {
    /// Version of the line; absent on lines from before the chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub v: Option<u32>,
    /// Number in the chain, from 1; absent on lines from before the chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seq: Option<u64>,
    /// When, RFC 3339 in UTC.
    pub when: String,
    /// The conversation; empty where none is written.
    #[serde(default)]
    pub session: String,
    /// The turn; absent for a direct call.
    #[serde(default)]
    pub turn: Option<u64>,
    /// The call within one run of the program.
    #[serde(default)]
    pub call: u64,
    /// The server.
    #[serde(default)]
    pub server: String,
    /// The tool's original name.
    #[serde(default)]
    pub tool: String,
    /// Fingerprint of its definition.
    #[serde(default)]
    pub pin: String,
    /// SHA-256 of the arguments as they are sent, as JSON with sorted members, lower-case hex.
    #[serde(default)]
    pub arguments_hash: String,
    /// The same of the arguments that the model proposed, where the user changed them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proposed_hash: Option<String>,
    /// The arguments without their secrets, where the config asks for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arguments: Option<Value>,
    /// The proposed ones, where the user changed them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub proposed: Option<Value>,
    /// `allowed` or `denied`; absent on a line about an outcome.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<String>,
    /// What kind of authority decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decider: Option<Decider>,
    /// Which rule (with file and line) or person decided, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// How it ended; absent on a line about a decision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// A remark of the program about the log itself; such a line is about no call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

impl AuditLine {
    /// The line for a record of the agent.
    pub fn new(record: &AuditRecord, when: String, session: &str, how: &Written) -> Self {
        let call = &record.call;
        let edited = (*record.proposed != *call.arguments).then_some(&record.proposed);
        let whole = |arguments: &Map<String, Value>| match how.arguments {
            AuditArguments::Hash => None,
            AuditArguments::Full => Some(how.secrets.value(&Value::Object(arguments.clone()))),
        };
        let line = Self {
            v: Some(VERSION),
            when,
            session: session.to_owned(),
            turn: call.turn.map(|turn| turn.0),
            call: call.id.0,
            server: call.tool.server.to_string(),
            tool: call.tool.tool.to_string(),
            pin: record.pin.clone(),
            arguments_hash: hash(&call.arguments),
            proposed_hash: edited.map(|arguments| hash(arguments)),
            arguments: whole(&call.arguments),
            proposed: edited.and_then(|arguments| whole(arguments)),
            ..Self::default()
        };
        match &record.what {
            AuditWhat::Decision { allowed, by } => {
                let word = if *allowed { "allowed" } else { "denied" };
                Self {
                    decision: Some(word.to_owned()),
                    decider: Some(Decider::of(by)),
                    by: Some(how.secrets.text(by).into_owned()),
                    ..line
                }
            }
            AuditWhat::Outcome { outcome, took } => Self {
                outcome: Some(outcome.clone()),
                duration_ms: Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
                ..line
            },
        }
    }
}

fn hash(arguments: &Map<String, Value>) -> String {
    let mut sorted = Value::Object(arguments.clone());
    sorted.sort_all_objects();
    hex(&Sha256::digest(sorted.to_string()))
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
        let arguments = Arc::new(object(&json!({ "secret": "swordfish", "q": "tok-EXAMPLE-1" })));
        let call = Call {
            id: CallId(7),
            turn: Some(TurnId(2)),
            tool: ToolId::new("a", "b"),
            model_name: "a_b".into(),
            arguments: Arc::clone(&arguments),
        };
        AuditRecord { call: Arc::new(call), pin: "ff".into(), proposed: arguments, what }
    }

    fn line(record: &AuditRecord, how: &Written) -> AuditLine {
        AuditLine::new(record, "2026-11-30T18:15:12Z".into(), "s1", how)
    }

    #[test]
    fn a_decision_says_who_decided_and_shows_no_argument() {
        let what = AuditWhat::Decision { allowed: false, by: "user: denied".into() };
        let text = serde_json::to_string(&line(&record(what), &Written::default())).unwrap();
        let decided = r#""decision":"denied","decider":"person","by":"user: denied""#;
        assert!(text.contains(decided), "{text}");
        assert!(!text.contains("swordfish") && !text.contains("outcome"), "{text}");
    }

    #[test]
    fn an_outcome_says_how_it_ended_and_how_long_it_took() {
        let took = Duration::from_millis(1500);
        let what = AuditWhat::Outcome { outcome: "unknown".into(), took };
        let line = line(&record(what), &Written::default());
        assert_eq!((line.outcome.as_deref(), line.duration_ms), (Some("unknown"), Some(1500)));
    }

    #[test]
    fn whole_arguments_are_written_without_their_secrets() {
        let what = AuditWhat::Decision { allowed: true, by: "user: once".into() };
        let how = Written {
            arguments: AuditArguments::Full,
            secrets: Secrets::new([("TOKEN", "tok-EXAMPLE-1")]),
        };
        let text = serde_json::to_string(&line(&record(what), &how)).unwrap();
        assert!(text.contains(r#""arguments":{"#), "{text}");
        assert!(!text.contains("swordfish") && !text.contains("EXAMPLE"), "{text}");
    }

    #[test]
    fn changed_arguments_are_told_from_the_proposed_ones() {
        let what = AuditWhat::Decision { allowed: true, by: "user: once".into() };
        let unchanged = line(&record(what.clone()), &Written::default());
        assert_eq!(unchanged.proposed_hash, None);
        let proposed = Arc::new(object(&json!({ "q": "other" })));
        let edited = AuditRecord { proposed, ..record(what) };
        let line = line(&edited, &Written::default());
        assert_eq!(line.arguments_hash, unchanged.arguments_hash);
        assert!(line.proposed_hash.is_some_and(|hash| hash != line.arguments_hash));
    }

    #[test]
    fn who_decided_is_read_off_the_words() {
        for (by, decider) in [
            ("user: once", Decider::Person),
            ("user: command line", Decider::CommandLine),
            ("nobody to ask; ask: the mode for all servers", Decider::Headless),
            ("auto: the rule {\"tool\":\"user: x\"} (config.yaml:3)", Decider::Policy),
        ] {
            assert_eq!(Decider::of(by), decider, "{by}");
        }
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
