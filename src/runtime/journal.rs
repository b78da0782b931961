//! Appends lines to a file in the background: the loop never waits for the disk.
//!
//! A new session file is made with its first line, so that a conversation without a word leaves
//! nothing. While the disk refuses, the lines of a session wait in memory, and are written as soon
//! as it takes them again; both are said once. A file that several instances share is given up
//! after one refusal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::tasks::Tasks;
use super::work::Inside;
use crate::audit;
use crate::domain::{Source, Warning};
use crate::session::store::SessionFile;
use crate::store::StoreError;

/// Lines that may wait for the disk. A line is a whole message or call: a disk that is this far
/// behind has stopped.
const LINES: usize = 1024;
/// Bytes of a session that are kept in memory while the disk refuses them.
const WAITING: usize = 8 * 1024 * 1024;

/// Where lines go.
#[derive(Debug)]
pub(super) enum Place {
    /// To the decision log, which other instances append to as well; its lines are chained.
    Shared(Arc<Path>),
    /// To a session file that comes into being with its first line.
    New {
        /// The file.
        path: PathBuf,
        /// Its first line.
        header: String,
    },
    /// To a session file that is open.
    Open(Arc<SessionFile>),
}

/// What is handed to the writer.
enum Item {
    Line(String),
    /// Ends when all lines before it are written, or given up.
    Mark(CancellationToken),
}

/// The near end of one file's writer. Its far end stops when this is dropped and all is written.
#[derive(Debug)]
pub(super) struct Journal {
    items: mpsc::Sender<Item>,
    full: bool,
    ended: CancellationToken,
}

impl Journal {
    /// Starts a writer. Faults arrive at `inside`.
    pub(super) fn open(tasks: &Tasks, place: Place, inside: mpsc::Sender<Inside>) -> Self {
        let (items, queue) = mpsc::channel(LINES);
        let ended = CancellationToken::new();
        let at_end = ended.clone().drop_guard();
        tasks.spawn("journal", async move {
            // The guard goes last: the file is closed by then.
            let _at_end = at_end;
            write(Writer::new(place), queue, inside).await;
        });
        Self { items, full: false, ended }
    }

    /// Hands a line over. Returns a warning the first time that there is no room.
    pub(super) fn add(&mut self, line: String) -> Option<Warning> {
        let refused = self.items.try_send(Item::Line(line)).is_err();
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

    /// Ends when all lines so far are written, or given up.
    pub(super) fn written(&mut self) -> CancellationToken {
        let mark = CancellationToken::new();
        if self.items.try_send(Item::Mark(mark.clone())).is_err() {
            mark.cancel();
        }
        mark
    }

    /// Ends when the file is closed.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

async fn write(mut writer: Writer, mut queue: mpsc::Receiver<Item>, inside: mpsc::Sender<Inside>) {
    let mut batch = Vec::new();
    let mut open = true;
    while open {
        open = queue.recv_many(&mut batch, LINES).await > 0;
        let mut marks = Vec::new();
        let mut lines = Vec::new();
        for item in batch.drain(..) {
            match item {
                Item::Line(line) => lines.push(line),
                Item::Mark(mark) => marks.push(mark),
            }
        }
        let written = tokio::task::spawn_blocking(move || {
            let said = writer.write(lines);
            (writer, said)
        });
        let Ok((back, said)) = written.await else {
            let warning = Warning::new(Source::Program, "The writer of a file stopped.", "");
            drop(inside.send(Inside::Warned(warning)).await);
            return;
        };
        writer = back;
        marks.iter().for_each(CancellationToken::cancel);
        if let Some(warning) = said {
            drop(inside.send(Inside::Warned(warning)).await);
        }
    }
}

/// The far end: what is open, what waits, and what became of it.
struct Writer {
    place: Place,
    /// Lines that the disk did not take yet, ends included.
    waiting: String,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    /// The disk refused; it is tried again.
    Refused,
    /// Nothing is written any more.
    GivenUp,
}

impl Writer {
    fn new(place: Place) -> Self {
        Self { place, waiting: String::new(), state: State::Sound }
    }

    /// Writes these lines and those that wait. Returns what there is to be said about it.
    fn write(&mut self, lines: Vec<String>) -> Option<Warning> {
        if self.state == State::GivenUp {
            return None;
        }
        if let Place::Shared(path) = &self.place {
            let fault = (!lines.is_empty())
                .then(|| audit::append(path, &lines, &super::records::now()).err())
                .flatten()?;
            self.state = State::GivenUp;
            return Some(given_up(fault));
        }
        for line in lines {
            self.waiting.push_str(&line);
            self.waiting.push('\n');
        }
        if self.waiting.is_empty() {
            return None;
        }
        match self.flush() {
            Ok(()) => {
                self.waiting = String::new();
                let before = std::mem::replace(&mut self.state, State::Sound);
                (before == State::Refused).then(written_again)
            }
            Err(fault) => self.refused(fault),
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if let Place::New { path, header } = &self.place {
            self.place = Place::Open(Arc::new(SessionFile::create(path, header)?));
        }
        match &self.place {
            Place::Open(file) => file.append(&self.waiting),
            Place::Shared(_) | Place::New { .. } => Ok(()),
        }
    }

    fn refused(&mut self, fault: StoreError) -> Option<Warning> {
        let removed = fault.source.kind() == std::io::ErrorKind::NotFound;
        let gone = removed && matches!(self.place, Place::Open(_));
        if gone || self.waiting.len() > WAITING {
            self.state = State::GivenUp;
            self.waiting = String::new();
            return Some(given_up(fault));
        }
        let first = std::mem::replace(&mut self.state, State::Refused) == State::Sound;
        first.then(|| Warning {
            message: format!(
                "The session is not kept: {fault}. It is tried again with every message."
            ),
            ..Warning::from(fault)
        })
    }
}

fn given_up(fault: StoreError) -> Warning {
    Warning {
        message: format!("{fault}. It is not written any further in this run."),
        ..Warning::from(fault)
    }
}

fn written_again() -> Warning {
    Warning::new(Source::Program, "The session is written again, and nothing of it is missing.", "")
}

#[cfg(test)]
mod tests;
