//! What a conversation opens with: the servers, their tools, what is allowed, what is wrong.

use ratatui::style::{Modifier, Style};

use super::item::Paper;
use crate::domain::{Catalog, Era, Mode, Server, ServerState, Source, ToolSearch, Warning};
use crate::text::{self, human};
use crate::ui::flow::{self, Piece, Row};
use crate::ui::origin;
use crate::ui::theme::Theme;

/// Servers that are listed while the banner is closed.
const SERVERS: usize = 8;
/// Warnings that are told while the banner is closed.
const WARNINGS: usize = 4;

/// A digest of the catalog, raw.
#[derive(Debug, Default)]
pub(super) struct Banner {
    servers: Vec<Line>,
    warnings: Vec<Warning>,
    tools: usize,
    tokens: u64,
    /// Tools that run without a question, that ask, that never run.
    modes: [usize; 3],
    search: Option<ToolSearch>,
}

#[derive(Debug)]
struct Line {
    name: String,
    state: ServerState,
    /// `modern 2026-07-28`
    era: String,
    tools: usize,
    filtered: usize,
    tokens: u64,
    mode: Mode,
}

impl Line {
    fn of(server: &Server) -> Self {
        let era = server.connection.as_ref().map(|connection| {
            let family = match connection.era {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            };
            format!("{family} {}", connection.protocol_version)
        });
        Self {
            name: server.name.to_string(),
            state: server.state.clone(),
            era: era.unwrap_or_default(),
            tools: server.tools.iter().filter(|tool| !tool.disabled).count(),
            filtered: server.filtered.len(),
            tokens: offered_tokens(server),
            mode: server.permission,
        }
    }

    /// Switched off, or refused: not one of those that should be ready.
    fn off(&self) -> bool {
        matches!(self.state, ServerState::Disabled { .. })
    }

    fn well(&self) -> bool {
        matches!(self.state, ServerState::Ready)
    }
}

fn offered_tokens(server: &Server) -> u64 {
    if !server.state.usable() {
        return 0;
    }
    server.tools.iter().filter(|tool| !tool.disabled).map(|tool| u64::from(tool.tokens)).sum()
}

impl Banner {
    pub(super) fn of(catalog: &Catalog, search: Option<ToolSearch>) -> Self {
        let usable = || catalog.servers.iter().filter(|server| server.state.usable());
        let tools = || usable().flat_map(|server| &server.tools).filter(|tool| !tool.disabled);
        let count = |mode| tools().filter(|tool| tool.permission == mode).count();
        Self {
            servers: catalog.servers.iter().map(Line::of).collect(),
            warnings: catalog.all_warnings().cloned().collect(),
            tools: tools().count(),
            tokens: usable().map(offered_tokens).sum(),
            modes: [count(Mode::Auto), count(Mode::Ask), count(Mode::Deny)],
            search,
        }
    }

    /// The mode in which tools are handed over.
    pub(super) fn set_search(&mut self, search: Option<ToolSearch>) {
        self.search = search;
    }

    pub(super) fn tells(&self, warning: &Warning) -> bool {
        self.warnings.contains(warning)
    }

    pub(super) fn can_open(&self) -> bool {
        self.servers.len() > SERVERS || self.warnings.len() > WARNINGS
    }

    pub(super) fn rows(&self, open: bool, paper: &Paper<'_>) -> Vec<Row> {
        let mut rows = self.head(paper);
        let listed = self.listed(open);
        let columns = Columns::of(&listed, paper.width);
        for line in &listed {
            rows.push(columns.row(line, paper));
            if !self.explains(line, open) {
                rows.extend(reason_rows(line, paper));
            }
        }
        let unlisted = self.servers.len() - listed.len();
        if unlisted > 0 {
            rows.push(more(&format!("{unlisted} more servers, all ready"), paper));
        }
        rows.extend(self.warning_rows(open, paper));
        rows.extend(self.advice(paper));
        rows
    }

    /// `3 of 4 servers ready · 27 tools · 5.4k tokens a request`, then who may do what.
    fn head(&self, paper: &Paper<'_>) -> Vec<Row> {
        let theme = paper.theme;
        let mut pieces = vec![Piece::new("mini-me", theme.title)];
        if self.servers.is_empty() {
            flow::push(&mut pieces, "  no servers", theme.muted);
            return flow::wrap(&pieces, paper.width);
        }
        let ready = self.servers.iter().filter(|line| line.state.usable()).count();
        let off = self.servers.iter().filter(|line| line.off()).count();
        let on = self.servers.len() - off;
        let off = if off > 0 { format!(" ({off} off)") } else { String::new() };
        let price = match self.search {
            None => format!(" · {} tokens a request", human::count(self.tokens)),
            Some(_) => String::new(),
        };
        let words = format!(
            "  {ready} of {on} {} ready{off} · {} {}{price}",
            plural(on, "server", "servers"),
            self.tools,
            plural(self.tools, "tool", "tools"),
        );
        flow::push(&mut pieces, &words, theme.text);
        let mut rows = flow::wrap(&pieces, paper.width);
        if let Some(search) = self.search {
            let words = format!(
                "tool search: {} {}, {} handed to the model (all would take {} tokens a request)",
                search.tools,
                plural(usize::try_from(search.tools).unwrap_or(usize::MAX), "tool", "tools"),
                search.handed,
                human::count(search.tokens),
            );
            rows.extend(flow::wrap(&[Piece::new(words, theme.accent)], paper.width));
        }
        if self.tools > 0 {
            rows.extend(flow::wrap(&self.permissions(theme), paper.width));
        }
        rows.push(Row::default());
        rows
    }

    fn permissions(&self, theme: &Theme) -> Vec<Piece> {
        let [auto, ask, deny] = self.modes;
        let mut pieces = vec![Piece::new("permissions: ", theme.muted)];
        let all = [
            (auto, "run without asking", theme.good),
            (ask, "ask first", theme.caution),
            (deny, "never run", theme.danger),
        ];
        let mut first = true;
        for (count, words, style) in all {
            if count > 0 {
                flow::push(&mut pieces, if first { "" } else { " · " }, theme.muted);
                flow::push(&mut pieces, &format!("{count} {words}"), style);
                first = false;
            }
        }
        pieces
    }

    /// All, or those that are not well before some that are, in their order.
    fn listed(&self, open: bool) -> Vec<&Line> {
        if open || self.servers.len() <= SERVERS {
            return self.servers.iter().collect();
        }
        let unwell = self.servers.iter().filter(|line| !line.well()).count();
        let mut room = SERVERS.saturating_sub(unwell);
        self.servers
            .iter()
            .filter(|line| {
                let keep = !line.well() || room > 0;
                room -= usize::from(line.well() && room > 0);
                keep
            })
            .collect()
    }

    /// Whether a warning below says why a server is off: once is enough.
    fn explains(&self, line: &Line, open: bool) -> bool {
        let name = format!("server `{}`", line.name);
        let says = |warning: &Warning| {
            matches!(warning.source, Source::Config { .. }) && warning.message.contains(&name)
        };
        line.off() && self.told(open).any(says)
    }

    /// The warnings that are listed.
    fn told(&self, open: bool) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().take(if open { self.warnings.len() } else { WARNINGS })
    }

    fn warning_rows(&self, open: bool, paper: &Paper<'_>) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.warnings.is_empty() {
            return rows;
        }
        rows.push(Row::default());
        for warning in self.told(open) {
            let words = format!("! {}{}", origin::of(warning), warning.message);
            rows.extend(hanging(&words, paper.theme.caution, paper.width));
            if !warning.advice.is_empty() {
                let advice = format!("  → {}", warning.advice);
                rows.extend(hanging(&advice, paper.theme.muted, paper.width));
            }
        }
        let left = self.warnings.len() - self.told(open).count();
        if left > 0 {
            let word = plural(left, "warning", "warnings");
            rows.push(more(&format!("{left} more {word}"), paper));
        }
        rows
    }

    /// What a person could do now.
    fn advice(&self, paper: &Paper<'_>) -> Vec<Row> {
        let words = if self.servers.is_empty() {
            "To connect MCP servers: `mini-me-tui config init` writes a starter file, `--url URL` \
             adds one server for this run, `--demo` shows everything with nothing to set up."
        } else if self.servers.iter().any(|line| !line.state.settled()) {
            "Still connecting; you can write already."
        } else if self.tools == 0 {
            "No tool can be called yet: see the reasons above, or `mini-me-tui check`."
        } else {
            "Ask something, and the model calls the tools it needs."
        };
        let mut rows = vec![Row::default()];
        rows.extend(flow::wrap(&[Piece::new(words, paper.theme.muted)], paper.width));
        rows
    }

    pub(super) fn transcript(&self) -> String {
        let mut lines = Vec::new();
        for line in &self.servers {
            let reason = line.state.reason();
            let gap = if reason.is_empty() { "" } else { ": " };
            lines.push(format!(
                "{} {} {} {} tools {}{gap}{reason}",
                line.name,
                line.state.word(),
                line.era,
                line.tools,
                line.mode.word(),
            ));
        }
        for warning in &self.warnings {
            let source = origin::of(warning);
            lines.push(format!("! {source}{} {}", warning.message, warning.advice));
        }
        lines.join("\n")
    }
}

fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

fn more(words: &str, paper: &Paper<'_>) -> Row {
    let words = text::cut(&format!("… {words}"), paper.width);
    flow::row(vec![Piece::new(words, paper.theme.accent)])
}

/// Icon, name, state; then what there is room for, aligned.
struct Columns {
    name: usize,
    state: usize,
    era: usize,
    tokens: bool,
}

impl Columns {
    fn of(lines: &[&Line], width: usize) -> Self {
        let widest = |width_of: &dyn Fn(&Line) -> usize| {
            lines.iter().map(|line| width_of(line)).max().unwrap_or(0)
        };
        let name = widest(&|line| text::width(text::strict_line(&line.name).as_str()));
        let state = widest(&|line| line.state.word().len());
        let era = widest(&|line| text::width(text::strict_line(&line.era).as_str()));
        let name = name.clamp(4, (width / 3).max(4));
        // Icon, two gaps, `12 tools`, `auto`, with two columns between.
        let fixed = 2 + name + 2 + state + 2 + 9 + 2 + 4;
        let tokens = width >= fixed + 12;
        let era_fits = width >= fixed + era + 2 + if tokens { 12 } else { 0 };
        Self { name, state, era: if era_fits { era } else { 0 }, tokens }
    }

    fn row(&self, line: &Line, paper: &Paper<'_>) -> Row {
        let theme = paper.theme;
        let (icon, style) = state_look(&line.state, theme);
        let mut pieces = vec![Piece::new(format!("{icon} "), style)];
        let name = text::cut(text::strict_line(&line.name).as_str(), self.name);
        cell(&mut pieces, &name, self.name, theme.server);
        cell(&mut pieces, line.state.word(), self.state, style);
        if self.era > 0 {
            let era = text::strict_line(&line.era);
            cell(&mut pieces, era.as_str(), self.era, theme.muted);
        }
        if line.state.usable() {
            let tools = format!("{:>3} {}", line.tools, plural(line.tools, "tool", "tools"));
            cell(&mut pieces, &tools, 9, theme.text);
            if self.tokens {
                let tokens = format!("{:>6} tok", human::count(line.tokens));
                cell(&mut pieces, &tokens, 10, theme.muted);
            }
            flow::push(&mut pieces, line.mode.word(), mode_style(line.mode, theme));
            let left_out = format!("  {} left out", line.filtered);
            let taken = flow::width(&pieces);
            // Cut, it would read as a part of the mode; the side panel lists them anyway.
            if line.filtered > 0 && taken + text::width(&left_out) <= paper.width {
                flow::push(&mut pieces, &left_out, theme.muted);
            }
        }
        flow::row(flow::cut(&pieces, paper.width))
    }
}

fn cell(pieces: &mut Vec<Piece>, words: &str, width: usize, style: Style) {
    flow::push(pieces, words, style);
    let free = width.saturating_sub(text::width(words)) + 2;
    flow::push(pieces, &" ".repeat(free), Style::new());
}

fn reason_rows(line: &Line, paper: &Paper<'_>) -> Vec<Row> {
    let reason = line.state.reason();
    if reason.is_empty() {
        return Vec::new();
    }
    let words = match &line.state {
        ServerState::Failed { stage, .. } => format!("  {stage}: {reason}"),
        _ => format!("  {reason}"),
    };
    hanging(&words, paper.theme.muted, paper.width)
}

/// Wrapped, with further rows indented as far as the mark in front is wide.
fn hanging(raw: &str, style: Style, width: usize) -> Vec<Row> {
    let clean = text::line(raw).into_string();
    let room = width.saturating_sub(2).max(1);
    let (mark, words) = match clean.split_at_checked(2) {
        Some((mark, words)) if width > 8 => (mark.to_owned(), words.to_owned()),
        _ => (String::new(), clean.clone()),
    };
    let mut rows = Vec::new();
    for (index, pieces) in
        flow::wrap_pieces(&[Piece::new(words, style)], room).into_iter().enumerate()
    {
        let indent = if index == 0 { mark.as_str() } else { "  " };
        let mut row = Vec::new();
        if !mark.is_empty() {
            flow::push(&mut row, indent, style);
        }
        row.extend(pieces);
        rows.push(flow::row(row));
    }
    rows
}

fn state_look(state: &ServerState, theme: &Theme) -> (&'static str, Style) {
    match state {
        ServerState::Connecting => ("…", theme.muted),
        ServerState::Ready => ("✓", theme.good),
        ServerState::Degraded { .. } => ("~", theme.caution),
        ServerState::NeedsAuth { .. } => ("!", theme.caution.add_modifier(Modifier::BOLD)),
        ServerState::Failed { .. } => ("✗", theme.danger),
        ServerState::Disabled { .. } => ("–", theme.muted),
    }
}

fn mode_style(mode: Mode, theme: &Theme) -> Style {
    match mode {
        Mode::Auto => theme.good,
        Mode::Ask => theme.caution,
        Mode::Deny => theme.danger,
    }
}
