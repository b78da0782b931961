//! The terminal: entering, leaving, all modes, a thread-aware panic hook, suspending.
//!
//! Promise: whatever ends the program (a return, an error, a panic, a signal that can be caught),
//! the terminal is as it was. [`Guard`] leaves when it is dropped; [`leave`] may be called twice.

pub mod frame;
pub mod input;
pub mod linked;
pub mod out;
pub mod signals;
mod sweep;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::ThreadId;

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{cursor, execute, queue};
use ratatui::{Frame, Terminal};

use crate::text;
use linked::{Linked, Targets};

/// Whether the screen is ours now.
static OURS: AtomicBool = AtomicBool::new(false);
/// The thread that draws.
static UI_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Bytes gathered before they are written: one frame should be one write.
const BUFFER: usize = 64 * 1024;

type Out = io::BufWriter<io::Stdout>;

/// The terminal, as long as the screen is ours.
#[derive(Debug)]
pub struct Guard {
    terminal: Terminal<Linked<Out>>,
    mouse: bool,
    links: Option<Targets>,
    /// See `sweep`.
    loose: Vec<usize>,
}

impl Guard {
    /// Takes the screen. Fails, with what to do, when standard output is no terminal.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::other(
                "standard output is not a terminal: use `mini-me-tui exec` for pipes and files",
            ));
        }
        *UI_THREAD.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(std::thread::current().id());
        HOOK.call_once(install_hook);
        modes(mouse)?;
        match fresh(None) {
            Ok(terminal) => Ok(Self { terminal, mouse, links: None, loose: Vec::new() }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Shows links from the next frame on, which is drawn whole; `links` says what cells lead to.
    pub fn show_links(&mut self, links: Targets) -> io::Result<()> {
        self.links = Some(links);
        self.terminal = fresh(self.links)?;
        Ok(())
    }

    /// Draws one frame inside a synchronized update: the terminal shows it whole or not at all.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let loose = &mut self.loose;
        let swept = |frame: &mut Frame<'_>| {
            render(frame);
            sweep::sweep(frame.buffer_mut(), loose);
        };
        let drawn = self.terminal.draw(swept).map(drop);
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Forgets what is on the screen: the next frame is drawn whole.
    pub fn redraw(&mut self) -> io::Result<()> {
        // The library's own way asks the terminal for its cursor, and waits for the answer.
        self.terminal = fresh(self.links)?;
        queue!(self.terminal.backend_mut(), Clear(ClearType::All))
    }

    /// Captures the mouse, or leaves it to the terminal.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        let out = self.terminal.backend_mut();
        if on { capture_mouse(out) } else { execute!(out, DisableMouseCapture) }
    }

    /// Sets the title of the window. Cleaned here.
    pub fn title(&mut self, title: &str) -> io::Result<()> {
        let title = text::cut(text::strict_line(title).as_str(), 80);
        self.write(&out::title(&title))
    }

    /// Writes a control sequence of our own.
    pub fn write(&mut self, sequence: &out::Sequence) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(sequence.as_str().as_bytes())?;
        io::Write::flush(out)
    }

    /// Gives the terminal back for a while. The input stream must have been dropped before.
    pub fn pause(&mut self) {
        leave();
    }

    /// Takes the terminal again after [`Self::pause`]; the next frame is drawn whole.
    pub fn resume(&mut self) -> io::Result<()> {
        modes(self.mouse)?;
        self.redraw()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// A terminal that remembers nothing of what is on the screen.
fn fresh(links: Option<Targets>) -> io::Result<Terminal<Linked<Out>>> {
    let out = io::BufWriter::with_capacity(BUFFER, io::stdout());
    Terminal::new(Linked::new(out, links))
}

/// Sets every mode the screen needs.
fn modes(mouse: bool) -> io::Result<()> {
    OURS.store(true, Ordering::SeqCst);
    let set = set_modes(mouse);
    if set.is_err() {
        leave();
    }
    set
}

fn set_modes(mouse: bool) -> io::Result<()> {
    crossterm::terminal::enable_raw_mode()?;
    let mut out = io::stdout();
    queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide)?;
    // Not asked whether it is known: the answer may take seconds, and who does not know it ignores it.
    if keyboard_flags_are_harmless() {
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        queue!(out, PushKeyboardEnhancementFlags(flags))?;
    }
    if mouse {
        capture_mouse(&mut out)?;
    }
    out.flush()
}

/// Buttons and the wheel only: a mouse that merely moves must wake nobody.
fn capture_mouse(out: &mut impl Write) -> io::Result<()> {
    if cfg!(unix) {
        out.write_all(b"\x1b[?1000h\x1b[?1006h")?;
        return out.flush();
    }
    execute!(out, EnableMouseCapture)
}

/// Everywhere but on the few terminals that would print the sequence.
fn keyboard_flags_are_harmless() -> bool {
    cfg!(unix) && !matches!(std::env::var("TERM").as_deref(), Ok("linux" | "dumb"))
}

/// Gives the terminal back as it was. Does nothing when it is not ours; never fails: what cannot be
/// written can not be helped here.
pub fn leave() {
    if !OURS.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut stdout = io::stdout();
    let quiet = |done: io::Result<()>| drop(done);
    quiet(execute!(stdout, EndSynchronizedUpdate, DisableMouseCapture));
    if keyboard_flags_are_harmless() {
        quiet(execute!(stdout, PopKeyboardEnhancementFlags));
    }
    let title = out::title("");
    quiet(execute!(stdout, DisableFocusChange, DisableBracketedPaste, Print(title.as_str())));
    quiet(execute!(stdout, LeaveAlternateScreen, cursor::Show));
    quiet(crossterm::terminal::disable_raw_mode());
}

/// A panic on the thread that draws gives the terminal back, then reports. On any other thread it is
/// only logged while the screen is ours: restoring there would leave a live program without a screen.
fn install_hook() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let drawing = *UI_THREAD.lock().unwrap_or_else(PoisonError::into_inner)
            == Some(std::thread::current().id());
        if drawing {
            leave();
        }
        if OURS.load(Ordering::SeqCst) {
            tracing::error!(panic = %info, "a background task panicked");
        } else {
            report(info);
        }
    }));
}
