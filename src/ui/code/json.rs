//! JSON for cards and approval dialogs: every string cleaned strictly, every bound stated.

use serde_json::{Map, Value};

use crate::text;
use crate::ui::flow::{self, Piece, Row};
use crate::ui::theme::Theme;

/// Levels that are laid out; what is deeper is shown in one line.
const DEPTH: usize = 64;

/// Indenting that makes a text this many times longer does not help reading.
const GROWTH: usize = 8;

/// How much of a value is laid out. What is left out is said with its figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Characters of one string.
    pub string: usize,
    /// Lines, before folding.
    pub lines: usize,
}

impl JsonLimits {
    /// For a card in the conversation.
    pub const CARD: Self = Self { string: 20_000, lines: 2_000 };
    /// For a decision: nothing that a person could read is left out.
    pub const DECISION: Self = Self { string: 200_000, lines: 20_000 };
}

/// A value pretty-printed in rows of at most `width` columns. Long lines are folded with a mark;
/// every invisible character of names and strings is made visible.
pub fn json_rows(value: &Value, width: usize, theme: &Theme, limits: JsonLimits) -> Vec<Row> {
    let mut printer = Printer { theme, limits, lines: Vec::new(), open: Vec::new(), skipped: 0 };
    printer.value(value, 0);
    printer.end_line();
    let skipped = printer.skipped;
    let mark = Piece::new("↪ ", theme.muted);
    let mut rows: Vec<Row> = printer
        .lines
        .into_iter()
        .flat_map(|line| flow::fold(&line, width, &mark))
        .map(flow::row)
        .collect();
    if skipped > 0 {
        let note = format!("… {} more lines not shown", flow::figure(skipped));
        rows.push(flow::row(vec![Piece::new(text::cut(&note, width), theme.mark)]));
    }
    rows
}

/// Arguments in one line of at most `width` columns: `owner="my-org" page=2`.
pub fn json_line(arguments: &Map<String, Value>, width: usize, theme: &Theme) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut used = 0;
    for (name, value) in arguments {
        if used > width {
            break;
        }
        let gap = if pieces.is_empty() { "" } else { " " };
        let name = text::strict_line(&head(name, width)).into_string();
        flow::push(&mut pieces, &format!("{gap}{name}="), theme.muted);
        let shown = text::strict_line(&compact(value, width)).into_string();
        used += gap.len() + text::width(&name) + 1 + text::width(&shown);
        flow::push(&mut pieces, &shown, value_style(value, theme));
    }
    flow::cut(&pieces, width)
}

/// The same JSON over lines, for reading: nothing but white space is added or taken away, so
/// numbers keep every digit. `None` for what is no object or array, has lines already, or would be
/// mostly indentation.
pub fn indented(json: &str) -> Option<String> {
    let json = json.trim();
    if !json.starts_with(['{', '[']) || json.contains('\n') {
        return None;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(json).ok()?;
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut rest = json.chars().peekable();
    while let Some(c) = rest.next() {
        if out.len() > json.len() * GROWTH + 1_024 {
            return None;
        }
        match c {
            '"' => copy_string(&mut out, &mut rest),
            '{' | '[' => {
                out.push(c);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(close) = rest.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    Some(out)
}

fn copy_string(out: &mut String, rest: &mut impl Iterator<Item = char>) {
    out.push('"');
    let mut escaped = false;
    for c in rest {
        out.push(c);
        if c == '"' && !escaped {
            return;
        }
        escaped = c == '\\' && !escaped;
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(DEPTH) {
        out.push_str("  ");
    }
}

/// As much of the compact form as can matter in `width` columns, without writing all of it.
fn compact(value: &Value, width: usize) -> String {
    match value {
        Value::String(string) => quoted(&head(string, width)),
        Value::Array(items) => {
            let mut out = String::from("[");
            for (index, item) in items.iter().enumerate() {
                if out.len() > width * 4 {
                    break;
                }
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&compact(item, width));
            }
            out.push(']');
            out
        }
        Value::Object(map) => {
            let mut out = String::from("{");
            for (index, (name, item)) in map.iter().enumerate() {
                if out.len() > width * 4 {
                    break;
                }
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&head(name, width));
                out.push_str(": ");
                out.push_str(&compact(item, width));
            }
            out.push('}');
            out
        }
        other => other.to_string(),
    }
}

fn head(string: &str, width: usize) -> String {
    string.chars().take(width.saturating_mul(2) + 2).collect()
}

fn quoted(string: &str) -> String {
    Value::String(string.to_owned()).to_string()
}

fn value_style(value: &Value, theme: &Theme) -> ratatui::style::Style {
    match value {
        Value::String(_) => theme.string,
        Value::Null | Value::Bool(_) | Value::Number(_) => theme.number,
        Value::Array(_) | Value::Object(_) => theme.text,
    }
}

struct Printer<'t> {
    theme: &'t Theme,
    limits: JsonLimits,
    lines: Vec<Vec<Piece>>,
    open: Vec<Piece>,
    skipped: u64,
}

impl Printer<'_> {
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.open);
        if self.lines.len() < self.limits.lines {
            self.lines.push(line);
        } else {
            self.skipped += 1;
        }
    }

    fn indent(&mut self, depth: usize) {
        flow::push(&mut self.open, &"  ".repeat(depth), self.theme.text);
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(string) => self.string(string, depth),
            Value::Array(items) if !items.is_empty() && depth < DEPTH => self.array(items, depth),
            Value::Object(map) if !map.is_empty() && depth < DEPTH => self.object(map, depth),
            other => {
                let shown = text::strict_line(&compact(other, self.limits.string)).into_string();
                flow::push(&mut self.open, &shown, value_style(other, self.theme));
            }
        }
    }

    fn array(&mut self, items: &[Value], depth: usize) {
        flow::push(&mut self.open, "[", self.theme.text);
        self.end_line();
        for (index, item) in items.iter().enumerate() {
            self.indent(depth + 1);
            self.value(item, depth + 1);
            self.comma(index + 1 < items.len());
        }
        self.indent(depth);
        flow::push(&mut self.open, "]", self.theme.text);
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) {
        flow::push(&mut self.open, "{", self.theme.text);
        self.end_line();
        for (index, (name, item)) in map.iter().enumerate() {
            self.indent(depth + 1);
            let name = text::strict_line(&quoted(&self.bounded(name))).into_string();
            flow::push(&mut self.open, &name, self.theme.accent);
            flow::push(&mut self.open, ": ", self.theme.text);
            self.value(item, depth + 1);
            self.comma(index + 1 < map.len());
        }
        self.indent(depth);
        flow::push(&mut self.open, "}", self.theme.text);
    }

    fn comma(&mut self, more: bool) {
        if more {
            flow::push(&mut self.open, ",", self.theme.text);
        }
        self.end_line();
    }

    /// A string with line breaks goes over lines, each ending in the `\n` that is really there.
    fn string(&mut self, string: &str, depth: usize) {
        let shown = quoted(&self.bounded(string));
        let mut rest = shown.as_str();
        while let Some((line, after)) = split_after_line_break(rest) {
            let clean = text::strict_line(line);
            flow::push(&mut self.open, clean.as_str(), self.theme.string);
            self.end_line();
            self.indent(depth + 1);
            rest = after;
        }
        flow::push(&mut self.open, text::strict_line(rest).as_str(), self.theme.string);
        let left_out = string.chars().count().saturating_sub(self.limits.string);
        if left_out > 0 {
            let note = format!(" … {} more characters", flow::figure(left_out as u64));
            flow::push(&mut self.open, &note, self.theme.mark);
        }
    }

    fn bounded(&self, string: &str) -> String {
        string.chars().take(self.limits.string).collect()
    }
}

/// Splits behind the first escaped line break that is not the end.
fn split_after_line_break(quoted: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        if escaped && c == 'n' {
            let (line, after) = quoted.split_at_checked(at + 1)?;
            return (after != "\"").then_some((line, after));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}
