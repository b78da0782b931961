//! The conversation in the order that every provider demands: each call's result right after the
//! message that asked for it, exactly one per call.

use std::borrow::Borrow;

use crate::domain::turn::{Message, Reasoning, RequestedCall};

/// What the model is told of a call that has no result: the turn was cancelled, or the program
/// ended, before one was kept.
const CANCELLED: &str =
    "This call was cancelled before a result was kept. It may or may not have run.";

/// One step of a conversation.
#[derive(Debug, PartialEq)]
pub(super) enum Step<'a> {
    /// A user's message.
    User(&'a str),
    /// A model's message with the result of each of its calls, in the order of the calls.
    Model {
        text: &'a str,
        reasoning: Option<&'a Reasoning>,
        calls: Vec<(&'a RequestedCall, Told<'a>)>,
    },
}

/// What the model is told about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told<'a> {
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

/// Puts a conversation in order. Missing results are made up, results of no call and second
/// results are left out, and so are messages of the model that say nothing.
pub(super) fn steps<M: Borrow<Message>>(messages: &[M]) -> Vec<Step<'_>> {
    let mut steps = Vec::with_capacity(messages.len());
    for (place, message) in messages.iter().enumerate() {
        match message.borrow() {
            Message::User { text } => steps.push(Step::User(text)),
            Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => {}
            Message::Assistant { text, reasoning, calls, .. } => {
                let following = messages.get(place + 1..).unwrap_or_default();
                let told = |call| (call, result_of(call, following));
                let calls = calls.iter().map(told).collect();
                steps.push(Step::Model { text, reasoning: reasoning.as_ref(), calls });
            }
            Message::Result { .. } => {}
        }
    }
    steps
}

/// The first result of `call` before the model speaks again.
fn result_of<'a, M: Borrow<Message>>(call: &RequestedCall, following: &'a [M]) -> Told<'a> {
    following
        .iter()
        .map(Borrow::borrow)
        .take_while(|message| !matches!(message, Message::Assistant { .. }))
        .find_map(|message| match message {
            Message::Result { provider_id, text, is_error, .. }
                if *provider_id == call.provider_id =>
            {
                Some(Told { text, is_error: *is_error })
            }
            _ => None,
        })
        .unwrap_or(Told { text: CANCELLED, is_error: true })
}

/// A name that every provider takes back: a name made up by a model would have all later requests
/// refused.
pub(super) fn sent_name(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().map(clean).take(64).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::ModelName;

    fn call(id: &str) -> RequestedCall {
        RequestedCall {
            provider_id: id.to_owned(),
            name: ModelName::from("a"),
            arguments: Ok(Arc::default()),
        }
    }

    fn asks(ids: &[&str]) -> Message {
        Message::Assistant {
            text: String::new(),
            reasoning: None,
            calls: ids.iter().map(|id| call(id)).collect(),
            incomplete: false,
        }
    }

    fn result(id: &str, text: &str) -> Message {
        Message::Result {
            provider_id: id.to_owned(),
            call: None,
            name: ModelName::from("a"),
            text: text.into(),
            is_error: false,
        }
    }

    fn told(messages: &[Message]) -> Vec<String> {
        let mut told = Vec::new();
        for step in steps(messages) {
            match step {
                Step::User(text) => told.push(format!("user {text}")),
                Step::Model { calls, .. } => {
                    told.push("model".to_owned());
                    told.extend(calls.iter().map(|(c, t)| format!("{} {}", c.provider_id, t.text)));
                }
            }
        }
        told
    }

    #[test]
    fn each_call_has_exactly_one_result_in_the_order_of_the_calls() {
        let user = Message::User { text: "hi".to_owned() };
        let messages = [
            asks(&["k1", "k2", "k3"]),
            result("k2", "two"),
            result("k1", "one"),
            user,
            result("k2", "again"),
            result("nobody", "stray"),
        ];
        assert_eq!(
            told(&messages),
            ["model", "k1 one", "k2 two", &format!("k3 {CANCELLED}"), "user hi"]
        );
    }

    #[test]
    fn an_id_used_again_later_takes_its_own_result() {
        let messages = [asks(&["k"]), asks(&["k"]), result("k", "second")];
        assert_eq!(told(&messages), ["model", &format!("k {CANCELLED}"), "model", "k second"]);
    }

    #[test]
    fn names_made_up_by_a_model_are_cleaned_before_they_are_sent_back() {
        assert_eq!(sent_name("files.read it"), "files_read_it");
        assert_eq!(sent_name(""), "unknown");
        assert_eq!(sent_name(&"x".repeat(80)).len(), 64);
    }
}
