//! Conversations on disk: one event a line, append-only.
//!
//! What stands in a file is put in order when it is read: `mend` gives every call of the model
//! exactly one result, whatever the moment at which the program was killed.

mod mend;
pub mod replay;
pub mod scrub;
pub mod store;
pub mod transcript;

use serde::{Deserialize, Serialize};

use crate::agent::Past;
use crate::domain::{Message, Source, Warning};

pub use crate::agent::SessionEvent;
pub use crate::domain::session::{Parent, SessionId, SessionSummary};

/// The format that is written. Files with a higher one are read as far as they are understood, and
/// never written to.
pub const VERSION: u32 = 1;

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
    /// The servers that were configured then.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

impl Header {
    /// A header of the present format.
    pub fn new(id: SessionId, created: String, model: Option<String>) -> Self {
        let kind = "header".to_owned();
        Self { kind, version: VERSION, id, created, model, servers: Vec::new(), parent: None }
    }

    /// The header of a file whose own is lost, from what the file's name tells.
    fn lost(id: SessionId) -> Self {
        let created = created(&id).unwrap_or_default();
        Self::new(id, created, None)
    }
}

/// The time that an id tells.
fn created(id: &SessionId) -> Option<String> {
    let (date, clock) = id.second().split_once('-')?;
    let digits =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(date, 8) && digits(clock, 6)) {
        return None;
    }
    let part = |text: &str, from: usize, to: usize| text.get(from..to).map(str::to_owned);
    Some(format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(date, 0, 4)?,
        part(date, 4, 6)?,
        part(date, 6, 8)?,
        part(clock, 0, 2)?,
        part(clock, 2, 4)?,
        part(clock, 4, 6)?
    ))
}

/// An event as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it was written, RFC 3339 in UTC.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub event: SessionEvent,
    /// How many messages of the user there are up to here. It stands at the end of the line, so
    /// that the end of a file tells it.
    #[serde(default)]
    pub turns: usize,
}

/// A conversation as read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Its first line.
    pub header: Header,
    /// Its events in order.
    pub lines: Vec<Line>,
    /// Lines that could not be read: damaged, too long, or of a later version.
    pub skipped: usize,
    /// The last line was not written to its end.
    pub torn: bool,
}

impl Transcript {
    /// The messages, to go on with: every call of the model has exactly one result right after the
    /// message that asked.
    pub fn messages(&self) -> Vec<Message> {
        mend::messages(&self.lines)
    }

    /// All that is needed to go on.
    pub fn past(&self) -> Past {
        Past {
            messages: self.messages(),
            summaries: mend::summaries(&self.lines),
            results: mend::results(&self.lines),
            granted: mend::granted(&self.lines),
        }
    }

    /// How many messages of the user there are.
    pub fn turns(&self) -> usize {
        self.user_messages().count()
    }

    /// The messages of the user, in order.
    pub fn user_messages(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match &line.event {
            SessionEvent::Message { message: Message::User { text } } => Some(text.as_str()),
            _ => None,
        })
    }

    /// What is wrong with the file.
    pub fn warnings(&self) -> Vec<Warning> {
        let id = &self.header.id;
        let mut found = Vec::new();
        if self.header.version > VERSION {
            found.push((
                format!("The session {id} was written by a later version of the program: parts of it may be missing."),
                "It is not written to: a copy is gone on with. Use the later version for all of it.",
            ));
        }
        if self.skipped > 0 {
            let lines = if self.skipped == 1 { "line" } else { "lines" };
            found.push((
                format!("{} {lines} of the session {id} cannot be read and are left out.", self.skipped),
                "The file is damaged there, as after a power failure; everything else in it is used.",
            ));
        }
        if self.torn {
            found.push((
                format!(
                    "The last line of the session {id} was not written to its end and is left out."
                ),
                "The program or the machine stopped at that moment; everything before it is there.",
            ));
        }
        let warning = |(message, advice)| Warning::new(Source::Program, message, advice);
        found.into_iter().map(warning).collect()
    }
}
