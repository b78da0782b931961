//! The life of each call: from the model's wish, through the door, to its outcome.
//!
//! Every call passes one door, whoever asked for it: does the tool exist and is it usable, do the
//! arguments fit, what does the policy say. What the door lets through is what is sent.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::builtin::BuiltIn;
use super::kept::{Asked, Whole};
use super::phase::{Phase, Settled};
use super::{Agent, AuditRecord, AuditWhat, Effect, SessionEvent, overlap, results};
use crate::bridge::Notice;
use crate::config::PinMode;
use crate::domain::turn::BadArguments;
use crate::domain::{
    Approval, Call, CallId, CallState, Carried, Catalog, DeniedBy, Interaction, Mode, ModelName,
    Outcome, PinState, Progress, RequestedCall, Tool, ToolId, ToolOutput, TurnId,
};
use crate::permission::headless_rule;
use crate::schema::check::check;
use crate::text;

/// Characters of unreadable arguments that are quoted.
const EXCERPT: usize = 200;

/// Whether an *ask* is answered already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// The command line is the consent.
    Given,
    /// The same, and the schema of the tool does not stand in the way.
    Unchecked,
    /// Not yet.
    Open,
}

/// A call that has no outcome yet.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) call: Arc<Call>,
    /// The tool as it was when it was decided about; `None` if there is no such tool.
    pub(super) tool: Option<Arc<Tool>>,
    pub(super) stage: Stage,
    /// When it was sent; before that, when it was asked for.
    pub(super) since: Instant,
    /// The user changed the arguments.
    pub(super) edited: bool,
    /// What was proposed, where the user changed it.
    pub(super) proposed: Option<Arc<Map<String, Value>>>,
    /// Data of other servers in the arguments, as it was last looked for.
    pub(super) carried: Vec<Carried>,
}

/// Where an open call stands.
#[derive(Debug)]
pub(super) enum Stage {
    /// Not decided about.
    Opened,
    /// The user is asked.
    Asking(Arc<Approval>),
    /// On its way; `stopping` once it was told to stop.
    Running { stopping: bool },
}

impl Agent {
    /// Opens one call of a round.
    pub(super) fn open_requested(
        &mut self,
        turn: TurnId,
        index: usize,
        requested: RequestedCall,
        now: Instant,
    ) {
        let RequestedCall { name, arguments, .. } = requested;
        let built_in = BuiltIn::named(&name);
        let found = self.catalog.by_model_name(&name).cloned();
        match (built_in, found, arguments) {
            (_, _, Err(bad)) => self.refuse_unreadable(turn, index, &name, bad),
            (Some(built_in), _, Ok(arguments)) => {
                self.run_built_in(turn, index, built_in, name, arguments, now);
            }
            (None, Some(tool), Ok(arguments)) => {
                // Guessed or remembered: its definition comes with the result.
                self.conversation.offers_mut().hand(&tool.id);
                self.conversation.offers_changed();
                let id = self.ids.call();
                self.set_call(index, id);
                let call = Call {
                    id,
                    turn: Some(turn),
                    tool: tool.id.clone(),
                    model_name: name,
                    arguments,
                };
                self.door(Arc::new(call), Consent::Open, now);
            }
            (None, None, Ok(arguments)) => self.refuse_unknown(turn, index, &name, &arguments),
        }
    }

    pub(super) fn call_direct(
        &mut self,
        tool: ToolId,
        arguments: Arc<Map<String, Value>>,
        consent: Consent,
        now: Instant,
    ) {
        let known = self.catalog.tool(&tool);
        let model_name = known.map_or_else(|| ModelName::from(""), |tool| tool.model_name.clone());
        let id = self.ids.call();
        let call = Call { id, turn: None, tool, model_name, arguments };
        self.door(Arc::new(call), consent, now);
    }

    fn set_call(&mut self, index: usize, id: CallId) {
        if let Some(Phase::Calling { slots, .. }) = self.turn.as_mut().map(|turn| &mut turn.phase)
            && let Some(slot) = slots.get_mut(index)
        {
            slot.call = Some(id);
        }
    }

    fn refuse_unreadable(
        &mut self,
        turn: TurnId,
        index: usize,
        name: &ModelName,
        bad: BadArguments,
    ) {
        let message = format!(
            "The arguments are not a JSON object: {}. They began with: {}",
            excerpt(&bad.fault),
            excerpt(&bad.raw)
        );
        self.refuse(turn, index, name, bad.raw, Outcome::InvalidArguments { message });
    }

    fn refuse_unknown(
        &mut self,
        turn: TurnId,
        index: usize,
        name: &ModelName,
        arguments: &Map<String, Value>,
    ) {
        let searching = self.conversation.offers().search().is_some();
        let reason = no_such_name(&self.catalog, name, searching);
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        self.refuse(turn, index, name, arguments, Outcome::NotSent { reason });
    }

    /// Settles a call that never became one.
    fn refuse(
        &mut self,
        turn: TurnId,
        index: usize,
        name: &ModelName,
        arguments: String,
        outcome: Outcome,
    ) {
        let outcome = Arc::new(outcome);
        let id = ToolId::new("", name.as_str());
        let text: Arc<str> = results::sentence(&outcome, &id).into();
        self.tell(Notice::CallRefused {
            turn,
            name: name.to_string(),
            arguments,
            outcome: Arc::clone(&outcome),
            for_model: Arc::clone(&text),
        });
        let settled = Settled { label: excerpt(name.as_str()), outcome, text };
        if let Some(Phase::Calling { slots, .. }) = self.turn.as_mut().map(|turn| &mut turn.phase)
            && let Some(slot) = slots.get_mut(index)
        {
            slot.settled = Some(settled);
        }
    }

    /// Answers a built-in tool: it reads what the program has and reaches nothing else, so nobody is
    /// asked.
    fn run_built_in(
        &mut self,
        turn: TurnId,
        index: usize,
        built_in: BuiltIn,
        model_name: ModelName,
        arguments: Arc<Map<String, Value>>,
        now: Instant,
    ) {
        let id = self.ids.call();
        self.set_call(index, id);
        let output = |text: String| ToolOutput {
            content: vec![crate::domain::Content::Text(text)],
            ..ToolOutput::default()
        };
        let limit = self.result_limit();
        let answer = match built_in {
            BuiltIn::SearchTools => self.search_tools(&arguments),
            BuiltIn::ReadResult => self.kept.answer(Asked::Slice, &arguments, limit),
            BuiltIn::SearchResult => self.kept.answer(Asked::Lines, &arguments, limit),
        };
        let outcome = match answer {
            Ok(text) => Outcome::Ok(output(text)),
            Err(text) => Outcome::ToolError(output(text)),
        };
        let call = Call { id, turn: Some(turn), tool: built_in.id(), model_name, arguments };
        self.insert(Arc::new(call), None, now);
        self.settle(id, outcome, now);
    }

    fn insert(&mut self, call: Arc<Call>, tool: Option<Arc<Tool>>, now: Instant) {
        let id = call.id;
        let open = OpenCall {
            call,
            tool,
            stage: Stage::Opened,
            since: now,
            edited: false,
            proposed: None,
            carried: Vec::new(),
        };
        self.open.insert(id, open);
    }

    /// The one way to a server.
    fn door(&mut self, call: Arc<Call>, consent: Consent, now: Instant) {
        let id = call.id;
        let tool = match usable(&self.catalog, &call.tool) {
            Ok(tool) => tool,
            Err(reason) => {
                self.insert(call, None, now);
                return self.settle(id, Outcome::NotSent { reason }, now);
            }
        };
        self.insert(Arc::clone(&call), Some(Arc::clone(&tool)), now);
        if consent != Consent::Unchecked
            && let Err(message) = check(&tool.definition.input_schema, &call.arguments)
        {
            return self.settle(id, Outcome::InvalidArguments { message }, now);
        }
        let decision = self.judged(id, &tool, now);
        let why = decision.describe();
        match (decision.verdict, consent) {
            (Mode::Auto, _) => self.run(id, &why, now),
            (Mode::Deny, _) => {
                let rule = decision.because.describe();
                self.deny(id, DeniedBy::Rule { rule }, &why, now);
            }
            (Mode::Ask, Consent::Given | Consent::Unchecked) => {
                self.run(id, "user: command line", now);
            }
            (Mode::Ask, Consent::Open) if self.config.interaction == Interaction::Headless => {
                let because = decision.because.describe();
                let carrying = |open| overlap::by_nobody(&decision, open, &tool);
                let by = self.open.get(&id).and_then(carrying);
                let by = by.unwrap_or_else(|| by_nobody(&tool, self.policy.pins, because));
                self.deny(id, by, &format!("nobody to ask; {why}"), now);
            }
            (Mode::Ask, Consent::Open) => {
                self.ask_person(id, tool, why, decision.because.grounds(), now);
            }
        }
    }

    pub(super) fn deny(&mut self, id: CallId, by: DeniedBy, who: &str, now: Instant) {
        self.audit_decision(id, false, who);
        self.settle(id, Outcome::Denied(by), now);
    }

    pub(super) fn run(&mut self, id: CallId, by: &str, now: Instant) {
        self.audit_decision(id, true, by);
        let Some(open) = self.open.get_mut(&id) else { return };
        if let Some(tool) = &open.tool {
            self.policy.record(tool, now);
        }
        open.stage = Stage::Running { stopping: false };
        open.since = now;
        let call = Arc::clone(&open.call);
        let state = CallState::Running { progress: None };
        self.tell(Notice::CallChanged { call: Arc::clone(&call), state });
        self.out.push(Effect::RunCall { call });
    }

    fn audit_decision(&mut self, id: CallId, allowed: bool, by: &str) {
        let what = AuditWhat::Decision { allowed, by: by.to_owned() };
        if let Some(open) = self.open.get(&id) {
            self.out.push(Effect::Audit(record_of(open, what)));
        }
    }

    pub(super) fn progressed(&mut self, id: CallId, progress: Progress) {
        let Some(open) = self.open.get(&id) else { return };
        if matches!(open.stage, Stage::Running { .. }) {
            let state = CallState::Running { progress: Some(progress) };
            self.tell(Notice::CallChanged { call: Arc::clone(&open.call), state });
        }
    }

    pub(super) fn call_done(&mut self, id: CallId, outcome: Outcome, now: Instant) {
        let running = |open: &OpenCall| matches!(open.stage, Stage::Running { .. });
        if self.open.get(&id).is_some_and(running) {
            self.settle(id, outcome, now);
            self.advance(now);
        }
    }

    /// Stops everything that is open. What runs reports its own end; asked a second time, it is
    /// not waited for.
    pub(super) fn cancel_calls(&mut self, now: Instant) {
        let ids: Vec<CallId> = self.open.keys().copied().collect();
        for id in ids {
            match self.open.get_mut(&id).map(|open| &mut open.stage) {
                Some(Stage::Running { stopping }) if !*stopping => {
                    *stopping = true;
                    self.out.push(Effect::StopCall { call: id });
                }
                Some(Stage::Running { .. }) => {
                    self.settle(id, Outcome::Cancelled { sent: true }, now);
                }
                Some(Stage::Asking(_)) => {
                    self.audit_decision(id, false, "user: cancelled the turn");
                    self.close_ask(id, "cancelled");
                    self.settle(id, Outcome::Cancelled { sent: false }, now);
                }
                Some(Stage::Opened) => self.settle(id, Outcome::Cancelled { sent: false }, now),
                None => {}
            }
        }
    }

    /// Ends a call: everybody hears of it, once.
    pub(super) fn settle(&mut self, id: CallId, outcome: Outcome, now: Instant) {
        let Some(open) = self.open.remove(&id) else { return };
        let took = now.saturating_duration_since(open.since);
        let outcome = Arc::new(outcome);
        let text = self.text_for_model(&open, &outcome);
        let told = self.told_of(&open.call, &text);
        self.fill_slot(&open.call, &outcome, &text);
        if open.tool.is_some() {
            let what = AuditWhat::Outcome { outcome: outcome.word().to_owned(), took };
            self.out.push(Effect::Audit(record_of(&open, what)));
        }
        self.out.push(Effect::Save(SessionEvent::Call {
            call: Arc::clone(&open.call),
            outcome: Arc::clone(&outcome),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            told,
        }));
        let state = CallState::Done { outcome, took, for_model: text };
        self.tell(Notice::CallChanged { call: open.call, state });
    }

    fn text_for_model(&mut self, open: &OpenCall, outcome: &Outcome) -> Arc<str> {
        let id = &open.call.tool;
        let (Outcome::Ok(output) | Outcome::ToolError(output)) = outcome else {
            return results::sentence(outcome, id).into();
        };
        let is_error = matches!(outcome, Outcome::ToolError(_));
        let whole = results::flatten(output);
        if open.tool.is_none() {
            return whole.unwrap_or_default().into();
        }
        let edited =
            if open.edited { results::edited(&open.call.arguments) } else { String::new() };
        let Some(whole) = whole else {
            return format!("{edited}{}", results::told_empty(is_error, id)).into();
        };
        self.learn_result(&open.call, &whole);
        let told = match results::cut(&whole, self.result_limit()) {
            None => results::told(is_error, id, &whole),
            Some(cut) => {
                let told = cut.told(is_error, id, open.call.id);
                self.conversation.read_results();
                told
            }
        };
        // Also what is seen whole now may be shortened later.
        let text = Arc::from(whole);
        self.kept.keep(Whole { id: open.call.id, tool: id.clone(), text });
        format!("{edited}{told}").into()
    }

    fn fill_slot(&mut self, call: &Call, outcome: &Arc<Outcome>, text: &Arc<str>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| Some(turn.id) == call.turn) else {
            return;
        };
        let Phase::Calling { slots, .. } = &mut turn.phase else { return };
        if let Some(slot) = slots.iter_mut().find(|slot| slot.call == Some(call.id)) {
            slot.settled = Some(Settled {
                label: call.tool.to_string(),
                outcome: Arc::clone(outcome),
                text: Arc::clone(text),
            });
        }
    }
}

/// Who denies a call that nobody is there to be asked about. No rule of the command line answers
/// for a definition that nobody has looked at.
fn by_nobody(tool: &Tool, pins: PinMode, why: String) -> DeniedBy {
    if tool.pin_state != PinState::Changed || pins == PinMode::Off {
        return DeniedBy::Headless { rule: headless_rule(&tool.id), why };
    }
    let rule = format!(
        "its definition changed since it was last allowed, and nobody is here to be asked; `mini-me-tui tools --explain {}` shows how, and allowing it on the screen accepts it",
        tool.id
    );
    DeniedBy::Rule { rule }
}

fn record_of(open: &OpenCall, what: AuditWhat) -> AuditRecord {
    let pin = open.tool.as_ref().map(|tool| tool.pin.clone()).unwrap_or_default();
    let proposed = Arc::clone(open.proposed.as_ref().unwrap_or(&open.call.arguments));
    AuditRecord { call: Arc::clone(&open.call), pin, proposed, what }
}

/// The tool, if it can be called now; else why not.
pub(super) fn usable(catalog: &Catalog, id: &ToolId) -> Result<Arc<Tool>, String> {
    let Some(server) = catalog.server(&id.server) else {
        let names = catalog.servers.iter().map(|server| server.name.as_str());
        let hint = text::nearest(id.server.as_str(), names)
            .map(|name| format!("; did you mean {name}?"))
            .unwrap_or_default();
        return Err(format!("there is no server named {}{hint}", excerpt(id.server.as_str())));
    };
    if !server.state.usable() {
        let (word, reason) = (server.state.word(), server.state.reason());
        let colon = if reason.is_empty() { "" } else { ": " };
        return Err(format!(
            "the server {} is not usable now, {word}{colon}{}",
            id.server,
            excerpt(reason)
        ));
    }
    let Some(tool) = server.tools.iter().find(|tool| tool.id.tool == id.tool) else {
        if let Some(filtered) = server.filtered.iter().find(|filtered| filtered.name == id.tool) {
            return Err(format!("the tool {id} is not on offer: {}", excerpt(&filtered.reason)));
        }
        let names = server.tools.iter().map(|tool| tool.id.tool.as_str());
        let hint = text::nearest(id.tool.as_str(), names)
            .map(|name| format!("; did you mean {name}?"))
            .unwrap_or_default();
        let tool = excerpt(id.tool.as_str());
        return Err(format!("the server {} has no tool named {tool}{hint}", id.server));
    };
    if tool.disabled {
        return Err(format!("the tool {id} is switched off by the user"));
    }
    Ok(Arc::clone(tool))
}

fn no_such_name(catalog: &Catalog, name: &ModelName, searching: bool) -> String {
    let names = || catalog.tools().map(|tool| tool.model_name.as_str());
    let hint = match text::nearest(name.as_str(), names()) {
        Some(near) => format!("did you mean {near}?"),
        None if names().next().is_none() => "no tools are on offer now.".to_owned(),
        None => {
            let some: Vec<&str> = names().take(20).collect();
            format!("some of those that exist: {}.", some.join(", "))
        }
    };
    let search = if searching {
        format!(" {} finds others.", BuiltIn::SearchTools.model_name())
    } else {
        String::new()
    };
    format!("there is no tool named {}; {hint}{search}", excerpt(name.as_str()))
}

/// The beginning of a text that may be long, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let mut start: String = text.chars().take(EXCERPT).collect();
    if text.chars().nth(EXCERPT).is_some() {
        start.push('…');
    }
    start.replace(['\n', '\r'], " ")
}
