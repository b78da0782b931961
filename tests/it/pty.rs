//! The built binary on a real pseudo-terminal: what a person sees, and the terminal afterwards.
#![cfg(all(unix, feature = "demo"))]

use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// Longest wait for anything; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the terminal shows, and a bell for whoever waits for a change.
type Shown = Arc<(Mutex<vt100::Parser>, Condvar)>;

/// The program on a terminal of its own, with a home of its own.
struct Tty {
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shown: Shown,
    _home: TempDir,
}

impl Tty {
    fn start(arguments: &[&str]) -> Self {
        let home = TempDir::new().unwrap();
        let size = PtySize { rows: 30, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_mini-me-tui"));
        command.args(arguments);
        command.env_clear();
        command.env("MINI_ME_HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let shown: Shown = Arc::new((Mutex::new(parser(30, 100)), Condvar::new()));
        read(pair.master.try_clone_reader().unwrap(), Arc::clone(&shown));
        let keys = pair.master.take_writer().unwrap();
        Self { master: pair.master, keys, child, shown, _home: home }
    }

    fn demo() -> Self {
        let mut tty = Self::start(&["--demo"]);
        tty.until("the first frame", |screen| screen.contents().contains("Ask something"));
        tty
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn contents(&self) -> String {
        self.shown.0.lock().unwrap().screen().contents()
    }

    /// Waits until the screen is as wanted.
    fn until(&mut self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        let (parser, bell) = &*self.shown;
        let mut parser = parser.lock().unwrap();
        while !wanted(parser.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no {what}:\n{}", parser.screen().contents());
            parser = bell.wait_timeout(parser, left).unwrap().0;
        }
    }

    fn until_text(&mut self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Waits for the end and says with which code.
    fn ends(&mut self) -> u32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < end, "it does not end:\n{}", self.contents());
            self.pause();
        }
    }

    /// Waits a moment, or until something is shown.
    fn pause(&self) {
        let (parser, bell) = &*self.shown;
        let parser = parser.lock().unwrap();
        drop(bell.wait_timeout(parser, Duration::from_millis(20)).unwrap());
    }

    /// The terminal is as it was before the program.
    fn restored(&mut self) {
        self.until("the terminal as it was", |screen| {
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && !screen.bracketed_paste()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        });
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
    }
}

fn parser(rows: u16, cols: u16) -> vt100::Parser {
    vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(cols).unwrap(), 0)
}

fn read(mut from: Box<dyn Read + Send>, shown: Shown) {
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let (parser, bell) = &*shown;
            parser.lock().unwrap().process(&buffer[..read]);
            bell.notify_all();
        }
    });
}

#[test]
fn ctrl_c_twice_quits_and_the_terminal_is_as_it_was() {
    let mut tty = Tty::demo();
    tty.types("hello\r");
    tty.until("the whole answer", |screen| {
        let contents = screen.contents();
        contents.contains("   allow.") && contents.contains(" ready   F1")
    });
    tty.types("\u{3}");
    tty.until_text("again to quit");
    tty.types("\u{3}");
    tty.restored();
    assert_eq!(tty.ends(), 0);
    tty.until_text("Transcript: ");
}

#[test]
fn signals_end_it_with_their_code_and_the_terminal_is_as_it_was() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        let mut tty = Tty::demo();
        tty.signal(name);
        tty.restored();
        assert_eq!(tty.ends(), code, "{name}");
    }
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_continuing_draws_it_whole() {
    let mut tty = Tty::demo();
    tty.types("\u{1a}");
    tty.restored();
    // It may not have stopped yet when the first one comes.
    let end = Instant::now() + PATIENCE;
    while !tty.shown.0.lock().unwrap().screen().alternate_screen() {
        assert!(Instant::now() < end, "it does not go on");
        tty.signal("CONT");
        tty.pause();
    }
    tty.until_text("Ask something");
    tty.types("x");
    tty.until_text("› x");
}

#[test]
fn a_small_terminal_is_told_so_and_growing_it_draws_again() {
    let mut tty = Tty::demo();
    for (rows, cols) in [(5, 20), (30, 100)] {
        *tty.shown.0.lock().unwrap() = parser(rows, cols);
        tty.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        let wanted = if rows < 12 { "needs 40" } else { "Ask something" };
        tty.until_text(wanted);
    }
}

#[test]
fn the_wire_view_opens_by_its_key_shows_an_exchange_and_goes_away() {
    let mut tty = Tty::demo();
    tty.until_text("● tracker");
    tty.types("\u{1b}[17~");
    tty.until_text("tools/list");
    tty.types("discover\r");
    tty.until_text("Bearer $MINI_ME_DEMO_KEY");
    // Escape alone is told from a sequence by what follows.
    for gone in ["Bearer $MINI_ME_DEMO_KEY", "› discover", "TIME UTC"] {
        tty.types("\u{1b}");
        tty.until("one step back", |screen| !screen.contents().contains(gone));
    }
    tty.until_text("Ask something");
}

#[test]
fn pasted_lines_are_one_draft_and_press_nothing() {
    let mut tty = Tty::demo();
    tty.types("\u{1b}[200~first\r\n\r\nthird\r\n\u{1b}[201~");
    tty.until_text("third");
    assert!(tty.contents().contains("first"));
    assert!(!tty.contents().contains("working"));
}

#[test]
fn a_call_waits_for_its_answer_and_runs_after_it() {
    let mut tty = Tty::demo();
    tty.until_text("● tracker");
    tty.types("Look at task #42 and explain it\r");
    tty.until_text("Allow this call?");
    tty.types("y");
    tty.until_text("› y");
    tty.until_text("your answer?");
    tty.types("y");
    tty.until("a first result", |screen| {
        let text = screen.contents();
        text.contains(" ok") && text.contains("list_tasks")
    });
    tty.types("\u{3}");
    tty.until("the end of the turn", |screen| !screen.contents().contains("Allow this call?"));
}

#[test]
fn a_tool_is_called_by_its_form_and_asked_about() {
    let mut tty = Tty::demo();
    tty.until_text("● tracker");
    tty.types("\u{1b}[Zget_task");
    tty.until_text("filter: get_task");
    tty.types("\u{14}");
    tty.until_text("call tracker/get_task");
    tty.types("#42");
    tty.until_text("│ #42");
    tty.types("\u{13}");
    tty.until_text("Allow this call?");
    tty.until_text("your answer?");
    tty.types("y");
    tty.until("the result", |screen| screen.contents().contains("Checkout hangs"));
}

#[test]
fn plain_lines_ask_in_words_and_never_take_the_screen() {
    let mut tty = Tty::start(&["--demo", "--linear"]);
    tty.until_text("Your message:");
    tty.types("Look at task #42 and explain it\r");
    tty.until_text("DECISION: allow this call?");
    let end = Instant::now() + PATIENCE;
    while !tty.contents().contains("list_tasks: ok after") {
        assert!(Instant::now() < end, "no answer counts:\n{}", tty.contents());
        // What comes too soon after the question decides nothing.
        (0..40).for_each(|_| tty.pause());
        tty.types("allow\r");
    }
    tty.types("\u{3}");
    tty.until_text("Cancelled.");
    assert!(!tty.shown.0.lock().unwrap().screen().alternate_screen());
    tty.types("/quit\r");
    assert_eq!(tty.ends(), 0);
    tty.until_text("Transcript: ");
}
