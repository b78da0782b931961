//! The form for calling a tool: its parameters as fields, or arguments as JSON.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use tui_textarea::TextArea;

use super::fields::{self, Focus, Room};
use super::{Look, edge, framed, tool, wrapped};
use crate::domain::Tool;
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::UiState;
use crate::ui::state::form::Form;
use crate::ui::state::page::{Body, CallForm};

pub(super) fn draw(
    frame: &mut Frame<'_>,
    screen: Rect,
    form: &mut CallForm,
    state: &UiState,
    look: Look<'_>,
) {
    let known = state.catalog.tool(&form.tool);
    let body = Rect { height: screen.height.saturating_sub(1), ..screen };
    let width = body.width.saturating_sub(if body.width >= 80 { 8 } else { 0 }).min(90);
    let columns = usize::from(width.saturating_sub(4)).max(1);
    match &mut form.body {
        Body::Fields(fields) => {
            let (rows, focused) = self::rows(fields, known.map(AsRef::as_ref), columns, look);
            let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2);
            let area = layout::middle(body, width, height.max(5));
            super::clear(frame, area);
            let text = inside(area);
            follow(fields, rows.len(), usize::from(text.height), &focused);
            let keys = hints(true, fields.fields.len(), look);
            frame.render_widget(block(&form.tool.to_string(), area, &keys, look), area);
            let shown = rows.into_iter().skip(fields.scroll).take(usize::from(text.height));
            frame.render_widget(Paragraph::new(shown.collect::<Vec<_>>()), text);
        }
        Body::Json { area: editor, fault } => {
            let area = layout::middle(body, width, body.height);
            super::clear(frame, area);
            let keys = hints(false, 0, look);
            frame.render_widget(block(&form.tool.to_string(), area, &keys, look), area);
            let fault = fault.as_deref();
            json(frame, inside(area), editor, fault, known.map(AsRef::as_ref), look);
        }
    }
}

fn inside(area: Rect) -> Rect {
    let inner = layout::inside(area);
    Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner }
}

fn hints(as_fields: bool, fields: usize, look: Look<'_>) -> Vec<(String, &'static str)> {
    let key = |action| look.keymap.hint(action);
    let mut keys = vec![(key(Action::FormSend), "call"), (key(Action::FieldOut), "back")];
    if fields > 1 {
        keys.push((key(Action::FieldNext), "next"));
    }
    keys.push((key(Action::FormJson), if as_fields { "as JSON" } else { "as fields" }));
    keys
}

fn block(
    tool: &str,
    area: Rect,
    keys: &[(String, &'static str)],
    look: Look<'_>,
) -> ratatui::widgets::Block<'static> {
    let name = text::cut(text::strict_line(tool).as_str(), usize::from(area.width / 2));
    framed(Line::styled(format!(" call {name} "), look.theme.title), look.theme.focus)
        .title_bottom(edge(keys, area.width, look.theme))
}

fn rows(
    form: &Form,
    known: Option<&Tool>,
    columns: usize,
    look: Look<'_>,
) -> (Vec<Line<'static>>, Focus) {
    let theme = look.theme;
    let mut above = Vec::new();
    if known.is_none() {
        above.push(Line::styled("The tool is no longer on offer.", theme.danger));
    }
    if let Some(fault) = &form.fault {
        above.extend(wrapped(text::line(fault).as_str(), columns, theme.danger));
    }
    if form.fields.is_empty() {
        above.push(Line::styled("It takes no arguments.", theme.muted));
    }
    let room = Room { columns, tight: false, live: true };
    let (rows, focus) = fields::rows(form, room, look);
    let from = above.len();
    above.extend(rows);
    // What is wrong with the whole stands at the top.
    let focus =
        if form.fault.is_some() { Focus { rows: 0..from, cursor: 0 } } else { focus.below(from) };
    (above, focus)
}

/// Scrolls a form so that the field with the keys is seen, where it is to follow them; of a field
/// with more rows than there is room for, those around the cursor.
pub(super) fn follow(form: &mut Form, rows: usize, page: usize, focus: &Focus) {
    form.rows = rows;
    form.page = page;
    if form.follow && focus.rows.is_empty() {
        form.scroll = rows;
    } else if form.follow {
        let whole = focus.rows.len() <= page;
        let shown = if whole {
            focus.rows.clone()
        } else {
            focus.cursor..(focus.cursor + 2).min(focus.rows.end).min(focus.cursor + page)
        };
        form.scroll = form.scroll.max(shown.end.saturating_sub(page)).min(shown.start);
    }
    form.scroll = form.scroll.min(rows.saturating_sub(page));
}

/// Arguments as JSON above, the tool's parameters below.
fn json(
    frame: &mut Frame<'_>,
    area: Rect,
    editor: &mut TextArea<'static>,
    fault: Option<&str>,
    known: Option<&Tool>,
    look: Look<'_>,
) {
    let height = area.height / 2;
    editor.set_style(look.theme.text);
    frame.render_widget(&*editor, Rect { height, ..area });
    let mut rows = match fault {
        Some(fault) => {
            wrapped(text::line(fault).as_str(), usize::from(area.width), look.theme.danger)
        }
        None => vec![Line::styled("Arguments as JSON. The tool's parameters:", look.theme.muted)],
    };
    rows.extend(
        known
            .into_iter()
            .flat_map(|known| tool::parameters(known, usize::from(area.width), look.theme)),
    );
    let below = Rect { y: area.y + height, height: area.height - height, ..area };
    frame.render_widget(Paragraph::new(rows), below);
}
