//! What the runtime says, taken into the state.

use std::time::Instant;

use super::sessions;
use crate::bridge::{Notice, Op};
use crate::config::Notify;
use crate::domain::model::ModelInfo;
use crate::domain::{Approval, CallState, Catalog, Elicitation, ElicitationId, Source, Warning};
use crate::text;
use crate::ui::intent::Intent;
use crate::ui::state::approval::{Pending, PendingId};
use crate::ui::state::page::Subject;
use crate::ui::state::status::Running;
use crate::ui::state::{Overlay, UiState};
use std::sync::Arc;

/// Warnings kept besides those of the catalog; the oldest go first.
const WARNINGS: usize = 200;

pub(super) fn apply(state: &mut UiState, notice: Notice, at: Instant) -> Vec<Intent> {
    state.conversation.apply(&notice, at);
    if matches!(notice, Notice::ContextChanged { .. } | Notice::Queued { .. })
        && let Some(Overlay::Page(page)) = &mut state.overlay
        && matches!(page.subject, Subject::Context | Subject::Queue)
    {
        page.laid = None;
    }
    match notice {
        Notice::TurnStarted { turn, .. } => {
            // "cancelled" of the turn before would hide that this one works, or waits for an answer.
            state.status.said = None;
            state.status.turn =
                Some(Running { turn, since: at, cancelling: false, retrying: None });
        }
        Notice::TurnEnded { turn, .. } => {
            if state.status.turn.as_ref().is_some_and(|running| running.turn == turn) {
                state.status.turn = None;
            }
        }
        Notice::Retrying { turn, attempt, after, reason } => {
            if let Some(running) = state.status.turn.as_mut().filter(|now| now.turn == turn) {
                running.retrying = Some((attempt, after, reason));
            }
        }
        Notice::Text { turn, .. } | Notice::Reasoning { turn, .. } => {
            if let Some(running) = state.status.turn.as_mut().filter(|now| now.turn == turn) {
                running.retrying = None;
            }
        }
        Notice::Queued { texts } => state.status.queued = texts,
        Notice::TakenBack { texts } => super::queue::taken_back(state, &texts, at),
        Notice::Asked { approval } => {
            if approval.call.turn.is_none() {
                // The user has just asked for this call: the answer is what comes next.
                super::global::leave_panel(state);
            }
            return asked(state, approval);
        }
        Notice::AskClosed { call, .. } => state.decisions.remove(PendingId::Call(call)),
        Notice::Questioned { question } => {
            add(state, Pending::Question(question));
            return notify(state, "mini-me: go on with the turn?".to_owned());
        }
        Notice::QuestionClosed { question } => {
            state.decisions.remove(PendingId::Question(question));
        }
        Notice::CatalogChanged { catalog } => return catalog_changed(state, catalog),
        Notice::Elicited { elicitation } => return elicited(state, elicitation),
        Notice::ElicitationClosed { elicitation, why } => {
            closed(state, elicitation, &why, at);
        }
        Notice::ContextChanged { parts } => state.status.context = parts,
        Notice::Warned { warning } => warned(state, warning),
        Notice::SessionStarted { path, .. } => {
            state.transcript = path;
            state.status.queued.clear();
            let passing = std::mem::take(&mut state.passing);
            state.warnings.retain(|warning| !passing.contains(warning));
            // Nothing else would answer them: a call made directly belongs to no conversation.
            let cancelled = super::global::cancel_elicitations(state);
            state.decisions.clear();
            return cancelled;
        }
        Notice::CallChanged { call, state: CallState::Done { outcome, took, .. } } => {
            state.running.remove(&call.id);
            state.decisions.settled(call.id);
            state.called(&call.tool, outcome.word(), took);
        }
        Notice::CallChanged { call, .. } => {
            state.running.insert(call.id, call.tool.clone());
        }
        Notice::ModelsListed { models } => {
            if let Some(Overlay::Models(open)) = &mut state.overlay {
                open.take(&models);
            }
        }
        Notice::ModelChanged { model, switched } => model_changed(state, model, switched, at),
        Notice::ModelWaits { name } => {
            let name = text::strict_line(&name);
            state.say(format!("{name} answers from the next message on"), at);
        }
        Notice::Wire { exchanges } => super::wire::arrived(state, exchanges, at),
        Notice::WireExported { written } => super::wire::exported(state, written, at),
        Notice::Resumed { history, remarks, draft } => {
            sessions::resumed(state, &history, &remarks, draft, at);
        }
        Notice::Sessions { found } => sessions::listed(state, &found),
        Notice::Refused { reason } => {
            sessions::refused(state);
            state.say(text::line(&reason).into_string(), at);
        }
        Notice::CallRefused { .. } | Notice::Inquired { .. } | Notice::OffersChanged { .. } => {}
    }
    Vec::new()
}

fn model_changed(state: &mut UiState, model: ModelInfo, switched: bool, at: Instant) {
    if switched {
        let name = text::strict_line(&model.name);
        let (window, word) = (crate::ui::view::short(model.window), model.origin.word());
        state.say(format!("{name} answers from now on; window {window}, {word}"), at);
    }
    state.options.model.clone_from(&model.name);
    state.status.model = Some(model);
}

fn asked(state: &mut UiState, approval: Arc<Approval>) -> Vec<Intent> {
    let tool = text::strict_line(&approval.tool.id.to_string());
    add(state, Pending::Approval(approval));
    notify(state, format!("mini-me: allow {tool}?"))
}

/// A decision that comes up is seen: a side panel that lies over its place goes away.
fn add(state: &mut UiState, pending: Pending) {
    let waited = state.decisions.visible();
    state.decisions.add(pending);
    if !waited && state.drawn.panel_over {
        super::global::leave_panel(state);
    }
}

fn elicited(state: &mut UiState, elicitation: Arc<Elicitation>) -> Vec<Intent> {
    let server = text::strict_line(elicitation.server.as_str());
    add(state, Pending::Elicitation(elicitation));
    notify(state, format!("mini-me: {server} asks you something"))
}

/// A question that goes away by itself says so: somebody may be filling it in.
fn closed(state: &mut UiState, id: ElicitationId, why: &str, at: Instant) {
    let shown = state.decisions.visible()
        && state.decisions.elicitation().is_some_and(|asked| asked.id == id);
    state.decisions.remove(PendingId::Elicitation(id));
    if shown && why != "answered" {
        state.say(format!("the server's question is closed: {}", text::line(why)), at);
    }
}

fn notify(state: &UiState, text: String) -> Vec<Intent> {
    if state.attended || state.options.notify == Notify::Off {
        return Vec::new();
    }
    vec![Intent::Notify { text }]
}

fn catalog_changed(state: &mut UiState, catalog: Arc<Catalog>) -> Vec<Intent> {
    let before = std::mem::replace(&mut state.catalog, catalog);
    state.panel.replaced(&before, &state.catalog);
    state.conversation.banner(&state.catalog);
    if !state.catalog.settled() {
        return Vec::new();
    }
    let prompt = state.waiting_prompt.take();
    prompt.map(|text| Intent::Send(Op::Submit { text })).into_iter().collect()
}

fn warned(state: &mut UiState, warning: Warning) {
    if state.warnings.contains(&warning) {
        return;
    }
    // What is said of the model in the middle of a turn is said of what it was sent.
    if state.status.turn.is_some() && matches!(warning.source, Source::Model) {
        state.passing.push(warning.clone());
    }
    state.warnings.push(warning);
    let surplus = state.warnings.len().saturating_sub(WARNINGS);
    state.warnings.drain(..surplus);
}
