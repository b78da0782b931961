//! The policy: grants, rules and modes, strictest on doubt.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Map, Value};

use super::rule::Rule;
use crate::domain::{Mode, ServerName, Tool, ToolId};

/// Why a decision is as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Because {
    /// A session grant of the user.
    Grant,
    /// A rule.
    Rule(Box<Rule>),
    /// The server's own mode.
    ServerMode,
    /// The global mode.
    GlobalMode,
    /// The definition changed since it was allowed.
    PinChanged,
    /// A limit of a rule or grant was reached.
    Limit(String),
    /// The server is not known to the policy.
    UnknownServer,
}

/// The answer of the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What to do.
    pub verdict: Mode,
    /// Why.
    pub because: Because,
}

/// Modes and rules of one server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerPolicy {
    /// Its own mode, if it has one.
    pub mode: Option<Mode>,
    /// Its rules, in order: those of the command line first, then the user's file of remembered
    /// rules, then the config's.
    pub rules: Vec<Rule>,
}

/// Everything that decides about calls.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The mode where nothing else decides; `None` is *ask*.
    pub global: Option<Mode>,
    /// By server.
    pub servers: HashMap<ServerName, ServerPolicy>,
    grants: HashMap<ToolId, String>,
}

impl Policy {
    /// A policy without grants.
    pub fn new(global: Mode, servers: HashMap<ServerName, ServerPolicy>) -> Self {
        Self { global: Some(global), servers, grants: HashMap::new() }
    }

    /// Allows a tool, with this definition, for the rest of the run.
    pub fn grant(&mut self, tool: &Tool) {
        self.grants.insert(tool.id.clone(), tool.pin.clone());
    }

    /// Decides about one call. Strictest on doubt; a matching *deny* beats everything.
    pub fn decide(&self, tool: &Tool, arguments: &Map<String, Value>, now: Instant) -> Decision {
        let _ = (tool, arguments, now);
        Decision { verdict: Mode::Ask, because: Because::UnknownServer }
    }

    /// Decides about a tool whose arguments are not known yet: what the catalog shows.
    pub fn preview(&self, tool: &Tool) -> Decision {
        self.decide(tool, &Map::new(), Instant::now())
    }
}
