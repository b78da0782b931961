//! Plain text in pieces that are laid out one by one, so that a huge text costs what is visible.

use std::ops::Range;
use std::sync::Arc;

use ratatui::style::Style;

use crate::text;
use crate::ui::code::Highlighter;
use crate::ui::flow::{self, Piece, Row};
use crate::ui::theme::Theme;

/// Bytes of one piece, at most.
const PIECE: usize = 8 * 1024;

/// Raw text of several lines.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    raw: Arc<str>,
    pieces: Vec<Range<usize>>,
}

impl Plain {
    pub(super) fn new(raw: &str) -> Self {
        let raw = raw.trim_end();
        Self { raw: raw.into(), pieces: cut(raw) }
    }

    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// As [`Self::rows`], in the colours of JSON where it looks like that.
    pub(super) fn coloured(&self, piece: usize, width: usize, theme: &Theme) -> Vec<Row> {
        if !self.raw.trim_start().starts_with(['{', '[']) {
            return self.rows(piece, width, theme.text);
        }
        let Some(range) = self.pieces.get(piece).cloned() else { return Vec::new() };
        let clean = text::block(self.raw.get(range).unwrap_or_default()).into_string();
        let mut highlighter = Highlighter::new("json");
        clean.lines().flat_map(|line| flow::wrap(&highlighter.line(line, theme), width)).collect()
    }

    pub(super) fn rows(&self, piece: usize, width: usize, style: Style) -> Vec<Row> {
        let Some(range) = self.pieces.get(piece).cloned() else { return Vec::new() };
        wrapped(self.raw.get(range).unwrap_or_default(), width, style)
    }

    /// The first rows, and how many lines are in none of them.
    pub(super) fn head(&self, rows: usize, width: usize, style: Style) -> (Vec<Row>, usize) {
        let all = self.raw.lines().count();
        let most = rows.saturating_mul(width.max(1)).saturating_mul(4);
        let mut out = Vec::new();
        for (index, line) in self.raw.lines().enumerate() {
            let start: String = line.chars().take(most).collect();
            out.extend(wrapped(&start, width, style));
            if out.len() >= rows {
                let over = out.len() > rows || start.len() < line.len();
                out.truncate(rows);
                return (out, all - index - 1 + usize::from(over));
            }
        }
        (out, 0)
    }
}

/// Cleans and wraps.
pub(super) fn wrapped(raw: &str, width: usize, style: Style) -> Vec<Row> {
    let clean = text::block(raw.strip_suffix('\n').unwrap_or(raw));
    flow::wrap(&[Piece::new(clean.into_string(), style)], width)
}

/// At line breaks where there are any within reach.
fn cut(raw: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < raw.len() {
        let limit = (start..=raw.len().min(start + PIECE))
            .rev()
            .find(|at| raw.is_char_boundary(*at))
            .filter(|at| *at > start)
            .unwrap_or(raw.len());
        let end = if limit == raw.len() {
            limit
        } else {
            let window = raw.get(start..limit).unwrap_or_default();
            window.rfind('\n').map_or(limit, |at| start + at + 1)
        };
        pieces.push(start..end);
        start = end;
    }
    pieces
}
