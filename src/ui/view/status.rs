//! The status line: what goes on at the left, figures at the right, hints where there is room.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Look, hints, short};
use crate::domain::ContextParts;
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::state::UiState;

/// Columns between what stands side by side.
const GAP: usize = 3;
/// Columns kept for what goes on: figures must not come and go as its words change.
const STEADY: usize = 16;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &UiState, look: Look<'_>) {
    let (word, style) = doing(state, look);
    let columns = usize::from(area.width);
    // What goes on is worth more than figures, figures more than hints.
    let left = text::cut(&word, columns.saturating_sub(2));
    let left_wide = text::width(&left) + 1;
    frame.render_widget(Line::from(vec![Span::raw(" "), Span::styled(left, style)]), area);
    let figures = figures(state, look, columns.saturating_sub(left_wide.max(STEADY) + GAP));
    let right = figures.width();
    if left_wide + right < columns {
        frame.render_widget(figures.alignment(Alignment::Right), area);
    }
    let free = columns.saturating_sub(left_wide + GAP + right + GAP);
    if free > 6 {
        let at = u16::try_from(left_wide + GAP).unwrap_or(area.width).min(area.width);
        let place = Rect { x: area.x + at, width: area.width - at, ..area };
        frame.render_widget(hints(&keys(state, look), free, look.theme), place);
    }
}

fn doing(state: &UiState, look: Look<'_>) -> (String, Style) {
    let theme = look.theme;
    if state.quit_until.is_some() {
        let key = look.keymap.hint(Action::Interrupt);
        return (format!("press {key} again to quit"), theme.caution);
    }
    if let Some((said, _)) = &state.status.said {
        return (said.clone(), theme.accent);
    }
    let waiting = state.decisions.waiting();
    if waiting > 0 {
        return (format!("waiting for you ({waiting})"), theme.caution);
    }
    let Some(turn) = &state.status.turn else {
        let connecting = !state.catalog.settled();
        let word = if connecting { "connecting to servers" } else { "ready" };
        return (word.to_owned(), if connecting { theme.muted } else { theme.good });
    };
    let took = seconds(look.now.saturating_duration_since(turn.since));
    match &turn.retrying {
        _ if turn.cancelling => (format!("cancelling {took}"), theme.caution),
        Some((attempt, after, reason)) => {
            let reason = text::line(reason);
            (format!("retry {attempt} in {}: {reason}", seconds(*after)), theme.caution)
        }
        None => (format!("working {took}"), theme.accent),
    }
}

/// `8s`, `2m05s`.
pub(super) fn seconds(time: Duration) -> String {
    let all = time.as_secs();
    if all < 60 { format!("{all}s") } else { format!("{}m{:02}s", all / 60, all % 60) }
}

/// How much the figures say; the richest that has room is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Detail {
    model: bool,
    tools: bool,
    words: bool,
    parts: Parts,
}

/// How the parts of the context are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// `1.3k of 32k: 438 system, 853 tools`.
    Words,
    /// `1.3k/32k: sys 438 tool 853`.
    Short,
    /// `1.3k/32k`.
    None,
}

const DETAILS: [Detail; 6] = [
    Detail { model: true, tools: true, words: true, parts: Parts::Words },
    Detail { model: true, tools: true, words: true, parts: Parts::Short },
    Detail { model: true, tools: false, words: false, parts: Parts::Short },
    Detail { model: false, tools: false, words: false, parts: Parts::Short },
    Detail { model: false, tools: true, words: false, parts: Parts::None },
    Detail { model: false, tools: false, words: false, parts: Parts::None },
];

fn figures(state: &UiState, look: Look<'_>, room: usize) -> Line<'static> {
    let lines = DETAILS.into_iter().map(|detail| detailed(state, look, detail));
    let mut last = Line::default();
    for line in lines {
        if line.width() <= room {
            return line;
        }
        last = line;
    }
    last
}

fn detailed(state: &UiState, look: Look<'_>, detail: Detail) -> Line<'static> {
    let theme = look.theme;
    let mut parts: Vec<Span<'static>> = Vec::new();
    let warnings = state.all_warnings().count();
    if warnings > 0 {
        parts.push(Span::styled(format!("⚠ {warnings}"), theme.caution));
    }
    let servers = &state.catalog.servers;
    if !servers.is_empty() {
        let on = servers
            .iter()
            .filter(|server| !matches!(server.state, crate::domain::ServerState::Disabled { .. }));
        let all = on.count();
        let ready = servers.iter().filter(|server| server.state.usable()).count();
        let style = if ready == all { theme.good } else { theme.caution };
        let word = if detail.words { "servers " } else { "" };
        parts.push(Span::styled(format!("{word}{ready}/{all}"), style));
        if detail.tools {
            let words = if let Some(search) = state.status.context.tool_search {
                format!("{} of {} tools", search.handed, search.tools)
            } else {
                let tools = state.catalog.tools().filter(|tool| !tool.disabled).count();
                format!("{tools} tools")
            };
            parts.push(Span::styled(words, theme.muted));
        }
    }
    if state.status.context.total() > 0 {
        parts.push(context(&state.status.context, detail.parts, look));
    }
    if detail.model && !state.options.model.is_empty() {
        let model = text::line(&state.options.model).into_string();
        parts.push(Span::styled(text::cut(&model, 24), theme.muted));
    }
    let mut spans = Vec::new();
    for part in parts {
        spans.push(part);
        spans.push(Span::styled(" · ", theme.muted));
    }
    spans.pop();
    spans.push(Span::raw(" "));
    Line::from(spans)
}

/// Tokens of the next request and the window; by part where there is room. Empty parts are not
/// named.
fn context(parts: &ContextParts, how: Parts, look: Look<'_>) -> Span<'static> {
    let total = parts.total();
    let window = parts.window.filter(|window| *window > 0);
    let style = match window.map(|window| total.saturating_mul(100) / window) {
        None | Some(0..70) => look.theme.muted,
        Some(70..90) => look.theme.caution,
        Some(_) => look.theme.danger,
    };
    let mut text = match (window, how) {
        (None, _) => format!("{} tok", short(total)),
        (Some(window), Parts::Words) => format!("{} of {} tok", short(total), short(window)),
        (Some(window), _) => format!("{}/{}", short(total), short(window)),
    };
    let of = [
        ("system", "sys", parts.system),
        ("tools", "tool", parts.tools),
        ("messages", "msg", parts.messages),
        ("results", "res", parts.results),
    ];
    let of = of.into_iter().filter(|(_, _, tokens)| *tokens > 0);
    let named = |(word, brief, tokens): (&str, &str, u64)| match how {
        Parts::Words => format!("{word} {}", short(tokens)),
        Parts::Short | Parts::None => format!("{brief} {}", short(tokens)),
    };
    if how != Parts::None {
        let of: Vec<String> = of.map(named).collect();
        text = format!("{text}: {}", of.join(if how == Parts::Words { ", " } else { " " }));
    }
    Span::styled(text, style)
}

fn keys(state: &UiState, look: Look<'_>) -> Vec<(String, &'static str)> {
    let hint = |action, word| (look.keymap.hint(action), word);
    let running = state.status.turn.is_some();
    let mut keys = Vec::new();
    if running {
        keys.push(hint(Action::Interrupt, "cancel"));
    }
    keys.push(hint(Action::Help, "help"));
    keys.push(hint(Action::Palette, "commands"));
    keys.push(hint(Action::TogglePanel, "tools"));
    keys
}
