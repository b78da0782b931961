//! The decision box: everything about the call, scrollable, and what can be answered.
//!
//! Rows are laid out once per (box, width), so that megabytes of arguments scroll at the price of
//! the rows that can be seen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{BorderType, Clear, Paragraph, Widget};
use serde_json::Value;

use super::{Look, elicit, facts, framed, hints, strict, tool, wrapped};
use crate::domain::{Approval, Carried, Catalog, Question, QuestionKind};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::approval::{Choice, Mode, Pending};
use crate::ui::state::{Focus, UiState};

/// Rows below the text: the choices.
const FOOT: u16 = 2;
/// Columns of the names of facts.
const NAMES: usize = 7;

/// Rows that the box would like to have, frame included; 0 when it is not shown.
pub(super) fn rows(state: &mut UiState, width: u16, look: Look<'_>) -> u16 {
    if !state.decisions.visible() {
        return 0;
    }
    if let Some(asked) = state.decisions.elicitation().cloned() {
        return elicit::rows(state, &asked, width.saturating_sub(4), look).saturating_add(2);
    }
    lay(state, width.saturating_sub(4), look);
    let text = u16::try_from(state.decisions.laid.rows.len()).unwrap_or(u16::MAX);
    let editing = if matches!(state.decisions.mode, Mode::Edit(..)) { 8 } else { 0 };
    let foot = foot_rows(state, width.saturating_sub(4), look);
    text.saturating_add(foot + 2).saturating_add(editing)
}

/// Rows below the text: the choices, or the whole rule that is about to be written.
fn foot_rows(state: &UiState, columns: u16, look: Look<'_>) -> u16 {
    if !matches!(state.decisions.mode, Mode::ConfirmAlways) {
        return FOOT;
    }
    let rows = confirm(state, usize::from(columns), look).len();
    u16::try_from(rows).unwrap_or(u16::MAX / 2).max(FOOT)
}

fn lay(state: &mut UiState, columns: u16, look: Look<'_>) {
    let decisions = &mut state.decisions;
    let Some(current) = decisions.current() else { return };
    let key = Some((current.id(), decisions.revision, state.catalog.revision, columns));
    if decisions.laid.key == key {
        return;
    }
    let columns = usize::from(columns.max(1));
    decisions.laid.rows = match current {
        Pending::Approval(approval) => call(approval, &state.catalog, columns, look),
        Pending::Question(question) => wrapped(&asks(question), columns, look.theme.text),
        Pending::Elicitation(_) => Vec::new(),
    };
    decisions.laid.count = decisions.laid.rows.len();
    decisions.laid.key = key;
}

/// What became of the server or the tool since it was asked: nothing that is allowed is sent then.
fn gone(approval: &Approval, catalog: &Catalog) -> Option<String> {
    let id = &approval.call.tool;
    let Some(server) = catalog.server(&id.server) else {
        return Some(
            "the server is no longer there: if you allow the call, it is not sent".to_owned(),
        );
    };
    if !server.state.usable() {
        let word = server.state.word();
        return Some(format!("the server is {word} now: if you allow the call, it is not sent"));
    }
    match catalog.tool(id) {
        None => {
            Some("the tool is no longer on offer: if you allow the call, it is not sent".to_owned())
        }
        Some(now) if now.disabled => Some("the tool was switched off in the meantime".to_owned()),
        Some(now) if now.pin != approval.tool.pin => {
            Some("the server has changed the tool's definition since this was asked".to_owned())
        }
        Some(_) => None,
    }
}

fn asks(question: &Question) -> String {
    match &question.kind {
        QuestionKind::Rounds { rounds } => {
            format!("The turn has gone through {rounds} rounds of calls. Go on?")
        }
        QuestionKind::Repeated { tool, times } => {
            let tool = text::strict_line(tool);
            format!(
                "{tool} was called {times} times in a row with the same arguments and gave the same result. Go on?"
            )
        }
    }
}

fn call(
    approval: &Approval,
    catalog: &Catalog,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let strict = |raw: &str| text::strict_line(raw).into_string();
    let known = &approval.tool;
    let mut rows = Vec::new();
    let server = Span::styled(strict(approval.call.tool.server.as_str()), theme.server);
    let host = Span::styled(strict(&approval.host), theme.accent);
    rows.extend(facts("server", vec![server, host], (NAMES, columns), look));
    let name = Span::styled(strict(approval.call.tool.tool.as_str()), theme.title);
    let model =
        Span::styled(format!("as {}", strict(approval.call.model_name.as_str())), theme.muted);
    rows.extend(facts("tool", vec![name, model], (NAMES, columns), look));
    let claims = tool::claims(known.definition.annotations, theme);
    rows.extend(facts("claims", claims, (NAMES, columns), look));
    rows.extend(facts("pin", vec![tool::pin(known.pin_state, theme)], (NAMES, columns), look));
    let changes = known.changes.iter().map(|change| Span::styled(strict(change), theme.danger));
    for change in changes {
        rows.extend(facts("", vec![change], (NAMES, columns), look));
    }
    let why = text::strict_line(&approval.why).into_string();
    rows.extend(facts("why", vec![Span::styled(why, theme.text)], (NAMES, columns), look));
    let doubts = suspicions(approval).into_iter().chain(imitations(approval, catalog));
    for warning in gone(approval, catalog).into_iter().chain(doubts) {
        rows.extend(wrapped(&format!("⚠ {warning}"), columns, theme.danger));
    }
    for carried in &approval.carried {
        rows.extend(carries(carried, columns, look));
    }
    rows.extend(arguments(approval, columns, look));
    rows
}

/// Data of another server that would go to this one: where it comes from, and what it is.
fn carries(carried: &Carried, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let words = format!("⚠ {}:", text::strict_line(&carried.sentence()));
    let mut rows = wrapped(&words, columns, theme.danger);
    let piece = text::strict_line(&carried.piece);
    let more = if carried.piece.chars().count() < carried.characters { "…" } else { "" };
    rows.extend(wrapped(&format!("  “{piece}{more}”"), columns, theme.caution));
    rows
}

fn arguments(approval: &Approval, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    if approval.call.arguments.is_empty() {
        return vec![Line::styled("no arguments", theme.muted)];
    }
    let raw = serde_json::to_string_pretty(&*approval.call.arguments).unwrap_or_default();
    strict::rows(&raw, columns, theme.text, theme)
}

/// Names that look like those of another server or tool.
fn imitations(approval: &Approval, catalog: &Catalog) -> Vec<String> {
    let (server, tool) = (&approval.call.tool.server, &approval.call.tool.tool);
    let strict = text::strict_line;
    let names = catalog.servers.iter().map(|server| server.name.as_str());
    let mut found = Vec::new();
    if let Some(other) = text::resembles(server.as_str(), names) {
        found.push(format!("the server's name looks like that of {}, another one", strict(other)));
    }
    let hosts = || catalog.servers.iter().map(|server| server.host.as_str());
    if let Some(other) = text::resembles(&approval.host, hosts()) {
        found.push(format!("its host looks like {}, another one", strict(other)));
    }
    let tools = catalog.tools().filter(|other| other.id != approval.call.tool);
    if let Some(other) = text::resembles(tool.as_str(), tools.map(|other| other.id.tool.as_str())) {
        found.push(format!("the tool's name looks like that of {}, another one", strict(other)));
    }
    found
}

/// What cannot be seen or looks like something else, in the arguments or in the names.
fn suspicions(approval: &Approval) -> Option<String> {
    let call = &approval.call;
    text::is_suspicious(call.tool.tool.as_str())
        .or_else(|| text::is_suspicious(call.tool.server.as_str()))
        .or_else(|| text::is_suspicious(&approval.host))
        .or_else(|| text::suspicious_host(&approval.host))
        .or_else(|| text::is_suspicious_value(&Value::Object((*call.arguments).clone())))
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut UiState, look: Look<'_>) {
    let armed = state.asking() && state.decisions.arming.armed(look.now);
    Clear.render(area, frame.buffer_mut());
    let inner = layout::inside(area);
    if let Some(asked) = state.decisions.elicitation().cloned() {
        let inner =
            Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner };
        elicit::draw(frame, inner, state, &asked, armed, look);
        return frame.render_widget(block(state, armed, look), area);
    }
    let foot = foot_rows(state, inner.width.saturating_sub(2), look);
    let foot = foot.min(inner.height.saturating_sub(1));
    let text = Rect {
        x: inner.x + inner.width.min(1),
        width: inner.width.saturating_sub(2),
        height: inner.height - foot,
        ..inner
    };
    let below = Rect { y: text.bottom(), height: foot, ..text };
    let decisions = &mut state.decisions;
    decisions.page = usize::from(text.height);
    decisions.scroll = decisions.scroll.min(decisions.laid.count.saturating_sub(decisions.page));
    frame.render_widget(block(state, armed, look), area);
    match &mut state.decisions.mode {
        Mode::Edit(editor, _) => {
            editor.set_style(look.theme.text);
            frame.render_widget(&**editor, text);
        }
        Mode::Choose | Mode::ConfirmAlways | Mode::Note(_) | Mode::Fill(_) => {
            let decisions = &state.decisions;
            let rows = decisions.laid.rows.iter().skip(decisions.scroll).take(decisions.page);
            frame.render_widget(Paragraph::new(rows.cloned().collect::<Vec<_>>()), text);
        }
    }
    foot_of(frame, below, state, armed, look);
}

fn block(state: &UiState, armed: bool, look: Look<'_>) -> ratatui::widgets::Block<'static> {
    let decisions = &state.decisions;
    let (at, of) = decisions.place();
    let word = match decisions.current() {
        Some(Pending::Question(_)) => "Go on?",
        Some(Pending::Elicitation(_)) => "A server asks you",
        _ => "Allow this call?",
    };
    let place = if of > 1 { format!(" {word} · {at} of {of} ") } else { format!(" {word} ") };
    let (border, title) = if armed {
        (look.theme.caution, look.theme.title)
    } else {
        (look.theme.border, look.theme.muted)
    };
    let mut block = framed(Line::styled(place, title), border);
    if armed {
        // To be seen without colours too.
        block = block.border_type(BorderType::Thick);
    }
    if matches!(decisions.mode, Mode::Choose | Mode::Fill(_)) {
        let style = if armed { look.theme.caution } else { look.theme.muted };
        block = block.title_bottom(Line::styled(waiting(state, armed, look), style));
    }
    let rows = decisions.laid.count;
    if rows <= decisions.page || matches!(decisions.mode, Mode::Edit(..)) {
        return block;
    }
    let last = (decisions.scroll + decisions.page).min(rows);
    let shown = format!(" {}–{last}/{rows} ", decisions.scroll + 1);
    block.title(Line::styled(shown, look.theme.caution).alignment(Alignment::Right))
}

fn foot_of(frame: &mut Frame<'_>, area: Rect, state: &mut UiState, armed: bool, look: Look<'_>) {
    let columns = usize::from(area.width);
    let theme = look.theme;
    let key = |action| look.keymap.hint(action);
    let lines = match &mut state.decisions.mode {
        Mode::Note(editor) => {
            let row = Rect { height: area.height.min(1), y: area.y + area.height.min(1), ..area };
            editor.set_style(theme.text);
            editor.set_placeholder_text("a note to the model");
            editor.set_placeholder_style(theme.muted);
            frame.render_widget(&**editor, row);
            let head = Line::styled(
                "Deny, and tell the model why. Enter denies, Esc goes back.",
                theme.caution,
            );
            frame.render_widget(head, Rect { height: area.height.min(1), ..area });
            return;
        }
        Mode::Edit(_, fault) => {
            let fault = fault.as_ref().map(|fault| text::cut(text::line(fault).as_str(), columns));
            let keys = [
                (key(Action::Apply), "use these, then asked again"),
                (key(Action::Discard), "back"),
            ];
            vec![
                Line::styled(fault.unwrap_or_default(), theme.danger),
                hints(&keys, columns, theme),
            ]
        }
        Mode::ConfirmAlways => confirm(state, columns, look),
        Mode::Choose | Mode::Fill(_) => choices(state, columns, armed, look),
    };
    frame.render_widget(Paragraph::new(lines), area);
}

/// The rule that the second `a` writes.
fn confirm(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let Some(approval) = state.decisions.approval() else { return Vec::new() };
    let id = &approval.call.tool;
    let pin = approval.tool.pin.get(..12).unwrap_or(&approval.tool.pin);
    let server = text::strict_line(id.server.as_str());
    let name = text::strict_line(id.tool.as_str());
    let rule = format!("{server}: {{ tool: {name}, permissions: auto, pin: {pin}… }}");
    let file = state.options.rules_file.as_ref();
    let whole =
        file.map_or_else(|| "rules.yaml".to_owned(), |file| file.to_string_lossy().into_owned());
    let name = file
        .and_then(|file| file.file_name())
        .map_or_else(|| "rules.yaml".to_owned(), |name| name.to_string_lossy().into_owned());
    let always = look.keymap.hint(Action::ApproveAlways);
    let whole = text::strict_line(&whole);
    let long = format!("{always} again writes this to {whole}; any other key goes back");
    let brief = format!("{always} again writes this to {}", text::strict_line(&name));
    let ask = if text::width(&long) <= columns { long } else { brief };
    let mut rows = wrapped(&ask, columns, look.theme.caution);
    rows.extend(wrapped(&rule, columns, look.theme.title));
    rows
}

fn choices(state: &UiState, columns: usize, armed: bool, look: Look<'_>) -> Vec<Line<'static>> {
    let question = matches!(state.decisions.current(), Some(Pending::Question(_)));
    let mut lines = Vec::new();
    let focus = [
        (Action::Deny, if question { "stop" } else { "deny" }, Some(Choice::Deny)),
        (Action::DenyNote, "deny with a note", Some(Choice::Note)),
        (Action::EditArguments, "edit", Some(Choice::Edit)),
        (Action::Later, "later", Some(Choice::Later)),
    ];
    let allow = [
        (Action::Approve, if question { "go on" } else { "once" }, None),
        (Action::ApproveSession, "session", None),
        (Action::ApproveAlways, "always", None),
        (Action::DenyAll, "deny all", None),
    ];
    let offered = |action: &Action| {
        !question || matches!(action, Action::Approve | Action::Deny | Action::Later)
    };
    for row in [focus, allow] {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut used = 0;
        for (action, word, choice) in row.into_iter().filter(|(action, ..)| offered(action)) {
            let word = if columns < 50 && action == Action::DenyNote { "note" } else { word };
            let label = format!("{} {word}", look.keymap.hint(action));
            let wide = text::width(&label) + 2;
            if used + wide > columns {
                break;
            }
            used += wide + 1;
            let chosen = armed && choice == Some(state.decisions.choice);
            let style = match (armed, chosen) {
                (_, true) => look.theme.selected,
                (true, false) => look.theme.accent,
                (false, false) => look.theme.muted,
            };
            spans.push(Span::styled(format!(" {label} "), style));
            spans.push(Span::raw(" "));
        }
        lines.push(Line::from(spans));
    }
    lines
}

fn waiting(state: &UiState, armed: bool, look: Look<'_>) -> String {
    let key = |action| look.keymap.hint(action);
    match (state.focus, state.decisions.in_draft, armed) {
        (Focus::Panel, ..) => format!(" {}: answer ", key(Action::Decision)),
        (_, true, _) => format!(" typing your message; {}: back ", key(Action::ToDraft)),
        (_, false, false) => " keys go to your draft till you pause ".to_owned(),
        (_, false, true) if state.decisions.elicitation().is_some() => " your answer? ".to_owned(),
        (_, false, true) => format!(" your answer? {}: to your message ", key(Action::ToDraft)),
    }
}
