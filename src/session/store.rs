//! Session files: `<data>/sessions/<id>.jsonl`, private to the user.
//!
//! Each is written to by one instance at a time, which holds it locked (`file`). Reading never
//! fails for what stands in a file (`read`); lists look at the beginning and the end of each file
//! only (`list`); going on and forking are in `open`. Everything here blocks on the disk: call it
//! away from the event loop.

mod file;
mod list;
mod open;
mod read;

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::SessionId;
use crate::store::{StoreError, open_append};
use crate::text;

pub use file::{Claim, SessionFile};
pub use list::{Summary, latest, list};
pub use open::{Opened, fork, open};
pub use read::{decode, read};

/// Why a conversation cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No such file.
    #[error(
        "there is no session {id}{}; `mini-me-tui sessions list` shows those there are",
        nearby(near)
    )]
    Missing {
        /// What was asked for.
        id: String,
        /// The nearest there are, with their titles.
        near: Vec<(SessionId, String)>,
    },
    /// Several ids begin so.
    #[error("{id} begins the ids of {count} sessions; write more of it{}", nearby(near))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// How many fit.
        count: usize,
        /// The latest of them.
        near: Vec<(SessionId, String)>,
    },
    /// It has fewer messages than that.
    #[error("the session {id} has {turns} messages of yours: there is no message {wanted}")]
    NoSuchMessage {
        /// Which session.
        id: SessionId,
        /// How many there are.
        turns: usize,
        /// Which one was asked for.
        wanted: usize,
    },
    /// Another instance writes to it.
    #[error("the session {id} is open in another window; leave it there first")]
    Open {
        /// Which session.
        id: SessionId,
    },
    /// It is the conversation that is open here.
    #[error("the session {id} is the one that is open here")]
    Here {
        /// Which session.
        id: SessionId,
    },
    /// Nothing in it is of a session.
    #[error("{} is not a session file: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The disk.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The disk, on writing.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The nearest sessions, as the middle of a sentence. Titles are raw.
fn nearby(near: &[(SessionId, String)]) -> String {
    let mut words = String::new();
    for (at, (id, title)) in near.iter().enumerate() {
        let before = if at == 0 { ". Nearest: " } else { ", " };
        let title = text::cut(text::line(title).as_str(), NEAR_TITLE);
        let title = if title.is_empty() { String::new() } else { format!(" ({title})") };
        words.extend([before, id.as_str(), &title]);
    }
    words
}

/// Columns of a title in a message.
const NEAR_TITLE: usize = 40;
/// How many near ones are named.
const NEAR: usize = 3;
/// Letters of an id that must agree from its start for it to be near: the year alone says nothing.
const NEAR_START: usize = 5;
/// Edits after which an id is another one.
const NEAR_EDITS: usize = 4;

/// The file of a conversation.
pub fn file(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}.jsonl"))
}

/// Appends whole lines to a file that several instances share. Makes the directory and the file if
/// they are not there.
pub fn append_lines(path: &Path, lines: &[String]) -> Result<(), StoreError> {
    let mut file = open_append(path)?;
    write_lines(&mut file, path, lines).map_err(|source| StoreError {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

fn write_lines(file: &mut File, path: &Path, lines: &[String]) -> io::Result<()> {
    let mut text = String::new();
    if file.metadata()?.len() > 0 && torn(path)? {
        text.push('\n');
    }
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    file.write_all(text.as_bytes())
}

/// Whether the last line has no end.
fn torn(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn ids(directory: &Path) -> Result<Vec<SessionId>, SessionError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(SessionError::Io { path: directory.to_owned(), source }),
    };
    let id = |entry: fs::DirEntry| {
        let name = entry.file_name();
        SessionId::parse(name.to_str()?.strip_suffix(".jsonl")?)
    };
    Ok(entries.filter_map(Result::ok).filter_map(id).collect())
}

/// The conversation whose id is this or begins so.
pub fn find(directory: &Path, start: &str) -> Result<SessionId, SessionError> {
    let all = ids(directory)?;
    let mut fitting: Vec<&SessionId> =
        all.iter().filter(|id| id.as_str().starts_with(start)).collect();
    if let Some(exact) = fitting.iter().find(|id| id.as_str() == start) {
        return Ok((*exact).clone());
    }
    fitting.sort_by(|a, b| b.cmp(a));
    match fitting.as_slice() {
        [only] if !start.is_empty() => Ok((*only).clone()),
        [] | [_] => Err(missing(directory, start)),
        several => Err(SessionError::Ambiguous {
            id: start.to_owned(),
            count: several.len(),
            near: titled(directory, several.iter().copied().take(NEAR)),
        }),
    }
}

fn titled<'a>(
    directory: &Path,
    ids: impl Iterator<Item = &'a SessionId>,
) -> Vec<(SessionId, String)> {
    let title = |id: &SessionId| list::summary(directory, id).map(|found| found.title);
    ids.map(|id| (id.clone(), title(id).unwrap_or_default())).collect()
}

/// What was meant by an id that is none: ids that are nearly the same or begin the same, else
/// conversations whose title holds the word, else the latest ones.
fn missing(directory: &Path, wanted: &str) -> SessionError {
    let all = list(directory).unwrap_or_default();
    let common = |id: &str| id.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let distance = |summary: &Summary| text::distance(summary.id.as_str(), wanted);
    let is_near = |summary: &&Summary| {
        common(summary.id.as_str()) >= NEAR_START || distance(summary) <= NEAR_EDITS
    };
    let mut near: Vec<&Summary> = all.iter().filter(is_near).collect();
    near.sort_by_key(|summary| (std::cmp::Reverse(common(summary.id.as_str())), distance(summary)));
    let word = wanted.to_lowercase();
    if near.is_empty() && !word.is_empty() {
        near.extend(all.iter().filter(|summary| summary.title.to_lowercase().contains(&word)));
    }
    if near.is_empty() {
        near.extend(&all);
    }
    let near = near.into_iter().take(NEAR).map(|found| (found.id.clone(), found.title.clone()));
    SessionError::Missing { id: wanted.to_owned(), near: near.collect() }
}

/// Deletes a conversation for good. One that another instance writes to stays.
pub fn delete(directory: &Path, id: &SessionId) -> Result<(), SessionError> {
    let path = file(directory, id);
    // One that cannot be written to can still be deleted.
    if let Ok(Claim::Taken) = SessionFile::claim(&path) {
        return Err(SessionError::Open { id: id.clone() });
    }
    match fs::remove_file(&path) {
        Ok(()) => Ok(()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            Err(missing(directory, id.as_str()))
        }
        Err(source) => Err(SessionError::Io { path, source }),
    }
}

#[cfg(test)]
mod tests;
