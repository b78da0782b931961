//! Approvals: asking the user about a call, and what an answer means.
//!
//! What is sent is what was asked about: the tool's definition is compared once more when the
//! answer comes, and edited arguments are asked about again.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::calls::{Stage, usable};
use super::{Agent, Effect, SessionEvent};
use crate::bridge::Notice;
use crate::domain::{
    Answer, Approval, Call, CallId, CallState, DeniedBy, Grounds, GroundsKind, Mode, Outcome,
    Source, Tool, Warning,
};
use crate::schema::check::check;

impl Agent {
    /// Puts a call before the user.
    pub(super) fn ask_person(
        &mut self,
        id: CallId,
        tool: Arc<Tool>,
        why: String,
        grounds: Grounds,
        now: Instant,
    ) {
        let host = self.catalog.server(&tool.id.server).map(|server| server.host.clone());
        let Some(open) = self.open.get_mut(&id) else { return };
        let call = Arc::clone(&open.call);
        let what_if = self.policy.what_if(&tool, Some(&call.arguments), now);
        let what_if = what_if.into_iter().map(|other| (other.change, other.verdict)).collect();
        let approval = Arc::new(Approval {
            call: call.as_ref().clone(),
            tool: Arc::clone(&tool),
            host: host.unwrap_or_default(),
            why,
            grounds: Grounds { what_if, ..grounds },
            carried: open.carried.clone(),
        });
        open.tool = Some(tool);
        open.stage = Stage::Asking(Arc::clone(&approval));
        self.tell(Notice::CallChanged { call, state: CallState::Asking });
        self.tell(Notice::Asked { approval });
    }

    pub(super) fn close_ask(&mut self, id: CallId, why: &str) {
        let Some(open) = self.open.get_mut(&id) else { return };
        if matches!(open.stage, Stage::Asking(_)) {
            open.stage = Stage::Opened;
            self.tell(Notice::AskClosed { call: id, why: why.to_owned() });
        }
    }

    /// The approval that is open for this call, if one is.
    fn asked(&self, id: CallId) -> Option<Arc<Approval>> {
        match &self.open.get(&id)?.stage {
            Stage::Asking(approval) => Some(Arc::clone(approval)),
            Stage::Opened | Stage::Running { .. } => None,
        }
    }

    pub(super) fn answered(&mut self, id: CallId, answer: Answer, now: Instant) {
        let Some(approval) = self.asked(id) else { return };
        match answer {
            Answer::Deny { note } => {
                self.close_ask(id, "answered");
                self.deny(id, DeniedBy::User { note }, "user: denied", now);
            }
            Answer::Edit(arguments) => self.edited(id, &approval, arguments, now),
            Answer::Once | Answer::Session | Answer::Always => {
                self.allowed(id, &approval, &answer, now);
            }
        }
        self.advance(now);
    }

    fn allowed(&mut self, id: CallId, approval: &Approval, answer: &Answer, now: Instant) {
        let Some(tool) = self.as_asked(id, approval, now) else { return };
        self.close_ask(id, "answered");
        if matches!(answer, Answer::Session | Answer::Always) {
            self.grant_flows(approval);
        }
        match answer {
            Answer::Session => {
                self.policy.grant_limited(&tool, now);
                self.out.push(Effect::Save(SessionEvent::Granted { tool: tool.id.clone() }));
                self.run(id, "user: this session", now);
                self.release_granted(now);
            }
            Answer::Always => {
                // The grant answers for this run, also where a rule of the config asks first.
                self.policy.grant(&tool);
                let (server, rule) = (tool.id.server.clone(), self.policy.always(&tool));
                self.policy.remember(&server, rule.clone());
                self.out.push(Effect::Remember { server, rule });
                self.run(id, "user: always", now);
                self.release_granted(now);
            }
            Answer::Once | Answer::Edit(_) | Answer::Deny { .. } => self.run(id, "user: once", now),
        }
    }

    /// The tool as it stands now, if it is still the one that was asked about. If it is gone the
    /// call ends; if it changed, the user is asked again.
    fn as_asked(&mut self, id: CallId, approval: &Approval, now: Instant) -> Option<Arc<Tool>> {
        let tool = match usable(&self.catalog, &approval.call.tool) {
            Ok(tool) => tool,
            Err(reason) => {
                self.close_ask(id, "gone");
                self.settle(id, Outcome::NotSent { reason }, now);
                return None;
            }
        };
        if tool.pin == approval.tool.pin {
            return Some(tool);
        }
        self.close_ask(id, "changed");
        if let Err(message) = check(&tool.definition.input_schema, &approval.call.arguments) {
            self.settle(id, Outcome::InvalidArguments { message }, now);
        } else {
            let why = "the tool's definition changed while you were asked".to_owned();
            self.decide_again(id, tool, why, GroundsKind::ChangedMeanwhile, now);
        }
        None
    }

    /// Asks again, unless the policy forbids the call as it is now.
    fn decide_again(
        &mut self,
        id: CallId,
        tool: Arc<Tool>,
        reason: String,
        kind: GroundsKind,
        now: Instant,
    ) {
        let decision = self.judged(id, &tool, now);
        if decision.verdict == Mode::Deny {
            let rule = decision.because.describe();
            self.deny(id, DeniedBy::Rule { rule }, &decision.describe(), now);
        } else {
            let grounds = Grounds { kind, ..decision.because.grounds() };
            self.ask_person(id, tool, reason, grounds, now);
        }
    }

    fn edited(
        &mut self,
        id: CallId,
        approval: &Approval,
        arguments: Arc<Map<String, Value>>,
        now: Instant,
    ) {
        let Some(tool) = self.as_asked(id, approval, now) else { return };
        if let Err(message) = check(&tool.definition.input_schema, &arguments) {
            return self.warn(Warning::new(
                Source::Tool(tool.id.clone()),
                format!("The edited arguments do not fit: {message}"),
                "The question stays open with the arguments as they were; edit them again.",
            ));
        }
        let Some(open) = self.open.get_mut(&id) else { return };
        open.proposed.get_or_insert_with(|| Arc::clone(&open.call.arguments));
        open.call = Arc::new(Call { arguments, ..approval.call.clone() });
        open.edited = true;
        self.close_ask(id, "edited");
        let reason = "you edited the arguments".to_owned();
        self.decide_again(id, tool, reason, GroundsKind::Edited, now);
    }

    /// A grant answers the other open questions that it covers.
    fn release_granted(&mut self, now: Instant) {
        let asked: Vec<CallId> = self.open.keys().copied().collect();
        for id in asked {
            let Some(approval) = self.asked(id) else { continue };
            let Ok(tool) = usable(&self.catalog, &approval.call.tool) else { continue };
            let edited = self.open.get(&id).is_some_and(|open| open.edited);
            if edited || tool.pin != approval.tool.pin {
                continue;
            }
            let decision = self.judged(id, &tool, now);
            if decision.verdict == Mode::Auto {
                self.close_ask(id, "allowed by the answer to another");
                self.run(id, &decision.describe(), now);
            }
        }
    }
}
