//! Going on with other conversations: the list of sessions, the fork, and what the runtime says of
//! them.

use std::time::Instant;

use super::{Press, global};
use crate::bridge::{Notice, Op};
use crate::domain::SessionSummary;
use crate::ui::conversation::Move;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::pick::{Chosen, Kind, Picker, Step};
use crate::ui::state::{Focus, Overlay, UiState};

/// Opens the list of sessions, or goes on with the one that is named.
pub(super) fn resume(state: &mut UiState, id: &str) -> Vec<Intent> {
    if !id.is_empty() {
        return vec![Intent::Send(Op::Resume { id: id.to_owned() })];
    }
    state.overlay = Some(Overlay::Pick(Picker::awaited()));
    vec![Intent::Send(Op::ListSessions)]
}

/// Opens the list of messages to fork before; one that is selected or named is taken at once.
pub(super) fn fork(state: &mut UiState, number: &str) -> Result<Vec<Intent>, String> {
    let sent = state.conversation.user_messages().count();
    let named = match number.trim_start_matches('#') {
        "" => state.conversation.selected_message(),
        number => Some(number.parse().map_err(|_no_number| {
            "which message? write its number, such as /fork 2, or /fork alone".to_owned()
        })?),
    };
    match named {
        Some(before) if (1..=sent).contains(&before) => Ok(leave(before)),
        Some(_) => Err(format!("this conversation has {sent} messages of yours")),
        None if sent == 0 => Err("nothing was sent in this conversation yet".to_owned()),
        None => {
            let picker = Picker::messages(state.conversation.user_messages());
            state.overlay = Some(Overlay::Pick(picker));
            Ok(Vec::new())
        }
    }
}

fn leave(before: usize) -> Vec<Intent> {
    vec![Intent::Send(Op::Fork { before })]
}

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let Some(Overlay::Pick(picker)) = &mut state.overlay else { return Vec::new() };
    let palette = keymap.at(Place::Global, press.key) == Some(Action::Palette);
    match picker.key(keymap, press.key, press.repeat) {
        Step::Stay if palette => global::close(state, press.at),
        Step::Stay => {}
        Step::Close => global::close(state, press.at),
        Step::Chosen(chosen) => {
            global::close(state, press.at);
            return match chosen {
                Chosen::Session(id) => vec![Intent::Send(Op::Resume { id: id.to_string() })],
                Chosen::Message(before) => leave(before),
            };
        }
    }
    Vec::new()
}

/// The list that was asked for. The conversation that is open is not offered.
pub(super) fn listed(state: &mut UiState, found: &Result<Vec<SessionSummary>, String>) {
    let Some(Overlay::Pick(picker)) = &mut state.overlay else { return };
    if picker.kind != Kind::Sessions {
        return;
    }
    match found {
        Ok(found) => {
            let other = |summary: &&SessionSummary| {
                Some(&summary.path) != state.transcript.as_ref() && summary.turns > 0
            };
            let others: Vec<SessionSummary> = found.iter().filter(other).cloned().collect();
            picker.arrived(Ok(&others));
        }
        Err(reason) => picker.arrived(Err(reason)),
    }
}

/// Nothing came of what was asked for; a list that waits would wait for ever.
pub(super) fn refused(state: &mut UiState) {
    if let Some(Overlay::Pick(picker)) = &state.overlay
        && picker.kind == Kind::Sessions
        && picker.counts().1 == 0
    {
        state.overlay = None;
    }
}

/// Shows the conversation that is gone on with. A message to be sent anew becomes the draft; what
/// was being written stays in the history of the input.
pub(super) fn resumed(
    state: &mut UiState,
    history: &[Notice],
    remarks: &[String],
    draft: Option<String>,
    now: Instant,
) {
    state.conversation.replay(history, now);
    for notice in history {
        if let Notice::TurnStarted { text, .. } = notice {
            state.input.remember(text);
        }
    }
    for remark in remarks {
        state.conversation.note(crate::text::line(remark).as_str());
    }
    let Some(draft) = draft else {
        state.conversation.note("Resumed: what follows is new.");
        state.conversation.go(Move::Bottom);
        return;
    };
    state.conversation.note(
        "A copy of the conversation up to here; the other one stays as it is. Your message is below, to be changed and sent.",
    );
    state.conversation.go(Move::Bottom);
    if !state.input.is_blank() {
        state.input.take();
        state.say("what you were writing is kept: ↑ brings it back", now);
    }
    state.input.replace(crate::text::block(&draft).as_str());
    // A message that begins with a slash is no command here until it is changed.
    state.input.completion_closed = true;
    state.focus = Focus::Input;
}
