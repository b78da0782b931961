//! A text that grows, in parts that stay.
//!
//! [`Document`] cuts its source where nothing that comes later can change what is before: at blank
//! lines between blocks, round fenced code, and where a block would get too long. Parts but the
//! last never change, so they are laid out once; appending costs the new text, and laying out
//! again costs the last part. Where it cuts depends on the text alone, never on the pieces it came
//! in: a streamed text and a whole one give the same rows.

use std::ops::Range;

use ratatui::style::Style;

use super::code;
use super::flow::{self, Row};
use super::markdown;
use super::theme::Theme;
use crate::text;

/// A part of this size ends at the next blank line, whatever is cut there; code at the next line.
const SOFT: usize = 8 * 1024;
/// A part ends where it reaches this size, whatever is cut; so does a line.
const HARD: usize = 16 * 1024;
/// Paragraphs shorter than this share a part.
const SMALL: usize = 512;

/// A Markdown text that can grow.
#[derive(Debug, Default)]
pub struct Document {
    source: String,
    parts: Vec<Part>,
    /// Where the last part, still growing, begins.
    open: Part,
    /// Where the first line that is not complete begins.
    line: usize,
    /// How far line breaks were looked for.
    searched: usize,
    fence: Option<Fence>,
    blank: bool,
    list: bool,
}

/// A stretch of the source that is laid out by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Part {
    range: Range<usize>,
    /// Inside which fence it begins.
    fence: Option<Fence>,
    /// Whether it is fenced code as a whole.
    code: bool,
    /// Whether a blank row belongs before it.
    gap: bool,
}

/// The opening line of fenced code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fence {
    marker: char,
    length: usize,
    indent: usize,
    info: String,
    /// Inside a list: laid out with it, not by itself.
    nested: bool,
}

impl Document {
    /// A whole text.
    pub fn of(source: &str) -> Self {
        let mut document = Self::default();
        document.push(source);
        document
    }

    /// Appends.
    pub fn push(&mut self, chunk: &str) {
        self.source.push_str(chunk);
        while let Some(end) = self.next_line() {
            self.take_line(end);
            self.line = end;
            self.searched = end;
        }
    }

    /// The raw text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Number of parts; the last one may still change.
    pub fn parts(&self) -> usize {
        self.parts.len() + 1
    }

    /// Changes whenever the rows of that part may have changed.
    pub fn revision(&self, part: usize) -> usize {
        self.parts.get(part).map_or(self.source.len(), |part| part.range.end)
    }

    /// The rows of one part.
    pub fn rows(&self, part: usize, width: usize, theme: &Theme, base: Style) -> Vec<Row> {
        let open = Part { range: self.open.range.start..self.source.len(), ..self.open.clone() };
        let Some(part) =
            self.parts.get(part).or_else(|| (part == self.parts.len()).then_some(&open))
        else {
            return Vec::new();
        };
        let source = self.source.get(part.range.clone()).unwrap_or_default();
        let mut rows = if part.code {
            code_rows(source, part.fence.as_ref(), width, theme)
        } else {
            markdown::rows(source, width, theme, base)
        };
        if part.gap && !rows.is_empty() {
            rows.insert(0, Row::default());
        }
        rows
    }

    /// The end of the first line not yet taken, if it is complete. A line without an end is cut
    /// into lines of its own, so that no text is too long to be laid out.
    fn next_line(&mut self) -> Option<usize> {
        let from = self.searched.max(self.line);
        let limit = self.line + HARD;
        if let Some(at) = self.source.get(from..)?.find('\n')
            && from + at < limit
        {
            return Some(from + at + 1);
        }
        if self.source.len() < limit {
            self.searched = self.source.len();
            return None;
        }
        (0..4).map(|back| limit - back).find(|at| self.source.is_char_boundary(*at))
    }

    fn take_line(&mut self, end: usize) {
        let start = self.line;
        let line = self.source.get(start..end).unwrap_or_default();
        if let Some(fence) = &self.fence {
            self.take_code_line(fence.closed_by(line), fence.nested, end);
        } else if line.trim().is_empty() {
            self.blank = true;
        } else {
            let facts = LineFacts::of(line, self.list);
            self.take_text_line(&facts, start);
        }
        if end - self.open.range.start >= HARD - 4 {
            self.cut(end, false);
        }
    }

    fn take_code_line(&mut self, closed: bool, nested: bool, end: usize) {
        if closed {
            self.fence = None;
            self.blank = false;
            if !nested {
                self.cut(end, true);
            }
        } else if !nested && end - self.open.range.start >= SOFT {
            self.cut(end, false);
        }
    }

    fn take_text_line(&mut self, facts: &LineFacts, start: usize) {
        let length = start - self.open.range.start;
        let between = self.blank && facts.indent == 0 && length >= SMALL;
        let safe = between && (!self.list || !facts.item || length >= SOFT);
        let fenced = facts.fence.as_ref().is_some_and(|fence| !fence.nested);
        if length > 0 && (safe || fenced) {
            self.cut(start, true);
        }
        if facts.item {
            self.list = true;
        } else if self.blank && facts.indent == 0 {
            self.list = false;
        }
        self.blank = false;
        self.fence.clone_from(&facts.fence);
        if fenced {
            self.list = false;
            self.open.code = true;
        }
    }

    /// Ends the open part at `end` and begins the next one there.
    fn cut(&mut self, end: usize, gap: bool) {
        let next = Part {
            range: end..end,
            code: self.fence.as_ref().is_some_and(|fence| !fence.nested),
            fence: self.fence.clone().filter(|fence| !fence.nested),
            gap,
        };
        let mut done = std::mem::replace(&mut self.open, next);
        done.range.end = end;
        self.parts.push(done);
    }
}

/// What matters of a line outside code.
struct LineFacts {
    indent: usize,
    item: bool,
    fence: Option<Fence>,
}

impl LineFacts {
    fn of(line: &str, in_list: bool) -> Self {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let item = indent <= 3 && begins_item(line.trim_start());
        let fence = Fence::opened_by(line, indent, in_list && indent > 0);
        Self { indent, item, fence }
    }
}

impl Fence {
    fn opened_by(line: &str, indent: usize, nested: bool) -> Option<Self> {
        let text = line.trim_start();
        let marker = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == marker).count();
        let info = text.trim_start_matches(marker).trim();
        let valid =
            length >= 3 && (nested || indent <= 3) && !(marker == '`' && info.contains('`'));
        valid.then(|| Self { marker, length, indent, info: info.to_owned(), nested })
    }

    fn closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length
            && text.chars().all(|c| c == self.marker)
            && (self.nested || line.len() - line.trim_start().len() <= 3)
    }
}

fn begins_item(text: &str) -> bool {
    let after = if let Some(after) = text.strip_prefix(['-', '*', '+']) {
        after
    } else {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() == text.len() || text.len() - digits.len() > 9 {
            return false;
        }
        let Some(after) = digits.strip_prefix(['.', ')']) else { return false };
        after
    };
    after.is_empty() || after.starts_with([' ', '\t', '\n', '\r'])
}

/// Fenced code, or a middle of it: `inside` is the fence it continues.
fn code_rows(source: &str, inside: Option<&Fence>, width: usize, theme: &Theme) -> Vec<Row> {
    let mut lines: Vec<&str> = source.lines().collect();
    let opened = if inside.is_none() && !lines.is_empty() {
        let opener = lines.remove(0);
        LineFacts::of(opener, false).fence
    } else {
        None
    };
    let Some(fence) = inside.or(opened.as_ref()) else { return Vec::new() };
    if lines.last().is_some_and(|line| fence.closed_by(line)) {
        lines.pop();
    }
    let body: Vec<&str> = lines.iter().map(|line| unindented(line, fence.indent)).collect();
    if body.is_empty() {
        return Vec::new();
    }
    let clean = text::block(&body.join("\n").replace('\t', "    ")).into_string();
    code::block(&fence.info, &clean, width, theme).into_iter().map(flow::row).collect()
}

fn unindented(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    line.get(spaces.min(indent)..).unwrap_or(line)
}

#[cfg(test)]
mod tests;
