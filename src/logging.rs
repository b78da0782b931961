//! `tracing` into a rolling file, redacted; never to the terminal.
//!
//! The file is written by a thread of its own that sleeps while nothing is logged. Every secret it
//! was told of is taken out of every line, whoever wrote it; libraries that log headers and
//! addresses are held to warnings.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tracing::Subscriber;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::paths::Paths;
use crate::redact;
use crate::store;
use crate::text;

/// Days of log that are kept.
const MAX_FILES: usize = 7;
/// Lines that wait for the disk; beyond that lines are dropped rather than the program held up.
const BUFFERED_LINES: usize = 4096;
/// Libraries that log headers and addresses below warnings.
const TALKATIVE: [&str; 8] =
    ["hyper", "hyper_util", "h2", "reqwest", "rustls", "rustls_platform_verifier", "rmcp", "tower"];

/// The levels that `--log-level` takes.
pub const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Not one of [`LEVELS`].
    #[error("`{0}` is no log level; allowed: off, error, warn, info, debug, trace")]
    Level(String),
    /// Its directory cannot be made.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Its file cannot be opened.
    #[error("cannot open a log file in {}: {source}", dir.display())]
    Open {
        /// Where.
        dir: PathBuf,
        /// Why.
        source: tracing_appender::rolling::InitError,
    },
    /// Something else in this process logs already.
    #[error("logging was set up already")]
    Again(#[from] tracing::subscriber::SetGlobalDefaultError),
}

/// Keeps the log going; dropping it writes what is left.
#[derive(Debug)]
pub struct LogGuard {
    secrets: Secrets,
    _worker: WorkerGuard,
}

impl LogGuard {
    /// Takes these out of every line from now on, in every spelling.
    pub fn hide(&self, secrets: &redact::Secrets) {
        let mut all = self.secrets.0.write().unwrap_or_else(PoisonError::into_inner);
        *all = all.and(secrets);
    }
}

/// Starts logging. `None`, and nothing is written, where there are no paths or the level is `off`.
pub fn init(paths: Option<&Paths>, level: &str) -> Result<Option<LogGuard>, LogError> {
    let level = parse_level(level)?;
    let Some(paths) = paths.filter(|_| level != LevelFilter::OFF) else { return Ok(None) };
    let (writer, guard) = open(paths)?;
    tracing::subscriber::set_global_default(subscriber(writer, level))?;
    Ok(Some(guard))
}

fn parse_level(word: &str) -> Result<LevelFilter, LogError> {
    let known = LEVELS.iter().find(|level| level.eq_ignore_ascii_case(word));
    known.and_then(|level| level.parse().ok()).ok_or_else(|| LogError::Level(word.to_owned()))
}

fn open(paths: &Paths) -> Result<(NonBlocking, LogGuard), LogError> {
    let dir = paths.log_dir();
    store::private_dir(&dir)?;
    let file = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("mini-me")
        .filename_suffix("log")
        .max_log_files(MAX_FILES)
        .build(&dir)
        .map_err(|source| LogError::Open { dir: dir.clone(), source })?;
    let secrets = Secrets::default();
    let mut writer = Redacting { file, dir, closed_on: None, secrets: secrets.clone() };
    // A quiet run leaves an empty file behind: it too is for this user alone.
    writer.close_to_others();
    let (writer, worker) = tracing_appender::non_blocking::NonBlockingBuilder::default()
        .buffered_lines_limit(BUFFERED_LINES)
        .thread_name("log")
        .finish(writer);
    Ok((writer, LogGuard { secrets, _worker: worker }))
}

fn subscriber<W>(writer: W, level: LevelFilter) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    tracing_subscriber::registry().with(targets(level)).with(lines)
}

/// Everything of ours at `level`; of others no more than warnings.
fn targets(level: LevelFilter) -> Targets {
    let others = level.min(LevelFilter::WARN);
    let all = Targets::new().with_default(others).with_target("mini_me_tui", level);
    TALKATIVE.iter().fold(all, |all, library| all.with_target(*library, others))
}

/// What is taken out of every line.
#[derive(Debug, Clone, Default)]
struct Secrets(Arc<RwLock<redact::Secrets>>);

impl Secrets {
    /// `line` without any of them; `None` if it holds none.
    fn redact(&self, line: &[u8]) -> Option<String> {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match secrets.text(&String::from_utf8_lossy(line)) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Writes lines without secrets, and keeps the files for this user alone.
struct Redacting {
    file: RollingFileAppender,
    dir: PathBuf,
    /// The day whose file was closed to others.
    closed_on: Option<time::Date>,
    secrets: Secrets,
}

impl Redacting {
    /// The appender creates each day's file with the usual permissions.
    fn close_to_others(&mut self) {
        let today = time::OffsetDateTime::now_utc().date();
        if self.closed_on == Some(today) {
            return;
        }
        self.closed_on = Some(today);
        #[cfg(not(unix))]
        let _ = &self.dir;
        #[cfg(unix)]
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            // The directory is closed to others as well, so a failure opens nothing.
            drop(std::fs::set_permissions(entry.path(), permissions));
        }
    }
}

impl Write for Redacting {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let clean = self.secrets.redact(line);
        let text = clean.map_or_else(|| String::from_utf8_lossy(line), Cow::Owned);
        // Whoever reads the log with a pager is at a terminal, and nobody forges a second line.
        let text = text::strict_line(text.strip_suffix('\n').unwrap_or(&text));
        self.file.write_all(text.as_str().as_bytes())?;
        self.file.write_all(b"\n")?;
        self.close_to_others();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(dir: &std::path::Path) -> Paths {
        let at = dir.join("home");
        Paths { config: at.clone(), state: at.clone(), data: at }
    }

    fn logged(paths: &Paths) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(paths.log_dir()).unwrap() {
            text.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
        text
    }

    #[test]
    fn lines_reach_the_file_without_the_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let (writer, guard) = open(&paths).unwrap();
        let secrets = [("A", "tok-EXAMPLE"), ("B", "tok-EXAMPLE-1"), ("C", "a")];
        guard.hide(&redact::Secrets::new(secrets));
        tracing::subscriber::with_default(subscriber(writer, LevelFilter::TRACE), || {
            tracing::trace!(token = "tok-EXAMPLE-1", "a trace with tok-EXAMPLE-1");
            tracing::debug!(target: "hyper::client", "a header");
            tracing::warn!(target: "reqwest", "a warning \u{1b}[2J\nand \u{202e} more");
        });
        drop(guard);
        let text = logged(&paths);
        assert!(text.contains("a trace with [redacted: B]"), "{text}");
        assert!(!text.contains("EXAMPLE") && !text.contains("a header"), "{text}");
        assert!(text.contains("a warning") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn log_files_are_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let (writer, guard) = open(&paths).unwrap();
        tracing::subscriber::with_default(subscriber(writer, LevelFilter::INFO), || {
            tracing::info!("a line");
        });
        drop(guard);
        for entry in std::fs::read_dir(paths.log_dir()).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn without_paths_or_with_off_nothing_is_logged() {
        let dir = tempfile::tempdir().unwrap();
        assert!(init(None, "trace").unwrap().is_none());
        assert!(init(Some(&paths(dir.path())), "off").unwrap().is_none());
        assert!(!dir.path().join("home").exists());
        assert!(matches!(init(None, "loud"), Err(LogError::Level(_))));
    }
}
