//! Keys in the decision box. Reached only once the box is armed.
//!
//! Nothing but the three approving actions lets a call run, and a held key never decides.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyCode;
use serde_json::{Map, Value};
use tui_textarea::CursorMove;

use super::{Press, elicit, form, global, input};
use crate::bridge::Op;
use crate::domain::{Answer, CallId};
use crate::schema::check::check;
use crate::text;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::approval::{Choice, EDIT_LIMIT, Mode, Pending, PendingId, editable};
use crate::ui::state::input::editor;
use crate::ui::state::{Lent, UiState};

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
        Some(Pending::Approval(_)) => decide_call(state, action),
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

fn decide_call(state: &mut UiState, action: Action) -> Vec<Intent> {
    match action {
        Action::Approve => return answer(state, Answer::Once),
        Action::ApproveSession => return answer(state, Answer::Session),
        Action::ApproveAlways => state.decisions.mode = Mode::ConfirmAlways,
        Action::EditArguments => return begin_edit(state),
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
            return decide_call(state, focused);
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

fn begin_edit(state: &mut UiState) -> Vec<Intent> {
    let Some(approval) = state.decisions.approval() else { return Vec::new() };
    let (call, arguments) = (approval.call.id, Arc::clone(&approval.call.arguments));
    let kept = state.decisions.unfit.take().filter(|(of, _)| *of == call);
    let text = kept.map_or_else(|| editable(&arguments), |(_, text)| text);
    if text.len() > EDIT_LIMIT {
        // Too much for the box: the user's own editor has room.
        return lend(state, call, text);
    }
    let mut area = editor(&text);
    area.move_cursor(CursorMove::Top);
    area.move_cursor(CursorMove::Head);
    state.decisions.mode = Mode::Edit(Box::new(area), None);
    Vec::new()
}

fn lend(state: &mut UiState, call: CallId, text: String) -> Vec<Intent> {
    state.lent = Lent::Arguments(call);
    vec![Intent::Edit { text, ending: "json" }]
}

fn edit(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Mode::Edit(area, _) = &mut state.decisions.mode else { return Vec::new() };
    match keymap.at(Place::Editor, press.key) {
        Some(_) if press.repeat => {}
        Some(Action::Apply) => {
            let text = area.lines().join("\n");
            return apply(state, text, press.at);
        }
        Some(Action::EditOutside) => {
            let text = area.lines().join("\n");
            let call = state.decisions.approval().map(|approval| approval.call.id);
            return call.map(|call| lend(state, call, text)).unwrap_or_default();
        }
        Some(Action::Discard) => state.decisions.mode = Mode::Choose,
        _ if press.key.code == KeyCode::Enter => area.insert_newline(),
        _ => {
            form::edit(area, press.key);
        }
    }
    Vec::new()
}

/// Arguments came back from the user's own editor; nothing where it was given up.
pub(super) fn edited_outside(
    state: &mut UiState,
    call: CallId,
    text: Option<String>,
    at: Instant,
) -> Vec<Intent> {
    // Keys were meant for the editor until now.
    state.decisions.arming.disturb(at);
    let asked = state.decisions.approval().is_some_and(|approval| approval.call.id == call);
    match text {
        Some(text) if asked => apply(state, text, at),
        _ => Vec::new(),
    }
}

/// Takes changed arguments over if they can be sent; else they stay to be mended.
fn apply(state: &mut UiState, text: String, now: Instant) -> Vec<Intent> {
    let Some(approval) = state.decisions.approval() else { return Vec::new() };
    let call = approval.call.id;
    let proposed = Arc::clone(&approval.call.arguments);
    let fits = read(&text).and_then(|arguments| {
        check(&approval.tool.definition.input_schema, &arguments).map(|()| arguments)
    });
    match fits {
        Ok(arguments) if same(&arguments, &proposed) => {
            state.decisions.mode = Mode::Choose;
            state.say("the arguments are as they were", now);
            Vec::new()
        }
        Ok(arguments) => {
            state.decisions.edited(call, proposed);
            let answer = Answer::Edit(Arc::new(arguments));
            vec![Intent::Send(Op::Answer { call, answer })]
        }
        Err(fault) if text.len() > EDIT_LIMIT => {
            let key = "change them again, or deny";
            state.say(format!("not taken: {}; {key}", text::line(&fault)), now);
            state.decisions.unfit = Some((call, text));
            state.decisions.mode = Mode::Choose;
            Vec::new()
        }
        Err(fault) => {
            let cursor = match &state.decisions.mode {
                Mode::Edit(area, _) => Some(area.cursor()),
                _ => None,
            };
            let mut area = editor(&text);
            let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
            let to =
                cursor.map_or(CursorMove::Top, |at| CursorMove::Jump(place(at.0), place(at.1)));
            area.move_cursor(to);
            state.decisions.mode = Mode::Edit(Box::new(area), Some(fault));
            Vec::new()
        }
    }
}

/// Whether the same is sent.
fn same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    serde_json::to_string(one).ok() == serde_json::to_string(other).ok()
}

/// Reads arguments that a person wrote: a JSON object.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("arguments are a JSON object: { … }".to_owned()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}
