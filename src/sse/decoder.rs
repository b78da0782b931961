//! The decoder. No I/O, no clock; bounded; one pass over the bytes.

use std::time::Duration;

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; `message` when the stream names none.
    pub event: String,
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

/// Decodes one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// A decoder whose events may have `limit` bytes at most.
    pub fn new(limit: usize) -> Self {
        Self { pending: Vec::with_capacity(limit.min(1)) }
    }

    /// Takes the next bytes of the stream, in whatever pieces they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next complete event, if there is one.
    #[expect(
        clippy::should_implement_trait,
        reason = "more bytes may bring more events after None"
    )]
    pub fn next(&mut self) -> Option<Result<SseEvent, SseError>> {
        None
    }

    /// The stream is at its end: what was left unfinished (the data so far), if anything.
    pub fn finish(self) -> Option<String> {
        None
    }
}
