//! Rules as they are written in the config and in `rules.yaml`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::misspelt::misspelt;
use crate::domain::{Mode, Tool};

/// A pattern over original names or argument text: `*` matches any run of characters, `/` and
/// line breaks included; everything else matches itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(pub String);

impl Pattern {
    /// Whether the whole of `text` fits.
    pub fn matches(&self, text: &str) -> bool {
        let mut pieces = self.0.split('*');
        let Some(mut rest) = pieces.next().and_then(|head| text.strip_prefix(head)) else {
            return false;
        };
        let Some(tail) = pieces.next_back() else {
            return rest.is_empty();
        };
        for piece in pieces {
            let Some((_, after)) = rest.split_once(piece) else {
                return false;
            };
            // An empty piece (`**`) is found before the first character and takes nothing.
            rest = after;
        }
        rest.ends_with(tail)
    }

    /// Whether it would match with one letter of it replaced, dropped, added, or two swapped.
    pub fn nearly_matches(&self, text: &str) -> bool {
        misspelt(self, text)
    }

    /// Whether it can only match one text.
    pub fn is_literal(&self) -> bool {
        !self.0.contains('*')
    }
}

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
    /// Condition on the server's own claim that it may destroy; missing claim means that it may,
    /// unless it claims to be read-only.
    pub destructive: Option<bool>,
    /// Condition on the data: only calls whose arguments repeat a piece of a result of one of these
    /// servers (patterns over their names). Empty for a rule about calls as such.
    pub from: Vec<Pattern>,
    /// What to do.
    pub permissions: Mode,
    /// Past this it is *ask*.
    pub max_calls: Option<Rate>,
    /// Holds only while the tool's definition has this fingerprint.
    pub pin: Option<String>,
    /// Where it is written.
    pub origin: RuleOrigin,
}

impl Rule {
    /// A rule without conditions, as given on the command line.
    pub fn new(tool: Pattern, permissions: Mode) -> Self {
        Self {
            tool,
            when: Vec::new(),
            read_only: None,
            destructive: None,
            from: Vec::new(),
            permissions,
            max_calls: None,
            pin: None,
            origin: RuleOrigin { file: None, line: None },
        }
    }

    /// The rule that *always* writes: this tool, with this definition, and nothing else.
    pub fn always(tool: &Tool) -> Self {
        let name = Pattern(tool.id.tool.as_str().to_owned());
        Self { pin: Some(tool.pin.clone()), ..Self::new(name, Mode::Auto) }
    }

    /// Reads a rule of the command line, `server/tool` in original names, `*` allowed in both. The
    /// first `/` separates: a tool's name may hold more of them. Returns the server's pattern and
    /// the rule.
    pub fn parse_cli(text: &str, permissions: Mode) -> Result<(Pattern, Self), String> {
        match text.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Ok((Pattern(server.to_owned()), Self::new(Pattern(tool.to_owned()), permissions)))
            }
            _ => Err(format!(
                "“{text}” is no rule: write server/tool in original names, such as github/get_me or github/*"
            )),
        }
    }
}
