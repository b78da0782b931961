//! A server's question: who asks stands above everything and never scrolls away; below it what it
//! wants, as a form or as a page to open; at the foot how it can be answered.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Look, facts, fields, hints, strict, wrapped};
use crate::domain::{Elicitation, ElicitationKind};
use crate::text;
use crate::ui::flow::{self, Piece};
use crate::ui::keymap::Action;
use crate::ui::state::UiState;
use crate::ui::state::approval::Mode;
use crate::ui::state::form::{Form, asks_for_secret};
use crate::ui::update::is_page;

/// Columns of the names of facts.
const NAMES: usize = 7;
/// Rows at the foot.
const FOOT: u16 = 2;
/// Rows of a message that a form shows before its fields: a flood must not hide them.
const MESSAGE: usize = 12;

/// Rows that the box would like to have, without its frame.
pub(super) fn rows(state: &mut UiState, asked: &Elicitation, columns: u16, look: Look<'_>) -> u16 {
    let columns = usize::from(columns.max(1));
    let above = who(state, asked, columns, look).len();
    let below = body(state, asked, columns, true, look).0.len();
    u16::try_from(above + below).unwrap_or(u16::MAX).saturating_add(FOOT)
}

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &mut UiState,
    asked: &Elicitation,
    armed: bool,
    look: Look<'_>,
) {
    let columns = usize::from(area.width);
    let above = who(state, asked, columns, look);
    let foot = FOOT.min(area.height.saturating_sub(2));
    let most = area.height.saturating_sub(foot + 1);
    let head = u16::try_from(above.len()).unwrap_or(u16::MAX).min(most);
    frame.render_widget(Paragraph::new(above), Rect { height: head, ..area });
    let text = Rect { y: area.y + head, height: area.height - foot - head, ..area };
    let (rows, focused) = body(state, asked, columns, armed, look);
    let page = usize::from(text.height);
    let first = scroll(state, rows.len(), page, focused);
    let shown: Vec<Line<'_>> = rows.into_iter().skip(first).take(page).collect();
    frame.render_widget(Paragraph::new(shown), text);
    let below = Rect { y: text.bottom(), height: foot, ..area };
    frame.render_widget(Paragraph::new(answers(state, asked, columns, armed, look)), below);
}

/// The first row shown: where the user scrolled to, or so that the field with the keys is seen.
fn scroll(state: &mut UiState, rows: usize, page: usize, focused: std::ops::Range<usize>) -> usize {
    let last = rows.saturating_sub(page);
    let Mode::Fill(form) = &mut state.decisions.mode else {
        state.decisions.laid.count = rows;
        state.decisions.page = page;
        state.decisions.scroll = state.decisions.scroll.min(last);
        return state.decisions.scroll;
    };
    super::form::follow(form, rows, page, focused);
    state.decisions.laid.count = rows;
    state.decisions.page = page;
    state.decisions.scroll = form.scroll;
    form.scroll
}

/// Who asks, and in the course of what (I6).
fn who(state: &UiState, asked: &Elicitation, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let strict = |raw: &str| text::strict_line(raw).into_string();
    let server = Span::styled(strict(asked.server.as_str()), theme.server);
    let host = Span::styled(strict(&asked.host), theme.accent);
    let mut rows = facts("server", vec![server, host], (NAMES, columns), look);
    if let Some(call) = asked.call {
        let tool = state.running.get(&call);
        let name = tool.map_or_else(|| format!("#{call}"), ToString::to_string);
        let name = Span::styled(text::cut(&strict(&name), 120), theme.text);
        rows.extend(facts("call", vec![name], (NAMES, columns), look));
    }
    rows
}

fn body(
    state: &UiState,
    asked: &Elicitation,
    columns: usize,
    live: bool,
    look: Look<'_>,
) -> (Vec<Line<'static>>, std::ops::Range<usize>) {
    let theme = look.theme;
    let mut rows = strict::rows(asked.message.trim(), columns, theme.text, theme);
    if let Some(warning) = text::is_suspicious(&asked.message)
        .or_else(|| text::is_suspicious(asked.server.as_str()))
        .or_else(|| text::is_suspicious(&asked.host))
    {
        rows.extend(warn(&warning, columns, look));
    }
    match (&asked.kind, &state.decisions.mode) {
        (ElicitationKind::Url { url, host }, _) => {
            rows.extend(page(asked, url, host, columns, look));
            (rows, 0..0)
        }
        (ElicitationKind::Form { fault: None, .. }, Mode::Fill(form)) => {
            bound(&mut rows, look);
            rows.extend(secrets(form, asked, columns, look));
            let from = rows.len();
            let (fields, focused) = fields::rows(form, columns, live, look);
            rows.extend(fields);
            (rows, focused.start + from..focused.end + from)
        }
        (ElicitationKind::Form { schema, fault, .. }, _) => {
            let fault = fault.as_deref().unwrap_or("it has no fields");
            let words = format!("this cannot be shown as a form: {}", text::strict_line(fault));
            rows.extend(warn(&words, columns, look));
            rows.push(Line::styled("What it asks for, as it came:", theme.muted));
            let raw = serde_json::to_string_pretty(&**schema).unwrap_or_default();
            rows.extend(strict::rows(&raw, columns, theme.text, theme));
            (rows, 0..0)
        }
    }
}

fn bound(rows: &mut Vec<Line<'static>>, look: Look<'_>) {
    if rows.len() > MESSAGE {
        let left = rows.len() - MESSAGE;
        rows.truncate(MESSAGE);
        rows.push(Line::styled(format!("… {left} more rows of its message"), look.theme.caution));
    }
}

fn warn(words: &str, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    wrapped(&format!("⚠ {words}"), columns, look.theme.danger)
}

/// A server must not ask for secrets in a form (I6).
fn secrets(form: &Form, asked: &Elicitation, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if let Some(what) = asks_for_secret(form, &asked.message) {
        let what = text::cut(text::strict_line(&what).as_str(), 60);
        let words = format!(
            "it seems to ask for a secret ({what}). No server may do that in a form: decline."
        );
        rows.extend(warn(&words, columns, look));
    }
    let texts =
        form.fields.iter().flat_map(|field| [&field.label, &field.name, &field.description]);
    if let Some(warning) = texts.into_iter().find_map(|raw| text::is_suspicious(raw)) {
        rows.extend(warn(&warning, columns, look));
    }
    rows
}

/// The page: its host by itself, then the whole address (I7).
fn page(
    asked: &Elicitation,
    url: &str,
    host: &str,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let mut rows = vec![Line::styled("It wants you to open a page:", theme.muted)];
    let shown = Span::styled(text::strict_line(host).into_string(), theme.selected);
    rows.extend(facts("host", vec![shown], (NAMES, columns), look));
    let room = columns.saturating_sub(NAMES).max(1);
    let pieces = strict::pieces(url, theme.text, theme);
    for (at, row) in flow::fold(&pieces, room, &Piece::default()).into_iter().enumerate() {
        let name = if at == 0 { "address" } else { "" };
        let mut all = vec![Piece::new(format!("{name:<NAMES$} "), theme.muted)];
        all.extend(row);
        rows.push(flow::row(all));
    }
    for warning in doubts(asked, url, host) {
        rows.extend(warn(&warning, columns, look));
    }
    rows
}

/// What should give pause before a page is opened.
fn doubts(asked: &Elicitation, url: &str, host: &str) -> Vec<String> {
    let mut doubts = Vec::new();
    if !is_page(url) {
        doubts.push("this is no address of a page: it is not opened".to_owned());
    }
    let parsed = url::Url::parse(url).ok();
    if host.split('.').any(|label| label.starts_with("xn--")) {
        doubts.push(
            "the host has letters of other scripts, written as xn--…: it may imitate another one"
                .to_owned(),
        );
    }
    if parsed.as_ref().is_some_and(|parsed| parsed.scheme() == "http") {
        doubts.push("the page is not encrypted (http)".to_owned());
    }
    if parsed
        .as_ref()
        .is_some_and(|parsed| !parsed.username().is_empty() || parsed.password().is_some())
    {
        doubts.push(format!(
            "what stands before the @ is not the host: the page is at {}",
            text::strict_line(host)
        ));
    }
    let own = asked.host.rsplit_once(':').map_or(asked.host.as_str(), |(own, _)| own);
    if !host.eq_ignore_ascii_case(own) {
        doubts.push("the page is not on the server's own host".to_owned());
    }
    doubts.extend(text::is_suspicious(url));
    doubts
}

fn answers(
    state: &UiState,
    asked: &Elicitation,
    columns: usize,
    armed: bool,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let key = |action| look.keymap.hint(action);
    let form = match &state.decisions.mode {
        Mode::Fill(form) => Some(form),
        _ => None,
    };
    let in_fields = form.is_some_and(|form| !form.at_answers());
    let fault = form.and_then(|form| form.fault.as_ref());
    let first = if let Some(fault) = fault {
        Line::styled(text::cut(text::line(fault).as_str(), columns), theme.danger)
    } else if in_fields {
        let keys = [
            (key(Action::FormSend), "send"),
            (key(Action::FieldNext), "next"),
            ("Space".to_owned(), "choose"),
            (key(Action::FieldNewline), "new line"),
        ];
        if armed { hints(&keys, columns, theme) } else { Line::default() }
    } else if form.is_some() {
        hints(&[(key(Action::FieldPrevious), "back to the fields")], columns, theme)
    } else {
        Line::default()
    };
    let mut offered = vec![
        (Action::FormDecline, "decline"),
        (Action::FormCancel, "cancel"),
        (Action::FormLater, "later"),
    ];
    match &asked.kind {
        ElicitationKind::Form { fault: None, .. } => {
            offered.insert(0, (Action::FormAccept, "send"));
        }
        ElicitationKind::Form { .. } => {}
        ElicitationKind::Url { url, .. } if !is_page(url) => {}
        ElicitationKind::Url { .. } => {
            offered.insert(0, (Action::FormAccept, "open it"));
            offered.insert(1, (Action::FormCopy, "copy it"));
        }
    }
    vec![first, choices(&offered, columns, armed, in_fields, look)]
}

/// The answers; in a field they come after the key that leads to them.
fn choices(
    offered: &[(Action, &str)],
    columns: usize,
    armed: bool,
    in_fields: bool,
    look: Look<'_>,
) -> Line<'static> {
    let theme = look.theme;
    let live = armed && !in_fields;
    let mut spans = Vec::new();
    let mut used = 0;
    if in_fields {
        let out = format!("{}, then ", look.keymap.hint(Action::FieldOut));
        used += text::width(&out);
        spans.push(Span::styled(out, theme.muted));
    }
    for (action, word) in offered {
        let label = format!("{} {word}", look.keymap.hint(*action));
        let gap = if live { 2 } else { 1 };
        let wide = text::width(&label) + gap;
        if used + wide > columns + 1 {
            break;
        }
        used += wide;
        spans.push(Span::styled(label, if live { theme.accent } else { theme.muted }));
        spans.push(Span::raw(" ".repeat(gap)));
    }
    Line::from(spans).alignment(Alignment::Left)
}
