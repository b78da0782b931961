//! What changed of a tool's definition, as rows: details and decision box show it alike.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::wrapped;
use crate::domain::change::{Change, ChangeKind, Kept, Words};
use crate::text;
use crate::ui::theme::Theme;

/// Words of an unchanged run that are shown at each of its ends.
const AROUND: usize = 12;

/// The changes, one after another. Signs and brackets tell them without colours too.
pub(super) fn rows(changes: &[Change], columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    changes.iter().flat_map(|change| row(change, columns, theme)).collect()
}

fn row(change: &Change, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |sign: char, style: Style| {
        wrapped(&format!("{sign} {}", text::strict_line(change)), columns, style)
    };
    match &change.kind {
        ChangeKind::Added { .. } => line('+', theme.caution),
        ChangeKind::Removed { .. } => line('-', theme.danger),
        ChangeKind::Replaced { .. } => line('~', theme.caution),
        ChangeKind::Reworded { words } => {
            let head = format!("~ {}:", text::strict_line(&change.subject));
            let mut rows = Filled { rows: Vec::new(), used: columns, columns };
            head.split(' ').for_each(|word| rows.push(word, theme.caution));
            for run in words {
                reworded(run, &mut rows, theme);
            }
            rows.rows
        }
    }
}

fn reworded(run: &Words, rows: &mut Filled, theme: &Theme) {
    let (open, close, style) = match run.kept {
        Kept::Same => ("", "", theme.muted),
        Kept::Removed => ("[-", "-]", theme.danger.add_modifier(Modifier::CROSSED_OUT)),
        Kept::Added => ("{+", "+}", theme.good.add_modifier(Modifier::BOLD)),
    };
    let words: Vec<String> =
        run.text.split_whitespace().map(|word| text::strict_line(word).into_string()).collect();
    let last = words.len().saturating_sub(1);
    let far = |at: usize| run.kept == Kept::Same && at >= AROUND && at + AROUND <= last;
    for (at, word) in words.iter().enumerate() {
        if far(at) {
            if at == AROUND {
                rows.push("…", style);
            }
            continue;
        }
        let open = if at == 0 { open } else { "" };
        let close = if at == last { close } else { "" };
        rows.push(&format!("{open}{word}{close}"), style);
    }
}

/// Rows that are filled word by word.
struct Filled {
    rows: Vec<Line<'static>>,
    used: usize,
    columns: usize,
}

impl Filled {
    fn push(&mut self, word: &str, style: Style) {
        for (at, part) in text::wrap(word, self.columns.saturating_sub(2).max(1)).iter().enumerate()
        {
            let wide = text::width(part);
            if at > 0 || self.used + wide + 1 > self.columns {
                let indent = if self.rows.is_empty() { "" } else { "  " };
                self.rows.push(Line::from(vec![Span::raw(indent)]));
                self.used = indent.len();
            } else {
                self.add(" ", style.remove_modifier(Modifier::CROSSED_OUT));
            }
            self.add(part, style);
        }
    }

    fn add(&mut self, text: &str, style: Style) {
        if let Some(row) = self.rows.last_mut() {
            row.push_span(Span::styled(text.to_owned(), style));
            self.used += text::width(text);
        }
    }
}
