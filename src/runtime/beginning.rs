//! What a run begins with: the agent and its permissions.

use super::{Setup, assemble};
use crate::agent::{Agent, AgentConfig};
use crate::domain::{ServerName, Warning};
use crate::paths::Paths;
use crate::permission::Rule;
use crate::store;

/// Reads the rules that *always* wrote.
pub(super) fn remembered_rules(
    paths: Option<&Paths>,
    warnings: &mut Vec<Warning>,
) -> Vec<(ServerName, Rule)> {
    let Some(paths) = paths else { return Vec::new() };
    let (rules, troubles) = store::read_rules(paths);
    warnings.extend(troubles);
    rules
}

/// The agent as configured.
pub(super) fn agent(setup: &Setup, remembered: &[(ServerName, Rule)]) -> Agent {
    let model = setup.config.model.as_ref();
    let mut policy = assemble::policy(&setup.config.mcp, remembered, &setup.extra_rules);
    policy.rules_file = setup.paths.as_ref().map(Paths::rules_file);
    let config = AgentConfig {
        result_limit: setup.config.mcp.result_limit,
        max_output_tokens: model.and_then(|model| model.max_output_tokens),
        temperature: model.and_then(|model| model.temperature),
        window: model.and_then(|model| model.context_window),
        tool_search: setup.config.mcp.tool_search,
        ..AgentConfig::new(setup.interaction)
    };
    let agent = Agent::new(config, policy);
    match &setup.resume {
        Some(earlier) => agent.resume(earlier.past.clone()),
        None => agent,
    }
}
