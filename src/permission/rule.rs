//! Rules as they are written in the config and in `rules.yaml`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::domain::Mode;

/// A pattern over original names or argument text: `*` matches any run of characters, `/` and
/// line breaks included; everything else matches itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(pub String);

/// What an argument must be for a rule to match.
#[derive(Debug, Clone, PartialEq)]
pub enum Matcher {
    /// One pattern over a string argument.
    Text(Pattern),
    /// Exactly this JSON value (number, boolean, null).
    Value(Value),
    /// One of these.
    OneOf(Vec<Self>),
}

/// At most `calls` in any `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub calls: u32,
    /// In how long.
    pub per: Duration,
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOrigin {
    /// The file; `None` for the command line.
    pub file: Option<PathBuf>,
    /// Line, from 1, where known.
    pub line: Option<usize>,
}

/// One rule of a server. The first one that matches decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Which tools, by original name.
    pub tool: Pattern,
    /// Conditions on arguments: JSON pointer → matcher. All must hold.
    pub when: Vec<(String, Matcher)>,
    /// Condition on the server's own read-only claim; missing claim means not read-only.
    pub read_only: Option<bool>,
    /// What to do.
    pub permissions: Mode,
    /// Past this it is *ask*.
    pub max_calls: Option<Rate>,
    /// Holds only while the tool's definition has this fingerprint.
    pub pin: Option<String>,
    /// Where it is written.
    pub origin: RuleOrigin,
}
