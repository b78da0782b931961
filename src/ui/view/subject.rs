//! What stands on the pages: help, details of servers and tools, warnings, permissions.

mod context;
mod details;

pub(super) use details::rows_of_change;

use ratatui::text::{Line, Span};

use super::input::pad;
use super::{Look, tool, wrapped};
use crate::domain::{Mode, Warning};
use crate::text;
use crate::ui::keymap::{Action, Place};
use crate::ui::origin;
use crate::ui::state::UiState;
use crate::ui::state::page::Subject;
use crate::ui::update::command::COMMANDS;

/// Rows of one message that waits.
const QUEUED_ROWS: usize = 6;

/// What stands behind a tool in the side panel.
const MARKS: [(&str, &str); 4] = [
    ("typing", "filters by the tool's own name or the one that the model uses"),
    ("ro", "read-only, by the server's word"),
    ("new, changed", "never seen before; not what was remembered"),
    ("auto, ask, deny, off", "what happens to a call; switched off"),
];

pub(super) fn title(subject: &Subject) -> String {
    match subject {
        Subject::Context => "context".to_owned(),
        Subject::Queue => "messages that wait".to_owned(),
        Subject::Help(_) => "keys and commands".to_owned(),
        Subject::Server(name) => format!("server {}", text::strict_line(name.as_str())),
        Subject::Tool(id) => format!("tool {}", text::strict_line(&id.to_string())),
        Subject::Warnings => "warnings".to_owned(),
        Subject::Permissions => "permissions".to_owned(),
    }
}

pub(super) fn rows(
    subject: &Subject,
    columns: usize,
    state: &UiState,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    match subject {
        Subject::Help(place) => help(*place, columns, look),
        Subject::Context => context::rows(state, columns, look),
        Subject::Queue => queue(state, columns, look),
        Subject::Warnings => warnings(state, columns, look),
        Subject::Permissions => permissions(state, columns, look),
        Subject::Server(name) => state
            .catalog
            .server(name)
            .map_or_else(|| gone(look), |server| details::server(server, columns, look)),
        Subject::Tool(id) => state
            .catalog
            .tool(id)
            .map_or_else(|| gone(look), |tool| details::tool(tool, state, columns, look)),
    }
}

fn gone(look: Look<'_>) -> Vec<Line<'static>> {
    vec![Line::styled("It is no longer on offer.", look.theme.muted)]
}

fn heading(word: &str, look: Look<'_>) -> Line<'static> {
    Line::styled(word.to_owned(), look.theme.heading)
}

/// The messages that wait, in the order in which they will be sent.
fn queue(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for (at, waiting) in state.status.queued.iter().enumerate() {
        let said = text::block(waiting);
        let mut lines = said
            .as_str()
            .lines()
            .flat_map(|line| wrapped(line, columns.saturating_sub(4), look.theme.text));
        for (first, mut line) in lines.by_ref().take(QUEUED_ROWS).enumerate() {
            let number = if first == 0 { format!("{:>2}  ", at + 1) } else { "    ".to_owned() };
            line.spans.insert(0, Span::styled(number, look.theme.accent));
            rows.push(line);
        }
        let more = lines.count();
        if more > 0 {
            rows.push(Line::styled(format!("    … {more} more rows"), look.theme.muted));
        }
        rows.push(Line::default());
    }
    if rows.is_empty() {
        return vec![Line::styled("No message waits.", look.theme.muted)];
    }
    let how = format!(
        "They are sent one by one as turns end, and come back into your draft if a turn is cancelled or fails. {} in an empty draft takes back the latest; /queue edit 2 and /queue drop 2 take one, /queue clear drops all.",
        look.keymap.hint(Action::HistoryPrevious)
    );
    rows.extend(wrapped(&how, columns, look.theme.muted));
    rows
}

fn help(here: Place, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let others = Place::ALL.into_iter().filter(|place| *place != here);
    for place in std::iter::once(here).chain(others) {
        rows.push(heading(place.title(), look));
        for row in look.keymap.rows(place) {
            let keys: Vec<String> = row.keys.iter().map(ToString::to_string).collect();
            rows.extend(pair(&keys.join(" "), row.binding.help, columns, look));
        }
        if place == Place::Panel {
            for (mark, meaning) in MARKS {
                rows.extend(pair(mark, meaning, columns, look));
            }
        }
        rows.push(Line::default());
    }
    rows.push(heading("Commands", look));
    for command in COMMANDS {
        let name = format!("/{} {}", command.name, command.argument);
        rows.extend(pair(name.trim_end(), command.help, columns, look));
    }
    rows.push(Line::default());
    let config = "Keys are changed under `keys:` in the config, by the name of the action:";
    rows.extend(wrapped(config, columns, look.theme.muted));
    let names: Vec<&str> = look.keymap.all().iter().map(|row| row.binding.name).collect();
    rows.extend(wrapped(&names.join(", "), columns, look.theme.muted));
    rows
}

/// A word at the left, what it means at the right, on as many rows as it takes.
fn pair(left: &str, right: &str, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let wide = (columns / 3).clamp(12, 24);
    let fits = text::width(left) <= wide;
    let mut rows = wrapped(right, columns.saturating_sub(wide + 1), look.theme.text);
    if !fits {
        rows.insert(0, Line::default());
    }
    for (at, row) in rows.iter_mut().enumerate() {
        let word = match (at, fits) {
            (0, true) => pad(left, wide),
            (0, false) => left.to_owned(),
            _ => " ".repeat(wide),
        };
        row.spans.insert(0, Span::styled(format!("{word} "), look.theme.accent));
    }
    rows
}

fn warnings(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let rows: Vec<_> =
        state.all_warnings().flat_map(|warning| self::warning(&warning, columns, look)).collect();
    if rows.is_empty() { vec![Line::styled("No warnings.", look.theme.good)] } else { rows }
}

fn warning(warning: &Warning, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let message = text::line(&warning.message);
    let line = format!("⚠ {}{message}", origin::of(warning));
    let mut rows = wrapped(&line, columns, look.theme.caution);
    if !warning.advice.is_empty() {
        let advice = format!("→ {}", text::line(&warning.advice));
        rows.extend(wrapped(&advice, columns, look.theme.text));
    }
    rows.push(Line::default());
    rows
}

fn permissions(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for server in &state.catalog.servers {
        let name = text::strict_line(server.name.as_str()).into_string();
        rows.push(Line::from(vec![
            Span::styled(name, look.theme.server),
            Span::styled(": ", look.theme.muted),
            Span::styled(server.permission.word(), tool::mode_style(server.permission, look.theme)),
        ]));
        for mode in [Mode::Auto, Mode::Ask, Mode::Deny] {
            let of_mode = server.tools.iter().filter(|tool| tool.permission == mode);
            let names: Vec<String> = of_mode
                .map(|tool| text::strict_line(tool.id.tool.as_str()).into_string())
                .collect();
            if names.is_empty() {
                continue;
            }
            let line = format!("  {} ({}): {}", mode.word(), names.len(), names.join(", "));
            rows.extend(wrapped(&line, columns, tool::mode_style(mode, look.theme)));
        }
        rows.push(Line::default());
    }
    if rows.is_empty() {
        rows.push(Line::styled("No servers are configured.", look.theme.muted));
    }
    rows
}
