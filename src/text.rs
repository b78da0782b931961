//! The one place where outside text becomes showable.
//!
//! Running text ([`line()`], [`block`]) loses its escape sequences whole, payload included; every other
//! control, direction mark and zero-width character becomes visible, except joiners and variation
//! selectors that do a job. What a decision depends on ([`strict_line`], [`strict_block`]) loses
//! nothing: every character that cannot be seen is written out, so that two different texts never
//! look the same by means of it; [`is_suspicious`] says in a sentence that there was such a thing.
//!
//! [`Shown`] can only be made here; whatever draws or prints outside text takes a `Shown`. No
//! output holds a control character, except `\n` in blocks. Everything is linear in its input.

use std::fmt;

mod clean;
mod escape;
mod fit;
pub mod human;
mod lookalike;
mod measure;
mod nearest;
mod suspect;

pub use fit::{cell, console, is_unseen};
pub use lookalike::{poses_as, resembles, skeleton, suspicious_host};
pub use measure::{cut, cut_middle, width, wrap};
pub use nearest::{distance, nearest};
pub use suspect::{is_suspicious, is_suspicious_value};

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
/// join. Line breaks and tabs become one space.
pub fn line(raw: &str) -> Shown {
    Shown(clean::line(raw))
}

/// Running text of several lines: `\n` stays, tabs become spaces up to the next multiple of eight
/// columns, and of a line that was overwritten with carriage returns the last state is shown.
pub fn block(raw: &str) -> Shown {
    Shown(clean::block(raw))
}

/// One line of a name, a URL or arguments: every invisible character is made visible.
pub fn strict_line(raw: &str) -> Shown {
    Shown(clean::strict_line(raw))
}

/// Arguments and everything else an approval shows, on several lines: every invisible character is
/// made visible, `\n` stays.
pub fn strict_block(raw: &str) -> Shown {
    Shown(clean::strict_block(raw))
}

#[cfg(test)]
mod tests;
