//! Questions to the user and their answers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::{Call, CallId};
use super::name::ToolId;
use super::tool::{Mode, Tool};

/// Whether somebody is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interaction {
    /// A face shows approvals and answers them.
    Interactive,
    /// What would ask is denied, and says which rule would allow it.
    Headless,
}

/// A question to the user about one call. Answered by the call's id.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// What would be sent.
    pub call: Call,
    /// The tool as it stands now.
    pub tool: Arc<Tool>,
    /// Host and port of the server, for showing where the arguments go.
    pub host: String,
    /// Why it asks: which rule or mode decided, and where it is written.
    pub why: String,
    /// Pieces of other servers' results that the arguments repeat; one of each server.
    pub carried: Vec<Carried>,
    /// The same as data. What changed of the tool's definition is [`Tool::changes`].
    pub grounds: Grounds,
}

/// Why something is asked, as data. Texts quote what stands in files and at servers: clean before
/// showing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounds {
    /// What kind of reason it is.
    pub kind: GroundsKind,
    /// The deciding rule as the file spells it, where a rule decided.
    pub rule: Option<String>,
    /// The file that the rule is written in; `None` for one of the command line.
    pub file: Option<PathBuf>,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// What would change the answer: each change, and what would be decided then.
    pub what_if: Vec<(String, Mode)>,
}

/// Kinds of reasons for a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GroundsKind {
    /// The server's own mode.
    ServerMode,
    /// The mode for all servers, or none.
    #[default]
    GlobalMode,
    /// A rule that fits.
    Rule,
    /// A rule of which it cannot be said whether it fits.
    Undecided,
    /// The definition is not the one that is remembered.
    PinChanged,
    /// A limit was reached.
    Limit,
    /// The user has changed the arguments.
    Edited,
    /// The definition changed while the user was asked.
    ChangedMeanwhile,
    /// The arguments repeat a result of another server.
    Carried,
}

/// A piece of one server's result in an argument for another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The tool whose result it is; of a tool that is gone, its model name without a server.
    pub from: ToolId,
    /// The call that gave it, where that is known.
    pub call: Option<CallId>,
    /// Its beginning, as it stands in the argument; raw.
    pub piece: String,
    /// How long the whole piece is.
    pub characters: usize,
}

impl Carried {
    /// It in words, without the piece.
    pub fn sentence(&self) -> String {
        let server = self.from.server.as_str();
        let from = if server.is_empty() {
            format!("the tool {} of an earlier run", self.from.tool)
        } else {
            self.from.to_string()
        };
        let call = self.call.map(|call| format!(" (call {call})")).unwrap_or_default();
        format!(
            "the arguments repeat {} characters of a result of {from}{call}, another server",
            self.characters
        )
    }
}

/// The answer to an [`Approval`]. Enter, Space and pasted text never make one that allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Run it, this once.
    Once,
    /// Run it, and this tool for the rest of this run.
    Session,
    /// Run it, and write a rule bound to the tool's pin.
    Always,
    /// Use these arguments instead, and ask again.
    Edit(Arc<Map<String, Value>>),
    /// Do not run it; `note` goes to the model, empty if none.
    Deny {
        /// A message to the model.
        note: String,
    },
}

/// Identity of a [`Question`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(pub u64);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Whether to go on with a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Identity.
    pub id: QuestionId,
    /// What made it necessary.
    pub kind: QuestionKind,
}

/// What made a [`Question`] necessary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum QuestionKind {
    /// The turn has gone through this many rounds.
    Rounds {
        /// How many.
        rounds: u32,
    },
    /// The same call with the same arguments gave the same result this many times in a row.
    Repeated {
        /// Which tool, as `server/tool`; several where they were called in turn.
        tool: String,
        /// How many times.
        times: u32,
    },
}
