//! The conductor: owns the agent, performs its effects, turns what happens into events and notices.

pub mod assemble;
pub mod coalesce;
pub mod conductor;
pub mod hub;
pub mod tasks;

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::bridge::{Notice, Op};
use crate::config::Config;
use crate::domain::{ServerName, Warning};
use crate::paths::Paths;
use crate::permission::Rule;

/// Whether somebody is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interaction {
    /// A face shows approvals and answers them.
    Interactive,
    /// What would ask is denied, and says which rule would allow it.
    Headless,
}

/// Everything the runtime starts from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The config in force.
    pub config: Config,
    /// Warnings of loading it, for the catalog.
    pub warnings: Vec<Warning>,
    /// Where files go; `None` where there is no home: nothing is written then.
    pub paths: Option<Paths>,
    /// Whether somebody is there to be asked.
    pub interaction: Interaction,
    /// Rules of the command line: server pattern and rule; they come before all others.
    pub extra_rules: Vec<(ServerName, Rule)>,
    /// Only these servers are connected; `None` for all.
    pub only: Option<Vec<ServerName>>,
}

/// The face's end of the two channels.
#[derive(Debug)]
pub struct Handle {
    /// Operations to the runtime.
    pub ops: mpsc::Sender<Op>,
    /// Notices from it; closed after [`Op::Quit`] once everything has ended.
    pub notices: mpsc::Receiver<Notice>,
    /// The first snapshot: every configured server, connecting or disabled.
    pub catalog: Arc<crate::domain::Catalog>,
}
