//! Keys in the wire view, and what the runtime says about it.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyCode;

use super::{Press, global};
use crate::bridge::Op;
use crate::domain::CallId;
use crate::domain::exchange::{Exchange, Exchanges};
use crate::text;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::wire::{WireView, Wish};
use crate::ui::state::{Overlay, UiState};
use crate::wire;

/// Opens the view, at the exchange of a call if one is named.
pub(super) fn open(state: &mut UiState, call: Option<CallId>) {
    state.overlay = Some(Overlay::Wire(Box::new(WireView::new(call))));
}

/// Opens the exchange of the call whose card is selected, or of the latest one.
pub(super) fn open_call(state: &mut UiState, now: Instant) {
    match state.conversation.call() {
        Some(call) => open(state, Some(call)),
        None => state.say("no call has been made yet", now),
    }
}

/// Tells the runtime when the view was opened or closed, however that came about.
pub(super) fn watch(state: &mut UiState) -> Option<Intent> {
    let on = matches!(state.overlay, Some(Overlay::Wire(_)));
    let changed = std::mem::replace(&mut state.wire_watched, on) != on;
    changed.then_some(Intent::Send(Op::WatchWire { on }))
}

pub(super) fn arrived(state: &mut UiState, exchanges: Arc<Exchanges>, now: Instant) {
    let Some(Overlay::Wire(view)) = &mut state.overlay else { return };
    if view.arrived(exchanges) == Wish::Gone {
        state.say("no exchange of this call is kept: it was not sent, or is too long ago", now);
    }
}

pub(super) fn exported(
    state: &mut UiState,
    written: Result<(usize, std::path::PathBuf), String>,
    now: Instant,
) {
    let said = match written {
        Ok((count, file)) => {
            let things = if count == 1 { "exchange" } else { "exchanges" };
            format!("{count} {things} in {}", text::strict_line(&file.display().to_string()))
        }
        Err(why) => format!("not exported: {}", text::line(&why)),
    };
    state.say(said, now);
}

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Wire(view)) = &mut state.overlay else { return Vec::new() };
    let page = view.page();
    let Some(action) = action(view, keymap, press) else { return other(state, keymap, press) };
    match action {
        Action::WireUp => view.go(-1),
        Action::WireDown => view.go(1),
        Action::WirePageUp => view.go(-page),
        Action::WirePageDown => view.go(page),
        Action::WireTop => view.go(isize::MIN + 1),
        Action::WireBottom => view.go(isize::MAX),
        Action::WireOpen if view.detail.is_none() => view.open_selected(),
        Action::WirePrevious => view.turn(-1),
        Action::WireNext => view.turn(1),
        Action::WirePart => part(view, true),
        Action::WirePartBack => part(view, false),
        Action::WireBack => back(state, press.at),
        Action::WireCurl => return copy(state, "curl command", wire::curl, press.at),
        Action::WireCall => {
            let program = state.options.program.clone();
            let command = move |exchange: &Exchange| wire::command(exchange, &program);
            return copy(state, "command", command, press.at);
        }
        Action::WireBody => return copy(state, "body", body, press.at),
        Action::WireExport => {
            let only = view.listed();
            state.say("writing an archive", press.at);
            return vec![Intent::Send(Op::ExportWire { only })];
        }
        _ => {}
    }
    Vec::new()
}

/// What a key means here; an open exchange is read like any page.
fn action(view: &WireView, keymap: &Keymap, press: Press) -> Option<Action> {
    if let Some(action) = keymap.at(Place::Wire, press.key) {
        return Some(action);
    }
    view.detail.as_ref()?;
    Some(match keymap.at(Place::Page, press.key)? {
        Action::PageClose => Action::WireBack,
        Action::PageUp => Action::WireUp,
        Action::PageDown => Action::WireDown,
        Action::PageBack => Action::WirePageUp,
        Action::PageForward => Action::WirePageDown,
        Action::PageTop => Action::WireTop,
        Action::PageBottom => Action::WireBottom,
        _ => return None,
    })
}

fn part(view: &mut WireView, later: bool) {
    if let Some(detail) = &mut view.detail {
        detail.part(later);
    }
}

/// One step out: of the exchange, of the filter, of the view.
fn back(state: &mut UiState, now: Instant) {
    let Some(Overlay::Wire(view)) = &mut state.overlay else { return };
    if view.detail.take().is_some() {
        view.reveal();
    } else if view.filter.is_empty() {
        global::close(state, now);
    } else {
        view.filter.clear();
        view.refresh();
    }
}

fn other(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    match keymap.at(Place::Global, press.key) {
        Some(Action::Wire | Action::Exchange) => {
            global::close(state, press.at);
            return Vec::new();
        }
        Some(action @ (Action::Help | Action::Warnings | Action::Palette | Action::Decision)) => {
            global::close(state, press.at);
            return global::act(state, keymap, action, press.at);
        }
        _ => {}
    }
    let Some(Overlay::Wire(view)) = &mut state.overlay else { return Vec::new() };
    if view.detail.is_some() {
        return Vec::new();
    }
    match (press.key.code, press.key.typed()) {
        (KeyCode::Backspace, _) => drop(view.filter.pop()),
        // A slash only says that a filter follows.
        (_, Some('/')) if view.filter.is_empty() => return Vec::new(),
        (_, Some(c)) => view.filter.push(c),
        _ => return Vec::new(),
    }
    view.refresh();
    Vec::new()
}

/// Copies what can be made of the exchange, or says why nothing can.
fn copy(
    state: &mut UiState,
    what: &str,
    make: impl Fn(&Exchange) -> Result<String, String>,
    now: Instant,
) -> Vec<Intent> {
    let Some(Overlay::Wire(view)) = &state.overlay else { return Vec::new() };
    let Some(exchange) = view.current() else {
        state.say("nothing to copy yet", now);
        return Vec::new();
    };
    match make(&exchange) {
        Ok(text) => {
            let text = copyable(text);
            let count = text.chars().count();
            state.say(format!("copied: {what}, {count} characters"), now);
            vec![Intent::Copy { text }]
        }
        Err(why) => {
            state.say(format!("no {what}: {}", text::line(&why)), now);
            Vec::new()
        }
    }
}

/// The response's body, or the request's where there is none.
fn body(exchange: &Exchange) -> Result<String, String> {
    let body = if exchange.received.bytes.is_empty() { &exchange.sent } else { &exchange.received };
    if body.bytes.is_empty() {
        return Err("there is none".to_owned());
    }
    let text = std::str::from_utf8(&body.bytes);
    text.map(str::to_owned).map_err(|_no_text| "it is no text; export it instead".to_owned())
}

/// As it is where it holds no control character and so no escape sequence.
fn copyable(raw: String) -> String {
    if raw.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
        return raw;
    }
    text::block(&raw).into_string()
}
