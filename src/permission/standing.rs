//! How rules stand to the tools that there are: what fits nothing was probably misspelt.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::misspelt::misspelt;
use super::pointer;
use super::rule::{Pattern, Rule};
use crate::domain::{Server, ServerName, Tool, ToolName};

/// What one server lists, as far as rules speak of it.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which server.
    pub server: ServerName,
    /// Every name it lists, also of tools that are not offered, with the schema of the arguments
    /// where it is known.
    pub tools: Vec<(ToolName, Option<Arc<Value>>)>,
}

impl Listing {
    /// What a server of the catalog lists; nothing before it is known.
    pub fn of(server: &Server) -> Option<Self> {
        let schema = |tool: &Tool| Some(Arc::clone(&tool.definition.input_schema));
        let offered = server.tools.iter().map(|tool| (tool.id.tool.clone(), schema(tool)));
        let filtered = server.filtered.iter().map(|tool| (tool.name.clone(), None));
        let tools: Vec<_> = offered.chain(filtered).collect();
        (!tools.is_empty()).then(|| Self { server: server.name.clone(), tools })
    }
}

/// How one rule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// It fits no tool as it is written.
    pub(super) stray: bool,
    /// Pointers of its conditions that no tool which it fits declares.
    pub(super) blind: Vec<String>,
}

impl Standing {
    /// How a rule stands to tools: server and tool each.
    fn of(servers: Option<&Pattern>, rule: &Rule, listings: &[Listing]) -> Self {
        let all = || {
            listings.iter().flat_map(|listing| {
                listing.tools.iter().map(move |(name, schema)| (&listing.server, name, schema))
            })
        };
        if all().next().is_none() {
            return Self::default();
        }
        let fits = |server: &ServerName, name: &ToolName| {
            servers.is_none_or(|servers| servers.matches(server.as_str()))
                && rule.tool.matches(name.as_str())
        };
        let stray = !all().any(|(server, name, _)| fits(server, name));
        let meant = |server: &ServerName, name: &ToolName| {
            if stray { meant(servers, rule, server, name) } else { fits(server, name) }
        };
        let blind = |pointer: &&String| {
            let mut schemas = all()
                .filter(|(server, name, _)| meant(server, name))
                .filter_map(|(_, _, schema)| schema.as_ref())
                .peekable();
            schemas.peek().is_some()
                && schemas.all(|schema| pointer::declares(schema, pointer) == Some(false))
        };
        let blind = rule.when.iter().map(|(pointer, _)| pointer).filter(blind).cloned().collect();
        Self { stray, blind }
    }
}

/// Whether a rule that fits nothing was probably meant for this tool: one letter of the server's
/// name or one of the tool's is wrong.
pub(super) fn meant(
    servers: Option<&Pattern>,
    rule: &Rule,
    server: &ServerName,
    tool: &ToolName,
) -> bool {
    let of_server = servers.is_none_or(|servers| servers.matches(server.as_str()));
    (of_server && misspelt(&rule.tool, tool.as_str()))
        || (servers.is_some_and(|servers| misspelt(servers, server.as_str()))
            && rule.tool.matches(tool.as_str()))
}

/// How all rules of a policy stand, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Standings {
    pub(super) own: HashMap<ServerName, Vec<Standing>>,
    pub(super) wide: Vec<Standing>,
}

impl Standings {
    /// Works out how rules stand to what is listed. Rules of servers that list nothing yet stand
    /// well.
    pub(super) fn new<'a>(
        listings: &[Listing],
        own: impl Fn(&ServerName) -> &'a [Rule],
        wide: &[(Pattern, Rule)],
    ) -> Self {
        let of_server = |listing: &Listing| {
            let rules = own(&listing.server);
            let standings =
                rules.iter().map(|rule| Standing::of(None, rule, std::slice::from_ref(listing)));
            (!rules.is_empty()).then(|| (listing.server.clone(), standings.collect()))
        };
        Self {
            own: listings.iter().filter_map(of_server).collect(),
            wide: wide
                .iter()
                .map(|(servers, rule)| Standing::of(Some(servers), rule, listings))
                .collect(),
        }
    }

    /// A rule was put before the others of its server.
    pub(super) fn inserted(&mut self, server: &ServerName) {
        if let Some(standings) = self.own.get_mut(server) {
            standings.insert(0, Standing::default());
        }
    }
}
