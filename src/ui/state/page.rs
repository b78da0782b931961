//! Pages to read (help, details, warnings) and the form for calling a tool.

use ratatui::text::Line;
use tui_textarea::TextArea;

use crate::domain::{ServerName, ToolId};
use crate::ui::keymap::Place;
use crate::ui::state::form::Form;

/// What a page is about. Its rows are made when it is drawn, from the catalog of that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Keys and commands; those of this place first.
    Help(Place),
    /// What the next request is made of.
    Context,
    /// Messages that wait for the turn to end.
    Queue,
    /// A server.
    Server(ServerName),
    /// A tool.
    Tool(ToolId),
    /// All warnings.
    Warnings,
    /// The permissions in force.
    Permissions,
}

/// An open page.
#[derive(Debug)]
pub struct Page {
    /// What it is about.
    pub subject: Subject,
    /// First row shown.
    pub scroll: usize,
    /// Rows shown at once, from the last frame.
    pub height: usize,
    /// Rows laid out, with the catalog's revision and the width they are for.
    pub laid: Option<(u64, u16, Vec<Line<'static>>)>,
    /// Fingerprint of the changed definition that the rows show, if they show one, and how many rows
    /// at the top tell what changed.
    pub changed: Option<(String, usize)>,
    /// Rows of these contents that have been on the screen, from the top.
    pub seen: usize,
}

impl Page {
    /// The page about this, at its top.
    pub fn new(subject: Subject) -> Self {
        Self { subject, scroll: 0, height: 1, laid: None, changed: None, seen: 0 }
    }

    /// Rows of the page as laid out last.
    pub fn len(&self) -> usize {
        self.laid.as_ref().map_or(0, |(_, _, rows)| rows.len())
    }

    /// Whether nothing is laid out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Scrolls by rows, staying inside.
    pub fn go(&mut self, by: isize) {
        let last = self.len().saturating_sub(self.height);
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
    }
}

/// The arguments of a tool that the user is about to call.
#[derive(Debug)]
pub struct CallForm {
    /// Which tool.
    pub tool: ToolId,
    /// The arguments so far.
    pub body: Body,
}

/// How arguments are entered.
#[derive(Debug)]
pub enum Body {
    /// Field by field.
    Fields(Form),
    /// As JSON.
    Json {
        /// What is written.
        area: Box<TextArea<'static>>,
        /// What is wrong with it.
        fault: Option<String>,
    },
}
