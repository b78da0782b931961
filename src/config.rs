//! Configuration: found, decoded entry by entry, and explained.
//!
//! One bad entry costs that entry: [`Loaded`] holds what can be used and a warning for everything
//! that cannot. Only a file that is no YAML at all is an error.

pub mod model;

pub use model::{
    Auth, Config, McpConfig, ModelConfig, Notify, PinMode, Protocol, ProviderKind, ServerConfig,
    ThemeName, UiConfig,
};
