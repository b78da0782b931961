//! A conversation from the disk as the notices that it was shown with, so that a face that goes on
//! with it shows what was said before.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use time::UtcDateTime;
use time::format_description::well_known::Rfc3339;

use super::mend::{self, Ended, Step};
use super::{Line, SessionEvent, Transcript};
use crate::bridge::Notice;
use crate::domain::model::{ModelInfo, WindowOrigin};
use crate::domain::{
    CallState, Content, Message, ModelName, Outcome, RequestedCall, ToolOutput, TurnEnd, TurnId,
    Usage,
};

/// Why a turn without an end has none.
const CUT_OFF: &str = "the program ended in the middle of this turn";

/// The notices, oldest first. Turns are numbered from 1; ids of calls may come more than once, in
/// different turns, where a conversation was resumed before.
pub fn notices(transcript: &Transcript) -> Vec<Notice> {
    let mut replay = Replay::default();
    for step in mend::steps(&transcript.lines) {
        replay.step(step);
    }
    replay.cut_off();
    replay.out
}

#[derive(Default)]
struct Replay<'a> {
    out: Vec<Notice>,
    turn: u64,
    begun: Option<UtcDateTime>,
    /// Whether a turn is open.
    open: bool,
    /// When something was last heard.
    heard: Option<UtcDateTime>,
    /// What the model asked for, by the provider's id of the call.
    asked: HashMap<&'a str, &'a RequestedCall>,
}

impl<'a> Replay<'a> {
    fn step(&mut self, step: Step<'a>) {
        match step {
            Step::Line(line) => self.line(line),
            Step::Result { result, ended } => self.result(&result, ended),
            Step::Lost { asked, result } => {
                if let Message::Result { text, .. } = &result {
                    let reason = mend::LOST.to_owned();
                    let outcome = Outcome::Unknown { reason };
                    let notice = self.refused(&asked.name, Some(asked), outcome, text);
                    self.out.push(notice);
                }
            }
        }
    }

    fn line(&mut self, line: &'a Line) {
        let at = time_of(line);
        match &line.event {
            SessionEvent::Message { message } => self.message(message, at),
            SessionEvent::Call { call, outcome, took_ms, .. } => {
                // One that the user made; those of the model come with their results.
                let took = Duration::from_millis(*took_ms);
                let (call, outcome) = (Arc::clone(call), Arc::clone(outcome));
                let state = CallState::Done { outcome, took, for_model: "".into() };
                self.out.push(Notice::CallChanged { call, state });
            }
            SessionEvent::TurnEnded { reason } => {
                self.open = false;
                self.end(reason.clone(), at);
            }
            SessionEvent::ModelChanged { model } => {
                let model = ModelInfo {
                    name: model.clone(),
                    endpoint: String::new(),
                    window: 0,
                    origin: WindowOrigin::Assumed,
                };
                self.out.push(Notice::ModelChanged { model, switched: true });
            }
            SessionEvent::Granted { .. }
            | SessionEvent::Summarised { .. }
            | SessionEvent::Resumed => {}
        }
        self.heard = at.or(self.heard);
    }

    fn message(&mut self, message: &'a Message, at: Option<UtcDateTime>) {
        match message {
            Message::User { text } => {
                self.cut_off();
                self.turn += 1;
                self.begun = at;
                self.open = true;
                self.out.push(Notice::TurnStarted { turn: TurnId(self.turn), text: text.clone() });
            }
            Message::Assistant { text, reasoning, calls, .. } => {
                let turn = TurnId(self.turn);
                if let Some(reasoning) = reasoning {
                    self.out.push(Notice::Reasoning { turn, chunk: reasoning.text.clone() });
                }
                self.out.push(Notice::Text { turn, chunk: text.clone() });
                let calls = calls.iter().map(|call| (call.provider_id.as_str(), call));
                self.asked = calls.collect();
            }
            Message::Result { .. } => self.result(message, None),
        }
    }

    fn result(&mut self, result: &Message, ended: Option<Ended<'_>>) {
        let Message::Result { provider_id, name, text, is_error, .. } = result else { return };
        let notice = match ended {
            Some(Ended { call, outcome, took_ms, .. }) => {
                let (outcome, took) = (Arc::clone(outcome), Duration::from_millis(took_ms));
                let state = CallState::Done { outcome, took, for_model: Arc::clone(text) };
                Notice::CallChanged { call: Arc::clone(call), state }
            }
            None => self.told(provider_id, name, text, *is_error),
        };
        self.out.push(notice);
    }

    /// A call of which only the words to the model are known.
    fn told(&self, id: &str, name: &ModelName, text: &Arc<str>, is_error: bool) -> Notice {
        let output = ToolOutput {
            content: vec![Content::Text(text.to_string())],
            structured: None,
            remarks: Vec::new(),
        };
        let outcome = if is_error { Outcome::ToolError(output) } else { Outcome::Ok(output) };
        self.refused(name, self.asked.get(id).copied(), outcome, text)
    }

    fn refused(
        &self,
        name: &ModelName,
        asked: Option<&RequestedCall>,
        outcome: Outcome,
        text: &Arc<str>,
    ) -> Notice {
        let arguments = match asked.map(|asked| &asked.arguments) {
            Some(Ok(arguments)) => serde_json::to_string(&**arguments).unwrap_or_default(),
            Some(Err(bad)) => bad.raw.clone(),
            None => "{}".to_owned(),
        };
        Notice::CallRefused {
            turn: TurnId(self.turn),
            name: name.to_string(),
            arguments,
            outcome: Arc::new(outcome),
            for_model: Arc::clone(text),
        }
    }

    /// A turn that has no end was cut off.
    fn cut_off(&mut self) {
        if std::mem::take(&mut self.open) {
            let reason = CUT_OFF.to_owned();
            self.end(TurnEnd::Incomplete { reason }, self.heard);
        }
    }

    fn end(&mut self, reason: TurnEnd, at: Option<UtcDateTime>) {
        let took = at.zip(self.begun).map(|(end, begun)| end - begun);
        let took = took.and_then(|took| took.try_into().ok()).unwrap_or_default();
        self.out.push(Notice::TurnEnded {
            turn: TurnId(self.turn),
            reason,
            usage: Usage::default(),
            took,
        });
    }
}

fn time_of(line: &Line) -> Option<UtcDateTime> {
    UtcDateTime::parse(&line.at, &Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{Call, CallId, ToolId};
    use crate::session::{Header, SessionId};

    fn transcript(events: Vec<SessionEvent>) -> Transcript {
        let id = SessionId::parse("20261130-181512-ab12cd").unwrap();
        let at = |second: usize| format!("2026-11-30T18:15:{second:02}Z");
        let lines = events.into_iter().enumerate();
        let line = |(second, event)| Line { at: at(second), event, turns: 1 };
        let lines = lines.map(line).collect();
        Transcript { header: Header::new(id, at(0), None), lines, skipped: 0, torn: false }
    }

    fn message(message: Message) -> SessionEvent {
        SessionEvent::Message { message }
    }

    fn asks(provider_id: &str) -> SessionEvent {
        message(Message::Assistant {
            text: "Let me add.".to_owned(),
            reasoning: None,
            calls: vec![RequestedCall {
                provider_id: provider_id.to_owned(),
                name: ModelName::new("rig_add"),
                arguments: Ok(Arc::new(json!({"a": 1}).as_object().unwrap().clone())),
            }],
            incomplete: false,
        })
    }

    fn result(call: Option<CallId>) -> SessionEvent {
        message(Message::Result {
            provider_id: "one".to_owned(),
            call,
            name: ModelName::new("rig_add"),
            text: "told: 42".into(),
            is_error: false,
        })
    }

    #[test]
    fn a_call_comes_back_with_its_outcome_and_what_the_model_was_told() {
        let call = Arc::new(Call {
            id: CallId(3),
            turn: Some(TurnId(1)),
            tool: ToolId::new("rig", "add"),
            model_name: ModelName::new("rig_add"),
            arguments: Arc::default(),
        });
        let outcome = Arc::new(Outcome::NotSent { reason: "gone".to_owned() });
        let shown = notices(&transcript(vec![
            message(Message::User { text: "add".to_owned() }),
            asks("one"),
            SessionEvent::Call {
                call: Arc::clone(&call),
                outcome: Arc::clone(&outcome),
                took_ms: 7,
                told: None,
            },
            result(Some(CallId(3))),
            SessionEvent::TurnEnded { reason: TurnEnd::Cancelled },
        ]));
        let (turn, took) = (TurnId(1), Duration::from_millis(7));
        let expected = vec![
            Notice::TurnStarted { turn, text: "add".to_owned() },
            Notice::Text { turn, chunk: "Let me add.".to_owned() },
            Notice::CallChanged {
                call,
                state: CallState::Done { outcome, took, for_model: "told: 42".into() },
            },
            Notice::TurnEnded {
                turn,
                reason: TurnEnd::Cancelled,
                usage: Usage::default(),
                took: Duration::from_secs(4),
            },
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_call_without_its_outcome_shows_what_the_model_was_told() {
        let shown = notices(&transcript(vec![
            message(Message::User { text: "add".to_owned() }),
            asks("one"),
            result(Some(CallId(3))),
        ]));
        let [.., Notice::CallRefused { name, arguments, for_model, .. }, end] = shown.as_slice()
        else {
            panic!("{shown:?}");
        };
        let cut_off = TurnEnd::Incomplete { reason: CUT_OFF.to_owned() };
        assert!(matches!(end, Notice::TurnEnded { reason, .. } if *reason == cut_off), "{end:?}");
        assert_eq!(
            (name.as_str(), arguments.as_str(), &**for_model),
            ("rig_add", r#"{"a":1}"#, "told: 42")
        );
    }
    #[test]
    fn a_call_that_nobody_saw_the_end_of_is_unknown() {
        let shown = notices(&transcript(vec![
            message(Message::User { text: "add".to_owned() }),
            asks("one"),
        ]));
        let [.., Notice::CallRefused { outcome, .. }, Notice::TurnEnded { .. }] = shown.as_slice()
        else {
            panic!("{shown:?}");
        };
        assert!(matches!(**outcome, Outcome::Unknown { .. }), "{outcome:?}");
    }
}
