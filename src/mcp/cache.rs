//! Answers of modern servers that are still fresh (C1–C4). Pure: time comes in as `now`.
//!
//! It belongs to one client, so to one endpoint and one identity; an answer serves for the very
//! same question alone (C3).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::domain::{Found, Inquiry};

/// Most answers that are kept.
const ENTRIES: usize = 64;
/// Heaviest answer that is kept, in bytes, roughly counted.
pub const WEIGHT: usize = 1024 * 1024;
/// Longest time that an answer is kept, whatever the server says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What a notification says is no longer so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// What resources hold. A notice may name a part of what was read, so it means all.
    Contents,
}

/// The answers that are kept.
#[derive(Debug, Default)]
pub struct Cache {
    entries: HashMap<Inquiry, (Instant, Found)>,
}

impl Cache {
    /// Keeps an answer that came in at `now` for as long as it is fresh.
    pub fn keep(&mut self, inquiry: &Inquiry, found: &Found, fresh: Duration, now: Instant) {
        if fresh.is_zero() {
            self.entries.remove(inquiry);
            return;
        }
        self.entries.retain(|_, (until, _)| *until > now);
        if self.entries.len() >= ENTRIES {
            let first = self.entries.iter().min_by_key(|(_, (until, _))| *until);
            let Some(first) = first.map(|(inquiry, _)| inquiry.clone()) else { return };
            self.entries.remove(&first);
        }
        let until = now + fresh.min(LONGEST);
        self.entries.insert(inquiry.clone(), (until, found.clone()));
    }

    /// The answer to this very question, if it is still fresh (C2).
    pub fn fresh(&self, inquiry: &Inquiry, now: Instant) -> Option<Found> {
        let (until, found) = self.entries.get(inquiry)?;
        (*until > now).then(|| found.clone())
    }

    /// Forgets what a notification concerns, however fresh it is (C4).
    pub fn forget(&mut self, stale: Stale) {
        self.entries.retain(|inquiry, _| match inquiry {
            Inquiry::Prompts => stale != Stale::Prompts,
            Inquiry::Resources | Inquiry::Templates => stale != Stale::Resources,
            Inquiry::Read { .. } => stale != Stale::Contents,
            Inquiry::Prompt { .. } | Inquiry::Complete { .. } => true,
        });
    }

    /// Forgets everything: another connection may see other things.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

/// How long a result is fresh (C1). What cannot be understood is stale at once.
pub fn freshness(result: &Value) -> Duration {
    let millis = result.get("ttlMs").and_then(Value::as_f64).unwrap_or_default();
    Duration::try_from_secs_f64(millis / 1000.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Listing;

    const SECOND: Duration = Duration::from_secs(1);

    fn read(uri: &str) -> Inquiry {
        Inquiry::Read { uri: uri.to_owned() }
    }

    fn nothing() -> Found {
        Found::Prompts(Listing { items: Vec::new(), remarks: Vec::new() })
    }

    #[test]
    fn an_answer_serves_the_same_question_and_only_while_it_is_fresh() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        cache.keep(&read("a:1"), &Found::Read(Vec::new()), SECOND, now);
        assert_eq!(cache.fresh(&read("a:1"), now), Some(Found::Read(Vec::new())));
        assert_eq!(cache.fresh(&read("a:2"), now), None);
        assert_eq!(cache.fresh(&read("a:1"), now + SECOND), None);
    }

    #[test]
    fn a_notification_makes_what_it_concerns_stale_at_once() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        cache.keep(&read("a:1"), &Found::Read(Vec::new()), SECOND, now);
        cache.keep(&Inquiry::Prompts, &nothing(), SECOND, now);
        cache.forget(Stale::Resources);
        assert!(cache.fresh(&read("a:1"), now).is_some());
        cache.forget(Stale::Contents);
        assert!(cache.fresh(&read("a:1"), now).is_none());
        assert!(cache.fresh(&Inquiry::Prompts, now).is_some());
    }

    #[test]
    fn the_cache_is_bounded_and_what_ends_first_goes_first() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        for (at, seconds) in (0_u32..=64).zip(1..) {
            cache.keep(&read(&at.to_string()), &nothing(), SECOND * seconds, now);
        }
        assert_eq!(cache.entries.len(), ENTRIES);
        assert!(cache.fresh(&read("0"), now).is_none());
        assert!(cache.fresh(&read("64"), now).is_some());
    }

    #[test]
    fn a_missing_or_odd_time_to_live_is_none() {
        for odd in [json!({}), json!({"ttlMs": -1}), json!({"ttlMs": "9"}), json!({"ttlMs": 1e300})]
        {
            assert_eq!(freshness(&odd), Duration::ZERO, "{odd}");
        }
        assert_eq!(freshness(&json!({"ttlMs": 1500})), Duration::from_millis(1500));
    }
}
