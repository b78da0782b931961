//! Tables: columns aligned by cells, shrunk and wrapped where they are too wide, stacked where even
//! that leaves too little.

use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};

use crate::ui::flow::{self, Piece};
use crate::ui::theme::Theme;

/// Below this many columns a cell cannot be read any more.
const NARROWEST: usize = 5;
/// What stands between two columns.
const BETWEEN: &str = " │ ";

type Cell = Vec<Piece>;

/// A table while it is collected. The first row is its head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Cell>>,
    open: Vec<Cell>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), open: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Cell) {
        self.open.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.open));
    }

    /// The finished rows, each at most `width` columns.
    pub(super) fn rows(self, width: usize, theme: &Theme) -> Vec<Vec<Piece>> {
        let columns = self.alignments.len();
        let between = columns.saturating_sub(1) * 3;
        let natural = self.natural_widths();
        let room = width.saturating_sub(between);
        let needed: usize = natural.iter().map(|cells| (*cells).min(NARROWEST)).sum();
        if columns == 0 || room < needed.max(1) || width <= between {
            return self.stacked(width, theme);
        }
        self.side_by_side(&shrunk(&natural, room), theme)
    }

    fn natural_widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(natural_width(cell));
            }
        }
        widths
    }

    fn side_by_side(self, widths: &[usize], theme: &Theme) -> Vec<Vec<Piece>> {
        let mut out = Vec::new();
        let wrapped: Vec<Vec<Vec<Vec<Piece>>>> = self
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .zip(widths)
                    .map(|(cell, width)| flow::wrap_pieces(cell, *width))
                    .collect()
            })
            .collect();
        let tall = wrapped.iter().skip(1).flatten().any(|cell| cell.len() > 1);
        for (index, row) in wrapped.iter().enumerate() {
            let height = row.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                out.push(self.line(row, line, widths, index == 0, theme));
            }
            let last = index + 1 == wrapped.len();
            if index == 0 || (tall && !last) {
                out.push(rule(widths, theme));
            }
        }
        out
    }

    fn line(
        &self,
        row: &[Vec<Vec<Piece>>],
        line: usize,
        widths: &[usize],
        head: bool,
        theme: &Theme,
    ) -> Vec<Piece> {
        let mut out = Vec::new();
        for (column, width) in widths.iter().enumerate() {
            if column > 0 {
                flow::push(&mut out, BETWEEN, theme.muted);
            }
            let pieces = row.get(column).and_then(|cell| cell.get(line));
            let used = pieces.map_or(0, |pieces| flow::width(pieces));
            let free = width.saturating_sub(used);
            let left = match self.alignments.get(column) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            flow::push(&mut out, &" ".repeat(left), Style::new());
            for piece in pieces.into_iter().flatten() {
                flow::push(&mut out, &piece.text, styled(piece.style, head));
            }
            if column + 1 < widths.len() {
                flow::push(&mut out, &" ".repeat(free - left), Style::new());
            }
        }
        out
    }

    /// One cell under the other, each behind the name of its column; empty cells are left out.
    fn stacked(self, width: usize, theme: &Theme) -> Vec<Vec<Piece>> {
        let mut rows = self.rows.into_iter();
        let head = rows.next().unwrap_or_default();
        let mut out = Vec::new();
        let mut body = false;
        for row in rows {
            if body {
                out.push(vec![Piece::new("─".repeat(width.min(8)), theme.muted)]);
            }
            body = true;
            for (column, cell) in row.into_iter().enumerate() {
                if cell.is_empty() {
                    continue;
                }
                let mut pieces: Vec<Piece> = Vec::new();
                for piece in head.get(column).into_iter().flatten() {
                    flow::push(&mut pieces, &piece.text, styled(piece.style, true));
                }
                if !pieces.is_empty() {
                    flow::push(&mut pieces, ": ", theme.muted);
                }
                pieces.extend(cell);
                out.extend(flow::wrap_pieces(&pieces, width));
            }
        }
        if !body {
            for cell in head.iter().filter(|cell| !cell.is_empty()) {
                out.extend(flow::wrap_pieces(cell, width));
            }
        }
        out
    }
}

fn styled(style: Style, head: bool) -> Style {
    if head { style.add_modifier(Modifier::BOLD) } else { style }
}

fn rule(widths: &[usize], theme: &Theme) -> Vec<Piece> {
    let line = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
    vec![Piece::new(line, theme.muted)]
}

/// The widest line of a cell.
fn natural_width(cell: &[Piece]) -> usize {
    let mut widest = 0;
    let mut current = 0;
    for piece in cell {
        for (index, part) in piece.text.split('\n').enumerate() {
            if index > 0 {
                widest = widest.max(current);
                current = 0;
            }
            current += crate::text::width(part);
        }
    }
    widest.max(current).max(1)
}

/// Takes width from the widest columns first until all fit into `room`.
fn shrunk(natural: &[usize], room: usize) -> Vec<usize> {
    let mut sorted = natural.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    let mut count = sorted.len();
    let mut level = usize::MAX;
    for width in sorted {
        if width * count > left {
            level = left / count;
            break;
        }
        left -= width;
        count -= 1;
    }
    let mut widths: Vec<usize> = natural.iter().map(|width| (*width).min(level).max(1)).collect();
    let mut spare = room.saturating_sub(widths.iter().sum());
    for (width, wanted) in widths.iter_mut().zip(natural) {
        if spare > 0 && *width < *wanted {
            *width += 1;
            spare -= 1;
        }
    }
    widths
}
