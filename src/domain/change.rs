//! Differences between two definitions of a tool, as data.
//!
//! Everything in them quotes a server: clean before showing.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

/// One difference between the definition that is remembered of a tool and the one it has now. As a
/// text it is a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Where in the definition: a JSON pointer such as `/inputSchema/properties/repo/type`.
    pub path: String,
    /// What it is about, such as `description` or `parameter “repo”: type`.
    pub subject: String,
    /// What became of it.
    #[serde(flatten)]
    pub kind: ChangeKind,
    /// The whole in a sentence; long values are cut.
    pub sentence: String,
}

/// What became of a part of a definition. Values are JSON or text, cut where they are very long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum ChangeKind {
    /// It is new.
    Added {
        /// What it is.
        new: String,
    },
    /// It is gone.
    Removed {
        /// What it was.
        old: String,
    },
    /// It has another value.
    Replaced {
        /// What it was.
        old: String,
        /// What it is.
        new: String,
    },
    /// It is a text of which words changed.
    Reworded {
        /// The old and the new text in one: runs of words in order.
        words: Vec<Words>,
    },
}

/// A run of words of a text that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Words {
    /// Whether it stands in both texts, or in which.
    pub kept: Kept,
    /// The words, with the white space after them.
    pub text: String,
}

/// In which of two texts words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kept {
    /// In both.
    Same,
    /// Only in the old one.
    Removed,
    /// Only in the new one.
    Added,
}

impl Deref for Change {
    type Target = str;

    fn deref(&self) -> &str {
        &self.sentence
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
