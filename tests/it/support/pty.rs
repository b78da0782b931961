//! The built binary on a pseudo-terminal of its own: what it wrote, what is shown, its keys, its
//! signals, its end.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

/// Longest wait for anything; reached only when a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What came out of the program.
struct Output {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    closed: bool,
    /// Nobody looks any more: the terminal is to be closed.
    given_up: bool,
}

type Shown = Arc<(Mutex<Output>, Condvar)>;

/// What is started, and where.
pub(crate) struct Start<'a> {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) env: Vec<(&'a str, String)>,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    pub(crate) home: &'a Path,
}

impl<'a> Start<'a> {
    /// The program itself.
    pub(crate) fn new(arguments: &[&str], size: (u16, u16), home: &'a Path) -> Self {
        Self {
            program: env!("CARGO_BIN_EXE_mini-me-tui").into(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            size,
            home,
        }
    }
}

/// The program on a terminal.
pub(crate) struct Tty {
    master: Option<Box<dyn MasterPty + Send>>,
    keys: Mutex<Option<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    shown: Shown,
    home: Option<Arc<TempDir>>,
}

impl Tty {
    /// Starts the program with a home of its own.
    pub(crate) fn start(arguments: &[&str], size: (u16, u16)) -> Self {
        Self::start_in(Arc::new(TempDir::new().unwrap()), arguments, size)
    }

    /// The same with a home that another run has had, or has.
    pub(crate) fn start_in(home: Arc<TempDir>, arguments: &[&str], size: (u16, u16)) -> Self {
        let mut tty = Self::run(&Start::new(arguments, size, home.path()));
        tty.home = Some(home);
        tty
    }

    /// The home it was started with.
    pub(crate) fn home(&self) -> Arc<TempDir> {
        Arc::clone(self.home.as_ref().unwrap())
    }

    pub(crate) fn run(start: &Start<'_>) -> Self {
        let (cols, rows) = start.size;
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(&start.program);
        command.args(&start.arguments);
        command.env_clear();
        command.cwd(start.home);
        command.env("MINI_ME_HOME", start.home);
        command.env("TERM", "xterm-256color");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in &start.env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let output = Output {
            parser: parser(cols, rows),
            bytes: Vec::new(),
            closed: false,
            given_up: false,
        };
        let shown: Shown = Arc::new((Mutex::new(output), Condvar::new()));
        read(pair.master.try_clone_reader().unwrap(), Arc::clone(&shown));
        let keys = pair.master.take_writer().unwrap();
        Self { master: Some(pair.master), keys: Mutex::new(Some(keys)), child, shown, home: None }
    }

    /// Presses keys, as the bytes they are.
    pub(crate) fn types(&self, keys: &str) {
        let mut to = self.keys.lock().unwrap();
        let to = to.as_mut().unwrap();
        to.write_all(keys.as_bytes()).unwrap();
        to.flush().unwrap();
    }

    /// Looks at the screen.
    pub(crate) fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shown.0.lock().unwrap().parser.screen())
    }

    pub(crate) fn contents(&self) -> String {
        self.screen(vt100::Screen::contents)
    }

    /// Everything written to the terminal so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.shown.0.lock().unwrap().bytes.clone()
    }

    /// Waits until the screen is as wanted.
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        let (output, bell) = &*self.shown;
        let mut output = output.lock().unwrap();
        while !wanted(output.parser.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            let screen = output.parser.screen();
            assert!(!left.is_zero(), "no {what}:\n{}", screen.contents());
            output = bell.wait_timeout(output, left).unwrap().0;
        }
    }

    pub(crate) fn until_text(&self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    /// Waits until nothing moves on the screen but figures: clocks run while a turn does.
    pub(crate) fn settles(&self) {
        let still = Duration::from_millis(350);
        let end = Instant::now() + PATIENCE;
        let words =
            || -> String { self.contents().chars().filter(|c| !c.is_ascii_digit()).collect() };
        let (mut before, mut since) = (words(), Instant::now());
        while since.elapsed() < still && Instant::now() < end {
            self.pause();
            let now = words();
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Another size of the terminal; the screen is drawn anew by whoever draws it.
    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        if cols > 0 && rows > 0 {
            self.shown.0.lock().unwrap().parser = parser(cols, rows);
        }
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    /// Forgets what is shown, as a terminal does that somebody else has written to.
    pub(crate) fn blank(&self) {
        let mut output = self.shown.0.lock().unwrap();
        let (rows, cols) = output.parser.screen().size();
        output.parser = vt100::Parser::new(rows, cols, 0);
    }

    /// The modes of the line, as `stty -g` has them.
    pub(crate) fn line_modes(&self) -> String {
        format!("{:?}", self.master.as_ref().unwrap().get_termios().unwrap())
    }

    /// Closes the terminal, as when its window is closed.
    pub(crate) fn hang_up(&mut self) {
        self.shown.0.lock().unwrap().given_up = true;
        // It makes the program write something, and so the reader look up.
        self.types("\u{c}");
        *self.keys.lock().unwrap() = None;
        self.master = None;
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Whether it is stopped, and neither runs nor has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['T', 't']))
    }

    /// Waits for the end and says with which code.
    pub(crate) fn ends(&mut self) -> u32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < end, "it does not end:\n{}", self.contents());
            self.pause();
        }
    }

    /// Waits until everything has been read that was written before the end.
    pub(crate) fn drained(&self) {
        let (output, bell) = &*self.shown;
        let mut output = output.lock().unwrap();
        let end = Instant::now() + PATIENCE;
        while !output.closed && Instant::now() < end {
            output = bell.wait_timeout(output, Duration::from_millis(100)).unwrap().0;
        }
    }

    /// Waits a moment, or until something is shown.
    pub(crate) fn pause(&self) {
        let (output, bell) = &*self.shown;
        let output = output.lock().unwrap();
        drop(bell.wait_timeout(output, Duration::from_millis(20)).unwrap());
    }

    /// The terminal is as it was before the program.
    pub(crate) fn restored(&self) {
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
        drop(self.child.wait());
    }
}

fn parser(cols: u16, rows: u16) -> vt100::Parser {
    vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(cols).unwrap(), 0)
}

fn read(mut from: Box<dyn Read + Send>, shown: Shown) {
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        let (output, bell) = &*shown;
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.parser.process(&buffer[..read]);
            output.bytes.extend_from_slice(&buffer[..read]);
            bell.notify_all();
            if output.given_up {
                break;
            }
        }
        // With this the last handle of this side is closed.
        drop(from);
        output.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        bell.notify_all();
    });
}
