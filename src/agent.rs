//! The agent's turn as a state machine: events in, effects out. No I/O, no clock.
//!
//! It promises that every request to the model is valid: each call that the model asked for has
//! exactly one result, right after the message that asked, in the order of the calls. It holds
//! through cancelling, broken streams and late answers. No call runs that the [`Policy`] or the
//! user did not allow, and none runs with arguments other than those that were shown.
//!
//! [`Agent::handle`] is the only way in. What it leaves to others: carrying requests, running
//! calls, writing files, showing notices.

mod builtin;
mod calls;
mod context;
mod effect;
mod event;
mod find;
mod kept;
mod mark;
mod offers;
mod overlap;
mod past;
mod phase;
mod prompt;
mod queue;
mod repeat;
mod results;
mod reviews;
mod room;
mod search;
mod summary;
mod turns;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use calls::{Consent, OpenCall};
use context::Conversation;
pub use effect::{AuditRecord, AuditWhat, Effect, SessionEvent, Told};
pub use event::Event;
use kept::Kept;
pub use past::{Grants, Past, PastResult, retell, whole};
use phase::Turn;
pub use prompt::SYSTEM;

use crate::bridge::Notice;
use crate::config::ToolSearchMode;
use crate::domain::{
    CallId, Catalog, ContextParts, Interaction, Message, QuestionId, ServerName, ToolId, TurnId,
    Warning,
};
use crate::permission::exfiltration::Provenance;
use crate::permission::{Listing, Policy};

/// What an agent is made with.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Whether somebody is there to be asked.
    pub interaction: Interaction,
    /// Tokens of one result that the model sees at once.
    pub result_limit: u64,
    /// Rounds of one turn after which the user is asked whether to go on.
    pub rounds: u32,
    /// How often in a row the same call may give the same result before the user is asked.
    pub repeat: u32,
    /// The first part of the system prompt; the servers' instructions follow it.
    pub system: String,
    /// Limit on one answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The model's window in tokens; `None` where not known.
    pub window: Option<u64>,
    /// Whether the model searches for tools.
    pub tool_search: ToolSearchMode,
}

impl AgentConfig {
    /// The limits that hold unless something else is configured.
    pub fn new(interaction: Interaction) -> Self {
        Self {
            interaction,
            result_limit: 6000,
            rounds: 50,
            repeat: 3,
            system: SYSTEM.to_owned(),
            max_output_tokens: None,
            temperature: None,
            window: None,
            tool_search: ToolSearchMode::Auto,
        }
    }
}

/// The conversation with the model and everything that is open in it.
#[derive(Debug)]
pub struct Agent {
    config: AgentConfig,
    policy: Policy,
    catalog: Arc<Catalog>,
    conversation: Conversation,
    kept: Kept,
    provenance: Provenance,
    /// Whose data the user let which tool have in this run.
    flows: Vec<(ToolId, ServerName)>,
    queue: VecDeque<String>,
    turn: Option<Turn>,
    open: BTreeMap<CallId, OpenCall>,
    ids: Ids,
    told_parts: Option<ContextParts>,
    /// What was said of the price of all tools: whether it is too high, whether they are searched for.
    told_budget: (bool, bool),
    out: Vec<Effect>,
}

/// The next free identities.
#[derive(Debug, Default)]
struct Ids {
    turn: u64,
    call: u64,
    question: u64,
}

impl Ids {
    fn turn(&mut self) -> TurnId {
        self.turn += 1;
        TurnId(self.turn)
    }

    fn call(&mut self) -> CallId {
        self.call += 1;
        CallId(self.call)
    }

    fn question(&mut self) -> QuestionId {
        self.question += 1;
        QuestionId(self.question)
    }
}

impl Agent {
    /// An agent with an empty conversation and no tools yet.
    pub fn new(config: AgentConfig, policy: Policy) -> Self {
        Self {
            conversation: Conversation::new(&config),
            config,
            policy,
            catalog: Arc::default(),
            kept: Kept::default(),
            provenance: Provenance::default(),
            flows: Vec::new(),
            queue: VecDeque::new(),
            turn: None,
            open: BTreeMap::new(),
            ids: Ids::default(),
            told_parts: None,
            told_budget: (false, false),
            out: Vec::new(),
        }
    }

    /// The model's window, once it is known.
    pub fn set_window(&mut self, window: Option<u64>) -> Vec<Effect> {
        self.config.window = window;
        self.conversation.set_window(window, &self.catalog, &self.config.system);
        self.finish_step()
    }

    /// The rules in force, for those who show them.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Takes in one event and says what has to be done. Events about what is over are ignored.
    pub fn handle(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        match event {
            Event::Submitted { text } => self.submitted(text, now),
            Event::TakenBack { at, text } => self.taken_back(at, &text),
            Event::CallDirect { tool, arguments, consent } => {
                let consent = if consent { Consent::Given } else { Consent::Open };
                self.call_direct(tool, arguments, consent, now);
            }
            Event::CallUnchecked { tool, arguments } => {
                self.call_direct(tool, arguments, Consent::Unchecked, now);
            }
            Event::Model { turn, event } => self.model_said(turn, event, now),
            Event::ModelFailed { turn, error } => self.model_failed(turn, error, now),
            Event::Answered { call, answer } => self.answered(call, answer, now),
            Event::Decided { question, go_on } => self.decided(question, go_on, now),
            Event::Progressed { call, progress } => self.progressed(call, progress),
            Event::CallDone { call, outcome } => self.call_done(call, outcome, now),
            Event::CatalogChanged { catalog } => self.catalog_changed(catalog),
            Event::Interrupted => self.interrupted(now),
            Event::NewSession => self.new_session(now),
            Event::Resumed { past, grants } => self.resumed(*past, grants, now),
        }
        self.finish_step()
    }

    fn finish_step(&mut self) -> Vec<Effect> {
        let parts = self.conversation.parts();
        if self.told_parts != Some(parts) {
            self.told_parts = Some(parts);
            self.tell(Notice::ContextChanged { parts });
        }
        std::mem::take(&mut self.out)
    }

    fn catalog_changed(&mut self, catalog: Arc<Catalog>) {
        self.conversation.change(&catalog, &self.config.system);
        self.policy.learn(catalog.servers.iter().filter_map(Listing::of));
        self.catalog = catalog;
    }

    fn new_session(&mut self, now: Instant) {
        // The first asks what runs to stop, the second does not wait for it.
        self.interrupted(now);
        self.interrupted(now);
        self.kept = Kept::default();
        self.provenance.clear();
        self.conversation.clear();
        self.conversation.describe(&self.catalog, &self.config.system);
        self.told_budget = (false, false);
    }

    fn tell(&mut self, notice: Notice) {
        self.out.push(Effect::Tell(notice));
    }

    fn warn(&mut self, warning: Warning) {
        self.tell(Notice::Warned { warning });
    }

    /// Adds a complete message to the conversation and to the session file.
    fn record(&mut self, message: Message) {
        self.out.push(Effect::Save(SessionEvent::Message { message: message.clone() }));
        if matches!(message, Message::User { .. }) {
            self.learn_message(&message);
        }
        self.conversation.push(message);
    }
}
