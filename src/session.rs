//! Conversations on disk: one event a line, append-only.

pub mod replay;
pub mod store;
pub mod transcript;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::Message;

pub use crate::agent::SessionEvent;

/// The format that is written.
pub const VERSION: u32 = 1;

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
        let sound = !text.is_empty() && text.len() <= 64 && text.chars().all(fits);
        sound.then(|| Self(text.to_owned()))
    }

    /// The part that tells when, to the second; two ids that share it say no more of the order.
    pub(crate) fn second(&self) -> &str {
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

/// The first line of a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Always `header`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The format.
    pub version: u32,
    /// The conversation.
    pub id: SessionId,
    /// When it was begun, RFC 3339 in UTC.
    pub created: String,
    /// The model it was begun with.
    #[serde(default)]
    pub model: Option<String>,
}

impl Header {
    /// A header of the present format.
    pub fn new(id: SessionId, created: String, model: Option<String>) -> Self {
        Self { kind: "header".to_owned(), version: VERSION, id, created, model }
    }
}

/// An event as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it was written, RFC 3339 in UTC.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub event: SessionEvent,
}

/// A conversation as read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Its first line.
    pub header: Header,
    /// Its events in order.
    pub lines: Vec<Line>,
    /// Lines in the middle that could not be read.
    pub skipped: usize,
}

impl Transcript {
    /// The messages, to go on with. They may lack results where the program was killed; the agent
    /// mends that.
    pub fn messages(&self) -> Vec<Message> {
        let message = |line: &Line| match &line.event {
            SessionEvent::Message { message } => Some(message.clone()),
            SessionEvent::Call { .. }
            | SessionEvent::ModelChanged { .. }
            | SessionEvent::TurnEnded { .. } => None,
        };
        self.lines.iter().filter_map(message).collect()
    }
}
