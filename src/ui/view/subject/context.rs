//! What the next request is made of: parts, tools by server, and how tools are handed over.

use ratatui::text::{Line, Span};

use super::super::{Look, short, wrapped};
use crate::domain::ToolSearch;
use crate::domain::model::WindowOrigin;
use crate::text;
use crate::ui::state::UiState;

/// The parts of the next request, with bars as long as their share of the window.
pub(super) fn rows(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let parts = &state.status.context;
    let whole = parts.window.unwrap_or_default().max(parts.total()).max(1);
    let room = u64::try_from(columns.saturating_sub(22)).unwrap_or_default();
    let mut rows: Vec<Line<'static>> = [
        ("system", parts.system),
        ("tools", parts.tools),
        ("messages", parts.messages),
        ("results", parts.results),
    ]
    .into_iter()
    .map(|(name, tokens)| {
        let cells =
            usize::try_from(tokens.saturating_mul(room).div_ceil(whole)).unwrap_or_default();
        Line::from(vec![
            Span::styled(format!("{name:<10} "), look.theme.muted),
            Span::styled(format!("{:>8}  ", short(tokens)), look.theme.text),
            Span::styled("█".repeat(cells), look.theme.accent),
        ])
    })
    .collect();
    let window = parts.window.map_or_else(
        || "the model's window is not known".to_owned(),
        |window| format!("of a window of {}{}", short(window), origin_of_window(state)),
    );
    rows.push(Line::default());
    let how = if parts.counted { "by the endpoint's count" } else { "estimated" };
    let total = format!("{} tokens in the next request ({how}), {window}.", short(parts.total()));
    rows.extend(wrapped(&total, columns, look.theme.text));
    rows.extend(tools(state, columns, look));
    rows
}

/// Where the window is known from, as the end of a sentence about it.
fn origin_of_window(state: &UiState) -> &'static str {
    match state.status.model.as_ref().map(|model| model.origin) {
        None => "",
        Some(WindowOrigin::Asked) => ", which the endpoint told",
        Some(WindowOrigin::Configured) => ", which is configured",
        Some(WindowOrigin::Assumed) => {
            ", which is assumed: set model.contextWindow if you know better"
        }
    }
}

/// What the tools of each server would cost, the most expensive first.
fn tools(state: &UiState, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut servers: Vec<(String, usize, u64)> = state
        .catalog
        .servers
        .iter()
        .filter(|server| server.state.usable())
        .map(|server| {
            let on = || server.tools.iter().filter(|tool| !tool.disabled);
            let name = text::strict_line(server.name.as_str()).into_string();
            (name, on().count(), on().map(|tool| u64::from(tool.tokens)).sum())
        })
        .filter(|(_, tools, _)| *tools > 0)
        .collect();
    servers.sort_by_key(|(_, _, tokens)| std::cmp::Reverse(*tokens));
    let mut rows = Vec::new();
    if servers.is_empty() {
        return rows;
    }
    rows.push(Line::default());
    // By server they are never counted by the endpoint, so they do not add up to its figure.
    let counted = state.status.context.counted;
    rows.push(super::heading(if counted { "Tools, as estimated" } else { "Tools" }, look));
    if let Some(search) = state.status.context.tool_search {
        rows.extend(wrapped(&searched(search), columns, look.theme.caution));
    }
    for (name, tools, tokens) in servers {
        let word = if tools == 1 { "tool" } else { "tools" };
        let line = format!("{:>8}  {name} ({tools} {word})", short(tokens));
        rows.extend(wrapped(&line, columns, look.theme.text));
    }
    rows
}

fn searched(search: ToolSearch) -> String {
    let ToolSearch { tools, handed, tokens } = search;
    format!(
        "tool search: {tools} tools, {handed} handed to the model. The definitions of all would take {} tokens; the model searches for what it needs.",
        short(tokens)
    )
}
