//! What tools the model gets: the definitions of all, or a search tool and what it found.
//!
//! While tools are searched for, the list only grows at its end and keeps its order, so that what a
//! provider has cached of a request stays good. A tool that cannot be used now is left out and has
//! its place again when it comes back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::builtin::BuiltIn;
use super::find::find;
use crate::config::ToolSearchMode;
use crate::domain::model::ToolOffer;
use crate::domain::turn::estimate_tokens;
use crate::domain::{Catalog, ModelName, Tool, ToolId, ToolSearch};

/// The definitions may take one part in so many of the window before tools are searched for.
const SHARE: u64 = 10;
/// The window that is reckoned with while nobody has said how large it is.
const ASSUMED_WINDOW: u64 = 65_536;
/// Tools that one search hands over.
const HANDED: usize = 5;
/// Tools that one search names beside those.
const NAMED: usize = 10;
/// A tool is handed over if it fits at least this well, compared with the best.
const FITS: f64 = 0.7;
/// Tokens that a definition costs beside its text.
const ENVELOPE: u64 = 4;

/// What is on offer, and what could be.
#[derive(Debug)]
pub(super) struct Offers {
    choice: ToolSearchMode,
    window: Option<u64>,
    usable: Vec<Arc<Tool>>,
    searching: bool,
    /// There are results to read on in.
    reading: bool,
    /// While tools are searched for: everything that was ever handed over, oldest first.
    handed: Vec<Handed>,
    list: Arc<[ToolOffer]>,
    tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Handed {
    BuiltIn(BuiltIn),
    Tool(ToolId),
}

/// What a search came to.
#[derive(Debug)]
pub(super) struct Found {
    /// Handed over now, best first; some may have been on offer before.
    pub(super) handed: Vec<Arc<Tool>>,
    /// Others that fit, by name.
    pub(super) named: Vec<ModelName>,
    /// How many fit in all.
    pub(super) fitting: usize,
    /// How many there are.
    pub(super) tools: usize,
}

impl Offers {
    pub(super) fn new(choice: ToolSearchMode, window: Option<u64>) -> Self {
        Self {
            choice,
            window,
            usable: Vec::new(),
            searching: false,
            reading: false,
            handed: Vec::new(),
            list: Arc::default(),
            tokens: 0,
        }
    }

    /// The definitions as they go into a request.
    pub(super) fn list(&self) -> Arc<[ToolOffer]> {
        Arc::clone(&self.list)
    }

    /// What they cost, in estimated tokens.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(super) fn usable(&self) -> &[Arc<Tool>] {
        &self.usable
    }

    /// What the definitions of all tools would cost.
    pub(super) fn all_tokens(&self) -> u64 {
        self.usable.iter().map(|tool| u64::from(tool.tokens)).sum()
    }

    /// What definitions may cost before it is too much.
    pub(super) fn budget(&self) -> u64 {
        self.window.unwrap_or(ASSUMED_WINDOW) / SHARE
    }

    pub(super) fn window_known(&self) -> bool {
        self.window.is_some()
    }

    /// The mode, while tools are searched for.
    pub(super) fn search(&self) -> Option<ToolSearch> {
        let handed = self.list.len().saturating_sub(self.built_ins().count());
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.searching.then(|| ToolSearch {
            tools: count(self.usable.len()),
            handed: count(handed),
            tokens: self.all_tokens(),
        })
    }

    fn built_ins(&self) -> impl Iterator<Item = BuiltIn> {
        let search = self.searching.then_some(BuiltIn::SearchTools);
        let read = [BuiltIn::ReadResult, BuiltIn::SearchResult].into_iter();
        search.into_iter().chain(read.filter(|_| self.reading))
    }

    /// Takes in what can be used now. Snapshots come often and their tools rarely change: then
    /// everything stays as it is. `called` tells which tools the conversation has called so far.
    pub(super) fn change(
        &mut self,
        catalog: &Catalog,
        called: impl FnOnce() -> HashSet<ModelName>,
    ) {
        let servers = catalog.servers.iter().filter(|server| server.state.usable());
        let tools: Vec<&Arc<Tool>> =
            servers.flat_map(|server| &server.tools).filter(|tool| !tool.disabled).collect();
        let same = tools.len() == self.usable.len()
            && tools.iter().zip(&self.usable).all(|(new, old)| Arc::ptr_eq(new, old));
        if same {
            return;
        }
        self.usable = tools.into_iter().map(Arc::clone).collect();
        self.decide(called);
    }

    pub(super) fn set_window(
        &mut self,
        window: Option<u64>,
        called: impl FnOnce() -> HashSet<ModelName>,
    ) {
        self.window = window;
        self.decide(called);
    }

    /// The tools that read kept results are on offer from here on.
    pub(super) fn read_results(&mut self) {
        if !self.reading {
            self.reading = true;
            let read = [BuiltIn::ReadResult, BuiltIn::SearchResult];
            self.handed.extend(read.map(Handed::BuiltIn));
            self.rebuild();
        }
    }

    /// Another conversation: nothing is handed over yet but what it has called.
    pub(super) fn start_over(&mut self, called: impl FnOnce() -> HashSet<ModelName>) {
        self.searching = false;
        self.reading = false;
        self.handed.clear();
        self.decide(called);
    }

    fn decide(&mut self, called: impl FnOnce() -> HashSet<ModelName>) {
        let (all, budget) = (self.all_tokens(), self.budget());
        let search = match self.choice {
            ToolSearchMode::On => !self.usable.is_empty(),
            ToolSearchMode::Off => false,
            // Once on, it takes more than one tool less to go back.
            ToolSearchMode::Auto if self.searching => all.saturating_mul(5) > budget * 4,
            ToolSearchMode::Auto => all > budget,
        };
        let begins = search && !self.searching;
        self.searching = search;
        if begins {
            self.begin_search(&called());
        }
        self.rebuild();
    }

    /// What was found before stays found, and what the conversation works with stays on offer.
    fn begin_search(&mut self, called: &HashSet<ModelName>) {
        if !self.handed.contains(&Handed::BuiltIn(BuiltIn::SearchTools)) {
            self.handed = self.built_ins().map(Handed::BuiltIn).collect();
        }
        let used = self.usable.iter().filter(|tool| called.contains(&tool.model_name));
        let new: Vec<ToolId> =
            used.filter(|tool| !self.has(&tool.id)).map(|tool| tool.id.clone()).collect();
        self.handed.extend(new.into_iter().map(Handed::Tool));
    }

    fn rebuild(&mut self) {
        let (mut list, mut tokens) = (Vec::new(), 0);
        let built_in = |built_in: BuiltIn, list: &mut Vec<ToolOffer>, tokens: &mut u64| {
            let offer = built_in.offer();
            *tokens += offer_cost(&offer);
            list.push(offer);
        };
        if self.searching {
            let by_id: HashMap<&ToolId, &Arc<Tool>> =
                self.usable.iter().map(|tool| (&tool.id, tool)).collect();
            for handed in &self.handed {
                match handed {
                    Handed::BuiltIn(tool) => built_in(*tool, &mut list, &mut tokens),
                    Handed::Tool(id) => {
                        let Some(tool) = by_id.get(id) else { continue };
                        tokens += u64::from(tool.tokens);
                        list.push(offer_of(tool));
                    }
                }
            }
        } else {
            for tool in &self.usable {
                tokens += u64::from(tool.tokens);
                list.push(offer_of(tool));
            }
            for tool in self.built_ins() {
                built_in(tool, &mut list, &mut tokens);
            }
        }
        self.list = list.into();
        self.tokens = tokens;
    }

    fn has(&self, id: &ToolId) -> bool {
        self.handed.iter().any(|handed| matches!(handed, Handed::Tool(known) if known == id))
    }

    /// A tool that the model called without having searched for it is on offer from then on.
    pub(super) fn hand(&mut self, id: &ToolId) {
        if self.searching && !self.has(id) {
            self.handed.push(Handed::Tool(id.clone()));
            self.rebuild();
        }
    }

    /// Searches, and hands over what fits best: as much as the budget has room for, and always the
    /// best one.
    pub(super) fn look_for(&mut self, query: &str) -> Found {
        let ranked = find(query, &self.usable);
        let fitting = ranked.len();
        let best = ranked.first().map_or(0.0, |(score, _)| *score);
        let (mut handed, mut named): (Vec<Arc<Tool>>, Vec<ModelName>) = (Vec::new(), Vec::new());
        let (mut tokens, budget) = (self.tokens, self.budget());
        for (score, tool) in ranked {
            let known = self.has(&tool.id);
            let price = if known { 0 } else { u64::from(tool.tokens) };
            let room = handed.is_empty() || known || tokens + price <= budget;
            if room && handed.len() < HANDED && score >= best * FITS {
                tokens += price;
                handed.push(Arc::clone(tool));
            } else if named.len() < NAMED {
                named.push(tool.model_name.clone());
            }
        }
        for tool in &handed {
            if !self.has(&tool.id) {
                self.handed.push(Handed::Tool(tool.id.clone()));
            }
        }
        self.rebuild();
        Found { handed, named, fitting, tools: self.usable.len() }
    }
}

fn offer_of(tool: &Tool) -> ToolOffer {
    ToolOffer {
        name: tool.model_name.clone(),
        description: tool.definition.description.clone(),
        schema: Arc::clone(&tool.definition.input_schema),
    }
}

fn offer_cost(offer: &ToolOffer) -> u64 {
    let schema = offer.schema.to_string();
    ENVELOPE
        + estimate_tokens(offer.name.as_str())
        + estimate_tokens(&offer.description)
        + estimate_tokens(&schema)
}
