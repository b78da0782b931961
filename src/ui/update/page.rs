//! Keys on a page: scrolling, closing, and what can be done with the thing it is about.

use super::{Press, form, global};
use crate::bridge::Op;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::page::{Page, Subject};
use crate::ui::state::{Overlay, UiState};

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Page(page)) = &mut state.overlay else { return Vec::new() };
    let height = isize::try_from(page.height.max(2) - 1).unwrap_or(1);
    match keymap.at(Place::Page, press.key) {
        Some(Action::PageUp) => page.go(-1),
        Some(Action::PageDown) => page.go(1),
        Some(Action::PageBack) => page.go(-height),
        Some(Action::PageForward) => page.go(height),
        Some(Action::PageTop) => page.scroll = 0,
        Some(Action::PageBottom) => page.go(isize::MAX),
        Some(Action::AcceptPin) => return accept(page),
        Some(Action::PageClose) => global::close(state, press.at),
        _ => return other(state, keymap, press),
    }
    Vec::new()
}

/// Accepts the definition that the page shows, and no other that came since; goes on to what of the
/// change has not been on the screen yet, if there is something.
fn accept(page: &mut Page) -> Vec<Intent> {
    match (&page.subject, &page.changed) {
        (Subject::Tool(tool), Some((pin, rows))) if page.seen >= *rows => {
            vec![Intent::Send(Op::AcceptPin { tool: tool.clone(), pin: pin.clone() })]
        }
        (Subject::Tool(_), Some(_)) => {
            page.scroll = page.seen.saturating_sub(1);
            page.go(0);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Keys of the side panel work on the page of what was selected there; a page's own key closes it.
fn other(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Page(page)) = &state.overlay else { return Vec::new() };
    let subject = page.subject.clone();
    match (keymap.at(Place::Panel, press.key), subject) {
        (Some(Action::CallTool), Subject::Tool(tool)) => {
            form::open(state, tool);
            Vec::new()
        }
        (Some(Action::Reconnect), Subject::Server(server)) => {
            vec![Intent::Send(Op::Reconnect { server: Some(server) })]
        }
        (_, subject) => match (keymap.at(Place::Global, press.key), subject) {
            (Some(Action::Help), Subject::Help(_))
            | (Some(Action::Warnings), Subject::Warnings) => {
                global::close(state, press.at);
                Vec::new()
            }
            (Some(action @ (Action::Help | Action::Warnings | Action::Palette)), _) => {
                global::act(state, keymap, action, press.at)
            }
            _ => Vec::new(),
        },
    }
}
