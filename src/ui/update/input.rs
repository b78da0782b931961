//! Keys in the draft: typing, sending, history, completion of commands.

use crossterm::event::KeyCode;

use super::{Press, command, form, global, queue};
use crate::bridge::Op;
use crate::ui::conversation::Move;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap, Place};
use crate::ui::state::input::Search;
use crate::ui::state::{Focus, UiState};

pub(super) fn key(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    if state.input.search.is_some() {
        return search(state, keymap, press);
    }
    let action = keymap.at(Place::Input, press.key).or_else(|| keymap.at(Place::Global, press.key));
    let Some(action) = action else {
        if form::edit(&mut state.input.area, press.key) {
            state.input.completion = 0;
            state.input.completion_closed = false;
        }
        return Vec::new();
    };
    match action {
        Action::Send if press.repeat => Vec::new(),
        Action::Send => send(state, press),
        Action::Newline => {
            state.input.area.insert_newline();
            Vec::new()
        }
        Action::HistoryPrevious | Action::HistoryNext => vertical(state, action, press),
        Action::Complete => complete(state, press),
        Action::Leave => {
            leave(state);
            Vec::new()
        }
        Action::QuitWhenEmpty => quit_when_empty(state, press),
        other => global::act(state, keymap, other, press.at),
    }
}

/// Up and down: the chosen completion, else what waits to be sent, else the cursor, else the history.
fn vertical(state: &mut UiState, action: Action, press: Press) -> Vec<Intent> {
    let choices = command::completions(&state.input).len();
    let up = action == Action::HistoryPrevious;
    if choices > 0 {
        let at = state.input.completion.min(choices - 1);
        let step = if up { choices - 1 } else { 1 };
        state.input.completion = (at + step) % choices;
        return Vec::new();
    }
    if up && let Some(intents) = queue::take_latest(state) {
        return intents;
    }
    let moved = if up { state.input.older() } else { state.input.newer() };
    if !moved {
        form::edit(&mut state.input.area, press.key);
    }
    Vec::new()
}

fn complete(state: &mut UiState, press: Press) -> Vec<Intent> {
    let choices = command::completions(&state.input);
    if let Some(chosen) = choices.get(state.input.completion).or_else(|| choices.first()) {
        state.input.replace(&format!("/{} ", chosen.name));
    } else if state.decisions.visible() {
        state.decisions.restore(press.at);
    } else if !state.drawn.panel.is_empty() {
        state.focus = Focus::Panel;
    }
    Vec::new()
}

fn leave(state: &mut UiState) {
    if command::completions(&state.input).is_empty() {
        state.conversation.go(Move::Unselect);
    } else {
        state.input.completion_closed = true;
    }
}

fn quit_when_empty(state: &mut UiState, press: Press) -> Vec<Intent> {
    if !state.input.text().is_empty() {
        state.input.area.delete_next_char();
        return Vec::new();
    }
    if state.status.turn.is_some() {
        state.say("a turn is running: Ctrl-C cancels it", press.at);
        return Vec::new();
    }
    vec![Intent::Exit]
}

fn send(state: &mut UiState, press: Press) -> Vec<Intent> {
    if state.input.is_blank() {
        return Vec::new();
    }
    let choices = command::completions(&state.input);
    let chosen = choices.get(state.input.completion).or_else(|| choices.first()).copied();
    let written = state.input.text();
    let named = |chosen: &&command::Command| {
        let word = written.trim_start_matches('/');
        chosen.name == word || chosen.aliases.contains(&word)
    };
    if let Some(chosen) = chosen.filter(|chosen| !named(chosen)) {
        state.input.replace(&format!("/{} ", chosen.name));
        if !chosen.argument.is_empty() {
            return Vec::new();
        }
    }
    if state.input.text().starts_with('/') {
        return command::run(state, press.at);
    }
    let text = state.input.take();
    state.conversation.go(Move::Bottom);
    if !state.catalog.settled() {
        state.say("servers still connect: their tools come with a later message", press.at);
    }
    vec![Intent::Send(Op::Submit { text })]
}

fn search(state: &mut UiState, keymap: &Keymap, press: Press) -> Vec<Intent> {
    let again = keymap.at(Place::Input, press.key) == Some(Action::HistorySearch);
    let found = state.input.found().map(str::to_owned);
    let Some(search) = &mut state.input.search else { return Vec::new() };
    match (press.key.code, press.key.typed()) {
        _ if again => search.skip += usize::from(found.is_some()),
        (KeyCode::Esc, _) => state.input.search = None,
        (KeyCode::Enter | KeyCode::Tab, _) => {
            state.input.search = None;
            if let Some(text) = found {
                state.input.replace(&text);
                state.input.completion_closed = true;
            }
        }
        (KeyCode::Backspace, _) => {
            let mut query = std::mem::take(&mut search.query);
            query.pop();
            *search = Search { query, skip: 0 };
        }
        (_, Some(c)) => {
            search.query.push(c);
            search.skip = 0;
        }
        _ => {}
    }
    Vec::new()
}
