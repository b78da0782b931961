//! Something the user should know that did not stop the program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::name::{ServerName, ToolId};

/// The words that mark a conformance warning.
const NOT_BY_PROTOCOL: &str = "does not follow the protocol";

/// Where a [`Warning`] comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// A place in a config file; `line` counts from 1, `field` is a path such as `servers[0].url`.
    Config {
        /// The file.
        file: PathBuf,
        /// Line, from 1; absent when the position is not known.
        line: Option<usize>,
        /// Path of the field inside the file.
        field: String,
    },
    /// A server.
    Server(ServerName),
    /// A tool of a server.
    Tool(ToolId),
    /// The language model's endpoint.
    Model,
    /// The program itself or this machine: files, disk, terminal.
    Program,
}

/// A sentence about what is not as it should be, and what to do about it.
///
/// `message` and `advice` may quote outside text: clean before showing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Warning {
    /// Where it comes from.
    pub source: Source,
    /// What happened, to what. One sentence.
    pub message: String,
    /// What to do about it. One sentence; empty where nothing can be done.
    pub advice: String,
}

impl Warning {
    /// A conformance warning: `what` the server does that the protocol does not allow, as the end of
    /// a sentence that begins with “it”.
    pub fn conformance(server: &ServerName, what: &str) -> Self {
        Self::new(
            Source::Server(server.clone()),
            format!("The server {NOT_BY_PROTOCOL}: it {what}."),
            "It is used as far as it can be; its makers may want to know.",
        )
    }

    /// Whether it is one of those.
    pub fn is_conformance(&self) -> bool {
        self.message.contains(NOT_BY_PROTOCOL)
    }

    /// Builds a warning.
    pub fn new(source: Source, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { source, message: message.into(), advice: advice.into() }
    }
}
