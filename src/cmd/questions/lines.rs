//! Lines that are typed, read beside everything else.

use std::io::BufRead as _;
use std::thread;

use tokio::sync::mpsc;

/// Lines from standard input.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: mpsc::Receiver<String>,
}

impl Lines {
    /// Starts reading. The thread waits for a key that may never come, so nobody waits for it: it
    /// ends with the process.
    pub(crate) fn start() -> Self {
        let (sender, lines) = mpsc::channel(1);
        let read = move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        };
        if let Err(fault) = thread::Builder::new().name("lines".to_owned()).spawn(read) {
            // The sender is gone with it: that reads like the end of the input.
            tracing::warn!(%fault, "standard input cannot be read");
        }
        Self { lines }
    }

    /// The next line; `None` at the end of the input. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
