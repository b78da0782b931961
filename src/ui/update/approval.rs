//! Keys in the decision box. Reached only once the box is armed.
//!
//! Nothing but the three approving actions lets a call run, and a held key never decides.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyCode;
use serde_json::{Map, Value};

use super::{Press, elicit, form, global, input};
use crate::bridge::Op;
use crate::domain::Answer;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::UiState;
use crate::ui::state::approval::{Choice, EDIT_LIMIT, Mode, Pending, PendingId, editable};
use crate::ui::state::input::editor;

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    if state.decisions.elicitation().is_some() {
        return elicit::key(state, keymap, press);
    }
    match &state.decisions.mode {
        Mode::Choose | Mode::Fill(_) => choose(state, keymap, press),
        Mode::ConfirmAlways => confirm(state, keymap, press),
        Mode::Note(_) => note(state, press),
        Mode::Edit(..) => edit(state, keymap, press),
    }
}

fn choose(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(action) = keymap.at(Place::Dialog, press.key) else {
        return match keymap.at(Place::Global, press.key) {
            Some(action) => global::act(state, keymap, action, press.at),
            None => begin_message(state, keymap, press),
        };
    };
    if scrolled(state, action) || press.repeat {
        return Vec::new();
    }
    match state.decisions.current() {
        Some(Pending::Question(_)) => decide_question(state, action),
        Some(Pending::Approval(_)) => decide_call(state, action, press.at),
        Some(Pending::Elicitation(_)) | None => Vec::new(),
    }
}

/// A letter that is no answer is the first of a message: later ones must not decide.
fn begin_message(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    if press.key.typed().is_none_or(char::is_whitespace) {
        return Vec::new();
    }
    state.decisions.arming.disturb(press.at);
    input::key(state, keymap, press)
}

pub(super) fn scrolled(state: &mut UiState, action: Action) -> bool {
    let decisions = &mut state.decisions;
    let page = decisions.page.max(1);
    let last = decisions.laid.count.saturating_sub(decisions.page);
    decisions.scroll = match action {
        Action::DialogUp => decisions.scroll.saturating_sub(1),
        Action::DialogDown => decisions.scroll + 1,
        Action::DialogPageUp => decisions.scroll.saturating_sub(page),
        Action::DialogPageDown => decisions.scroll + page,
        Action::DialogTop => 0,
        Action::DialogBottom => last,
        _ => return false,
    }
    .min(last);
    true
}

fn decide_question(state: &mut UiState, action: Action) -> Vec<Intent> {
    let Some(Pending::Question(question)) = state.decisions.current() else { return Vec::new() };
    let id = question.id;
    let go_on = match action {
        Action::Approve => true,
        Action::Deny => false,
        Action::Choose if state.decisions.choice == Choice::Deny => false,
        Action::Choose | Action::Later => {
            state.decisions.minimised = true;
            return Vec::new();
        }
        Action::ChooseNext | Action::ChoosePrevious => {
            let next =
                if state.decisions.choice == Choice::Deny { Choice::Later } else { Choice::Deny };
            state.decisions.choice = next;
            return Vec::new();
        }
        Action::ToDraft => {
            state.decisions.in_draft = true;
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    state.decisions.remove(PendingId::Question(id));
    vec![Intent::Send(Op::Decide { question: id, go_on })]
}

fn decide_call(state: &mut UiState, action: Action, now: Instant) -> Vec<Intent> {
    match action {
        Action::Approve => return answer(state, Answer::Once),
        Action::ApproveSession => return answer(state, Answer::Session),
        Action::ApproveAlways => state.decisions.mode = Mode::ConfirmAlways,
        Action::EditArguments => begin_edit(state, now),
        Action::Deny => return deny(state, String::new()),
        Action::DenyNote => state.decisions.mode = Mode::Note(Box::new(editor(""))),
        Action::DenyAll => return deny_all(state),
        Action::Later => state.decisions.minimised = true,
        Action::ToDraft => state.decisions.in_draft = true,
        Action::ChooseNext => state.decisions.choice = state.decisions.choice.moved(1),
        Action::ChoosePrevious => state.decisions.choice = state.decisions.choice.moved(-1),
        Action::Choose => {
            let focused = match state.decisions.choice {
                Choice::Deny => Action::Deny,
                Choice::Note => Action::DenyNote,
                Choice::Edit => Action::EditArguments,
                Choice::Later => Action::Later,
            };
            return decide_call(state, focused, now);
        }
        _ => {}
    }
    Vec::new()
}

fn answer(state: &mut UiState, answer: Answer) -> Vec<Intent> {
    let Some(approval) = state.decisions.approval() else { return Vec::new() };
    let call = approval.call.id;
    state.decisions.remove(PendingId::Call(call));
    vec![Intent::Send(Op::Answer { call, answer })]
}

fn deny(state: &mut UiState, note: String) -> Vec<Intent> {
    answer(state, Answer::Deny { note })
}

fn deny_all(state: &mut UiState) -> Vec<Intent> {
    let denied =
        |call| Intent::Send(Op::Answer { call, answer: Answer::Deny { note: String::new() } });
    state.decisions.take_calls().into_iter().map(denied).collect()
}

fn confirm(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let action = keymap.at(Place::Dialog, press.key);
    if action.is_some_and(|action| scrolled(state, action)) || press.repeat {
        return Vec::new();
    }
    state.decisions.mode = Mode::Choose;
    if action == Some(Action::ApproveAlways) {
        return answer(state, Answer::Always);
    }
    if press.key.typed().is_some() {
        // It may have been the first letter of a message.
        state.decisions.arming.disturb(press.at);
    }
    Vec::new()
}

fn note(state: &mut UiState, press: Press) -> Vec<Intent> {
    let Mode::Note(area) = &mut state.decisions.mode else { return Vec::new() };
    match press.key.code {
        KeyCode::Esc => state.decisions.mode = Mode::Choose,
        KeyCode::Enter if press.repeat => {}
        KeyCode::Enter => {
            let note = area.lines().join(" ").trim().to_owned();
            return deny(state, note);
        }
        _ => {
            form::edit(area, press.key);
        }
    }
    Vec::new()
}

fn begin_edit(state: &mut UiState, now: Instant) {
    let Some(approval) = state.decisions.approval() else { return };
    let text = editable(&approval.call.arguments);
    if text.len() > EDIT_LIMIT {
        state.say("these arguments are too large to edit here (limit 64 KiB)", now);
        return;
    }
    let mut area = editor(&text);
    area.move_cursor(tui_textarea::CursorMove::Top);
    state.decisions.mode = Mode::Edit(Box::new(area), None);
}

fn edit(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Mode::Edit(area, fault) = &mut state.decisions.mode else { return Vec::new() };
    match keymap.at(Place::Editor, press.key) {
        Some(Action::Apply) => match read(&area.lines().join("\n")) {
            Ok(arguments) => return answer(state, Answer::Edit(Arc::new(arguments))),
            Err(message) => *fault = Some(message),
        },
        Some(Action::Discard) => state.decisions.mode = Mode::Choose,
        _ if press.key.code == KeyCode::Enter => area.insert_newline(),
        _ => {
            form::edit(area, press.key);
        }
    }
    Vec::new()
}

/// Reads arguments that a person wrote: a JSON object.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("arguments are a JSON object: { … }".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}
