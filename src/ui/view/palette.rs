//! The command palette.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::input::pad;
use super::{Look, framed};
use crate::text;
use crate::ui::layout;
use crate::ui::state::palette::Palette;

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect, palette: &Palette, look: Look<'_>) {
    let matches = palette.matches();
    let rows = u16::try_from(matches.len()).unwrap_or(u16::MAX).clamp(1, 16);
    let area = layout::middle(screen, screen.width.saturating_sub(4).min(72), rows + 4);
    super::clear(frame, area);
    frame.render_widget(
        framed(Line::styled(" what to do ", look.theme.title), look.theme.focus),
        area,
    );
    let inner = layout::inside(area);
    let inner =
        Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner };
    let filter = text::line(&palette.filter).into_string();
    let prompt = Line::from(vec![
        Span::styled("› ", look.theme.accent),
        Span::raw(filter),
        Span::styled(" ", look.theme.selected),
    ]);
    frame.render_widget(prompt, Rect { height: inner.height.min(1), ..inner });
    let list = Rect {
        y: inner.y.saturating_add(2).min(inner.bottom()),
        height: inner.height.saturating_sub(2),
        ..inner
    };
    if matches.is_empty() {
        frame.render_widget(Line::styled("nothing of that name", look.theme.muted), list);
        return;
    }
    let first = (palette.selected + 1).saturating_sub(usize::from(list.height));
    let wide = usize::from(list.width);
    let lines: Vec<Line<'_>> = matches
        .iter()
        .enumerate()
        .skip(first)
        .take(usize::from(list.height))
        .map(|(at, entry)| {
            let hint = text::width(&entry.hint);
            let label = pad(&entry.label, wide.saturating_sub(hint + 1));
            if at == palette.selected {
                return Line::styled(format!("{label} {}", entry.hint), look.theme.selected);
            }
            let hint = Span::styled(format!(" {}", entry.hint), look.theme.accent);
            Line::from(vec![Span::raw(label), hint])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), list);
}
