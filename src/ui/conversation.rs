//! The conversation pane: what it remembers, how keys move it, how it is drawn.
//!
//! Split: [`Conversation`] holds the items and what the runtime says about them; `item` and its
//! neighbours know what each looks like; `pane` knows the position and lays out the rows that are
//! visible, cached per (part of an item, its revision, width), so that a frame costs the visible
//! rows only, however long the history.

mod banner;
mod card;
mod item;
mod pane;
mod plain;
mod result;

use std::collections::HashMap;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::theme::Theme;
use crate::bridge::Notice;
use crate::domain::{
    Call, CallId, CallState, Catalog, QuestionId, ToolSearch, TurnEnd, TurnId, Usage, Warning,
};
use crate::text;
use banner::Banner;
use card::Card;
use item::{Answer, Body, Item, Phase, Reasoning, Remark, Tail};
use pane::Pane;
use plain::Plain;

/// What a key can do to the pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Rows up (negative) or down.
    Rows(i32),
    /// Pages up (negative) or down.
    Pages(i32),
    /// To the first row.
    Top,
    /// To the last row, and follow from there.
    Bottom,
    /// Selects the previous item that can be opened or copied.
    Previous,
    /// Selects the next one.
    Next,
    /// Opens or closes the selected card or reasoning (the latest one where none is selected).
    Toggle,
    /// Clears the selection.
    Unselect,
}

/// The state of the pane.
#[derive(Debug)]
pub struct Conversation {
    /// In order; the last one is always the [`Tail`].
    items: Vec<Item>,
    pane: Pane,
    turn: Option<TurnId>,
    /// Where the card of each call is.
    calls: HashMap<CallId, usize>,
    /// The calls that are not settled, and whether they run.
    open: HashMap<CallId, bool>,
    /// Whether to go on is asked: the model is not awaited.
    question: Option<QuestionId>,
    selected: Option<usize>,
    /// How tools are searched for, for the banner.
    search: Option<ToolSearch>,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            items: vec![Item::new(Body::Tail(Tail::default()))],
            pane: Pane::default(),
            turn: None,
            calls: HashMap::new(),
            open: HashMap::new(),
            question: None,
            selected: None,
            search: None,
        }
    }
}

impl Conversation {
    /// Takes in what the runtime says. Returns whether anything visible changed.
    pub fn apply(&mut self, notice: &Notice, now: Instant) -> bool {
        let changed = self.take(notice, now);
        if changed {
            self.settle_activity(now);
        }
        changed
    }

    fn take(&mut self, notice: &Notice, now: Instant) -> bool {
        match notice {
            Notice::TurnStarted { turn, text } => self.begin(*turn, text, now),
            Notice::Queued { texts } => self.tail(|tail| tail.queued.clone_from(texts)),
            Notice::Text { turn, chunk } => return self.add_text(*turn, chunk, now),
            Notice::Reasoning { turn, chunk } => return self.add_reasoning(*turn, chunk, now),
            Notice::Retrying { turn, attempt, after, reason } => {
                if self.turn != Some(*turn) {
                    return false;
                }
                self.push(Body::Remark(Remark::retry(*attempt, *after, reason)));
            }
            Notice::CallChanged { call, state } => self.change_call(call, state, now),
            Notice::CallRefused { name, arguments, outcome, for_model, .. } => {
                self.close_answer();
                let card = Card::refused(name, arguments, outcome, for_model, now);
                self.push(Body::Card(Box::new(card)));
            }
            Notice::CatalogChanged { catalog } => self.banner(catalog),
            Notice::Warned { warning } => return self.warn(warning),
            Notice::TurnEnded { turn, reason, usage, took } => {
                return self.end(*turn, reason, *usage, *took);
            }
            Notice::SessionStarted { .. } => self.start_over(),
            Notice::Questioned { question } => self.question = Some(question.id),
            Notice::QuestionClosed { question } => {
                self.question = self.question.filter(|open| open != question);
            }
            Notice::TakenBack { .. }
            | Notice::Asked { .. }
            | Notice::AskClosed { .. }
            | Notice::Elicited { .. }
            | Notice::ElicitationClosed { .. }
            | Notice::Inquired { .. }
            | Notice::ModelsListed { .. }
            | Notice::ModelChanged { switched: false, .. }
            | Notice::ModelWaits { .. }
            | Notice::Wire { .. }
            | Notice::WireExported { .. }
            | Notice::OffersChanged { .. }
            | Notice::Resumed { .. }
            | Notice::Sessions { .. }
            | Notice::Refused { .. } => return false,
            Notice::ModelChanged { model, .. } => {
                self.note(&format!("from here on: {}", crate::text::line(&model.name)));
            }
            Notice::ContextChanged { parts } => return self.search_tools(parts.tool_search),
        }
        true
    }

    /// Shows what was said in a conversation that is gone on with. Ids are of another run: nothing
    /// that happens now belongs to one of them.
    pub fn replay(&mut self, history: &[Notice], now: Instant) {
        for notice in history {
            if matches!(notice, Notice::TurnStarted { .. }) {
                self.calls.clear();
            }
            self.take(notice, now);
        }
        if !history.is_empty() {
            self.close_answer();
            self.turn = None;
            self.calls.clear();
            self.open.clear();
            self.tail(|tail| tail.activity = None);
        }
    }

    /// Shows or refreshes the banner: servers, tools, permissions, warnings.
    pub fn banner(&mut self, catalog: &Catalog) {
        let banner = Banner::of(catalog, self.search);
        if let Some(item) = self.items.first_mut()
            && matches!(item.body, Body::Banner(_))
        {
            item.change(|body| *body = Body::Banner(banner));
            return;
        }
        self.items.insert(0, Item::new(Body::Banner(banner)));
        self.pane.forget();
        self.calls.values_mut().for_each(|at| *at += 1);
        self.selected = self.selected.map(|at| at + 1);
    }

    fn search_tools(&mut self, search: Option<ToolSearch>) -> bool {
        if self.search == search {
            return false;
        }
        self.search = search;
        if let Some(item) = self.items.first_mut() {
            item.change(|body| {
                if let Body::Banner(banner) = body {
                    banner.set_search(search);
                }
            });
        }
        true
    }

    /// Adds a line of the program itself, such as "copied" or "new conversation".
    pub fn note(&mut self, text: &str) {
        self.push(Body::Remark(Remark::note(text)));
    }

    /// Moves or opens something.
    pub fn go(&mut self, to: Move) {
        match to {
            Move::Rows(rows) => self.pane.scroll(&self.items, i64::from(rows)),
            Move::Pages(pages) => {
                let page = self.pane.page();
                self.pane.scroll(&self.items, i64::from(pages).saturating_mul(page));
            }
            Move::Top => self.pane.go_to_top(),
            Move::Bottom => self.pane.follow(),
            Move::Previous => self.select(self.neighbour(false)),
            Move::Next => self.select(self.neighbour(true)),
            Move::Toggle => self.toggle(self.selected.or_else(|| self.latest_openable())),
            Move::Unselect => self.selected = None,
        }
    }

    /// Selects and toggles what stands at this row of the pane, for the mouse.
    pub fn click(&mut self, row: u16) {
        let Some(hit) = self.pane.hit(row) else { return };
        let Some(item) = self.items.get(hit.item).filter(|item| item.selectable()) else {
            self.selected = None;
            return;
        };
        let toggles = item.can_open() && (!item.open || hit.head);
        self.selected = Some(hit.item);
        if toggles {
            self.toggle(Some(hit.item));
        }
    }

    /// The user's messages, in order.
    pub fn user_messages(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| match &item.body {
            Body::User(message) => Some(message.raw()),
            _ => None,
        })
    }

    /// The number, from 1, of the user's message that is selected.
    pub fn selected_message(&self) -> Option<usize> {
        let at = self.selected?;
        let is_user = |item: &Item| matches!(item.body, Body::User(_));
        is_user(self.items.get(at)?)
            .then(|| self.items.iter().take(at + 1).filter(|item| is_user(item)).count())
    }

    /// The source text of the selected item (message, card's result), or of the last answer.
    pub fn copy_text(&self) -> Option<String> {
        let item = match self.selected {
            Some(at) => self.items.get(at)?,
            None => self.items.iter().rev().find(|item| matches!(item.body, Body::Answer(_)))?,
        };
        Some(copyable(item.source()))
    }

    /// The call whose card is selected, or else the latest one.
    pub fn call(&self) -> Option<CallId> {
        let chosen = self.calls.iter().find(|(_, at)| Some(**at) == self.selected);
        chosen.or_else(|| self.calls.iter().max_by_key(|(_, at)| **at)).map(|(call, _)| *call)
    }

    /// The whole conversation as plain text.
    pub fn transcript(&self) -> String {
        let mut out = String::new();
        for item in &self.items {
            let text = text::block(&item.transcript());
            if !text.as_str().trim().is_empty() {
                out.push_str(text.as_str().trim_end());
                out.push_str("\n\n");
            }
        }
        out
    }

    /// Whether something moves by itself (elapsed time of a running call), so that frames are
    /// needed without a message.
    pub fn animating(&self) -> bool {
        self.tail_ref().is_some_and(|tail| tail.activity.is_some())
            || self.open.values().any(|running| *running)
    }

    /// Lays out what is missing for this size and draws it. `now` is for elapsed times.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, theme: &Theme, now: Instant) {
        self.pane.draw(&self.items, self.selected, area, buffer, theme, now);
    }

    // What the runtime says.

    fn begin(&mut self, turn: TurnId, text: &str, now: Instant) {
        self.close_answer();
        self.turn = Some(turn);
        self.push(Body::User(Plain::new(text)));
        self.tail(|tail| tail.activity = Some((Phase::Thinking, now)));
        self.selected = None;
        self.pane.follow();
    }

    fn add_text(&mut self, turn: TurnId, chunk: &str, now: Instant) -> bool {
        if self.turn != Some(turn) || chunk.is_empty() {
            return false;
        }
        if let Some(Item { body: Body::Answer(answer), .. }) = self.current()
            && answer.streaming
        {
            answer.document.push(chunk);
            return true;
        }
        let chunk = chunk.trim_start_matches(['\n', '\r']);
        if chunk.trim().is_empty() {
            return false;
        }
        self.phase(Phase::Writing, now);
        self.push(Body::Answer(Answer::begin(chunk)));
        true
    }

    fn add_reasoning(&mut self, turn: TurnId, chunk: &str, now: Instant) -> bool {
        if self.turn != Some(turn) || chunk.is_empty() {
            return false;
        }
        if let Some(item) = self.current()
            && matches!(item.body, Body::Reasoning(_))
        {
            item.change(|body| {
                if let Body::Reasoning(reasoning) = body {
                    reasoning.push(chunk);
                }
            });
            return true;
        }
        if chunk.trim().is_empty() {
            return false;
        }
        self.close_answer();
        self.phase(Phase::Reasoning, now);
        self.push(Body::Reasoning(Reasoning::begin(chunk)));
        true
    }

    fn change_call(&mut self, call: &Call, state: &CallState, now: Instant) {
        self.close_answer();
        match state {
            CallState::Done { .. } => self.open.remove(&call.id),
            CallState::Asking => self.open.insert(call.id, false),
            CallState::Running { .. } => self.open.insert(call.id, true),
        };
        if let Some(item) = self.calls.get(&call.id).and_then(|at| self.items.get_mut(*at)) {
            item.change(|body| {
                if let Body::Card(card) = body {
                    card.update(call, state, now);
                }
            });
        } else {
            let at = self.push(Body::Card(Box::new(Card::new(call, state, now))));
            self.calls.insert(call.id, at);
        }
    }

    fn warn(&mut self, warning: &Warning) -> bool {
        let told = match self.items.first().map(|item| &item.body) {
            Some(Body::Banner(banner)) => banner.tells(warning),
            _ => false,
        };
        let remark = Remark::warning(warning);
        let last = self.items.iter().rev().nth(1).map(|item| &item.body);
        let again = matches!(last, Some(Body::Remark(last)) if *last == remark);
        if told || again {
            return false;
        }
        self.push(Body::Remark(remark));
        true
    }

    fn end(
        &mut self,
        turn: TurnId,
        reason: &TurnEnd,
        usage: Usage,
        took: std::time::Duration,
    ) -> bool {
        if self.turn != Some(turn) {
            return false;
        }
        let broken = matches!(
            reason,
            TurnEnd::Incomplete { .. }
                | TurnEnd::Cancelled
                | TurnEnd::Failed { .. }
                | TurnEnd::Length
        );
        if broken && let Some(item) = self.current() {
            item.change(|body| {
                if let Body::Answer(answer) = body
                    && answer.streaming
                {
                    answer.incomplete = true;
                }
            });
        }
        self.close_answer();
        self.turn = None;
        self.open.clear();
        self.question = None;
        self.tail(|tail| tail.activity = None);
        if let Some(remark) = Remark::turn_end(reason, usage, took) {
            self.push(Body::Remark(remark));
        }
        true
    }

    /// A new conversation; the first one of a run is new already and keeps what it was told.
    fn start_over(&mut self) {
        if !self.items.iter().any(|item| matches!(item.body, Body::User(_) | Body::Card(_))) {
            return;
        }
        self.items.retain(|item| matches!(item.body, Body::Banner(_)));
        self.items.push(Item::new(Body::Tail(Tail::default())));
        self.turn = None;
        self.calls.clear();
        self.open.clear();
        self.selected = None;
        self.pane.forget();
        self.pane.follow();
    }

    // Items.

    /// Adds an item before the tail and returns where it is.
    fn push(&mut self, body: Body) -> usize {
        let at = self.items.len().saturating_sub(1);
        self.items.insert(at, Item::new(body));
        at
    }

    /// What the model or the user added last. Remarks may stand below it while it still grows.
    fn current(&mut self) -> Option<&mut Item> {
        let passing = |item: &&mut Item| matches!(item.body, Body::Remark(_) | Body::Tail(_));
        self.items.iter_mut().rev().find(|item| !passing(item))
    }

    fn close_answer(&mut self) {
        if let Some(Item { body: Body::Answer(answer), .. }) = self.current() {
            answer.streaming = false;
        }
    }

    fn tail(&mut self, change: impl FnOnce(&mut Tail)) {
        if let Some(Body::Tail(tail)) = self.items.last_mut().map(|item| &mut item.body) {
            change(tail);
        }
    }

    fn tail_ref(&self) -> Option<&Tail> {
        match &self.items.last()?.body {
            Body::Tail(tail) => Some(tail),
            _ => None,
        }
    }

    fn phase(&mut self, phase: Phase, now: Instant) {
        self.tail(|tail| {
            let since = tail.activity.map_or(now, |(_, since)| since);
            tail.activity = Some((phase, since));
        });
    }

    /// The model is awaited while a turn is open and none of its calls is.
    fn settle_activity(&mut self, now: Instant) {
        let awaited = self.turn.is_some() && self.open.is_empty() && self.question.is_none();
        self.tail(|tail| {
            if !awaited {
                tail.activity = None;
            } else if tail.activity.is_none() {
                tail.activity = Some((Phase::Thinking, now));
            }
        });
    }

    // Selection.

    fn neighbour(&self, later: bool) -> Option<usize> {
        let wanted = |(at, item): (usize, &Item)| item.selectable().then_some(at);
        let all = || self.items.iter().enumerate();
        match (self.selected, later) {
            (Some(from), true) => all().skip(from + 1).find_map(wanted).or(Some(from)),
            (Some(from), false) => all().take(from).rev().find_map(wanted).or(Some(from)),
            (None, _) => {
                let in_view = self
                    .pane
                    .in_view()
                    .find(|at| self.items.get(*at).is_some_and(Item::selectable));
                in_view.or_else(|| all().rev().find_map(wanted))
            }
        }
    }

    fn select(&mut self, at: Option<usize>) {
        self.selected = at;
        if let Some(at) = at {
            self.pane.reveal(at);
        }
    }

    fn latest_openable(&self) -> Option<usize> {
        let opens = |at: &usize| {
            self.items
                .get(*at)
                .is_some_and(|item| item.can_open() && !matches!(item.body, Body::Banner(_)))
        };
        self.pane.in_view().find(opens).or_else(|| (0..self.items.len()).rev().find(opens))
    }

    fn toggle(&mut self, at: Option<usize>) {
        let Some(at) = at else { return };
        let Some(item) = self.items.get_mut(at).filter(|item| item.can_open()) else { return };
        item.open = !item.open;
        item.change(|_| ());
        self.pane.hold(at);
        if self.pane.in_view().all(|seen| seen != at) {
            self.pane.reveal(at);
        }
    }
}

/// Text for the clipboard: as it is where it holds no control character and so no escape sequence;
/// what joins or is invisible is part of the text there.
fn copyable(raw: String) -> String {
    if raw.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
        return raw;
    }
    text::block(&raw).into_string()
}

#[cfg(test)]
mod tests;
