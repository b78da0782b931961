//! Which era each endpoint spoke when it was last reached (E5, E13), so that a legacy server need
//! not be probed on every start. Pure; the time is passed in, the file is the store's.
//!
//! What is remembered is a hint: a configured `protocol` wins, and a server that does not answer as
//! remembered is probed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ServerSpec;
use crate::config::Protocol;
use crate::domain::{Era, ServerConnection};
use crate::redact;

/// A memory older than this is not used: the server may have learnt the newer protocol meanwhile.
pub const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A memory younger than this is not written again.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// Most endpoints that are remembered; those seen longest ago go first.
pub const ENDPOINTS: usize = 1000;

/// What is remembered of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// The family it spoke.
    pub era: Era,
    /// The version that was agreed on.
    pub version: String,
    /// When, in seconds since 1970.
    pub when: u64,
}

/// Everything remembered, by [`key`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eras {
    /// Endpoint → what it spoke.
    #[serde(default)]
    pub endpoints: BTreeMap<String, Seen>,
}

/// Changes to [`Eras`]: a new memory, or `None` to forget.
pub type Changes = BTreeMap<String, Option<Seen>>;

/// E13: the endpoint's URL without query and user info, and a hash of what else may decide who
/// answers there: the query and the names of the configured headers. Their values are secrets and
/// do not enter.
pub fn key(spec: &ServerSpec) -> String {
    let mut names: Vec<String> =
        spec.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort_unstable();
    let mut digest = Sha256::new();
    digest.update(spec.url.query().unwrap_or_default());
    for name in names {
        digest.update([0]);
        digest.update(name);
    }
    let hash =
        digest.finalize().iter().take(8).fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    format!("{}#{hash:016x}", redact::url(&spec.url))
}

impl Eras {
    /// The era to begin with; `None` where the server has to be probed.
    pub fn recall(&self, spec: &ServerSpec, now: Duration) -> Option<Era> {
        let seen = self.endpoints.get(&key(spec)).filter(|_| spec.protocol == Protocol::Auto)?;
        // A clock that was set back does not make a memory eternal.
        let age = now.as_secs().abs_diff(seen.when);
        (age < KEPT.as_secs()).then_some(seen.era)
    }

    /// What to write down of a connection that was made; `None` where nothing is new. A forced
    /// version says nothing of what the server would have chosen.
    pub fn learnt(
        &self,
        spec: &ServerSpec,
        connection: &ServerConnection,
        now: Duration,
    ) -> Option<(String, Seen)> {
        if spec.protocol != Protocol::Auto {
            return None;
        }
        let key = key(spec);
        let seen = Seen {
            era: connection.era,
            version: connection.protocol_version.clone(),
            when: now.as_secs(),
        };
        let known = self.endpoints.get(&key).is_some_and(|old| {
            (old.era, &old.version) == (seen.era, &seen.version)
                && seen.when.abs_diff(old.when) < FRESH.as_secs()
        });
        (!known).then_some((key, seen))
    }

    /// Takes changes in and keeps within [`ENDPOINTS`].
    pub fn apply(&mut self, changes: &Changes) {
        for (key, change) in changes {
            match change {
                Some(seen) => self.endpoints.insert(key.clone(), seen.clone()),
                None => self.endpoints.remove(key),
            };
        }
        while self.endpoints.len() > ENDPOINTS {
            let oldest = self.endpoints.iter().min_by_key(|(_, seen)| seen.when);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            self.endpoints.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Limits;

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn spec(url: &str, headers: &[(&str, &str)]) -> ServerSpec {
        let second = Duration::from_secs(1);
        ServerSpec {
            name: "s".into(),
            url: url.parse().unwrap(),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned().into()))
                .collect(),
            has_credential: false,
            protocol: Protocol::Auto,
            ca_pem: None,
            answering: crate::domain::Answering::Nobody,
            limits: Limits { discovery: second, silence: second, call: second },
            remembered: None,
            wire: None,
        }
    }

    fn connection(era: Era) -> ServerConnection {
        ServerConnection {
            era,
            protocol_version: "2025-11-25".to_owned(),
            session: false,
            capabilities: Vec::new(),
            identity: String::new(),
            instructions: None,
        }
    }

    fn knowing(spec: &ServerSpec, era: Era) -> Eras {
        let mut eras = Eras::default();
        let (key, seen) = eras.learnt(spec, &connection(era), NOW).unwrap();
        eras.apply(&Changes::from([(key, Some(seen))]));
        eras
    }

    #[test]
    fn a_key_tells_endpoints_queries_and_header_names_apart_and_holds_no_secret() {
        let keys = [
            spec("https://h.test/mcp", &[]),
            spec("https://h.test/other", &[]),
            spec("https://h.test/mcp?key=s3cret-value", &[]),
            spec("https://h.test/mcp", &[("X-Tenant", "s3cret-value")]),
        ]
        .map(|spec| key(&spec));
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
        assert!(
            keys.iter().all(|key| !key.contains("s3cret") && key.starts_with("https://h.test/"))
        );
        let other_value = spec("https://h.test/mcp", &[("x-tenant", "other")]);
        assert_eq!(key(&other_value), keys[3]);
    }

    #[test]
    fn a_memory_is_used_for_a_week_and_never_against_the_config() {
        let server = spec("https://h.test/mcp", &[]);
        let eras = knowing(&server, Era::Legacy);
        assert_eq!(eras.recall(&server, NOW), Some(Era::Legacy));
        assert_eq!(eras.recall(&server, NOW + KEPT), None);
        assert_eq!(eras.recall(&server, NOW.saturating_sub(KEPT)), None);
        let forced = ServerSpec { protocol: Protocol::V20260728, ..server };
        assert_eq!(eras.recall(&forced, NOW), None);
        assert_eq!(eras.learnt(&forced, &connection(Era::Legacy), NOW), None);
    }

    #[test]
    fn only_what_is_new_is_written() {
        let server = spec("https://h.test/mcp", &[]);
        let eras = knowing(&server, Era::Legacy);
        assert_eq!(eras.learnt(&server, &connection(Era::Legacy), NOW), None);
        assert!(eras.learnt(&server, &connection(Era::Modern), NOW).is_some());
        assert!(eras.learnt(&server, &connection(Era::Legacy), NOW + FRESH).is_some());
    }

    #[test]
    fn what_is_forgotten_is_gone_and_the_oldest_make_room() {
        let seen = |when| Some(Seen { era: Era::Legacy, version: String::new(), when });
        let mut eras = Eras::default();
        let many = 0..=ENDPOINTS as u64;
        eras.apply(&many.map(|at| (format!("{at:05}"), seen(at + 1))).collect());
        assert_eq!(eras.endpoints.len(), ENDPOINTS);
        assert!(!eras.endpoints.contains_key("00000"));
        eras.apply(&Changes::from([("00007".to_owned(), None)]));
        assert!(!eras.endpoints.contains_key("00007"));
    }
}
