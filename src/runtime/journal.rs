//! Appends lines to a file in the background: the loop never waits for the disk.
//!
//! The file is made with the first line, so that a conversation without a word leaves nothing. A
//! disk that is full costs one warning; what could not be written is counted and tried no more.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::tasks::Tasks;
use super::work::Inside;
use crate::domain::{Source, Warning};
use crate::session::store::append_lines;

/// Lines that may wait for the disk. A line is a whole message or call: a disk that is this far
/// behind has stopped.
const LINES: usize = 1024;

/// The near end of one file's writer. Its far end stops when this is dropped and all is written.
#[derive(Debug)]
pub(super) struct Journal {
    lines: mpsc::Sender<String>,
    full: bool,
}

impl Journal {
    /// Starts a writer. `header` is the first line of a new file. Faults arrive at `inside`.
    pub(super) fn open(
        tasks: &Tasks,
        path: PathBuf,
        header: Option<String>,
        inside: mpsc::Sender<Inside>,
    ) -> Self {
        let (lines, queue) = mpsc::channel(LINES);
        tasks.spawn("journal", write(path.into(), header, queue, inside));
        Self { lines, full: false }
    }

    /// Hands a line over. Returns a warning the first time that there is no room.
    pub(super) fn add(&mut self, line: String) -> Option<Warning> {
        let refused = self.lines.try_send(line).is_err();
        let first = refused && !self.full;
        self.full |= refused;
        first.then(|| {
            Warning::new(
                Source::Program,
                "The disk does not keep up: parts of the session or the audit log are missing.",
                "Check the disk under the program's data and state directories.",
            )
        })
    }
}

async fn write(
    path: Arc<std::path::Path>,
    mut header: Option<String>,
    mut queue: mpsc::Receiver<String>,
    inside: mpsc::Sender<Inside>,
) {
    let mut batch = Vec::new();
    let mut broken = false;
    while queue.recv_many(&mut batch, LINES).await > 0 {
        let lines = std::mem::take(&mut batch);
        if broken {
            continue;
        }
        let (file, first) = (Arc::clone(&path), header.take());
        let written =
            tokio::task::spawn_blocking(move || append_lines(&file, first.as_deref(), &lines))
                .await;
        let fault = match written {
            Ok(Ok(())) => continue,
            Ok(Err(fault)) => fault,
            Err(_) => io::Error::other("the writer stopped"),
        };
        broken = true;
        let warning = Warning::new(
            Source::Program,
            format!(
                "{} cannot be written: {fault}. It is not written any further in this run.",
                path.display()
            ),
            "Make room on the disk or check the directory's permissions, then start again.",
        );
        drop(inside.send(Inside::Warned(warning)).await);
    }
}
