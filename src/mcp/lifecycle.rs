//! From nothing to an agreement with a server: what to send next, given what came back. Pure.
//!
//! The caller sends what [`Lifecycle::step`] asks for and hands the reply to
//! [`Lifecycle::replied`], until the step is one of the two ends.

use super::era::{self, Refusal, Reply, Verdict};
use super::model::{self, Agreed, MODERN};
use crate::config::Protocol;
use crate::domain::{Era, Stage};
use crate::jsonrpc::ErrorObject;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Send `server/discover` with this version.
    Discover(&'static str),
    /// Send `initialize` with this version.
    Initialize(&'static str),
    /// Send `notifications/initialized` (G2). Its acknowledgement is [`Lifecycle::acknowledged`].
    Initialized(Box<Agreed>),
    /// Done.
    Agreed(Box<Agreed>),
    /// Given up.
    Refused(Refusal),
}

/// One attempt to come to an agreement.
#[derive(Debug)]
pub struct Lifecycle {
    protocol: Protocol,
    step: Step,
    corrections: u32,
    probed: bool,
    countered: bool,
}

impl Lifecycle {
    /// Starts by what is configured, else by what is remembered (E5), else by probing (E1).
    pub fn new(protocol: Protocol, remembered: Option<Era>) -> Self {
        let step = match (forced(protocol), remembered) {
            (Some(version), _) => Step::Initialize(version),
            (None, Some(Era::Legacy)) if protocol == Protocol::Auto => {
                Step::Initialize(era::newest_legacy())
            }
            (None, _) => Step::Discover(MODERN),
        };
        Self { protocol, step, corrections: 0, probed: false, countered: false }
    }

    /// What to do now.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// The reply to the request that the step asked for.
    pub fn replied(&mut self, reply: &Reply) {
        self.step = match self.step {
            Step::Discover(_) => self.discovered(reply),
            Step::Initialize(version) => self.initialized(reply, version),
            Step::Initialized(_) | Step::Agreed(_) | Step::Refused(_) => return,
        };
    }

    /// The server took `notifications/initialized`.
    pub fn acknowledged(&mut self) {
        if let Step::Initialized(agreed) = &self.step {
            self.step = Step::Agreed(agreed.clone());
        }
    }

    fn discovered(&mut self, reply: &Reply) -> Step {
        self.probed = true;
        match era::judge(reply, self.corrections) {
            Verdict::Modern(found) => Step::Agreed(Box::new(found.agreed)),
            Verdict::Again(version) => {
                self.corrections += 1;
                Step::Discover(version)
            }
            Verdict::Legacy(_) if self.protocol == Protocol::V20260728 => {
                Step::Refused(negotiation(format!(
                    "It does not speak {MODERN} ({}). Remove “protocol: {MODERN}” from its entry, or set “protocol: auto”.",
                    said(reply)
                )))
            }
            Verdict::Legacy(version) => Step::Initialize(version),
            Verdict::Refused(refusal) => Step::Refused(refusal),
        }
    }

    fn initialized(&mut self, reply: &Reply, sent: &'static str) -> Step {
        if let Reply::Result(result) = reply {
            return match model::read_initialize(result) {
                Ok(agreed) => Step::Initialized(Box::new(agreed)),
                Err(_) if self.may_probe() => Step::Discover(MODERN),
                Err(reason) => Step::Refused(negotiation(format!("Not usable: {reason}."))),
            };
        }
        // E5: what was remembered did not hold.
        if self.may_probe() && !passes(reply) {
            return Step::Discover(MODERN);
        }
        match reply {
            Reply::Error { error, .. } if !self.countered => match counter_offer(error, sent) {
                Some(version) => {
                    self.countered = true;
                    Step::Initialize(version)
                }
                // §1.2: modern after all, although it does not answer as a modern server has to.
                None if error.is_modern() && self.protocol == Protocol::Auto => {
                    Step::Refused(modern_after_all(reply))
                }
                None => Step::Refused(refused(reply)),
            },
            _ => Step::Refused(refused(reply)),
        }
    }

    fn may_probe(&self) -> bool {
        self.protocol == Protocol::Auto && !self.probed
    }
}

fn passes(reply: &Reply) -> bool {
    match reply {
        Reply::Error { status, .. } | Reply::Status { status, .. } => era::is_passing(*status),
        Reply::Result(_) | Reply::Odd { .. } => false,
    }
}

fn forced(protocol: Protocol) -> Option<&'static str> {
    match protocol {
        Protocol::Auto | Protocol::V20260728 => None,
        Protocol::V20251125 => Some("2025-11-25"),
        Protocol::V20250618 => Some("2025-06-18"),
        Protocol::V20250326 => Some("2025-03-26"),
    }
}

/// G12: a refusal that names a version we speak too.
fn counter_offer(error: &ErrorObject, sent: &str) -> Option<&'static str> {
    let supported = model::strings(error.data.get("supported")?)?;
    era::common_legacy(&supported).filter(|version| *version != sent)
}

fn negotiation(reason: String) -> Refusal {
    Refusal { stage: Stage::Negotiate, reason, retry: false }
}

/// A server that refuses `initialize` as a modern one does, and was not found to be one.
fn modern_after_all(reply: &Reply) -> Refusal {
    Refusal {
        stage: Stage::Negotiate,
        reason: format!(
            "It wants a newer protocol ({}), yet it did not answer server/discover as a server of {MODERN} has to. It is asked again later; whoever runs it should know.",
            said(reply)
        ),
        retry: true,
    }
}

/// What to tell of an `initialize` that failed for good.
fn refused(reply: &Reply) -> Refusal {
    let retry = match reply {
        Reply::Error { status, .. } | Reply::Status { status, .. } => {
            *status >= 500 || era::is_passing(*status)
        }
        Reply::Result(_) | Reply::Odd { .. } => false,
    };
    let seen = said(reply);
    let (stage, advice) = match reply {
        Reply::Error { error, .. } if error.is_modern() => {
            (Stage::Negotiate, "It wants a newer protocol: set “protocol: auto” in its entry.")
        }
        Reply::Error { .. } | Reply::Result(_) => {
            (Stage::Negotiate, "See its documentation for what it asks for.")
        }
        Reply::Status { status: 400 | 404 | 405, .. } => (
            Stage::Http,
            "Check the URL; an endpoint that speaks only the old HTTP+SSE transport (2024-11-05) is not supported.",
        ),
        Reply::Status { status: 500.., .. } => (Stage::Http, "The fault is at the server."),
        Reply::Status { .. } => (Stage::Http, "Check the URL and the headers of its entry."),
        Reply::Odd { .. } => (
            Stage::Http,
            "This is no MCP endpoint: check the URL, and whether a sign-in page or a proxy stands in the way.",
        ),
    };
    Refusal { stage, reason: format!("{seen}. {advice}"), retry }
}

fn said(reply: &Reply) -> String {
    match reply {
        Reply::Error { status, error } => {
            let place = if *status == 200 { String::new() } else { format!("HTTP {status}: ") };
            // E8: the versions that a server names in its refusal are worth more than its words.
            let supported = error.data.get("supported").and_then(model::strings);
            let supported = supported.map(|all| format!("; it supports {}", all.join(", ")));
            format!("{place}{error}{}", supported.unwrap_or_default())
        }
        Reply::Status { detail, .. } | Reply::Odd { detail } => detail.clone(),
        Reply::Result(_) => "it gave a result that means nothing here".to_owned(),
    }
}

#[cfg(test)]
mod tests;
