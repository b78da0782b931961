//! Notices a model that goes in circles: the same calls with the same results, over and over.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::{Content, ModelName, Outcome, ToolOutput};

/// Calls of the longest circle that is noticed.
const LONGEST: usize = 6;

/// One call and what it came to, as far as it takes to know it again.
#[derive(Debug, Clone)]
pub(super) struct Made {
    digest: u64,
    /// How it is named to the user.
    label: String,
}

impl Made {
    pub(super) fn new(name: &ModelName, arguments: &str, outcome: &Outcome, label: String) -> Self {
        let mut hasher = DefaultHasher::new();
        (name.as_str(), arguments).hash(&mut hasher);
        hash(outcome, &mut hasher);
        Self { digest: hasher.finish(), label }
    }
}

/// An outcome's content without a copy of it.
fn hash(outcome: &Outcome, hasher: &mut impl Hasher) {
    outcome.word().hash(hasher);
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => hash_output(output, hasher),
        other => format!("{other:?}").hash(hasher),
    }
}

fn hash_output(output: &ToolOutput, hasher: &mut impl Hasher) {
    for content in &output.content {
        match content {
            Content::Text(text) => text.hash(hasher),
            Content::Binary { mime, uri, data, .. } => (mime, uri, data).hash(hasher),
            Content::Resource { uri, text } => (uri, text).hash(hasher),
            Content::Link { uri, name } => (uri, name).hash(hasher),
            Content::Unknown(value) => value.to_string().hash(hasher),
        }
    }
    output.structured.as_ref().map(ToString::to_string).hash(hasher);
}

/// The latest calls.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    calls: VecDeque<Made>,
}

impl Repeats {
    /// Takes in one more call. If with it the same circle of calls was made `limit` times in a row:
    /// the names of its tools, and how often.
    pub(super) fn count(&mut self, call: Made, limit: u32) -> Option<(String, u32)> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
        self.calls.push_back(call);
        while self.calls.len() > LONGEST.saturating_mul(limit) {
            self.calls.pop_front();
        }
        let circle = (1..=LONGEST).find(|circle| self.goes_round(*circle, limit))?;
        let mut names: Vec<&str> = Vec::new();
        for call in self.calls.iter().skip(self.calls.len() - circle) {
            if !names.contains(&call.label.as_str()) {
                names.push(&call.label);
            }
        }
        let who = match names.as_slice() {
            [one] => (*one).to_owned(),
            many => format!("the circle of {}", many.join(", ")),
        };
        Some((who, u32::try_from(limit).unwrap_or(u32::MAX)))
    }

    /// Whether the latest calls are this many different ones, `limit` times over.
    fn goes_round(&self, circle: usize, limit: usize) -> bool {
        let length = circle.saturating_mul(limit);
        let Some(before) = self.calls.len().checked_sub(length) else { return false };
        let latest = self.calls.iter().skip(before);
        latest.clone().zip(latest.skip(circle)).all(|(one, next)| one.digest == next.digest)
    }

    /// Starts counting anew.
    pub(super) fn reset(&mut self) {
        self.calls.clear();
    }
}
