//! The tools of the program itself. They reach no server, so nobody is asked about them.
//!
//! Their names are kept from servers' tools (`runtime::assemble`). Their definitions are short: they
//! are paid for in every request.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::domain::model::ToolOffer;
use crate::domain::{ModelName, ToolId};

/// What stands in the place of a server's name.
pub(super) const SERVER: &str = "mini-me";

/// A tool of the program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltIn {
    /// Finds tools and hands over their definitions.
    SearchTools,
    /// Returns a slice of a kept result.
    ReadResult,
    /// Finds lines of a kept result.
    SearchResult,
}

impl BuiltIn {
    const ALL: [Self; 3] = [Self::SearchTools, Self::ReadResult, Self::SearchResult];

    pub(super) fn named(name: &ModelName) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.model_name() == name.as_str())
    }

    pub(super) fn model_name(self) -> &'static str {
        match self {
            Self::SearchTools => "mini_me_search_tools",
            Self::ReadResult => "mini_me_read_result",
            Self::SearchResult => "mini_me_search_result",
        }
    }

    /// Its identity, as cards show it.
    pub(super) fn id(self) -> ToolId {
        ToolId::new(
            SERVER,
            match self {
                Self::SearchTools => "search_tools",
                Self::ReadResult => "read_result",
                Self::SearchResult => "search_result",
            },
        )
    }

    /// As the model sees it.
    pub(super) fn offer(self) -> ToolOffer {
        let (description, schema) = match self {
            Self::SearchTools => (
                "Finds tools by words and puts them on offer.",
                object(&json!({ "query": { "type": "string" } }), &["query"]),
            ),
            Self::ReadResult => (
                "Reads on in a cut result, by characters.",
                object(
                    &json!({
                        "id": { "type": "integer" },
                        "offset": { "type": "integer" },
                        "limit": { "type": "integer" }
                    }),
                    &["id"],
                ),
            ),
            Self::SearchResult => (
                "Finds the lines of a cut result that contain a text.",
                object(
                    &json!({ "id": { "type": "integer" }, "pattern": { "type": "string" } }),
                    &["id", "pattern"],
                ),
            ),
        };
        ToolOffer {
            name: self.model_name().into(),
            description: description.to_owned(),
            schema: Arc::new(schema),
        }
    }
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
