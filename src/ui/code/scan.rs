//! One pass over a line of code: words, strings, comments, numbers.

use ratatui::style::Style;

use super::languages::{self, Kind, Language};
use crate::ui::flow::{self, Piece};
use crate::ui::theme::Theme;

/// Colours lines of one block, in order; remembers comments and strings that go over lines.
#[derive(Debug)]
pub struct Highlighter {
    language: Option<&'static Language>,
    inside: Option<Inside>,
}

/// What an earlier line left open.
#[derive(Debug, Clone, Copy)]
struct Inside {
    end: &'static str,
    comment: bool,
}

impl Highlighter {
    /// For the language that the info string of a fence names. An unknown one stays plain.
    pub fn new(info: &str) -> Self {
        Self { language: languages::find(info), inside: None }
    }

    /// The next line in colours. The text of the pieces together is the line.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Vec<Piece> {
        let mut out = Vec::new();
        match self.language {
            None => flow::push(&mut out, line, theme.code),
            Some(language) if language.kind == Kind::Diff => {
                flow::push(&mut out, line, diff_style(line, theme));
            }
            Some(language) => self.scan(language, line, theme, &mut out),
        }
        out
    }

    fn scan(
        &mut self,
        language: &'static Language,
        line: &str,
        theme: &Theme,
        out: &mut Vec<Piece>,
    ) {
        let mut rest = line;
        let mut before = None;
        while !rest.is_empty() {
            let (length, style) = self.token(language, rest, before, theme);
            let (token, after) = rest.split_at_checked(length.max(1)).unwrap_or((rest, ""));
            flow::push(out, token, style);
            before = token.chars().next_back();
            rest = after;
        }
    }

    /// Length in bytes and style of what `rest` begins with.
    fn token(
        &mut self,
        language: &'static Language,
        rest: &str,
        before: Option<char>,
        theme: &Theme,
    ) -> (usize, Style) {
        if let Some(inside) = self.inside {
            let style = if inside.comment { theme.muted } else { theme.string };
            let Some(at) = rest.find(inside.end) else { return (rest.len(), style) };
            self.inside = None;
            return (at + inside.end.len(), style);
        }
        if begins_comment(language, rest, before) {
            return (rest.len(), theme.muted);
        }
        if let Some((length, inside)) = long_opener(language, rest) {
            self.inside = Some(inside);
            return (length, if inside.comment { theme.muted } else { theme.string });
        }
        let Some(first) = rest.chars().next() else { return (0, theme.text) };
        if language.quotes.contains(first) {
            let length = string_length(rest, first);
            let is_key = language.kind == Kind::Keyed && followed_by_colon(rest, length);
            return (length, if is_key { theme.accent } else { theme.string });
        }
        if first.is_ascii_digit() && !before.is_some_and(is_word) {
            return (run(rest, |c| c.is_alphanumeric() || c == '.' || c == '_'), theme.number);
        }
        if is_word(first) {
            return word(language, rest, before, theme);
        }
        (run(rest, |c| !is_word(c) && c == first).max(first.len_utf8()), theme.text)
    }
}

fn word(language: &Language, rest: &str, before: Option<char>, theme: &Theme) -> (usize, Style) {
    let keyed = language.kind == Kind::Keyed;
    let length = run(rest, |c| is_word(c) || (keyed && matches!(c, '-' | '.' | '/')));
    let word = rest.get(..length).unwrap_or(rest);
    let style = if keyed && followed_by_colon(rest, length) {
        theme.accent
    } else if language.kind == Kind::Markup && matches!(before, Some('<' | '/')) {
        theme.keyword
    } else if languages::is_constant(word) {
        theme.number
    } else if language.has_keyword(word) {
        theme.keyword
    } else {
        theme.text
    };
    (length, style)
}

fn diff_style(line: &str, theme: &Theme) -> Style {
    if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") {
        theme.title
    } else if line.starts_with('+') {
        theme.good
    } else if line.starts_with('-') {
        theme.danger
    } else if line.starts_with("@@") {
        theme.accent
    } else {
        theme.text
    }
}

/// `#` begins a comment in shells and YAML only after white space: `a#b` is a word there.
fn begins_comment(language: &Language, rest: &str, before: Option<char>) -> bool {
    language.line_comments.iter().any(|mark| {
        rest.starts_with(mark) && (*mark != "#" || before.is_none_or(char::is_whitespace))
    })
}

fn long_opener(language: &Language, rest: &str) -> Option<(usize, Inside)> {
    if let Some((start, end)) = language.block_comment
        && rest.starts_with(start)
    {
        return Some((start.len(), Inside { end, comment: true }));
    }
    let quote = language.long_quotes.iter().find(|quote| rest.starts_with(**quote))?;
    Some((quote.len(), Inside { end: quote, comment: false }))
}

/// A string of one line, with its quotes; to the end of the line where it is not closed.
fn string_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

fn followed_by_colon(rest: &str, length: usize) -> bool {
    let after = rest.get(length..).unwrap_or_default().trim_start();
    after.starts_with([':', '=']) && !after.starts_with("==")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn run(rest: &str, wanted: impl Fn(char) -> bool) -> usize {
    rest.char_indices().find(|(_, c)| !wanted(*c)).map_or(rest.len(), |(at, _)| at)
}
