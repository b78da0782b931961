//! Styled text → rows of a given width.
//!
//! Everything that wraps text for the screen goes through here, so that widths are counted in
//! cells in one way. It takes text that [`crate::text`] has cleaned already. No input and no width
//! makes it panic, every row fits, and the cost is linear in the text.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::text;

/// Closing marks of East Asian scripts: no row begins with one.
const CLINGS: &[char] = &[
    '、', '。', '，', '．', '：', '；', '！', '？', '）', '］', '｝', '」', '』', '】', '》', '〉',
];

/// One row of the screen.
pub type Row = Line<'static>;

/// A run of clean text in one style. `\n` breaks the row where it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

impl Piece {
    /// A run of text.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// Columns of the pieces side by side.
pub fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| text::width(&piece.text)).sum()
}

/// Adds text to a list of pieces, joined to the last one where the style is the same.
pub fn push(pieces: &mut Vec<Piece>, text: &str, style: Style) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        _ => pieces.push(Piece::new(text, style)),
    }
}

/// The pieces as one row, without wrapping.
pub fn row(pieces: Vec<Piece>) -> Row {
    Line::from(
        pieces.into_iter().map(|piece| Span::styled(piece.text, piece.style)).collect::<Vec<_>>(),
    )
}

/// Breaks at word boundaries where there are any, and between wide characters.
pub fn wrap(pieces: &[Piece], width: usize) -> Vec<Row> {
    wrap_pieces(pieces, width).into_iter().map(row).collect()
}

/// As [`wrap`], before the rows become lines.
pub fn wrap_pieces(pieces: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let mut filler = Filler::new(width.max(1));
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            filler.take(grapheme, piece.style);
        }
    }
    filler.finish()
}

/// Breaks by cells, losing nothing: for code. Rows after the first begin with `mark` where it
/// leaves room.
pub fn fold(pieces: &[Piece], width: usize, mark: &Piece) -> Vec<Vec<Piece>> {
    let width = width.max(1);
    let mark_width = text::width(&mark.text);
    let marked = width >= mark_width + 4;
    let mut rows = Vec::new();
    let mut current = Vec::new();
    let mut used = 0;
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            let (grapheme, cells) = fitted(grapheme, width);
            if used + cells > width {
                rows.push(std::mem::take(&mut current));
                used = 0;
                if marked {
                    current.push(mark.clone());
                    used = mark_width;
                }
            }
            push(&mut current, grapheme, piece.style);
            used += cells;
        }
    }
    rows.push(current);
    rows
}

/// The beginning of the pieces in at most `width` columns; `…` stands for what was cut off.
pub fn cut(pieces: &[Piece], width: usize) -> Vec<Piece> {
    if self::width(pieces) <= width {
        return pieces.to_vec();
    }
    let mut kept = Vec::new();
    let mut used = 0;
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            let cells = text::width(grapheme);
            if used + cells + 1 > width {
                if width > 0 {
                    push(&mut kept, "…", piece.style);
                }
                return kept;
            }
            push(&mut kept, grapheme, piece.style);
            used += cells;
        }
    }
    kept
}

/// One row with something at its right end. The left part is cut where both do not fit; the right
/// part goes first only when it alone does not fit.
pub fn left_right(left: &[Piece], right: &[Piece], width: usize) -> Vec<Piece> {
    let right_width = self::width(right);
    if right_width + 1 >= width {
        return cut(left, width);
    }
    let mut all = cut(left, width - right_width - 1);
    let gap = width.saturating_sub(self::width(&all) + right_width);
    push(&mut all, &" ".repeat(gap), Style::new());
    all.extend_from_slice(right);
    all
}

/// Writes a number the way people read it: `1,234,567`.
pub fn figure(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A stretch of time in whole seconds, for clocks that run.
pub fn seconds(time: std::time::Duration) -> String {
    match time.as_secs() {
        all @ 0..60 => format!("{all} s"),
        _ => text::human::duration(time),
    }
}

/// A grapheme that is wider than the whole row is replaced: nothing may stick out.
fn fitted(grapheme: &str, width: usize) -> (&str, usize) {
    let cells = text::width(grapheme);
    if cells > width { ("…", 1) } else { (grapheme, cells) }
}

struct Filler {
    width: usize,
    rows: Vec<Vec<Piece>>,
    row: Vec<Piece>,
    used: usize,
    word: Vec<Piece>,
    word_width: usize,
    /// Whether the word ends in a wide character: the next one may stand on the next row.
    after_wide: bool,
    /// Spaces between the row and the word; they vanish where the row is broken.
    spaces: usize,
    space_style: Style,
    /// Whether the row begins after a break of ours: then it does not begin with spaces.
    soft: bool,
}

impl Filler {
    fn new(width: usize) -> Self {
        Self {
            width,
            rows: Vec::new(),
            row: Vec::new(),
            used: 0,
            word: Vec::new(),
            word_width: 0,
            after_wide: false,
            spaces: 0,
            space_style: Style::new(),
            soft: false,
        }
    }

    fn take(&mut self, grapheme: &str, style: Style) {
        if grapheme == "\n" || grapheme == "\r\n" {
            self.end_word();
            self.end_row(false);
            return;
        }
        if grapheme == " " {
            self.end_word();
            self.spaces += 1;
            self.space_style = style;
            return;
        }
        let (grapheme, cells) = fitted(grapheme, self.width);
        let wide = cells > 1;
        if (wide || self.after_wide) && !grapheme.starts_with(CLINGS) {
            self.end_word();
        }
        push(&mut self.word, grapheme, style);
        self.word_width += cells;
        self.after_wide = wide;
    }

    fn end_word(&mut self) {
        self.after_wide = false;
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let cells = std::mem::take(&mut self.word_width);
        if self.used + self.spaces + cells > self.width && cells <= self.width && self.used > 0 {
            self.end_row(true);
        }
        self.place_spaces(cells);
        if self.used + cells <= self.width {
            for piece in &word {
                push(&mut self.row, &piece.text, piece.style);
            }
            self.used += cells;
        } else {
            self.place_broken(&word);
        }
    }

    fn place_spaces(&mut self, word_width: usize) {
        let spaces = std::mem::take(&mut self.spaces);
        let at_soft_start = self.used == 0 && self.soft;
        let room = self.width.saturating_sub(self.used);
        if at_soft_start || spaces >= room || (word_width <= room && spaces + word_width > room) {
            return;
        }
        push(&mut self.row, &" ".repeat(spaces), self.space_style);
        self.used += spaces;
    }

    fn place_broken(&mut self, word: &[Piece]) {
        for piece in word {
            for grapheme in piece.text.graphemes(true) {
                let cells = text::width(grapheme);
                if self.used + cells > self.width {
                    self.end_row(true);
                }
                push(&mut self.row, grapheme, piece.style);
                self.used += cells;
            }
        }
    }

    fn end_row(&mut self, soft: bool) {
        self.rows.push(std::mem::take(&mut self.row));
        self.used = 0;
        self.spaces = 0;
        self.soft = soft;
    }

    fn finish(mut self) -> Vec<Vec<Piece>> {
        self.end_word();
        if !self.row.is_empty() || self.rows.is_empty() {
            self.end_row(true);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests;
