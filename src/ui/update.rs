//! Messages in, intents out. Routes every message to the part it belongs to.
//!
//! Who gets a key: Ctrl-C and the like first, then what stands over the screen, then the decision
//! box once it is armed, then the area in focus.

mod approval;
pub mod command;
mod elicit;
mod fill;
mod form;
mod global;
mod input;
mod models;
mod mouse;
mod notice;
mod page;
mod palette;
mod panel;
mod queue;
mod sessions;
mod wire;

use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};
use tui_textarea::TextArea;

pub(crate) use elicit::is_page;

use super::intent::Intent;
use super::keymap::{Action, Key, Keymap, Place};
use super::msg::Msg;
use super::state::approval::Mode;
use super::state::form::{Entry, Form};
use super::state::page::Body;
use super::state::{Focus, Lent, Overlay, UiState};

/// A key press on its way through the screen.
#[derive(Debug, Clone, Copy)]
struct Press {
    key: Key,
    /// Held down: counts for moving and typing, never for deciding.
    repeat: bool,
    at: Instant,
}

/// Takes in one message and says what is to be done.
pub fn update(state: &mut UiState, keymap: &Keymap, msg: Msg) -> Vec<Intent> {
    let mut intents = take(state, keymap, msg);
    intents.extend(wire::watch(state));
    intents
}

fn take(state: &mut UiState, keymap: &Keymap, msg: Msg) -> Vec<Intent> {
    match msg {
        Msg::Input { event, at } => event_in(state, keymap, event, at),
        Msg::Hurried { at } => {
            hurried(state, at);
            Vec::new()
        }
        Msg::Notice { notice, at } => notice::apply(state, notice, at),
        Msg::Edited { text, at } => edited(state, text, at),
        Msg::Said { text, at } => {
            state.say(crate::text::line(&text).into_string(), at);
            Vec::new()
        }
        Msg::Touched { at } => {
            state.decisions.arming.touched(at);
            Vec::new()
        }
        Msg::Tick { now } => {
            state.tick(now);
            state.decisions.arming.tick(now);
            Vec::new()
        }
    }
}

/// Text came back from the user's own editor.
fn edited(state: &mut UiState, text: Option<String>, at: Instant) -> Vec<Intent> {
    match (std::mem::take(&mut state.lent), text) {
        (Lent::Arguments(call), text) => approval::edited_outside(state, call, text, at),
        (Lent::Draft, Some(text)) => {
            state.input.replace(crate::text::block(&text).as_str().trim_end_matches('\n'));
            Vec::new()
        }
        (Lent::Draft, None) => Vec::new(),
    }
}

fn event_in(state: &mut UiState, keymap: &Keymap, event: Event, at: Instant) -> Vec<Intent> {
    state.tick(at);
    match event {
        Event::Key(event) if event.kind == KeyEventKind::Release => Vec::new(),
        Event::Key(event) => press(state, keymap, &event, at),
        Event::Paste(text) => paste(state, &text, at),
        Event::Mouse(event) => mouse::event(state, event),
        Event::FocusGained => {
            state.attended = true;
            Vec::new()
        }
        Event::FocusLost => {
            state.attended = false;
            Vec::new()
        }
        Event::Resize(..) => Vec::new(),
    }
}

/// A person presses one key to decide: several at once are text.
fn hurried(state: &mut UiState, at: Instant) {
    if matches!(state.decisions.mode, Mode::Choose | Mode::ConfirmAlways) {
        state.decisions.arming.disturb(at);
    }
}

fn press(state: &mut UiState, keymap: &Keymap, event: &KeyEvent, at: Instant) -> Vec<Intent> {
    let asking = state.asking();
    let intents = route(state, keymap, event, at);
    if !asking && state.asking() {
        // The key that led back to the box was meant for another place.
        state.decisions.arming.disturb(at);
    }
    intents
}

fn route(state: &mut UiState, keymap: &Keymap, event: &KeyEvent, at: Instant) -> Vec<Intent> {
    let press = Press { key: Key::of(event), repeat: event.kind == KeyEventKind::Repeat, at };
    // Whatever it does, it is no quiet: also a key that draws the screen anew.
    state.decisions.arming.touched(at);
    state.attended = true;
    if state.input.pasting(at) {
        return rest_of_paste(state, press);
    }
    let action = keymap.at(Place::Global, press.key);
    match action {
        Some(Action::Interrupt) if press.repeat => return Vec::new(),
        Some(Action::Interrupt) => return global::interrupt(state, at),
        Some(Action::Suspend) => return vec![Intent::Suspend],
        Some(Action::Redraw) => return vec![Intent::Redraw],
        _ => state.quit_until = None,
    }
    match &state.overlay {
        Some(Overlay::Page(_)) => return page::key(state, keymap, press),
        Some(Overlay::Palette(_)) => return palette::key(state, keymap, press),
        Some(Overlay::Models(_)) => return models::key(state, keymap, press),
        Some(Overlay::CallTool(_)) => return form::key(state, keymap, press),
        Some(Overlay::Wire(_)) => return wire::key(state, keymap, press),
        Some(Overlay::Pick(_)) => return sessions::key(state, keymap, press),
        None => {}
    }
    if state.asking() && state.decisions.arming.key(at) {
        return approval::key(state, keymap, press);
    }
    match state.focus {
        Focus::Input => input::key(state, keymap, press),
        Focus::Panel => panel::key(state, keymap, press),
    }
}

/// Where typed text goes now: an editor, or a field of a form that takes no text (then nowhere).
fn editor(state: &mut UiState) -> Option<&mut TextArea<'static>> {
    let boxed = state.asking();
    let armed = boxed && state.decisions.arming.latched();
    match (&mut state.overlay, &mut state.decisions.mode) {
        (Some(Overlay::CallTool(form)), _) => match &mut form.body {
            Body::Json { area, .. } => Some(area),
            Body::Fields(form) => written(form),
        },
        (None, Mode::Note(area)) if boxed => Some(area),
        (None, Mode::Edit(area, _)) if boxed => Some(area),
        (None, Mode::Fill(form)) if armed && !form.at_answers() => written(form),
        _ => Some(&mut state.input.area),
    }
}

/// The editor of the field that has the keys. Whoever asks for it changes it.
fn written(form: &mut Form) -> Option<&mut TextArea<'static>> {
    form.follow = true;
    form.fault = None;
    let field = form.focused()?;
    let Entry::Written(area) = &mut field.entry else { return None };
    field.touched = true;
    Some(area)
}

/// Pasted text is text: it never presses a key, and the decision box waits for quiet again unless
/// the paste was for one of its editors.
fn paste(state: &mut UiState, raw: &str, at: Instant) -> Vec<Intent> {
    let boxed = state.asking();
    let writing = boxed
        && match &state.decisions.mode {
            Mode::Note(_) | Mode::Edit(..) => true,
            // As with keys: what comes before the pause is for the draft.
            Mode::Fill(form) => !form.at_answers() && state.decisions.arming.paste(),
            Mode::Choose | Mode::ConfirmAlways => false,
        };
    if matches!(state.overlay, Some(Overlay::CallTool(_))) || (state.overlay.is_none() && writing) {
        let text = crate::text::block(&raw.replace("\r\n", "\n").replace('\r', "\n"));
        if let Some(area) = editor(state) {
            area.insert_str(text.as_str());
        }
        state.input.pasted(at);
        return Vec::new();
    }
    if let Some(Overlay::Palette(palette)) = &mut state.overlay {
        palette.filter.push_str(crate::text::line(raw).as_str());
        state.input.pasted(at);
        return Vec::new();
    }
    if let Some(Overlay::Models(models)) = &mut state.overlay {
        models.typed(|filter| filter.push_str(crate::text::line(raw).as_str()));
    } else if let Some(Overlay::Wire(view)) = &mut state.overlay {
        view.filter.push_str(crate::text::line(raw).as_str());
        view.refresh();
        state.input.pasted(at);
        return Vec::new();
    }
    if let Some(Overlay::Pick(picker)) = &mut state.overlay {
        picker.paste(raw);
        state.input.pasted(at);
        return Vec::new();
    }
    state.overlay = None;
    state.focus = Focus::Input;
    state.decisions.arming.disturb(at);
    if state.input.paste(raw, at) {
        state.say("the paste was larger than 4 MiB: its end was left out", at);
    }
    Vec::new()
}

/// A paste may hold the mark that ends a paste: what follows at once is text, not keys.
fn rest_of_paste(state: &mut UiState, press: Press) -> Vec<Intent> {
    let filling = matches!(state.decisions.mode, Mode::Fill(_));
    if !filling || !state.decisions.arming.latched() {
        state.decisions.arming.disturb(press.at);
    }
    let Some(area) = editor(state) else { return Vec::new() };
    match (press.key.code, press.key.typed()) {
        (KeyCode::Enter, _) => area.insert_newline(),
        (_, Some(c)) => area.insert_char(c),
        _ => {}
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
