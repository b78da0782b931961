//! Answering a server's question. Reached only once the box is armed.
//!
//! Agreeing takes a key of its own: Enter, Space and pasted text never do it, and a held key never
//! answers. A page is opened only together with that answer.

use std::sync::Arc;

use super::fill::{self, Key};
use super::{Press, global};
use crate::bridge::Op;
use crate::domain::{Elicitation, ElicitationKind, ElicitationReply};
use crate::schema;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::UiState;
use crate::ui::state::approval::{Mode, PendingId};

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let means = match &mut state.decisions.mode {
        Mode::Fill(form) => match fill::key(form, keymap, press) {
            Key::Taken => return Vec::new(),
            Key::Means(action) => Some(action),
            Key::Other => None,
        },
        _ => keymap.at(Place::Form, press.key),
    };
    let Some(action) = means else { return other(state, keymap, press) };
    if press.repeat {
        return Vec::new();
    }
    match action {
        Action::FormSend => agree(state, false),
        Action::FieldOut => out(state),
        _ => answer(state, action),
    }
}

/// What the box has no use for may scroll it, or mean something everywhere.
fn other(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let scroll = keymap.at(Place::Dialog, press.key);
    if scroll.is_some_and(|action| super::approval::scrolled(state, action)) {
        return Vec::new();
    }
    let global = keymap.at(Place::Global, press.key);
    global.map_or_else(Vec::new, |action| global::act(state, keymap, action, press.at))
}

/// One step out: from the fields to the answers, from there to later.
fn out(state: &mut UiState) -> Vec<Intent> {
    match &mut state.decisions.mode {
        Mode::Fill(form) if !form.at_answers() => form.go_to(form.fields.len()),
        _ => state.decisions.minimised = true,
    }
    Vec::new()
}

fn answer(state: &mut UiState, action: Action) -> Vec<Intent> {
    match action {
        Action::FormAccept => return agree(state, false),
        Action::FormCopy => return agree(state, true),
        Action::FormDecline => return reply(state, ElicitationReply::Decline),
        Action::FormCancel => return reply(state, ElicitationReply::Cancel),
        Action::FormLater => state.decisions.minimised = true,
        Action::FormPageUp => drop(super::approval::scrolled(state, Action::DialogPageUp)),
        Action::FormPageDown => drop(super::approval::scrolled(state, Action::DialogPageDown)),
        _ => {}
    }
    Vec::new()
}

fn reply(state: &mut UiState, reply: ElicitationReply) -> Vec<Intent> {
    let Some(asked) = state.decisions.elicitation() else { return Vec::new() };
    let elicitation = asked.id;
    state.decisions.remove(PendingId::Elicitation(elicitation));
    vec![Intent::Send(Op::Reply { elicitation, reply })]
}

/// Sends the form, or opens the page (or copies its address). What cannot be is not agreed to.
fn agree(state: &mut UiState, copy: bool) -> Vec<Intent> {
    let Some(asked) = state.decisions.elicitation().cloned() else { return Vec::new() };
    match &asked.kind {
        ElicitationKind::Form { .. } if copy => Vec::new(),
        ElicitationKind::Form { .. } => send(state, &asked),
        // I7: nothing is agreed to before all of the address was on the screen.
        ElicitationKind::Url { url, .. } if !is_page(url) || state.decisions.unseen > 0 => {
            Vec::new()
        }
        ElicitationKind::Url { url, .. } => {
            let url = url.clone();
            let mut intents = reply(state, ElicitationReply::Accept(None));
            intents.push(if copy { Intent::Copy { text: url } } else { Intent::OpenUrl { url } });
            intents
        }
    }
}

/// Whether an address may be opened at all (I7): no other scheme, and nothing that is not shown as
/// it is.
pub(crate) fn is_page(url: &str) -> bool {
    let parsed = url::Url::parse(url);
    parsed.is_ok_and(|parsed| matches!(parsed.scheme(), "http" | "https") && parsed.has_host())
        && !url.contains(|c: char| c.is_control() || c.is_whitespace())
}

fn send(state: &mut UiState, asked: &Elicitation) -> Vec<Intent> {
    let ElicitationKind::Form { schema, fault: None, .. } = &asked.kind else { return Vec::new() };
    let Mode::Fill(form) = &mut state.decisions.mode else { return Vec::new() };
    let Some(content) = form.content() else { return Vec::new() };
    // I4: checked before it is sent.
    if let Err(fault) = schema::check::check(schema, &content) {
        form.fault = Some(fault);
        return Vec::new();
    }
    reply(state, ElicitationReply::Accept(Some(Arc::new(content))))
}
