//! Finds tools by words: what `mini_me_search_tools` ranks by. Pure and lexical.
//!
//! A word weighs more the fewer tools have it, and more in a name than in a description. Words also
//! match by their beginning, without their plural, and with one letter wrong.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::domain::Tool;
use crate::text;

/// Words of a query that are looked at.
const QUERY_WORDS: usize = 32;
/// Words of one tool that are looked at.
const TOOL_WORDS: usize = 2_000;
/// How deep parameters are looked for in a schema.
const DEPTH: usize = 4;
/// Words that say nothing about what a tool does.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "i", "in", "is",
    "it", "me", "my", "of", "on", "or", "that", "the", "this", "to", "tool", "tools", "use",
    "want", "what", "which", "with", "you",
];

/// What a word is worth where it stands.
const NAME: f64 = 4.0;
const TITLE: f64 = 2.5;
const SERVER: f64 = 2.0;
const PARAMETER: f64 = 1.5;
const DESCRIPTION: f64 = 1.0;
const HINT: f64 = 0.4;

/// The words of one tool and what each is worth at best.
struct Words(HashMap<String, f64>);

impl Words {
    fn of(tool: &Tool) -> Self {
        let mut words = Self(HashMap::new());
        words.add(tool.id.tool.as_str(), NAME);
        words.add(tool.model_name.as_str(), SERVER);
        words.add(tool.id.server.as_str(), SERVER);
        words.add(tool.definition.title.as_deref().unwrap_or_default(), TITLE);
        words.add(&tool.definition.description, DESCRIPTION);
        words.parameters(&tool.definition.input_schema, DEPTH);
        words
    }

    fn add(&mut self, text: &str, worth: f64) {
        for word in words(text) {
            if self.0.len() >= TOOL_WORDS {
                return;
            }
            let known = self.0.entry(word).or_insert(worth);
            *known = known.max(worth);
        }
    }

    fn parameters(&mut self, schema: &Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.add(name, PARAMETER);
            if let Some(hint) = property.get("description").and_then(Value::as_str) {
                self.add(hint, HINT);
            }
            self.parameters(property, depth);
            if let Some(items) = property.get("items") {
                self.parameters(items, depth);
            }
        }
    }

    /// What a word of the query is worth here, whole or like a word that stands here.
    fn worth(&self, word: &str, alike: impl Fn(&str, &str) -> f64) -> f64 {
        if let Some(worth) = self.0.get(word) {
            return *worth;
        }
        self.0.iter().map(|(own, worth)| worth * alike(word, own)).fold(0.0, f64::max)
    }
}

/// One word begins with the other.
fn by_beginning(wanted: &str, own: &str) -> f64 {
    let (short, long) = if wanted.len() < own.len() { (wanted, own) } else { (own, wanted) };
    if short.len() >= 3 && long.starts_with(short) { 0.6 } else { 0.0 }
}

/// One letter is wrong, missing, too many, or two have changed places.
fn by_one_letter(wanted: &str, own: &str) -> f64 {
    let close = wanted.len().min(own.len()) >= 5 && wanted.len().abs_diff(own.len()) <= 1;
    if close && text::distance(wanted, own) == 1 { 0.4 } else { 0.0 }
}

/// What a word is worth in each tool. That it is misspelt is only believed where no tool has it.
fn worths(word: &str, known: &[Words]) -> Vec<f64> {
    let plain: Vec<f64> = known.iter().map(|words| words.worth(word, by_beginning)).collect();
    if plain.iter().any(|worth| *worth > 0.0) {
        return plain;
    }
    known.iter().map(|words| words.worth(word, by_one_letter)).collect()
}

/// The words of a text: lower case, apart at every other character and at `camelCase`, without a
/// plural's ending.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in text.chars().chain([' ']) {
        let apart = !c.is_alphanumeric() || (c.is_uppercase() && lower_before);
        if apart && !word.is_empty() {
            words.push(singular(std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !STOP.contains(&word.as_str()));
    words
}

fn singular(word: String) -> String {
    let shorter = match word.as_str() {
        plural if plural.len() > 4 && plural.ends_with("ies") => {
            plural.strip_suffix("ies").map(|stem| format!("{stem}y"))
        }
        plural if plural.len() > 3 && !plural.ends_with("ss") => {
            plural.strip_suffix('s').map(str::to_owned)
        }
        _ => None,
    };
    shorter.unwrap_or(word)
}

/// The tools that fit a query and how well, best first. Of two that fit equally well, the one listed
/// first.
pub(super) fn find<'a>(query: &str, tools: &'a [Arc<Tool>]) -> Vec<(f64, &'a Arc<Tool>)> {
    let exact = query.trim().trim_matches('`');
    let mut wanted = words(query);
    wanted.truncate(QUERY_WORDS);
    wanted.sort_unstable();
    wanted.dedup();
    let known: Vec<Words> = tools.iter().map(|tool| Words::of(tool)).collect();
    let count = f64::from(u32::try_from(tools.len()).unwrap_or(u32::MAX));
    let mut scores = vec![0.0; tools.len()];
    for word in &wanted {
        let worths = worths(word, &known);
        let having = worths.iter().filter(|worth| **worth > 0.0).count();
        let having = f64::from(u32::try_from(having).unwrap_or(u32::MAX));
        // A word that most tools have tells little.
        let rarity = (1.0 + count / (1.0 + having)).ln();
        for (score, worth) in scores.iter_mut().zip(worths) {
            *score += worth * rarity;
        }
    }
    for (score, tool) in scores.iter_mut().zip(tools) {
        if is_named(tool, exact) {
            *score += 1_000.0;
        }
    }
    let mut found: Vec<(f64, &Arc<Tool>)> =
        scores.into_iter().zip(tools).filter(|(score, _)| *score > 0.0).collect();
    found.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    found
}

fn is_named(tool: &Tool, name: &str) -> bool {
    name == tool.model_name.as_str()
        || name == tool.id.tool.as_str()
        || name.split_once('/').is_some_and(|(server, own)| {
            server == tool.id.server.as_str() && own == tool.id.tool.as_str()
        })
}

#[cfg(test)]
mod tests;
