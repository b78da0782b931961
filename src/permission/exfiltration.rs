//! Does a call carry data of one server to another? Pure.
//!
//! [`Provenance`] remembers what results said, and where they came from. When an argument for
//! another server repeats a long piece of one, a call that would run by itself is asked about
//! instead, unless a rule with `from` allows it. Found are pieces of [`PIECE`] letters and digits
//! or more, whatever white space, punctuation, case or JSON escapes stand between them, also in
//! Base64, hex or percent-encoding. A piece that the user wrote, that the receiving server said
//! itself or that stands in the tool's own definition is no secret to anybody. What a model puts
//! into other words is not found.
//!
//! Memory is bounded and so is time: results are remembered up to a limit, the oldest go first;
//! looking costs one pass over the arguments.

mod coded;
mod fold;
mod index;

use serde_json::{Map, Value};

use super::matching::{Applied, Fit};
use super::policy::{Because, Decision, Policy};
use crate::domain::{CallId, Carried, Mode, ModelName, ServerName, Tool, ToolId};
use fold::{Folded, Names};
use index::{Index, Span};

pub use index::PIECE;

/// Bytes of letters and digits in one of the two generations that are remembered.
const GENERATION: usize = 8 * 1024 * 1024;
/// Different letters and digits that a piece has; fewer are a line of `0`s.
const VARIETY: usize = 6;
/// Servers that are named as sources of one call.
const SOURCES: usize = 3;
/// Characters of a piece that are shown.
const SHOWN: usize = 200;

/// Who said something.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// The user.
    User,
    /// A result.
    Result(ToolId, CallId),
    /// A result of an earlier run, of which only the tool's name for the model is known.
    Earlier(ModelName, Option<CallId>),
}

/// What results said, and where they came from.
#[derive(Debug)]
pub struct Provenance {
    young: Index<Origin>,
    old: Index<Origin>,
    /// Bytes of one generation.
    generation: usize,
}

impl Default for Provenance {
    fn default() -> Self {
        Self { young: Index::default(), old: Index::default(), generation: GENERATION }
    }
}

impl Provenance {
    /// Remembers a result.
    pub fn result(&mut self, tool: &ToolId, call: CallId, text: &str) {
        self.learn(Origin::Result(tool.clone(), call), text);
    }

    /// Remembers a result of an earlier run.
    pub fn earlier(&mut self, name: &ModelName, call: Option<CallId>, text: &str) {
        self.learn(Origin::Earlier(name.clone(), call), text);
    }

    /// Remembers what the user wrote: that may go anywhere the user sends it.
    pub fn user(&mut self, text: &str) {
        self.learn(Origin::User, text);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn learn(&mut self, origin: Origin, text: &str) {
        let folded = fold::bytes(text, self.generation);
        if folded.len() < PIECE {
            return;
        }
        if self.young.size() + folded.len() > self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.add(origin, folded);
    }

    /// The pieces of other servers' results that these arguments would carry to the tool's server:
    /// the longest of each server. `named` finds a tool by its model name.
    pub fn carried(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        named: &dyn Fn(&ModelName) -> Option<ToolId>,
    ) -> Vec<Carried> {
        if self.young.is_empty() && self.old.is_empty() {
            return Vec::new();
        }
        let plain = Folded::arguments(arguments, Names::Without);
        let coded = coded::readings(&plain.text);
        let record = Folded::arguments(arguments, Names::With);
        let mut found: Vec<Carried> = Vec::new();
        for reading in [plain, record].into_iter().chain(coded) {
            self.look(tool, &reading, named, &mut found);
        }
        found.sort_by_key(|carried| std::cmp::Reverse(carried.characters));
        let mut seen: Vec<ServerName> = Vec::new();
        found.retain(|carried| {
            let first = !seen.contains(&carried.from.server);
            seen.push(carried.from.server.clone());
            first
        });
        found.truncate(SOURCES);
        found
    }

    fn look(
        &self,
        tool: &Tool,
        reading: &Folded,
        named: &dyn Fn(&ModelName) -> Option<ToolId>,
        found: &mut Vec<Carried>,
    ) {
        let mut known: Vec<Span> = Vec::new();
        let mut foreign: Vec<(ToolId, Option<CallId>, Span)> = Vec::new();
        for index in [&self.young, &self.old] {
            for (origin, span) in index.matches(&reading.bytes) {
                let (from, call) = match origin {
                    Origin::User => (None, None),
                    Origin::Result(id, call) => (Some(id.clone()), Some(*call)),
                    Origin::Earlier(name, call) => {
                        // Of a tool that is gone nobody knows whose it was: not this server's.
                        let gone = || ToolId::new("", name.as_str());
                        (Some(named(name).unwrap_or_else(gone)), *call)
                    }
                };
                match from {
                    Some(from) if from.server != tool.id.server => foreign.push((from, call, span)),
                    _ => known.push(span),
                }
            }
        }
        if foreign.is_empty() {
            return;
        }
        let mut own = Index::default();
        own.add((), fold::bytes(&tool.definition.raw.to_string(), GENERATION));
        known.extend(own.matches(&reading.bytes).into_iter().map(|((), span)| span));
        // Words that anybody uses do not take a piece apart.
        known.retain(|span| span.len() >= PIECE);
        known.sort_unstable();
        for (from, call, span) in foreign {
            let longest = span.without(&known).into_iter().max_by_key(Span::len);
            let piece = longest.filter(|span| {
                span.len() >= PIECE && reading.weight(span) >= PIECE && is_varied(reading, span)
            });
            if let Some(piece) = piece {
                let text = reading.original(&piece);
                found.push(Carried {
                    from,
                    call,
                    characters: text.chars().count(),
                    piece: text.chars().take(SHOWN).collect(),
                });
            }
        }
    }
}

/// Whether a piece is more than a few letters again and again.
fn is_varied(reading: &Folded, span: &Span) -> bool {
    let bytes = reading.bytes.get(span.start..span.end).unwrap_or_default();
    let mut seen = [false; 256];
    for byte in bytes {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    seen.iter().filter(|seen| **seen).count() >= VARIETY
}

/// The decision about a call that carries this. A rule with `from` that forbids it counts whatever
/// was decided; *auto* becomes *ask* unless a rule with `from` allows every source. `granted` are
/// the servers whose data the user let this tool have in this run.
pub fn guard(
    policy: &Policy,
    decision: Decision,
    tool: &Tool,
    arguments: &Map<String, Value>,
    carried: &[Carried],
    granted: &[ServerName],
) -> Decision {
    if carried.is_empty() || decision.verdict == Mode::Deny {
        return decision;
    }
    let rules: Vec<Applied<'_>> =
        policy.rules(tool).filter(|applied| !applied.rule.from.is_empty()).collect();
    let fits = |applied: &Applied<'_>, from: &ServerName| {
        let named = applied.rule.from.iter().any(|pattern| pattern.matches(from.as_str()));
        if named { applied.fit_apart_from_source(tool, arguments) } else { Fit::No }
    };
    // What tightens counts in doubt as well.
    let tightens = |mode: Mode| {
        rules.iter().find(|applied| {
            let of_any = |carried: &Carried| fits(applied, &carried.from.server) != Fit::No;
            applied.rule.permissions == mode && carried.iter().any(of_any)
        })
    };
    let by = |verdict: Mode, applied: &Applied<'_>| Decision {
        verdict,
        because: Because::Rule(Box::new(applied.rule.clone())),
    };
    if let Some(applied) = tightens(Mode::Deny) {
        return by(Mode::Deny, applied);
    }
    if decision.verdict == Mode::Ask {
        return decision;
    }
    if let Some(applied) = tightens(Mode::Ask) {
        return by(Mode::Ask, applied);
    }
    let allowed = |carried: &Carried| {
        let from = &carried.from.server;
        granted.contains(from)
            || rules.iter().any(|applied| {
                applied.rule.permissions == Mode::Auto && fits(applied, from) == Fit::Yes
            })
    };
    match carried.iter().find(|carried| !allowed(carried)) {
        Some(first) => {
            Decision { verdict: Mode::Ask, because: Because::Carried(Box::new(first.clone())) }
        }
        None => decision,
    }
}

/// The rule that would let data of these servers go to this tool, as the config writes it.
pub fn allowing(tool: &Tool, carried: &[Carried]) -> String {
    let from: Vec<&str> = carried.iter().map(|carried| carried.from.server.as_str()).collect();
    let from = match from.as_slice() {
        [one] => Value::from(*one),
        several => Value::from(several.to_vec()),
    };
    format!("{{ tool: {}, from: {from}, permissions: auto }}", Value::from(tool.id.tool.as_str()))
}

#[cfg(test)]
mod tests;
