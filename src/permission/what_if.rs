//! What would change a decision. Every answer was tried: the policy decided with the change made.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::exfiltration;
use super::matching::{Applied, Fit, at};
use super::policy::{Because, Decision, Policy};
use super::rule::{Matcher, Pattern, Rule};
use crate::domain::{Carried, Mode, PinState, Tool, ToolId};
use crate::text::human;

/// Answers at most.
const MOST: usize = 8;
/// A value that no rule speaks of.
const OTHER: &str = "\u{e000}another value";

/// A change, and what would be decided then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIf {
    /// The change, as the beginning of a sentence; quotes outside text.
    pub change: String,
    /// What would be decided.
    pub verdict: Mode,
}

impl Policy {
    /// What would change the decision about a call; about unknown arguments where there are none.
    pub fn what_if(
        &self,
        tool: &Tool,
        arguments: Option<&Map<String, Value>>,
        now: Instant,
    ) -> Vec<WhatIf> {
        let none = Map::new();
        let given = arguments.unwrap_or(&none);
        let decide = |policy: &Self, tool: &Tool, arguments: &Map<String, Value>, now| {
            match now {
                Some(now) => policy.decide(tool, arguments, now),
                None => policy.preview(tool),
            }
            .verdict
        };
        let at = arguments.map(|_| now);
        let decision = match arguments {
            Some(arguments) => self.decide(tool, arguments, now),
            None => self.preview(tool),
        };
        let mut found = Vec::new();
        let mut tried = |change: String, verdict: Mode| {
            let known = found.iter().any(|known: &WhatIf| known.change == change);
            if verdict != decision.verdict && !known && found.len() < MOST {
                found.push(WhatIf { change, verdict });
            }
        };
        if let Some(wait) = self.wait(tool, given, now).filter(|_| arguments.is_some()) {
            let later = now.checked_add(wait).unwrap_or(now);
            tried(
                format!("after {} the limit allows it again", seconds(wait)),
                decide(self, tool, given, Some(later)),
            );
        }
        if tool.pin_state == PinState::Changed {
            let accepted = Tool { pin_state: PinState::Known, ..tool.clone() };
            let verdict = decide(self, &accepted, given, at);
            let change =
                format!("with the changed definition accepted (`tools --accept-pin {}`)", tool.id);
            tried(change, verdict);
        }
        for applied in self.rules(tool) {
            if arguments.is_some() {
                for (change, arguments) in by_arguments(&applied, tool, given) {
                    tried(change, decide(self, tool, &arguments, at));
                }
            }
            if let Some((change, claiming)) = by_claims(&applied, tool) {
                tried(change, decide(self, &claiming, given, at));
            }
            if applied.rule.pin.as_ref().is_some_and(|pin| *pin != tool.pin) {
                let bound = Tool {
                    pin: applied.rule.pin.clone().unwrap_or_default(),
                    pin_state: PinState::Known,
                    ..tool.clone()
                };
                let change =
                    format!("with the definition that {} is bound to", named(applied.rule));
                tried(change, decide(self, &bound, given, at));
            }
        }
        match (&decision.because, decision.verdict) {
            (Because::Rule(rule), Mode::Deny) => {
                let mut without = self.clone();
                without.forget(rule);
                let change =
                    format!("without {}; no grant and no other rule beats it", named(rule));
                tried(change, decide(&without, tool, given, at));
            }
            (Because::PinChanged, _) => {}
            (_, Mode::Ask | Mode::Deny) => {
                let mut with = self.clone();
                let rule = Rule::new(Pattern(tool.id.tool.as_str().to_owned()), Mode::Auto);
                let written = rule.to_yaml_value(Some(&tool.id.server));
                with.remember(&tool.id.server, rule);
                let file = self.rules_file.as_ref().map_or_else(
                    || "rules.yaml".to_owned(),
                    |file| file.to_string_lossy().into_owned(),
                );
                let change = format!("with a rule `{written}` in {file}");
                tried(change, decide(&with, tool, given, at));
            }
            (_, Mode::Auto) => {
                let mut with = self.clone();
                let rule = Rule::new(Pattern(tool.id.tool.as_str().to_owned()), Mode::Deny);
                let written = rule.to_yaml_value(None);
                with.remember(&tool.id.server, rule);
                let change = format!("with a rule `{written}` for {}", tool.id.server);
                tried(change, decide(&with, tool, given, at));
            }
        }
        found
    }

    /// What would be decided instead if the arguments repeated a result of another server: by the
    /// rules with `from` that name one, and else.
    pub fn by_source(
        &self,
        tool: &Tool,
        arguments: Option<&Map<String, Value>>,
        decision: &Decision,
    ) -> Vec<WhatIf> {
        let none = Map::new();
        let given = arguments.unwrap_or(&none);
        let of = |server: &str| {
            let from = ToolId::new(server, "");
            let carried = Carried { from, call: None, piece: String::new(), characters: 0 };
            exfiltration::guard(self, decision.clone(), tool, given, &[carried], &[])
        };
        let mut found: Vec<WhatIf> = Vec::new();
        let mut tried = |whose: &str, decided: Decision| {
            let at = match &decided.because {
                Because::Rule(rule) => format!(" ({})", named(rule)),
                _ => String::new(),
            };
            let change = format!("with arguments that repeat a result of {whose}{at}");
            let known = found.iter().any(|known| known.change == change);
            if decided.verdict != decision.verdict && !known && found.len() < MOST {
                found.push(WhatIf { change, verdict: decided.verdict });
            }
        };
        for pattern in self.rules(tool).flat_map(|applied| &applied.rule.from) {
            // A pattern matches itself.
            tried(&pattern.0, of(&pattern.0));
        }
        if self.servers.keys().any(|server| *server != tool.id.server) {
            tried("another server", of(OTHER));
        }
        found
    }

    /// Takes a rule out, wherever it stands.
    fn forget(&mut self, rule: &Rule) {
        for server in self.servers.values_mut() {
            server.rules.retain(|known| known != rule);
        }
        self.forget_global(rule);
    }
}

fn named(rule: &Rule) -> String {
    format!("the rule at {}", rule.origin)
}

fn seconds(wait: Duration) -> String {
    // A wait that is said to be over must be over.
    human::duration(Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)))
}

/// Arguments that would make the rule fit, or no longer fit, each with what is changed.
fn by_arguments(
    applied: &Applied<'_>,
    tool: &Tool,
    given: &Map<String, Value>,
) -> Vec<(String, Map<String, Value>)> {
    let rule = applied.rule;
    if rule.when.is_empty() {
        return Vec::new();
    }
    let place = named(rule);
    if applied.fit(tool, given) == Fit::Yes {
        let others = rule.when.iter().filter_map(|(pointer, _)| {
            let changed = with(given, pointer, OTHER.into())?;
            Some((format!("with another {pointer} than {place} wants"), changed))
        });
        return others.collect();
    }
    let mut changed = given.clone();
    let mut words = Vec::new();
    for (pointer, matcher) in &rule.when {
        let (value, word) = example(matcher);
        if at(given, pointer) == Some(&value) {
            continue;
        }
        let Some(next) = with(&changed, pointer, value) else { return Vec::new() };
        changed = next;
        words.push(format!("{pointer}: {word}"));
    }
    vec![(format!("with {} ({place})", words.join(", ")), changed)]
}

/// A value that fits, and how the rule spells it.
fn example(matcher: &Matcher) -> (Value, String) {
    match matcher {
        Matcher::Text(pattern) => (pattern.0.replace('*', "x").into(), pattern.0.clone()),
        Matcher::Value(value) => (value.clone(), value.to_string()),
        Matcher::OneOf(several) => {
            let words: Vec<String> = several.iter().map(|one| example(one).1).collect();
            let first = several.first().map(example).map(|(value, _)| value);
            (first.unwrap_or_default(), words.join(" or "))
        }
    }
}

/// The arguments with another value at a pointer; `None` where there is no way to it.
fn with(given: &Map<String, Value>, pointer: &str, value: Value) -> Option<Map<String, Value>> {
    let mut whole = Value::Object(given.clone());
    let mut here = &mut whole;
    let path = pointer.strip_prefix('/')?;
    for token in path.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        here = match here {
            Value::Array(items) => items.get_mut(token.parse::<usize>().ok()?)?,
            Value::Object(members) => members.entry(token).or_insert(Value::Null),
            Value::Null => {
                *here = Value::Object(Map::new());
                here.as_object_mut()?.entry(token).or_insert(Value::Null)
            }
            _ => return None,
        };
    }
    *here = value;
    match whole {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The tool with the claims that the rule wants.
fn by_claims(applied: &Applied<'_>, tool: &Tool) -> Option<(String, Tool)> {
    let rule = applied.rule;
    let said = tool.definition.annotations;
    let mut wanted = said;
    let mut words = Vec::new();
    if let Some(read_only) = rule.read_only.filter(|wanted| said.read_only_hint != Some(*wanted)) {
        wanted.read_only_hint = Some(read_only);
        words.push(if read_only { "called it read-only" } else { "did not call it read-only" });
    }
    if let Some(destructive) =
        rule.destructive.filter(|wanted| said.destructive_hint != Some(*wanted))
    {
        wanted.destructive_hint = Some(destructive);
        words.push(if destructive {
            "said that it may destroy"
        } else {
            "said that it destroys nothing"
        });
    }
    if words.is_empty() {
        return None;
    }
    let mut definition = (*tool.definition).clone();
    definition.annotations = wanted;
    let claiming = Tool { definition: definition.into(), ..tool.clone() };
    Some((format!("if its server {} ({})", words.join(" and "), named(rule)), claiming))
}
