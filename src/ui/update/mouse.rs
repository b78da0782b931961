//! The mouse: scrolls what is under it, selects, moves the focus. It never decides anything.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::ui::conversation::Move;
use crate::ui::intent::Intent;
use crate::ui::state::approval::Mode;
use crate::ui::state::page::Body;
use crate::ui::state::{Focus, Overlay, UiState};

const ROWS: i32 = 3;

pub(super) fn event(state: &mut UiState, event: MouseEvent) -> Vec<Intent> {
    let at = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::ScrollUp => scroll(state, at, -ROWS),
        MouseEventKind::ScrollDown => scroll(state, at, ROWS),
        MouseEventKind::Down(MouseButton::Left) => click(state, at),
        _ => {}
    }
    Vec::new()
}

fn scroll(state: &mut UiState, at: Position, rows: i32) {
    let by = isize::try_from(rows).unwrap_or_default();
    match &mut state.overlay {
        Some(Overlay::Page(page)) => return page.go(by),
        Some(Overlay::Palette(palette)) => return palette.go(by.signum()),
        Some(Overlay::Models(models)) => return models.go(by.signum()),
        Some(Overlay::Wire(view)) => return view.go(by),
        Some(Overlay::Pick(picker)) => return picker.go(by.signum()),
        Some(Overlay::CallTool(form)) => {
            if let Body::Fields(fields) = &mut form.body {
                fields.scroll_rows(by);
            }
            return;
        }
        None => {}
    }
    if let (true, Mode::Fill(form)) = (state.drawn.dialog.contains(at), &mut state.decisions.mode) {
        form.scroll_rows(by);
    } else if state.drawn.dialog.contains(at) {
        let last = state.decisions.laid.count.saturating_sub(state.decisions.page);
        state.decisions.scroll = state.decisions.scroll.saturating_add_signed(by).min(last);
    } else if state.drawn.panel.contains(at) {
        state.panel.scroll_rows(by);
    } else {
        state.conversation.go(Move::Rows(rows));
    }
}

fn click(state: &mut UiState, at: Position) {
    if let Some(Overlay::Wire(view)) = &mut state.overlay {
        return view.click(at);
    }
    if state.overlay.is_some() {
        return;
    }
    let row = |area: Rect| at.y.saturating_sub(area.y);
    if state.drawn.dialog.contains(at) {
        // A click may only be meant to focus the window.
    } else if state.drawn.panel.contains(at) {
        state.focus = Focus::Panel;
        state.panel.click(usize::from(row(state.drawn.panel)));
    } else if state.drawn.input.contains(at) {
        state.focus = Focus::Input;
        state.decisions.in_draft = state.decisions.visible();
    } else if state.drawn.conversation.contains(at) {
        state.conversation.click(row(state.drawn.conversation));
    }
}
