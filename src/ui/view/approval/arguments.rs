//! The rows of the box that can be seen: facts first, then the arguments as they are sent.

use std::ops::Range;

use ratatui::text::{Line, Span};

use crate::ui::state::approval::Laid;
use crate::ui::state::approval::sheet::{GOES_ON, Row, marks, name};
use crate::ui::view::Look;

/// The rows in this range.
pub(super) fn shown(laid: &Laid, range: Range<usize>, look: Look<'_>) -> Vec<Line<'static>> {
    let head = laid.head.len();
    let rows = range.map_while(|place| match place.checked_sub(head) {
        None => laid.head.get(place).cloned(),
        Some(place) => laid.arguments.row(place).map(|row| line(row, look)),
    });
    rows.collect()
}

fn line(row: Row<'_>, look: Look<'_>) -> Line<'static> {
    let theme = look.theme;
    let mut spans = vec![Span::raw(" ".repeat(row.indent))];
    if row.goes_on {
        spans.push(Span::styled(GOES_ON, theme.muted));
    }
    let named = if row.goes_on { None } else { name(row.text) };
    let (first, rest) = row.text.split_at(named.map_or(0, str::len));
    for (part, style) in [(first, theme.accent), (rest, theme.text)] {
        let pieces = marks(part).into_iter();
        spans.extend(pieces.map(|(text, mark)| {
            Span::styled(text.to_owned(), if mark { theme.mark } else { style })
        }));
    }
    Line::from(spans)
}
