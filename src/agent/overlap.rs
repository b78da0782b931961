//! Data of one server on its way to another: what results said is remembered, and every decision
//! about a call looks at what its arguments carry.

use std::collections::HashSet;
use std::time::Instant;

use super::Agent;
use super::calls::OpenCall;
use super::past::{self, Past};
use crate::domain::{Approval, Call, CallId, Carried, DeniedBy, Message, Tool};
use crate::permission::{Because, Decision, exfiltration};

impl Agent {
    /// Remembers what a result said, if the model sees it.
    pub(super) fn learn_result(&mut self, call: &Call, text: &str) {
        if call.turn.is_some() {
            self.provenance.result(&call.tool, call.id, text);
        }
    }

    /// Remembers what the user wrote.
    pub(super) fn learn_message(&mut self, message: &Message) {
        if let Message::User { text } = message {
            self.provenance.user(text);
        }
    }

    /// Remembers what was said in an earlier run. Of a result that is not kept whole, what the model
    /// was told.
    pub(super) fn learn_past(&mut self, past: &Past) {
        let mut whole: HashSet<CallId> = HashSet::new();
        for result in past.results.iter().filter(|result| result.told.is_some()) {
            if let Some(text) = past::whole(&result.outcome) {
                self.provenance.result(&result.tool, result.call, &text);
                whole.insert(result.call);
            }
        }
        for message in &past.messages {
            match message {
                Message::User { text } => self.provenance.user(text),
                Message::Result { call: Some(call), .. } if whole.contains(call) => {}
                Message::Result { name, call, text, .. } => {
                    self.provenance.earlier(name, *call, text);
                }
                Message::Assistant { .. } => {}
            }
        }
    }

    /// What the policy says of an open call, with a view to the data that it carries.
    pub(super) fn judged(&mut self, id: CallId, tool: &Tool, now: Instant) -> Decision {
        let Some(call) = self.open.get(&id).map(|open| open.call.clone()) else {
            return self.policy.preview(tool);
        };
        let named = |name: &_| self.catalog.by_model_name(name).map(|tool| tool.id.clone());
        let carried = self.provenance.carried(tool, &call.arguments, &named);
        let granted: Vec<_> = self
            .flows
            .iter()
            .filter(|(to, _)| *to == tool.id)
            .map(|(_, from)| from.clone())
            .collect();
        let decision = self.policy.decide(tool, &call.arguments, now);
        let decision =
            exfiltration::guard(&self.policy, decision, tool, &call.arguments, &carried, &granted);
        if let Some(open) = self.open.get_mut(&id) {
            open.carried = carried;
        }
        decision
    }

    /// An answer for the session holds for data of the same servers too: it was shown.
    pub(super) fn grant_flows(&mut self, approval: &Approval) {
        let to = &approval.call.tool;
        for from in approval.carried.iter().map(|carried| &carried.from.server) {
            let flow = (to.clone(), from.clone());
            if !from.as_str().is_empty() && !self.flows.contains(&flow) {
                self.flows.push(flow);
            }
        }
    }
}

/// Who denies a call that carries data of another server when nobody is there to be asked: no rule
/// of the command line answers for that, one that names the pair does.
pub(super) fn by_nobody(decision: &Decision, open: &OpenCall, tool: &Tool) -> Option<DeniedBy> {
    let Because::Carried(carried) = &decision.because else { return None };
    let rule = exfiltration::allowing(tool, &open.carried);
    Some(DeniedBy::Rule {
        rule: format!(
            "{}, and nobody is here to be asked; the rule {rule} under the server {} in the config would allow it",
            Carried::sentence(carried),
            tool.id.server
        ),
    })
}
