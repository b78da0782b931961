//! What the screen asks of whoever runs it.

use crate::bridge::Op;

/// One thing to be done outside the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// Hand this to the runtime.
    Send(Op),
    /// Put this on the clipboard. Cleaned.
    Copy {
        /// The text.
        text: String,
    },
    /// Show this page in a browser, outside of this program; where that is not possible, put its
    /// address on the clipboard. Only ever after an explicit key.
    OpenUrl {
        /// The address, http or https.
        url: String,
    },
    /// Let the user write in an external editor, beginning with this.
    Edit {
        /// The text to begin with.
        text: String,
        /// What the name of the file ends in: `md`, `json`.
        ending: &'static str,
    },
    /// Back to the shell until resumed.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Capture the mouse, or leave it to the terminal.
    Mouse {
        /// Whether to capture it.
        on: bool,
    },
    /// Make a decision that waits known outside the terminal.
    Notify {
        /// What waits. Cleaned.
        text: String,
    },
    /// Leave the program.
    Exit,
}
