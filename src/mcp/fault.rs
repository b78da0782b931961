//! What can go wrong with one request, sorted by what the caller can do about it.

use std::time::Duration;

use super::era::{Refusal, Reply, is_passing};
use crate::domain::{Outcome, Stage};
use crate::jsonrpc::ErrorObject;

/// Why a request has no result. Reasons are whole sentences; they may quote a server, raw, but
/// never a URL's query or a credential.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// Nothing reached the server.
    #[error("{reason}")]
    NotSent {
        /// Where it failed.
        stage: Stage,
        /// What happened and what to do.
        reason: String,
        /// Whether trying again later may help by itself.
        retry: bool,
    },
    /// 401 or 403.
    #[error("{reason}")]
    Auth {
        /// What the challenge asks for.
        reason: String,
    },
    /// The server does not know the MCP session any more; the request was not processed.
    #[error("the server has ended the MCP session: {reason}")]
    SessionLost {
        /// What it said.
        reason: String,
    },
    /// A status that is no success, without a JSON-RPC error.
    #[error("{reason}")]
    Status {
        /// The status.
        status: u16,
        /// What was seen.
        reason: String,
        /// `Retry-After`.
        after: Option<Duration>,
    },
    /// A JSON-RPC error.
    #[error("the server answered with an error: {error}")]
    Rpc {
        /// The HTTP status it came with.
        status: u16,
        /// The error.
        error: ErrorObject,
    },
    /// A success that is no usable answer: another media type, broken JSON, over a limit.
    #[error("{reason}")]
    Odd {
        /// What was seen.
        reason: String,
    },
    /// Sent, and the answer was lost.
    #[error("{reason}")]
    Lost {
        /// What happened to it.
        reason: String,
    },
    /// Sent, and nothing came for as long as is put up with.
    #[error("No sign of life from the server for {0:?} (callTimeout).")]
    Silent(Duration),
}

impl Fault {
    /// The reply as evidence of the server's era, where it is any.
    pub fn evidence(&self) -> Option<Reply> {
        match self {
            Self::Status { status, reason, .. } => {
                Some(Reply::Status { status: *status, detail: bare(reason) })
            }
            Self::Rpc { status, error } => {
                Some(Reply::Error { status: *status, error: error.clone() })
            }
            Self::Odd { reason } => Some(Reply::Odd { detail: bare(reason) }),
            Self::NotSent { .. } | Self::Auth { .. } | Self::Lost { .. } | Self::Silent(_) => None,
            Self::SessionLost { reason } => {
                Some(Reply::Status { status: 404, detail: bare(reason) })
            }
        }
    }

    /// How a server's state tells of it when it happened at `stage`.
    pub fn refusal(&self, stage: Stage) -> Refusal {
        let (stage, retry) = match self {
            Self::NotSent { stage, retry, .. } => (*stage, *retry),
            Self::Lost { .. } | Self::Silent(_) => (Stage::Http, true),
            Self::Status { status, .. } => (stage, is_passing(*status) || *status >= 500),
            Self::SessionLost { .. } => (stage, true),
            Self::Auth { .. } | Self::Rpc { .. } | Self::Odd { .. } => (stage, false),
        };
        Refusal { stage, reason: self.to_string(), retry }
    }

    /// The outcome of a call that ended so. Only what surely was not processed is *not sent*.
    pub fn outcome(self) -> Outcome {
        let reason = self.to_string();
        match self {
            Self::NotSent { .. } | Self::Auth { .. } | Self::SessionLost { .. } => {
                Outcome::NotSent { reason }
            }
            Self::Status { status: 503 | 429, after: Some(wait), .. } => Outcome::NotSent {
                reason: format!("{reason} It asks to wait {} s.", wait.as_secs()),
            },
            Self::Status { status, .. } if status < 500 && status != 408 => {
                Outcome::NotSent { reason }
            }
            Self::Rpc { error, .. } => super::model::result::error_outcome(&error),
            Self::Status { .. } | Self::Odd { .. } | Self::Lost { .. } | Self::Silent(_) => {
                Outcome::Unknown { reason: may_have_run(&reason) }
            }
        }
    }
}

/// The words that user and model need about a call whose answer is missing.
pub fn may_have_run(reason: &str) -> String {
    format!("{} The call was sent and may have run; it was not sent again.", sentence(reason))
}

/// A reason with its full stop.
pub fn sentence(reason: &str) -> String {
    format!("{}.", bare(reason))
}

fn bare(reason: &str) -> String {
    reason.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, after: Option<Duration>) -> Fault {
        Fault::Status { status, reason: format!("HTTP {status}."), after }
    }

    #[test]
    fn only_what_surely_was_not_processed_is_not_sent() {
        let second = Some(Duration::from_secs(1));
        for fault in [status(404, None), status(413, None), status(503, second)] {
            assert_eq!(fault.outcome().word(), "not sent");
        }
        for fault in [
            status(500, None),
            status(502, None),
            status(503, None),
            status(408, None),
            Fault::Lost { reason: "cut".to_owned() },
            Fault::Odd { reason: "odd".to_owned() },
        ] {
            let Outcome::Unknown { reason } = fault.outcome() else { panic!() };
            assert!(reason.contains("may have run"), "{reason}");
        }
    }

    #[test]
    fn a_lost_connection_is_no_evidence_of_an_era() {
        assert_eq!(Fault::Lost { reason: "cut".to_owned() }.evidence(), None);
        assert!(status(404, None).evidence().is_some());
    }
}
