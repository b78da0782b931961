//! Permissions: who decides whether a call may run. Pure.
//!
//! [`Policy::decide`] looks at session grants, then rules (first match), then the server's mode,
//! then the global one; a matching *deny* beats all of them. What cannot be decided never loosens:
//! it is *ask*. The caller says what time it is, and records the calls it lets through.

pub mod exfiltration;
pub mod limits;
mod matching;
pub mod policy;
pub mod rule;
mod words;

pub use policy::{Because, Decision, Policy, ServerPolicy};
pub use rule::{Matcher, Pattern, Rate, Rule, RuleOrigin};

use crate::domain::ToolId;

/// What to pass to `--allow` so that this tool runs without a question: `server/tool`.
pub fn headless_rule(tool: &ToolId) -> String {
    tool.to_string()
}

#[cfg(test)]
mod tests;
