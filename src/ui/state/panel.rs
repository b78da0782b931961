//! The side panel: which rows there are, which one is selected, what is filtered.
//!
//! Rows are worked out once per (catalog revision, filter, folding), as references into the catalog;
//! text is cleaned only for the rows that are drawn.

use std::collections::HashSet;

use crate::bridge::Target;
use crate::domain::{Catalog, Server, ServerName};

/// One row: places in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// A server's name and state.
    Server(usize),
    /// Its era, mode, tools, price, latency.
    Facts(usize),
    /// Why it is in its state.
    Reason(usize),
    /// A tool on offer: server, place.
    Tool(usize, usize),
    /// A tool that is not offered: server, place.
    Filtered(usize, usize),
    /// Nothing under this server matches, or it has no tools.
    Nothing(usize),
}

/// The side panel.
#[derive(Debug, Default)]
pub struct Panel {
    /// The user asked to see or not to see it; `None` is by width.
    pub wanted: Option<bool>,
    /// What was typed.
    pub filter: String,
    /// Servers whose tools are folded.
    pub folded: HashSet<ServerName>,
    /// Selected row.
    pub selected: usize,
    /// First row shown.
    pub scroll: usize,
    /// Rows shown at once, from the last frame.
    pub height: usize,
    rows: Vec<Row>,
}

impl Panel {
    /// The rows in force.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Works the rows out anew. The selection stays on what it was on, where that still exists.
    pub fn refresh(&mut self, catalog: &Catalog) {
        self.rework(catalog, None);
    }

    /// As [`Self::refresh`], when the catalog was another one before.
    pub fn replaced(&mut self, before: &Catalog, now: &Catalog) {
        let kept = self.target(before);
        self.rework(now, kept);
    }

    fn rework(&mut self, catalog: &Catalog, kept: Option<Target>) {
        let kept = kept.or_else(|| self.target(catalog));
        let filter = self.filter.to_lowercase();
        self.rows.clear();
        for (at, server) in catalog.servers.iter().enumerate() {
            self.add(at, server, &filter);
        }
        let place = kept.and_then(|target| {
            let rows = self.rows.iter();
            rows.enumerate().find(|(_, row)| target_of(**row, catalog).as_ref() == Some(&target))
        });
        self.selected = place.map_or(0, |(place, _)| place);
        self.scroll = self.scroll.min(self.rows.len());
        self.reveal();
    }

    fn add(&mut self, at: usize, server: &Server, filter: &str) {
        let whole = matches(server.name.as_str(), filter);
        let fits = |name: &str| whole || matches(name, filter);
        let tools: Vec<_> = server
            .tools
            .iter()
            .enumerate()
            .filter(|(_, tool)| fits(tool.model_name.as_str()) || fits(tool.id.tool.as_str()))
            .map(|(place, _)| Row::Tool(at, place))
            .collect();
        let left_out = server.filtered.iter().enumerate();
        let left_out: Vec<_> = left_out
            .filter(|(_, tool)| fits(tool.name.as_str()))
            .map(|(place, _)| Row::Filtered(at, place))
            .collect();
        if !whole && tools.is_empty() && left_out.is_empty() {
            return;
        }
        self.rows.extend([Row::Server(at), Row::Facts(at)]);
        if !server.state.reason().is_empty() {
            self.rows.push(Row::Reason(at));
        }
        // A filter looks into folded servers too.
        if filter.is_empty() && self.folded.contains(&server.name) {
            return;
        }
        if tools.is_empty() && left_out.is_empty() && server.state.usable() {
            self.rows.push(Row::Nothing(at));
        }
        self.rows.extend(tools);
        self.rows.extend(left_out);
    }

    /// What is selected.
    pub fn target(&self, catalog: &Catalog) -> Option<Target> {
        target_of(*self.rows.get(self.selected)?, catalog)
    }

    /// The server of the selected row.
    pub fn server<'a>(&self, catalog: &'a Catalog) -> Option<&'a Server> {
        let (Row::Server(at)
        | Row::Facts(at)
        | Row::Reason(at)
        | Row::Nothing(at)
        | Row::Tool(at, _)
        | Row::Filtered(at, _)) = *self.rows.get(self.selected)?;
        catalog.servers.get(at)
    }

    /// Moves the selection by so many rows that can be selected.
    pub fn go(&mut self, by: isize) {
        let step = by.signum();
        for _ in 0..by.unsigned_abs() {
            let mut next = self.selected;
            loop {
                let Some(place) = next.checked_add_signed(step) else { return self.reveal() };
                next = place;
                match self.rows.get(next) {
                    None => return self.reveal(),
                    Some(Row::Server(_) | Row::Tool(..) | Row::Filtered(..)) => break,
                    Some(Row::Facts(_) | Row::Reason(_) | Row::Nothing(_)) => {}
                }
            }
            self.selected = next;
        }
        self.reveal();
    }

    /// Puts the selection on a server's own row, where `wanted`.
    pub fn select_server(&mut self, name: &ServerName, catalog: &Catalog, wanted: bool) {
        let is = |row: &Row| match row {
            Row::Server(at) => catalog.servers.get(*at).is_some_and(|server| server.name == *name),
            _ => false,
        };
        if let Some(place) = self.rows.iter().position(is).filter(|_| wanted) {
            self.selected = place;
        }
        self.reveal();
    }

    /// With a filter, what is looked for is a tool: selects the first one unless one is selected.
    pub fn prefer_tool(&mut self) {
        let tool = |row: &Row| matches!(row, Row::Tool(..));
        if self.filter.is_empty() || self.rows.get(self.selected).is_some_and(tool) {
            return;
        }
        self.selected = self.rows.iter().position(tool).unwrap_or(self.selected);
        self.reveal();
    }

    /// Scrolls without moving the selection.
    pub fn scroll_rows(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(self.height.max(1));
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
    }

    /// Selects the row drawn at this place, counted from the first one shown.
    pub fn click(&mut self, row: usize) {
        let place = self.scroll + row;
        let start = (0..=place).rev();
        let selectable = |at: &usize| {
            matches!(self.rows.get(*at), Some(Row::Server(_) | Row::Tool(..) | Row::Filtered(..)))
        };
        if place < self.rows.len()
            && let Some(at) = start.into_iter().find(selectable)
        {
            self.selected = at;
        }
    }

    /// Scrolls so that the selection can be seen.
    pub fn reveal(&mut self) {
        let height = self.height.max(1);
        if self.selected < self.scroll {
            self.scroll = self.selected;
        } else if self.selected >= self.scroll + height {
            self.scroll = self.selected + 1 - height;
        }
        let last = self.rows.len().saturating_sub(height);
        self.scroll = self.scroll.min(last);
    }
}

fn target_of(row: Row, catalog: &Catalog) -> Option<Target> {
    match row {
        Row::Server(at) | Row::Facts(at) | Row::Reason(at) | Row::Nothing(at) => {
            Some(Target::Server(catalog.servers.get(at)?.name.clone()))
        }
        Row::Tool(at, place) => {
            Some(Target::Tool(catalog.servers.get(at)?.tools.get(place)?.id.clone()))
        }
        Row::Filtered(..) => None,
    }
}

/// Whether a name holds the filter; both compared without case.
fn matches(name: &str, filter: &str) -> bool {
    if filter.is_empty() {
        return true;
    }
    if name.is_ascii() && filter.is_ascii() {
        let (name, filter) = (name.as_bytes(), filter.as_bytes());
        return name.windows(filter.len()).any(|part| part.eq_ignore_ascii_case(filter));
    }
    name.to_lowercase().contains(filter)
}

#[cfg(test)]
mod tests;
