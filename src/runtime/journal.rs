//! Appends lines to a file in the background: the loop never waits for the disk.
//!
//! The file is made with the first line, so that a conversation without a word leaves nothing. A
//! disk that is full costs one warning; what could not be written is counted and tried no more.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::tasks::Tasks;
use super::work::Inside;
use crate::audit;
use crate::domain::{Source, Warning};
use crate::session::store::append_lines;
use crate::store::StoreError;

/// Lines that may wait for the disk. A line is a whole message or call: a disk that is this far
/// behind has stopped.
const LINES: usize = 1024;

/// What appends lines to a file, after a first line where the file is new.
type Append = fn(&Path, Option<&str>, &[String]) -> Result<(), StoreError>;

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
        Self::with(append_lines, tasks, path, header, inside)
    }

    /// Starts the writer of the decision log, which chains its lines.
    pub(super) fn chained(tasks: &Tasks, path: PathBuf, inside: mpsc::Sender<Inside>) -> Self {
        let append: Append =
            |path, _header, lines| audit::append(path, lines, &super::records::now());
        Self::with(append, tasks, path, None, inside)
    }

    fn with(
        append: Append,
        tasks: &Tasks,
        path: PathBuf,
        header: Option<String>,
        inside: mpsc::Sender<Inside>,
    ) -> Self {
        let (lines, queue) = mpsc::channel(LINES);
        tasks.spawn("journal", write(append, path.into(), header, queue, inside));
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
    append: Append,
    path: Arc<Path>,
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
            tokio::task::spawn_blocking(move || append(&file, first.as_deref(), &lines)).await;
        let warning = match written {
            Ok(Ok(())) => continue,
            Ok(Err(fault)) => Warning {
                message: format!("{fault}. It is not written any further in this run."),
                ..Warning::from(fault)
            },
            Err(_) => Warning::new(Source::Program, "The writer of a file stopped.", ""),
        };
        broken = true;
        drop(inside.send(Inside::Warned(warning)).await);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn ended(tasks: &Tasks) {
        assert!(tasks.wait(Duration::from_secs(20)).await);
    }

    #[tokio::test]
    async fn lines_come_after_the_header_in_their_order() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("made").join("a.jsonl");
        let (tasks, _faults) = Tasks::new();
        let (inside, _warnings) = mpsc::channel(1);
        let mut journal = Journal::open(&tasks, path.clone(), Some("header".into()), inside);
        for line in ["one", "two", "three"] {
            assert_eq!(journal.add(line.into()), None);
        }
        drop(journal);
        ended(&tasks).await;
        assert_eq!(std::fs::read_to_string(path).unwrap(), "header\none\ntwo\nthree\n");
    }

    #[tokio::test]
    async fn without_a_line_there_is_no_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.jsonl");
        let (tasks, _faults) = Tasks::new();
        let (inside, _warnings) = mpsc::channel(1);
        drop(Journal::open(&tasks, path.clone(), Some("header".into()), inside));
        ended(&tasks).await;
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_disk_that_refuses_costs_one_warning() {
        let home = tempfile::tempdir().unwrap();
        let blocked = home.path().join("file");
        std::fs::write(&blocked, "in the way").unwrap();
        let (tasks, _faults) = Tasks::new();
        let (inside, mut warnings) = mpsc::channel(8);
        let mut journal = Journal::open(&tasks, blocked.join("a.jsonl"), None, inside);
        journal.add("one".into());
        let Some(Inside::Warned(warning)) = warnings.recv().await else { panic!("no warning") };
        assert!(warning.message.contains("not written any further"), "{warning:?}");
        journal.add("two".into());
        drop(journal);
        ended(&tasks).await;
        assert!(warnings.recv().await.is_none());
    }
}
