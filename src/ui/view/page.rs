//! A page over the screen: rows made once, scrolled.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Look, edge, framed, subject};
use crate::domain::PinState;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::UiState;
use crate::ui::state::page::{Page, Subject};

pub(super) fn draw(
    frame: &mut Frame<'_>,
    screen: Rect,
    page: &mut Page,
    state: &UiState,
    look: Look<'_>,
) {
    let margin = if screen.width >= 80 { 8 } else { 0 };
    let body = Rect { height: screen.height.saturating_sub(1), ..screen };
    let widest = layout::middle(body, body.width.saturating_sub(margin).min(100), body.height);
    let columns = widest.width.saturating_sub(4);
    let revision = state.catalog.revision.wrapping_add(state.warnings.len() as u64);
    let fresh = page.laid.as_ref().is_some_and(|(at, wide, _)| (*at, *wide) == (revision, columns));
    if !fresh {
        let rows = subject::rows(&page.subject, usize::from(columns), state, look);
        page.laid = Some((revision, columns, rows));
        page.changed = match &page.subject {
            Subject::Tool(id) => state.catalog.tool(id).and_then(|tool| {
                let rows = || subject::rows_of_change(tool, usize::from(columns), look);
                (tool.pin_state == PinState::Changed).then(|| (tool.pin.clone(), rows()))
            }),
            _ => None,
        };
        page.seen = 0;
    }
    let height = u16::try_from(page.len()).unwrap_or(u16::MAX).saturating_add(2);
    let area = layout::middle(body, widest.width, height.max(6));
    let inner = layout::inside(area);
    page.height = usize::from(inner.height);
    page.go(0);
    if page.scroll <= page.seen {
        page.seen = page.seen.max(page.scroll + page.height);
    }
    super::clear(frame, area);
    frame.render_widget(block(page, area, look), area);
    let shown = page.laid.iter().flat_map(|(_, _, rows)| rows.iter().skip(page.scroll));
    let lines: Vec<Line<'_>> = shown.take(page.height).cloned().collect();
    let text =
        Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner };
    frame.render_widget(Paragraph::new(lines), text);
}

fn block(page: &Page, area: Rect, look: Look<'_>) -> ratatui::widgets::Block<'static> {
    let title = Line::styled(format!(" {} ", subject::title(&page.subject)), look.theme.title);
    let block = framed(title, look.theme.focus);
    let hint = |action, word| (look.keymap.hint(action), word);
    let mut keys = vec![hint(Action::PageClose, "close")];
    match page.subject {
        Subject::Tool(_) => {
            if page.changed.is_some() {
                keys.push(hint(Action::AcceptPin, "accept"));
            }
            keys.push(hint(Action::CallTool, "call"));
        }
        Subject::Server(_) => keys.push(hint(Action::Reconnect, "reconnect")),
        Subject::Help(_)
        | Subject::Context
        | Subject::Queue
        | Subject::Warnings
        | Subject::Permissions => {}
    }
    let block = block.title_bottom(edge(&keys, area.width / 2 + 2, look.theme));
    if page.len() <= page.height {
        return block;
    }
    let last = (page.scroll + page.height).min(page.len());
    let place = format!(" {}–{last} of {} ", page.scroll + 1, page.len());
    block.title_bottom(Line::styled(place, look.theme.muted).alignment(Alignment::Right))
}
