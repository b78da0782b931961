//! The screen as pure functions: state in, frame out; messages in, intents out.
//!
//! It knows nothing of HTTP, MCP or models: only [`crate::domain`] and [`crate::bridge`]. Time comes
//! in with every message and every frame; nothing here reads a clock.

pub mod code;
pub mod conversation;
pub mod flow;
pub mod intent;
pub mod keymap;
pub mod layout;
pub mod markdown;
pub mod msg;
mod origin;
pub mod pick;
pub mod state;
pub mod stream;
pub mod theme;
pub mod update;
pub mod view;
pub mod welcome;

use std::time::Instant;

use ratatui::Frame;

pub use intent::Intent;
pub use keymap::Keymap;
pub use msg::Msg;
pub use state::{UiOptions, UiState};
pub use theme::Theme;

use crate::domain::{Catalog, Warning};
use std::sync::Arc;

/// The whole screen: what it remembers, its keys, its colours.
#[derive(Debug)]
pub struct Ui {
    /// What it remembers.
    pub state: UiState,
    /// The keys in force.
    pub keymap: Keymap,
    theme: Theme,
    themed: crate::config::ThemeName,
}

impl Ui {
    /// A screen that shows this catalog. Keys that cannot be used come back as warnings, and are
    /// shown with the others.
    pub fn new(options: UiOptions, catalog: Arc<Catalog>) -> Self {
        let (keymap, warnings) = Keymap::new(&options.keys, options.file.as_ref());
        let themed = options.theme;
        let theme = Theme::of(themed, options.no_color);
        Self { state: UiState::new(options, catalog, warnings), keymap, theme, themed }
    }

    /// Takes in one message and says what is to be done.
    pub fn update(&mut self, msg: Msg) -> Vec<Intent> {
        let intents = update::update(&mut self.state, &self.keymap, msg);
        if self.state.options.theme != self.themed {
            self.themed = self.state.options.theme;
            self.theme = Theme::of(self.themed, self.state.options.no_color);
        }
        intents
    }

    /// Draws one frame.
    pub fn draw(&mut self, frame: &mut Frame<'_>, now: Instant) {
        view::draw(frame, &mut self.state, &self.keymap, &self.theme, now);
    }

    /// Adds a warning of the face itself.
    pub fn warn(&mut self, warning: Warning) {
        self.state.warnings.push(warning);
    }
}
