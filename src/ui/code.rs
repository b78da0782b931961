//! Colours for code and JSON, from tables.
//!
//! Not a parser: keywords, strings, comments and numbers are enough to read by. What it does not
//! know it shows plain. Every text costs one pass; nothing is lost or added but colour.

mod json;
mod languages;
mod scan;

pub use json::{JsonLimits, indented, json_line, json_rows};
pub use scan::Highlighter;

use super::flow::{self, Piece};
use super::theme::Theme;

/// A block of clean code: a bar at the left, long lines folded with a mark.
pub fn block(language: &str, source: &str, width: usize, theme: &Theme) -> Vec<Vec<Piece>> {
    let bar = Piece::new(if width > 8 { "│ " } else { "" }, theme.muted);
    let room = width.saturating_sub(crate::text::width(&bar.text)).max(1);
    let mark = Piece::new("↪ ", theme.muted);
    let mut highlighter = Highlighter::new(language);
    let mut rows = Vec::new();
    for line in source.strip_suffix('\n').unwrap_or(source).split('\n') {
        let pieces = highlighter.line(line, theme);
        for folded in flow::fold(&pieces, room, &mark) {
            let mut row = Vec::with_capacity(folded.len() + 1);
            flow::push(&mut row, &bar.text, bar.style);
            row.extend(folded);
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests;
