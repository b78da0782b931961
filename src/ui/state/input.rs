//! The draft: several lines, history, folded pastes.

use std::time::{Duration, Instant};

use ratatui::style::{Modifier, Style};
use tui_textarea::{CursorMove, TextArea, WrapMode};

use crate::text;

/// Pastes of more lines than this are folded into a placeholder.
pub const FOLD_LINES: usize = 8;
/// Pastes of more characters than this are folded too.
pub const FOLD_CHARS: usize = 2_000;
/// Largest paste taken in, in bytes. The rest is left out, and said.
pub const PASTE_LIMIT: usize = 4 * 1024 * 1024;
/// Messages kept for the history.
pub const HISTORY: usize = 200;
/// A paste may carry the end mark of a paste inside: keys that follow at once are its rest.
pub const PASTE_GRACE: Duration = Duration::from_millis(50);

/// A paste that stands as a placeholder in the draft.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fold {
    placeholder: String,
    text: String,
}

/// Search in the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// What is searched for.
    pub query: String,
    /// How many matches from the latest one to skip.
    pub skip: usize,
}

/// The draft and its history.
#[derive(Debug)]
pub struct Composer {
    /// The editor.
    pub area: TextArea<'static>,
    folds: Vec<Fold>,
    folded: usize,
    history: Vec<String>,
    /// Place in the history, and the draft that was left for it.
    at: Option<(usize, String)>,
    /// A search in the history.
    pub search: Option<Search>,
    /// The chosen completion.
    pub completion: usize,
    /// The completion was closed for this word.
    pub completion_closed: bool,
    last_paste: Option<Instant>,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: editor(""),
            folds: Vec::new(),
            folded: 0,
            history: Vec::new(),
            at: None,
            search: None,
            completion: 0,
            completion_closed: false,
            last_paste: None,
        }
    }
}

/// An editor of the look all editors here have.
pub fn editor(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    area.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

impl Composer {
    /// The draft as it stands, placeholders included.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// The draft as it is sent: placeholders replaced by what was pasted.
    pub fn expanded(&self) -> String {
        self.folds
            .iter()
            .fold(self.text(), |text, fold| text.replace(&fold.placeholder, &fold.text))
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Puts another text in the place of the draft, the cursor at its end.
    pub fn replace(&mut self, text: &str) {
        self.area = editor(text);
        self.completion = 0;
        self.completion_closed = false;
    }

    /// Puts a text before the draft, the cursor at the end.
    pub fn put_before(&mut self, text: &str) {
        let draft = self.text();
        let gap = if draft.trim().is_empty() { "" } else { "\n\n" };
        self.replace(&format!("{text}{gap}{}", draft.trim_start_matches('\n')));
        self.completion_closed = true;
        self.at = None;
    }

    /// Takes the draft away and keeps it in the history. Returns it as it is sent.
    pub fn take(&mut self) -> String {
        let text = self.expanded();
        self.remember(&text);
        self.replace("");
        self.folds.clear();
        self.at = None;
        self.search = None;
        text
    }

    /// Keeps a message for the history.
    pub fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || self.history.last().is_some_and(|last| last == text) {
            return;
        }
        self.history.push(text.to_owned());
        let surplus = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..surplus);
    }

    /// Takes in pasted text as one piece: line ends become `\n`, what cannot be shown is cleaned
    /// out, much is folded. Returns whether something had to be left out.
    pub fn paste(&mut self, raw: &str, now: Instant) -> bool {
        self.last_paste = Some(now);
        let whole = raw.len() <= PASTE_LIMIT;
        let end = (0..=PASTE_LIMIT.min(raw.len())).rev().find(|at| raw.is_char_boundary(*at));
        let raw = end.and_then(|end| raw.get(..end)).unwrap_or_default();
        let text = raw.replace("\r\n", "\n").replace('\r', "\n");
        let text = text::block(&text).into_string();
        let lines = text.lines().count();
        if lines > FOLD_LINES || text.chars().count() > FOLD_CHARS {
            self.folded += 1;
            let placeholder = format!("[pasted {lines} lines #{}]", self.folded);
            self.area.insert_str(&placeholder);
            self.folds.push(Fold { placeholder, text });
        } else {
            self.area.insert_str(text);
        }
        !whole
    }

    /// Text was pasted elsewhere.
    pub fn pasted(&mut self, now: Instant) {
        self.last_paste = Some(now);
    }

    /// Whether keys pressed now are taken for the rest of a paste.
    pub fn pasting(&self, now: Instant) -> bool {
        self.last_paste.is_some_and(|at| now.saturating_duration_since(at) < PASTE_GRACE)
    }

    /// The message before, when the cursor is on the first row. Returns whether it moved.
    pub fn older(&mut self) -> bool {
        if self.area.cursor().0 > 0 {
            return false;
        }
        let before = self.at.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(at) = before.checked_sub(1) else { return true };
        let Some(text) = self.history.get(at).cloned() else { return true };
        let draft = self.at.take().map_or_else(|| self.text(), |(_, draft)| draft);
        self.at = Some((at, draft));
        self.replace(&text);
        self.completion_closed = true;
        self.area.move_cursor(CursorMove::Top);
        self.area.move_cursor(CursorMove::End);
        true
    }

    /// The message after, when the cursor is on the last row; at the end the draft again.
    pub fn newer(&mut self) -> bool {
        if self.area.cursor().0 + 1 < self.area.lines().len() {
            return false;
        }
        let Some((at, draft)) = self.at.take() else { return true };
        if let Some(text) = self.history.get(at + 1).cloned() {
            self.at = Some((at + 1, draft));
            self.replace(&text);
        } else {
            self.replace(&draft);
        }
        self.completion_closed = true;
        true
    }

    /// The latest message that holds what is searched for.
    pub fn found(&self) -> Option<&str> {
        let search = self.search.as_ref()?;
        let query = search.query.to_lowercase();
        self.history
            .iter()
            .rev()
            .filter(|text| text.to_lowercase().contains(&query))
            .nth(search.skip)
            .map(String::as_str)
    }

    /// Rows that the draft takes at this width, at least one.
    pub fn rows(&self, width: u16) -> u16 {
        let width = usize::from(width.max(1));
        let rows: usize = self.area.lines().iter().map(|line| text::width(line) / width + 1).sum();
        u16::try_from(rows).unwrap_or(u16::MAX).max(1)
    }
}

#[cfg(test)]
mod tests;
