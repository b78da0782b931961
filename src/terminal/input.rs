//! What the terminal reports, as a stream that can be dropped and made again.
//!
//! Before another program gets the terminal the stream must be *dropped*: a reader that is only not
//! polled still takes keys away.

use std::io;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;

/// Events of the terminal.
#[derive(Debug, Default)]
pub struct Input {
    stream: Option<EventStream>,
}

impl Input {
    /// Begins to read.
    pub fn start() -> Self {
        Self { stream: Some(EventStream::new()) }
    }

    /// Stops reading: keys belong to whoever has the terminal now.
    pub fn stop(&mut self) {
        self.stream = None;
    }

    /// Begins to read again.
    pub fn restart(&mut self) {
        self.stream = Some(EventStream::new());
    }

    /// The next event; `None` when the terminal is gone. Never ready while stopped. Cancel-safe.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        match &mut self.stream {
            Some(stream) => stream.next().await,
            None => std::future::pending().await,
        }
    }
}
