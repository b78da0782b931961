//! A server's question: who asks stands above everything and never scrolls away; below it what it
//! wants, as a form or as a page to open; at the foot how it can be answered.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::fields::{self, Focus, Room};
use super::{Look, facts, hints, strict, wrapped};
use crate::domain::{Catalog, Elicitation, ElicitationKind};
use crate::text;
use crate::ui::flow::{self, Piece};
use crate::ui::keymap::Action;
use crate::ui::state::UiState;
use crate::ui::state::approval::Mode;
use crate::ui::state::form::{Form, Kind, asks_for_secret};
use crate::ui::update::is_page;

/// Columns of the names of facts.
const NAMES: usize = 8;
/// Rows at the foot at most.
const FOOT: u16 = 2;
/// Columns that all answers take side by side.
const ONE_ROW: usize = 52;
/// Below this height everything takes as few rows as it can.
const TIGHT: u16 = 10;
/// Rows of a message that a form shows before its fields: a flood must not hide them.
const MESSAGE: usize = 12;

/// Rows that the box would like to have, without its frame.
pub(super) fn rows(state: &UiState, asked: &Elicitation, columns: u16, look: Look<'_>) -> u16 {
    let columns = usize::from(columns.max(1));
    let room = Room { columns, tight: false, live: true };
    let above = who(asked, columns, look).len() + call(state, asked, columns, look).len();
    let below = body(state, asked, room, look).rows.len();
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
    let room = Room { columns, tight: area.height < TIGHT, live: armed };
    let mut above = who(asked, columns, look);
    if !room.tight {
        above.extend(call(state, asked, columns, look));
    }
    let body = body(state, asked, room, look);
    let head = u16::try_from(above.len()).unwrap_or(u16::MAX).min(area.height.saturating_sub(3));
    let left = area.height - head;
    let fits = body.rows.len() < usize::from(left) && columns >= ONE_ROW;
    let foot = match state.decisions.mode {
        Mode::Fill(_) => FOOT,
        _ if fits => 1,
        _ => FOOT,
    };
    let foot = foot.min(left.saturating_sub(1));
    frame.render_widget(Paragraph::new(above), Rect { height: head, ..area });
    let text = Rect { y: area.y + head, height: left - foot, ..area };
    let page = usize::from(text.height);
    let first = scroll(state, &body, page);
    let shown: Vec<Line<'_>> = body.rows.into_iter().skip(first).take(page).collect();
    frame.render_widget(Paragraph::new(shown), text);
    let below = Rect { y: text.bottom(), height: foot, ..area };
    frame.render_widget(Paragraph::new(answers(state, asked, columns, armed, look)), below);
}

/// The rows between who asks and the answers.
struct Body {
    rows: Vec<Line<'static>>,
    focus: Focus,
    /// Rows that have to be seen before one can agree.
    needed: usize,
}

/// The first row shown: where the user scrolled to, or so that the field with the keys is seen.
fn scroll(state: &mut UiState, body: &Body, page: usize) -> usize {
    let rows = body.rows.len();
    let decisions = &mut state.decisions;
    decisions.laid.count = rows;
    decisions.page = page;
    if let Mode::Fill(form) = &mut decisions.mode {
        super::form::follow(form, rows, page, &body.focus);
        decisions.scroll = form.scroll;
    }
    decisions.scroll = decisions.scroll.min(rows.saturating_sub(page));
    decisions.unseen = body.needed.saturating_sub(decisions.scroll + page).min(decisions.unseen);
    decisions.scroll
}

/// Who asks, and in the course of what (I6).
fn who(asked: &Elicitation, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let strict = |raw: &str| text::strict_line(raw).into_string();
    let server = Span::styled(strict(asked.server.as_str()), theme.server);
    let host = Span::styled(strict(&asked.host), theme.accent);
    let mut rows = facts("server", vec![server, host], (NAMES, columns), look);
    if let ElicitationKind::Url { host, .. } = &asked.kind {
        let host = Span::styled(strict(host), theme.selected);
        rows.extend(facts("page", vec![host], (NAMES, columns), look));
    }
    rows
}

/// The call in whose course it asks.
fn call(
    state: &UiState,
    asked: &Elicitation,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let Some(call) = asked.call else { return Vec::new() };
    let tool = state.running.get(&call);
    let name = tool.map_or_else(|| format!("#{call}"), ToString::to_string);
    let name = text::cut(text::strict_line(&name).as_str(), 120);
    facts("call", vec![Span::styled(name, look.theme.text)], (NAMES, columns), look)
}

fn body(state: &UiState, asked: &Elicitation, room: Room, look: Look<'_>) -> Body {
    let theme = look.theme;
    let columns = room.columns;
    let mut rows = strict::rows(asked.message.trim(), columns, theme.text, theme);
    bound(&mut rows, look);
    if room.tight {
        rows.extend(call(state, asked, columns, look));
    }
    let said = [asked.message.as_str(), asked.server.as_str(), asked.host.as_str()];
    if let Some(warning) = said.into_iter().find_map(text::is_suspicious) {
        rows.extend(warn(&warning, columns, look));
    }
    match (&asked.kind, &state.decisions.mode) {
        (ElicitationKind::Url { url, host }, _) => {
            rows.extend(page(asked, (url, host), &state.catalog, columns, look));
            Body { needed: rows.len(), rows, focus: Focus::default() }
        }
        (ElicitationKind::Form { fault: None, .. }, Mode::Fill(form)) => {
            rows.extend(secrets(form, asked, columns, look));
            let from = rows.len();
            let (fields, focus) = fields::rows(form, room, look);
            rows.extend(fields);
            Body { rows, focus: focus.below(from), needed: 0 }
        }
        (ElicitationKind::Form { schema, fault, .. }, _) => {
            let fault = fault.as_deref().unwrap_or("it has no fields");
            let words = format!("this cannot be shown as a form: {}", text::strict_line(fault));
            rows.extend(warn(&words, columns, look));
            rows.push(Line::styled("What it asks for, as it came:", theme.muted));
            let raw = serde_json::to_string_pretty(&**schema).unwrap_or_default();
            rows.extend(strict::rows(&raw, columns, theme.text, theme));
            Body { rows, focus: Focus::default(), needed: 0 }
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

/// The whole address of the page (I7); its host stands above everything.
fn page(
    asked: &Elicitation,
    (url, host): (&str, &str),
    catalog: &Catalog,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let mut rows = Vec::new();
    let room = columns.saturating_sub(NAMES).max(1);
    let pieces = strict::pieces(url, theme.text, theme);
    for (at, row) in flow::fold(&pieces, room, &Piece::default()).into_iter().enumerate() {
        let name = if at == 0 { "address" } else { "" };
        let mut all = vec![Piece::new(format!("{name:<NAMES$}"), theme.muted)];
        all.extend(row);
        rows.push(flow::row(all));
    }
    for warning in doubts(asked, url, host, catalog) {
        rows.extend(warn(&warning, columns, look));
    }
    rows
}

/// What should give pause before a page is opened.
fn doubts(asked: &Elicitation, url: &str, host: &str, catalog: &Catalog) -> Vec<String> {
    let mut doubts = Vec::new();
    if !is_page(url) {
        doubts.push("this is no address of a page: it is not opened".to_owned());
    }
    let parsed = url::Url::parse(url).ok();
    doubts.extend(text::suspicious_host(host));
    let bare = |host: &'_ str| host.rsplit_once(':').map_or(host, |(bare, _)| bare).to_owned();
    let known: Vec<String> = catalog.servers.iter().map(|server| bare(&server.host)).collect();
    let known = || known.iter().map(String::as_str);
    if let Some(other) = text::resembles(host, known()) {
        doubts.push(format!("the host looks like {} and is another", text::strict_line(other)));
    }
    if let Some(other) = text::poses_as(host, known()) {
        let other = text::strict_line(other);
        doubts.push(format!("the host only begins like {other}: it is another"));
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

/// How it can be answered: what the keys of a field do, then the answers.
fn answers(
    state: &UiState,
    asked: &Elicitation,
    columns: usize,
    armed: bool,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let mut offered = vec![
        (Action::FormDecline, "decline"),
        (Action::FormCancel, "cancel"),
        (Action::FormLater, "later"),
    ];
    let Mode::Fill(form) = &state.decisions.mode else {
        let unseen = state.decisions.unseen > 0;
        if let ElicitationKind::Url { url, .. } = &asked.kind
            && is_page(url)
            && !unseen
        {
            offered.insert(0, (Action::FormAccept, "open it"));
            offered.insert(1, (Action::FormCopy, "copy it"));
        }
        let mut lines = choices(&offered, columns, armed, false, look);
        if unseen {
            let keys = [(look.keymap.hint(Action::FormPageDown), "all of the address first")];
            lines.insert(0, hints(&keys, columns, look.theme));
        }
        lines.truncate(usize::from(FOOT));
        return lines;
    };
    offered.insert(0, (Action::FormAccept, "send"));
    let in_fields = !form.at_answers();
    let mut lines = choices(&offered, columns, armed, in_fields, look);
    lines.truncate(1);
    lines.insert(0, above_answers(form, columns, armed, look));
    lines
}

/// What is wrong with the form, else the keys of the field.
fn above_answers(form: &Form, columns: usize, armed: bool, look: Look<'_>) -> Line<'static> {
    let theme = look.theme;
    let key = |action| look.keymap.hint(action);
    if let Some(fault) = &form.fault {
        return Line::styled(text::cut(text::line(fault).as_str(), columns), theme.danger);
    }
    let Some(field) = form.fields.get(form.at) else {
        let back = [(key(Action::FieldPrevious), "back to the fields")];
        let none = form.fields.is_empty();
        return if none { Line::default() } else { hints(&back, columns, theme) };
    };
    if !armed {
        return Line::default();
    }
    let mut keys = vec![(key(Action::FormSend), "send"), (key(Action::FieldNext), "next field")];
    keys.push(match &field.kind {
        Kind::One(_) | Kind::Many { .. } => ("Space".to_owned(), "choose"),
        _ => (key(Action::FieldNewline), "new line"),
    });
    if matches!(field.kind, Kind::Number { .. }) {
        keys.pop();
    }
    hints(&keys, columns, theme)
}

/// The answers, on as many rows as it takes; in a field they come after the key that leads to them.
fn choices(
    offered: &[(Action, &str)],
    columns: usize,
    armed: bool,
    in_fields: bool,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let live = armed && !in_fields;
    let (style, gap) = if live { (theme.accent, 2) } else { (theme.muted, 1) };
    let mut lines = vec![Line::default()];
    let mut used = 0;
    if in_fields {
        let out = format!("{}, then ", look.keymap.hint(Action::FieldOut));
        used += text::width(&out);
        lines = vec![Line::styled(out, theme.muted)];
    }
    for (action, word) in offered {
        let label = format!("{} {word}", look.keymap.hint(*action));
        let wide = text::width(&label);
        if used + wide > columns {
            lines.push(Line::default());
            used = 0;
        }
        used += wide + gap;
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(label, style));
            line.push_span(Span::raw(" ".repeat(gap)));
        }
    }
    lines
}
