//! Keys in the side panel: typing filters, the rest moves, opens and switches.

use crossterm::event::KeyCode;

use super::{Press, form, global};
use crate::bridge::{Op, Target};
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::UiState;
use crate::ui::state::page::Subject;

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(action) = keymap.at(Place::Panel, press.key) else {
        return other(state, keymap, press);
    };
    let page = isize::try_from(state.panel.height.max(2) - 1).unwrap_or(1);
    match action {
        Action::PanelUp => state.panel.go(-1),
        Action::PanelDown => state.panel.go(1),
        Action::PanelPageUp => state.panel.go(-page),
        Action::PanelPageDown => state.panel.go(page),
        Action::PanelTop => state.panel.go(isize::MIN + 1),
        Action::PanelBottom => state.panel.go(isize::MAX),
        Action::Details => details(state),
        Action::Toggle if !press.repeat => return toggle(state),
        Action::Collapse => fold(state, true),
        Action::Expand => fold(state, false),
        Action::Reconnect => return reconnect(state, press),
        Action::CallTool => {
            if let Some(Target::Tool(tool)) = state.panel.target(&state.catalog) {
                form::open(state, tool);
            }
        }
        Action::PanelLeave => leave(state),
        Action::PanelInput => global::leave_panel(state),
        _ => {}
    }
    Vec::new()
}

fn other(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    if let Some(action) = keymap.at(Place::Global, press.key) {
        return global::act(state, keymap, action, press.at);
    }
    match (press.key.code, press.key.typed()) {
        (KeyCode::Backspace, _) => drop(state.panel.filter.pop()),
        // A slash only says that a filter follows.
        (_, Some('/')) if state.panel.filter.is_empty() => return Vec::new(),
        (_, Some(c)) => state.panel.filter.push(c),
        _ => return Vec::new(),
    }
    state.panel.refresh(&state.catalog);
    state.panel.prefer_tool();
    Vec::new()
}

fn details(state: &mut UiState) {
    let subject = match state.panel.target(&state.catalog) {
        Some(Target::Server(server)) => Subject::Server(server),
        Some(Target::Tool(tool)) => Subject::Tool(tool),
        None => return,
    };
    global::open(state, subject);
}

/// Switches what is selected; by the state it is in now.
fn toggle(state: &mut UiState) -> Vec<Intent> {
    let Some(target) = state.panel.target(&state.catalog) else { return Vec::new() };
    let on = match &target {
        Target::Server(name) => state.catalog.server(name).is_some_and(|server| {
            matches!(server.state, crate::domain::ServerState::Disabled { .. })
        }),
        Target::Tool(id) => state.catalog.tool(id).is_some_and(|tool| tool.disabled),
    };
    vec![Intent::Send(Op::SetEnabled { target, on })]
}

fn fold(state: &mut UiState, folded: bool) {
    let Some(server) = state.panel.server(&state.catalog) else { return };
    let name = server.name.clone();
    if folded {
        state.panel.folded.insert(name);
    } else {
        state.panel.folded.remove(&name);
    }
    let here = state.panel.server(&state.catalog).map(|server| server.name.clone());
    state.panel.refresh(&state.catalog);
    if let Some(name) = here {
        state.panel.select_server(&name, &state.catalog, folded);
    }
}

fn reconnect(state: &mut UiState, press: Press) -> Vec<Intent> {
    let Some(server) = state.panel.server(&state.catalog) else { return Vec::new() };
    let name = server.name.clone();
    state.say(format!("reconnecting {}", crate::text::strict_line(name.as_str())), press.at);
    vec![Intent::Send(Op::Reconnect { server: Some(name) })]
}

/// One step out: the filter, then the focus, then an overlaid panel itself.
fn leave(state: &mut UiState) {
    if !state.panel.filter.is_empty() {
        state.panel.filter.clear();
        state.panel.refresh(&state.catalog);
        return;
    }
    global::leave_panel(state);
}
