//! The wire view: which exchanges it lists, which one is selected, which one is open.
//!
//! The list follows the newest exchange until another one is selected, and again once the last one
//! is. What an open exchange shows is worked out when it is opened and when it changed; rows only
//! where they can be seen.

mod sheet;

use std::sync::Arc;

use ratatui::layout::{Position, Rect};

use crate::domain::CallId;
use crate::domain::exchange::{Ending, Exchange, ExchangeId, Exchanges};
pub use sheet::{Kind, MARK, Sheet, Shown};

/// The open view.
#[derive(Debug, Default)]
pub struct WireView {
    /// What was typed.
    pub filter: String,
    /// The exchanges; `None` until they were first told.
    pub exchanges: Option<Arc<Exchanges>>,
    /// The exchange that is open.
    pub detail: Option<Detail>,
    /// First row of the list that is shown.
    pub scroll: usize,
    /// Rows of the list, from the last frame.
    pub area: Rect,
    /// The call whose exchange is to be opened as soon as it is there.
    wanted: Option<CallId>,
    /// Places of those that match.
    rows: Vec<usize>,
    /// `None` follows the newest.
    selected: Option<ExchangeId>,
}

/// One exchange in full.
#[derive(Debug)]
pub struct Detail {
    /// Which.
    pub exchange: Arc<Exchange>,
    /// What it shows.
    pub sheet: Sheet,
    /// First row shown.
    pub scroll: usize,
    /// Rows shown at once, from the last frame.
    pub height: usize,
}

/// What became of the wish to see the exchange of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// There was none, or it is open now.
    Granted,
    /// No exchange of that call is kept.
    Gone,
}

impl WireView {
    /// The view, at the exchange of a call if one is named.
    pub fn new(wanted: Option<CallId>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Takes in how things stand. What is selected and open stays so.
    pub fn arrived(&mut self, exchanges: Arc<Exchanges>) -> Wish {
        self.exchanges = Some(exchanges);
        self.refresh();
        if let Some(detail) = &self.detail {
            let id = detail.exchange.id;
            // One that was let go of can still be read.
            if let Some(now) = self.all().iter().find(|one| one.id == id).cloned() {
                self.renew(&now);
            }
        }
        let Some(call) = self.wanted.take() else { return Wish::Granted };
        let of_call = || self.all().iter().filter(|one| one.about.call == Some(call));
        let made = of_call().rfind(|one| one.about.method == "tools/call");
        let Some(found) = made.or_else(|| of_call().next_back()).cloned() else {
            return Wish::Gone;
        };
        self.selected = Some(found.id);
        self.reveal();
        self.open(found);
        Wish::Granted
    }

    fn all(&self) -> &[Arc<Exchange>] {
        self.exchanges.as_ref().map(|all| all.kept.as_slice()).unwrap_or_default()
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The exchange in a row of the list.
    pub fn row(&self, row: usize) -> Option<&Arc<Exchange>> {
        self.all().get(*self.rows.get(row)?)
    }

    /// The row that is selected.
    pub fn selected(&self) -> usize {
        let last = self.rows.len().saturating_sub(1);
        let Some(id) = self.selected else { return last };
        let place = self.rows.partition_point(|at| self.all().get(*at).is_some_and(|e| e.id < id));
        place.min(last)
    }

    /// The exchange that is open, or else selected.
    pub fn current(&self) -> Option<Arc<Exchange>> {
        match &self.detail {
            Some(detail) => Some(Arc::clone(&detail.exchange)),
            None => self.row(self.selected()).cloned(),
        }
    }

    /// The ids of those that are listed; `None` where nothing is filtered out.
    pub fn listed(&self) -> Option<Vec<ExchangeId>> {
        let ids = self.rows.iter().filter_map(|at| Some(self.all().get(*at)?.id));
        (!self.filter.trim().is_empty()).then(|| ids.collect())
    }

    /// Works out anew what matches the filter.
    pub fn refresh(&mut self) {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let fits = |exchange: &Exchange| {
            words.is_empty() || {
                let text = haystack(exchange);
                words.iter().all(|word| text.contains(word))
            }
        };
        let all = self.all().iter().enumerate();
        self.rows = all.filter(|(_, one)| fits(one)).map(|(at, _)| at).collect();
        self.reveal();
    }

    /// Moves the selection in the list, or scrolls the open exchange.
    pub fn go(&mut self, by: isize) {
        if let Some(detail) = &mut self.detail {
            detail.go(by);
            return;
        }
        let last = self.rows.len().saturating_sub(1);
        let to = self.selected().saturating_add_signed(by).min(last);
        self.select(to);
    }

    /// Selects a row; the last one is followed.
    pub fn select(&mut self, row: usize) {
        let last = row + 1 >= self.rows.len();
        self.selected = self.row(row).filter(|_| !last).map(|one| one.id);
        self.reveal();
    }

    /// Selects the row that stands there; opens it where it is selected already.
    pub fn click(&mut self, at: Position) {
        let row = self.scroll + usize::from(at.y.saturating_sub(self.area.y));
        if self.detail.is_some() || !self.area.contains(at) || row >= self.rows.len() {
            return;
        }
        if row == self.selected() { self.open_selected() } else { self.select(row) }
    }

    /// Rows of a page of what is shown.
    pub fn page(&self) -> isize {
        let list = usize::from(self.area.height);
        let rows = self.detail.as_ref().map_or(list, |open| open.height);
        isize::try_from(rows.max(2) - 1).unwrap_or(1)
    }

    /// Opens the selected exchange.
    pub fn open_selected(&mut self) {
        if let Some(exchange) = self.row(self.selected()).cloned() {
            self.open(exchange);
        }
    }

    /// Opens the exchange before or after the one that is open.
    pub fn turn(&mut self, by: isize) {
        let Some(detail) = &self.detail else { return };
        let id = detail.exchange.id;
        let at = self.rows.iter().position(|at| self.all().get(*at).is_some_and(|e| e.id == id));
        let to = at.and_then(|at| at.checked_add_signed(by)).filter(|to| *to < self.rows.len());
        if let Some(to) = to {
            self.select(to);
            self.open_selected();
        }
    }

    fn open(&mut self, exchange: Arc<Exchange>) {
        let sheet = Sheet::of(&exchange);
        self.detail = Some(Detail { exchange, sheet, scroll: 0, height: 1 });
    }

    /// The open exchange went on.
    fn renew(&mut self, now: &Arc<Exchange>) {
        let Some(detail) = &mut self.detail else { return };
        if Arc::ptr_eq(&detail.exchange, now) {
            return;
        }
        // Whoever reads the end of an open stream goes on with it.
        let follows = detail.exchange.ending == Ending::Open
            && detail.scroll > 0
            && detail.scroll >= detail.last();
        let width = detail.sheet.width();
        detail.exchange = Arc::clone(now);
        detail.sheet = Sheet::of(now);
        detail.sheet.lay(width);
        if follows {
            detail.scroll = detail.last();
        }
    }

    /// Scrolls so that the selection can be seen.
    pub fn reveal(&mut self) {
        let (height, selected) = (usize::from(self.area.height).max(1), self.selected());
        if selected < self.scroll {
            self.scroll = selected;
        } else if selected >= self.scroll + height {
            self.scroll = selected + 1 - height;
        }
        self.scroll = self.scroll.min(self.rows.len().saturating_sub(height));
    }
}

impl Detail {
    /// The first row of the last page.
    fn last(&self) -> usize {
        self.sheet.rows().saturating_sub(self.height)
    }

    /// Scrolls by rows, staying inside.
    pub fn go(&mut self, by: isize) {
        self.scroll = self.scroll.saturating_add_signed(by).min(self.last());
    }

    /// Scrolls to the next part, or the one before.
    pub fn part(&mut self, later: bool) {
        let to = if later {
            self.sheet.parts().find(|row| *row > self.scroll)
        } else {
            self.sheet.parts().filter(|row| *row < self.scroll).last()
        };
        let end = if later { self.last() } else { 0 };
        self.scroll = to.unwrap_or(end).min(self.last());
    }
}

/// All that the filter looks at, in lower case.
fn haystack(exchange: &Exchange) -> String {
    let about = &exchange.about;
    let status = exchange.head.as_ref().map(|head| head.status.to_string()).unwrap_or_default();
    let words = [
        exchange.side.name(),
        &about.method,
        about.subject.as_deref().unwrap_or_default(),
        exchange.verb,
        &status,
        &exchange.url,
        if exchange.is_failure() { "error failed" } else { "" },
        if exchange.is_stream() { "stream" } else { "" },
        if exchange.ending == Ending::Open { "open" } else { "" },
    ];
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests;
