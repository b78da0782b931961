//! The decision box: everything about the call, scrollable, and what can be answered.
//!
//! Rows are laid out once per (box, width), so that megabytes of arguments scroll at the price of
//! the rows that can be seen: a frame copies those and no others.

mod arguments;
mod edited;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{BorderType, Clear, Paragraph, Widget};
use serde_json::Value;

use super::{Look, change, elicit, facts, framed, hints, tool, wrapped};
use crate::domain::{Approval, Carried, Catalog, Question, QuestionKind};
use crate::permission::Rule;
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::approval::sheet::Sheet;
use crate::ui::state::approval::{Choice, Laid, Mode, Pending};
use crate::ui::state::{Focus, UiState};

/// Rows below the text: the choices.
const FOOT: u16 = 2;
/// Rows of what is wrong with changed arguments, at most.
const FAULT_ROWS: usize = 4;
/// Columns of the names of facts.
const NAMES: usize = 7;

/// Rows that the box would like to have, frame included; 0 when it is not shown.
/// `size` is the width of the box and the height of the screen.
pub(super) fn rows(state: &mut UiState, size: (u16, u16), look: Look<'_>) -> u16 {
    let (width, height) = size;
    if !state.decisions.visible() {
        return 0;
    }
    if let Some(asked) = state.decisions.elicitation().cloned() {
        return elicit::rows(state, &asked, width.saturating_sub(4), look).saturating_add(2);
    }
    lay(state, (width.saturating_sub(4), height < layout::TIGHT), look);
    let text = match &state.decisions.mode {
        // Room to write in, and for what is written.
        Mode::Edit(area, _) => area.lines().len().saturating_add(4),
        _ => state.decisions.laid.count,
    };
    let text = u16::try_from(text).unwrap_or(u16::MAX);
    let foot = foot_rows(state, width.saturating_sub(4), look);
    text.saturating_add(foot + 2)
}

/// Rows below the text: the choices, or the whole rule that is about to be written.
fn foot_rows(state: &UiState, columns: u16, look: Look<'_>) -> u16 {
    let columns = usize::from(columns);
    let rows = match &state.decisions.mode {
        Mode::ConfirmAlways => confirm(state, columns, look).len(),
        Mode::Edit(_, Some(fault)) => fault_rows(fault, columns, look).len() + 1,
        _ => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX / 2).max(FOOT)
}

/// What is wrong with changed arguments. Of a report, which is worded for the model, the faults
/// alone.
fn fault_rows(fault: &str, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let faults: Vec<_> = fault.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let mut rows = if faults.is_empty() {
        wrapped(text::line(fault).as_str(), columns, look.theme.danger)
    } else {
        let listed = faults.into_iter().map(|fault| format!("- {}", text::line(fault)));
        listed.flat_map(|fault| wrapped(&fault, columns, look.theme.danger)).collect()
    };
    rows.truncate(FAULT_ROWS);
    rows
}

fn lay(state: &mut UiState, room: (u16, bool), look: Look<'_>) {
    let decisions = &mut state.decisions;
    let Some(current) = decisions.current().cloned() else { return };
    let key = Some((current.id(), decisions.revision, state.catalog.revision, room));
    if decisions.laid.key == key {
        return;
    }
    let (columns, tight) = (usize::from(room.0.max(1)), room.1);
    let of = Some((current.id(), decisions.revision));
    if decisions.laid.call != of {
        decisions.laid = Laid { call: of, ..Laid::default() };
        if let Pending::Approval(approval) = &current {
            decisions.laid.arguments = Sheet::of(&approval.call.arguments);
            decisions.laid.suspicion = suspicions(approval);
        }
    }
    decisions.laid.head = match &current {
        Pending::Approval(approval) => {
            decisions.laid.arguments.fit(columns);
            let proposed = decisions.proposed(approval.call.id);
            let mut rows = if tight {
                facts_in_brief(approval, columns, look)
            } else {
                facts_of(approval, columns, look)
            };
            let gone = gone(approval, &state.catalog);
            let alike = imitations(approval, &state.catalog);
            for warning in gone.iter().chain(&decisions.laid.suspicion).chain(&alike) {
                rows.extend(wrapped(&format!("⚠ {warning}"), columns, look.theme.danger));
            }
            for carried in &approval.carried {
                rows.extend(carries(carried, columns, look));
            }
            if let Some(proposed) = proposed {
                rows.extend(edited::rows(proposed, &approval.call.arguments, columns, look));
            }
            rows
        }
        Pending::Question(question) => wrapped(&asks(question), columns, look.theme.text),
        Pending::Elicitation(_) => Vec::new(),
    };
    decisions.laid.count = decisions.laid.head.len() + decisions.laid.arguments.len();
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

/// Everything about the call but its arguments.
fn facts_of(approval: &Approval, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
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
    let pin = tool::pin(known.pin_state, theme);
    rows.extend(list("pin", std::iter::once(pin), columns, look));
    for mut row in change::rows(&known.changes, columns.saturating_sub(NAMES).max(20), theme) {
        row.spans.insert(0, Span::raw(" ".repeat(NAMES)));
        rows.push(row);
    }
    let why = std::iter::once(Span::styled(strict(&approval.why), theme.text));
    rows.extend(list("why", why, columns, look));
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

/// The same where rows are scarce: no names of facts, and a star for what the server did not say.
fn facts_in_brief(approval: &Approval, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let strict = |raw: &str| text::strict_line(raw).into_string();
    let known = &approval.tool;
    let id = Span::styled(strict(&approval.call.tool.to_string()), theme.title);
    let host = Span::styled(strict(&approval.host), theme.accent);
    let mut rows = facts("", vec![id, host], (0, columns), look);
    let mut claims = tool::claims(known.definition.annotations, theme);
    for claim in &mut claims {
        claim.content = claim.content.replace(" (not said)", "*").into();
    }
    claims.push(tool::pin(known.pin_state, theme));
    rows.extend(facts("", claims, (0, columns), look));
    rows.extend(change::rows(&known.changes, columns, theme));
    let why = Span::styled(strict(&approval.why), theme.text);
    rows.extend(facts("", vec![why], (0, columns), look));
    rows
}

/// A name and what there is to say about it, one below the other.
fn list(
    name: &str,
    values: impl Iterator<Item = Span<'static>>,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let rows = values.enumerate().flat_map(|(at, value)| {
        facts(if at == 0 { name } else { "" }, vec![value], (NAMES, columns), look)
    });
    rows.collect()
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
    let armed = state.asking() && state.decisions.arming.armed();
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
            let shown = decisions.scroll..decisions.scroll + decisions.page;
            frame.render_widget(
                Paragraph::new(arguments::shown(&decisions.laid, shown, look)),
                text,
            );
        }
    }
    foot_of(frame, below, state, armed, look);
}

fn block(state: &UiState, armed: bool, look: Look<'_>) -> ratatui::widgets::Block<'static> {
    let decisions = &state.decisions;
    let (at, of) = decisions.place();
    let word = match (decisions.current(), &decisions.mode) {
        (Some(Pending::Question(_)), _) => "Go on?".to_owned(),
        (Some(Pending::Elicitation(_)), _) => "A server asks you".to_owned(),
        (Some(Pending::Approval(approval)), Mode::Edit(..)) => {
            let tool = text::strict_line(&approval.call.tool.to_string());
            format!("Change the arguments of {tool}")
        }
        _ => "Allow this call?".to_owned(),
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
            let mut rows = match fault {
                Some(fault) => fault_rows(fault, columns, look),
                None => vec![Line::default()],
            };
            let keys = [
                (key(Action::Apply), "use these, then asked again"),
                (key(Action::Discard), "back"),
                (key(Action::EditOutside), "in your editor"),
            ];
            rows.push(hints(&keys, columns, theme));
            rows
        }
        Mode::ConfirmAlways => confirm(state, columns, look),
        Mode::Choose | Mode::Fill(_) => choices(state, columns, armed, look),
    };
    frame.render_widget(Paragraph::new(lines), area);
}

/// The rule that the second `a` writes.
fn confirm(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let Some(approval) = state.decisions.approval() else { return Vec::new() };
    let rule = Rule::always(&approval.tool).to_yaml_value(Some(&approval.call.tool.server));
    let rule = text::strict_line(&flow_style(&rule)).into_string();
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

/// An entry of a file on one line.
fn flow_style(entry: &Value) -> String {
    let plain = |text: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(word)
    };
    let member = |(key, value): (&String, &Value)| match value.as_str().filter(|text| plain(text)) {
        Some(text) => format!("{key}: {text}"),
        None => format!("{key}: {value}"),
    };
    let members = entry.as_object().into_iter().flatten().map(member);
    format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
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
