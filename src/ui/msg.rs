//! What can happen to the screen.

use std::time::Instant;

use crossterm::event::Event;

use crate::bridge::Notice;

/// One thing that happened, with the time it happened at.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key, a paste, the mouse, the focus of the terminal.
    Input {
        /// What the terminal reported.
        event: Event,
        /// When.
        at: Instant,
    },
    /// The next key did not come alone: another was there already, as when text is pasted without
    /// marks around it.
    Hurried {
        /// When.
        at: Instant,
    },
    /// Something came from the terminal that may be a key, and may not have been read yet. Told
    /// before a [`Msg::Tick`].
    Touched {
        /// When.
        at: Instant,
    },
    /// The runtime says something.
    Notice {
        /// What.
        notice: Notice,
        /// When.
        at: Instant,
    },
    /// Text came back from the external editor; `None` where it was given up.
    Edited {
        /// The text.
        text: Option<String>,
        /// When.
        at: Instant,
    },
    /// Something the face did, or could not do: one line for the user.
    Said {
        /// The line; may quote outside text.
        text: String,
        /// When.
        at: Instant,
    },
    /// Time passed, and no key waits to be read: see [`crate::ui::UiState::next_wake`].
    Tick {
        /// The time now.
        now: Instant,
    },
}
