//! Permissions: who decides whether a call may run. Pure.

pub mod limits;
pub mod policy;
pub mod rule;

pub use policy::{Because, Decision, Policy};
pub use rule::{Matcher, Pattern, Rate, Rule, RuleOrigin};
