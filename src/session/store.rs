//! Session files: `<data>/sessions/<id>.jsonl`, private to the user.
//!
//! Whole lines are appended in one write, so two instances never mix within a line. A torn last
//! line (the program was killed, the disk was full) is ignored on reading and closed on appending.
//! Everything here blocks on the disk: call it away from the event loop.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Header, Line, SessionEvent, SessionId, Transcript, VERSION};
use crate::domain::Message;
use crate::store::{StoreError, open_append};

/// Bytes of one line; a longer one is skipped.
const LINE_BYTES: u64 = 256 * 1024 * 1024;
/// Characters of a conversation's first message in a list.
const TITLE: usize = 120;

/// Why a conversation cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No such file.
    #[error("there is no session {id}; `mini-me-tui sessions list` shows those there are")]
    Missing {
        /// What was asked for.
        id: String,
    },
    /// Several ids begin so.
    #[error("{id} begins the ids of {count} sessions; write more of it")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// How many fit.
        count: usize,
    },
    /// It is no session file, or one of a later program.
    #[error("{} is not a session file that this version can read: {reason}", path.display())]
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
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// When it was begun, RFC 3339 in UTC.
    pub created: String,
    /// The model it was begun with.
    pub model: Option<String>,
    /// The beginning of the user's first message; raw.
    pub title: String,
    /// How many messages of the user it has.
    pub turns: usize,
    /// Size of the file.
    pub bytes: u64,
}

/// The file of a conversation.
pub fn file(directory: &Path, id: &SessionId) -> PathBuf {
    directory.join(format!("{id}.jsonl"))
}

/// Appends whole lines. Makes the directory and the file, with `header` as its first line, if they
/// are not there.
pub fn append_lines(path: &Path, header: Option<&str>, lines: &[String]) -> Result<(), StoreError> {
    let mut file = open_append(path)?;
    write_lines(&mut file, path, header, lines).map_err(|source| StoreError {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

fn write_lines(
    file: &mut File,
    path: &Path,
    header: Option<&str>,
    lines: &[String],
) -> io::Result<()> {
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        if let Some(header) = header {
            text.push_str(header);
            text.push('\n');
        }
    } else if torn(path)? {
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

/// All conversations, the latest first. Files that are none are left out.
pub fn list(directory: &Path) -> Result<Vec<Summary>, SessionError> {
    let mut found: Vec<Summary> =
        ids(directory)?.into_iter().filter_map(|id| summary(directory, &id).ok()).collect();
    found.sort_by(|a, b| b.begun().cmp(&a.begun()));
    Ok(found)
}

impl Summary {
    /// What sorts by time: the second, and what the file says within it. Without their end the
    /// fractions compare as text.
    fn begun(&self) -> (&str, &str) {
        (self.id.second(), self.created.trim_end_matches('Z'))
    }
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

fn summary(directory: &Path, id: &SessionId) -> Result<Summary, SessionError> {
    let transcript = read(directory, id)?;
    let path = file(directory, id);
    let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let mut said = transcript.lines.iter().filter_map(|line| match &line.event {
        SessionEvent::Message { message: Message::User { text } } => Some(text),
        _ => None,
    });
    let title = said.next().map(|text| text.chars().take(TITLE).collect());
    let turns = said.count() + usize::from(title.is_some());
    Ok(Summary {
        id: id.clone(),
        path,
        created: transcript.header.created,
        model: transcript.header.model,
        title: title.unwrap_or_default(),
        turns,
        bytes,
    })
}

/// The latest conversation in which something was said, if there is any.
pub fn latest(directory: &Path) -> Result<Option<SessionId>, SessionError> {
    let mut ids = ids(directory)?;
    ids.sort_by(|a, b| b.cmp(a));
    let mut latest: Option<Summary> = None;
    for id in ids {
        // Ids tell seconds apart; within one the files say which came later.
        if latest.as_ref().is_some_and(|latest| latest.id.second() != id.second()) {
            break;
        }
        if let Ok(found) = summary(directory, &id)
            && found.turns > 0
            && latest.as_ref().is_none_or(|latest| latest.begun() < found.begun())
        {
            latest = Some(found);
        }
    }
    Ok(latest.map(|latest| latest.id))
}

/// The conversation whose id is this or begins so.
pub fn find(directory: &Path, start: &str) -> Result<SessionId, SessionError> {
    let missing = || SessionError::Missing { id: start.to_owned() };
    let mut fitting: Vec<SessionId> =
        ids(directory)?.into_iter().filter(|id| id.as_str().starts_with(start)).collect();
    if let Some(exact) = fitting.iter().find(|id| id.as_str() == start) {
        return Ok(exact.clone());
    }
    match fitting.len() {
        0 | 1 => fitting.pop().filter(|_| !start.is_empty()).ok_or_else(missing),
        count => Err(SessionError::Ambiguous { id: start.to_owned(), count }),
    }
}

/// Reads a conversation back.
pub fn read(directory: &Path, id: &SessionId) -> Result<Transcript, SessionError> {
    let path = file(directory, id);
    let opened = match File::open(&path) {
        Ok(opened) => opened,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            return Err(SessionError::Missing { id: id.to_string() });
        }
        Err(source) => return Err(SessionError::Io { path, source }),
    };
    read_from(BufReader::new(opened), &path)
}

fn read_from(mut from: impl BufRead, path: &Path) -> Result<Transcript, SessionError> {
    let io_fault = |source| SessionError::Io { path: path.to_owned(), source };
    let unreadable = |reason: &str| SessionError::Unreadable {
        path: path.to_owned(),
        reason: reason.to_owned(),
    };
    let mut raw = Vec::new();
    next_line(&mut from, &mut raw).map_err(io_fault)?;
    let header: Header = serde_json::from_slice(&raw)
        .map_err(|fault| unreadable(&format!("its first line is no header ({fault})")))?;
    if header.version > VERSION {
        return Err(unreadable("it was written by a later version"));
    }
    let mut transcript = Transcript { header, lines: Vec::new(), skipped: 0 };
    while next_line(&mut from, &mut raw).map_err(io_fault)? {
        match serde_json::from_slice::<Line>(&raw) {
            Ok(line) => transcript.lines.push(line),
            // The last line may be torn: that is no fault of the file.
            Err(_) if !raw.ends_with(b"\n") => {}
            Err(_) if raw.trim_ascii().is_empty() => {}
            Err(_) => transcript.skipped += 1,
        }
    }
    Ok(transcript)
}

/// Reads one line, bounded; what is longer is passed over. Says whether there was one.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    from.take(LINE_BYTES).read_until(b'\n', line)?;
    let mut over = Vec::new();
    while line.len() as u64 >= LINE_BYTES && !line.ends_with(b"\n") {
        over.clear();
        let more = from.take(LINE_BYTES).read_until(b'\n', &mut over)?;
        if more == 0 || over.ends_with(b"\n") {
            line.clear();
            line.push(b'\n');
        }
    }
    Ok(!line.is_empty())
}

/// Deletes a conversation for good.
pub fn delete(directory: &Path, id: &SessionId) -> Result<(), SessionError> {
    let path = file(directory, id);
    match fs::remove_file(&path) {
        Ok(()) => Ok(()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            Err(SessionError::Missing { id: id.to_string() })
        }
        Err(source) => Err(SessionError::Io { path, source }),
    }
}

#[cfg(test)]
mod tests;
