//! Permissions: who decides whether a call may run. Pure.
//!
//! [`Policy::decide`] looks at session grants, then rules (first match), then the server's mode,
//! then the global one; a matching *deny* beats all of them. What cannot be decided never loosens:
//! it is *ask*; a rule that fits no tool that there is, and was meant to tighten, is read as it was
//! probably meant. The caller says what time it is, and records the calls it lets through.

pub mod exfiltration;
pub mod limits;
pub mod lint;
mod matching;
mod misspelt;
mod pointer;
pub mod policy;
pub mod rule;
mod standing;
pub mod what_if;
mod words;

pub use policy::{Because, Decision, GrantLimits, Policy, ServerPolicy};
pub use rule::{Matcher, Pattern, Rate, Rule, RuleOrigin};
pub use standing::Listing;
pub use what_if::WhatIf;

use crate::domain::ToolId;

/// What to pass to `--allow` so that this tool runs without a question: `server/tool`.
pub fn headless_rule(tool: &ToolId) -> String {
    tool.to_string()
}

#[cfg(test)]
mod tests;
