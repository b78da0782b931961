//! A list to choose from, filtered as one types: sessions to resume, messages to fork before.
//!
//! It stands over the screen, or alone before there is one. Whoever opens it carries the choice
//! out.

use std::time::Duration;

use crossterm::event::KeyCode;

use super::keymap::{Action, Key, Keymap, Place};
use crate::domain::{SessionId, SessionSummary};
use crate::text::{self, human};

/// Characters of a title that are laid out: more than any screen is wide.
const TITLE: usize = 400;
/// After so long the date says more than the number of days.
const DATED: Duration = Duration::from_secs(30 * 86_400);

/// What is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// A session to go on with.
    Session(SessionId),
    /// A message of the user, counted from 1, to leave the conversation before.
    Message(usize),
}

/// What the list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Conversations on disk.
    Sessions,
    /// The user's messages in this one.
    Messages,
}

/// One line of the list; everything in it is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What choosing it gives.
    pub chosen: Chosen,
    /// What it is.
    pub title: String,
    /// Columns beside the title, the most important first.
    pub facts: Vec<String>,
    /// What the preview says above the text.
    pub about: String,
    /// The text of the preview.
    pub text: String,
    sought: String,
}

/// What there is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// It is still looked for.
    Awaited,
    /// It cannot be had.
    Failed(String),
    /// It is there.
    Rows(Vec<Row>),
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing decided yet.
    Stay,
    /// This one.
    Chosen(Chosen),
    /// None.
    Close,
}

/// The open list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picker {
    /// What it is of.
    pub kind: Kind,
    /// What was typed.
    pub filter: String,
    /// Which of the matches is chosen.
    pub selected: usize,
    /// Rows shown at once, from the last frame.
    pub height: usize,
    content: Content,
    /// Which rows hold every typed word.
    matches: Vec<usize>,
}

impl Picker {
    /// A list that is still looked for.
    pub fn awaited() -> Self {
        Self::of(Kind::Sessions, Content::Awaited)
    }

    /// These sessions.
    pub fn sessions(found: &[SessionSummary]) -> Self {
        Self::of(Kind::Sessions, Content::Rows(found.iter().map(session).collect()))
    }

    /// These messages of the user, in the order in which they were sent; the latest is chosen.
    pub fn messages<'a>(sent: impl IntoIterator<Item = &'a str>) -> Self {
        let rows: Vec<Row> =
            sent.into_iter().enumerate().map(|(at, text)| message(at + 1, text)).collect();
        let last = rows.len().saturating_sub(1);
        Self { selected: last, ..Self::of(Kind::Messages, Content::Rows(rows)) }
    }

    fn of(kind: Kind, content: Content) -> Self {
        let filter = String::new();
        let mut picker =
            Self { kind, filter, selected: 0, height: 1, content, matches: Vec::new() };
        picker.find();
        picker
    }

    /// What was looked for is there, or cannot be had. What was typed meanwhile stays.
    pub fn arrived(&mut self, found: Result<&[SessionSummary], &str>) {
        self.content = match found {
            Ok(found) => Content::Rows(found.iter().map(session).collect()),
            Err(reason) => Content::Failed(text::line(reason).into_string()),
        };
        self.find();
    }

    /// Takes in a key.
    pub fn key(&mut self, keymap: &Keymap, key: Key, repeat: bool) -> Step {
        let page = isize::try_from(self.height.max(2) - 1).unwrap_or(1);
        match (keymap.at(Place::List, key), key.code) {
            (Some(Action::ListUp), _) => self.go(-1),
            (Some(Action::ListDown), _) => self.go(1),
            (Some(Action::ListClose), _) => return Step::Close,
            (Some(Action::ListRun), _) if !repeat => {
                let chosen = self.chosen().map(|row| Step::Chosen(row.chosen.clone()));
                return chosen.unwrap_or(Step::Stay);
            }
            (_, KeyCode::PageUp) => self.go(-page),
            (_, KeyCode::PageDown) => self.go(page),
            (_, KeyCode::Home) => self.selected = 0,
            (_, KeyCode::End) => self.go(isize::MAX),
            (_, KeyCode::Backspace) => {
                self.filter.pop();
                self.find();
            }
            _ => {
                if let Some(c) = key.typed() {
                    self.filter.push(c);
                    self.find();
                }
            }
        }
        Step::Stay
    }

    /// Takes in pasted text as a filter.
    pub fn paste(&mut self, raw: &str) {
        self.filter.push_str(text::line(raw).as_str());
        self.find();
    }

    /// Moves the choice, staying inside.
    pub fn go(&mut self, by: isize) {
        let last = self.matches.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// The chosen row.
    pub fn chosen(&self) -> Option<&Row> {
        self.matches.get(self.selected).and_then(|at| self.rows().get(*at))
    }

    /// The rows that hold every typed word, from the first one shown.
    pub fn shown(&self, first: usize, count: usize) -> impl Iterator<Item = (usize, &Row)> {
        let matches = self.matches.iter().enumerate().skip(first).take(count);
        matches.filter_map(|(at, row)| Some((at, self.rows().get(*row)?)))
    }

    /// How many rows hold every typed word, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.matches.len(), self.rows().len())
    }

    /// What is said where no row is shown.
    pub fn nothing(&self) -> Option<&str> {
        match (&self.content, self.kind) {
            (Content::Awaited, _) => Some("Looking for conversations…"),
            (Content::Failed(reason), _) => Some(reason),
            (Content::Rows(rows), Kind::Sessions) if rows.is_empty() => Some(
                "No other conversations yet. Every message you send is kept; /new begins another conversation, and this one is found here then.",
            ),
            (Content::Rows(rows), Kind::Messages) if rows.is_empty() => {
                Some("Nothing was sent in this conversation yet.")
            }
            (Content::Rows(_), _) if self.matches.is_empty() => {
                Some("Nothing here has all of these words. Backspace widens the search.")
            }
            (Content::Rows(_), _) => None,
        }
    }

    fn rows(&self) -> &[Row] {
        match &self.content {
            Content::Rows(rows) => rows,
            Content::Awaited | Content::Failed(_) => &[],
        }
    }

    fn find(&mut self) {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let fits = |row: &Row| words.iter().all(|word| row.sought.contains(word));
        let fitting = self.rows().iter().enumerate().filter(|(_, row)| fits(row));
        self.matches = fitting.map(|(at, _)| at).collect();
        if !self.filter.is_empty() {
            self.selected = 0;
        }
        self.go(0);
    }
}

fn session(summary: &SessionSummary) -> Row {
    let clean = |raw: &str| text::line(raw).into_string();
    let (model, servers) =
        (clean(summary.model.as_deref().unwrap_or_default()), clean(&summary.servers.join(", ")));
    let title = match title(&summary.title) {
        title if title.is_empty() => "(no message)".to_owned(),
        title => title,
    };
    let from = summary.parent.as_ref().map(|parent| match parent.before {
        Some(before) => format!("fork of {} before message {before}", parent.id),
        None => format!("copy of {}", parent.id),
    });
    let begun = summary.created.get(..16).unwrap_or(&summary.created).replace('T', " ");
    let about = [
        summary.id.to_string(),
        format!("begun {} UTC", text::strict_line(&begun)),
        human::bytes(summary.bytes),
    ];
    let about: Vec<String> = about.into_iter().chain(from).collect();
    let sought = format!("{title} {} {model} {servers}", summary.id).to_lowercase();
    Row {
        chosen: Chosen::Session(summary.id.clone()),
        facts: vec![age(summary), messages(summary.turns), model, servers],
        about: about.join(" · "),
        text: text::block(&summary.title).into_string(),
        title,
        sought,
    }
}

fn message(number: usize, raw: &str) -> Row {
    let title = title(raw);
    Row {
        chosen: Chosen::Message(number),
        facts: vec![format!("message {number}")],
        about: format!("The copy ends before message {number}; it comes back as your draft."),
        text: text::block(raw).into_string(),
        sought: text::line(raw).as_str().to_lowercase(),
        title,
    }
}

/// The beginning of a text on one line.
fn title(raw: &str) -> String {
    let start: String = raw.trim().chars().take(TITLE).collect();
    text::line(&start).into_string()
}

fn messages(turns: usize) -> String {
    if turns == 1 { "1 message".to_owned() } else { format!("{turns} messages") }
}

/// How long ago it was written to, in one unit; the date where that was long ago.
fn age(summary: &SessionSummary) -> String {
    let seconds = summary.age.as_secs();
    match seconds {
        _ if summary.age >= DATED => {
            text::strict_line(summary.changed.get(..10).unwrap_or_default()).into_string()
        }
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests;
