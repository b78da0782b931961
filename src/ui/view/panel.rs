//! The side panel: only the rows that can be seen are made.

use std::borrow::Cow;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::input::pad;
use super::{Look, edge, framed, short, tool};
use crate::bridge::Target;
use crate::domain::{Era, PinState, Server, ServerState, Tool, Warning};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::origin;
use crate::ui::state::panel::Row;
use crate::ui::state::{Focus, UiState};
use crate::ui::theme::Theme;

/// Columns left free at the right.
const MARGIN: usize = 1;

/// The colour of a server's state.
pub(super) fn state_style(state: &ServerState, theme: &Theme) -> Style {
    match state {
        ServerState::Connecting => theme.accent,
        ServerState::Ready => theme.good,
        ServerState::Degraded { .. } | ServerState::NeedsAuth { .. } => theme.caution,
        ServerState::Failed { .. } => theme.danger,
        ServerState::Disabled { .. } => theme.muted,
    }
}

/// A mark for a state; the word always stands beside it.
fn icon(state: &ServerState) -> &'static str {
    match state {
        ServerState::Connecting => "◌",
        ServerState::Ready => "●",
        ServerState::Degraded { .. } => "◐",
        ServerState::NeedsAuth { .. } => "!",
        ServerState::Failed { .. } => "×",
        ServerState::Disabled { .. } => "○",
    }
}

/// An era in a word.
pub(super) fn era_word(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// The latest times as bars, at most so many, the highest one full.
pub(super) fn sparkline(latency: &[Duration], cells: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let latest = latency.get(latency.len().saturating_sub(cells)..).unwrap_or_default();
    let most = latest.iter().max().map_or(1, |most| most.as_micros().max(1));
    let bar = |time: &Duration| {
        let at = usize::try_from(time.as_micros() * 7 / most).unwrap_or(7);
        BARS.get(at).copied().unwrap_or('█')
    };
    latest.iter().map(bar).collect()
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut UiState, look: Look<'_>) {
    let focused = state.focus == Focus::Panel && state.overlay.is_none();
    let border = if focused { look.theme.focus } else { look.theme.border };
    frame.render_widget(block(state, area, look, border, focused), area);
    let inner = layout::inside(area);
    let warnings = warnings(state, usize::from(inner.width), inner.height / 3, look);
    let below = u16::try_from(warnings.len()).unwrap_or_default();
    let rows = Rect { height: inner.height - below.min(inner.height), ..inner };
    state.drawn.panel = rows;
    if state.panel.height != usize::from(rows.height) {
        state.panel.height = usize::from(rows.height);
        state.panel.reveal();
    }
    let lines = lines(state, usize::from(rows.width), look, focused);
    frame.render_widget(Paragraph::new(lines), rows);
    let place = Rect { y: rows.bottom(), height: inner.height - rows.height, ..inner };
    frame.render_widget(Paragraph::new(warnings), place);
}

fn block(
    state: &UiState,
    area: Rect,
    look: Look<'_>,
    border: Style,
    focused: bool,
) -> ratatui::widgets::Block<'static> {
    let filter = text::line(&state.panel.filter).into_string();
    let title = if filter.is_empty() {
        Line::styled(" servers and tools ", look.theme.title)
    } else {
        Line::styled(format!(" filter: {filter} "), look.theme.accent)
    };
    let hint = |action, word| (look.keymap.hint(action), word);
    let details = hint(Action::Details, "details");
    let toggle = hint(Action::Toggle, "on/off");
    // What fits is what is wanted of the thing that is selected.
    let keys = match state.panel.target(&state.catalog).filter(|_| focused) {
        Some(Target::Server(_)) => {
            vec![hint(Action::Reconnect, "reconnect"), toggle, details]
        }
        Some(Target::Tool(_)) => vec![details, hint(Action::CallTool, "call"), toggle],
        None if focused => vec![details, toggle],
        None => vec![hint(Action::FocusPanel, "go here")],
    };
    let keys = edge(&keys, area.width, look.theme);
    framed(title, border).title_bottom(keys.alignment(Alignment::Right))
}

fn lines(state: &UiState, columns: usize, look: Look<'_>, focused: bool) -> Vec<Line<'static>> {
    let panel = &state.panel;
    if panel.rows().is_empty() {
        return vec![Line::default(), empty(state, look)];
    }
    let shown = panel.rows().iter().enumerate().skip(panel.scroll).take(panel.height);
    shown
        .map(|(at, row)| {
            let line = self::row(*row, state, columns, look).unwrap_or_default();
            if focused && at == panel.selected { chosen(&line, columns, look) } else { line }
        })
        .collect()
}

/// The selected row: one style over its whole width.
fn chosen(line: &Line<'static>, columns: usize, look: Look<'_>) -> Line<'static> {
    let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
    Line::styled(pad(&text, columns), look.theme.selected)
}

fn empty(state: &UiState, look: Look<'_>) -> Line<'static> {
    let word = if state.catalog.servers.is_empty() {
        " no servers are configured"
    } else {
        " nothing of that name"
    };
    Line::styled(word, look.theme.muted)
}

fn row(row: Row, state: &UiState, columns: usize, look: Look<'_>) -> Option<Line<'static>> {
    let catalog = &state.catalog;
    Some(match row {
        Row::Server(at) => {
            let server = catalog.servers.get(at)?;
            self::server(server, state.panel.folded.contains(&server.name), columns, look)
        }
        Row::Facts(at) => facts(catalog.servers.get(at)?, columns, look),
        Row::Reason(at) => {
            let server = catalog.servers.get(at)?;
            let place = match &server.state {
                ServerState::Failed { stage, .. } => format!("{stage}: "),
                _ => String::new(),
            };
            let reason = text::line(server.state.reason());
            let line = text::cut(&format!("  {place}{reason}"), columns);
            Line::styled(line, state_style(&server.state, look.theme))
        }
        Row::Nothing(_) => Line::styled("   no tools", look.theme.muted),
        Row::Tool(at, place) => {
            let server = catalog.servers.get(at)?;
            self::tool(server.tools.get(place)?, server, columns, look)
        }
        Row::Filtered(at, place) => {
            let left_out = catalog.servers.get(at)?.filtered.get(place)?;
            let name = text::strict_line(left_out.name.as_str());
            let line = format!("  {name}: {}", text::line(&left_out.reason));
            Line::styled(text::cut(&line, columns), look.theme.muted)
        }
    })
}

fn server(server: &Server, folded: bool, columns: usize, look: Look<'_>) -> Line<'static> {
    let word = server.state.word();
    let style = state_style(&server.state, look.theme);
    let fold = if folded { " ▸" } else { "" };
    let name = text::strict_line(server.name.as_str());
    let name = pad(&format!("{name}{fold}"), columns.saturating_sub(word.len() + MARGIN + 3));
    Line::from(vec![
        Span::styled(format!("{} ", icon(&server.state)), style),
        Span::styled(name, look.theme.server),
        Span::styled(format!(" {word}"), style),
    ])
}

fn facts(server: &Server, columns: usize, look: Look<'_>) -> Line<'static> {
    let mut parts = Vec::new();
    parts.extend(server.connection.as_ref().map(|known| era_word(known.era).to_owned()));
    parts.push(server.permission.word().to_owned());
    if server.state.usable() {
        let tokens: u64 = server.tools.iter().map(|tool| u64::from(tool.tokens)).sum();
        let count = server.tools.len();
        parts.push(format!("{count} tool{}", if count == 1 { "" } else { "s" }));
        parts.push(format!("{} tok", short(tokens)));
    }
    let mut line = format!("  {}", parts.join(" · "));
    if let Some(last) = server.latency.last() {
        let bars = sparkline(&server.latency, 8);
        let with = format!("{line} · {}ms {bars}", last.as_millis());
        let with_bars = format!("{line} {bars}");
        line =
            [with, with_bars].into_iter().find(|line| text::width(line) <= columns).unwrap_or(line);
    }
    Line::styled(text::cut(&line, columns), look.theme.muted)
}

/// The name after the server's, then marks in columns of their own.
fn tool(known: &Tool, server: &Server, columns: usize, look: Look<'_>) -> Line<'static> {
    let theme = look.theme;
    let read_only = known.definition.annotations.read_only_hint == Some(true);
    // Where none was known before, the server itself is new: no single tool is news then.
    let first_sight = !server.tools.iter().any(|tool| tool.pin_state == PinState::Known);
    let pin_word = |state| if first_sight && state == PinState::New { "" } else { pin_word(state) };
    let pins = server.tools.iter().map(|tool| pin_word(tool.pin_state).len()).max();
    let pins = pins.filter(|pins| *pins > 0).map_or(0, |pins| pins + 1);
    let pin_style = match known.pin_state {
        PinState::Known | PinState::New => theme.accent,
        PinState::Changed => theme.danger,
    };
    let (word, style) = if known.disabled {
        ("off", theme.muted)
    } else {
        (known.permission.word(), tool::mode_style(known.permission, theme))
    };
    let marks = [
        Span::styled(if read_only { " ro" } else { "   " }, theme.muted),
        Span::styled(format!("{:>pins$}", pin_word(known.pin_state)), pin_style),
        Span::styled(format!(" {word:>4}"), style),
    ];
    let wide: usize = marks.iter().map(Span::width).sum();
    let off = known.disabled || !server.state.usable();
    let room = columns.saturating_sub(wide + MARGIN);
    let name = text::strict_line(known.model_name.without_server(&known.id));
    let name = text::cut_middle(name.as_str(), room.saturating_sub(2));
    let name = pad(&format!("  {name}"), room);
    let mut spans = vec![Span::styled(name, if off { theme.muted } else { theme.text })];
    spans.extend(marks);
    Line::from(spans)
}

fn pin_word(state: PinState) -> &'static str {
    match state {
        PinState::Known => "",
        PinState::New => "new",
        PinState::Changed => "changed",
    }
}

/// The latest warnings at the bottom, at most so many rows.
fn warnings(state: &UiState, columns: usize, most: u16, look: Look<'_>) -> Vec<Line<'static>> {
    let all: Vec<Cow<'_, Warning>> = state.all_warnings().collect();
    if all.is_empty() || most < 3 {
        return Vec::new();
    }
    let key = look.keymap.hint(Action::Warnings);
    let title = match all.len() {
        1 => format!(" 1 warning · {key} "),
        many => format!(" {many} warnings · {key} "),
    };
    let rule = columns.saturating_sub(text::width(&title));
    let mut rows = vec![Line::from(vec![
        Span::styled(title, look.theme.caution),
        Span::styled("─".repeat(rule), look.theme.border),
    ])];
    for warning in all {
        let message = text::line(&warning.message);
        let line = format!("{}{message}", origin::of(&warning));
        let mut block = super::wrapped(&line, columns, look.theme.text);
        if !warning.advice.is_empty() {
            let advice = format!("→ {}", text::line(&warning.advice));
            block.extend(super::wrapped(&advice, columns, look.theme.muted));
        }
        if rows.len() + block.len() > usize::from(most) {
            // A part of the first warning says more than none.
            let room = usize::from(most).saturating_sub(rows.len());
            if rows.len() == 1 {
                rows.extend(block.into_iter().take(room));
            }
            break;
        }
        rows.extend(block);
    }
    rows
}
