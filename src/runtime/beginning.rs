//! What a run begins with: the agent, its permissions, what was remembered.

use super::pinboard::Pinboard;
use super::{Setup, files};
use crate::agent::{Agent, AgentConfig};
use crate::domain::{ServerName, Warning};
use crate::paths::Paths;
use crate::permission::policy::ServerPolicy;
use crate::permission::{Pattern, Policy, Rule};

/// What earlier runs left.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) pins: Pinboard,
    pub(super) rules: Vec<(ServerName, Rule)>,
}

/// Reads what earlier runs left.
pub(super) fn remembered(paths: Option<&Paths>, warnings: &mut Vec<Warning>) -> Remembered {
    let Some(paths) = paths else { return Remembered::default() };
    let (pins, troubles) = files::read_pins(paths);
    warnings.extend(troubles);
    let (rules, troubles) = files::read_rules(paths);
    warnings.extend(troubles);
    Remembered { pins: Pinboard::new(pins), rules }
}

/// The agent as configured.
pub(super) fn agent(setup: &Setup, remembered: Vec<(ServerName, Rule)>) -> Agent {
    let model = setup.config.model.as_ref();
    let config = AgentConfig {
        result_limit: setup.config.mcp.result_limit,
        max_output_tokens: model.and_then(|model| model.max_output_tokens),
        temperature: model.and_then(|model| model.temperature),
        window: model.and_then(|model| model.context_window),
        ..AgentConfig::new(setup.interaction)
    };
    let agent = Agent::new(config, policy(setup, remembered));
    match &setup.resume {
        Some(history) => agent.resume(history.clone()),
        None => agent,
    }
}

/// Rules of the command line first, then the remembered ones, then the config's.
fn policy(setup: &Setup, remembered: Vec<(ServerName, Rule)>) -> Policy {
    let mcp = &setup.config.mcp;
    let configured = mcp.servers.iter().map(|server| {
        let own = ServerPolicy { mode: server.permissions, rules: server.rules.clone() };
        (server.name.clone(), own)
    });
    let mut policy = Policy::new(mcp.permissions, configured.collect());
    policy.pins = mcp.pins;
    for (server, rule) in remembered.into_iter().rev() {
        if policy.servers.contains_key(&server) {
            policy.remember(&server, rule);
        }
    }
    for (server, rule) in &setup.extra_rules {
        policy.add_global_rule(Pattern(server.to_string()), rule.clone());
    }
    policy
}
