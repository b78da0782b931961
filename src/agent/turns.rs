//! The course of a turn: user message → model → calls → results → model … → end.

use std::time::Instant;

use super::phase::{Draft, Phase, Slot, Turn};
use super::repeat::Made;
use super::{Agent, Effect, SessionEvent};
use crate::bridge::Notice;
use crate::domain::model::{Finish, ModelEvent, ProviderError, ProviderErrorKind};
use crate::domain::turn::Reasoning;
use crate::domain::{
    Interaction, Message, Question, QuestionId, QuestionKind, RequestedCall, Source, TurnEnd,
    TurnId, Usage, Warning,
};

/// Calls of one answer that are taken; more than this is a model out of control.
const CALLS_PER_ROUND: usize = 128;
/// Bytes of text and reasoning of one answer; more than this is a model out of control too.
const ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// How often in one turn room is made because the endpoint says that the request is too long.
const SQUEEZES: u32 = 3;

impl Agent {
    /// Begins a turn with this message.
    pub(super) fn begin_turn(&mut self, text: String, now: Instant) {
        let id = self.ids.turn();
        self.turn = Some(Turn::new(id, now));
        self.tell(Notice::TurnStarted { turn: id, text: text.clone() });
        self.record(Message::User { text });
        self.ask_model();
    }

    /// Makes room where there is too little, then asks the model.
    pub(super) fn ask_model(&mut self) {
        self.warn_of_budget();
        if !self.make_room() {
            self.send_request();
        }
    }

    fn send_request(&mut self) {
        let request = self.conversation.request(&self.config);
        let Some(turn) = &mut self.turn else { return };
        turn.rounds += 1;
        turn.all_rounds += 1;
        turn.phase = Phase::Asking(Draft::default());
        let turn = turn.id;
        self.out.push(Effect::AskModel { turn, request });
    }

    pub(super) fn model_said(&mut self, id: TurnId, event: ModelEvent, now: Instant) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.id == id) else { return };
        let summing = turn.summing().is_some();
        let Some(draft) = turn.draft() else { return };
        match event {
            ModelEvent::Text(chunk) => {
                draft.text.push_str(&chunk);
                if !summing {
                    self.tell(Notice::Text { turn: id, chunk });
                }
            }
            ModelEvent::Reasoning(_) if summing => {}
            ModelEvent::Reasoning(chunk) => {
                draft.reasoning.push_str(&chunk);
                self.tell(Notice::Reasoning { turn: id, chunk });
            }
            ModelEvent::ReasoningDone(reasoning) => draft.reasoning_done = Some(reasoning),
            ModelEvent::Call(call) => draft.calls.push(call),
            ModelEvent::Usage(usage) => draft.usage = later(draft.usage, usage),
            ModelEvent::Retrying { attempt, after, reason } => {
                self.tell(Notice::Retrying { turn: id, attempt, after, reason });
            }
            ModelEvent::Warned(message) => self.warn(Warning::new(Source::Model, message, "")),
            ModelEvent::Finished(finish) => return self.answer_ended(finish, now),
        }
        self.stop_endless_answer(now);
    }

    fn stop_endless_answer(&mut self, now: Instant) {
        let Some(turn) = self.turn.as_mut() else { return };
        let id = turn.id;
        let endless = turn
            .draft()
            .is_some_and(|draft| draft.text.len() + draft.reasoning.len() > ANSWER_BYTES);
        if endless {
            self.out.push(Effect::StopModel { turn: id });
            let draft = self.take_draft();
            self.keep_partial(draft);
            let reason = "the answer passed the limit of 8 MiB and was stopped".to_owned();
            self.end_turn(TurnEnd::Incomplete { reason }, now);
        }
    }

    /// Takes the answer out of the turn and counts its tokens.
    fn take_draft(&mut self) -> Draft {
        let Some(turn) = self.turn.as_mut() else { return Draft::default() };
        let draft = turn.draft().map(std::mem::take).unwrap_or_default();
        turn.spend(draft.usage);
        if let Some(input) = draft.usage.input {
            self.conversation.correct(input);
        }
        draft
    }

    fn answer_ended(&mut self, finish: Finish, now: Instant) {
        let summing = self.turn.as_ref().and_then(Turn::summing);
        let draft = self.take_draft();
        if let Some(summing) = summing {
            let whole = matches!(finish, Finish::Stop | Finish::Length);
            return self.summed(&draft, summing, whole);
        }
        let blank = draft.is_blank();
        match finish {
            Finish::Incomplete => {
                let reason = broken(draft.calls.len(), "the model's stream ended in the middle");
                self.keep_partial(draft);
                self.end_turn(TurnEnd::Incomplete { reason }, now);
            }
            Finish::ContentFilter => {
                self.keep_partial(draft);
                self.end_turn(TurnEnd::ContentFilter, now);
            }
            Finish::Refused => {
                self.keep_text(draft, false);
                self.end_turn(TurnEnd::Refused, now);
            }
            // The presence of calls decides, not the reason the endpoint gives.
            Finish::Stop | Finish::ToolCalls | Finish::Length | Finish::Empty
                if !draft.calls.is_empty() =>
            {
                self.start_round(draft, now);
            }
            Finish::Length => {
                self.keep_text(draft, false);
                self.end_turn(TurnEnd::Length, now);
            }
            Finish::Stop | Finish::ToolCalls | Finish::Empty => {
                self.keep_text(draft, false);
                self.end_turn(if blank { TurnEnd::Empty } else { TurnEnd::Done }, now);
            }
        }
    }

    /// Keeps the text of an answer that did not come to its end. Its calls never run, so they
    /// cannot be part of the conversation: they would wait for results for ever.
    fn keep_partial(&mut self, draft: Draft) {
        self.keep_text(draft, true);
    }

    fn keep_text(&mut self, mut draft: Draft, incomplete: bool) {
        draft.calls.clear();
        if !draft.is_blank() {
            // A signature is only good with the whole reasoning.
            if incomplete {
                draft.reasoning_done = draft
                    .reasoning_done
                    .map(|reasoning| Reasoning { signature: None, ..reasoning });
            }
            self.record(draft.into_message(incomplete));
        }
    }

    pub(super) fn model_failed(&mut self, id: TurnId, error: ProviderError, now: Instant) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.id == id) else { return };
        if turn.draft().is_none() {
            return;
        }
        if let Some(summing) = turn.summing() {
            let draft = self.take_draft();
            return self.summed(&draft, summing, false);
        }
        let retry = error.kind == ProviderErrorKind::TooLong && turn.squeezed < SQUEEZES;
        turn.squeezed += u32::from(retry);
        let draft = self.take_draft();
        if retry && draft.is_blank() && self.squeeze() {
            return;
        }
        let broke = error.kind == ProviderErrorKind::Broken && !draft.is_blank();
        let calls = draft.calls.len();
        self.keep_partial(draft);
        let reason = if broke {
            TurnEnd::Incomplete { reason: broken(calls, &error.message) }
        } else {
            let unreachable = error.kind == ProviderErrorKind::Unreachable;
            TurnEnd::Failed { reason: error.message, unreachable }
        };
        self.end_turn(reason, now);
    }

    /// Makes room for a request that the endpoint found too long, and sends it again. False if there
    /// is nothing to make room with.
    fn squeeze(&mut self) -> bool {
        let before = self.conversation.parts().total();
        self.conversation.too_long();
        if self.make_room() {
            return true;
        }
        let smaller = self.conversation.parts().total() < before;
        if smaller {
            self.send_request();
        }
        smaller
    }

    fn start_round(&mut self, mut draft: Draft, now: Instant) {
        let dropped = draft.calls.len().saturating_sub(CALLS_PER_ROUND);
        if dropped > 0 {
            draft.calls.truncate(CALLS_PER_ROUND);
            self.warn(Warning::new(
                Source::Model,
                format!("The model asked for more than {CALLS_PER_ROUND} calls at once: {dropped} of them were left out."),
                "Ask it to go in smaller steps.",
            ));
        }
        make_ids_unique(&mut draft.calls);
        let calls = draft.calls.clone();
        self.record(draft.into_message(false));
        let slots = calls.iter().map(Slot::new).collect();
        let Some(turn) = self.turn.as_mut() else { return };
        turn.phase = Phase::Calling { slots, ending: false };
        let id = turn.id;
        for (index, call) in calls.into_iter().enumerate() {
            self.open_requested(id, index, call, now);
        }
        self.advance(now);
    }

    /// Goes on with the turn once every call of the round has its result.
    pub(super) fn advance(&mut self, now: Instant) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Phase::Calling { slots, ending } = &mut turn.phase else { return };
        if slots.iter().any(|slot| slot.settled.is_none()) {
            return;
        }
        let ending = *ending;
        let slots = std::mem::take(slots);
        let repeated = self.hand_back(slots);
        if ending {
            self.end_turn(TurnEnd::Cancelled, now);
        } else if let Some(kind) = repeated {
            self.question(kind, now);
        } else {
            self.next_round(now);
        }
    }

    /// Puts the results into the conversation, in the order of the calls. Says if one of them was
    /// the same once too often.
    fn hand_back(&mut self, slots: Vec<Slot>) -> Option<QuestionKind> {
        let mut repeated = None;
        for slot in slots {
            let Some(settled) = slot.settled else { continue };
            if let Some(turn) = self.turn.as_mut() {
                let made = Made::new(&slot.name, &slot.arguments, &settled.outcome, settled.label);
                if let Some((tool, times)) = turn.repeats.count(made, self.config.repeat) {
                    repeated = Some(QuestionKind::Repeated { tool, times });
                }
            }
            self.record(Message::Result {
                provider_id: slot.provider_id,
                call: slot.call,
                name: slot.name,
                text: settled.text,
                is_error: !matches!(*settled.outcome, crate::domain::Outcome::Ok(_)),
            });
        }
        repeated
    }

    fn next_round(&mut self, now: Instant) {
        let rounds = self.turn.as_ref().map_or(0, |turn| turn.rounds);
        if rounds >= self.config.rounds {
            self.question(QuestionKind::Rounds { rounds }, now);
        } else {
            self.ask_model();
        }
    }

    fn question(&mut self, kind: QuestionKind, now: Instant) {
        if self.config.interaction == Interaction::Headless {
            self.warn(Warning::new(
                Source::Model,
                stopped_because(&kind),
                "Nobody is there to be asked whether to go on; run it on the screen, or ask for less at once.",
            ));
            return self.end_turn(TurnEnd::Stopped, now);
        }
        let question = Question { id: self.ids.question(), kind };
        if let Some(turn) = self.turn.as_mut() {
            turn.phase = Phase::Questioning(question.clone());
        }
        self.tell(Notice::Questioned { question });
    }

    pub(super) fn decided(&mut self, id: QuestionId, go_on: bool, now: Instant) {
        let Some(turn) = self.turn.as_mut() else { return };
        let Phase::Questioning(question) = &turn.phase else { return };
        if question.id != id {
            return;
        }
        match question.kind {
            QuestionKind::Rounds { .. } => turn.rounds = 0,
            QuestionKind::Repeated { .. } => turn.repeats.reset(),
        }
        self.tell(Notice::QuestionClosed { question: id });
        if go_on {
            self.next_round(now);
        } else {
            self.end_turn(TurnEnd::Stopped, now);
        }
    }

    pub(super) fn interrupted(&mut self, now: Instant) {
        self.cancel_calls(now);
        let Some(turn) = self.turn.as_mut() else { return };
        let id = turn.id;
        match &mut turn.phase {
            Phase::Summing(..) => {
                self.out.push(Effect::StopModel { turn: id });
                self.end_turn(TurnEnd::Cancelled, now);
            }
            Phase::Asking(_) => {
                self.out.push(Effect::StopModel { turn: id });
                let draft = self.take_draft();
                self.keep_partial(draft);
                self.end_turn(TurnEnd::Cancelled, now);
            }
            Phase::Questioning(question) => {
                let question = question.id;
                self.tell(Notice::QuestionClosed { question });
                self.end_turn(TurnEnd::Cancelled, now);
            }
            Phase::Calling { ending, .. } => {
                *ending = true;
                self.advance(now);
            }
        }
    }

    fn end_turn(&mut self, reason: TurnEnd, now: Instant) {
        let Some(turn) = self.turn.take() else { return };
        self.out.push(Effect::Save(SessionEvent::TurnEnded { reason: reason.clone() }));
        let took = now.saturating_duration_since(turn.started);
        let goes_on = goes_on(&reason);
        self.tell(Notice::TurnEnded { turn: turn.id, reason, usage: turn.usage, took });
        if goes_on { self.send_queued(now) } else { self.hand_back_queued() }
    }
}

/// Whether what waits in the queue is sent after such an end. What the user stopped is not followed
/// by something else at once, and what failed would fail again.
fn goes_on(end: &TurnEnd) -> bool {
    match end {
        TurnEnd::Done
        | TurnEnd::Length
        | TurnEnd::ContentFilter
        | TurnEnd::Refused
        | TurnEnd::Empty => true,
        TurnEnd::Cancelled
        | TurnEnd::Stopped
        | TurnEnd::Incomplete { .. }
        | TurnEnd::Failed { .. } => false,
    }
}

/// Of two reports on one request, each number as last given.
fn later(before: Usage, now: Usage) -> Usage {
    Usage {
        input: now.input.or(before.input),
        output: now.output.or(before.output),
        cached: now.cached.or(before.cached),
    }
}

fn broken(calls: usize, what: &str) -> String {
    let what = what.trim_end_matches('.');
    let what = what.strip_suffix(". Send again").unwrap_or(what);
    match calls {
        0 => format!("{what}; send again to go on"),
        1 => format!("{what}; the call it had asked for was not run"),
        _ => format!("{what}; the {calls} calls it had asked for were not run"),
    }
}

fn stopped_because(kind: &QuestionKind) -> String {
    match kind {
        QuestionKind::Rounds { rounds } => format!("The turn was stopped after {rounds} rounds."),
        QuestionKind::Repeated { tool, times } => format!(
            "The turn was stopped: {tool} was called {times} times in a row with the same arguments and the same result."
        ),
    }
}

/// Endpoints are known to give two calls of one answer the same id, or none.
fn make_ids_unique(calls: &mut [RequestedCall]) {
    let mut seen = std::collections::HashSet::new();
    for (index, call) in calls.iter_mut().enumerate() {
        if call.provider_id.is_empty() {
            call.provider_id = format!("call_{index}");
        }
        while !seen.insert(call.provider_id.clone()) {
            call.provider_id = format!("{}_{index}", call.provider_id);
        }
    }
}
