//! Keys in the command palette.

use crossterm::event::KeyCode;

use super::{Press, command, global};
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::palette::Run;
use crate::ui::state::{Focus, Overlay, UiState};

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Palette(palette)) = &mut state.overlay else { return Vec::new() };
    match keymap.at(Place::List, press.key) {
        Some(Action::ListUp) => palette.go(-1),
        Some(Action::ListDown) => palette.go(1),
        Some(Action::ListClose) => global::close(state, press.at),
        Some(Action::ListRun) if !press.repeat => return run(state, keymap, press),
        _ => match (press.key.code, press.key.typed()) {
            (KeyCode::Backspace, _) => {
                palette.filter.pop();
                palette.selected = 0;
            }
            (_, Some(c)) => {
                palette.filter.push(c);
                palette.selected = 0;
            }
            _ if keymap.at(Place::Global, press.key) == Some(Action::Palette) => {
                global::close(state, press.at);
            }
            _ => {}
        },
    }
    Vec::new()
}

fn run(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Palette(palette)) = &state.overlay else { return Vec::new() };
    let Some(entry) = palette.chosen() else { return Vec::new() };
    global::close(state, press.at);
    match entry.run {
        Run::Action(action) => global::act(state, keymap, action, press.at),
        // What may follow may also be left out.
        Run::Command(command)
            if command.argument.is_empty() || matches!(command.name, "resume" | "fork") =>
        {
            command::carry_out(state, command, "", press.at).unwrap_or_else(|fault| {
                state.say(fault, press.at);
                Vec::new()
            })
        }
        Run::Command(command) => {
            state.focus = Focus::Input;
            // What is being written stays in the history.
            state.input.take();
            state.input.replace(&format!("/{} ", command.name));
            Vec::new()
        }
    }
}
