//! Why a config file stops the program: it cannot be read at all.

use std::path::PathBuf;

use super::node::Position;
use super::secret;

/// A config that cannot be used at all: exit code 2, before the screen opens.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the config file {}: {source}\n{advice}", file.display())]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What to do about it.
        advice: String,
    },
    /// The file is larger than a config may be.
    #[error("the config file {} is larger than the limit of {limit} bytes", file.display())]
    TooLarge {
        /// Which file.
        file: PathBuf,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The text is not YAML, not one document, not a map, or gives a section twice.
    #[error(
        "{}:{}:{}: {problem}\n{:>5} | {excerpt}\nNothing was loaded: mend line {}, column {}, and start again.",
        file.display(), at.line, at.column, at.line, at.line, at.column
    )]
    Syntax {
        /// Which file.
        file: PathBuf,
        /// Line and column, both from 1.
        at: Position,
        /// What is wrong.
        problem: String,
        /// That line alone, without its secrets.
        excerpt: String,
    },
}

impl ConfigError {
    /// Builds [`ConfigError::Syntax`] with the line that `at` names.
    pub(super) fn syntax(file: PathBuf, text: &str, at: Position, mut problem: String) -> Self {
        let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
        if line.trim_start_matches(' ').starts_with('\t') {
            problem.push_str("; YAML takes no tab there: indent with spaces");
        }
        Self::Syntax { file, at, problem, excerpt: secret::excerpt(line) }
    }
}
