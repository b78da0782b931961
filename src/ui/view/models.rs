//! The list of models.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::input::pad;
use super::{Look, edge, framed, short, wrapped};
use crate::domain::model::OfferedModel;
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::state::models::{Listed, Models};

/// Models shown at once.
const ROWS: u16 = 16;
/// Rows of the frame, the typed line and the gap below it.
const AROUND: u16 = 4;

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect, models: &Models, look: Look<'_>) {
    let width = screen.width.saturating_sub(4).min(72);
    let columns = usize::from(width.saturating_sub(4));
    let rows = rows(models, columns, look);
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).clamp(1, ROWS);
    let area = layout::middle(screen, width, (height + AROUND).min(screen.height));
    super::clear(frame, area);
    let keys = |action, word| (look.keymap.hint(action), word);
    let hints =
        [keys(Action::ListRun, "use it"), keys(Action::ListClose, "keep the one that answers")];
    let title = Line::styled(" which model answers ", look.theme.title);
    let block = framed(title, look.theme.focus).title_bottom(edge(&hints, area.width, look.theme));
    frame.render_widget(block, area);
    let inner = layout::inside(area);
    let inner =
        Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner };
    let prompt = Line::from(vec![
        Span::styled("› ", look.theme.accent),
        Span::raw(text::line(&models.filter).into_string()),
        Span::styled(" ", look.theme.selected),
    ]);
    frame.render_widget(prompt, Rect { height: inner.height.min(1), ..inner });
    let list = Rect {
        y: inner.y.saturating_add(2).min(inner.bottom()),
        height: inner.height.saturating_sub(2),
        ..inner
    };
    let first = (models.selected + 1).saturating_sub(usize::from(list.height));
    let shown: Vec<Line<'_>> = rows.into_iter().skip(first).collect();
    frame.render_widget(Paragraph::new(shown), list);
}

fn rows(models: &Models, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let typed = text::strict_line(models.filter.trim()).into_string();
    let as_typed = |unless: &str| {
        let theme = look.theme;
        if typed.is_empty() {
            return wrapped(unless, columns, theme.muted);
        }
        wrapped(&format!("Enter uses {typed} as it is written."), columns, theme.text)
    };
    match &models.listed {
        Listed::Waiting => as_typed("asking the endpoint which models it offers…"),
        Listed::Failed(why) => {
            let why = text::line(why);
            let mut rows = wrapped(why.as_str(), columns, look.theme.caution);
            rows.extend(as_typed("A name that is typed here is used all the same."));
            rows
        }
        Listed::Known(all) if all.is_empty() => {
            as_typed("The endpoint lists no model. A name that is typed here is used all the same.")
        }
        Listed::Known(_) => {
            let matches = models.matches();
            if matches.is_empty() {
                let mut rows = wrapped("The endpoint does not list it.", columns, look.theme.muted);
                rows.extend(as_typed(""));
                return rows;
            }
            let rows = matches.iter().enumerate();
            rows.map(|(at, model)| row(model, at == models.selected, models, columns, look))
                .collect()
        }
    }
}

fn row(
    model: &OfferedModel,
    selected: bool,
    models: &Models,
    columns: usize,
    look: Look<'_>,
) -> Line<'static> {
    let theme = look.theme;
    let mark = if model.name == models.current { "● " } else { "  " };
    let window = model.window.map(|window| format!(" {}", short(window))).unwrap_or_default();
    let room = columns.saturating_sub(text::width(&window) + 2);
    let name = pad(text::strict_line(&model.name).as_str(), room);
    let style = |usual: Style| if selected { theme.selected } else { usual };
    Line::from(vec![
        Span::styled(mark, style(theme.good)),
        Span::styled(name, style(theme.text)),
        Span::styled(window, style(theme.muted)),
    ])
}
