//! The draft: its frame, the editor, what is queued, completion.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Widget};

use super::{Look, framed};
use crate::text;
use crate::ui::layout;
use crate::ui::state::{Focus, UiState};
use crate::ui::update::command::{self, Command};

/// Rows of text that the draft takes in a frame of this width.
pub(super) fn rows(state: &UiState, width: u16) -> u16 {
    state.input.rows(width.saturating_sub(4))
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &mut UiState, look: Look<'_>) {
    let boxed = state.asking() && state.decisions.arming.armed();
    let focused = state.focus == Focus::Input && !boxed && state.overlay.is_none();
    let border = if focused { look.theme.focus } else { look.theme.border };
    let framed_in = area.height > 2;
    if framed_in {
        let block = framed(title(state, look), border).title_bottom(bottom(state, look));
        frame.render_widget(block, area);
    }
    let inner = if framed_in { layout::inside(area) } else { area };
    state.drawn.input = area;
    let gutter = Rect { width: inner.width.min(2), ..inner };
    frame.render_widget(Span::styled("› ", look.theme.accent), Rect { height: 1, ..gutter });
    let text = Rect { x: inner.x + gutter.width, width: inner.width - gutter.width, ..inner };
    editor(frame, text, state, look, focused);
    completions(frame, area, state, look);
}

fn editor(frame: &mut Frame<'_>, area: Rect, state: &mut UiState, look: Look<'_>, focused: bool) {
    if let Some(search) = &state.input.search {
        let found = state.input.found().map(|found| text::line(found).into_string());
        let line = Line::from(vec![
            Span::styled("search: ", look.theme.muted),
            Span::styled(text::line(&search.query).into_string(), look.theme.accent),
            Span::raw("  "),
            found.map_or_else(
                || Span::styled("nothing found", look.theme.muted),
                |found| Span::styled(found, look.theme.text),
            ),
        ]);
        frame.render_widget(line, area);
        return;
    }
    let area_of = &mut state.input.area;
    area_of.set_style(look.theme.text);
    area_of.set_placeholder_style(look.theme.muted);
    area_of.set_placeholder_text("Ask something; / for commands");
    area_of.set_cursor_style(if focused { look.theme.selected } else { look.theme.text });
    frame.render_widget(&*area_of, area);
}

fn title(state: &UiState, look: Look<'_>) -> Line<'static> {
    let queued = state.status.queued.len();
    if state.waiting_prompt.is_some() {
        return Line::styled(" your prompt is sent when discovery is done ", look.theme.caution);
    }
    match queued {
        0 => Line::styled(" message ", look.theme.muted),
        1 => Line::styled(" message · 1 queued ", look.theme.caution),
        _ => Line::styled(format!(" message · {queued} queued "), look.theme.caution),
    }
}

fn bottom(state: &UiState, look: Look<'_>) -> Line<'static> {
    let waiting = state.decisions.waiting();
    let boxed = state.decisions.visible();
    let key = look.keymap.hint(crate::ui::keymap::Action::Decision);
    let word = match (boxed, waiting) {
        (_, 0) => return Line::default(),
        (true, _) if state.decisions.in_draft => " Tab goes back to the decision ".to_owned(),
        (true, _) => return Line::default(),
        (false, 1) => format!(" 1 decision waits: {key} "),
        (false, many) => format!(" {many} decisions wait: {key} "),
    };
    Line::styled(word, look.theme.caution)
}

/// The commands that the draft may become, above it.
fn completions(frame: &mut Frame<'_>, input: Rect, state: &UiState, look: Look<'_>) {
    let choices = command::completions(&state.input);
    if choices.is_empty() || state.focus != Focus::Input || state.decisions.visible() {
        return;
    }
    let rows =
        u16::try_from(choices.len()).unwrap_or(u16::MAX).min(input.y.saturating_sub(2)).min(10);
    let area = Rect {
        x: input.x,
        y: input.y.saturating_sub(rows + 2),
        width: input.width.min(84),
        height: rows + 2,
    };
    if rows == 0 {
        return;
    }
    Clear.render(area, frame.buffer_mut());
    let title = if choices.len() > usize::from(rows) {
        format!(" {} commands · ↑↓ ", choices.len())
    } else {
        " commands ".to_owned()
    };
    let block = framed(Line::styled(title, look.theme.muted), look.theme.border);
    frame.render_widget(block, area);
    let chosen = state.input.completion.min(choices.len() - 1);
    let first = (chosen + 1).saturating_sub(usize::from(rows));
    let inner = layout::inside(area);
    let wide = usize::from(inner.width);
    let called = |command: &Command| format!("/{} {}", command.name, command.argument);
    let longest = choices.iter().map(|command| text::width(&called(command))).max();
    let names = longest.unwrap_or(0).clamp(20, (wide / 2).max(20));
    let lines: Vec<Line<'_>> = choices
        .iter()
        .enumerate()
        .skip(first)
        .take(usize::from(rows))
        .map(|(at, command)| {
            let style = if at == chosen { look.theme.selected } else { look.theme.text };
            let help = text::cut(command.help, wide.saturating_sub(names + 1));
            let row = format!("{} {help}", pad(&called(command), names));
            Line::styled(pad(&row, wide), style)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Cuts or fills to exactly so many columns.
pub(super) fn pad(text: &str, columns: usize) -> String {
    let mut cut =
        if text::width(text) > columns { text::cut(text, columns) } else { text.to_owned() };
    let missing = columns.saturating_sub(text::width(&cut));
    cut.push_str(&" ".repeat(missing));
    cut
}
