//! Results that the model saw only a part of, and how they are read on.
//!
//! What is read stays data of the server it came from and is marked as such, slice by slice.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::results::{self, beginning};
use crate::domain::turn::estimate_tokens;
use crate::domain::{CallId, ToolId};

/// Memory that kept results may take, in bytes; the oldest go first.
const KEPT_BYTES: usize = 64 * 1024 * 1024;
/// Ids that are named where a wrong one was asked for.
const NAMED_IDS: usize = 20;
/// Lines that one search returns.
const FOUND_LINES: usize = 50;
/// Characters of one found line.
const FOUND_WIDTH: usize = 300;

/// Whole results by the call they came from.
#[derive(Debug, Default)]
pub(super) struct Kept {
    results: VecDeque<Whole>,
    bytes: usize,
}

/// One whole result.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) id: CallId,
    /// Whose words it is.
    pub(super) tool: ToolId,
    pub(super) text: Arc<str>,
}

/// What of a kept result is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A slice.
    Slice,
    /// The lines that contain a text.
    Lines,
}

impl Kept {
    pub(super) fn get(&self, id: CallId) -> Option<&Whole> {
        self.results.iter().rev().find(|kept| kept.id == id)
    }

    pub(super) fn keep(&mut self, whole: Whole) {
        if self.get(whole.id).is_some() {
            return;
        }
        self.bytes = self.bytes.saturating_add(whole.text.len());
        self.results.push_back(whole);
        while self.bytes > KEPT_BYTES && self.results.len() > 1 {
            if let Some(gone) = self.results.pop_front() {
                self.bytes = self.bytes.saturating_sub(gone.text.len());
            }
        }
    }

    /// Answers a call of a built-in tool; `Err` is told as an error.
    pub(super) fn answer(
        &self,
        asked: Asked,
        arguments: &Map<String, Value>,
        limit: u64,
    ) -> Result<String, String> {
        let id = arguments.get("id").and_then(number).ok_or("id must be a whole number")?;
        let whole = self.get(CallId(id)).ok_or_else(|| self.not_kept(id))?;
        let (head, found) = match asked {
            Asked::Slice => read(whole, arguments, limit),
            Asked::Lines => {
                let pattern = arguments.get("pattern").and_then(Value::as_str).unwrap_or_default();
                if pattern.is_empty() {
                    return Err("pattern must be a text that is not empty".to_owned());
                }
                search(&whole.text, pattern, limit)
            }
        };
        if found.is_empty() {
            return Ok(head);
        }
        Ok(format!("{head}\n{}", results::framed("From a result", &whole.tool, &found)))
    }

    fn not_kept(&self, id: u64) -> String {
        let latest = self.results.iter().rev().take(NAMED_IDS);
        let ids: Vec<String> = latest.map(|kept| kept.id.to_string()).collect();
        if ids.is_empty() {
            return format!(
                "no result with the id {id} is kept, and no other; call its tool again if you need it"
            );
        }
        format!("no result with the id {id} is kept; kept are, latest first: {}", ids.join(", "))
    }
}

/// A number, also where a model wrote it as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// A line of JSON that says where the slice stands, and the slice.
fn read(whole: &Whole, arguments: &Map<String, Value>, limit: u64) -> (String, String) {
    let wanted = |key: &str| {
        let count = arguments.get(key).and_then(number)?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    };
    let text = whole.text.as_ref();
    let offset = wanted("offset").unwrap_or(0);
    let start = byte_of(text, offset);
    let rest = text.get(start..).unwrap_or_default();
    // At least one character, or reading on would never come to an end.
    let most = wanted("limit").unwrap_or(usize::MAX).max(1);
    let asked = rest.get(..byte_of(rest, most));
    let slice = beginning(asked.unwrap_or(rest), limit.max(1));
    let total = text.chars().count();
    let next = offset.min(total) + slice.chars().count();
    let head = json!({
        "id": whole.id, "offset": offset, "nextOffset": next, "hasMore": next < total,
        "totalCharacters": total,
    });
    (head.to_string(), slice.to_owned())
}

/// Where the character of that number begins.
fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// How many lines contain it, and the first of them, as many as the limit allows.
fn search(text: &str, pattern: &str, limit: u64) -> (String, String) {
    let pattern = pattern.to_lowercase();
    let mut offset = 0;
    let mut found = String::new();
    let (mut hits, mut shown) = (0_usize, 0_usize);
    for (index, line) in text.split('\n').enumerate() {
        if line.to_lowercase().contains(&pattern) {
            hits += 1;
            let start: String = line.chars().take(FOUND_WIDTH).collect();
            let more = if line.chars().nth(FOUND_WIDTH).is_some() { "…" } else { "" };
            let row = format!("line {} (offset {offset}): {start}{more}\n", index + 1);
            let fits = shown == 0 || estimate_tokens(&found) + estimate_tokens(&row) <= limit;
            if shown < FOUND_LINES && fits {
                found.push_str(&row);
                shown += 1;
            }
        }
        offset += line.chars().count() + 1;
    }
    (format!("[{hits} lines contain it; {shown} shown]"), found.trim_end_matches('\n').to_owned())
}
