//! Sessions: the identity of a conversation on disk, and how it stands in a list.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longest id, in characters.
const LONGEST: usize = 64;

/// Identity of a conversation on disk, such as `20261130-181512-ab12cd`: sorts by time of creation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Makes an id from a time in UTC and a number of chance.
    pub fn new(created: time::UtcDateTime, chance: u32) -> Self {
        let (date, clock) = (created.date(), created.time());
        Self(format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}-{:06x}",
            date.year(),
            u8::from(date.month()),
            date.day(),
            clock.hour(),
            clock.minute(),
            clock.second(),
            chance & 0x00ff_ffff
        ))
    }

    /// Reads an id; `None` for anything that could not be one, such as a path.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase() || c == '-';
        let sound = !text.is_empty() && text.len() <= LONGEST && text.chars().all(fits);
        sound.then(|| Self(text.to_owned()))
    }

    /// The part that tells when, to the second; two ids that share it say no more of the order.
    pub fn second(&self) -> &str {
        self.0.rsplit_once('-').map_or(self.0.as_str(), |(second, _)| second)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a session was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// The session.
    pub id: SessionId,
    /// The message of the user, counted from 1, before which it was left; `None` where all was
    /// taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
}

/// A session in a list. All text in it is raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// When it was begun, RFC 3339 in UTC.
    pub created: String,
    /// When it was written to last, RFC 3339 in UTC.
    pub changed: String,
    /// How long ago that was when the list was made.
    #[serde(skip)]
    pub age: Duration,
    /// The model it was begun with.
    pub model: Option<String>,
    /// The servers that were configured when it was begun.
    pub servers: Vec<String>,
    /// The beginning of the user's first message, on one line or several.
    pub title: String,
    /// How many messages of the user it has.
    pub turns: usize,
    /// Size of the file.
    pub bytes: u64,
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}
