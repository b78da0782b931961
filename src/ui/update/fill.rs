//! Keys in the fields of a form. What a key means for the whole form is for whoever owns it.

use crossterm::event::KeyCode;

use super::{Press, form};
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::form::{Entry, Field, Form, Kind};

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// It was for a field, or moved between them.
    Taken,
    /// It means this for the whole form.
    Means(Action),
    /// The form has no use for it.
    Other,
}

pub(super) fn key(form: &mut Form, keymap: &Keymap, press: Press) -> Key {
    let action = keymap.at(Place::Form, press.key);
    if let (Some(field), Some(c)) = (form.focused(), press.key.typed()) {
        typed(field, c);
        return changed(form);
    }
    let page = isize::try_from(form.page.max(2) - 1).unwrap_or(1);
    match action {
        Some(Action::FieldNext) => form.step(true),
        Some(Action::FieldPrevious) => form.step(false),
        Some(Action::FormPageUp) => form.scroll_rows(-page),
        Some(Action::FormPageDown) => form.scroll_rows(page),
        Some(Action::FieldNewline) => return newline(form),
        Some(action) => return Key::Means(action),
        None => return other(form, press),
    }
    Key::Taken
}

/// The user works on the form: what was wrong with the whole may be mended.
fn changed(form: &mut Form) -> Key {
    form.fault = None;
    form.follow = true;
    Key::Taken
}

/// A character: written, or the option that it leads to.
fn typed(field: &mut Field, c: char) {
    let at = match &mut field.entry {
        Entry::Written(area) => {
            area.insert_char(c);
            field.touched = true;
            return;
        }
        Entry::Chosen { at, .. } => *at,
    };
    if c == ' ' {
        field.tick(at);
        return;
    }
    let begins = |label: &str| {
        let first = label.chars().next().map(|first| first.to_lowercase().to_string());
        first == Some(c.to_lowercase().to_string())
    };
    let labels = field.kind.options().iter().map(|(_, label)| label.as_str());
    let places: Vec<usize> =
        labels.enumerate().filter(|(_, label)| begins(label)).map(|(place, _)| place).collect();
    let next = places.iter().find(|place| **place > at).or_else(|| places.first()).copied();
    let (Some(next), Entry::Chosen { at, ticked }) = (next, &mut field.entry) else { return };
    *at = next;
    let chosen = ticked.get(next).copied().unwrap_or_default();
    // A letter names one of them; of several it only finds it.
    if matches!(field.kind, Kind::One(_)) && !chosen {
        field.tick(next);
    }
}

fn newline(form: &mut Form) -> Key {
    let Some(field) = form.focused() else { return Key::Taken };
    if let (Entry::Written(area), Kind::Text { .. } | Kind::Json(_)) =
        (&mut field.entry, &field.kind)
    {
        area.insert_newline();
        field.touched = true;
    }
    changed(form)
}

fn other(form: &mut Form, press: Press) -> Key {
    let at = form.at;
    let Some(field) = form.focused() else { return at_answers(form, press) };
    match press.key.code {
        KeyCode::Enter if press.key.modifiers.is_empty() => {
            form.go_to(at + 1);
            return Key::Taken;
        }
        KeyCode::Up | KeyCode::Down => {
            let down = press.key.code == KeyCode::Down;
            if !moved(field, down) {
                form.go_to(if down { at + 1 } else { at.saturating_sub(1) });
            }
            form.follow = true;
            return Key::Taken;
        }
        _ => {}
    }
    let Entry::Written(area) = &mut field.entry else {
        let sideways = matches!(press.key.code, KeyCode::Left | KeyCode::Right);
        if sideways {
            moved(field, press.key.code == KeyCode::Right);
        }
        return if sideways { Key::Taken } else { Key::Other };
    };
    let before = area.lines().to_vec();
    if !form::edit(area, press.key) {
        return Key::Other;
    }
    field.touched |= area.lines() != before;
    changed(form)
}

fn at_answers(form: &mut Form, press: Press) -> Key {
    match press.key.code {
        KeyCode::Up => form.go_to(form.at.saturating_sub(1)),
        // Enter is what one leaves fields with: it never answers.
        KeyCode::Enter | KeyCode::Down => {}
        _ => return Key::Other,
    }
    Key::Taken
}

/// Moves inside a field; false where its edge is reached.
fn moved(field: &mut Field, down: bool) -> bool {
    let options = field.kind.options().len();
    match &mut field.entry {
        Entry::Written(area) => {
            let before = area.cursor();
            area.move_cursor(if down {
                tui_textarea::CursorMove::Down
            } else {
                tui_textarea::CursorMove::Up
            });
            area.cursor() != before
        }
        Entry::Chosen { at, .. } => {
            let next = if down { at.checked_add(1) } else { at.checked_sub(1) };
            let next = next.filter(|next| *next < options);
            *at = next.unwrap_or(*at);
            next.is_some()
        }
    }
}
