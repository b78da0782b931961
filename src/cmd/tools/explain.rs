//! `tools --explain`: which rule decides about a tool, where it is written, and what would change the
//! answer. Pure.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::cmd::json;
use crate::cmd::output::{Mark, Paint};
use crate::domain::change::Change;
use crate::domain::{Mode, Tool};
use crate::permission::{Because, Policy, Rule, WhatIf};
use crate::text;

/// What decides about a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Explained {
    tool: String,
    verdict: Mode,
    because: String,
    rule: Option<Rule>,
    what_if: Vec<WhatIf>,
    changes: Vec<Change>,
    arguments: Option<Map<String, Value>>,
}

/// Decides about a call with these arguments, or with unknown ones.
pub(super) fn explain(
    tool: &Tool,
    policy: &Policy,
    arguments: Option<&Map<String, Value>>,
) -> Explained {
    let now = Instant::now();
    let decision = match arguments {
        Some(arguments) => policy.decide(tool, arguments, now),
        None => policy.preview(tool),
    };
    let mut what_if = policy.what_if(tool, arguments, now);
    what_if.extend(policy.by_source(tool, arguments, &decision));
    let mut because = decision.because.to_string();
    let rule = match decision.because {
        Because::Rule(rule) | Because::Undecided(rule) => Some(*rule),
        _ => None,
    };
    if rule.as_ref().is_some_and(|rule| !rule.tool.matches(tool.id.tool.as_str())) {
        because.push_str(
            "; as it is written it matches no tool, so it applies as it was probably meant",
        );
    }
    Explained {
        tool: tool.id.to_string(),
        verdict: decision.verdict,
        because,
        rule,
        what_if,
        changes: tool.changes.clone(),
        arguments: arguments.cloned(),
    }
}

impl Explained {
    /// For people, or as JSON.
    pub(super) fn shown(&self, as_json: bool, paint: Paint) -> String {
        if as_json {
            let what_if = |change: &WhatIf| json!({ "change": change.change, "permission": change.verdict.word() });
            let rule = self.rule.as_ref().map(|rule| {
                json!({
                    "rule": rule,
                    "file": rule.origin.file.as_ref().map(|file| file.display().to_string()),
                    "line": rule.origin.line,
                })
            });
            return json::line(&json!({
                "tool": self.tool,
                "arguments": self.arguments,
                "permission": self.verdict.word(),
                "because": self.because,
                "rule": rule,
                "whatIf": self.what_if.iter().map(what_if).collect::<Vec<_>>(),
                "changes": self.changes.iter().map(|change| &change.sentence).collect::<Vec<_>>(),
            }));
        }
        let tool = text::strict_line(&self.tool);
        let because = text::strict_line(&self.because);
        let verdict = paint.paint(mark(self.verdict), self.verdict.word());
        let with = if self.arguments.is_some() { "these" } else { "unknown" };
        let mut out = format!("{tool} with {with} arguments: {verdict}\n  because: {because}\n");
        for change in &self.changes {
            out.extend(["  changed: ", text::strict_line(change).as_str(), "\n"]);
        }
        for what_if in &self.what_if {
            let change = text::strict_line(&what_if.change);
            let verdict = paint.paint(mark(what_if.verdict), what_if.verdict.word());
            out.extend([format!("  {change}: {verdict}\n")]);
        }
        if self.what_if.is_empty() {
            out.push_str("  nothing that was tried would change it\n");
        }
        out
    }
}

fn mark(mode: Mode) -> Mark {
    match mode {
        Mode::Auto => Mark::Good,
        Mode::Ask => Mark::Caution,
        Mode::Deny => Mark::Bad,
    }
}
