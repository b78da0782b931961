//! From what servers list to what the catalog holds: filters, names, pins, prices. Pure.
//!
//! What depends on one definition alone is worked out once, when it is listed ([`Listed`]);
//! [`assemble`] then only compares and can be done anew for all servers whenever one of them
//! changes: model names are unique across all of them.

mod remarks;

use std::collections::HashSet;
use std::sync::Arc;

use crate::config::{McpConfig, PinMode, ServerConfig};
use crate::domain::turn::estimate_tokens;
use crate::domain::{
    FilteredTool, Mode, ModelName, Source, Tool, ToolDefinition, ToolId, ToolName, Warning, name,
};
use crate::domain::{PinState, ServerName};
use crate::permission::{Listing, Pattern, Policy, Rule, ServerPolicy};
use crate::pin::{self, Board};
use crate::redact;
use crate::schema::{binary, check};

pub use remarks::stray_rules;

/// The tools that the program itself offers to the model: no server's tool gets their names.
const BUILT_IN: [(&str, &str); 3] =
    [("mini_me", "search_tools"), ("mini_me", "read_result"), ("mini_me", "search_result")];

/// A definition with what follows from it alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The definition.
    pub definition: Arc<ToolDefinition>,
    /// Its fingerprint.
    pub pin: String,
    /// What description and schema cost in a model request, in tokens.
    pub tokens: u64,
    /// Fingerprint of the definition as the server gave it, where something was taken out of it.
    pub given: Option<Arc<str>>,
    fault: Option<Fault>,
}

/// Why a definition cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// Its schema is none that arguments could fit.
    Schema(String),
    /// It needs bytes in this parameter.
    Binary(String),
}

impl Listed {
    /// Works out everything that follows from the definition.
    pub fn new(definition: impl Into<Arc<ToolDefinition>>) -> Self {
        let definition = definition.into();
        let schema = &definition.input_schema;
        let fault = check::schema_fault(schema)
            .map(Fault::Schema)
            .or_else(|| binary::binary_parameter(schema).map(Fault::Binary));
        let tokens =
            estimate_tokens(&definition.description) + estimate_tokens(&schema.to_string());
        Self { pin: pin::fingerprint(&definition), tokens, given: None, fault, definition }
    }

    /// The same for a whole list.
    pub fn all(definitions: impl IntoIterator<Item = ToolDefinition>) -> Vec<Self> {
        definitions.into_iter().map(Self::new).collect()
    }
}

/// What is known of one server.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// How it is configured.
    pub config: &'a ServerConfig,
    /// What it lists, in its order; `None` while nothing is known.
    pub listed: Option<&'a [Listed]>,
    /// Tools that were dropped on reading the list: name (as far as known) and reason.
    pub dropped: &'a [(String, String)],
    /// Tools that the user switched off for this run.
    pub disabled: &'a [ToolName],
}

/// What the catalog holds of one server's tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assembled {
    /// Tools on offer, in the server's order.
    pub tools: Vec<Arc<Tool>>,
    /// Tools not on offer.
    pub filtered: Vec<FilteredTool>,
    /// What the user should know about them.
    pub warnings: Vec<Warning>,
    /// Fingerprint of everything the server lists; empty while nothing is known.
    pub set_pin: String,
}

/// The keys under which the tools of servers are pinned: their URLs without user info and query.
/// Two entries for one endpoint may see different tools; the later one has its name in its key.
pub fn pin_keys<'a>(configs: impl IntoIterator<Item = &'a ServerConfig>) -> Vec<String> {
    let mut taken = HashSet::new();
    let key = |config: &ServerConfig| {
        let plain = redact::url(&config.url);
        if taken.insert(plain.clone()) { plain } else { format!("{plain} ({})", config.name) }
    };
    configs.into_iter().map(key).collect()
}

/// The policy of a config: rules of the command line (`extra`, by server pattern) first, then those
/// that were remembered, then those of the file.
pub fn policy(
    config: &McpConfig,
    remembered: &[(ServerName, Rule)],
    extra: &[(ServerName, Rule)],
) -> Policy {
    let own = |server: &ServerConfig| {
        let remembered = remembered.iter().filter(|(name, _)| *name == server.name);
        let rules = remembered.map(|(_, rule)| rule).chain(&server.rules).cloned().collect();
        (server.name.clone(), ServerPolicy { mode: server.permissions, rules })
    };
    let mut policy = Policy::new(config.permissions, config.servers.iter().map(own).collect());
    policy.pins = config.pins;
    policy.grant_limits = config.grants;
    // A rule for several servers, or for one that is not configured: it may be misspelt.
    let configured = |name: &ServerName| config.servers.iter().any(|known| known.name == *name);
    let others = remembered.iter().filter(|(name, _)| !configured(name));
    for (server, rule) in extra.iter().chain(others) {
        policy.add_global_rule(Pattern(server.as_str().to_owned()), rule.clone());
    }
    policy
}

/// What servers list, as far as rules speak of it.
fn listings<'a>(inputs: &'a [Input<'a>]) -> impl Iterator<Item = Listing> + 'a {
    inputs.iter().filter_map(|input| {
        let schema = |listed: &Listed| Arc::clone(&listed.definition.input_schema);
        let listed = input.listed?.iter();
        let listed = listed.map(|one| (one.definition.name.clone(), Some(schema(one))));
        let dropped = input.dropped.iter().map(|(name, _)| (ToolName::from(name.as_str()), None));
        let tools = listed.chain(dropped).collect();
        Some(Listing { server: input.config.name.clone(), tools })
    })
}

/// Puts together what all servers list. The result has one entry for each input, in its order.
pub fn assemble(inputs: &[Input<'_>], policy: &Policy, pins: &Board) -> Vec<Assembled> {
    let mut policy = policy.clone();
    policy.learn(listings(inputs));
    let policy = &policy;
    let sorted: Vec<Sorted<'_>> = inputs.iter().map(Sorted::new).collect();
    let mut ids: Vec<ToolId> =
        sorted.iter().flat_map(|sorted| sorted.offered.iter().map(|(id, _)| id)).cloned().collect();
    ids.extend(BUILT_IN.map(|(server, tool)| ToolId::new(server, tool)));
    let (names, collisions) = name::model_names(&ids);
    let mut names = names.into_iter();
    let keys = pin_keys(inputs.iter().map(|input| input.config));
    let mut assembled: Vec<Assembled> = inputs
        .iter()
        .zip(sorted)
        .zip(&keys)
        .map(|((input, sorted), key)| {
            let names: Vec<ModelName> = names.by_ref().take(sorted.offered.len()).collect();
            offer(input, sorted, names, policy, (key, pins))
        })
        .collect();
    for (input, assembled) in inputs.iter().zip(&mut assembled) {
        assembled.warnings.extend(remarks::on_names(&input.config.name, &ids));
    }
    for set in collisions {
        let servers: HashSet<&ServerName> = set.iter().map(|id| &id.server).collect();
        for (input, assembled) in inputs.iter().zip(&mut assembled) {
            if servers.contains(&input.config.name) {
                assembled.warnings.push(remarks::collision(&input.config.name, &set));
            }
        }
    }
    assembled
}

/// One server's list, sorted into what is offered and what is not.
struct Sorted<'a> {
    offered: Vec<(ToolId, &'a Listed)>,
    filtered: Vec<FilteredTool>,
    warnings: Vec<Warning>,
}

impl<'a> Sorted<'a> {
    fn new(input: &Input<'a>) -> Self {
        let mut sorted = Self { offered: Vec::new(), filtered: Vec::new(), warnings: Vec::new() };
        sorted.dropped(input);
        let mut seen = HashSet::new();
        for listed in input.listed.unwrap_or_default() {
            let id =
                ToolId { server: input.config.name.clone(), tool: listed.definition.name.clone() };
            if seen.insert(&listed.definition.name) {
                sorted.sort(input, id, listed);
            } else {
                sorted.warnings.push(Warning::new(
                    Source::Tool(id),
                    "the server lists this tool more than once",
                    "The first definition is used; tell whoever runs the server.",
                ));
            }
        }
        sorted
    }

    fn dropped(&mut self, input: &Input<'_>) {
        for (name, reason) in input.dropped {
            let id = ToolId::new(input.config.name.clone(), name.as_str());
            self.filtered.push(FilteredTool { name: id.tool.clone(), reason: reason.clone() });
            self.warnings.push(Warning::new(
                Source::Tool(id),
                format!("this tool is not offered: {reason}"),
                "Tell whoever runs the server; its other tools are not affected.",
            ));
        }
    }

    fn sort(&mut self, input: &Input<'_>, id: ToolId, listed: &'a Listed) {
        let tool = id.tool.as_str();
        let unwanted = by_config(input.config, tool).or_else(|| by_misspelling(input, tool));
        if unwanted.is_none() && tool.contains('*') {
            // A rule for this tool alone could not be written, and one that is suggested for it
            // would open all others.
            let reason = "its name holds a `*`, which stands for any characters in rules";
            self.warnings.push(Warning::new(
                Source::Tool(id.clone()),
                format!("this tool is not offered: {reason}"),
                "Tell whoever runs the server; its other tools are not affected.",
            ));
            return self.filtered.push(FilteredTool { name: id.tool, reason: reason.to_owned() });
        }
        let reason = unwanted.or_else(|| {
            let fault = listed.fault.as_ref()?;
            self.warnings.push(remarks::fault(&id, fault));
            Some(remarks::reason(fault))
        });
        match reason {
            Some(reason) => self.filtered.push(FilteredTool { name: id.tool, reason }),
            None => self.offered.push((id, listed)),
        }
    }
}

/// Why the config does not want a tool. Patterns speak of original names.
fn by_config(config: &ServerConfig, tool: &str) -> Option<String> {
    let wanted = config.tools.as_ref();
    if wanted.is_some_and(|wanted| !wanted.iter().any(|pattern| pattern.matches(tool))) {
        return Some("not among the `tools` of this server in the config".to_owned());
    }
    let pattern = config.exclude_tools.iter().find(|pattern| pattern.matches(tool))?;
    Some(format!("excluded by `excludeTools: {pattern}` in the config"))
}

/// Why a tool is left out that the config probably means: an entry of `excludeTools` that fits
/// nothing the server lists, and is one letter away. A misspelt entry does not open.
fn by_misspelling(input: &Input<'_>, tool: &str) -> Option<String> {
    let listed = input.listed.unwrap_or_default();
    let fits_none = |pattern: &&Pattern| {
        !listed.iter().any(|listed| pattern.matches(listed.definition.name.as_str()))
    };
    let mut stray = input.config.exclude_tools.iter().filter(fits_none);
    let pattern = stray.find(|pattern| pattern.nearly_matches(tool))?;
    Some(format!("probably meant by `excludeTools: {pattern}` in the config"))
}

fn offer(
    input: &Input<'_>,
    sorted: Sorted<'_>,
    names: Vec<ModelName>,
    policy: &Policy,
    (endpoint, pins): (&str, &Board),
) -> Assembled {
    let tools: Vec<Arc<Tool>> = sorted
        .offered
        .into_iter()
        .zip(names)
        .map(|((id, listed), name)| {
            let pin_state = pins.state(endpoint, &id, &listed.pin);
            let changes = match pin_state {
                PinState::Changed => pins.changes(endpoint, &id, &listed.definition),
                PinState::Known | PinState::New => Vec::new(),
            };
            let tokens = listed.tokens + estimate_tokens(name.as_str());
            let mut tool = Tool {
                disabled: input.disabled.contains(&id.tool),
                id,
                model_name: name,
                definition: Arc::clone(&listed.definition),
                pin: listed.pin.clone(),
                pin_state,
                changes,
                permission: Mode::Ask,
                tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            };
            tool.permission = policy.preview(&tool).verdict;
            Arc::new(tool)
        })
        .collect();
    let mut warnings = sorted.warnings;
    warnings.extend(remarks::on_config(input));
    warnings.extend(remarks::on_rules(input, policy));
    if policy.pins != PinMode::Off {
        warnings.extend(remarks::on_pins(&tools, policy.pins, pins, endpoint));
        warnings.extend(remarks::on_set(input, pins, endpoint));
    }
    let set_pin = input.listed.map(|listed| {
        pin::set_fingerprint(
            listed.iter().map(|tool| (tool.definition.name.as_str(), tool.pin.as_str())),
        )
    });
    Assembled { tools, filtered: sorted.filtered, warnings, set_pin: set_pin.unwrap_or_default() }
}

#[cfg(test)]
mod tests;
