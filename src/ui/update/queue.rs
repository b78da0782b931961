//! Messages that wait for the turn to end: looking at them, taking them back, dropping them.

use std::time::Instant;

use crate::bridge::Op;
use crate::ui::intent::Intent;
use crate::ui::state::UiState;
use crate::ui::state::page::Subject;

/// What the command takes.
const WORDS: &str = "write /queue, /queue edit 2, /queue drop 2 or /queue clear";

/// Takes the latest message that waits back into an empty draft. `None` if there is none, or the
/// draft is not empty.
pub(super) fn take_latest(state: &UiState) -> Option<Vec<Intent>> {
    let at = state.status.queued.len().checked_sub(1)?;
    let empty = state.input.text().is_empty();
    empty.then(|| take_back(state, at))
}

fn take_back(state: &UiState, at: usize) -> Vec<Intent> {
    let text = state.status.queued.get(at).cloned();
    text.map(|text| Intent::Send(Op::TakeBack { at, text })).into_iter().collect()
}

/// `/queue [edit N | drop N | clear]`
pub(super) fn command(
    state: &mut UiState,
    argument: &str,
    now: Instant,
) -> Result<Vec<Intent>, String> {
    let (verb, number) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let waiting = state.status.queued.len();
    if waiting == 0 {
        state.say("no message waits", now);
        return Ok(Vec::new());
    }
    let place = || match number.trim().parse::<usize>() {
        Ok(number) if (1..=waiting).contains(&number) => Ok(number - 1),
        _ if waiting == 1 && number.trim().is_empty() => Ok(0),
        _ => Err(format!("which of the {waiting} messages that wait? {WORDS}")),
    };
    match verb {
        "" => {
            super::global::open(state, Subject::Queue);
            Ok(Vec::new())
        }
        "edit" => Ok(take_back(state, place()?)),
        "drop" => {
            let at = place()?;
            state.status.dropping.extend(state.status.queued.get(at).cloned());
            Ok(take_back(state, at))
        }
        "clear" => {
            state.status.dropping.extend(state.status.queued.iter().cloned());
            // From the last one on, so that the others keep their places.
            Ok((0..waiting).rev().flat_map(|at| take_back(state, at)).collect())
        }
        _ => Err(WORDS.to_owned()),
    }
}

/// Messages are the user's again: those to be dropped are gone, the others stand before the draft.
pub(super) fn taken_back(state: &mut UiState, texts: &[String], now: Instant) {
    let mut kept: Vec<&str> = Vec::new();
    let mut dropped = 0;
    for text in texts {
        match state.status.dropping.iter().position(|dropping| dropping == text) {
            Some(at) => {
                state.status.dropping.remove(at);
                state.input.remember(text);
                dropped += 1;
            }
            None => kept.push(text),
        }
    }
    if dropped > 0 {
        state.say("dropped; ↑ brings it back", now);
    }
    if kept.is_empty() {
        return;
    }
    let said = match kept.len() {
        1 => "the message that waited is back in your draft".to_owned(),
        many => format!("the {many} messages that waited are back in your draft"),
    };
    state.input.put_before(&kept.join("\n\n"));
    state.say(said, now);
}

#[cfg(test)]
mod tests;
