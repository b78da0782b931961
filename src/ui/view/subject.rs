//! What stands on the pages: help, details of servers and tools, warnings, permissions.

use ratatui::text::{Line, Span};

use super::input::pad;
use super::{Look, short, tool, wrapped};
use crate::domain::{Mode, Server, Source, Tool, Warning};
use crate::text;
use crate::ui::keymap::Place;
use crate::ui::state::UiState;
use crate::ui::state::page::Subject;
use crate::ui::update::command::COMMANDS;

pub(super) fn title(subject: &Subject) -> String {
    match subject {
        Subject::Help => "keys and commands".to_owned(),
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
        Subject::Help => help(columns, look),
        Subject::Warnings => warnings(state, columns, look),
        Subject::Permissions => permissions(state, columns, look),
        Subject::Server(name) => state
            .catalog
            .server(name)
            .map_or_else(|| gone(look), |server| self::server(server, columns, look)),
        Subject::Tool(id) => state
            .catalog
            .tool(id)
            .map_or_else(|| gone(look), |tool| self::tool(tool, state, columns, look)),
    }
}

fn gone(look: Look<'_>) -> Vec<Line<'static>> {
    vec![Line::styled("It is no longer on offer.", look.theme.muted)]
}

fn heading(word: &str, look: Look<'_>) -> Line<'static> {
    Line::styled(word.to_owned(), look.theme.heading)
}

fn help(columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for place in Place::ALL {
        rows.push(heading(place.title(), look));
        for row in look.keymap.rows(place) {
            let keys: Vec<String> = row.keys.iter().map(ToString::to_string).collect();
            rows.extend(pair(&keys.join(" "), row.binding.help, columns, look));
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

fn fact(name: &str, value: Vec<Span<'static>>, look: Look<'_>) -> Line<'static> {
    let mut spans = vec![Span::styled(format!("{name:<11} "), look.theme.muted)];
    for (at, span) in value.into_iter().enumerate() {
        if at > 0 {
            spans.push(Span::styled(" · ", look.theme.muted));
        }
        spans.push(span);
    }
    Line::from(spans)
}

fn plain(name: &str, value: &str, look: Look<'_>) -> Line<'static> {
    let value = Span::styled(text::strict_line(value).into_string(), look.theme.text);
    fact(name, vec![value], look)
}

fn server(server: &Server, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let style = super::panel::state_style(&server.state, look.theme);
    let mut rows = vec![
        plain("url", &server.url, look),
        fact("state", vec![Span::styled(server.state.word(), style)], look),
    ];
    if let crate::domain::ServerState::Failed { stage, .. } = &server.state {
        rows.push(plain("stage", &stage.to_string(), look));
    }
    let reason = text::block(server.state.reason());
    if !reason.as_str().is_empty() {
        rows.extend(wrapped(reason.as_str(), columns, style));
    }
    if let Some(connection) = &server.connection {
        rows.push(plain("identity", &connection.identity, look));
        let era = super::panel::era_word(connection.era);
        let session = if connection.session { "MCP session" } else { "no MCP session" };
        rows.push(plain(
            "protocol",
            &format!("{} ({era}), {session}", connection.protocol_version),
            look,
        ));
        let can = if connection.capabilities.is_empty() {
            "none".to_owned()
        } else {
            connection.capabilities.join(", ")
        };
        rows.push(plain("can", &can, look));
    }
    let mode =
        Span::styled(server.permission.word(), tool::mode_style(server.permission, look.theme));
    rows.push(fact("permission", vec![mode], look));
    let tokens: u64 = server.tools.iter().map(|tool| u64::from(tool.tokens)).sum();
    let tools = format!(
        "{} on offer ({} tokens), {} left out",
        server.tools.len(),
        short(tokens),
        server.filtered.len()
    );
    rows.push(plain("tools", &tools, look));
    if let Some(last) = server.latency.last() {
        let line =
            format!("{}  {} ms", super::panel::sparkline(&server.latency, 32), last.as_millis());
        rows.push(plain("latency", &line, look));
    }
    let instructions = server.connection.as_ref().and_then(|known| known.instructions.as_deref());
    if let Some(instructions) = instructions.filter(|text| !text.is_empty()) {
        rows.extend([Line::default(), heading("Instructions (the server's words)", look)]);
        rows.extend(wrapped(text::block(instructions).as_str(), columns, look.theme.text));
    }
    if !server.warnings.is_empty() {
        rows.extend([Line::default(), heading("Warnings", look)]);
        rows.extend(
            server.warnings.iter().flat_map(|warning| self::warning(warning, columns, look)),
        );
    }
    if !server.filtered.is_empty() {
        rows.extend([Line::default(), heading("Left out", look)]);
        for left_out in &server.filtered {
            let name = text::strict_line(left_out.name.as_str());
            let reason = text::line(&left_out.reason);
            rows.extend(wrapped(&format!("{name}: {reason}"), columns, look.theme.muted));
        }
    }
    rows
}

fn tool(known: &Tool, state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let definition = &known.definition;
    let mut rows = vec![plain("server", known.id.server.as_str(), look)];
    if let Some(server) = state.catalog.server(&known.id.server) {
        rows.push(plain("host", &server.host, look));
    }
    rows.push(plain("name", known.id.tool.as_str(), look));
    rows.push(plain("model name", known.model_name.as_str(), look));
    if let Some(title) = &definition.title {
        rows.push(plain("title", title, look));
    }
    rows.push(fact("claims", tool::claims(&definition.annotations, theme), look));
    rows.push(fact("pin", vec![tool::pin(known.pin_state, theme)], look));
    rows.push(plain("", known.pin.get(..16).unwrap_or(&known.pin), look));
    let mode = Span::styled(known.permission.word(), tool::mode_style(known.permission, theme));
    let off = known.disabled.then(|| Span::styled("switched off", theme.danger));
    rows.push(fact("permission", std::iter::once(mode).chain(off).collect(), look));
    rows.push(plain(
        "price",
        &format!("{} tokens in every request", short(u64::from(known.tokens))),
        look,
    ));
    rows.extend([Line::default(), heading("Description (the server's words)", look)]);
    let description = text::block(&definition.description);
    let none = description.as_str().trim().is_empty();
    let shown = if none { "none" } else { description.as_str() };
    rows.extend(wrapped(shown, columns, if none { theme.muted } else { theme.text }));
    rows.extend([Line::default(), heading("Parameters", look)]);
    rows.extend(tool::parameters(known, columns, theme));
    rows
}

fn warnings(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let rows: Vec<_> =
        state.all_warnings().flat_map(|warning| self::warning(warning, columns, look)).collect();
    if rows.is_empty() { vec![Line::styled("No warnings.", look.theme.good)] } else { rows }
}

/// Where a warning comes from, in a few words.
pub(super) fn source(source: &Source) -> String {
    let raw = match source {
        Source::Config { file, line, field } => {
            let file = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{file}{line} {field}")
        }
        Source::Server(name) => name.to_string(),
        Source::Tool(id) => id.to_string(),
        Source::Model => "model".to_owned(),
        Source::Program => "mini-me".to_owned(),
    };
    text::strict_line(&raw).into_string()
}

fn warning(warning: &Warning, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let message = text::line(&warning.message);
    let line = format!("⚠ {}: {message}", source(&warning.source));
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
            let named = server.tools.iter().filter(|tool| tool.permission == mode);
            let names: Vec<String> =
                named.map(|tool| text::strict_line(tool.id.tool.as_str()).into_string()).collect();
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
