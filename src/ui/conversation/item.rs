//! What stands in a conversation, one after the other.

use std::time::{Duration, Instant};

use ratatui::style::{Modifier, Style};

use super::banner::Banner;
use super::card::Card;
use super::plain::Plain;
use crate::domain::turn::estimate_tokens;
use crate::domain::{TurnEnd, Usage, Warning};
use crate::text::{self, human};
use crate::ui::flow::{self, Piece, Row};
use crate::ui::origin;
use crate::ui::stream::Document;
use crate::ui::theme::Theme;

/// Rows of a user's message that are shown while it is closed.
const MESSAGE_ROWS: usize = 16;

/// What laying out needs to know.
pub(super) struct Paper<'a> {
    pub(super) width: usize,
    pub(super) theme: &'a Theme,
    pub(super) now: Instant,
}

/// One thing in the conversation.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) body: Body,
    pub(super) open: bool,
    revision: u64,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Body {
    Banner(Banner),
    User(Plain),
    Answer(Answer),
    Reasoning(Reasoning),
    Card(Box<Card>),
    Remark(Remark),
    Tail(Tail),
}

/// An answer of the model.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) document: Document,
    pub(super) streaming: bool,
    pub(super) incomplete: bool,
}

/// Reasoning before an answer or a call.
#[derive(Debug)]
pub(super) struct Reasoning {
    document: Document,
    tokens: u64,
}

/// One line of the program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    kind: RemarkKind,
    words: String,
    /// In muted style after the words.
    aside: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RemarkKind {
    Note,
    Warning,
    Retry,
    Stopped,
    Failed,
}

/// What the model is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Thinking,
    Reasoning,
    Writing,
}

/// What stands below everything: what is awaited, what is queued.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) activity: Option<(Phase, Instant)>,
    pub(super) queued: Vec<String>,
}

impl Item {
    pub(super) fn new(body: Body) -> Self {
        Self { body, open: false, revision: 0 }
    }

    /// Changes the body and makes its rows be laid out again.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Body)) {
        change(&mut self.body);
        self.revision += 1;
    }

    /// Number of parts that are laid out one by one.
    pub(super) fn parts(&self) -> usize {
        match &self.body {
            Body::Answer(answer) => answer.document.parts(),
            Body::Reasoning(reasoning) if self.open => 1 + reasoning.document.parts(),
            Body::User(message) if self.open => message.pieces().max(1),
            Body::Card(card) => card.parts(self.open),
            _ => 1,
        }
    }

    /// Changes whenever the rows of a part may have changed.
    pub(super) fn revision(&self, part: usize) -> (u64, usize) {
        let grown = match &self.body {
            Body::Answer(answer) => {
                answer.document.revision(part) * 2 + usize::from(answer.incomplete)
            }
            Body::Reasoning(reasoning) if part > 0 => reasoning.document.revision(part - 1),
            _ => 0,
        };
        (self.revision, grown)
    }

    /// Whether the rows change with the time alone.
    pub(super) fn moving(&self, part: usize) -> bool {
        match &self.body {
            Body::Tail(_) => true,
            Body::Card(card) => part == 0 && card.running(),
            _ => false,
        }
    }

    /// The rows of one part, without gutter.
    pub(super) fn rows(&self, part: usize, paper: &Paper<'_>) -> Vec<Row> {
        match &self.body {
            Body::Banner(banner) => banner.rows(self.open, paper),
            Body::User(message) => user_rows(message, self.open, part, paper),
            Body::Answer(answer) => answer.rows(part, paper),
            Body::Reasoning(reasoning) => reasoning.rows(self.open, part, paper),
            Body::Card(card) => card.rows(part, self.open, paper),
            Body::Remark(remark) => remark.rows(paper),
            Body::Tail(tail) => tail.rows(paper),
        }
    }

    /// The mark beside the first row, beside all others, and its style.
    pub(super) fn gutter(&self, theme: &Theme) -> (&'static str, &'static str, Style) {
        match &self.body {
            Body::Banner(_) => ("■", " ", theme.accent),
            Body::User(_) => ("▌", "▌", theme.user),
            Body::Answer(_) => ("●", " ", theme.text),
            Body::Reasoning(_) => ("○", " ", theme.muted),
            Body::Card(card) => {
                let (mark, style) = card.mark(theme);
                (mark, " ", style)
            }
            Body::Remark(remark) => {
                let (mark, style) = remark.look(theme);
                (mark, " ", style)
            }
            Body::Tail(_) => (" ", " ", theme.muted),
        }
    }

    /// Whether a blank row belongs between this and the one before it.
    pub(super) fn apart_from(&self, before: &Self) -> bool {
        !matches!(
            (&before.body, &self.body),
            (Body::Remark(one), Body::Remark(other)) if one.kind == other.kind
        )
    }

    pub(super) fn selectable(&self) -> bool {
        !matches!(self.body, Body::Tail(_))
            && !matches!(&self.body, Body::Remark(remark) if remark.kind == RemarkKind::Note)
    }

    pub(super) fn can_open(&self) -> bool {
        match &self.body {
            Body::Reasoning(_) | Body::Card(_) => true,
            Body::User(message) => self.open || message.head(MESSAGE_ROWS, 80, Style::new()).1 > 0,
            Body::Banner(banner) => banner.can_open(),
            _ => false,
        }
    }

    /// The raw text that copying takes.
    pub(super) fn source(&self) -> String {
        match &self.body {
            Body::Banner(banner) => banner.transcript(),
            Body::User(message) => message.raw().to_owned(),
            Body::Answer(answer) => answer.document.source().to_owned(),
            Body::Reasoning(reasoning) => reasoning.document.source().to_owned(),
            Body::Card(card) => card.source(),
            Body::Remark(remark) => remark.transcript(),
            Body::Tail(_) => String::new(),
        }
    }

    /// Everything about it as raw text.
    pub(super) fn transcript(&self) -> String {
        match &self.body {
            Body::User(message) => {
                let lines: Vec<String> =
                    message.raw().lines().map(|line| format!("> {line}")).collect();
                lines.join("\n")
            }
            Body::Answer(answer) if answer.incomplete => {
                format!("{}\n(incomplete)", answer.document.source())
            }
            Body::Reasoning(reasoning) => {
                format!("[reasoning]\n{}", reasoning.document.source())
            }
            Body::Card(card) => card.transcript(),
            _ => self.source(),
        }
    }
}

fn user_rows(message: &Plain, open: bool, part: usize, paper: &Paper<'_>) -> Vec<Row> {
    let style = paper.theme.text.add_modifier(Modifier::BOLD);
    if open {
        return message.rows(part, paper.width, style);
    }
    let (mut rows, left_out) = message.head(MESSAGE_ROWS, paper.width, style);
    if left_out > 0 {
        let lines = if left_out == 1 { "line" } else { "lines" };
        let words = format!("… {} more {lines}", flow::figure(left_out as u64));
        rows.push(flow::row(vec![Piece::new(words, paper.theme.accent)]));
    }
    rows
}

impl Answer {
    pub(super) fn begin(chunk: &str) -> Self {
        Self { document: Document::of(chunk), streaming: true, incomplete: false }
    }

    fn rows(&self, part: usize, paper: &Paper<'_>) -> Vec<Row> {
        let mut rows = self.document.rows(part, paper.width, paper.theme, paper.theme.text);
        if self.incomplete && part + 1 == self.document.parts() {
            let words = text::cut("… incomplete: the answer ends here", paper.width);
            rows.push(flow::row(vec![Piece::new(words, paper.theme.caution)]));
        }
        rows
    }
}

impl Reasoning {
    pub(super) fn begin(chunk: &str) -> Self {
        Self { document: Document::of(chunk.trim_start()), tokens: estimate_tokens(chunk) }
    }

    pub(super) fn push(&mut self, chunk: &str) {
        self.document.push(chunk);
        self.tokens += estimate_tokens(chunk);
    }

    fn rows(&self, open: bool, part: usize, paper: &Paper<'_>) -> Vec<Row> {
        if part > 0 {
            let style = paper.theme.muted.add_modifier(Modifier::ITALIC);
            return self.document.rows(part - 1, paper.width, paper.theme, style);
        }
        let theme = paper.theme;
        let size = format!("reasoning · about {} tokens", human::count(self.tokens));
        let mut pieces = vec![Piece::new(size, theme.muted)];
        if !open {
            let start: String = self.document.source().chars().take(paper.width * 2).collect();
            let line = text::line(start.lines().next().unwrap_or_default()).into_string();
            let style = theme.muted.add_modifier(Modifier::ITALIC);
            flow::push(&mut pieces, " · ", theme.muted);
            flow::push(&mut pieces, &line, style);
        }
        vec![flow::row(flow::cut(&pieces, paper.width))]
    }
}

impl Remark {
    fn new(kind: RemarkKind, words: impl Into<String>, aside: impl Into<String>) -> Self {
        Self { kind, words: words.into(), aside: aside.into() }
    }

    pub(super) fn note(words: &str) -> Self {
        Self::new(RemarkKind::Note, words, "")
    }

    pub(super) fn retry(attempt: u32, after: Duration, reason: &str) -> Self {
        let aside = format!("attempt {attempt} in {}", human::duration(after));
        Self::new(RemarkKind::Retry, format!("Trying the model again: {reason}"), aside)
    }

    pub(super) fn warning(warning: &Warning) -> Self {
        let words = format!("{}{}", origin::of(warning), warning.message);
        Self::new(RemarkKind::Warning, words, warning.advice.clone())
    }

    /// Nothing for a turn that simply ended.
    pub(super) fn turn_end(end: &TurnEnd, usage: Usage, took: Duration) -> Option<Self> {
        let (kind, words) = match end {
            TurnEnd::Done => return None,
            TurnEnd::Length => (
                RemarkKind::Stopped,
                "The answer was cut off at the model's output limit. Ask it to go on, or raise \
                 maxOutputTokens."
                    .to_owned(),
            ),
            TurnEnd::ContentFilter => {
                (RemarkKind::Failed, "The provider withheld the answer.".to_owned())
            }
            TurnEnd::Refused => (RemarkKind::Stopped, "The model refused.".to_owned()),
            TurnEnd::Empty => (
                RemarkKind::Stopped,
                "The model answered with nothing. Ask again, or try another model.".to_owned(),
            ),
            TurnEnd::Incomplete { reason } => {
                (RemarkKind::Failed, format!("The answer broke off: {reason}"))
            }
            TurnEnd::Cancelled => (RemarkKind::Stopped, "Cancelled.".to_owned()),
            TurnEnd::Stopped => (RemarkKind::Stopped, "Stopped at your wish.".to_owned()),
            TurnEnd::Failed { reason, .. } => (RemarkKind::Failed, reason.clone()),
        };
        Some(Self::new(kind, words, figures(usage, took)))
    }

    fn look(&self, theme: &Theme) -> (&'static str, Style) {
        match self.kind {
            RemarkKind::Note => ("·", theme.muted),
            RemarkKind::Warning => ("!", theme.caution),
            RemarkKind::Retry => ("↻", theme.caution),
            RemarkKind::Stopped => ("■", theme.caution),
            RemarkKind::Failed => ("✗", theme.danger),
        }
    }

    fn rows(&self, paper: &Paper<'_>) -> Vec<Row> {
        let style = self.look(paper.theme).1;
        let mut pieces = Vec::new();
        flow::push(&mut pieces, text::block(&self.words).as_str(), style);
        if !self.aside.is_empty() {
            let aside = text::block(&self.aside);
            let used = flow::width(&pieces) + 2 + text::width(aside.as_str());
            let gap = match self.kind {
                RemarkKind::Warning => "\n→ ",
                _ if used > paper.width => "\n",
                _ => "  ",
            };
            flow::push(&mut pieces, &format!("{gap}{aside}"), paper.theme.muted);
        }
        flow::wrap(&pieces, paper.width)
    }

    fn transcript(&self) -> String {
        format!("({}{}{})", self.words, if self.aside.is_empty() { "" } else { " " }, self.aside)
    }
}

fn figures(usage: Usage, took: Duration) -> String {
    let mut parts = Vec::new();
    if let Some(input) = usage.input {
        parts.push(format!("{} tokens in", human::count(input)));
    }
    if let Some(output) = usage.output {
        parts.push(format!("{} out", human::count(output)));
    }
    parts.push(human::duration(took));
    parts.join(" · ")
}

impl Tail {
    fn rows(&self, paper: &Paper<'_>) -> Vec<Row> {
        let theme = paper.theme;
        let mut rows = Vec::new();
        if let Some((phase, since)) = self.activity {
            let word = match phase {
                Phase::Thinking => "thinking…",
                Phase::Reasoning => "reasoning…",
                Phase::Writing => "writing…",
            };
            let elapsed = flow::seconds(paper.now.saturating_duration_since(since));
            let words = text::cut(&format!("{word} {elapsed}"), paper.width);
            rows.push(flow::row(vec![Piece::new(words, theme.muted)]));
        }
        for text in &self.queued {
            let start: String = text.chars().take(paper.width * 2).collect();
            let line = text::line(start.lines().next().unwrap_or_default()).into_string();
            let pieces = [Piece::new("queued  ", theme.accent), Piece::new(line, theme.muted)];
            rows.push(flow::row(flow::cut(&pieces, paper.width)));
        }
        rows
    }
}
