//! Draws one frame. Splits the screen and delegates; remembers where things are, for the mouse.

mod approval;
mod change;
mod elicit;
mod fields;
mod form;
mod input;
mod models;
mod page;
mod palette;
mod panel;
mod pick;
mod status;
mod strict;
mod subject;
mod tool;
mod wire;

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Widget};

use super::keymap::Keymap;
use super::layout::{self, MIN, Want};
use super::pick::Picker;
use super::state::{Drawn, Overlay, UiState};
use super::theme::Theme;

/// What every part needs for drawing.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    keymap: &'a Keymap,
    theme: &'a Theme,
    now: Instant,
}

/// Draws one frame. Never fails, whatever the size.
pub fn draw(
    frame: &mut Frame<'_>,
    state: &mut UiState,
    keymap: &Keymap,
    theme: &Theme,
    now: Instant,
) {
    let look = Look { keymap, theme, now };
    let screen = frame.area();
    state.drawn = Drawn::default();
    let narrow = screen.width < layout::WIDE;
    // Nothing lies over a decision but what the user has just gone to.
    let covers = narrow && state.decisions.visible() && state.focus != super::state::Focus::Panel;
    let panel = state.panel.wanted.filter(|_| !covers);
    let mut want = Want { sidebar: state.options.sidebar_width, panel, ..Want::default() };
    let width = layout::left_width(screen, want);
    want.input_rows = input::rows(state, width);
    want.dialog_rows = approval::rows(state, (width, screen.height), look);
    let Some(areas) = layout::areas(screen, want) else {
        state.decisions.arming.hidden();
        return too_small(frame, theme);
    };

    state.drawn.conversation = areas.conversation;
    state.drawn.panel_over = areas.panel_over;
    state.drawn.wide = !narrow;
    state.conversation.draw(areas.conversation, frame.buffer_mut(), theme, now);
    if state.decisions.visible() {
        state.drawn.dialog = areas.dialog;
        if state.overlay.is_none() && !areas.panel_over {
            state.decisions.arming.shown(now);
        } else {
            state.decisions.arming.hidden();
        }
        approval::draw(frame, areas.dialog, state, look);
    }
    input::draw(frame, areas.input, state, look);
    if !areas.panel.is_empty() {
        if areas.panel_over {
            Clear.render(areas.panel, frame.buffer_mut());
        }
        panel::draw(frame, areas.panel, state, look);
    } else if state.focus == super::state::Focus::Panel {
        state.focus = super::state::Focus::Input;
        state.decisions.arming.disturb(now);
    }
    status::draw(frame, areas.status, state, look);
    overlay(frame, screen, state, look);
}

fn overlay(frame: &mut Frame<'_>, screen: Rect, state: &mut UiState, look: Look<'_>) {
    let mut overlay = state.overlay.take();
    match &mut overlay {
        Some(Overlay::Page(page)) => page::draw(frame, screen, page, state, look),
        Some(Overlay::Palette(palette)) => palette::draw(frame, screen, palette, look),
        Some(Overlay::Models(models)) => models::draw(frame, screen, models, look),
        Some(Overlay::CallTool(form)) => form::draw(frame, screen, form, state, look),
        Some(Overlay::Wire(view)) => wire::draw(frame, screen, view, look),
        Some(Overlay::Pick(picker)) => pick::draw(frame, screen, picker, look),
        None => {}
    }
    state.overlay = overlay;
}

/// Draws a list to choose from where there is nothing else to be seen.
pub fn picker(
    frame: &mut Frame<'_>,
    picker: &mut Picker,
    keymap: &Keymap,
    theme: &Theme,
    now: Instant,
) {
    let screen = frame.area();
    if screen.width < MIN.0 || screen.height < MIN.1 {
        return too_small(frame, theme);
    }
    pick::draw(frame, screen, picker, Look { keymap, theme, now });
}

fn too_small(frame: &mut Frame<'_>, theme: &Theme) {
    let area = frame.area();
    let text = format!("needs {}×{}, has {}×{}", MIN.0, MIN.1, area.width, area.height);
    let rows = crate::text::wrap(&text, usize::from(area.width.max(1)));
    let lines: Vec<Line<'_>> = rows.into_iter().map(Line::from).collect();
    let height = u16::try_from(lines.len()).unwrap_or(1);
    let area = layout::middle(area, area.width, height);
    let notice = Paragraph::new(lines).style(theme.caution).alignment(Alignment::Center);
    frame.render_widget(notice, area);
}

/// The frame of an area.
fn framed(title: Line<'_>, border: Style) -> Block<'_> {
    Block::bordered().border_type(BorderType::Rounded).border_style(border).title(title)
}

/// Hints such as `y once  n deny`, as many as fit.
fn hints(pairs: &[(String, &str)], columns: usize, theme: &Theme) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (key, word) in pairs.iter().filter(|(key, _)| !key.is_empty()) {
        let gap = if spans.is_empty() { 0 } else { 2 };
        let wide = gap + crate::text::width(key) + 1 + crate::text::width(word);
        if used + wide > columns {
            break;
        }
        used += wide;
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(key.clone(), theme.accent));
        spans.push(Span::styled(format!(" {word}"), theme.muted));
    }
    Line::from(spans)
}

/// Hints for the lower edge of a frame.
fn edge(pairs: &[(String, &str)], width: u16, theme: &Theme) -> Line<'static> {
    let mut line = hints(pairs, usize::from(width.saturating_sub(4)), theme);
    line.spans.insert(0, Span::raw(" "));
    line.push_span(Span::raw(" "));
    line
}

/// Clears a place for a box, and a column at either side so that nothing touches it.
fn clear(frame: &mut Frame<'_>, area: Rect) {
    let wider = Rect { x: area.x.saturating_sub(1), width: area.width.saturating_add(2), ..area };
    Clear.render(wider.intersection(frame.area()), frame.buffer_mut());
}

/// A name and its values; values that do not fit go on below, whole.
fn facts(
    name: &str,
    values: Vec<Span<'static>>,
    (names, columns): (usize, usize),
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(names).max(1);
    let mut rows: Vec<Line<'static>> = Vec::new();
    let mut row: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for value in values {
        let wide = value.width();
        let gap = if row.is_empty() { 0 } else { 3 };
        if gap > 0 && used + gap + wide > room {
            rows.push(Line::from(std::mem::take(&mut row)));
            used = 0;
        }
        if wide > room {
            rows.extend(wrapped(&value.content, room, value.style));
            continue;
        }
        if !row.is_empty() {
            row.push(Span::styled(" · ", look.theme.muted));
            used += 3;
        }
        used += wide;
        row.push(value);
    }
    if !row.is_empty() {
        rows.push(Line::from(row));
    }
    for (at, row) in rows.iter_mut().enumerate() {
        let label = if at == 0 { format!("{name:<names$}") } else { " ".repeat(names) };
        row.spans.insert(0, Span::styled(label, look.theme.muted));
    }
    rows
}

/// A count with a unit that keeps it short: `950`, `2.3k`, `32k`, `1.2M`.
pub(super) fn short(count: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", count / unit, count % unit / (unit / 10));
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => format!("{}k", tenths(1_000)),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", tenths(1_000_000)),
    }
}

/// Rows as lines of one style, wrapped to a width.
fn wrapped(text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    text.split('\n')
        .flat_map(|line| crate::text::wrap(line, columns))
        .map(|row| Line::styled(row, style))
        .collect()
}
