//! Keys in the list of models, and the change to another one.

use crossterm::event::KeyCode;

use super::{Press, global};
use crate::bridge::Op;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::models::Models;
use crate::ui::state::{Overlay, UiState};

/// Opens the list and asks for it.
pub(super) fn open(state: &mut UiState) -> Vec<Intent> {
    state.overlay = Some(Overlay::Models(Models::new(&state.options.model)));
    vec![Intent::Send(Op::ListModels)]
}

/// Lets this model answer.
pub(super) fn switch(name: &str) -> Vec<Intent> {
    vec![Intent::Send(Op::SwitchModel { name: name.to_owned() })]
}

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Models(models)) = &mut state.overlay else { return Vec::new() };
    match keymap.at(Place::List, press.key) {
        Some(Action::ListUp) => models.go(-1),
        Some(Action::ListDown) => models.go(1),
        Some(Action::ListClose) => global::close(state, press.at),
        Some(Action::ListRun) if !press.repeat => {
            let Some(name) = models.chosen() else { return Vec::new() };
            global::close(state, press.at);
            return switch(&name);
        }
        _ => match (press.key.code, press.key.typed()) {
            (KeyCode::Backspace, _) => models.typed(|filter| {
                filter.pop();
            }),
            (_, Some(c)) => models.typed(|filter| filter.push(c)),
            _ => {}
        },
    }
    Vec::new()
}
