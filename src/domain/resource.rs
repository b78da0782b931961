//! Resources of servers: what can be read, and what was read (PROTOCOL §13). All text is raw.

mod template;

use super::call::Content;

pub use template::{expand, variables};

/// A resource that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What it is asked for by; of any scheme (O2).
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its label, where it has one.
    pub title: Option<String>,
    /// What it is; may be empty.
    pub description: String,
    /// Media type as the server says; empty where it does not.
    pub mime: String,
    /// Size in bytes as the server says.
    pub size: Option<u64>,
}

/// A family of resources whose URIs are made from a template (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its label, where it has one.
    pub title: Option<String>,
    /// What it is; may be empty.
    pub description: String,
    /// Media type of all its resources; empty where they differ or it is not said.
    pub mime: String,
}

impl ResourceTemplate {
    /// Whether a URI could have been made from it. Looks at the text between the variables alone.
    pub fn fits(&self, uri: &str) -> bool {
        template::fits(&self.uri_template, uri)
    }
}

/// One part of what reading a resource gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourcePart {
    /// Its own URI: it may differ from the one that was asked for.
    pub uri: String,
    /// Media type as the server says; empty where it does not.
    pub mime: String,
    /// [`Content::Text`] or [`Content::Binary`]; what is neither stays as it came.
    pub content: Content,
}
