//! The same program in plain lines: no full screen, no cursor movement, no colours. For screen
//! readers, and for terminals that can do no more than print.
//!
//! Everything is said once, in whole lines. Decisions are answered with typed words; what allows a
//! call has to be typed in full, and nothing that was typed before the question counts as an answer.
//! `Talk` decides what is said and what is done; this module only reads, writes and waits.

mod ask;
mod talk;
mod words;

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::bridge::{Notice, Op};
use crate::cmd::output;
use crate::cmd::questions::Lines;
use crate::runtime::{self, Handle};
use crate::terminal::signals::{self, Caught, INTERRUPT, Signals};

use talk::{Step, Talk};

/// How long the end waits for everything to end in order.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the face begins with.
#[derive(Debug, Default)]
pub struct Options {
    /// Sent once discovery has settled.
    pub prompt: Option<String>,
    /// Name of the model; empty where none is configured.
    pub model: String,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Where the transcript is, where one was written.
    pub transcript: Option<PathBuf>,
    /// The signal that ended it; the exit code is 128 and its number.
    pub signal: Option<i32>,
}

/// Talks in lines until the user leaves, the input ends or a signal says so.
///
/// # Errors
///
/// Where signals cannot be listened for, or standard output takes no more.
pub async fn run(options: Options, handle: Handle) -> io::Result<Outcome> {
    let mut signals = Signals::listen()?;
    let mut talk = Talk::new(handle.catalog.clone(), options.model);
    output::print(&talk.opening(options.prompt))?;
    let mut face = Face {
        talk,
        lines: Lines::start(),
        notices: handle.notices,
        ops: handle.ops,
        outbox: VecDeque::new(),
        signal: None,
    };
    let looped = face.run(&mut signals).await;
    let Face { talk, notices, ops, signal, .. } = face;
    runtime::farewell(notices, ops, FAREWELL).await;
    looped.map(|()| Outcome { transcript: talk.transcript().cloned(), signal })
}

struct Face {
    talk: Talk,
    lines: Lines,
    notices: mpsc::Receiver<Notice>,
    ops: mpsc::Sender<Op>,
    /// What the runtime has no room for yet: sending must not wait while the runtime waits for us.
    outbox: VecDeque<Op>,
    signal: Option<i32>,
}

impl Face {
    async fn run(&mut self, signals: &mut Signals) -> io::Result<()> {
        loop {
            let step = tokio::select! { biased;
                caught = signals.next() => match caught {
                    Caught::End(INTERRUPT) => self.talk.interrupted(),
                    Caught::End(number) => {
                        self.signal = Some(number);
                        return Ok(());
                    }
                    Caught::Stop => {
                        signals::stop()?;
                        Step::default()
                    }
                },
                room = self.ops.reserve(), if !self.outbox.is_empty() => {
                    if let (Ok(room), Some(op)) = (room, self.outbox.pop_front()) {
                        room.send(op);
                    }
                    Step::default()
                }
                notice = self.notices.recv() => match notice {
                    Some(notice) => self.talk.hear(&notice, Instant::now()),
                    None => return Ok(()),
                },
                line = self.lines.next() => self.talk.take(line.as_deref(), Instant::now()),
            };
            if !step.said.is_empty() {
                output::print(&step.said)?;
            }
            self.outbox.extend(step.ops);
            if step.leave {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
