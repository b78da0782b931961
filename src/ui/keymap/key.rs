//! One key with its modifiers, as written in the config and shown in hints.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key press, brought into one form: for characters, Shift is in the character itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// With Ctrl, Alt or (not for characters) Shift.
    pub modifiers: KeyModifiers,
}

const NAMES: &[(&str, &str, KeyCode)] = &[
    ("enter", "Enter", KeyCode::Enter),
    ("return", "Enter", KeyCode::Enter),
    ("esc", "Esc", KeyCode::Esc),
    ("escape", "Esc", KeyCode::Esc),
    ("space", "Space", KeyCode::Char(' ')),
    ("tab", "Tab", KeyCode::Tab),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("delete", "Delete", KeyCode::Delete),
    ("insert", "Insert", KeyCode::Insert),
    ("up", "↑", KeyCode::Up),
    ("down", "↓", KeyCode::Down),
    ("left", "←", KeyCode::Left),
    ("right", "→", KeyCode::Right),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("pgup", "PgUp", KeyCode::PageUp),
    ("pageup", "PgUp", KeyCode::PageUp),
    ("pgdn", "PgDn", KeyCode::PageDown),
    ("pagedown", "PgDn", KeyCode::PageDown),
];

impl Key {
    /// Brings what the terminal reports into one form.
    pub fn of(event: &KeyEvent) -> Self {
        Self::normal(event.code, event.modifiers)
    }

    fn normal(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let mut modifiers = modifiers & known;
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(c) => {
                let shifted = modifiers.contains(KeyModifiers::SHIFT);
                modifiers -= KeyModifiers::SHIFT;
                let control = modifiers == KeyModifiers::CONTROL;
                KeyCode::Char(if control {
                    c.to_ascii_lowercase()
                } else if shifted {
                    c.to_uppercase().next().unwrap_or(c)
                } else {
                    c
                })
            }
            other => other,
        };
        Self { code, modifiers }
    }

    /// Reads `y`, `ctrl-b`, `Alt+Enter`, `f2`, `pgup`.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim();
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = word;
        while let Some((head, tail)) =
            rest.split_once(['-', '+']).filter(|(head, tail)| !head.is_empty() && !tail.is_empty())
        {
            modifiers |= match head.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => KeyModifiers::CONTROL,
                "alt" | "meta" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => return None,
            };
            rest = tail;
        }
        Some(Self::normal(code(rest)?, modifiers))
    }

    /// The character this key types, if it types one. Ctrl with Alt is how `AltGr` is reported.
    pub fn typed(&self) -> Option<char> {
        let plain = self.modifiers.is_empty()
            || self.modifiers == KeyModifiers::CONTROL | KeyModifiers::ALT;
        match self.code {
            KeyCode::Char(c) if plain => Some(c),
            // An accented letter with Alt alone is a layout at work, not a shortcut.
            KeyCode::Char(c) if self.modifiers == KeyModifiers::ALT && !c.is_ascii() => Some(c),
            _ => None,
        }
    }

    /// Whether an approval may be bound to it: a plain visible character.
    pub fn may_approve(&self) -> bool {
        matches!(self.code, KeyCode::Char(c) if c.is_alphanumeric()) && self.modifiers.is_empty()
    }

    /// Whether sending a form may be bound to it: nothing that types or is pressed in passing.
    pub fn may_send(&self) -> bool {
        let held = matches!(self.modifiers, KeyModifiers::CONTROL | KeyModifiers::ALT);
        held && matches!(self.code, KeyCode::Char(c) if c.is_ascii_alphanumeric())
    }
}

fn code(word: &str) -> Option<KeyCode> {
    let mut chars = word.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return (!only.is_control()).then_some(KeyCode::Char(only));
    }
    let lower = word.to_ascii_lowercase();
    if let Some((_, _, code)) = NAMES.iter().find(|(name, _, _)| *name == lower) {
        return Some(*code);
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, word) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                f.write_str(word)?;
            }
        }
        let held = !self.modifiers.is_empty();
        match self.code {
            KeyCode::F(number) => write!(f, "F{number}"),
            code => match NAMES.iter().find(|(_, _, named)| *named == code) {
                Some((_, shown, _)) => f.write_str(shown),
                None => match code {
                    KeyCode::Char(c) if held => write!(f, "{}", c.to_ascii_uppercase()),
                    KeyCode::Char(c) => write!(f, "{c}"),
                    _ => f.write_str("?"),
                },
            },
        }
    }
}
