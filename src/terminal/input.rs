//! What the terminal reports, as a stream that can be dropped and made again.
//!
//! Before another program gets the terminal the stream must be *dropped*: a reader that is only not
//! polled still takes keys away.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;

/// Events of the terminal.
#[derive(Debug, Default)]
pub struct Input {
    stream: Option<EventStream>,
    /// Read already, not yet handed out.
    ahead: Option<io::Result<Event>>,
}

impl Input {
    /// Begins to read.
    pub fn start() -> Self {
        Self { stream: Some(EventStream::new()), ahead: None }
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
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        match self.ahead.take() {
            Some(ahead) => Some(ahead),
            None => stream.next().await,
        }
    }

    /// The event after the one handed out last, where it is here already. Never waits.
    pub async fn ahead(&mut self) -> Option<&Event> {
        if self.ahead.is_none()
            && let Some(stream) = &mut self.stream
        {
            // Asked with the waker of the task itself: the stream keeps the one it was given first.
            self.ahead = poll_fn(|context| match stream.poll_next_unpin(context) {
                Poll::Ready(event) => Poll::Ready(event),
                Poll::Pending => Poll::Ready(None),
            })
            .await;
        }
        self.ahead.as_ref()?.as_ref().ok()
    }
}
