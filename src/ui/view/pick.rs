//! A list to choose from, with a preview of what is chosen where there is room for it.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::input::pad;
use super::{Look, edge, framed};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::pick::{Kind, Picker, Row};

/// Widest box, in columns.
const WIDEST: u16 = 130;
/// Rows of the preview with the line above it.
const PREVIEW: u16 = 7;
/// Rows of the list that are kept when the preview is shown.
const LIST: u16 = 6;
/// Columns that are kept for a title.
const TITLE: usize = 28;

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect, picker: &mut Picker, look: Look<'_>) {
    let margin = if screen.width >= 80 { 6 } else { 0 };
    let wide = screen.width.saturating_sub(margin).min(WIDEST);
    let (_, all) = picker.counts();
    let wanted = u16::try_from(all).unwrap_or(u16::MAX).clamp(LIST, 30);
    let most = screen.height.saturating_sub(1);
    let area = layout::middle(
        Rect { height: most, ..screen },
        wide,
        wanted.saturating_add(4 + PREVIEW).min(most),
    );
    super::clear(frame, area);
    frame.render_widget(block(picker, area, look), area);
    let inner = layout::inside(area);
    let inner =
        Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner };
    filter(frame, Rect { height: inner.height.min(1), ..inner }, picker, look);
    let below = Rect {
        y: inner.y.saturating_add(2).min(inner.bottom()),
        height: inner.height.saturating_sub(2),
        ..inner
    };
    let preview = if below.height >= LIST + PREVIEW { PREVIEW } else { 0 };
    let list = Rect { height: below.height - preview, ..below };
    picker.height = usize::from(list.height);
    if let Some(nothing) = picker.nothing() {
        let rows = super::wrapped(nothing, usize::from(list.width), look.theme.muted);
        frame.render_widget(Paragraph::new(rows), list);
        return;
    }
    rows(frame, list, picker, look);
    if preview > 0 {
        let area = Rect { y: list.bottom(), height: preview, ..below };
        about(frame, area, picker.chosen(), look);
    }
}

fn block(picker: &Picker, area: Rect, look: Look<'_>) -> ratatui::widgets::Block<'static> {
    let (title, word) = match picker.kind {
        Kind::Sessions => (" resume a conversation ", "go on with it"),
        Kind::Messages => (" fork before which message? ", "fork"),
    };
    let hint = |action, word| (look.keymap.hint(action), word);
    let keys = [
        hint(Action::ListRun, word),
        hint(Action::ListClose, "close"),
        ("type".to_owned(), "to filter"),
    ];
    framed(Line::styled(title, look.theme.title), look.theme.focus)
        .title_bottom(edge(&keys, area.width, look.theme))
}

fn filter(frame: &mut Frame<'_>, area: Rect, picker: &Picker, look: Look<'_>) {
    let (fitting, all) = picker.counts();
    let count = if fitting == all { all.to_string() } else { format!("{fitting} of {all}") };
    let room = usize::from(area.width).saturating_sub(text::width(&count) + 5);
    // The end of what was typed is where typing goes on.
    let typed = text::line(&picker.filter).into_string();
    let surplus = text::width(&typed).saturating_sub(room);
    let mut passed = 0;
    let typed: String = typed
        .chars()
        .skip_while(|c| {
            let skip = passed < surplus;
            passed += text::width(c.encode_utf8(&mut [0; 4]));
            skip
        })
        .collect();
    let prompt = Line::from(vec![
        Span::styled("› ", look.theme.accent),
        Span::raw(typed),
        Span::styled(" ", look.theme.selected),
    ]);
    frame.render_widget(prompt, area);
    if all > 0 {
        let count = Line::styled(count, look.theme.muted).alignment(Alignment::Right);
        let wide = area.width.min(16);
        frame.render_widget(count, Rect { x: area.right() - wide, width: wide, ..area });
    }
}

fn rows(frame: &mut Frame<'_>, list: Rect, picker: &Picker, look: Look<'_>) {
    let height = usize::from(list.height);
    let first = (picker.selected + 1).saturating_sub(height);
    let shown: Vec<(usize, &Row)> = picker.shown(first, height).collect();
    let wide = usize::from(list.width);
    let columns = columns(&shown, wide);
    let title = wide.saturating_sub(columns.iter().map(|column| column + 2).sum());
    let line = |(at, row): &(usize, &Row)| {
        let mut facts = String::new();
        for (fact, column) in row.facts.iter().zip(&columns) {
            facts.push_str("  ");
            facts.push_str(&pad(fact, *column));
        }
        let title = pad(&row.title, title);
        if *at == picker.selected {
            return Line::styled(format!("{title}{facts}"), look.theme.selected);
        }
        Line::from(vec![Span::raw(title), Span::styled(facts, look.theme.muted)])
    };
    frame.render_widget(Paragraph::new(shown.iter().map(line).collect::<Vec<_>>()), list);
}

/// How wide each column of facts is; those that leave the title no room are left out.
fn columns(shown: &[(usize, &Row)], wide: usize) -> Vec<usize> {
    let count = shown.iter().map(|(_, row)| row.facts.len()).max().unwrap_or(0);
    let mut left = wide.saturating_sub(TITLE);
    let mut columns = Vec::new();
    for column in 0..count {
        let facts = shown.iter().filter_map(|(_, row)| row.facts.get(column));
        let widest = facts.map(|fact| text::width(fact)).max().unwrap_or(0).min(24);
        if widest == 0 {
            columns.push(0);
            continue;
        }
        let Some(rest) = left.checked_sub(widest + 2) else { break };
        left = rest;
        columns.push(widest);
    }
    columns
}

fn about(frame: &mut Frame<'_>, area: Rect, chosen: Option<&Row>, look: Look<'_>) {
    let Some(row) = chosen else { return };
    let columns = usize::from(area.width);
    let mut lines = vec![
        Line::styled("─".repeat(columns), look.theme.border),
        Line::styled(text::cut(&row.about, columns), look.theme.muted),
    ];
    let room = usize::from(area.height).saturating_sub(lines.len());
    lines.extend(super::wrapped(&row.text, columns, look.theme.text).into_iter().take(room));
    frame.render_widget(Paragraph::new(lines), area);
}
