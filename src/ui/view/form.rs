//! The form for calling a tool with arguments of one's own.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Look, edge, framed, tool};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::UiState;
use crate::ui::state::page::CallForm;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    screen: Rect,
    form: &mut CallForm,
    state: &UiState,
    look: Look<'_>,
) {
    let area = layout::middle(
        screen,
        screen.width.saturating_sub(4).min(90),
        screen.height.saturating_sub(2),
    );
    super::clear(frame, area);
    let name = text::strict_line(&form.tool.to_string()).into_string();
    let block = framed(Line::styled(format!(" call {name} "), look.theme.title), look.theme.focus);
    let keys =
        [(look.keymap.hint(Action::Apply), "call"), (look.keymap.hint(Action::Discard), "back")];
    let block = block.title_bottom(edge(&keys, area.width, look.theme));
    frame.render_widget(block, area);
    let inner = layout::inside(area);
    let (top, below) = split(inner, 2);
    form.area.set_style(look.theme.text);
    frame.render_widget(&*form.area, top);
    let fault = form.fault.as_ref().map(|fault| text::line(fault).into_string());
    let line = fault.map_or_else(
        || Line::styled("Arguments as JSON. The tool's parameters:", look.theme.muted),
        |fault| Line::styled(fault, look.theme.danger),
    );
    let (head, rest) = split_first(below);
    frame.render_widget(line, head);
    if let Some(known) = state.catalog.tool(&form.tool) {
        let rows = tool::parameters(known, usize::from(rest.width), look.theme);
        frame.render_widget(ratatui::widgets::Paragraph::new(rows), rest);
    }
}

fn split(area: Rect, parts: u16) -> (Rect, Rect) {
    let height = area.height / parts;
    let below = Rect { y: area.y + height, height: area.height - height, ..area };
    (Rect { height, ..area }, below)
}

fn split_first(area: Rect) -> (Rect, Rect) {
    let first = area.height.min(1);
    let rest = Rect { y: area.y + first, height: area.height - first, ..area };
    (Rect { height: first, ..area }, rest)
}
