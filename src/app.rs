//! The full-screen face: the `select!` loop and nothing clever.
//!
//! Draws only when something changed, at most every 16 ms; no timer runs when nothing moves. The
//! drawing arm stands above the message arm: a fast model must not starve the screen.

mod browser;
mod carry;
mod child;
mod editor;
mod pick;
mod welcome;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use color_eyre::eyre::WrapErr as _;
use crossterm::event::Event;
use tokio::sync::mpsc;

use crate::bridge::{NOTICES, Notice, Op};
use crate::runtime::{self, Handle};
use crate::terminal::frame::FrameClock;
use crate::terminal::input::Input;
use crate::terminal::signals::{Caught, INTERRUPT, Signals, stop};
use crate::terminal::{Guard, linked};
use crate::ui::{Intent, Msg, Ui, UiOptions, link};

pub use pick::pick;
pub use welcome::{Chosen, welcome};

/// How long the end waits for everything to end in order.
const FAREWELL: Duration = Duration::from_secs(2);

/// How the screen ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Where the transcript is, where one was written.
    pub transcript: Option<PathBuf>,
    /// The signal that ended it; the exit code is 128 and its number.
    pub signal: Option<i32>,
}

/// Runs the screen until the user leaves. `prompt` is sent once discovery has settled. Programs that
/// it starts do not get the variables of `withheld`.
///
/// The first frame is drawn before anything else is done. When it returns, the terminal is as it
/// was.
pub async fn run(
    options: UiOptions,
    handle: Handle,
    prompt: Option<String>,
    withheld: Vec<String>,
) -> color_eyre::Result<Outcome> {
    // Before the terminal is taken: a signal in between would leave it as it is then.
    let mut signals = Signals::listen().wrap_err("cannot listen for signals")?;
    let mut guard = Guard::enter(options.mouse).wrap_err("cannot take the terminal")?;
    if linked::known(|name| std::env::var(name).ok()) {
        guard.show_links(link::target).wrap_err("cannot take the terminal")?;
    }
    let ui = Ui::new(options, handle.catalog);
    let mut app = App {
        guard,
        ui,
        input: Input::default(),
        clock: FrameClock::default(),
        outbox: VecDeque::new(),
        dirty: true,
        lent: false,
        title: "",
        withheld,
        leaving: None,
    };
    app.draw()?;
    app.input.restart();
    app.prompt(prompt);
    let mut notices = handle.notices;
    let looped = app.run(&mut signals, &mut notices, &handle.ops).await;
    let outcome = Outcome {
        transcript: app.ui.state.transcript.clone(),
        signal: match app.leaving {
            Some(Leaving::Signal(number)) => Some(number),
            Some(Leaving::Quit) | None => None,
        },
    };
    drop(app);
    runtime::farewell(notices, handle.ops, FAREWELL).await;
    looped.map(|()| outcome)
}

/// Why the loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// The user leaves, or the terminal is gone.
    Quit,
    /// A signal says so.
    Signal(i32),
}

struct App {
    guard: Guard,
    ui: Ui,
    input: Input,
    clock: FrameClock,
    /// What the runtime has no room for yet. Sending never blocks the loop: the runtime may be
    /// waiting for room at our side.
    outbox: VecDeque<Op>,
    dirty: bool,
    /// Another program had the terminal until just now: a Ctrl-C may have been meant for it.
    lent: bool,
    /// The title the window has.
    title: &'static str,
    /// Variables that programs started here do not get.
    withheld: Vec<String>,
    /// Set when the loop is to end.
    leaving: Option<Leaving>,
}

impl App {
    async fn run(
        &mut self,
        signals: &mut Signals,
        notices: &mut mpsc::Receiver<Notice>,
        ops: &mpsc::Sender<Op>,
    ) -> color_eyre::Result<()> {
        let mut open = true;
        while self.leaving.is_none() {
            let now = Instant::now();
            let due = self.clock.next(now);
            let wake = self.ui.state.next_wake(now).filter(|_| !self.dirty);
            tokio::select! { biased;
                caught = signals.next() => self.caught(caught)?,
                () = sleep_until(due), if self.dirty => self.draw()?,
                event = self.input.next() => match event {
                    Some(Ok(event)) => {
                        self.lent = false;
                        self.hurried(&event).await;
                        self.take(Msg::Input { event, at: Instant::now() })?;
                    }
                    // The terminal is gone: as after a hang-up.
                    Some(Err(_)) | None => self.leaving = Some(Leaving::Quit),
                },
                // Below the keys: that time has passed means that no key waits to be read.
                () = sleep_until(wake.unwrap_or(now)), if wake.is_some() => {
                    if let Some(at) = self.input.touched() {
                        drop(self.ui.update(Msg::Touched { at }));
                    }
                    self.take(Msg::Tick { now: Instant::now() })?;
                }
                room = ops.reserve(), if !self.outbox.is_empty() => self.send(room.ok()),
                notice = notices.recv(), if open => match notice {
                    Some(notice) => self.notices(notice, notices)?,
                    None => open = self.runtime_gone(),
                },
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> color_eyre::Result<()> {
        let now = Instant::now();
        let ui = &mut self.ui;
        self.guard.draw(|frame| ui.draw(frame, now)).wrap_err("cannot draw")?;
        self.clock.drew(now);
        let title = self.ui.state.title();
        if self.title != title {
            self.title = title;
            self.guard.title(title).wrap_err("cannot write to the terminal")?;
        }
        self.dirty = false;
        Ok(())
    }

    fn prompt(&mut self, prompt: Option<String>) {
        let Some(text) = prompt.filter(|text| !text.trim().is_empty()) else { return };
        if self.ui.state.catalog.settled() {
            self.outbox.push_back(Op::Submit { text });
        } else {
            self.ui.state.waiting_prompt = Some(text);
            self.dirty = true;
        }
    }

    /// One message and what it leads to.
    fn take(&mut self, msg: Msg) -> color_eyre::Result<()> {
        self.dirty = true;
        for intent in self.ui.update(msg) {
            self.carry_out(intent)?;
        }
        Ok(())
    }

    /// Says before a key that another one came with it.
    async fn hurried(&mut self, event: &Event) {
        let key = |event: &Event| event.as_key_press_event().is_some();
        if key(event) && self.input.ahead().await.is_some_and(key) {
            drop(self.ui.update(Msg::Hurried { at: Instant::now() }));
        }
    }

    /// Takes in what has come, within a budget that keeps keys live.
    fn notices(
        &mut self,
        first: Notice,
        more: &mut mpsc::Receiver<Notice>,
    ) -> color_eyre::Result<()> {
        let at = Instant::now();
        let mut next = Some(first);
        for _ in 0..NOTICES {
            let Some(notice) = next else { break };
            self.take(Msg::Notice { notice, at })?;
            next = more.try_recv().ok();
        }
        if let Some(notice) = next {
            self.take(Msg::Notice { notice, at })?;
        }
        Ok(())
    }

    fn send(&mut self, room: Option<mpsc::Permit<'_, Op>>) {
        match (room, self.outbox.pop_front()) {
            (Some(room), Some(op)) => room.send(op),
            _ => self.outbox.clear(),
        }
    }

    fn runtime_gone(&mut self) -> bool {
        let text = "the program's inner part has ended: leave and start again".to_owned();
        drop(self.ui.update(Msg::Said { text, at: Instant::now() }));
        self.dirty = true;
        false
    }

    fn caught(&mut self, caught: Caught) -> color_eyre::Result<()> {
        match caught {
            Caught::End(INTERRUPT) if self.lent => {}
            Caught::End(number) => self.leaving = Some(Leaving::Signal(number)),
            Caught::Stop => self.carry_out(Intent::Suspend)?,
        }
        Ok(())
    }
}

/// Gives the terminal back and stops, as Ctrl-Z does; goes on when it is continued.
fn suspend(guard: &mut Guard, input: &mut Input) -> std::io::Result<()> {
    input.stop();
    guard.pause();
    let stopped = stop();
    guard.resume()?;
    input.restart();
    stopped
}

async fn sleep_until(at: Instant) {
    tokio::time::sleep_until(at.into()).await;
}
