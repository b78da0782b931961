//! What is odd about rules: those that fit nothing, those that are never reached, conditions on
//! arguments that no tool has.

use serde_json::Value;

use super::policy::Policy;
use super::rule::{Matcher, Pattern, Rule};
use super::standing::{Listing, meant};
use super::{misspelt, pointer};
use crate::domain::{Mode, ServerName};
use crate::text;

/// Something odd about a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// What is odd.
    pub what: Oddity,
}

/// What is odd about a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Oddity {
    /// It fits no tool of its server.
    Stray {
        /// The nearest name, where one is near enough.
        nearest: Option<String>,
        /// Tools to which it applies all the same, because it tightens and is one letter away.
        meant: Vec<String>,
    },
    /// An earlier rule decides first, whatever the call.
    Shadowed {
        /// That rule.
        by: Box<Rule>,
    },
    /// A rule that denies beats it, whatever the call.
    Denied {
        /// That rule.
        by: Box<Rule>,
    },
    /// A condition speaks of an argument that none of the tools has.
    Pointer {
        /// The pointer of the condition.
        pointer: String,
        /// The nearest argument, where one is near enough.
        nearest: Option<String>,
    },
}

/// What is odd about the rules of one server. Those that *always* wrote, for one definition, may
/// outlive their tool; they are not odd.
pub fn lint(policy: &Policy, listing: &Listing) -> Vec<Finding> {
    let rules = policy.servers.get(&listing.server).map(|server| server.rules.as_slice());
    let rules = rules.unwrap_or_default();
    let mut found = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let mut odd = |what| found.push(Finding { rule: rule.clone(), what });
        let before = rules.iter().take(at);
        if let Some(by) = before.into_iter().find(|earlier| shadows(earlier, rule)) {
            odd(Oddity::Shadowed { by: Box::new(by.clone()) });
        } else if let Some(by) = rules.iter().find(|other| denies(other, rule)) {
            odd(Oddity::Denied { by: Box::new(by.clone()) });
        }
        if rule.pin.is_some() {
            continue;
        }
        if let Some(stray) = stray(rule, listing) {
            odd(stray);
            continue;
        }
        for pointer in blind(rule, listing) {
            odd(pointer);
        }
    }
    found
}

fn stray(rule: &Rule, listing: &Listing) -> Option<Oddity> {
    let names = || listing.tools.iter().map(|(name, _)| name.as_str());
    if names().any(|name| rule.tool.matches(name)) {
        return None;
    }
    let closes = rule.permissions != Mode::Auto;
    let near = listing.tools.iter().filter(|(name, _)| meant(None, rule, &listing.server, name));
    let meant = near.filter(|_| closes).map(|(name, _)| name.to_string()).collect();
    Some(Oddity::Stray { nearest: nearest(&rule.tool.0, names()), meant })
}

/// The nearest of the names; also where capitals or one letter of a pattern keep it from fitting.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let pattern = Pattern(word.to_owned());
    let near = text::nearest(word, names.clone());
    near.or_else(|| names.into_iter().find(|name| misspelt::misspelt(&pattern, name)))
        .map(str::to_owned)
}

fn blind(rule: &Rule, listing: &Listing) -> Vec<Oddity> {
    let fitting = listing.tools.iter().filter(|(name, _)| rule.tool.matches(name.as_str()));
    let schemas: Vec<&Value> = fitting.filter_map(|(_, schema)| schema.as_deref()).collect();
    let unknown = |pointer: &&String| {
        !schemas.is_empty()
            && schemas.iter().all(|schema| pointer::declares(schema, pointer) == Some(false))
    };
    let oddity = |pointer: &String| {
        let mut declared: Vec<String> =
            schemas.iter().flat_map(|schema| pointer::declared(schema)).collect();
        declared.sort_unstable();
        declared.dedup();
        let nearest = nearest(pointer, declared.iter().map(String::as_str));
        Oddity::Pointer { pointer: pointer.clone(), nearest }
    };
    rule.when.iter().map(|(pointer, _)| pointer).filter(unknown).map(oddity).collect()
}

/// Whether the earlier rule decides every call that the later one could decide.
fn shadows(earlier: &Rule, later: &Rule) -> bool {
    // A denial decides wherever it stands, and a denial before it decides the same.
    later.permissions != Mode::Deny
        && earlier.permissions != Mode::Deny
        && covers(earlier, later)
        // Doubt about what loosens is not doubt about what tightens.
        && (earlier.when.is_empty() || earlier.permissions >= later.permissions)
}

/// Whether the other rule denies every call that this one could let through.
fn denies(other: &Rule, rule: &Rule) -> bool {
    other.permissions == Mode::Deny && rule.permissions != Mode::Deny && covers(other, rule)
}

/// Whether a rule fits, beyond doubt, everything that the other one fits.
fn covers(wide: &Rule, narrow: &Rule) -> bool {
    let pins = wide.pin.is_none() || wide.pin == narrow.pin;
    let claims = |wide: Option<bool>, narrow: Option<bool>| wide.is_none() || wide == narrow;
    let holds = |(pointer, matcher): &(String, Matcher)| {
        narrow.when.iter().any(|(other, narrower)| other == pointer && includes(matcher, narrower))
    };
    // A star of the narrow pattern is a character that only a star of the wide one takes.
    wide.tool.matches(&narrow.tool.0)
        && pins
        && claims(wide.read_only, narrow.read_only)
        && claims(wide.destructive, narrow.destructive)
        && wide.when.iter().all(holds)
}

fn includes(wide: &Matcher, narrow: &Matcher) -> bool {
    match (wide, narrow) {
        (wide, Matcher::OneOf(several)) => several.iter().all(|one| includes(wide, one)),
        (Matcher::OneOf(several), one) => several.iter().any(|wide| includes(wide, one)),
        (Matcher::Text(wide), Matcher::Text(narrow)) => wide.matches(&narrow.0),
        (wide, narrow) => wide == narrow,
    }
}

/// The name nearest to one that no server has, for rules that name their server.
pub fn nearest_server<'a>(
    name: &ServerName,
    known: impl Iterator<Item = &'a ServerName> + Clone,
) -> Option<&'a ServerName> {
    let pattern = Pattern(name.as_str().to_owned());
    known.into_iter().find(|other| misspelt::misspelt(&pattern, other.as_str()))
}
