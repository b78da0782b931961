//! What works everywhere: Ctrl-C and its order, pages, scrolling, copying.

use std::time::Instant;

use crate::bridge::Op;
use crate::domain::{Answer, ElicitationReply};
use crate::ui::conversation::Move;
use crate::ui::intent::Intent;
use crate::ui::keymap::{Action, Keymap};
use crate::ui::state::page::{Page, Subject};
use crate::ui::state::palette::Palette;
use crate::ui::state::{Focus, Lent, Overlay, QUIT_WINDOW, UiState};

/// Ctrl-C: cancels what runs; else clears the draft; else asks once, and quits the second time.
pub(super) fn interrupt(state: &mut UiState, now: Instant) -> Vec<Intent> {
    let waiting = state.decisions.waiting() > 0;
    let running = state.status.turn.as_ref().is_some_and(|turn| !turn.cancelling);
    if running || waiting {
        return cancel(state, now);
    }
    state.overlay = None;
    if state.input.search.take().is_some() {
        return Vec::new();
    }
    if !state.input.is_blank() {
        state.input.take();
        state.say("draft cleared; ↑ brings it back", now);
        return Vec::new();
    }
    if state.quit_until.is_some() {
        return vec![Intent::Exit];
    }
    state.quit_until = Some(now + QUIT_WINDOW);
    Vec::new()
}

/// Cancels the turn; pending approvals are denied with it.
fn cancel(state: &mut UiState, now: Instant) -> Vec<Intent> {
    let mut intents = vec![Intent::Send(Op::Interrupt)];
    // A call that the user made directly belongs to no turn: nothing else would deny it.
    intents.extend(state.decisions.direct_calls().into_iter().map(|call| {
        Intent::Send(Op::Answer { call, answer: Answer::Deny { note: String::new() } })
    }));
    intents.extend(cancel_elicitations(state));
    state.decisions.clear();
    if let Some(turn) = &mut state.status.turn {
        turn.cancelling = true;
    }
    state.waiting_prompt = None;
    state.say("cancelled", now);
    intents
}

/// Dismisses every question of a server. One that is closed already ignores it.
pub(super) fn cancel_elicitations(state: &UiState) -> Vec<Intent> {
    let asked = state.decisions.elicitations().into_iter();
    asked
        .map(|elicitation| Intent::Send(Op::Reply { elicitation, reply: ElicitationReply::Cancel }))
        .collect()
}

/// Opens a page over the screen.
pub(super) fn open(state: &mut UiState, subject: Subject) {
    state.overlay = Some(Overlay::Page(Page::new(subject)));
}

/// Closes what stands over the screen. Keys meant for it must not decide anything.
pub(super) fn close(state: &mut UiState, now: Instant) {
    state.overlay = None;
    state.decisions.arming.disturb(now);
}

/// Shows or hides the side panel. Where there is room it is there without being asked for.
pub(super) fn show_panel(state: &mut UiState, show: bool) {
    state.panel.wanted = Some(show).filter(|show| *show != state.drawn.wide);
    state.focus = if show { Focus::Panel } else { Focus::Input };
}

/// From the side panel to the draft; a panel that lies over it goes away.
pub(super) fn leave_panel(state: &mut UiState) {
    if state.drawn.panel_over {
        state.panel.wanted = None;
    }
    state.focus = Focus::Input;
}

/// Does what an action says. Actions of other places do nothing here.
pub(super) fn act(
    state: &mut UiState,
    keymap: &Keymap,
    action: Action,
    now: Instant,
) -> Vec<Intent> {
    match action {
        Action::Help => open(state, Subject::Help(state.place())),
        Action::Warnings => open(state, Subject::Warnings),
        Action::Palette => state.overlay = Some(Overlay::Palette(Palette::new(keymap))),
        Action::TogglePanel => {
            let show = state.drawn.panel.is_empty();
            show_panel(state, show);
        }
        Action::FocusPanel if state.focus == Focus::Panel => leave_panel(state),
        Action::FocusPanel => show_panel(state, true),
        Action::Decision if state.decisions.waiting() > 0 => {
            leave_panel(state);
            state.decisions.restore(now);
        }
        Action::Decision => state.say("no decision waits", now),
        Action::ScrollUp => state.conversation.go(Move::Pages(-1)),
        Action::ScrollDown => state.conversation.go(Move::Pages(1)),
        Action::ScrollTop => state.conversation.go(Move::Top),
        Action::ScrollBottom => state.conversation.go(Move::Bottom),
        Action::Previous => state.conversation.go(Move::Previous),
        Action::Next => state.conversation.go(Move::Next),
        Action::Open => state.conversation.go(Move::Toggle),
        Action::Fork => {
            return super::sessions::fork(state, "").unwrap_or_else(|fault| {
                state.say(fault, now);
                Vec::new()
            });
        }
        Action::Copy => return copy(state, now),
        Action::Wire => super::wire::open(state, None),
        Action::Exchange => super::wire::open_call(state, now),
        Action::Redraw => return vec![Intent::Redraw],
        Action::Suspend => return vec![Intent::Suspend],
        Action::ExternalEditor => {
            state.lent = Lent::Draft;
            return vec![Intent::Edit { text: state.input.expanded(), ending: "md" }];
        }
        Action::HistorySearch => {
            state.focus = Focus::Input;
            state.input.search = Some(crate::ui::state::input::Search::default());
        }
        _ => {}
    }
    Vec::new()
}

/// Copies the selected item, or the last answer.
pub(super) fn copy(state: &mut UiState, now: Instant) -> Vec<Intent> {
    let Some(text) = state.conversation.copy_text() else {
        state.say("nothing to copy yet", now);
        return Vec::new();
    };
    state.say(format!("copied {} characters", text.chars().count()), now);
    vec![Intent::Copy { text }]
}
