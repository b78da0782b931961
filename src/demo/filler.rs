//! Made-up tools for a server that has too many of them.
//!
//! They do nothing and say so; what is real about them is their price in every request.

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// What each of them answers.
pub(super) const ANSWER: &str =
    "This tool is made up: it shows what it is like to have many. It did nothing.";

const VERBS: [&str; 10] = [
    "archive", "export", "approve", "schedule", "rename", "validate", "merge", "publish", "import",
    "rotate",
];
const NOUNS: [&str; 20] = [
    "invoice",
    "contact",
    "calendar",
    "warehouse",
    "shipment",
    "campaign",
    "payslip",
    "contract",
    "vehicle",
    "recipe",
    "playlist",
    "translation",
    "certificate",
    "backup",
    "webhook",
    "dashboard",
    "coupon",
    "survey",
    "booking",
    "firmware",
];

/// The names of the first `count` of them.
pub(super) fn names(count: usize) -> impl Iterator<Item = String> {
    kinds(count).map(|(verb, noun, round)| name(verb, noun, round))
}

fn kinds(count: usize) -> impl Iterator<Item = (&'static str, &'static str, usize)> {
    let pairs = |round| {
        NOUNS
            .into_iter()
            .flat_map(move |noun| VERBS.into_iter().map(move |verb| (verb, noun, round)))
    };
    (0..).flat_map(pairs).take(count)
}

fn name(verb: &str, noun: &str, round: usize) -> String {
    if round == 0 { format!("{verb}_{noun}") } else { format!("{verb}_{noun}_{round}") }
}

/// The first `count` of them.
pub(super) fn tools(count: usize) -> Vec<Tool> {
    kinds(count).map(|(verb, noun, round)| tool(verb, noun, round)).collect()
}

fn tool(verb: &str, noun: &str, round: usize) -> Tool {
    let mut schema = Map::new();
    let id = format!("{noun}Id");
    schema.insert("type".to_owned(), "object".into());
    schema.insert(
        "properties".to_owned(),
        json!({
            id.clone(): { "type": "string", "description": format!("Which {noun}, by the id that an earlier answer gave") },
            "reason": { "type": "string", "description": "Why it is done; kept in the history" },
            "notify": { "type": "array", "items": { "type": "string" }, "description": "Who is told about it" },
        }),
    );
    schema.insert("required".to_owned(), Value::from(vec![id]));
    let description = format!(
        "Made up. Would {verb} one {noun} and keep a line about it in its history, with the reason and the people who were told."
    );
    Tool::new(name(verb, noun, round), description, schema)
        .with_annotations(ToolAnnotations::new().read_only(true))
}
