//! The lines of a session in an order that every provider takes: each call that the model asked for
//! has exactly one result, right after the message that asked, in the order of the calls.
//!
//! A result that was handed back stands in the file as a message. Where the program ended before
//! its round was complete, it is made again from the line of the call. A call without either was
//! on its way, or about to be: it may have run, and is never sent again.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Line, SessionEvent};
use crate::agent::{PastResult, Told, retell};
use crate::domain::{Call, CallId, Message, ModelName, Outcome, RequestedCall, ToolId};

/// What is said of a call whose end nobody saw.
pub(super) const LOST: &str =
    "the program ended before the call did; it may have run or not, and is not sent again";

/// What the model is told of it.
const LOST_FOR_MODEL: &str = "The program ended before this call did, so its result is lost. It may have run or not; it is not sent again by itself. Find out before you call it again.";

/// One thing that happened, with what had to be made up.
#[derive(Debug, PartialEq)]
pub(super) enum Step<'a> {
    /// As it stands in the file.
    Line(&'a Line),
    /// The result of a call, with how the call ended where that is known.
    Result { result: Message, ended: Option<Ended<'a>> },
    /// A call without any result, and what the model is told of it.
    Lost { asked: &'a RequestedCall, result: Message },
}

/// How a call ended, from its own line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ended<'a> {
    pub(super) call: &'a Arc<Call>,
    pub(super) outcome: &'a Arc<Outcome>,
    pub(super) took_ms: u64,
    told: Option<&'a Told>,
}

/// The messages to go on with.
pub(super) fn messages(lines: &[Line]) -> Vec<Message> {
    let message = |step: Step<'_>| match step {
        Step::Line(Line { event: SessionEvent::Message { message }, .. }) => Some(message.clone()),
        Step::Line(_) => None,
        Step::Result { result, .. } | Step::Lost { result, .. } => Some(result),
    };
    steps(lines).into_iter().filter_map(message).collect()
}

/// Summaries that the model got in the place of what was said: each after so many messages.
pub(super) fn summaries(lines: &[Line]) -> Vec<(usize, String)> {
    let mut messages = 0;
    let mut found = Vec::new();
    for step in steps(lines) {
        match step {
            Step::Line(Line { event: SessionEvent::Summarised { text }, .. }) => {
                found.push((messages, text.clone()));
            }
            Step::Line(Line { event: SessionEvent::Message { .. }, .. })
            | Step::Result { .. }
            | Step::Lost { .. } => messages += 1,
            Step::Line(_) => {}
        }
    }
    found
}

/// What the calls of the model gave.
pub(super) fn results(lines: &[Line]) -> Vec<PastResult> {
    let mut told: HashMap<CallId, Arc<str>> = HashMap::new();
    let mut found = Vec::new();
    for line in lines {
        match &line.event {
            SessionEvent::Call { call, outcome, told, .. } => found.push(PastResult {
                call: call.id,
                tool: call.tool.clone(),
                outcome: Arc::clone(outcome),
                told: told.as_ref().map(|told| Arc::clone(&told.text)),
            }),
            SessionEvent::Message { message: Message::Result { call: Some(call), text, .. } } => {
                told.insert(*call, Arc::clone(text));
            }
            _ => {}
        }
    }
    for result in &mut found {
        result.told = result.told.take().or_else(|| told.get(&result.call).cloned());
    }
    found
}

/// The tools that were allowed for the session in the last run that wrote here.
pub(super) fn granted(lines: &[Line]) -> Vec<ToolId> {
    let mut granted = Vec::new();
    for line in lines {
        match &line.event {
            SessionEvent::Resumed => granted.clear(),
            SessionEvent::Granted { tool } if !granted.contains(tool) => granted.push(tool.clone()),
            _ => {}
        }
    }
    granted
}

/// Everything that happened, in order.
pub(super) fn steps(lines: &[Line]) -> Vec<Step<'_>> {
    let mut mending = Mending { out: Vec::with_capacity(lines.len()), ..Mending::default() };
    for line in lines {
        mending.take(line);
    }
    mending.close();
    mending.out
}

/// A message of the model whose results are being gathered.
#[derive(Default)]
struct Mending<'a> {
    out: Vec<Step<'a>>,
    asked: Vec<&'a RequestedCall>,
    results: Vec<&'a Message>,
    ended: Vec<Ended<'a>>,
}

impl<'a> Mending<'a> {
    fn take(&mut self, line: &'a Line) {
        match &line.event {
            SessionEvent::Message { message: result @ Message::Result { .. } } => {
                self.results.push(result);
                return;
            }
            SessionEvent::Call { call, outcome, took_ms, told } if call.turn.is_some() => {
                let (took_ms, told) = (*took_ms, told.as_ref());
                self.ended.push(Ended { call, outcome, took_ms, told });
                return;
            }
            // A call that the user makes meanwhile says nothing of the round.
            SessionEvent::Call { .. }
            | SessionEvent::Granted { .. }
            | SessionEvent::ModelChanged { .. } => {}
            SessionEvent::Message { .. }
            | SessionEvent::Summarised { .. }
            | SessionEvent::TurnEnded { .. }
            | SessionEvent::Resumed => {
                self.close();
            }
        }
        if let SessionEvent::Message { message: Message::Assistant { calls, .. } } = &line.event {
            self.asked = calls.iter().collect();
        }
        self.out.push(Step::Line(line));
    }

    /// Gives every call that was asked for its result. Results of no call are left out.
    fn close(&mut self) {
        let asked = std::mem::take(&mut self.asked);
        let mut seen = Vec::new();
        for call in asked {
            if seen.contains(&&call.provider_id) {
                continue;
            }
            seen.push(&call.provider_id);
            let step = self.result_of(call);
            self.out.push(step);
        }
        self.results.clear();
        self.ended.clear();
    }

    fn result_of(&mut self, asked: &'a RequestedCall) -> Step<'a> {
        let result = self.results.iter().copied().find(|result| answers(result, asked));
        if let Some(result) = result {
            let id = match result {
                Message::Result { call, .. } => *call,
                Message::User { .. } | Message::Assistant { .. } => None,
            };
            let ended = id.and_then(|id| self.take_ended(|ended| ended.call.id == id));
            return Step::Result { result: result.clone(), ended };
        }
        let ended = self
            .take_ended(|ended| {
                ended.told.is_some_and(|told| told.provider_id == asked.provider_id)
            })
            .or_else(|| self.take_ended(|ended| ended.told.is_none() && same(ended.call, asked)));
        match ended {
            Some(ended) => Step::Result { result: again(&ended, asked), ended: Some(ended) },
            None => Step::Lost { asked, result: lost(asked) },
        }
    }

    fn take_ended(&mut self, wanted: impl Fn(&Ended<'a>) -> bool) -> Option<Ended<'a>> {
        let at = self.ended.iter().position(wanted)?;
        Some(self.ended.remove(at))
    }
}

fn answers(result: &Message, asked: &RequestedCall) -> bool {
    matches!(result, Message::Result { provider_id, .. } if *provider_id == asked.provider_id)
}

/// Whether a call is the one that was asked for, where its line does not say so.
fn same(call: &Call, asked: &RequestedCall) -> bool {
    call.model_name == asked.name
        && asked.arguments.as_ref().is_ok_and(|arguments| *arguments == call.arguments)
}

fn again(ended: &Ended<'_>, asked: &RequestedCall) -> Message {
    let text = match ended.told {
        Some(told) => Arc::clone(&told.text),
        None => retell(ended.call, ended.outcome).into(),
    };
    result(asked, Some(ended.call.id), text, !matches!(**ended.outcome, Outcome::Ok(_)))
}

fn lost(asked: &RequestedCall) -> Message {
    result(asked, None, LOST_FOR_MODEL.into(), true)
}

fn result(asked: &RequestedCall, call: Option<CallId>, text: Arc<str>, is_error: bool) -> Message {
    let (provider_id, name): (String, ModelName) = (asked.provider_id.clone(), asked.name.clone());
    Message::Result { provider_id, call, name, text, is_error }
}

#[cfg(test)]
mod tests;
