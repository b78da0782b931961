//! Configured secrets out of what is written: a server may echo its credential in a result, and a
//! person may paste one.
//!
//! Only content is looked at. What gives a line its form (names of kinds, identities, times) stays
//! as it is, so that a secret that is a common word does not make a file unreadable.

use serde_json::{Map, Value};

use super::Line;
use crate::redact;

/// Shorter ones are no secrets, and are found everywhere.
const SHORTEST: usize = 4;
/// Members that hold content.
const CONTENT: [&str; 5] = ["text", "arguments", "outcome", "reason", "fault"];

/// A line as it is written, without any of these; `None` if it cannot be.
pub fn line(line: &Line, secrets: &[&str]) -> Option<String> {
    let plain = serde_json::to_string(line).ok()?;
    let secrets: Vec<&str> =
        secrets.iter().copied().filter(|secret| secret.trim().len() >= SHORTEST).collect();
    // Secrets are rare in what is said: most lines are done here.
    if secrets.is_empty() || redact::secrets(&plain, &secrets) == plain {
        return Some(plain);
    }
    let mut value = serde_json::to_value(line).ok()?;
    form(&mut value, &secrets);
    serde_json::to_string(&value).ok()
}

/// What gives the line its form: only what holds content is changed.
fn form(value: &mut Value, secrets: &[&str]) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if CONTENT.contains(&name.as_str()) {
                    // Elsewhere the names of members say of which kind it is.
                    content(member, secrets, name == "arguments");
                } else {
                    form(member, secrets);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                form(item, secrets);
            }
        }
        _ => {}
    }
}

fn content(value: &mut Value, secrets: &[&str], names_too: bool) {
    match value {
        Value::String(text) => *text = redact::secrets(text, secrets),
        Value::Array(items) => {
            for item in items {
                content(item, secrets, names_too);
            }
        }
        Value::Object(members) => {
            let taken = std::mem::take(members);
            let change = |(name, mut member): (String, Value)| {
                // What a tool answered in its own form has names of its own making.
                let own = names_too || matches!(name.as_str(), "structured" | "unknown");
                content(&mut member, secrets, own);
                let name = if names_too { redact::secrets(&name, secrets) } else { name };
                (name, member)
            };
            *members = taken.into_iter().map(change).collect::<Map<_, _>>();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::agent::SessionEvent;
    use crate::domain::{
        Call, CallId, Content, Message, Outcome, RequestedCall, ToolId, ToolOutput, TurnId,
    };

    const SECRET: &str = "tok-\"EXAMPLE\"-1";

    fn line_of(event: SessionEvent) -> Line {
        Line { at: "2026-11-30T18:15:13Z".to_owned(), event, turns: 3 }
    }

    fn arguments() -> Arc<Map<String, Value>> {
        Arc::new(json!({ SECRET: [{ "deep": SECRET }] }).as_object().unwrap().clone())
    }

    fn everywhere() -> Vec<SessionEvent> {
        let output = ToolOutput {
            content: vec![
                Content::Text(format!("echo {SECRET}!")),
                Content::Unknown(json!({ SECRET: SECRET })),
            ],
            structured: Some(json!({ "a": { SECRET: SECRET } })),
            remarks: vec![SECRET.to_owned()],
        };
        let call = Call {
            id: CallId(1),
            turn: Some(TurnId(1)),
            tool: ToolId::new("s", "t"),
            model_name: "s_t".into(),
            arguments: arguments(),
        };
        let asked = RequestedCall {
            provider_id: "c1".into(),
            name: "s_t".into(),
            arguments: Ok(arguments()),
        };
        vec![
            SessionEvent::Message { message: Message::User { text: SECRET.into() } },
            SessionEvent::Message {
                message: Message::Assistant {
                    text: SECRET.into(),
                    reasoning: None,
                    calls: vec![asked],
                    incomplete: false,
                },
            },
            SessionEvent::Call {
                call: Arc::new(call),
                outcome: Arc::new(Outcome::Ok(output)),
                took_ms: 1,
                told: Some(crate::agent::Told { provider_id: "c1".into(), text: SECRET.into() }),
            },
            SessionEvent::TurnEnded {
                reason: crate::domain::TurnEnd::Incomplete { reason: SECRET.into() },
            },
        ]
    }

    #[test]
    fn secrets_are_nowhere_in_a_line_and_the_line_can_still_be_read() {
        for event in everywhere() {
            let written = line(&line_of(event), &[SECRET, "other"]).unwrap();
            assert!(!written.contains("EXAMPLE"), "{written}");
            assert!(written.contains(redact::MARK), "{written}");
            let read: Line = serde_json::from_str(&written).unwrap();
            assert_eq!(read.turns, 3);
            assert!(written.ends_with(",\"turns\":3}"), "{written}");
        }
    }

    #[test]
    fn a_secret_that_is_a_word_of_the_file_leaves_its_form() {
        let event = SessionEvent::Message { message: Message::User { text: "a message".into() } };
        let written = line(&line_of(event), &["message", "text", "user"]).unwrap();
        let read: Line = serde_json::from_str(&written).unwrap();
        let text = format!("a {}", redact::MARK);
        assert_eq!(read.event, SessionEvent::Message { message: Message::User { text } });
    }

    #[test]
    fn lines_without_secrets_stay_as_they_are() {
        let plain = line_of(everywhere().remove(0));
        assert_eq!(line(&plain, &["absent"]), serde_json::to_string(&plain).ok());
    }
}
