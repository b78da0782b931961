//! Details of one server or one tool.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{heading, warning};
use crate::domain::{PinState, Server, ServerConnection, ServerState, Tool};
use crate::text;
use crate::ui::keymap::Action;
use crate::ui::state::UiState;
use crate::ui::view::{Look, change, facts, panel, short, tool, wrapped};

/// Columns of the names of facts.
const NAMES: usize = 12;

/// Rows being written.
struct Sheet<'a> {
    rows: Vec<Line<'static>>,
    columns: usize,
    look: Look<'a>,
}

impl Sheet<'_> {
    fn spans(&mut self, name: &str, values: Vec<Span<'static>>) {
        self.rows.extend(facts(name, values, (NAMES, self.columns), self.look));
    }

    fn styled(&mut self, name: &str, value: &str, style: Style) {
        let value = text::strict_line(value).into_string();
        self.spans(name, vec![Span::styled(value, style)]);
    }

    fn fact(&mut self, name: &str, value: &str) {
        self.styled(name, value, self.look.theme.text);
    }

    fn heading(&mut self, word: &str) {
        self.rows.extend([Line::default(), heading(word, self.look)]);
    }

    /// What the model reads as well: nothing of it may be hidden from the user.
    fn prose(&mut self, raw: &str, style: Style) {
        let clean = text::strict_block(&raw.replace("\r\n", "\n"));
        self.rows.extend(wrapped(clean.as_str(), self.columns, style));
    }
}

pub(super) fn server(server: &Server, columns: usize, look: Look<'_>) -> Vec<Line<'static>> {
    let mut sheet = Sheet { rows: Vec::new(), columns, look };
    let style = panel::state_style(&server.state, look.theme);
    sheet.fact("url", &server.url);
    sheet.styled("state", server.state.word(), style);
    if let ServerState::Failed { stage, .. } = &server.state {
        sheet.fact("stage", &stage.to_string());
    }
    if !server.state.reason().is_empty() {
        sheet.styled("reason", server.state.reason(), style);
    }
    if let Some(known) = &server.connection {
        connection(&mut sheet, known);
    }
    let mode = tool::mode_style(server.permission, look.theme);
    sheet.styled("permission", server.permission.word(), mode);
    let tokens: u64 = server.tools.iter().map(|tool| u64::from(tool.tokens)).sum();
    let (on, out) = (server.tools.len(), server.filtered.len());
    sheet.fact("tools", &format!("{on} on offer ({} tokens), {out} left out", short(tokens)));
    if let Some(last) = server.latency.last() {
        let bars = panel::sparkline(&server.latency, 32);
        sheet.fact("latency", &format!("{bars}  {} ms", last.as_millis()));
    }
    let words = server.connection.as_ref().and_then(|known| known.instructions.as_deref());
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        sheet.heading("Instructions (the server's words)");
        sheet.prose(words, look.theme.text);
    }
    if !server.warnings.is_empty() {
        sheet.heading("Warnings");
        let rows = server.warnings.iter().flat_map(|known| warning(known, columns, look));
        sheet.rows.extend(rows);
    }
    left_out(&mut sheet, server);
    sheet.rows
}

fn connection(sheet: &mut Sheet<'_>, known: &ServerConnection) {
    sheet.fact("identity", &known.identity);
    let era = panel::era_word(known.era);
    let session = if known.session { "MCP session" } else { "no MCP session" };
    sheet.fact("protocol", &format!("{} ({era}), {session}", known.protocol_version));
    let none = known.capabilities.is_empty();
    let can = if none { "none".to_owned() } else { known.capabilities.join(", ") };
    sheet.fact("can", &can);
}

fn left_out(sheet: &mut Sheet<'_>, server: &Server) {
    if server.filtered.is_empty() {
        return;
    }
    sheet.heading("Left out");
    for tool in &server.filtered {
        let name = text::strict_line(tool.name.as_str());
        let line = format!("{name}: {}", text::line(&tool.reason));
        sheet.rows.extend(wrapped(&line, sheet.columns, sheet.look.theme.muted));
    }
}

pub(super) fn tool(
    known: &Tool,
    state: &UiState,
    columns: usize,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let definition = &known.definition;
    let mut sheet = Sheet { rows: Vec::new(), columns, look };
    if known.pin_state == PinState::Changed {
        changed(&mut sheet, known);
    }
    sheet.fact("server", known.id.server.as_str());
    if let Some(server) = state.catalog.server(&known.id.server) {
        sheet.fact("host", &server.host);
    }
    sheet.fact("name", known.id.tool.as_str());
    sheet.fact("model name", known.model_name.as_str());
    if let Some(title) = &definition.title {
        sheet.fact("title", title);
    }
    sheet.spans("claims", tool::claims(definition.annotations, theme));
    let pin = known.pin.get(..16).unwrap_or(&known.pin);
    let pin = Span::styled(text::strict_line(pin).into_string(), theme.muted);
    sheet.spans("pin", vec![tool::pin(known.pin_state, theme), pin]);
    let mode = Span::styled(known.permission.word(), tool::mode_style(known.permission, theme));
    let off = known.disabled.then(|| Span::styled("switched off", theme.danger));
    sheet.spans("permission", std::iter::once(mode).chain(off).collect());
    let price = short(u64::from(known.tokens));
    sheet.fact("price", &format!("{price} tokens in every request"));
    if let Some(calls) = state.calls.get(&known.id) {
        let ms = |took: &std::time::Duration| format!("{} ms", took.as_millis());
        let calls: Vec<String> =
            calls.iter().map(|(word, took)| format!("{word} ({})", ms(took))).collect();
        sheet.fact("last calls", &calls.join(", "));
    }
    sheet.heading("Description (the server's words)");
    if definition.description.trim().is_empty() {
        sheet.prose("none", theme.muted);
    } else {
        sheet.prose(&definition.description, theme.text);
    }
    sheet.heading("Parameters");
    sheet.rows.extend(tool::parameters(known, columns, theme));
    sheet.rows
}

/// What changed since the definition that is remembered, and how to accept it.
fn changed(sheet: &mut Sheet<'_>, known: &Tool) {
    let theme = sheet.look.theme;
    sheet.rows.push(Line::styled("Changed since it was remembered", theme.danger));
    let none = known.changes.is_empty();
    let rows = if none {
        wrapped("only the fingerprint of what it was is remembered", sheet.columns, theme.caution)
    } else {
        change::rows(&known.changes, sheet.columns, theme)
    };
    sheet.rows.extend(rows);
    let key = sheet.look.keymap.hint(Action::AcceptPin);
    let words = format!("{key} accepts this definition; it allows no call.");
    sheet.rows.extend(wrapped(&words, sheet.columns, theme.text));
    sheet.rows.push(Line::default());
}

/// Rows at the top of a changed tool's page that tell what changed.
pub(in crate::ui::view) fn rows_of_change(known: &Tool, columns: usize, look: Look<'_>) -> usize {
    let mut sheet = Sheet { rows: Vec::new(), columns, look };
    changed(&mut sheet, known);
    sheet.rows.len().saturating_sub(1)
}
