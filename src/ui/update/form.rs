//! Editing keys that every editor shares, and the form for calling a tool.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use serde_json::Value;
use tui_textarea::{CursorMove, TextArea};

use super::{Press, approval, fill, global};
use crate::bridge::Op;
use crate::domain::ToolId;
use crate::schema;
use crate::schema::form::entry;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Key, Keymap, Place};
use crate::ui::state::approval::editable;
use crate::ui::state::form::{Field, Form, Kind};
use crate::ui::state::input::editor;
use crate::ui::state::page::{Body, CallForm};
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

/// Opens the form for a tool: its parameters as fields, or as JSON where none of them is flat.
pub(super) fn open(state: &mut UiState, tool: ToolId) {
    let Some(known) = state.catalog.tool(&tool) else { return };
    let schema = &known.definition.input_schema;
    let form = Form::of_tool(entry::parameters(schema));
    let nested = |field: &Field| matches!(field.kind, Kind::Json(_));
    let open_ended = form.fields.is_empty() && takes_anything(schema);
    let as_json = open_ended || (!form.fields.is_empty() && form.fields.iter().all(nested));
    let body = if as_json { as_text(&form) } else { Body::Fields(form) };
    state.overlay = Some(Overlay::CallTool(CallForm { tool, body }));
}

fn takes_anything(schema: &Value) -> bool {
    schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false))
}

/// The values of a form as JSON, with what is required and missing to be filled in.
fn as_text(form: &Form) -> Body {
    let mut values = form.sound();
    for field in form.fields.iter().filter(|field| field.required) {
        values.entry(field.name.clone()).or_insert(Value::Null);
    }
    let mut area = editor(&editable(&values));
    area.move_cursor(CursorMove::Top);
    Body::Json { area: Box::new(area), fault: None }
}

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::CallTool(form)) = &mut state.overlay else { return Vec::new() };
    let means = match &mut form.body {
        Body::Fields(fields) => match fill::key(fields, keymap, press) {
            fill::Key::Means(action) => Some(action),
            fill::Key::Taken | fill::Key::Other => None,
        },
        Body::Json { area, .. } => json(area, keymap, press),
    };
    match means {
        Some(Action::FormSend) if !press.repeat => call(state, press),
        Some(Action::FormJson) if !press.repeat => {
            switch(state);
            Vec::new()
        }
        Some(Action::FieldOut) => {
            global::close(state, press.at);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn json(area: &mut TextArea<'static>, keymap: &Keymap, press: Press) -> Option<Action> {
    let action = keymap.at(Place::Form, press.key);
    if matches!(action, Some(Action::FormSend | Action::FormJson | Action::FieldOut)) {
        return action;
    }
    if press.key.code == KeyCode::Enter {
        area.insert_newline();
    } else {
        edit(area, press.key);
    }
    None
}

/// From fields to JSON and back. What the fields cannot hold stays JSON, and is said.
fn switch(state: &mut UiState) {
    let Some(Overlay::CallTool(form)) = &mut state.overlay else { return };
    match &mut form.body {
        Body::Fields(fields) => form.body = as_text(fields),
        Body::Json { area, fault } => {
            let Some(known) = state.catalog.tool(&form.tool) else { return };
            let mut fields = Form::of_tool(entry::parameters(&known.definition.input_schema));
            let read = approval::read(&area.lines().join("\n"));
            let filled = read.and_then(|mut values| {
                // What the JSON began with: not filled in yet.
                values.retain(|_, value| !value.is_null());
                fields.fill(&values)
            });
            match filled {
                Ok(()) => form.body = Body::Fields(fields),
                Err(message) => *fault = Some(message),
            }
        }
    }
}

fn call(state: &mut UiState, press: Press) -> Vec<Intent> {
    let Some(Overlay::CallTool(form)) = &mut state.overlay else { return Vec::new() };
    let schema = state.catalog.tool(&form.tool).map(|tool| &tool.definition.input_schema);
    let arguments = match &mut form.body {
        Body::Fields(fields) => {
            let Some(content) = fields.content() else { return Vec::new() };
            let checked = schema.map_or(Ok(()), |schema| schema::check::check(schema, &content));
            fields.fault = checked.err();
            fields.fault.is_none().then_some(content)
        }
        Body::Json { area, fault } => match approval::read(&area.lines().join("\n")) {
            Ok(arguments) => Some(arguments),
            Err(message) => {
                *fault = Some(message);
                None
            }
        },
    };
    let Some(arguments) = arguments else { return Vec::new() };
    let (tool, arguments) = (form.tool.clone(), Arc::new(arguments));
    global::close(state, press.at);
    state.focus = crate::ui::state::Focus::Input;
    // Not consent: the call passes the same permissions as one of the model.
    vec![Intent::Send(Op::CallDirect { tool, arguments, consent: false })]
}
