//! What a run begins with: the agent, its permissions, what was remembered.

use super::pinboard::Pinboard;
use super::{Setup, assemble};
use crate::agent::{Agent, AgentConfig};
use crate::domain::{ServerName, Warning};
use crate::paths::Paths;
use crate::permission::Rule;
use crate::store;

/// What earlier runs left.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) pins: Pinboard,
    pub(super) rules: Vec<(ServerName, Rule)>,
}

/// Reads what earlier runs left.
pub(super) fn remembered(paths: Option<&Paths>, warnings: &mut Vec<Warning>) -> Remembered {
    let Some(paths) = paths else { return Remembered::default() };
    let (pins, troubles) = store::read_pins(paths);
    warnings.extend(troubles);
    let (rules, troubles) = store::read_rules(paths);
    warnings.extend(troubles);
    Remembered { pins: Pinboard::new(pins), rules }
}

/// The agent as configured.
pub(super) fn agent(setup: &Setup, remembered: &[(ServerName, Rule)]) -> Agent {
    let model = setup.config.model.as_ref();
    let policy = assemble::policy(&setup.config.mcp, remembered, &setup.extra_rules);
    let config = AgentConfig {
        result_limit: setup.config.mcp.result_limit,
        max_output_tokens: model.and_then(|model| model.max_output_tokens),
        temperature: model.and_then(|model| model.temperature),
        window: model.and_then(|model| model.context_window),
        ..AgentConfig::new(setup.interaction)
    };
    let agent = Agent::new(config, policy);
    match &setup.resume {
        Some(history) => agent.resume(history.clone()),
        None => agent,
    }
}
