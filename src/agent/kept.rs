//! Results that the model saw only a part of, and the built-in tools that read them.
//!
//! The tools are pure over what is kept here: they reach no server, so nobody is asked.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::results::beginning;
use crate::domain::model::ToolOffer;
use crate::domain::{CallId, ModelName, ToolId};

/// Memory that kept results may take, in bytes; the oldest go first.
const KEPT_BYTES: usize = 64 * 1024 * 1024;
/// Lines that one search returns.
const FOUND_LINES: usize = 50;
/// Characters of one found line.
const FOUND_WIDTH: usize = 300;

/// Whole results by the call they came from.
#[derive(Debug, Default)]
pub(super) struct Kept {
    results: VecDeque<(CallId, Arc<str>)>,
    bytes: usize,
}

/// A tool of the program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltIn {
    /// Returns a slice of a kept result.
    Read,
    /// Finds lines of a kept result.
    Search,
}

impl BuiltIn {
    const ALL: [Self; 2] = [Self::Read, Self::Search];

    pub(super) fn named(name: &ModelName) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.model_name() == name.as_str())
    }

    fn model_name(self) -> &'static str {
        match self {
            Self::Read => "mini_me_read_result",
            Self::Search => "mini_me_search_result",
        }
    }

    /// Its identity, as cards show it.
    pub(super) fn id(self) -> ToolId {
        ToolId::new(
            "mini-me",
            match self {
                Self::Read => "read_result",
                Self::Search => "search_result",
            },
        )
    }

    fn offer(self) -> ToolOffer {
        let id =
            json!({ "type": "integer", "description": "The id in the result's closing line." });
        let (description, schema) = match self {
            Self::Read => (
                "Reads on in a result that was too long to be shown whole. The first line of the answer is JSON with nextOffset and hasMore.",
                json!({
                    "type": "object",
                    "properties": {
                        "id": id,
                        "offset": { "type": "integer", "minimum": 0, "description": "First character, from 0." },
                        "limit": { "type": "integer", "minimum": 1, "description": "Characters at most." }
                    },
                    "required": ["id"]
                }),
            ),
            Self::Search => (
                "Finds the lines of a too long result that contain a text; upper and lower case are the same.",
                json!({
                    "type": "object",
                    "properties": {
                        "id": id,
                        "pattern": { "type": "string", "minLength": 1, "description": "The text to find." }
                    },
                    "required": ["id", "pattern"]
                }),
            ),
        };
        ToolOffer {
            name: self.model_name().into(),
            description: description.to_owned(),
            schema: Arc::new(schema),
        }
    }
}

/// The built-in tools as the model sees them.
pub(super) fn offers() -> impl Iterator<Item = ToolOffer> {
    BuiltIn::ALL.into_iter().map(BuiltIn::offer)
}

impl Kept {
    /// Whether there is anything to read.
    pub(super) fn any(&self) -> bool {
        !self.results.is_empty()
    }

    pub(super) fn keep(&mut self, id: CallId, text: Arc<str>) {
        if self.results.iter().any(|(kept, _)| *kept == id) {
            return;
        }
        self.bytes = self.bytes.saturating_add(text.len());
        self.results.push_back((id, text));
        while self.bytes > KEPT_BYTES && self.results.len() > 1 {
            if let Some((_, gone)) = self.results.pop_front() {
                self.bytes = self.bytes.saturating_sub(gone.len());
            }
        }
    }

    /// Answers a call of a built-in tool; `Err` is told as an error.
    pub(super) fn answer(
        &self,
        tool: BuiltIn,
        arguments: &Map<String, Value>,
        limit: u64,
    ) -> Result<String, String> {
        let id = arguments.get("id").and_then(number).ok_or("id must be a whole number")?;
        let kept = self.results.iter().find(|(kept, _)| kept.0 == id);
        let text = kept.map(|(_, text)| text.as_ref()).ok_or_else(|| self.not_kept(id))?;
        match tool {
            BuiltIn::Read => Ok(read(id, text, arguments, limit)),
            BuiltIn::Search => {
                let pattern = arguments.get("pattern").and_then(Value::as_str).unwrap_or_default();
                if pattern.is_empty() {
                    return Err("pattern must be a text that is not empty".to_owned());
                }
                Ok(search(text, pattern))
            }
        }
    }

    fn not_kept(&self, id: u64) -> String {
        let ids: Vec<String> = self.results.iter().map(|(id, _)| id.to_string()).collect();
        format!("no result with the id {id} is kept; kept are: {}", ids.join(", "))
    }
}

/// A number, also where a model wrote it as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn read(id: u64, text: &str, arguments: &Map<String, Value>, limit: u64) -> String {
    let wanted = |key: &str| {
        let count = arguments.get(key).and_then(number)?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    };
    let offset = wanted("offset").unwrap_or(0);
    let start = byte_of(text, offset);
    let rest = text.get(start..).unwrap_or_default();
    let asked = rest.get(..byte_of(rest, wanted("limit").unwrap_or(usize::MAX)));
    let slice = beginning(asked.unwrap_or(rest), limit.max(1));
    let total = text.chars().count();
    let next = offset.min(total) + slice.chars().count();
    let head = json!({
        "id": id, "offset": offset, "nextOffset": next, "hasMore": next < total, "totalCharacters": total,
    });
    format!("{head}\n{slice}")
}

/// Where the character of that number begins.
fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

fn search(text: &str, pattern: &str) -> String {
    let pattern = pattern.to_lowercase();
    let mut offset = 0;
    let mut found = Vec::new();
    let mut hits = 0_usize;
    for (index, line) in text.split('\n').enumerate() {
        if line.to_lowercase().contains(&pattern) {
            hits += 1;
            if found.len() < FOUND_LINES {
                let start: String = line.chars().take(FOUND_WIDTH).collect();
                let more = if line.chars().nth(FOUND_WIDTH).is_some() { "…" } else { "" };
                found.push(format!("line {} (offset {offset}): {start}{more}", index + 1));
            }
        }
        offset += line.chars().count() + 1;
    }
    let shown = found.len();
    format!("[{hits} lines contain it; {shown} shown]\n{}", found.join("\n"))
}
