//! The catalog: all servers and tools as they stand now.
//!
//! It has one owner ([`crate::runtime`]); everything else reads snapshots (`Arc<Catalog>`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::name::{ModelName, ServerName, ToolId, ToolName};
use super::server::{Era, ServerState};
use super::tool::{Mode, Tool};
use super::warning::Warning;

/// What was agreed with a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerConnection {
    /// The family it speaks.
    pub era: Era,
    /// The revision in use, such as `2025-11-25`.
    pub protocol_version: String,
    /// Whether it assigned an MCP session. The id itself is a secret and not kept here.
    pub session: bool,
    /// The names of its capabilities.
    pub capabilities: Vec<String>,
    /// What it calls itself: name and version. Display only.
    pub identity: String,
    /// Its hints for the model; raw.
    pub instructions: Option<String>,
}

/// A tool that is not offered, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilteredTool {
    /// Original name.
    pub name: ToolName,
    /// Why it is not offered.
    pub reason: String,
}

/// One configured endpoint as it stands now. Never removed from the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// Its URL without user info and query.
    pub url: String,
    /// Host and port.
    pub host: String,
    /// Its state.
    pub state: ServerState,
    /// What was agreed; the last known where the connection is gone.
    pub connection: Option<ServerConnection>,
    /// Its mode (its own or the global one).
    pub permission: Mode,
    /// Tools on offer, in the server's order.
    pub tools: Vec<Arc<Tool>>,
    /// Tools not on offer.
    pub filtered: Vec<FilteredTool>,
    /// Warnings about this server and its tools.
    pub warnings: Vec<Warning>,
    /// Round-trip times of the latest requests, oldest first, at most 32.
    pub latency: Vec<Duration>,
}

/// All servers and tools as they stand now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// In the order of the config.
    pub servers: Vec<Server>,
    /// Warnings that belong to no server: config file, program.
    pub warnings: Vec<Warning>,
    /// Rises with every change.
    pub revision: u64,
    by_model_name: HashMap<ModelName, ToolId>,
}

impl Catalog {
    /// Builds a snapshot and its table of model names.
    pub fn new(servers: Vec<Server>, warnings: Vec<Warning>, revision: u64) -> Self {
        let by_model_name = servers
            .iter()
            .flat_map(|server| &server.tools)
            .map(|tool| (tool.model_name.clone(), tool.id.clone()))
            .collect();
        Self { servers, warnings, revision, by_model_name }
    }

    /// The server of that name.
    pub fn server(&self, name: &ServerName) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == *name)
    }

    /// The tool of that identity.
    pub fn tool(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        self.server(&id.server)?.tools.iter().find(|tool| tool.id.tool == id.tool)
    }

    /// The tool that the model knows by that name.
    pub fn by_model_name(&self, name: &ModelName) -> Option<&Arc<Tool>> {
        self.tool(self.by_model_name.get(name)?)
    }

    /// All tools on offer, server by server.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.servers.iter().flat_map(|server| &server.tools)
    }

    /// All warnings: the general ones, then server by server.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().chain(self.servers.iter().flat_map(|server| &server.warnings))
    }

    /// Whether discovery of every server has come to an end.
    pub fn settled(&self) -> bool {
        self.servers.iter().all(|server| server.state.settled())
    }
}
