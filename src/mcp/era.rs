//! What each era demands and how it is found: the table of PROTOCOL §1.2 as a function. Pure.

use serde_json::Value;

use super::model::{self, Discovered, LEGACY, MODERN};
use crate::domain::Stage;
use crate::jsonrpc::{ErrorObject, code};

/// What came back for one request, as far as finding the era is concerned. Connections that
/// failed, time-outs, challenges (401, 403) and redirects are no evidence and never get here.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A JSON-RPC result.
    Result(Value),
    /// A JSON-RPC error, with whatever HTTP status.
    Error {
        /// The HTTP status.
        status: u16,
        /// The error.
        error: ErrorObject,
    },
    /// An HTTP status that is no success, without a JSON-RPC error.
    Status {
        /// The HTTP status.
        status: u16,
        /// What was seen, in words, with the place.
        detail: String,
    },
    /// A success that is no JSON-RPC answer.
    Odd {
        /// What was seen, in words, with the place.
        detail: String,
    },
}

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where it went wrong.
    pub stage: Stage,
    /// What happened and what to do.
    pub reason: String,
    /// Whether trying again later may help by itself.
    pub retry: bool,
}

/// What an answer to `server/discover` means.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Modern.
    Modern(Box<Discovered>),
    /// Modern, and the probe has to be sent again with this version (E6, E11).
    Again(&'static str),
    /// Legacy; `initialize` with this version.
    Legacy(&'static str),
    /// Neither can be concluded, or nothing in common.
    Refused(Refusal),
}

/// Whether an HTTP status says only that the server is not there right now.
pub fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502 | 503 | 504)
}

/// The decision. `corrections` counts how often the probe was sent again already.
pub fn judge(reply: &Reply, corrections: u32) -> Verdict {
    match reply {
        Reply::Result(result) => match model::read_discover(result) {
            Some(found) if found.supported.iter().any(|version| version == MODERN) => {
                Verdict::Modern(Box::new(found))
            }
            Some(found) => common(&found.supported, u32::MAX),
            // E10: some legacy servers answer whatever they do not know with an empty result.
            None => Verdict::Legacy(newest_legacy()),
        },
        Reply::Error { error, .. } if error.code == code::UNSUPPORTED_VERSION => {
            let supported = error.data.get("supported").and_then(model::strings);
            common(&supported.unwrap_or_default(), corrections)
        }
        // E3: modern, and the request is wrong: no fallback.
        Reply::Error { error, .. } if error.is_modern() => Verdict::Refused(Refusal {
            stage: Stage::Negotiate,
            reason: format!("It speaks {MODERN} and refused the first request: {error}."),
            retry: false,
        }),
        // E9: modern servers know `server/discover`, whatever the status says.
        Reply::Error { error, .. } if error.code == code::METHOD_NOT_FOUND => {
            Verdict::Legacy(newest_legacy())
        }
        Reply::Error { status, error } if is_passing(*status) => {
            passing(format!("HTTP {status}: {error}"))
        }
        Reply::Status { status, detail } if is_passing(*status) => passing(detail.clone()),
        // E4, E12: no other error and no other status is evidence of a modern server.
        Reply::Error { .. } | Reply::Status { .. } | Reply::Odd { .. } => {
            Verdict::Legacy(newest_legacy())
        }
    }
}

fn passing(detail: String) -> Verdict {
    Verdict::Refused(Refusal { stage: Stage::Http, reason: detail, retry: true })
}

/// The version that `initialize` offers unless something speaks for another (E15).
pub fn newest_legacy() -> &'static str {
    let [newest, ..] = LEGACY;
    newest
}

/// The newest legacy version that is also among `supported`.
pub fn common_legacy(supported: &[String]) -> Option<&'static str> {
    LEGACY.into_iter().find(|ours| supported.iter().any(|theirs| theirs == ours))
}

fn common(supported: &[String], corrections: u32) -> Verdict {
    if corrections < 2 && supported.iter().any(|theirs| theirs == MODERN) {
        return Verdict::Again(MODERN);
    }
    match common_legacy(supported) {
        Some(version) => Verdict::Legacy(version),
        None => Verdict::Refused(nothing_in_common(supported)),
    }
}

fn nothing_in_common(supported: &[String]) -> Refusal {
    let theirs =
        if supported.is_empty() { "no version it names".to_owned() } else { supported.join(", ") };
    Refusal {
        stage: Stage::Negotiate,
        reason: format!(
            "No common protocol version: the server speaks {theirs}; this program speaks {MODERN}, {}. A newer version of one of them may help.",
            LEGACY.join(", ")
        ),
        retry: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(status: u16, code: i64, data: Value) -> Reply {
        let error = ErrorObject { code, message: "m".to_owned(), data };
        Reply::Error { status, error }
    }

    fn status(status: u16) -> Reply {
        Reply::Status { status, detail: format!("HTTP {status}") }
    }

    #[test]
    fn a_valid_discover_result_means_modern() {
        let reply = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}});
        assert!(matches!(judge(&Reply::Result(reply), 0), Verdict::Modern(_)));
    }

    #[test]
    fn any_other_success_means_legacy() {
        for reply in [
            Reply::Result(json!({})),
            Reply::Odd { detail: "text/html".to_owned() },
            error(200, -32601, Value::Null),
            error(200, -32600, Value::Null),
        ] {
            assert_eq!(judge(&reply, 0), Verdict::Legacy("2025-11-25"), "{reply:?}");
        }
    }

    #[test]
    fn client_errors_without_a_modern_code_mean_legacy_and_so_does_a_crash() {
        for code in [400, 404, 405, 406, 410, 415, 422, 500, 501] {
            assert_eq!(judge(&status(code), 0), Verdict::Legacy("2025-11-25"), "{code}");
            let reply = error(code, -32000, Value::Null);
            assert_eq!(judge(&reply, 0), Verdict::Legacy("2025-11-25"), "{code}");
        }
        for code in [-32601, -32602, -32600] {
            assert!(matches!(judge(&error(400, code, Value::Null), 0), Verdict::Legacy(_)));
        }
    }

    #[test]
    fn method_not_found_means_legacy_even_with_a_passing_status() {
        assert!(matches!(judge(&error(503, -32601, Value::Null), 0), Verdict::Legacy(_)));
    }

    #[test]
    fn a_passing_status_is_no_evidence_and_is_retried() {
        for code in [408, 429, 502, 503, 504] {
            let Verdict::Refused(refusal) = judge(&status(code), 0) else { panic!("{code}") };
            assert!(refusal.retry && refusal.stage == Stage::Http);
        }
    }

    #[test]
    fn modern_errors_never_fall_back() {
        for code in [-32020, -32021] {
            let Verdict::Refused(refusal) = judge(&error(400, code, Value::Null), 0) else {
                panic!("{code}")
            };
            assert!(!refusal.retry && refusal.stage == Stage::Negotiate);
        }
    }

    #[test]
    fn an_unsupported_version_is_corrected_at_most_twice() {
        let both = error(400, -32022, json!({"supported": ["2026-07-28", "2025-06-18"]}));
        assert_eq!(judge(&both, 0), Verdict::Again("2026-07-28"));
        assert_eq!(judge(&both, 1), Verdict::Again("2026-07-28"));
        assert_eq!(judge(&both, 2), Verdict::Legacy("2025-06-18"));
        let old = error(400, -32022, json!({"supported": ["2024-11-05", "2025-03-26"]}));
        assert_eq!(judge(&old, 0), Verdict::Legacy("2025-03-26"));
        let none = error(400, -32022, json!({"supported": ["2030-01-01"]}));
        let Verdict::Refused(refusal) = judge(&none, 0) else { panic!() };
        assert!(refusal.reason.contains("2030-01-01"));
    }

    #[test]
    fn a_discover_result_without_our_modern_version_leads_to_what_is_common() {
        let reply = |versions: Value| {
            Reply::Result(json!({"supportedVersions": versions, "capabilities": {}}))
        };
        assert_eq!(judge(&reply(json!(["2025-06-18"])), 0), Verdict::Legacy("2025-06-18"));
        assert!(matches!(judge(&reply(json!(["2030-01-01"])), 0), Verdict::Refused(_)));
    }
}
