//! The conversation pane: what it remembers, how keys move it, how it is drawn.
//!
//! Split: [`Conversation`] is the state; rows are laid out and cached per (item revision, width), so
//! that a frame costs the visible rows only, however long the history.

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::theme::Theme;
use crate::bridge::Notice;
use crate::domain::Catalog;

/// What a key can do to the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Rows up (negative) or down.
    Rows(i32),
    /// Pages up (negative) or down.
    Pages(i32),
    /// To the first row.
    Top,
    /// To the last row, and follow from there.
    Bottom,
    /// Selects the previous item that can be opened or copied.
    Previous,
    /// Selects the next one.
    Next,
    /// Opens or closes the selected card or reasoning (the latest one where none is selected).
    Toggle,
    /// Clears the selection.
    Unselect,
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct Conversation {}

impl Conversation {
    /// Takes in what the runtime says. Returns whether anything visible changed.
    pub fn apply(&mut self, notice: &Notice, now: Instant) -> bool {
        let _ = (notice, now);
        false
    }

    /// Shows or refreshes the banner: servers, tools, permissions, warnings.
    pub fn banner(&mut self, catalog: &Catalog) {
        let _ = catalog;
    }

    /// Adds a line of the program itself, such as "copied" or "new conversation".
    pub fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Moves or opens something.
    pub fn go(&mut self, to: Move) {
        let _ = to;
    }

    /// Selects and toggles what stands at this row of the pane, for the mouse.
    pub fn click(&mut self, row: u16) {
        let _ = row;
    }

    /// The source text of the selected item (message, card's result), or of the last answer.
    pub fn copy_text(&self) -> Option<String> {
        None
    }

    /// The whole conversation as plain text.
    pub fn transcript(&self) -> String {
        String::new()
    }

    /// Whether something moves by itself (elapsed time of a running call), so that frames are
    /// needed without a message.
    pub fn animating(&self) -> bool {
        false
    }

    /// Lays out what is missing for this size and draws it. `now` is for elapsed times.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, theme: &Theme, now: Instant) {
        let _ = (area, buffer, theme, now);
    }
}
