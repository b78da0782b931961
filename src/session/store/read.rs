//! Reading a session back, whatever became of its file.
//!
//! Damage costs the lines it touches and nothing else: torn lines, blocks of zeros, bytes that are
//! no text, lines beyond any size, a lost first line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::{SessionError, file, missing};
use crate::session::{Header, Line, SessionEvent, SessionId, Transcript, created};

/// Bytes of one line; a longer one is left out.
const LINE_BYTES: usize = 256 * 1024 * 1024;
/// How every event begins.
const BEGINNING: &[u8] = b"{\"at\":\"";
/// Beginnings inside a damaged line that are tried.
const SALVAGED: usize = 8;

/// Reads a conversation back.
///
/// # Errors
/// There is no such file, the disk fails, or nothing in the file is of a session.
pub fn read(directory: &Path, id: &SessionId) -> Result<Transcript, SessionError> {
    let path = file(directory, id);
    let opened = match File::open(&path) {
        Ok(opened) => opened,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
            return Err(missing(directory, id.as_str()));
        }
        Err(source) => return Err(SessionError::Io { path, source }),
    };
    let decoded = decode_within(BufReader::with_capacity(64 * 1024, opened), id, LINE_BYTES);
    let Decoded { transcript, has_header } =
        decoded.map_err(|source| SessionError::Io { path: path.clone(), source })?;
    let ours = created(id).is_some() && transcript.skipped == 0;
    if !has_header && transcript.lines.is_empty() && !ours {
        let reason = "none of its lines can be read".to_owned();
        return Err(SessionError::Unreadable { path, reason });
    }
    Ok(transcript)
}

/// Reads the lines of a session. Fails only where reading itself does.
pub fn decode(from: impl BufRead, id: &SessionId) -> io::Result<Transcript> {
    decode_within(from, id, LINE_BYTES).map(|decoded| decoded.transcript)
}

struct Decoded {
    transcript: Transcript,
    /// The first line was a header.
    has_header: bool,
}

fn decode_within(mut from: impl BufRead, id: &SessionId, limit: usize) -> io::Result<Decoded> {
    let header = Header::lost(id.clone());
    let mut transcript = Transcript { header, lines: Vec::new(), skipped: 0, torn: false };
    let mut raw = Vec::new();
    let mut has_header = false;
    let mut first = true;
    loop {
        let read = next_line(&mut from, &mut raw, limit)?;
        if read == Next::End {
            break;
        }
        if std::mem::take(&mut first)
            && let Some(header) = header_of(&raw)
        {
            // The file's name is what it is found by.
            transcript.header = Header { id: id.clone(), ..header };
            has_header = true;
            continue;
        }
        take_line(&mut transcript, &raw, read);
    }
    Ok(Decoded { transcript, has_header })
}

fn header_of(raw: &[u8]) -> Option<Header> {
    let header: Header = serde_json::from_slice(bare(raw)).ok()?;
    (header.kind == "header").then_some(header)
}

fn take_line(transcript: &mut Transcript, raw: &[u8], read: Next) {
    let text = bare(raw);
    let whole = raw.ends_with(b"\n");
    if read == Next::TooLong {
        transcript.skipped += 1;
    } else if text.is_empty() {
        // Zeros are what a power failure leaves; an empty line is nothing.
        transcript.skipped += usize::from(raw.contains(&0));
    } else if let Ok(line) = serde_json::from_slice::<Line>(text) {
        push(transcript, line);
    } else {
        if whole {
            transcript.skipped += 1;
        } else {
            transcript.torn = true;
        }
        if let Some(line) = salvaged(text) {
            push(transcript, line);
        }
    }
}

/// Numbers are counted again: those in the file may have gaps where lines are lost.
fn push(transcript: &mut Transcript, line: Line) {
    let before = transcript.lines.last().map_or(0, |line| line.turns);
    let turns = before + usize::from(is_user(&line.event));
    transcript.lines.push(Line { turns, ..line });
}

fn is_user(event: &SessionEvent) -> bool {
    use crate::domain::Message;
    matches!(event, SessionEvent::Message { message: Message::User { .. } })
}

/// Without what may surround a line: its end, white space, zeros.
fn bare(raw: &[u8]) -> &[u8] {
    let padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = raw.iter().position(|byte| !padding(byte)).unwrap_or(raw.len());
    let end = raw.iter().rposition(|byte| !padding(byte)).map_or(start, |last| last + 1);
    raw.get(start..end).unwrap_or_default()
}

/// An event at the end of a damaged line, where the line before it lost its end.
fn salvaged(text: &[u8]) -> Option<Line> {
    let beginnings = memchr::memmem::rfind_iter(text, BEGINNING).take(SALVAGED);
    beginnings.into_iter().find_map(|at| serde_json::from_slice(text.get(at..)?).ok())
}

/// What reading a line came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Line,
    TooLong,
    End,
}

/// Reads one line with its end. What is longer than the limit is passed over.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Next> {
    line.clear();
    let mut over = false;
    loop {
        let available = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return Ok(match (over, line.is_empty()) {
                (true, _) => Next::TooLong,
                (false, true) => Next::End,
                (false, false) => Next::Line,
            });
        }
        let end = memchr::memchr(b'\n', available).map(|at| at + 1);
        let taken = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        over |= line.len() + taken.len() > limit;
        if over {
            line.clear();
        } else {
            line.extend_from_slice(taken);
        }
        let used = taken.len();
        from.consume(used);
        if end.is_some() {
            return Ok(if over { Next::TooLong } else { Next::Line });
        }
    }
}

#[cfg(test)]
mod tests;
