//! The card of a call: one line and the beginning of its result, or everything.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::style::{Modifier, Style};
use serde_json::{Map, Value};

use super::item::Paper;
use super::plain::{Plain, wrapped};
use super::result;
use crate::domain::{Call, CallState, Outcome, Progress};
use crate::text::{self, human};
use crate::ui::code::{JsonLimits, indented, json_line, json_rows};
use crate::ui::flow::{self, Piece, Row};
use crate::ui::theme::Theme;

/// Results longer than this stay as they are.
const INDENTED: usize = 1024 * 1024;
/// Rows of the result on a closed card.
const PREVIEW: usize = 6;

/// One call on the screen.
#[derive(Debug)]
pub(super) struct Card {
    /// `server/tool` in original names, or what the model called it where that is nothing.
    name: String,
    arguments: Arguments,
    by_user: bool,
    state: State,
    since: Instant,
}

#[derive(Debug)]
enum Arguments {
    Json(Arc<Map<String, Value>>),
    /// What the model wrote where that is no JSON object.
    Raw(String),
}

#[derive(Debug)]
enum State {
    Asking,
    Running(Option<Progress>),
    Done(Box<Settled>),
}

#[derive(Debug)]
struct Settled {
    outcome: Arc<Outcome>,
    took: Duration,
    result: Plain,
    /// The result over lines, where it is JSON in a single one.
    indented: Option<Plain>,
    model_saw: Saw,
}

/// What the model was told.
#[derive(Debug)]
enum Saw {
    /// The result.
    Same,
    /// The result, behind a line of the program.
    Framed(String),
    /// Something else: a part of it, or a sentence.
    Other(Plain),
}

impl Saw {
    fn of(result: &str, for_model: &str) -> Self {
        let (result, told) = (result.trim(), for_model.trim());
        if told == result {
            return Self::Same;
        }
        // The last line may be the end of the frame.
        let body = match told.rsplit_once('\n') {
            Some((body, "")) => body,
            Some((body, end)) if end.starts_with("[End ") => body,
            _ => told,
        };
        match body.trim_end().strip_suffix(result) {
            Some(frame) if !result.is_empty() && frame.ends_with('\n') => {
                Self::Framed(frame.trim_end().to_owned())
            }
            _ => Self::Other(Plain::new(for_model)),
        }
    }

    /// How much of a result the model saw, where that is not all: `396 of 1800 characters`.
    fn figures(&self) -> Option<&str> {
        let Self::Other(told) = self else { return None };
        let closing = told.raw().trim_end().lines().last()?.strip_prefix("[Shown: ")?;
        closing.split_once(',').map(|(figures, _)| figures)
    }

    /// Parts of an open card.
    fn parts(&self) -> usize {
        match self {
            Self::Same => 0,
            Self::Framed(_) => 1,
            Self::Other(told) => told.pieces().max(1),
        }
    }

    fn rows(&self, part: usize, paper: &Paper<'_>) -> Vec<Row> {
        let theme = paper.theme;
        match self {
            Self::Same => Vec::new(),
            Self::Framed(frame) => {
                let mut rows = vec![title("the model saw the same, after this", paper)];
                rows.extend(wrapped(frame, paper.width, theme.muted));
                rows
            }
            Self::Other(told) => {
                let mut rows = Vec::new();
                if part == 0 {
                    rows.push(title(&format!("the model saw · {}", size(told.raw())), paper));
                }
                rows.extend(told.rows(part, paper.width, theme.text));
                rows
            }
        }
    }
}

impl Settled {
    fn new(outcome: &Arc<Outcome>, took: Duration, for_model: &str) -> Self {
        let result = result::text_of(outcome);
        Self {
            outcome: Arc::clone(outcome),
            took,
            model_saw: Saw::of(&result, for_model),
            indented: Some(&*result)
                .filter(|result| result.len() < INDENTED)
                .and_then(indented)
                .map(|result| Plain::new(&result)),
            result: Plain::new(&result),
        }
    }
}

impl Settled {
    /// The result as an open card shows it.
    fn shown(&self) -> &Plain {
        self.indented.as_ref().unwrap_or(&self.result)
    }
}

impl Card {
    pub(super) fn new(call: &Call, state: &CallState, now: Instant) -> Self {
        let mut card = Self {
            name: call.tool.to_string(),
            arguments: Arguments::Json(Arc::clone(&call.arguments)),
            by_user: call.turn.is_none(),
            state: State::Asking,
            since: now,
        };
        card.become_state(state, now);
        card
    }

    pub(super) fn refused(
        name: &str,
        arguments: &str,
        outcome: &Arc<Outcome>,
        for_model: &str,
        now: Instant,
    ) -> Self {
        let arguments = match serde_json::from_str(arguments) {
            Ok(map) => Arguments::Json(Arc::new(map)),
            Err(_) => Arguments::Raw(arguments.to_owned()),
        };
        let settled = Settled::new(outcome, Duration::ZERO, for_model);
        let state = State::Done(Box::new(settled));
        Self { name: name.to_owned(), arguments, by_user: false, state, since: now }
    }

    /// What is sent may have been edited since it was shown.
    pub(super) fn update(&mut self, call: &Call, state: &CallState, now: Instant) {
        self.arguments = Arguments::Json(Arc::clone(&call.arguments));
        self.become_state(state, now);
    }

    fn become_state(&mut self, state: &CallState, now: Instant) {
        match state {
            CallState::Asking => self.state = State::Asking,
            CallState::Running { progress } => {
                if !self.running() {
                    self.since = now;
                }
                self.state = State::Running(progress.clone());
            }
            CallState::Done { outcome, took, for_model } => {
                self.state = State::Done(Box::new(Settled::new(outcome, *took, for_model)));
            }
        }
    }

    pub(super) fn running(&self) -> bool {
        matches!(self.state, State::Running(_))
    }

    /// The mark in the gutter and its style.
    pub(super) fn mark(&self, theme: &Theme) -> (&'static str, Style) {
        match &self.state {
            State::Asking => ("◇", theme.caution),
            State::Running(_) => ("◆", theme.accent),
            State::Done(settled) => ("◆", outcome_look(&settled.outcome, theme).1),
        }
    }

    /// The first part is the head; an open card has the pieces of its result after it.
    pub(super) fn parts(&self, open: bool) -> usize {
        match (&self.state, open) {
            (State::Done(settled), true) => {
                1 + settled.shown().pieces() + settled.model_saw.parts()
            }
            _ => 1,
        }
    }

    pub(super) fn rows(&self, part: usize, open: bool, paper: &Paper<'_>) -> Vec<Row> {
        if part == 0 { self.head_rows(open, paper) } else { self.result_rows(part - 1, paper) }
    }

    fn head_rows(&self, open: bool, paper: &Paper<'_>) -> Vec<Row> {
        let mut rows = vec![self.head(open, paper)];
        if open {
            rows.extend(self.argument_rows(paper));
        }
        match &self.state {
            State::Asking => {}
            State::Running(progress) => {
                rows.extend(progress.as_ref().map(|progress| progress_row(progress, paper)));
            }
            State::Done(settled) if open => {
                rows.extend(remark_rows(&settled.outcome, paper));
                rows.push(title(&result_title(settled), paper));
            }
            State::Done(settled) => rows.extend(preview(settled, paper)),
        }
        rows
    }

    fn head(&self, open: bool, paper: &Paper<'_>) -> Row {
        let theme = paper.theme;
        let right = self.state_pieces(paper);
        let room = paper.width.saturating_sub(flow::width(&right) + 2);
        let mut left = Vec::new();
        let name = text::strict_line(&self.name).into_string();
        let (server, tool) = name.split_once('/').unwrap_or(("", &name));
        if !server.is_empty() {
            flow::push(&mut left, server, theme.server);
            flow::push(&mut left, "/", theme.muted);
        }
        flow::push(&mut left, tool, theme.accent.add_modifier(Modifier::BOLD));
        if self.by_user {
            flow::push(&mut left, " called by you", theme.muted);
        }
        let rest = room.saturating_sub(flow::width(&left) + 2);
        if !open && rest >= 8 {
            flow::push(&mut left, "  ", theme.text);
            match &self.arguments {
                Arguments::Json(map) => left.extend(json_line(map, rest, theme)),
                Arguments::Raw(raw) => {
                    let start: String = raw.chars().take(rest * 2).collect();
                    let clean = text::strict_line(&start).into_string();
                    flow::push(&mut left, &text::cut(&clean, rest), theme.muted);
                }
            }
        }
        flow::row(flow::left_right(&left, &right, paper.width))
    }

    fn state_pieces(&self, paper: &Paper<'_>) -> Vec<Piece> {
        let theme = paper.theme;
        match &self.state {
            State::Asking => vec![Piece::new("waiting for your decision", theme.caution)],
            State::Running(_) => {
                let elapsed = paper.now.saturating_duration_since(self.since);
                vec![Piece::new(format!("running {}", flow::seconds(elapsed)), theme.accent)]
            }
            State::Done(settled) => {
                let (icon, style) = outcome_look(&settled.outcome, theme);
                let word = Piece::new(format!("{icon} {}", settled.outcome.word()), style);
                if settled.took.is_zero() {
                    return vec![word];
                }
                vec![word, Piece::new(format!(" · {}", human::duration(settled.took)), theme.muted)]
            }
        }
    }

    fn argument_rows(&self, paper: &Paper<'_>) -> Vec<Row> {
        let mut rows = vec![title("arguments", paper)];
        match &self.arguments {
            Arguments::Json(map) if map.is_empty() => {
                rows.push(flow::row(vec![Piece::new("none", paper.theme.muted)]));
            }
            Arguments::Json(map) => rows.extend(json_rows(
                &Value::Object((**map).clone()),
                paper.width,
                paper.theme,
                JsonLimits::CARD,
            )),
            Arguments::Raw(raw) => {
                let start: String = raw.chars().take(JsonLimits::CARD.string).collect();
                let clean = text::strict_block(&start).into_string();
                rows.extend(flow::wrap(&[Piece::new(clean, paper.theme.text)], paper.width));
            }
        }
        rows
    }

    fn result_rows(&self, piece: usize, paper: &Paper<'_>) -> Vec<Row> {
        let State::Done(settled) = &self.state else { return Vec::new() };
        if piece < settled.shown().pieces() {
            return match &*settled.outcome {
                Outcome::Ok(_) => settled.shown().coloured(piece, paper.width, paper.theme),
                other => settled.shown().rows(piece, paper.width, result_style(other, paper.theme)),
            };
        }
        settled.model_saw.rows(piece - settled.shown().pieces(), paper)
    }

    /// What copying takes: the result, or the arguments while there is none.
    pub(super) fn source(&self) -> String {
        match &self.state {
            State::Done(settled) => settled.result.raw().to_owned(),
            _ => self.arguments_text(),
        }
    }

    pub(super) fn transcript(&self) -> String {
        let arguments = self.arguments_text();
        let head = format!("[{}] {arguments}", self.name);
        match &self.state {
            State::Asking => format!("{head}\nwaiting for a decision"),
            State::Running(_) => format!("{head}\nrunning"),
            State::Done(settled) => {
                let mut out = format!(
                    "{head}\n{} after {}\n{}",
                    settled.outcome.word(),
                    human::duration(settled.took),
                    settled.result.raw()
                );
                if let Saw::Other(told) = &settled.model_saw {
                    out.push_str("\n[the model saw]\n");
                    out.push_str(told.raw());
                }
                out
            }
        }
    }

    fn arguments_text(&self) -> String {
        match &self.arguments {
            Arguments::Json(map) => serde_json::to_string(&**map).unwrap_or_default(),
            Arguments::Raw(raw) => raw.clone(),
        }
    }
}

fn outcome_look(outcome: &Outcome, theme: &Theme) -> (&'static str, Style) {
    match outcome {
        Outcome::Ok(_) => ("✓", theme.good),
        Outcome::ToolError(_) | Outcome::InvalidArguments { .. } | Outcome::NotSent { .. } => {
            ("✗", theme.danger)
        }
        Outcome::Denied(_) => ("⊘", theme.danger),
        Outcome::Unknown { .. } => ("?", theme.caution),
        Outcome::Cancelled { .. } => ("–", theme.caution),
    }
}

fn result_style(outcome: &Outcome, theme: &Theme) -> Style {
    match outcome {
        Outcome::Ok(_) => theme.text,
        _ => outcome_look(outcome, theme).1,
    }
}

fn title(words: &str, paper: &Paper<'_>) -> Row {
    let line = text::cut(&format!("─ {words} "), paper.width);
    let rest = paper.width.saturating_sub(text::width(&line)).min(24);
    flow::row(vec![Piece::new(line + &"─".repeat(rest), paper.theme.muted)])
}

fn result_title(settled: &Settled) -> String {
    if settled.result.raw().is_empty() {
        return "result · empty".to_owned();
    }
    let how = if settled.indented.is_some() { " · indented for reading" } else { "" };
    format!("result · {}{how}", size(settled.result.raw()))
}

fn size(text: &str) -> String {
    let lines = text.lines().count();
    let word = if lines == 1 { "line" } else { "lines" };
    format!("{} {word}, {}", flow::figure(lines as u64), human::bytes(text.len() as u64))
}

fn remark_rows(outcome: &Outcome, paper: &Paper<'_>) -> Vec<Row> {
    result::remarks(outcome)
        .iter()
        .flat_map(|remark| wrapped(&format!("! {remark}"), paper.width, paper.theme.caution))
        .collect()
}

fn preview(settled: &Settled, paper: &Paper<'_>) -> Vec<Row> {
    let mut rows = remark_rows(&settled.outcome, paper);
    let theme = paper.theme;
    if settled.result.raw().is_empty() {
        rows.push(flow::row(vec![Piece::new("the result is empty", theme.muted)]));
        return rows;
    }
    let style = match &*settled.outcome {
        Outcome::Ok(_) => theme.muted,
        other => result_style(other, theme),
    };
    let (head, left_out) = settled.result.head(PREVIEW, paper.width, style);
    rows.extend(head);
    if left_out > 0 {
        let lines = if left_out == 1 { "line" } else { "lines" };
        let words = format!(
            "… {} more {lines} · {} in all",
            flow::figure(left_out as u64),
            human::bytes(settled.result.raw().len() as u64)
        );
        rows.push(flow::row(vec![Piece::new(text::cut(&words, paper.width), theme.accent)]));
    }
    if let Some(figures) = settled.model_saw.figures() {
        let words = format!("the model saw {figures}");
        rows.push(flow::row(vec![Piece::new(text::cut(&words, paper.width), theme.caution)]));
    }
    rows
}

/// `━━━━━╌╌╌╌╌  40 / 100 · fetching`
fn progress_row(progress: &Progress, paper: &Paper<'_>) -> Row {
    let theme = paper.theme;
    let mut pieces = Vec::new();
    let mut words = amount(progress.done);
    if let Some(total) = progress.total.filter(|total| *total > 0.0) {
        let cells = (paper.width / 3).clamp(1, 20);
        let full = filled(progress.done / total, cells);
        flow::push(&mut pieces, &"━".repeat(full), theme.accent);
        flow::push(&mut pieces, &"╌".repeat(cells - full), theme.muted);
        flow::push(&mut pieces, "  ", theme.text);
        words = format!("{words} / {}", amount(total));
    }
    flow::push(&mut pieces, &words, theme.text);
    if !progress.note.is_empty() {
        let note = text::line(&progress.note).into_string();
        flow::push(&mut pieces, &format!(" · {note}"), theme.muted);
    }
    flow::row(flow::cut(&pieces, paper.width))
}

fn filled(share: f64, cells: usize) -> usize {
    let all = u32::try_from(cells).unwrap_or(u32::MAX);
    (1..=all).take_while(|cell| share * f64::from(all) + 1e-9 >= f64::from(*cell)).count()
}

/// Whole numbers without a point. Progress may be any number a server can write.
fn amount(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number:.0}")
    } else if number.abs() < 1e15 {
        format!("{number:.1}")
    } else {
        format!("{number:e}")
    }
}
