//! What the terminal reports, as a stream that can be dropped and made again.
//!
//! Before another program gets the terminal the stream must be *dropped*: a reader that is only not
//! polled still takes keys away. And it must not be asked once the terminal is gone: it would look
//! for keys for ever. So the terminal is watched beside it.

use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::task::{Context, Poll};
use std::time::Instant;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;

/// Events of the terminal.
#[derive(Debug, Default)]
pub struct Input {
    stream: Option<EventStream>,
    /// Read already, not yet handed out.
    ahead: Option<io::Result<Event>>,
    watch: Watch,
}

impl Input {
    /// Begins to read.
    pub fn start() -> Self {
        Self { stream: Some(EventStream::new()), ahead: None, watch: Watch::begin() }
    }

    /// Stops reading: keys belong to whoever has the terminal now.
    pub fn stop(&mut self) {
        self.stream = None;
        self.watch = Watch::default();
    }

    /// Begins to read again.
    pub fn restart(&mut self) {
        self.stream = Some(EventStream::new());
        self.watch = Watch::begin();
    }

    /// The next event; `None` when the terminal is gone. Never ready while stopped. Cancel-safe.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        if let Some(ahead) = self.ahead.take() {
            return Some(ahead);
        }
        tokio::select! { biased;
            () = self.watch.gone() => None,
            event = poll_fn(|context| ask(stream, context)) => event,
        }
    }

    /// When something came from the terminal last, whether it was read already or not; not always
    /// known.
    pub fn touched(&self) -> Option<Instant> {
        self.watch.touched
    }

    /// The event after the one handed out last, where it is here already. Never waits.
    pub async fn ahead(&mut self) -> Option<&Event> {
        if self.ahead.is_none()
            && let Some(stream) = &mut self.stream
        {
            // Asked with the waker of the task itself: the stream keeps the one it was given first.
            self.ahead = poll_fn(|context| match ask(stream, context) {
                Poll::Ready(event) => Poll::Ready(event),
                Poll::Pending => Poll::Ready(None),
            })
            .await;
        }
        self.ahead.as_ref()?.as_ref().ok()
    }
}

/// The next event, unless the terminal is gone.
fn ask(stream: &mut EventStream, context: &mut Context<'_>) -> Poll<Option<io::Result<Event>>> {
    if io::stdin().is_terminal() { stream.poll_next_unpin(context) } else { Poll::Ready(None) }
}

/// Sees when the other end of the terminal is closed, also where no signal tells.
#[derive(Debug, Default)]
struct Watch {
    #[cfg(unix)]
    input: Option<tokio::io::unix::AsyncFd<io::Stdin>>,
    touched: Option<Instant>,
}

impl Watch {
    /// Where the system cannot watch the terminal there is still the signal.
    #[cfg(unix)]
    #[expect(
        deprecated,
        reason = "unsound for what may be closed meanwhile: standard input is not"
    )]
    fn begin() -> Self {
        let interest = tokio::io::Interest::READABLE;
        let input = tokio::io::unix::AsyncFd::with_interest(io::stdin(), interest).ok();
        Self { input, touched: None }
    }

    #[cfg(not(unix))]
    fn begin() -> Self {
        Self::default()
    }

    /// Ready once the terminal is gone. Cancel-safe.
    #[cfg(unix)]
    async fn gone(&mut self) {
        if let Some(input) = &self.input {
            while let Ok(mut ready) = input.readable().await {
                if ready.ready().is_read_closed() {
                    return;
                }
                // Keys: they are for the stream.
                ready.clear_ready();
                self.touched = Some(Instant::now());
            }
        }
        std::future::pending::<()>().await;
    }

    #[cfg(not(unix))]
    async fn gone(&mut self) {
        std::future::pending::<()>().await;
    }
}
