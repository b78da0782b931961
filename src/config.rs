//! Configuration: found, decoded entry by entry, and explained.
//!
//! One bad entry costs that entry: [`Loaded`] holds what can be used and a warning for everything
//! that cannot. Only a file that is no YAML at all is an error ([`ConfigError`]).

mod context;
pub mod decode;
mod error;
mod keys;
pub mod load;
pub mod locate;
pub mod model;
mod nearest;
mod node;
pub mod remembered;
mod scalar;
mod secret;
pub mod show;

pub use context::{Env, Origins};
pub use decode::decode;
pub use error::ConfigError;
pub use load::load;
pub use locate::locate;
pub use model::{
    AuditArguments, AuditConfig, Auth, Config, McpConfig, ModelConfig, Notify, PinMode, Protocol,
    ProviderKind, ServerConfig, ThemeName, ToolSearchMode, UiConfig,
};
pub use node::Position;
pub use scalar::{show_duration, show_rate};

use crate::domain::Warning;

/// What was found at the place of the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// There is no file: the first screen offers ways to begin.
    Missing,
    /// The file holds nothing: the same.
    Empty,
    /// The file holds something.
    Given,
}

/// An entry of `servers:` that is not used until it is mended. It stays visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedServer {
    /// Its name, or `servers[2]` where it has none. Another server may have the same name.
    pub name: String,
    /// Its address without user, password and query; empty if it has none that can be read.
    pub url: String,
    /// Why: file, line, field, what was found, and what to do.
    pub reason: String,
    /// The line to mend, from 1.
    pub line: usize,
}

/// A config that was read, with everything that was wrong with it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What is in force.
    pub config: Config,
    /// What was not as it should be, in the order of the sections.
    pub warnings: Vec<Warning>,
    /// Entries that are not used, in the order of the file.
    pub refused: Vec<RefusedServer>,
    /// Which values come from which line.
    pub origins: Origins,
    /// What was found at the place of the config.
    pub presence: Presence,
}

#[cfg(test)]
mod tests;
