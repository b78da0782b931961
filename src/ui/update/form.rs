//! Editing keys that every editor shares, and the form for calling a tool.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use serde_json::{Map, Value};
use tui_textarea::{CursorMove, TextArea};

use super::{Press, approval, global};
use crate::bridge::Op;
use crate::domain::ToolId;
use crate::schema;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Key, Keymap, Place};
use crate::ui::state::input::editor;
use crate::ui::state::page::CallForm;
use crate::ui::state::{Overlay, UiState};

/// Types or edits. Returns whether the key meant something.
pub(super) fn edit(area: &mut TextArea<'static>, key: Key) -> bool {
    if let Some(c) = key.typed() {
        area.insert_char(c);
        return true;
    }
    let control = key.modifiers == KeyModifiers::CONTROL;
    let alt = key.modifiers == KeyModifiers::ALT;
    match key.code {
        KeyCode::Backspace if control || alt => drop(area.delete_word()),
        KeyCode::Backspace => drop(area.delete_char()),
        KeyCode::Delete if control || alt => drop(area.delete_next_word()),
        KeyCode::Delete => drop(area.delete_next_char()),
        KeyCode::Left if control || alt => area.move_cursor(CursorMove::WordBack),
        KeyCode::Left => area.move_cursor(CursorMove::Back),
        KeyCode::Right if control || alt => area.move_cursor(CursorMove::WordForward),
        KeyCode::Right => area.move_cursor(CursorMove::Forward),
        KeyCode::Up => area.move_cursor(CursorMove::Up),
        KeyCode::Down => area.move_cursor(CursorMove::Down),
        KeyCode::Home => area.move_cursor(CursorMove::Head),
        KeyCode::End => area.move_cursor(CursorMove::End),
        KeyCode::Char(c) if control => return edit_control(area, c),
        KeyCode::Char('b') if alt => area.move_cursor(CursorMove::WordBack),
        KeyCode::Char('f') if alt => area.move_cursor(CursorMove::WordForward),
        KeyCode::Char('d') if alt => drop(area.delete_next_word()),
        _ => return false,
    }
    true
}

fn edit_control(area: &mut TextArea<'static>, c: char) -> bool {
    match c {
        'a' => area.move_cursor(CursorMove::Head),
        'e' => area.move_cursor(CursorMove::End),
        'f' => area.move_cursor(CursorMove::Forward),
        'h' => drop(area.delete_char()),
        'd' => drop(area.delete_next_char()),
        'k' => drop(area.delete_line_by_end()),
        'u' => drop(area.delete_line_by_head()),
        'w' => drop(area.delete_word()),
        'v' => drop(area.paste()),
        '_' | '7' | '/' => drop(area.undo()),
        _ => return false,
    }
    true
}

/// Opens the form for a tool, with its required parameters to be filled in.
pub(super) fn open(state: &mut UiState, tool: ToolId) {
    let Some(known) = state.catalog.tool(&tool) else { return };
    let fields = schema::form::fields(&known.definition.input_schema);
    let template: Map<String, Value> = fields
        .into_iter()
        .filter(|field| field.required)
        .map(|field| (field.name, field.default.unwrap_or(Value::Null)))
        .collect();
    let text = crate::ui::state::approval::editable(&template);
    let mut area = editor(&text);
    area.move_cursor(CursorMove::Top);
    state.overlay = Some(Overlay::CallTool(CallForm { tool, area: Box::new(area), fault: None }));
}

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::CallTool(form)) = &mut state.overlay else { return Vec::new() };
    match keymap.at(Place::Editor, press.key) {
        Some(Action::Apply) => match approval::read(&form.area.lines().join("\n")) {
            Ok(arguments) => {
                let tool = form.tool.clone();
                global::close(state, press.at);
                state.focus = crate::ui::state::Focus::Input;
                let arguments = Arc::new(arguments);
                // Not consent: the call passes the same permissions as one of the model.
                return vec![Intent::Send(Op::CallDirect { tool, arguments, consent: false })];
            }
            Err(message) => form.fault = Some(message),
        },
        Some(Action::Discard) => global::close(state, press.at),
        _ if press.key.code == KeyCode::Enter => form.area.insert_newline(),
        _ => {
            edit(&mut form.area, press.key);
        }
    }
    Vec::new()
}
