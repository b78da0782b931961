//! The status line: what goes on at the left, figures at the right, hints where there is room.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Look, hints, short};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::state::UiState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &UiState, look: Look<'_>) {
    let (word, style) = doing(state, look);
    let columns = usize::from(area.width);
    let figures = figures(state, look, columns);
    let right = figures.width();
    // What goes on is worth more than figures, figures more than hints.
    let room = columns.saturating_sub(right + 2);
    let left =
        text::cut(&word, if text::width(&word) > room { columns.saturating_sub(2) } else { room });
    let left_wide = text::width(&left) + 1;
    let figures_fit = left_wide + right < columns;
    frame.render_widget(Line::from(vec![Span::raw(" "), Span::styled(left, style)]), area);
    if figures_fit {
        frame.render_widget(figures.alignment(Alignment::Right), area);
    }
    let used = if figures_fit { left_wide + right + 1 } else { columns };
    let free = columns.saturating_sub(used + 4);
    let keys = hints(&keys(state, look), free, look.theme);
    let at = u16::try_from(left_wide + 3).unwrap_or(area.width).min(area.width);
    let place = Rect { x: area.x + at, width: area.width - at, ..area };
    if free > 8 {
        frame.render_widget(keys, place);
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

fn figures(state: &UiState, look: Look<'_>, columns: usize) -> Line<'static> {
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
        let word = if columns >= 70 { "servers " } else { "" };
        parts.push(Span::styled(format!("{word}{ready}/{all}"), style));
        let tools = state.catalog.tools().filter(|tool| !tool.disabled).count();
        if columns >= 60 {
            parts.push(Span::styled(format!("{tools} tools"), theme.muted));
        }
    }
    if state.status.context.total() > 0 {
        parts.push(context(state, columns, look));
    }
    if columns >= 80 && !state.options.model.is_empty() {
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

/// `12.3k/32k`: tokens of the next request and the window; by part where there is room.
fn context(state: &UiState, columns: usize, look: Look<'_>) -> Span<'static> {
    let parts = &state.status.context;
    let total = parts.total();
    let Some(window) = parts.window.filter(|window| *window > 0) else {
        return Span::styled(format!("{} tok", short(total)), look.theme.muted);
    };
    let style = match total.saturating_mul(100) / window {
        0..70 => look.theme.muted,
        70..90 => look.theme.caution,
        _ => look.theme.danger,
    };
    let mut text = format!("{}/{}", short(total), short(window));
    if columns >= 110 {
        let of = [
            ("system", parts.system),
            ("tools", parts.tools),
            ("messages", parts.messages),
            ("results", parts.results),
        ];
        let of = of.map(|(name, tokens)| format!("{name} {}", short(tokens)));
        text = format!("{text} ({})", of.join(" "));
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
