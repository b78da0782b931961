//! What the user changed in the arguments that were proposed, above the arguments themselves.

use ratatui::style::Style;
use ratatui::text::Line;
use serde_json::{Map, Value};

use crate::text;
use crate::ui::state::approval::diff;
use crate::ui::view::{Look, strict};

/// Characters of a value that are shown here; what is sent stands below, whole.
const VALUE: usize = 2_000;

pub(super) fn rows(
    proposed: &Map<String, Value>,
    now: &Map<String, Value>,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let (changes, more) = diff::changes(proposed, now);
    if changes.is_empty() {
        return vec![Line::styled("changed back: as proposed", theme.muted)];
    }
    let mut rows = vec![Line::styled("you changed what was proposed:", theme.caution)];
    for change in &changes {
        let place = if change.place.is_empty() { "the order" } else { change.place.as_str() };
        rows.extend(strict::rows(&format!("  {place}"), columns, theme.muted, theme));
        let sides = [("  − ", &change.before, theme.danger), ("  + ", &change.after, theme.good)];
        for (sign, value, style) in sides {
            rows.extend(value.iter().flat_map(|value| side(sign, value, style, columns, look)));
        }
    }
    if more > 0 {
        rows.push(Line::styled(format!("  and {more} more changes"), theme.caution));
    }
    rows
}

fn side(
    sign: &str,
    value: &str,
    style: Style,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let mut shown: String = value.chars().take(VALUE).collect();
    if let Some(left) = value.chars().count().checked_sub(VALUE).filter(|left| *left > 0) {
        shown.extend(["… (", &left.to_string(), " characters more)"]);
    }
    let room = columns.saturating_sub(text::width(sign)).max(1);
    let mut rows = strict::rows(&shown, room, style, look.theme);
    for (at, row) in rows.iter_mut().enumerate() {
        let mark = if at == 0 { sign.to_owned() } else { " ".repeat(text::width(sign)) };
        row.spans.insert(0, ratatui::text::Span::styled(mark, style));
    }
    rows
}
