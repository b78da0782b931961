//! What a person should be warned of before deciding about a text.

use std::collections::BTreeSet;

use serde_json::Value;

use super::clean::{self, Kind};

/// Kinds and words named in one warning; more are counted.
const NAMED: usize = 5;

/// A sentence about what in `raw` cannot be seen or looks like something else; `None` if it reads
/// as it is. The sentence itself is clean.
///
/// Hidden characters are those that the strict forms spell out, except line breaks and tabs.
/// Look-alikes are words that mix Latin letters with Cyrillic or Greek ones.
pub fn is_suspicious(raw: &str) -> Option<String> {
    let mut findings = Findings::default();
    findings.look_at(raw);
    findings.sentence()
}

/// The same for every string in a JSON value, keys included.
pub fn is_suspicious_value(value: &Value) -> Option<String> {
    let mut findings = Findings::default();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => findings.look_at(text),
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => {
                members.keys().for_each(|key| findings.look_at(key));
                pending.extend(members.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    findings.sentence()
}

#[derive(Default)]
struct Findings {
    hidden: BTreeSet<char>,
    mixed: BTreeSet<String>,
}

impl Findings {
    fn look_at(&mut self, raw: &str) {
        if raw.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return;
        }
        self.hidden.extend(raw.chars().filter(|&c| is_hidden(c)));
        let words = raw.split(|c: char| !c.is_alphanumeric()).filter(|word| is_mixed(word));
        for word in words {
            if self.mixed.len() > NAMED {
                break;
            }
            self.mixed.insert(super::cut(super::strict_line(word).as_str(), 40));
        }
    }

    fn sentence(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.hidden.is_empty() {
            let names = self.hidden.iter().map(|&c| name(c));
            parts.push(format!("hidden characters: {}", listed(names, self.hidden.len())));
        }
        if !self.mixed.is_empty() {
            let words = self.mixed.iter().map(|word| format!("“{word}”"));
            let listed = listed(words, self.mixed.len());
            parts.push(format!("letters of different scripts in one word: {listed}"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn listed(items: impl Iterator<Item = String>, total: usize) -> String {
    let mut text = items.take(NAMED).collect::<Vec<_>>().join(", ");
    if total > NAMED {
        text.push_str(" and more");
    }
    text
}

fn is_hidden(c: char) -> bool {
    match clean::kind(c) {
        Kind::Control => !matches!(c, '\n' | '\t'),
        Kind::Invisible | Kind::Blank => true,
        Kind::Mark | Kind::Plain => false,
    }
}

fn name(c: char) -> String {
    let code = u32::from(c);
    let words = match c {
        '\u{1b}' => "escape",
        '\r' => "carriage return",
        '\u{ad}' => "soft hyphen",
        '\u{a0}' => "no-break space",
        '\u{200b}' => "zero-width space",
        '\u{200c}' => "zero-width non-joiner",
        '\u{200d}' => "zero-width joiner",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{200e}' | '\u{200f}' | '\u{61c}' => "direction mark",
        '\u{202a}'..='\u{202c}' => "direction embedding",
        '\u{202d}' | '\u{202e}' => "direction override",
        '\u{2066}'..='\u{2069}' => "direction isolate",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "variation selector",
        '\u{e0000}'..='\u{e007f}' => "tag",
        c if c.is_whitespace() => "unusual space",
        _ => return format!("U+{code:04X}"),
    };
    format!("U+{code:04X} ({words})")
}

/// Latin letters together with letters that only look Latin.
fn is_mixed(word: &str) -> bool {
    word.chars().any(|c| c.is_alphabetic() && (c.is_ascii() || is_latin_extended(c)))
        && word.chars().any(looks_latin)
}

fn is_latin_extended(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Cyrillic, Armenian and Cherokee letters, and those of Greek that have a Latin twin: a unit such
/// as `μm` is no disguise.
fn looks_latin(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}' | '\u{531}'..='\u{587}' | '\u{13a0}'..='\u{13f5}')
        || "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυχϲϳ".contains(c)
}
