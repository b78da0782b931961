//! What the screen remembers.

pub mod approval;
pub mod form;
pub mod input;
pub mod models;
pub mod page;
pub mod palette;
pub mod panel;
pub mod status;
pub mod wire;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::layout::Rect;

use super::conversation::Conversation;
use super::keymap::Place;
use super::pick::Picker;
use crate::config::{Notify, ThemeName, UiConfig};
use crate::domain::{CallId, Catalog, Server, ServerState, Source, ToolId, Warning};
use approval::Decisions;
use input::Composer;
use models::Models;
use page::Page;
use palette::Palette;
use panel::Panel;
use status::Status;
use wire::WireView;

/// How long the question whether to quit stands.
pub const QUIT_WINDOW: Duration = Duration::from_secs(2);
/// How long a line of the program itself stays in the status line.
pub const SAID_FOR: Duration = Duration::from_secs(5);
/// Calls kept for each tool.
pub const LAST_CALLS: usize = 5;
/// How often a frame is drawn while something in the conversation moves by itself.
pub const ANIMATION: Duration = Duration::from_millis(250);
/// How often a frame is drawn while only the time of the turn goes on.
pub const CLOCK: Duration = Duration::from_secs(1);

/// What the screen is told once, at the start.
#[derive(Debug, Clone)]
pub struct UiOptions {
    /// Colours.
    pub theme: ThemeName,
    /// `NO_COLOR` is set: wins over every theme.
    pub no_color: bool,
    /// Whether the mouse is captured.
    pub mouse: bool,
    /// Columns of the side panel.
    pub sidebar_width: u16,
    /// How a waiting decision makes itself known.
    pub notify: Notify,
    /// Rebound keys: action name → key.
    pub keys: BTreeMap<String, String>,
    /// The config file, for warnings about keys.
    pub file: Option<PathBuf>,
    /// Name of the model, for the status line; empty where there is none.
    pub model: String,
    /// Where rules are written when the user answers *always*.
    pub rules_file: Option<PathBuf>,
    /// How this program was started, as shell words: what a copied command begins with.
    pub program: String,
}

impl Default for UiOptions {
    fn default() -> Self {
        Self::new(&UiConfig::default())
    }
}

impl UiOptions {
    /// The options of a config; the rest is empty.
    pub fn new(config: &UiConfig) -> Self {
        Self {
            theme: config.theme,
            no_color: false,
            mouse: config.mouse,
            sidebar_width: config.sidebar_width,
            notify: config.notify,
            keys: BTreeMap::new(),
            file: None,
            model: String::new(),
            rules_file: None,
            program: "mini-me-tui".to_owned(),
        }
    }
}

/// Which area gets the keys when nothing stands over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// The draft.
    #[default]
    Input,
    /// The side panel.
    Panel,
}

/// What stands over the rest of the screen.
#[derive(Debug)]
pub enum Overlay {
    /// A page to read: help, details, warnings.
    Page(Page),
    /// The command palette.
    Palette(Palette),
    /// The models of the endpoint.
    Models(Models),
    /// The arguments of a tool that the user calls.
    CallTool(page::CallForm),
    /// The exchanges with servers and the model.
    Wire(Box<WireView>),
    /// A list to choose from: sessions, messages.
    Pick(Picker),
}

/// Where things were drawn last, for the mouse.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drawn {
    /// The conversation.
    pub conversation: Rect,
    /// The rows of the side panel.
    pub panel: Rect,
    /// The draft.
    pub input: Rect,
    /// The decision box.
    pub dialog: Rect,
    /// The side panel lies over the rest.
    pub panel_over: bool,
    /// There is room for the side panel beside the conversation.
    pub wide: bool,
}

/// Everything the screen remembers.
#[derive(Debug)]
pub struct UiState {
    /// What it was told at the start; theme and mouse can change.
    pub options: UiOptions,
    /// The conversation pane.
    pub conversation: Conversation,
    /// The draft and the history.
    pub input: Composer,
    /// Approvals and questions that wait.
    pub decisions: Decisions,
    /// The side panel.
    pub panel: Panel,
    /// What stands over the rest.
    pub overlay: Option<Overlay>,
    /// Which area gets the keys.
    pub focus: Focus,
    /// Turn, context, line of the program.
    pub status: Status,
    /// The latest snapshot.
    pub catalog: Arc<Catalog>,
    /// Warnings that reached the screen otherwise than in the catalog.
    pub warnings: Vec<Warning>,
    /// Those of them that are about the conversation at hand, and end with it.
    pub passing: Vec<Warning>,
    /// A prompt that waits until discovery has settled.
    pub waiting_prompt: Option<String>,
    /// Whether the terminal has the user's attention; true until it says otherwise.
    pub attended: bool,
    /// Until when another Ctrl-C quits.
    pub quit_until: Option<Instant>,
    /// The latest calls of each tool: how they ended and how long they took, newest first.
    pub calls: HashMap<ToolId, VecDeque<(&'static str, Duration)>>,
    /// The tools of calls that are not settled.
    pub running: HashMap<CallId, ToolId>,
    /// Where the transcript of this conversation is.
    pub transcript: Option<PathBuf>,
    /// Whether the runtime was asked to tell of exchanges.
    pub wire_watched: bool,
    /// Where things were drawn last.
    pub drawn: Drawn,
    /// What the user's own editor was given; where what comes back belongs.
    pub lent: Lent,
}

/// What the user's own editor was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lent {
    /// The draft.
    #[default]
    Draft,
    /// The arguments of this call.
    Arguments(CallId),
}

impl UiState {
    /// A screen before anything happened.
    pub fn new(options: UiOptions, catalog: Arc<Catalog>, warnings: Vec<Warning>) -> Self {
        let mut conversation = Conversation::default();
        conversation.banner(&catalog);
        let mut panel = Panel::default();
        panel.refresh(&catalog);
        Self {
            options,
            conversation,
            input: Composer::default(),
            decisions: Decisions::default(),
            panel,
            overlay: None,
            focus: Focus::default(),
            status: Status::default(),
            catalog,
            warnings,
            passing: Vec::new(),
            waiting_prompt: None,
            attended: true,
            quit_until: None,
            calls: HashMap::new(),
            running: HashMap::new(),
            transcript: None,
            wire_watched: false,
            drawn: Drawn::default(),
            lent: Lent::default(),
        }
    }

    /// All warnings: servers that cannot be used as they are, those of the screen, then those of
    /// the catalog.
    pub fn all_warnings(&self) -> impl Iterator<Item = Cow<'_, Warning>> {
        let own = self.warnings.iter();
        // What the runtime says at once may stand in the catalog a moment later.
        let own = own.filter(|own| !self.catalog.all_warnings().any(|known| known == *own));
        let known = own.chain(self.catalog.all_warnings());
        self.catalog.servers.iter().filter_map(unwell).chain(known.map(Cow::Borrowed))
    }

    /// The title of the window: the name of the program and what it waits for. Not cleaned.
    pub fn title(&self) -> &'static str {
        match (self.decisions.waiting() > 0, self.status.turn.is_some()) {
            (true, _) => "mini-me: waiting for you",
            (false, true) => "mini-me: working",
            (false, false) => "mini-me",
        }
    }

    /// Remembers how a call of a tool ended.
    pub fn called(&mut self, tool: &ToolId, word: &'static str, lasted: Duration) {
        let calls = self.calls.entry(tool.clone()).or_default();
        calls.push_front((word, lasted));
        calls.truncate(LAST_CALLS);
    }

    /// Whether keys decide as soon as the decision box is armed: it is there, and the user went
    /// neither to the draft nor to the side panel.
    pub fn asking(&self) -> bool {
        self.decisions.visible() && !self.decisions.in_draft && self.focus == Focus::Input
    }

    /// The place whose keys work now.
    pub fn place(&self) -> Place {
        match (self.asking(), self.focus) {
            (true, _) if self.decisions.elicitation().is_some() => Place::Form,
            (true, _) => Place::Dialog,
            (false, Focus::Input) => Place::Input,
            (false, Focus::Panel) => Place::Panel,
        }
    }

    /// Says one line in the status line for a while.
    pub fn say(&mut self, text: impl Into<String>, now: Instant) {
        self.status.said = Some((text.into(), now + SAID_FOR));
    }

    /// When the next frame is needed although nothing happens; `None` when nothing moves.
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        let said = self.status.said.as_ref().map(|(_, until)| *until);
        let animation = match (self.conversation.animating(), &self.status.turn) {
            (true, _) => Some(now + ANIMATION),
            // No time runs on the screen while a decision is waited for, for hours perhaps.
            (false, Some(_)) if self.decisions.waiting() == 0 => Some(now + CLOCK),
            (false, _) => None,
        };
        [said, self.quit_until, self.decisions.wake(), animation].into_iter().flatten().min()
    }

    /// Lets go of what has run out.
    pub fn tick(&mut self, now: Instant) {
        if self.status.said.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.status.said = None;
        }
        if self.quit_until.is_some_and(|until| until <= now) {
            self.quit_until = None;
        }
    }
}

/// What is wrong with a server's connection. One that is switched off is as it was wanted, or has
/// a warning of its own.
fn unwell(server: &Server) -> Option<Cow<'_, Warning>> {
    let message = match &server.state {
        ServerState::Failed { stage, reason } => format!("failed at {stage}: {reason}"),
        ServerState::Degraded { reason } | ServerState::NeedsAuth { reason } => {
            format!("{}: {reason}", server.state.word())
        }
        ServerState::Connecting | ServerState::Ready | ServerState::Disabled { .. } => return None,
    };
    let advice = "Select it in the side panel to reconnect; it is also tried again by itself.";
    Some(Cow::Owned(Warning::new(Source::Server(server.name.clone()), message, advice)))
}
