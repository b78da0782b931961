//! The decoder. No I/O, no clock; bounded; one pass over the bytes.
//!
//! Whole lines are handled straight from the pieces they come in, and a data line that straddles
//! pieces goes straight to where it belongs; only the beginning of other lines is kept aside. Every
//! byte is looked at once and copied once, whatever the pieces.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use super::data::Data;
use super::scan;

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; `message` when the stream names none.
    pub event: Cow<'static, str>,
    /// Its data, lines joined with LF. May be empty: a `data:` line with nothing after it counts.
    pub data: String,
    /// The stream's last event id at that time; empty if none.
    pub id: String,
    /// The latest `retry` value seen on the stream so far.
    pub retry: Option<Duration>,
}

/// A limit of the decoder was broken; the stream cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event is larger than the limit, in bytes.
    #[error("one event is larger than the limit of {limit} bytes (SSE event)")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

/// Largest event by default, in bytes.
pub const EVENT_LIMIT: usize = 16 * 1024 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Decodes one stream.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The beginning of a line whose end has not come yet, unless `inside` says where it goes.
    line: Vec<u8>,
    inside: Inside,
    /// Nothing but the first line may begin with a byte-order mark (S1).
    first_line: bool,
    /// The last byte was a CR that ended a line: an LF right after it belongs to it (S2).
    after_cr: bool,
    data: Data,
    event: String,
    next_id: String,
    /// `next_id` was set since the last dispatch.
    new_id: bool,
    last_id: String,
    retry: Option<Duration>,
    ready: VecDeque<SseEvent>,
    fault: Fault,
}

/// What the unfinished line is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Anything: its beginning is in `line`.
    Line,
    /// The value of a data line: it is in `data` already.
    Data,
    /// A comment: it is nowhere. A keep-alive may be as long as it likes.
    Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Pending,
    Told,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(EVENT_LIMIT)
    }
}

impl Decoder {
    /// A decoder whose events may have `limit` bytes at most.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            inside: Inside::Line,
            first_line: true,
            after_cr: false,
            data: Data::default(),
            event: String::new(),
            next_id: String::new(),
            new_id: false,
            last_id: String::new(),
            retry: None,
            ready: VecDeque::new(),
            fault: Fault::None,
        }
    }

    /// Takes the next bytes of the stream, in whatever pieces they come. After a broken limit
    /// nothing is taken any more.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while self.fault == Fault::None && !rest.is_empty() {
            let Some((line, ending, tail)) = scan::split_line(rest) else {
                self.keep(rest);
                return;
            };
            rest = self.after_line_end(ending, tail);
            if self.inside_line() {
                self.keep(line);
                self.end_line();
            } else {
                self.take_line(line);
            }
        }
    }

    /// The next complete event, if there is one.
    #[expect(
        clippy::should_implement_trait,
        reason = "more bytes may bring more events after None"
    )]
    pub fn next(&mut self) -> Option<Result<SseEvent, SseError>> {
        if let Some(event) = self.ready.pop_front() {
            return Some(Ok(event));
        }
        if self.fault == Fault::Pending {
            self.fault = Fault::Told;
            return Some(Err(SseError::TooLarge { limit: self.limit }));
        }
        None
    }

    /// The id to resume after, as of the last dispatch; empty if none (S5).
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The latest `retry` value, also of an event without data (S4).
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Whether the bytes so far end inside a line: such a line may have been cut anywhere.
    pub fn inside_line(&self) -> bool {
        self.inside != Inside::Line || !self.line.is_empty()
    }

    /// The stream is at its end: what was left unfinished (the data so far), if anything. By the
    /// rules it is no event (S7); what to make of it is the caller's business.
    pub fn finish(mut self) -> Option<String> {
        if self.inside_line() {
            self.end_line();
        }
        self.data.take()
    }

    /// Steps over the LF of a CR LF; where it has not come yet, remembers to.
    fn after_line_end<'a>(&mut self, ending: u8, tail: &'a [u8]) -> &'a [u8] {
        if ending != b'\r' {
            return tail;
        }
        self.after_cr = tail.is_empty();
        tail.strip_prefix(b"\n").unwrap_or(tail)
    }

    /// Takes a piece of a line whose end has not come yet.
    fn keep(&mut self, piece: &[u8]) {
        match self.inside {
            Inside::Comment => return,
            Inside::Data => self.data.push(piece),
            Inside::Line => self.line.extend_from_slice(piece),
        }
        self.check_size();
        // A byte-order mark may still stand before the first line's field.
        if self.inside == Inside::Line && !self.first_line {
            self.recognise();
        }
    }

    /// Finds out what the kept beginning of a line is. The value of a data line is moved on once
    /// the byte after the colon shows whether it is the space to drop.
    fn recognise(&mut self) {
        if self.line.first() == Some(&b':') {
            self.inside = Inside::Comment;
            self.line.clear();
        } else if let Some([next, ..]) = self.line.strip_prefix(b"data:") {
            let start = if *next == b' ' { 6 } else { 5 };
            self.data.begin_line(self.line.len());
            self.data.push(self.line.get(start..).unwrap_or_default());
            self.inside = Inside::Data;
            self.line.clear();
        }
    }

    /// The end of a line that was kept has come.
    fn end_line(&mut self) {
        match std::mem::replace(&mut self.inside, Inside::Line) {
            Inside::Line => {}
            Inside::Data => {
                self.data.end_line();
                // A cut character became longer.
                return self.check_size();
            }
            Inside::Comment => return,
        }
        let mut line = std::mem::take(&mut self.line);
        self.take_line(&line);
        line.clear();
        self.line = line;
    }

    fn check_size(&mut self) {
        let size = self.data.len() + self.line.len() + self.event.len() + self.next_id.len();
        if size > self.limit {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.fault = Fault::Pending;
        self.line = Vec::new();
        self.data = Data::default();
    }

    fn take_line(&mut self, line: &[u8]) {
        let line = if std::mem::replace(&mut self.first_line, false) {
            line.strip_prefix(BOM).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            self.dispatch();
            return;
        }
        // By far the most lines; and no comment needs to be looked into.
        match line {
            [b'd', b'a', b't', b'a', b':', b' ', value @ ..]
            | [b'd', b'a', b't', b'a', b':', value @ ..] => return self.take_data(value),
            [b':', ..] => return,
            _ => {}
        }
        let (name, value) = scan::split_field(line);
        match name {
            b"data" => self.take_data(value),
            b"event" => self.event = text(value),
            b"id" if !value.contains(&0) => {
                self.next_id = text(value);
                self.new_id = true;
            }
            b"retry" => self.take_retry(value),
            _ => {}
        }
        self.check_size();
    }

    fn take_data(&mut self, value: &[u8]) {
        // Looked at before it is copied: a piece may itself be larger than the limit.
        if value.len() > self.limit {
            self.give_up();
            return;
        }
        self.data.begin_line(value.len());
        self.data.push(value);
        self.data.end_line();
        self.check_size();
    }

    fn take_retry(&mut self, value: &[u8]) {
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return;
        }
        // More digits than fit mean longer than anybody waits.
        let millis = text(value).parse().unwrap_or(u64::MAX);
        self.retry = Some(Duration::from_millis(millis));
    }

    fn dispatch(&mut self) {
        if std::mem::take(&mut self.new_id) {
            self.last_id.clone_from(&self.next_id);
        }
        let event = std::mem::take(&mut self.event);
        let Some(data) = self.data.take() else { return };
        let event = if event.is_empty() { Cow::Borrowed("message") } else { Cow::Owned(event) };
        self.ready.push_back(SseEvent { event, data, id: self.last_id.clone(), retry: self.retry });
    }
}

/// S1: always UTF-8; what is not becomes U+FFFD. Only whole lines come here, so that no character
/// is torn.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
