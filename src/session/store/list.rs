//! Lists of sessions: what the beginning and the end of each file tell, so that a long conversation
//! costs no more than a short one.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use time::UtcDateTime;
use time::format_description::well_known::Rfc3339;

use super::{SessionError, file, ids, read};
use crate::session::{Header, SessionId};

pub use crate::domain::session::SessionSummary as Summary;

/// Bytes of a file's beginning that are looked at.
const HEAD: usize = 4096;
/// Bytes of its end: the count of messages stands there.
const TAIL: u64 = 128;
/// Characters of the first message that are kept.
const TITLE: usize = 400;
/// What the line of a user's message begins with, after its time.
const USER: &str = r#"","type":"message","message":{"user":{"text":""#;
/// What the last number of a line stands behind.
const TURNS: &[u8] = b",\"turns\":";

/// All conversations, the one that was last written to first. Files that are none are left out.
pub fn list(directory: &Path) -> Result<Vec<Summary>, SessionError> {
    let now = SystemTime::now();
    let all = ids(directory)?;
    let mut found: Vec<(SystemTime, Summary)> =
        all.iter().filter_map(|id| looked_at(directory, id, now)).collect();
    found.sort_by(|(a_at, a), (b_at, b)| b_at.cmp(a_at).then_with(|| begun(b).cmp(&begun(a))));
    Ok(found.into_iter().map(|(_, summary)| summary).collect())
}

/// The conversation that was last written to of those in which something was said.
pub fn latest(directory: &Path) -> Result<Option<SessionId>, SessionError> {
    let changed = |id: SessionId| {
        let changed = fs::metadata(file(directory, &id)).and_then(|found| found.modified());
        (changed.unwrap_or(SystemTime::UNIX_EPOCH), id)
    };
    let mut all: Vec<(SystemTime, SessionId)> = ids(directory)?.into_iter().map(changed).collect();
    all.sort_by(|a, b| b.cmp(a));
    let mut latest: Option<(SystemTime, Summary)> = None;
    for (at, id) in all {
        // Of those that were written to at the same time the file says which was begun later.
        if latest.as_ref().is_some_and(|(other, _)| *other != at) {
            break;
        }
        if let Some(found) = summary(directory, &id)
            && found.turns > 0
            && latest.as_ref().is_none_or(|(_, latest)| begun(latest) < begun(&found))
        {
            latest = Some((at, found));
        }
    }
    Ok(latest.map(|(_, latest)| latest.id))
}

/// What sorts by the time of creation: the second, and what the file says within it. Without their
/// end the fractions compare as text.
fn begun(summary: &Summary) -> (&str, &str) {
    (summary.id.second(), summary.created.trim_end_matches('Z'))
}

/// How one session stands in a list; `None` where the file is none.
pub(super) fn summary(directory: &Path, id: &SessionId) -> Option<Summary> {
    looked_at(directory, id, SystemTime::now()).map(|(_, summary)| summary)
}

fn looked_at(directory: &Path, id: &SessionId, now: SystemTime) -> Option<(SystemTime, Summary)> {
    let path = file(directory, id);
    let mut opened = File::open(&path).ok()?;
    let metadata = opened.metadata().ok()?;
    let bytes = metadata.len();
    let changed = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let mut head = Vec::with_capacity(HEAD);
    (&mut opened).take(HEAD as u64).read_to_end(&mut head).ok()?;
    let tail = if bytes > HEAD as u64 {
        opened.seek(SeekFrom::End(-i64::try_from(TAIL).ok()?)).ok()?;
        let mut tail = Vec::new();
        opened.take(TAIL).read_to_end(&mut tail).ok()?;
        tail
    } else {
        head.clone()
    };
    let (header, title, turns) = match (header_in(&head), title_in(&head), turns_in(&tail)) {
        (Some(header), Some(title), Some(turns)) => (header, title, turns),
        _ => whole(directory, id)?,
    };
    let summary = Summary {
        id: id.clone(),
        path,
        created: header.created,
        changed: UtcDateTime::from(changed).format(&Rfc3339).unwrap_or_default(),
        age: now.duration_since(changed).unwrap_or_default(),
        model: header.model,
        servers: header.servers,
        title,
        turns,
        bytes,
        parent: header.parent,
    };
    Some((changed, summary))
}

/// The same from the whole file: it is damaged, of an older program, or does not begin with a
/// message of the user.
fn whole(directory: &Path, id: &SessionId) -> Option<(Header, String, usize)> {
    let transcript = read(directory, id).ok()?;
    let title = transcript.user_messages().next().unwrap_or_default();
    let title = title.chars().take(TITLE).collect();
    let turns = transcript.turns();
    Some((transcript.header, title, turns))
}

fn header_in(head: &[u8]) -> Option<Header> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let header: Header = serde_json::from_slice(line).ok()?;
    (header.kind == "header").then_some(header)
}

/// The beginning of the user's first message, if it stands in this beginning of a file.
fn title_in(head: &[u8]) -> Option<String> {
    let line = head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        // Its time is of no fixed length.
        let at = memchr::memmem::find(line.get(..128).unwrap_or(line), USER.as_bytes())?;
        line.get(at + USER.len()..)
    })?;
    let mut escaped = false;
    let end = line.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    let raw = line.get(..end.unwrap_or(line.len()))?;
    let text = if end.is_some() { unescaped(raw) } else { cut_off(raw) };
    Some(text?.chars().take(TITLE).collect())
}

/// The text of a JSON string.
fn unescaped(raw: &[u8]) -> Option<String> {
    let mut quoted = Vec::with_capacity(raw.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(raw);
    quoted.push(b'"');
    serde_json::from_slice(&quoted).ok()
}

/// The same of one whose end is missing: up to the last whole character. An escape is at most
/// twelve bytes long (two halves of a pair).
fn cut_off(raw: &[u8]) -> Option<String> {
    (0..=12).find_map(|less| unescaped(raw.get(..raw.len().checked_sub(less)?)?))
}

/// The number of messages that the last whole line tells.
fn turns_in(tail: &[u8]) -> Option<usize> {
    let end = memchr::memrchr(b'\n', tail)?;
    let line = tail.get(..end)?.strip_suffix(b"}")?;
    let at = memchr::memmem::rfind(line, TURNS)?;
    std::str::from_utf8(line.get(at + TURNS.len()..)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;
