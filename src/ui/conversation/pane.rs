//! Where the pane stands, and the rows that are visible.
//!
//! The position is an item, a part of it and a row of that part, never a number of rows from the
//! top: so nothing above has to be laid out, and what grows below moves nothing. Rows are laid out
//! part by part when they come into view and are kept per (revision, width, theme); of parts far
//! from view only the height is kept.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::item::{Item, Paper};
use crate::text;
use crate::ui::flow::Row;
use crate::ui::theme::Theme;

/// Columns left of the text: selection, mark, space.
const GUTTER: u16 = 3;
/// Columns left free at the right.
const MARGIN: u16 = 1;
/// Parts whose rows are kept.
const KEPT: usize = 64;
/// Parts that counting what is new may lay out in one frame.
const COUNTED: usize = 64;

/// A row of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Spot {
    item: usize,
    part: usize,
    row: usize,
}

/// What a row of the screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) item: usize,
    /// Whether it is the first row of its item.
    pub(super) head: bool,
}

#[derive(Debug, Clone)]
struct Laid {
    key: Key,
    /// Blank rows before the first.
    lead: usize,
    height: usize,
    rows: Option<Rc<[Row]>>,
    /// The frame that used it last.
    used: u64,
}

type Key = (u64, (u64, usize));

#[derive(Debug)]
pub(super) struct Pane {
    width: usize,
    height: usize,
    theme: Option<Theme>,
    now: Option<Instant>,
    /// Rises with width and theme.
    look: u64,
    laid: HashMap<(usize, usize), Laid>,
    kept: usize,
    frame: u64,
    following: bool,
    top: Spot,
    /// The end of what was there when following stopped; `row` counts rows of its part.
    seen: Option<Spot>,
    hits: Vec<Option<Hit>>,
    /// How many parts were laid out so far.
    pub(super) layouts: u64,
}

impl Default for Pane {
    fn default() -> Self {
        Self {
            width: 0,
            height: 0,
            theme: None,
            now: None,
            look: 0,
            laid: HashMap::new(),
            kept: 0,
            frame: 0,
            following: true,
            top: Spot::default(),
            seen: None,
            hits: Vec::new(),
            layouts: 0,
        }
    }
}

impl Pane {
    /// Items changed their places.
    pub(super) fn forget(&mut self) {
        self.laid.clear();
        self.kept = 0;
        self.seen = None;
        self.top = Spot::default();
    }

    pub(super) fn follow(&mut self) {
        self.following = true;
        self.seen = None;
    }

    pub(super) fn go_to_top(&mut self) {
        self.following = false;
        self.top = Spot::default();
    }

    /// Rows of a page: two less than are visible, so that the eye keeps its place.
    pub(super) fn page(&self) -> i64 {
        i64::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(1)
    }

    /// Brings the beginning of an item into view.
    pub(super) fn reveal(&mut self, item: usize) {
        let visible = self.hits.iter().flatten().any(|hit| hit.item == item && hit.head);
        if !visible && self.height > 0 {
            self.following = false;
            self.top = Spot { item, part: 0, row: 0 };
        }
    }

    /// An item opens or closes: its beginning stays where it is.
    pub(super) fn hold(&mut self, item: usize) {
        if self.height == 0 {
            return;
        }
        self.following = false;
        self.seen = None;
        if self.top.item == item && (self.top.part > 0 || self.top.row > 1) {
            self.top = Spot { item, part: 0, row: 0 };
        }
    }

    /// The items in view, the lowest first.
    pub(super) fn in_view(&self) -> impl Iterator<Item = usize> {
        self.hits.iter().rev().flatten().map(|hit| hit.item)
    }

    pub(super) fn hit(&self, row: u16) -> Option<Hit> {
        self.hits.get(usize::from(row)).copied().flatten()
    }

    pub(super) fn scroll(&mut self, items: &[Item], rows: i64) {
        if self.height == 0 || rows == 0 || (rows > 0 && self.following) {
            return;
        }
        self.following = false;
        let count = usize::try_from(rows.unsigned_abs()).unwrap_or(usize::MAX);
        if rows < 0 {
            self.top = self.up(items, self.top, count);
        } else {
            self.top = self.down(items, self.top, count);
        }
    }

    fn up(&mut self, items: &[Item], mut spot: Spot, mut rows: usize) -> Spot {
        while rows > spot.row {
            rows -= spot.row;
            let Some((item, part)) = before(items, spot.item, spot.part) else {
                return Spot::default();
            };
            spot = Spot { item, part, row: self.height_of(items, item, part) };
        }
        spot.row -= rows;
        spot
    }

    fn down(&mut self, items: &[Item], mut spot: Spot, mut rows: usize) -> Spot {
        loop {
            let height = self.height_of(items, spot.item, spot.part);
            if spot.row + rows < height {
                spot.row += rows;
                return spot;
            }
            rows -= height.saturating_sub(spot.row);
            let Some((item, part)) = after(items, spot.item, spot.part) else {
                return spot;
            };
            spot = Spot { item, part, row: 0 };
        }
    }

    /// The row from which the last row stands at the bottom.
    fn last_page(&mut self, items: &[Item]) -> Spot {
        let item = items.len().saturating_sub(1);
        let part = items.last().map_or(0, |item| item.parts().saturating_sub(1));
        let row = self.height_of(items, item, part);
        self.up(items, Spot { item, part, row }, self.height)
    }

    fn height_of(&mut self, items: &[Item], item: usize, part: usize) -> usize {
        self.lay(items, item, part, false).map_or(0, |laid| laid.height)
    }

    /// The rows of a part, laid out if they are not there.
    fn lay(&mut self, items: &[Item], at: usize, part: usize, rows: bool) -> Option<Laid> {
        let item = items.get(at)?;
        let key = (self.look, item.revision(part));
        let moving = item.moving(part);
        if !moving
            && let Some(laid) = self.laid.get_mut(&(at, part))
            && laid.key == key
            && (laid.rows.is_some() || !rows)
        {
            laid.used = self.frame;
            return Some(laid.clone());
        }
        let theme = self.theme.clone()?;
        let paper = Paper { width: self.width, theme: &theme, now: self.now? };
        self.layouts += 1;
        let mut laid_rows = item.rows(part, &paper);
        let before = at.checked_sub(1).and_then(|at| items.get(at));
        let apart = part == 0 && !laid_rows.is_empty();
        let lead = usize::from(apart && before.is_some_and(|before| item.apart_from(before)));
        if lead > 0 {
            laid_rows.insert(0, Row::default());
        }
        let laid = Laid {
            key,
            lead,
            height: laid_rows.len(),
            rows: Some(laid_rows.into()),
            used: self.frame,
        };
        if !moving {
            let old = self.laid.insert((at, part), laid.clone());
            self.kept += usize::from(old.is_none_or(|old| old.rows.is_none()));
        }
        Some(laid)
    }

    pub(super) fn draw(
        &mut self,
        items: &[Item],
        selected: Option<usize>,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
        now: Instant,
    ) {
        let area = area.intersection(buffer.area);
        self.hits.clear();
        if area.width <= GUTTER + MARGIN || area.height == 0 {
            return;
        }
        self.frame += 1;
        self.now = Some(now);
        self.fit(items, area, theme);
        self.place(items);
        self.paint(items, selected, area, buffer, theme);
        if !self.following {
            self.mark_new(items, area, buffer, theme);
        }
        self.tidy();
    }

    /// Takes in a new size or theme. The row at the top stays about where it was.
    fn fit(&mut self, items: &[Item], area: Rect, theme: &Theme) {
        let width = usize::from(area.width - GUTTER - MARGIN);
        self.height = usize::from(area.height);
        if self.width == width && self.theme.as_ref() == Some(theme) {
            return;
        }
        let old = self.laid.get(&(self.top.item, self.top.part)).map(|laid| laid.height);
        self.look += 1;
        self.width = width;
        self.theme = Some(theme.clone());
        if let Some(old) = old.filter(|old| *old > 0) {
            let new = self.height_of(items, self.top.item, self.top.part);
            self.top.row = self.top.row * new / old;
        }
    }

    /// Settles what stands in the first row.
    fn place(&mut self, items: &[Item]) {
        let last = self.last_page(items);
        if !self.following {
            let parts = items.get(self.top.item).map_or(0, Item::parts);
            if self.top.part >= parts {
                self.top = Spot { part: parts.saturating_sub(1), row: 0, ..self.top };
            }
            self.carry_over(items, parts);
            self.following = self.top >= last;
        }
        if self.following {
            self.top = last;
            self.seen = None;
        } else if self.seen.is_none() {
            self.seen = end_of_content(items).map(|(item, part)| Spot {
                item,
                part,
                row: self.height_of(items, item, part),
            });
        }
    }

    /// A growing part may have been cut in two: the row at the top is in the next one then.
    fn carry_over(&mut self, items: &[Item], parts: usize) {
        loop {
            let height = self.height_of(items, self.top.item, self.top.part);
            if self.top.row < height {
                return;
            }
            if self.top.part + 1 >= parts {
                self.top.row = height.saturating_sub(1);
                return;
            }
            self.top.row -= height;
            self.top.part += 1;
        }
    }

    fn paint(
        &mut self,
        items: &[Item],
        selected: Option<usize>,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) {
        let mut y = area.top();
        let mut next = Some((self.top.item, self.top.part));
        let mut skip = self.top.row;
        while let Some((at, part)) = next {
            let Some(item) = items.get(at) else { break };
            let Some(laid) = self.lay(items, at, part, true) else { break };
            let (first, rest, style) = item.gutter(theme);
            for (index, row) in laid.rows.iter().flat_map(|rows| rows.iter()).enumerate().skip(skip)
            {
                if y >= area.bottom() {
                    return;
                }
                let head = part == 0 && index == laid.lead;
                let blank = index < laid.lead;
                self.hits.push((!blank).then_some(Hit { item: at, head }));
                if !blank {
                    if selected == Some(at) {
                        let style = theme.accent.add_modifier(Modifier::BOLD);
                        buffer.set_string(area.left(), y, "┃", style);
                    }
                    let mark = if head { first } else { rest };
                    buffer.set_string(area.left() + 1, y, mark, style);
                    let width = area.width - GUTTER - MARGIN;
                    buffer.set_line(area.left() + GUTTER, y, row, width);
                }
                y += 1;
            }
            skip = 0;
            next = after(items, at, part);
        }
    }

    /// Says at the bottom right that there is more below, and how much of it is new.
    fn mark_new(&mut self, items: &[Item], area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let new = self.new_rows(items);
        let words = match new {
            0 => " ↓ more · Ctrl-End ".to_owned(),
            1 => " ↓ 1 new row · Ctrl-End ".to_owned(),
            _ => format!(" ↓ {} new rows · Ctrl-End ", crate::ui::flow::figure(new as u64)),
        };
        let width = u16::try_from(text::width(&words)).unwrap_or(u16::MAX);
        if width + MARGIN < area.width {
            let x = area.right() - MARGIN - width;
            buffer.set_string(x, area.bottom() - 1, &words, theme.selected);
        }
    }

    fn new_rows(&mut self, items: &[Item]) -> usize {
        let Some(seen) = self.seen else { return 0 };
        let Some(end) = end_of_content(items) else { return 0 };
        let mut budget = self.layouts + COUNTED as u64;
        let mut rows = 0;
        let mut next = Some((seen.item, seen.part));
        while let Some((item, part)) = next.filter(|spot| *spot <= end) {
            let known = self.laid.get(&(item, part));
            let fresh = known.is_some_and(|laid| {
                items.get(item).is_some_and(|item| laid.key == (self.look, item.revision(part)))
            });
            rows += match known {
                Some(laid) if fresh || self.layouts >= budget => laid.height,
                None if self.layouts >= budget => {
                    budget = self.layouts;
                    1
                }
                _ => self.height_of(items, item, part),
            };
            next = after(items, item, part);
        }
        rows.saturating_sub(seen.row)
    }

    /// Forgets rows that were not needed lately; their heights stay.
    fn tidy(&mut self) {
        if self.kept <= KEPT * 2 {
            return;
        }
        let frame = self.frame;
        for laid in self.laid.values_mut().filter(|laid| laid.used < frame) {
            laid.rows = None;
        }
        self.kept = self.laid.values().filter(|laid| laid.rows.is_some()).count();
    }
}

fn after(items: &[Item], item: usize, part: usize) -> Option<(usize, usize)> {
    if part + 1 < items.get(item)?.parts() {
        return Some((item, part + 1));
    }
    (item + 1 < items.len()).then_some((item + 1, 0))
}

fn before(items: &[Item], item: usize, part: usize) -> Option<(usize, usize)> {
    if let Some(part) = part.checked_sub(1) {
        return Some((item, part));
    }
    let item = item.checked_sub(1)?;
    Some((item, items.get(item)?.parts().saturating_sub(1)))
}

/// The last part that is not the tail.
fn end_of_content(items: &[Item]) -> Option<(usize, usize)> {
    let tail = items.len().checked_sub(1)?;
    before(items, tail, 0)
}
