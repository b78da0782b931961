//! The conversation as the model gets it: requests, their size by part, and room made in time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::AgentConfig;
use super::kept::{self, Kept};
use super::prompt;
use crate::domain::model::{ModelRequest, ToolOffer};
use crate::domain::turn::estimate_tokens;
use crate::domain::{Catalog, ContextParts, Message, ModelName, RequestedCall};

/// Results at the end of the conversation that are never shortened: the model is at work on them.
const RECENT_RESULTS: usize = 4;
/// Characters that stay of a shortened result.
const SHORTENED: usize = 200;
/// Tokens that a message costs beside its text.
const ENVELOPE: u64 = 4;

/// Messages, tools on offer and what they cost.
#[derive(Debug)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    system: String,
    tools: Arc<[ToolOffer]>,
    built_ins: bool,
    /// Estimated, before the correction.
    raw: ContextParts,
    /// Estimate of the last request, before the correction.
    sent: u64,
    /// What the endpoint counts for a thousand estimated tokens.
    permille: u64,
}

impl Conversation {
    pub(super) fn new(window: Option<u64>) -> Self {
        Self {
            messages: Vec::new(),
            system: String::new(),
            tools: Arc::default(),
            built_ins: false,
            raw: ContextParts { window, ..ContextParts::default() },
            sent: 0,
            permille: 1000,
        }
    }

    pub(super) fn set_window(&mut self, window: Option<u64>) {
        self.raw.window = window;
    }

    /// Size of the next request by part, by the endpoint's own count where it gave one.
    pub(super) fn parts(&self) -> ContextParts {
        let scale = |tokens: u64| tokens.saturating_mul(self.permille) / 1000;
        ContextParts {
            system: scale(self.raw.system),
            tools: scale(self.raw.tools),
            messages: scale(self.raw.messages),
            results: scale(self.raw.results),
            window: self.raw.window,
        }
    }

    /// Learns how many tokens the last request really had. Bounded: some endpoints count only what
    /// was not in their cache.
    pub(super) fn correct(&mut self, input: u64) {
        if self.sent > 0 && input > 0 {
            self.permille = (input.saturating_mul(1000) / self.sent).clamp(500, 4000);
        }
    }

    pub(super) fn push(&mut self, message: Message) {
        let cost = cost(&message);
        match message {
            Message::Result { .. } => self.raw.results += cost,
            Message::User { .. } | Message::Assistant { .. } => self.raw.messages += cost,
        }
        self.messages.push(message);
    }

    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.raw.messages = 0;
        self.raw.results = 0;
    }

    pub(super) fn resume(&mut self, history: Vec<Message>) {
        self.clear();
        for message in repaired(history) {
            self.push(message);
        }
    }

    /// Takes in what is on offer now.
    pub(super) fn offer(&mut self, catalog: &Catalog, own: &str, built_ins: bool) {
        let usable = catalog.servers.iter().filter(|server| server.state.usable());
        let tools = usable.flat_map(|server| &server.tools).filter(|tool| !tool.disabled);
        let mut offers: Vec<ToolOffer> = tools
            .map(|tool| ToolOffer {
                name: tool.model_name.clone(),
                description: tool.definition.description.clone(),
                schema: Arc::clone(&tool.definition.input_schema),
            })
            .collect();
        if built_ins {
            offers.retain(|offer| kept::BuiltIn::named(&offer.name).is_none());
            offers.extend(kept::offers());
        }
        self.built_ins = built_ins;
        self.system = prompt::build(own, catalog);
        self.raw.system = estimate_tokens(&self.system);
        self.raw.tools = offers.iter().map(offer_cost).sum();
        self.tools = offers.into();
    }

    pub(super) fn offers_built_ins(&self) -> bool {
        self.built_ins
    }

    /// The next request.
    pub(super) fn request(&mut self, config: &AgentConfig) -> ModelRequest {
        if self.system.is_empty() {
            self.system.clone_from(&config.system);
            self.raw.system = estimate_tokens(&self.system);
        }
        self.sent = self.raw.total();
        ModelRequest {
            system: self.system.clone(),
            messages: self.messages.as_slice().into(),
            tools: Arc::clone(&self.tools),
            max_output_tokens: config.max_output_tokens,
            temperature: config.temperature,
        }
    }

    /// Shortens old results if the next request and its answer would not fit the window. Returns
    /// how many were shortened.
    pub(super) fn fit(&mut self, max_output: Option<u64>, kept: &mut Kept) -> usize {
        let Some(window) = self.raw.window else { return 0 };
        let answer = max_output.unwrap_or(window / 8).min(window / 2);
        if self.parts().total().saturating_add(answer) <= window {
            return 0;
        }
        self.shorten_old(kept)
    }

    /// Shortens all results but the latest, each with a line that says so. The whole text stays
    /// readable through the built-in tools.
    pub(super) fn shorten_old(&mut self, kept: &mut Kept) -> usize {
        let is_result = |message: &Message| matches!(message, Message::Result { .. });
        let results = self.messages.iter().filter(|message| is_result(message)).count();
        let old = results.saturating_sub(RECENT_RESULTS);
        let mut shortened = 0;
        let mut saved = 0;
        for message in self.messages.iter_mut().filter(|message| is_result(message)).take(old) {
            let before = cost(message);
            let Message::Result { call, text, .. } = message else { continue };
            let total = text.chars().count();
            // A shortened one is a little longer than what stays of it.
            if total <= SHORTENED * 2 {
                continue;
            }
            let start: String = text.chars().take(SHORTENED).collect();
            let read_on = match call {
                Some(id) => {
                    kept.keep(*id, Arc::clone(text));
                    format!("; to read it again: mini_me_read_result {{\"id\": {id}}}")
                }
                None => String::new(),
            };
            *text = format!(
                "{start}\n[Shortened to make room: {SHORTENED} of {total} characters stay{read_on}]"
            )
            .into();
            saved += before.saturating_sub(cost(message));
            shortened += 1;
        }
        self.raw.results = self.raw.results.saturating_sub(saved);
        shortened
    }
}

fn cost(message: &Message) -> u64 {
    ENVELOPE
        + match message {
            Message::User { text } => estimate_tokens(text),
            Message::Assistant { text, calls, reasoning, .. } => {
                let reasoning = reasoning.as_ref().map_or(0, |said| estimate_tokens(&said.text));
                estimate_tokens(text) + reasoning + calls.iter().map(call_cost).sum::<u64>()
            }
            Message::Result { text, .. } => estimate_tokens(text),
        }
}

fn call_cost(call: &RequestedCall) -> u64 {
    let arguments = match &call.arguments {
        Ok(arguments) => serde_json::to_string(arguments.as_ref()).unwrap_or_default(),
        Err(bad) => bad.raw.clone(),
    };
    ENVELOPE + estimate_tokens(call.name.as_str()) + estimate_tokens(&arguments)
}

fn offer_cost(offer: &ToolOffer) -> u64 {
    let schema = offer.schema.to_string();
    ENVELOPE
        + estimate_tokens(offer.name.as_str())
        + estimate_tokens(&offer.description)
        + estimate_tokens(&schema)
}

/// A history in which every call has exactly one result right after its message: what is missing
/// is made up (the program may have been killed in between), what belongs to no call is left out.
fn repaired(history: Vec<Message>) -> Vec<Message> {
    let mut sound = Vec::with_capacity(history.len());
    let mut rest = history.into_iter().peekable();
    while let Some(message) = rest.next() {
        let calls = match &message {
            Message::Assistant { calls, .. } => calls.clone(),
            Message::User { .. } => Vec::new(),
            Message::Result { .. } => continue,
        };
        sound.push(message);
        let mut results = HashMap::new();
        while let Some(Message::Result { provider_id, .. }) = rest.peek() {
            let id = provider_id.clone();
            if let Some(result) = rest.next() {
                results.entry(id).or_insert(result);
            }
        }
        let mut seen = HashSet::new();
        for call in calls {
            if seen.insert(call.provider_id.clone()) {
                let found = results.remove(&call.provider_id);
                sound.push(found.unwrap_or_else(|| missing(call.provider_id, call.name)));
            }
        }
    }
    sound
}

fn missing(provider_id: String, name: ModelName) -> Message {
    Message::Result {
        provider_id,
        call: None,
        name,
        text: "The call was interrupted; it is not known whether it ran.".into(),
        is_error: true,
    }
}
