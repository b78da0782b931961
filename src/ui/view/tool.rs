//! Facts about a tool, as details and decision box show them.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::wrapped;
use crate::domain::{Annotations, Mode, PinState, Tool};
use crate::schema;
use crate::text;
use crate::ui::theme::Theme;

/// One claim of a server about a tool, with whether it was said at all. What was not said is shown
/// as the worst case.
pub(super) fn claims(said: Annotations, theme: &Theme) -> Vec<Span<'static>> {
    let writes = !said.read_only_hint.unwrap_or(false);
    let mut claims = vec![claim(
        if writes { "may change things" } else { "read-only" },
        said.read_only_hint.is_some(),
        if writes { theme.caution } else { theme.good },
    )];
    if writes {
        let destroys = said.destructive_hint.unwrap_or(true);
        claims.push(claim(
            if destroys { "may destroy" } else { "destroys nothing" },
            said.destructive_hint.is_some(),
            if destroys { theme.danger } else { theme.good },
        ));
        let again = said.idempotent_hint.unwrap_or(false);
        claims.push(claim(
            if again { "repeatable" } else { "not repeatable" },
            said.idempotent_hint.is_some(),
            if again { theme.good } else { theme.caution },
        ));
    }
    let open = said.open_world_hint.unwrap_or(true);
    claims.push(claim(
        if open { "open world" } else { "closed world" },
        said.open_world_hint.is_some(),
        if open { theme.caution } else { theme.good },
    ));
    claims
}

fn claim(word: &str, said: bool, style: Style) -> Span<'static> {
    Span::styled(if said { word.to_owned() } else { format!("{word} (not said)") }, style)
}

/// What the pin says, in words.
pub(super) fn pin(state: PinState, theme: &Theme) -> Span<'static> {
    match state {
        PinState::Known => Span::styled("known, unchanged", theme.good),
        PinState::New => Span::styled("new: never seen before", theme.caution),
        PinState::Changed => Span::styled("CHANGED since it was remembered", theme.danger),
    }
}

/// The colour of a mode.
pub(super) fn mode_style(mode: Mode, theme: &Theme) -> Style {
    match mode {
        Mode::Auto => theme.good,
        Mode::Ask => theme.caution,
        Mode::Deny => theme.danger,
    }
}

/// The parameters as a table.
pub(super) fn parameters(tool: &Tool, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let fields = schema::form::fields(&tool.definition.input_schema);
    if fields.is_empty() {
        return vec![Line::styled("no parameters", theme.muted)];
    }
    let clean = |raw: &str| text::strict_line(raw).into_string();
    let longest = fields.iter().map(|field| text::width(&clean(&field.name))).max();
    let wide = longest.unwrap_or_default().min(columns / 3).max(4);
    let mut rows = Vec::new();
    for field in &fields {
        let name = super::input::pad(&clean(&field.name), wide);
        let needed = if field.required { " · required" } else { "" };
        let default =
            field.default.as_ref().map(|value| format!(" · default {}", clean(&value.to_string())));
        let kind = format!("{}{needed}{}", clean(&field.kind), default.unwrap_or_default());
        let kind = text::cut(&kind, columns.saturating_sub(wide + 2));
        rows.push(Line::from(vec![
            Span::styled(name, theme.accent),
            Span::styled(format!("  {kind}"), theme.text),
        ]));
        if !field.description.is_empty() {
            let indent = " ".repeat(wide + 2);
            let description = text::strict_block(&field.description.replace("\r\n", "\n"));
            let lines =
                wrapped(description.as_str(), columns.saturating_sub(wide + 2), theme.muted);
            rows.extend(lines.into_iter().map(|mut line| {
                line.spans.insert(0, Span::raw(indent.clone()));
                line
            }));
        }
    }
    rows
}
