//! The rows of a form: label, limits, what was entered, what is wrong with it.
//!
//! Everything a server says is shown strictly, and nothing of it can be clicked. Focus, choice and
//! fault have a sign besides their colour.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;

use super::{Look, strict};
use crate::text;
use crate::ui::flow::{self, Piece};
use crate::ui::state::form::{Entry, Field, Form, Kind};

/// Options shown at once.
const OPTIONS: usize = 8;
/// Rows of a description, and of a text, while another field has the keys.
const RESTING: usize = 2;
/// Characters of a text that are laid out while another field has the keys.
const RESTING_TEXT: usize = 400;

/// How much room there is, and whether keys belong to the form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) columns: usize,
    /// Few rows: labels and descriptions take one each.
    pub(super) tight: bool,
    /// Keys belong to the form.
    pub(super) live: bool,
}

/// Where the field that has the keys stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Focus {
    /// Its rows; empty where no field has the keys.
    pub(super) rows: Range<usize>,
    /// The row of the cursor.
    pub(super) cursor: usize,
}

impl Focus {
    /// The same, so many rows further down.
    pub(super) fn below(self, by: usize) -> Self {
        Self { rows: self.rows.start + by..self.rows.end + by, cursor: self.cursor + by }
    }
}

/// The rows of the form.
pub(super) fn rows(form: &Form, room: Room, look: Look<'_>) -> (Vec<Line<'static>>, Focus) {
    let mut rows = Vec::new();
    let mut focus = Focus::default();
    for (at, field) in form.fields.iter().enumerate() {
        let from = rows.len();
        let has_keys = room.live && at == form.at;
        let paper = Paper { columns: room.columns, tight: room.tight, has_keys, look };
        let cursor = paper.field(field, form.fault_of(field), &mut rows);
        if at == form.at {
            focus = Focus { rows: from..rows.len(), cursor };
        }
    }
    (rows, focus)
}

struct Paper<'a> {
    columns: usize,
    tight: bool,
    has_keys: bool,
    look: Look<'a>,
}

impl Paper<'_> {
    /// Adds the rows of a field. Returns which one has the cursor.
    fn field(&self, field: &Field, fault: Option<String>, rows: &mut Vec<Line<'static>>) -> usize {
        let theme = self.look.theme;
        rows.extend(self.label(field));
        // Where there is hardly room, what is wrong is worth more than what was meant.
        let left_out = self.tight && fault.is_some();
        if !left_out && !field.description.trim().is_empty() {
            rows.extend(self.described(&field.description));
        }
        if let Some(default) = &field.unusable {
            let default = text::strict_line(&default.to_string()).into_string();
            let words = format!("its default cannot be entered here: {}", text::cut(&default, 60));
            rows.extend(
                self.indented(flow::wrap(&[Piece::new(words, theme.caution)], self.room())),
            );
        }
        let from = rows.len();
        let (entered, cursor) = match &field.entry {
            Entry::Written(area) if self.has_keys => {
                let cursor = area.cursor();
                self.writing(area.lines(), (cursor.0, cursor.1))
            }
            Entry::Written(_) => (self.written(field), 0),
            Entry::Chosen { ticked, at } => self.options(field, ticked, *at),
        };
        rows.extend(entered);
        if let Some(fault) = fault {
            let fault = Piece::new(format!("! {fault}"), theme.danger);
            rows.extend(self.indented(flow::wrap(&[fault], self.room())));
        }
        from + cursor
    }

    fn room(&self) -> usize {
        self.columns.saturating_sub(2).max(1)
    }

    fn indented(&self, rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
        let indent = |mut row: Line<'static>| {
            row.spans.insert(0, "  ".into());
            row
        };
        if self.columns > 4 { rows.into_iter().map(indent).collect() } else { rows }
    }

    fn label(&self, field: &Field) -> Vec<Line<'static>> {
        let theme = self.look.theme;
        let style = if self.has_keys { theme.selected } else { theme.title };
        let label = text::strict_line(&field.label).into_string();
        let mut pieces = strict::pieces(&text::cut(&label, self.columns * 2), style, theme);
        let name = text::strict_line(&field.name);
        if label.to_lowercase() != name.as_str().to_lowercase() && !self.tight {
            flow::push(&mut pieces, &format!(" ({})", text::cut(name.as_str(), 40)), theme.muted);
        }
        if field.required {
            flow::push(&mut pieces, " · required", theme.caution);
        }
        flow::push(&mut pieces, &format!(" · {}", asked(&field.kind)), theme.muted);
        let mut rows = if self.tight {
            vec![flow::row(flow::cut(&pieces, self.room()))]
        } else {
            flow::wrap(&pieces, self.room())
        };
        rows = self.indented(rows);
        if let (true, Some(mark)) =
            (self.has_keys, rows.first_mut().and_then(|row| row.spans.first_mut()))
        {
            *mark = ratatui::text::Span::styled("› ", theme.accent);
        }
        rows
    }

    fn described(&self, raw: &str) -> Vec<Line<'static>> {
        let theme = self.look.theme;
        let mut rows = strict::rows(raw.trim(), self.room(), theme.muted, theme);
        let most = match (self.tight, self.has_keys) {
            (true, _) => 1,
            (false, false) => RESTING,
            (false, true) => usize::MAX,
        };
        if rows.len() > most {
            rows.truncate(most);
            if let Some(last) = rows.last_mut() {
                last.push_span(ratatui::text::Span::styled(" …", theme.muted));
            }
        }
        self.indented(rows)
    }

    /// A text with the cursor in it, and the row of the cursor.
    fn writing(&self, lines: &[String], cursor: (usize, usize)) -> (Vec<Line<'static>>, usize) {
        let theme = self.look.theme;
        let mut rows = Vec::new();
        let mut at = 0;
        for (number, line) in lines.iter().enumerate() {
            let column = (number == cursor.0).then_some(cursor.1);
            let mut pieces = Vec::new();
            let mut place = 0;
            for grapheme in line.graphemes(true) {
                let next = place + grapheme.chars().count();
                let under = column.is_some_and(|column| (place..next).contains(&column));
                let mut shown = strict::pieces(grapheme, theme.text, theme);
                if under {
                    for piece in &mut shown {
                        piece.style = theme.selected;
                    }
                }
                for piece in &shown {
                    flow::push(&mut pieces, &piece.text, piece.style);
                }
                place = next;
            }
            if column.is_some_and(|column| column >= place) {
                flow::push(&mut pieces, " ", theme.selected);
            }
            let framed = self.framed(&pieces, theme.focus);
            if column.is_some() {
                let under =
                    |row: &Line<'_>| row.spans.iter().any(|span| span.style == theme.selected);
                at = rows.len() + framed.iter().position(under).unwrap_or_default();
            }
            rows.extend(framed);
        }
        (rows, at)
    }

    /// A text that waits for the keys to come back.
    fn written(&self, field: &Field) -> Vec<Line<'static>> {
        let theme = self.look.theme;
        if field.is_empty() {
            let words = match (field.required, field.nullable) {
                (false, _) => "empty: left out",
                (true, true) => "empty: null",
                (true, false) => "empty",
            };
            return self.framed(&[Piece::new(words, theme.muted)], theme.border);
        }
        let whole = field.written();
        let start: String = whole.chars().take(RESTING_TEXT).collect();
        let cut = start.len() < whole.len();
        let pieces = strict::pieces(&start, theme.text, theme);
        let mut rows = Vec::new();
        for line in lines(pieces) {
            rows.extend(self.framed(&line, theme.border));
        }
        if cut || rows.len() > RESTING + 1 {
            rows.truncate(RESTING);
            rows.extend(self.framed(&[Piece::new("…", theme.muted)], theme.border));
        }
        rows
    }

    /// Folded by cells, with a bar at the left.
    fn framed(&self, pieces: &[Piece], bar: Style) -> Vec<Line<'static>> {
        let folded = flow::fold(pieces, self.columns.saturating_sub(4).max(1), &Piece::default());
        let barred = folded.into_iter().map(|row| {
            let mut all = vec![Piece::new("│ ", bar)];
            all.extend(row);
            flow::row(all)
        });
        self.indented(barred.collect())
    }

    /// What can be chosen, and the row of the cursor.
    fn options(&self, field: &Field, ticked: &[bool], at: usize) -> (Vec<Line<'static>>, usize) {
        let theme = self.look.theme;
        let several = matches!(field.kind, Kind::Many { .. });
        let options = field.kind.options();
        if !self.has_keys && !field.is_empty() {
            let chosen = options.iter().zip(ticked).filter(|(_, ticked)| **ticked);
            let labels: Vec<String> =
                chosen.map(|((_, label), _)| text::strict_line(label).into_string()).collect();
            let words = format!("{} {}", sign(several, true), labels.join(", "));
            let rows = flow::wrap(&[Piece::new(words, theme.text)], self.room());
            return (self.indented(rows), 0);
        }
        if !self.has_keys {
            let words = if field.required && !field.nullable {
                "nothing chosen"
            } else {
                "nothing chosen: left out"
            };
            return (self.indented(vec![Line::styled(words, theme.muted)]), 0);
        }
        let first = at.saturating_sub(OPTIONS / 2).min(options.len().saturating_sub(OPTIONS));
        let shown = options.iter().zip(ticked).enumerate().skip(first).take(OPTIONS);
        let mut rows = Vec::new();
        for (place, ((_, label), ticked)) in shown {
            let style = if place == at { theme.selected } else { theme.text };
            let label = text::strict_line(label).into_string();
            let words = format!("{} {label}", sign(several, *ticked));
            rows.push(Line::styled(text::cut(&words, self.room()), style));
        }
        if options.len() > OPTIONS {
            let words = format!("{} of {}", at + 1, options.len());
            rows.push(Line::styled(words, theme.muted));
        }
        (self.indented(rows), at.saturating_sub(first))
    }
}

fn sign(several: bool, ticked: bool) -> &'static str {
    match (several, ticked) {
        (false, true) => "(•)",
        (false, false) => "( )",
        (true, true) => "[x]",
        (true, false) => "[ ]",
    }
}

/// Splits pieces at their line breaks.
fn lines(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut lines = vec![Vec::new()];
    for piece in pieces {
        for (number, part) in piece.text.split('\n').enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut() {
                flow::push(line, part, piece.style);
            }
        }
    }
    lines
}

/// What is asked for, with its limits, in a few words.
fn asked(kind: &Kind) -> String {
    match kind {
        Kind::Text { min, max, format, pattern } => {
            let word = match format.as_deref() {
                Some("email") => "e-mail address".to_owned(),
                Some("uri") => "address (URI)".to_owned(),
                Some("date") => "date, 2026-11-30".to_owned(),
                Some("date-time") => "date and time".to_owned(),
                Some(other) => text::cut(text::strict_line(other).as_str(), 30),
                None => "text".to_owned(),
            };
            let pattern = pattern.as_ref().map(|pattern| {
                format!(", pattern {}", text::cut(text::strict_line(pattern).as_str(), 40))
            });
            let limits = limits(min.map(|min| min.to_string()), max.map(|max| max.to_string()));
            let limits = limits.map(|limits| format!(", {limits} characters"));
            format!("{word}{}{}", limits.unwrap_or_default(), pattern.unwrap_or_default())
        }
        Kind::Number { integer, min, max } => {
            let word = if *integer { "whole number" } else { "number" };
            let limits = limits(min.map(|min| min.to_string()), max.map(|max| max.to_string()));
            limits.map_or_else(|| word.to_owned(), |limits| format!("{word}, {limits}"))
        }
        Kind::One(options) if options.first().is_some_and(|(value, _)| value.is_boolean()) => {
            "yes or no".to_owned()
        }
        Kind::One(options) => format!("one of {}", options.len()),
        Kind::Many { options, min, max } => {
            let limits = limits(min.map(|min| min.to_string()), max.map(|max| max.to_string()));
            format!("{} of {}", limits.unwrap_or_else(|| "any".to_owned()), options.len())
        }
        Kind::Json(words) => {
            format!("{} as JSON", text::cut(text::strict_line(words).as_str(), 60))
        }
    }
}

fn limits(min: Option<String>, max: Option<String>) -> Option<String> {
    match (min, max) {
        (None, None) => None,
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (Some(min), Some(max)) if min == max => Some(format!("exactly {min}")),
        (Some(min), Some(max)) => Some(format!("{min}–{max}")),
    }
}
