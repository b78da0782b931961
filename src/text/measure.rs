//! Columns of clean text: how many, where to cut, where to break.
//!
//! Everything counts by grapheme cluster, with the same width for each that the screen's buffer
//! gives it; so a cluster is never halved and frames stay straight.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a clean text takes on the terminal.
pub fn width(text: &str) -> usize {
    if is_plain_ascii(text) {
        return text.len();
    }
    text.graphemes(true).map(cluster).sum()
}

/// Cuts to at most `columns`, between grapheme clusters; a cut text ends in `…`.
pub fn cut(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let mut keep = 0;
    for (at, piece) in text.grapheme_indices(true) {
        let wide = cluster(piece);
        if taken + wide > columns {
            let head = text.get(..keep).unwrap_or_default();
            return if columns == 0 { String::new() } else { format!("{head}…") };
        }
        taken += wide;
        if taken < columns {
            keep = at + piece.len();
        }
    }
    text.to_owned()
}

/// Cuts to at most `columns` like [`cut`], but in the middle: where names begin alike, their ends
/// tell them apart.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let most = columns.saturating_sub(1) / 3;
    let mut taken = 0;
    let mut from = text.len();
    for (at, piece) in text.grapheme_indices(true).rev() {
        let wide = cluster(piece);
        if taken + wide > most {
            break;
        }
        taken += wide;
        from = at;
    }
    let tail = text.get(from..).unwrap_or_default();
    format!("{}{tail}", cut(text, columns - taken))
}

/// Breaks a clean text into rows of at most `columns`, at word boundaries where there are any.
///
/// Rows keep the spaces they begin with; spaces at a break and at the end of a row are dropped,
/// nothing else is. A cluster wider than a whole row becomes `…`. No columns, no rows.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    if columns == 0 {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, columns, &mut rows);
    }
    rows
}

fn wrap_line(line: &str, columns: usize, rows: &mut Vec<String>) {
    if line.len() <= columns && is_plain_ascii(line) {
        rows.push(line.trim_end_matches(' ').to_owned());
        return;
    }
    let mut row = Row { rows, columns, text: String::new(), taken: 0, gap: 0 };
    let mut word = (String::new(), 0);
    for piece in line.graphemes(true) {
        let wide = cluster(piece);
        let breaks = piece == " " || (wide > 1 && !clings(piece));
        if breaks {
            row.word(&word.0, word.1);
            word = (String::new(), 0);
        }
        if piece == " " {
            row.gap += 1;
        } else {
            word.0.push_str(piece);
            word.1 += wide;
        }
    }
    row.word(&word.0, word.1);
    row.flush();
}

struct Row<'a> {
    rows: &'a mut Vec<String>,
    columns: usize,
    text: String,
    taken: usize,
    /// Spaces that are written only if something follows them on the same row.
    gap: usize,
}

impl Row<'_> {
    fn flush(&mut self) {
        self.rows.push(std::mem::take(&mut self.text));
        self.taken = 0;
        self.gap = 0;
    }

    /// Adds a word where it fits: on this row, on the next one, or, if it fits on none, piece by
    /// piece from here on.
    fn word(&mut self, word: &str, wide: usize) {
        if word.is_empty() {
            return;
        }
        let fits = self.taken + self.gap + wide <= self.columns;
        let begun = !self.text.is_empty();
        if !fits && begun && (wide <= self.columns || self.taken + self.gap >= self.columns) {
            self.flush();
        }
        if self.gap < self.columns {
            self.text.extend(std::iter::repeat_n(' ', self.gap));
            self.taken += self.gap;
        }
        self.gap = 0;
        if self.taken + wide <= self.columns {
            self.text.push_str(word);
            self.taken += wide;
        } else {
            self.pieces(word);
        }
    }

    fn pieces(&mut self, word: &str) {
        for piece in word.graphemes(true) {
            let (piece, wide) = match cluster(piece) {
                wide if wide > self.columns => ("…", 1),
                wide => (piece, wide),
            };
            if self.taken + wide > self.columns {
                self.flush();
            }
            self.text.push_str(piece);
            self.taken += wide;
        }
    }
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Columns of one cluster: as the screen's buffer counts them. Half-width sound marks take a column
/// of their own there; a cluster with a control character in it is not drawn at all.
fn cluster(piece: &str) -> usize {
    if piece.contains(char::is_control) {
        return 0;
    }
    let sound_marks = piece.chars().filter(|c| matches!(c, '\u{ff9e}' | '\u{ff9f}')).count();
    piece.width() + sound_marks
}

/// Closing punctuation of East Asian scripts: no row begins with it.
fn clings(piece: &str) -> bool {
    piece.starts_with(|c| {
        matches!(
            c,
            '、' | '。'
                | '，'
                | '．'
                | '：'
                | '；'
                | '！'
                | '？'
                | '）'
                | '］'
                | '｝'
                | '」'
                | '』'
                | '】'
                | '》'
                | '〉'
        )
    })
}
