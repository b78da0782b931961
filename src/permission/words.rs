//! Rules and reasons in words, and rules as they go into a file.
//!
//! The words may quote outside text: clean before showing.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::policy::{Because, Decision};
use super::rule::{Matcher, Pattern, Rate, Rule, RuleOrigin};
use crate::domain::{Grounds, GroundsKind, Mode, ServerName};

impl Decision {
    /// The verdict and its reason, such as `ask: the server's own mode`.
    pub fn describe(&self) -> String {
        format!("{}: {}", self.verdict.word(), self.because)
    }
}

impl Because {
    /// The reason as data, without what would change it.
    pub fn grounds(&self) -> Grounds {
        let of = |kind| Grounds { kind, ..Grounds::default() };
        let with = |kind, rule: &Rule| Grounds {
            kind,
            rule: Some(rule.to_yaml_value(None).to_string()),
            file: rule.origin.file.clone(),
            line: rule.origin.line,
            what_if: Vec::new(),
        };
        match self {
            Self::Rule(rule) => with(GroundsKind::Rule, rule),
            Self::Undecided(rule) => with(GroundsKind::Undecided, rule),
            Self::ServerMode => of(GroundsKind::ServerMode),
            Self::Grant | Self::GlobalMode | Self::UnknownServer => of(GroundsKind::GlobalMode),
            Self::PinChanged => of(GroundsKind::PinChanged),
            Self::Limit(_) => of(GroundsKind::Limit),
            Self::Carried(_) => of(GroundsKind::Carried),
        }
    }

    /// The reason in words; a rule is named with the file and line it is written in.
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant => f.write_str("you allowed this tool for this session"),
            Self::Rule(rule) => rule.fmt(f),
            Self::Undecided(rule) => {
                write!(f, "it cannot be said whether these arguments fit {rule}")
            }
            Self::ServerMode => f.write_str("the server's own mode"),
            Self::GlobalMode => f.write_str("the mode for all servers"),
            Self::PinChanged => {
                f.write_str("the tool's definition is not the one that is remembered")
            }
            Self::Limit(why) => f.write_str(why),
            Self::Carried(carried) => write!(f, "{}", carried.sentence()),
            Self::UnknownServer => f.write_str("no permissions are known for this server"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule {} ({})", self.to_yaml_value(None), self.origin)
    }
}

impl fmt::Display for RuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}", file.display()),
            (Some(file), None) => write!(f, "{}", file.display()),
            (None, _) => f.write_str("command line"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As the config spells it: `5/min`, `1/30s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls;
        match (self.per.as_secs(), self.per.subsec_millis()) {
            (1, 0) => write!(f, "{calls}/s"),
            (60, 0) => write!(f, "{calls}/min"),
            (3600, 0) => write!(f, "{calls}/h"),
            (86_400, 0) => write!(f, "{calls}/d"),
            (seconds, 0) => write!(f, "{calls}/{seconds}s"),
            _ => write!(f, "{calls}/{}ms", self.per.as_millis()),
        }
    }
}

impl Rule {
    /// The rule as an entry of a file, with the keys of the config; `server` names the server it is
    /// for, where the file is not that of one server.
    pub fn to_yaml_value(&self, server: Option<&ServerName>) -> Value {
        let mut entry = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                entry.insert(key.to_owned(), value);
            }
        };
        put("server", server.map(|server| server.as_str().into()));
        put("tool", Some(self.tool.0.as_str().into()));
        let when = self.when.iter().map(|(pointer, matcher)| (pointer.clone(), matcher.value()));
        put("when", (!self.when.is_empty()).then(|| Value::Object(when.collect())));
        put("readOnly", self.read_only.map(Value::Bool));
        put("destructive", self.destructive.map(Value::Bool));
        let from = match self.from.as_slice() {
            [] => None,
            [one] => Some(Value::from(one.0.as_str())),
            several => Some(several.iter().map(|pattern| pattern.0.as_str()).collect()),
        };
        put("from", from);
        put("permissions", Some(self.permissions.word().into()));
        put("maxCalls", self.max_calls.map(|rate| rate.to_string().into()));
        put("pin", self.pin.as_deref().map(Value::from));
        Value::Object(entry)
    }

    /// Whether it can let a call run without a question.
    pub fn loosens(&self) -> bool {
        self.permissions == Mode::Auto
    }
}

impl Matcher {
    fn value(&self) -> Value {
        match self {
            Self::Text(pattern) => pattern.0.as_str().into(),
            Self::Value(value) => value.clone(),
            Self::OneOf(several) => several.iter().map(Self::value).collect(),
        }
    }
}

/// With the keys of the config, without a server.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_yaml_value(None).serialize(serializer)
    }
}
