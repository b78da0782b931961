//! `tools --explain`: which rule decides about a tool, and where it is written. Pure.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::cmd::json;
use crate::cmd::output::{Mark, Paint};
use crate::domain::{Mode, Tool};
use crate::permission::Policy;
use crate::text;

/// What decides about a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Explained {
    tool: String,
    verdict: Mode,
    because: String,
    changes: Vec<String>,
    arguments: Option<Map<String, Value>>,
}

/// Decides about a call with these arguments, or with unknown ones.
pub(super) fn explain(
    tool: &Tool,
    policy: &Policy,
    arguments: Option<&Map<String, Value>>,
) -> Explained {
    let decision = match arguments {
        Some(arguments) => policy.decide(tool, arguments, Instant::now()),
        None => policy.preview(tool),
    };
    Explained {
        tool: tool.id.to_string(),
        verdict: decision.verdict,
        because: decision.because.to_string(),
        changes: tool.changes.clone(),
        arguments: arguments.cloned(),
    }
}

impl Explained {
    /// For people, or as JSON.
    pub(super) fn shown(&self, as_json: bool, paint: Paint) -> String {
        if as_json {
            return json::line(&json!({
                "tool": self.tool,
                "arguments": self.arguments,
                "permission": self.verdict.word(),
                "because": self.because,
                "changes": self.changes,
            }));
        }
        let tool = text::strict_line(&self.tool);
        let because = text::strict_line(&self.because);
        let mark = match self.verdict {
            Mode::Auto => Mark::Good,
            Mode::Ask => Mark::Caution,
            Mode::Deny => Mark::Bad,
        };
        let verdict = paint.paint(mark, self.verdict.word());
        let with = if self.arguments.is_some() { "these" } else { "unknown" };
        let mut out = format!("{tool} with {with} arguments: {verdict}\n  because: {because}\n");
        for change in &self.changes {
            out.extend(["  changed: ", text::strict_line(change).as_str(), "\n"]);
        }
        out
    }
}
