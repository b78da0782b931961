//! The conversation as the model gets it: requests and their size by part.
//!
//! A message that was added stays as it is and is shared with every request; only making room
//! (`room`) puts others in the place of old ones. Sizes are kept, not counted again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::AgentConfig;
use super::offers::Offers;
use super::prompt;
use crate::domain::model::ModelRequest;
use crate::domain::turn::estimate_tokens;
use crate::domain::{Catalog, ContextParts, Message, ModelName, RequestedCall};

/// Tokens that a message costs beside its text.
const ENVELOPE: u64 = 4;
/// What the endpoint counts for a thousand estimated tokens is believed within these bounds: some
/// count only what was not in their cache.
const BELIEVED: (u64, u64) = (500, 4000);

/// Messages, tools on offer and what they cost.
#[derive(Debug)]
pub(super) struct Conversation {
    messages: Vec<Arc<Message>>,
    system: String,
    offers: Offers,
    /// Estimated, before the correction.
    raw: ContextParts,
    /// Estimate of the last request, before the correction.
    sent: u64,
    /// What the endpoint counts for a thousand estimated tokens.
    permille: u64,
    /// What the endpoint was found to take at most, whatever is said of the window.
    ceiling: Option<u64>,
}

impl Conversation {
    pub(super) fn new(config: &AgentConfig) -> Self {
        let window = config.window;
        let mut new = Self {
            messages: Vec::new(),
            system: String::new(),
            offers: Offers::new(config.tool_search, window),
            raw: ContextParts { window, ..ContextParts::default() },
            sent: 0,
            permille: 1000,
            ceiling: None,
        };
        new.set_system(config.system.clone());
        new
    }

    pub(super) fn set_window(&mut self, window: Option<u64>, catalog: &Catalog, own: &str) {
        self.raw.window = window;
        self.ceiling = None;
        let messages = &self.messages;
        self.offers.set_window(window, || called(messages));
        self.describe(catalog, own);
    }

    /// Size of the next request by part, by the endpoint's own count where it gave one.
    pub(super) fn parts(&self) -> ContextParts {
        ContextParts {
            system: self.counted(self.raw.system),
            tools: self.counted(self.raw.tools),
            messages: self.counted(self.raw.messages),
            results: self.counted(self.raw.results),
            ..self.raw
        }
    }

    /// Estimated tokens as the endpoint would count them.
    fn counted(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.permille) / 1000
    }

    /// Tokens of the endpoint as we estimate them.
    pub(super) fn estimated(&self, counted: u64) -> u64 {
        counted.saturating_mul(1000) / self.permille.max(1)
    }

    /// Learns how many tokens the last request really had.
    pub(super) fn correct(&mut self, input: u64) {
        if self.sent > 0 && input > 0 {
            let (least, most) = BELIEVED;
            self.permille = (input.saturating_mul(1000) / self.sent).clamp(least, most);
            self.raw.counted = true;
        }
    }

    pub(super) fn push(&mut self, message: Message) {
        let cost = cost(&message);
        match message {
            Message::Result { .. } => self.raw.results += cost,
            Message::User { .. } | Message::Assistant { .. } => self.raw.messages += cost,
        }
        self.messages.push(Arc::new(message));
    }

    /// Puts a shorter result in the place of one.
    pub(super) fn replace(&mut self, at: usize, message: Message) {
        if let Some(place) = self.messages.get_mut(at) {
            let results = self.raw.results.saturating_sub(cost(place));
            self.raw.results = results.saturating_add(cost(&message));
            *place = Arc::new(message);
        }
    }

    /// Puts this message in the place of the first `end` ones, of which the one at `keep` stays.
    pub(super) fn replace_first(&mut self, end: usize, keep: Option<usize>, by: Message) {
        let old = std::mem::take(&mut self.messages);
        self.raw.messages = 0;
        self.raw.results = 0;
        self.push(by);
        for (at, message) in old.into_iter().enumerate() {
            if at >= end || Some(at) == keep {
                self.push(Arc::unwrap_or_clone(message));
            }
        }
    }

    /// Puts a summary in the place of everything but the user's last message and the round at hand.
    pub(super) fn summarise(&mut self, text: String) {
        let end = self.round();
        let keep = self.last_user().filter(|at| *at < end);
        self.replace_first(end, keep, Message::User { text });
    }

    fn extend(&mut self, history: Vec<Message>) {
        for message in repaired(history) {
            self.push(message);
        }
    }

    pub(super) fn clear(&mut self) {
        self.resume(Vec::new(), Vec::new());
    }

    /// Goes on with these messages in the place of those so far, and with what summaries made of
    /// them: each came after so many.
    pub(super) fn resume(&mut self, history: Vec<Message>, summaries: Vec<(usize, String)>) {
        self.messages.clear();
        self.raw.messages = 0;
        self.raw.results = 0;
        let mut rest = history.into_iter();
        let mut taken = 0;
        for (after, text) in summaries {
            let part = rest.by_ref().take(after.saturating_sub(taken)).collect();
            taken = after.max(taken);
            self.extend(part);
            self.summarise(text);
        }
        self.extend(rest.collect());
        let messages = &self.messages;
        self.offers.start_over(|| called(messages));
        self.offers_changed();
    }

    /// Takes in what can be used now.
    pub(super) fn change(&mut self, catalog: &Catalog, own: &str) {
        let messages = &self.messages;
        self.offers.change(catalog, || called(messages));
        self.describe(catalog, own);
    }

    /// Writes the system prompt and counts the tools anew.
    pub(super) fn describe(&mut self, catalog: &Catalog, own: &str) {
        self.offers_changed();
        let search = self.offers.search();
        self.set_system(prompt::build(own, catalog, search, self.raw.window));
    }

    fn set_system(&mut self, system: String) {
        self.raw.system = estimate_tokens(&system);
        self.system = system;
    }

    pub(super) fn offers(&self) -> &Offers {
        &self.offers
    }

    /// Whoever changes them says so with `offers_changed`.
    pub(super) fn offers_mut(&mut self) -> &mut Offers {
        &mut self.offers
    }

    pub(super) fn offers_changed(&mut self) {
        self.raw.tools = self.offers.tokens();
        self.raw.tool_search = self.offers.search();
    }

    /// The tools that read kept results are on offer from here on.
    pub(super) fn read_results(&mut self) {
        self.offers.read_results();
        self.offers_changed();
    }

    /// The next request.
    pub(super) fn request(&mut self, config: &AgentConfig) -> ModelRequest {
        self.sent = self.raw.total();
        ModelRequest {
            system: self.system.clone(),
            messages: self.messages.as_slice().into(),
            tools: self.offers.list(),
            max_output_tokens: config.max_output_tokens,
            temperature: config.temperature,
        }
    }

    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The place of the user's last message.
    pub(super) fn last_user(&self) -> Option<usize> {
        self.messages.iter().rposition(|message| matches!(**message, Message::User { .. }))
    }

    /// Where the round begins whose results the model has not answered yet: the place of the message
    /// that asked for them, or the end.
    pub(super) fn round(&self) -> usize {
        let results = self.messages.iter().rev();
        let results =
            results.take_while(|message| matches!(***message, Message::Result { .. })).count();
        let end = self.messages.len();
        if results == 0 { end } else { end.saturating_sub(results + 1) }
    }

    /// The next usage report is not about a request of this conversation.
    pub(super) fn forget_sent(&mut self) {
        self.sent = 0;
    }

    /// Tokens that a request and its answer may have together: the window, or what the endpoint was
    /// found to take. `None` if neither is known.
    pub(super) fn limit(&self) -> Option<u64> {
        match (self.raw.window, self.ceiling) {
            (Some(window), Some(ceiling)) => Some(window.min(ceiling)),
            (known, None) | (None, known) => known,
        }
    }

    /// The endpoint said that the request is too long: whatever the window, less than this fits.
    pub(super) fn too_long(&mut self) {
        let less = self.parts().total().saturating_mul(9) / 10;
        self.ceiling = Some(self.ceiling.map_or(less, |known| known.min(less)));
    }

    /// How many tokens too many the next request and its answer would be.
    pub(super) fn excess(&self, max_output: Option<u64>) -> u64 {
        let Some(limit) = self.limit() else { return 0 };
        let answer = max_output.unwrap_or(limit / 8).min(limit / 2);
        self.parts().total().saturating_add(answer).saturating_sub(limit)
    }
}

/// The names of all tools that were called so far.
fn called(messages: &[Arc<Message>]) -> HashSet<ModelName> {
    let mut names = HashSet::new();
    for message in messages {
        if let Message::Assistant { calls, .. } = message.as_ref() {
            names.extend(calls.iter().map(|call| call.name.clone()));
        }
    }
    names
}

/// Estimated tokens of a message.
pub(super) fn cost(message: &Message) -> u64 {
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
