//! Keys → actions: one table, from which lookup, help and palette are made.
//!
//! Every action has a name (the word in `keys:` of the config), one place where it works, default
//! keys and a line of help. A key that would let Enter, Space or Escape approve is never accepted.

pub mod key;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

pub use key::Key;
pub use table::{Action, Binding, Place, TABLE};

use crate::domain::{Source, Warning};
use crate::text;

/// One action with the keys that are in force for it.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Its row of the table.
    pub binding: &'static Binding,
    /// The keys in force, the first one is shown in hints.
    pub keys: Vec<Key>,
}

/// The keys in force.
#[derive(Debug, Clone)]
pub struct Keymap {
    rows: Vec<Bound>,
    lookup: HashMap<(Place, Key), Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::new(&BTreeMap::new(), None).0
    }
}

impl Keymap {
    /// The table with the user's keys (action name → key) laid over it. What cannot be used keeps
    /// its default and is a warning; `file` is where the keys are written.
    pub fn new(keys: &BTreeMap<String, String>, file: Option<&PathBuf>) -> (Self, Vec<Warning>) {
        let mut rows: Vec<Bound> = TABLE.iter().map(defaults).collect();
        let mut warnings = Vec::new();
        for (name, word) in keys {
            if let Err((message, advice)) = rebind(&mut rows, name, word) {
                warnings.push(warning(file, name, message, advice));
            }
        }
        for (name, other, key) in undo_conflicts(&mut rows) {
            let message = format!("`keys.{name}`: {key} already means `{other}` there");
            let advice = format!("Choose another key for `{name}`, or move `{other}` too.");
            warnings.push(warning(file, name, message, advice));
        }
        let lookup = rows
            .iter()
            .flat_map(|row| {
                row.keys.iter().map(|key| ((row.binding.place, *key), row.binding.action))
            })
            .collect();
        (Self { rows, lookup }, warnings)
    }

    /// What a key means at a place.
    pub fn at(&self, place: Place, key: Key) -> Option<Action> {
        self.lookup.get(&(place, key)).copied()
    }

    /// The rows of a place, in the order of the table.
    pub fn rows(&self, place: Place) -> impl Iterator<Item = &Bound> {
        self.rows.iter().filter(move |row| row.binding.place == place)
    }

    /// All rows.
    pub fn all(&self) -> &[Bound] {
        &self.rows
    }

    /// The key that hints show for an action; empty where it has none.
    pub fn hint(&self, action: Action) -> String {
        self.rows
            .iter()
            .find(|row| row.binding.action == action)
            .and_then(|row| row.keys.first())
            .map_or_else(String::new, Key::to_string)
    }
}

fn defaults(binding: &'static Binding) -> Bound {
    let keys = binding.keys.iter().filter_map(|word| Key::parse(word)).collect();
    Bound { binding, keys }
}

fn rebind(rows: &mut [Bound], name: &str, word: &str) -> Result<(), (String, String)> {
    let Some(row) = rows.iter_mut().find(|row| row.binding.name == name) else {
        let known = TABLE.iter().map(|binding| binding.name);
        let advice = text::nearest(name, known).map_or_else(
            || "See the key help (F1) for the names of all actions.".to_owned(),
            |near| format!("Did you mean `{near}`?"),
        );
        return Err((format!("`keys.{name}`: there is no action of that name"), advice));
    };
    let Some(key) = Key::parse(word) else {
        let message = format!("`keys.{name}`: `{word}` is not a key");
        let advice = "Write a character, or a name such as ctrl-b, alt-enter, f2, pgup.".to_owned();
        return Err((message, advice));
    };
    if row.binding.action.approves() && !key.may_approve() {
        let message = format!("`keys.{name}`: {key} never approves");
        return Err((message, "Choose a letter or a digit.".to_owned()));
    }
    if row.binding.action == Action::FormSend && !key.may_send() {
        let message = format!("`keys.{name}`: {key} never sends a form");
        return Err((message, "Choose a letter with ctrl or alt.".to_owned()));
    }
    row.keys = vec![key];
    Ok(())
}

/// Takes back rebound keys that collide, until none does.
fn undo_conflicts(rows: &mut [Bound]) -> Vec<(&'static str, &'static str, Key)> {
    let mut undone = Vec::new();
    while let Some((index, other, key)) = conflict(rows) {
        let Some(row) = rows.get_mut(index) else { break };
        undone.push((row.binding.name, other, key));
        *row = defaults(row.binding);
    }
    undone
}

fn conflict(rows: &[Bound]) -> Option<(usize, &'static str, Key)> {
    rows.iter().enumerate().find_map(|(index, row)| {
        let key = *row.keys.first()?;
        let rebound = row.keys != defaults(row.binding).keys;
        let meets = |other: &&Bound| {
            let together =
                other.binding.place == row.binding.place || other.binding.place == Place::Global;
            other.binding.action != row.binding.action && together && other.keys.contains(&key)
        };
        let other = rebound.then(|| rows.iter().find(meets)).flatten()?;
        Some((index, other.binding.name, key))
    })
}

fn warning(file: Option<&PathBuf>, name: &str, message: String, advice: String) -> Warning {
    let source = file.map_or(Source::Program, |file| Source::Config {
        file: file.clone(),
        line: None,
        field: format!("keys.{name}"),
    });
    Warning::new(source, message, advice)
}

#[cfg(test)]
mod tests;
