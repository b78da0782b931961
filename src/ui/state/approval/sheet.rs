//! The arguments of a call in rows: the text once, and where each row begins.
//!
//! Nothing of the text is left out or added but indentation and breaks between rows, so that what
//! is read is what is sent: a row is never broken inside an escape, spaces where a row is broken
//! begin the next one, and the indentation of what is nested very deep is cut, never the text.
//! Laying out is one pass over the text for each width; a row costs nothing more than itself.

use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use crate::text;

/// Before the rows that go on with a line.
pub const GOES_ON: &str = "↪ ";
/// Columns of [`GOES_ON`].
const GOES_ON_COLUMNS: usize = 2;
/// Fewest columns of text in a row.
const LEAST: usize = 12;

/// Arguments as pretty-printed JSON in which every character can be seen, in rows.
#[derive(Debug, Default)]
pub struct Sheet {
    text: String,
    columns: usize,
    rows: Vec<At>,
}

/// Where a row begins in the text.
#[derive(Debug, Clone, Copy)]
struct At {
    byte: u32,
    indent: u16,
    goes_on: bool,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Columns left free before it.
    pub indent: usize,
    /// Whether it goes on with the line of the row before.
    pub goes_on: bool,
    /// Its text, without indentation.
    pub text: &'a str,
}

impl Sheet {
    /// The sheet of these arguments; it has no rows before it was given a width.
    pub fn of(arguments: &Map<String, Value>) -> Self {
        let pretty = serde_json::to_string_pretty(arguments).unwrap_or_default();
        Self { text: text::strict_block(&pretty).into_string(), columns: 0, rows: Vec::new() }
    }

    /// Lays out for so many columns, if that was not done already.
    pub fn fit(&mut self, columns: usize) {
        if self.columns == columns && !self.rows.is_empty() {
            return;
        }
        self.columns = columns;
        self.rows.clear();
        let mut start = 0;
        for line in self.text.split('\n') {
            lay(line, start, columns, &mut self.rows);
            start += line.len() + 1;
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row at this place.
    pub fn row(&self, place: usize) -> Option<Row<'_>> {
        let At { byte, indent, goes_on } = *self.rows.get(place)?;
        let start = usize::try_from(byte).ok()?;
        let next = self.rows.get(place + 1);
        let end = match next {
            Some(next) => usize::try_from(next.byte).ok()?,
            None => self.text.len(),
        };
        let text = self.text.get(start..end)?;
        // Up to the next line; that a line of JSON ends in a space cannot be.
        let text = if next.is_some_and(|next| next.goes_on) {
            text
        } else {
            text.trim_end_matches([' ', '\n'])
        };
        Some(Row { indent: usize::from(indent), goes_on, text })
    }
}

/// Adds the rows of one line, which begins at `start` of the text.
fn lay(line: &str, start: usize, columns: usize, rows: &mut Vec<At>) {
    let body = line.trim_start_matches(' ');
    let spaces = line.len() - body.len();
    let indent = spaces.min(columns / 3);
    let room = columns.saturating_sub(indent).max(LEAST);
    let mut from = 0;
    loop {
        let goes_on = from > 0;
        // A text of more than 4 GiB ends here; arguments are bounded far below that.
        let Ok(byte) = u32::try_from(start + spaces + from) else { return };
        rows.push(At { byte, indent: u16::try_from(indent).unwrap_or(u16::MAX), goes_on });
        let room = if goes_on { room.saturating_sub(GOES_ON_COLUMNS) } else { room };
        let taken = take(body.get(from..).unwrap_or_default(), room);
        from += taken;
        if taken == 0 || from >= body.len() {
            return;
        }
    }
}

/// How many bytes of a line go into one row: up to a line break inside a string, else as many as
/// have room, whole words where that does not leave half of the row empty.
fn take(rest: &str, room: usize) -> usize {
    let (mut at, mut used) = (0, 0);
    let mut word: Option<(usize, usize)> = None;
    let mut before = Kind::Other;
    while let Some(unit) = Unit::first(rest.get(at..).unwrap_or_default()) {
        let closes = rest.get(at..).is_some_and(|rest| rest.starts_with('"'));
        if before == Kind::Break && unit.kind != Kind::Break && !closes {
            return at;
        }
        if used + unit.columns > room && at > 0 {
            return word.filter(|(_, used)| used * 2 >= room).map_or(at, |(at, _)| at);
        }
        if unit.kind == Kind::Space && before != Kind::Space && at > 0 {
            word = Some((at, used));
        }
        before = unit.kind;
        used += unit.columns;
        at += unit.bytes;
    }
    at
}

/// What a unit is, as far as breaking rows is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    /// A line break that is written out: `\n`.
    Break,
    Other,
}

/// What stays together: an escape, or what the screen shows in one place.
#[derive(Debug, Clone, Copy)]
struct Unit {
    bytes: usize,
    columns: usize,
    kind: Kind,
}

impl Unit {
    fn first(rest: &str) -> Option<Self> {
        let mut bytes = rest.bytes();
        let (first, second) = (bytes.next()?, bytes.next());
        if first == b'\\' {
            return Some(Self::escape(rest));
        }
        if first.is_ascii() && second.is_none_or(|byte| byte.is_ascii()) {
            let kind = if first == b' ' { Kind::Space } else { Kind::Other };
            return Some(Self { bytes: 1, columns: 1, kind });
        }
        let cluster = rest.graphemes(true).next()?;
        Some(Self { bytes: cluster.len(), columns: text::width(cluster), kind: Kind::Other })
    }

    /// Backslashes stand only in strings, and a backslash that is meant is written twice.
    fn escape(rest: &str) -> Self {
        let bytes = escape(rest);
        let kind = if rest.starts_with("\\n") { Kind::Break } else { Kind::Other };
        Self { bytes, columns: bytes, kind }
    }
}

/// Length of the escape that a text begins with: `\n`, `\u001b`, or `\u{202e}`, which is ours.
fn escape(rest: &str) -> usize {
    let end = match rest.as_bytes().get(1..3) {
        Some(b"u{") => rest.find('}').map(|at| at + 1),
        Some([b'u', _]) => Some(6),
        _ => Some(2),
    };
    // Whatever it was, it ends where a character ends.
    let end = end.filter(|end| rest.is_char_boundary(*end)).unwrap_or(1);
    end.min(rest.len())
}

/// A row cut where our own marks begin and end: the text, and whether it is such a mark.
pub fn marks(row: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = row.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        let length = escape(row.get(start..).unwrap_or_default());
        at = start + length.max(1);
        if row.get(start..).is_some_and(|rest| rest.starts_with("\\u{")) {
            pieces.extend(
                row.get(from..start).filter(|text| !text.is_empty()).map(|text| (text, false)),
            );
            pieces.extend(row.get(start..at).map(|text| (text, true)));
            from = at;
        }
    }
    pieces.extend(row.get(from..).filter(|text| !text.is_empty()).map(|text| (text, false)));
    pieces
}

/// Columns of the name that a row begins with, `"name":`, where it begins with one.
pub fn name(row: &str) -> Option<&str> {
    let mut rest = row.strip_prefix('"')?;
    loop {
        let at = rest.find(['"', '\\'])?;
        let found = rest.get(at..)?;
        if let Some(after) = found.strip_prefix('"') {
            after.strip_prefix(": ")?;
            return row.get(..row.len() - after.len());
        }
        rest = found.get(escape(found)..)?;
    }
}

#[cfg(test)]
mod tests;
