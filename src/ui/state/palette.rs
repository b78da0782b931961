//! The command palette: everything that can be done from anywhere, filtered as one types.

use crate::ui::keymap::{Action, Keymap};
use crate::ui::update::command::{COMMANDS, Command};

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// An action of the keymap.
    Action(Action),
    /// A `/` command: run at once, or put into the draft when it wants a word.
    Command(&'static Command),
}

/// One line of the palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it does, in words.
    pub label: String,
    /// Its key or its command.
    pub hint: String,
    /// What it runs.
    pub run: Run,
}

/// The open palette.
#[derive(Debug, Default)]
pub struct Palette {
    /// What was typed.
    pub filter: String,
    /// Which of the matches is chosen.
    pub selected: usize,
    entries: Vec<Entry>,
}

impl Palette {
    /// All entries, nothing typed.
    pub fn new(keymap: &Keymap) -> Self {
        let actions =
            keymap.all().iter().filter(|row| row.binding.action.in_palette()).map(|row| Entry {
                label: capital(row.binding.help),
                hint: row.keys.first().map_or_else(String::new, ToString::to_string),
                run: Run::Action(row.binding.action),
            });
        let commands = COMMANDS.iter().map(|command| Entry {
            label: capital(command.help),
            hint: format!("/{}", command.name),
            run: Run::Command(command),
        });
        let mut entries: Vec<Entry> = actions.collect();
        for command in commands {
            // What has a key needs no second line for its command.
            match entries.iter_mut().find(|known| known.label == command.label) {
                Some(known) => known.hint = format!("{} {}", command.hint, known.hint),
                None => entries.push(command),
            }
        }
        Self { entries, ..Self::default() }
    }

    /// The entries that hold every typed word: first those whose command begins with them.
    pub fn matches(&self) -> Vec<&Entry> {
        let filter = self.filter.to_lowercase();
        let fits = |entry: &&Entry| {
            let text = format!("{} {}", entry.label, entry.hint).to_lowercase();
            filter.split_whitespace().all(|word| text.contains(word))
        };
        let mut found: Vec<&Entry> = self.entries.iter().filter(fits).collect();
        let command = format!("/{}", filter.trim().trim_start_matches('/'));
        if command.len() > 1 {
            found.sort_by_key(|entry| !entry.hint.starts_with(&command));
        }
        found
    }

    /// The chosen entry.
    pub fn chosen(&self) -> Option<Entry> {
        self.matches().get(self.selected).map(|entry| (*entry).clone())
    }

    /// Moves the choice, staying inside.
    pub fn go(&mut self, by: isize) {
        let last = self.matches().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_finds_the_command_of_that_name_first() {
        let mut palette = Palette::new(&Keymap::default());
        for name in ["model", "mod", "/mod", "new", "resume"] {
            palette.filter = name.to_owned();
            let hint = palette.chosen().unwrap().hint;
            assert!(hint.starts_with(&format!("/{}", name.trim_start_matches('/'))), "{hint}");
        }
    }
}
