//! What is known of a server's connection.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which of the two protocol families a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Era {
    /// Up to 2025-11-25: `initialize` and, at the server's choice, an MCP session.
    Legacy,
    /// 2026-07-28: stateless, metadata on every request.
    Modern,
}

/// The stage of a connection at which something happened, in the order they are passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Reading the server's entry.
    Config,
    /// Reading its credential from the environment.
    Credential,
    /// Finding the host's address.
    Dns,
    /// Opening a connection.
    Tcp,
    /// Verifying the certificate.
    Tls,
    /// The HTTP exchange: status, media type, body.
    Http,
    /// Finding the era and agreeing on a version.
    Negotiate,
    /// Listing tools.
    List,
    /// Checking the tools' schemas.
    Schemas,
    /// Comparing with what was pinned.
    Pins,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Config => "config",
            Self::Credential => "credential",
            Self::Dns => "DNS",
            Self::Tcp => "TCP",
            Self::Tls => "TLS",
            Self::Http => "HTTP",
            Self::Negotiate => "negotiate",
            Self::List => "list",
            Self::Schemas => "schemas",
            Self::Pins => "pins",
        })
    }
}

/// A server's one state. Reasons are raw text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerState {
    /// Discovery is under way.
    Connecting,
    /// Discovered and usable.
    Ready,
    /// The last good list is kept, and marked stale.
    Degraded {
        /// Why.
        reason: String,
    },
    /// 401 or 403: the server wants a credential, or another one.
    NeedsAuth {
        /// What the challenge asks for.
        reason: String,
    },
    /// Not usable; retried by key and with backoff.
    Failed {
        /// Where it failed.
        stage: Stage,
        /// Why, with what to do.
        reason: String,
    },
    /// Switched off: by the config, by the user, or for want of a credential.
    Disabled {
        /// Why.
        reason: String,
    },
}

impl ServerState {
    /// The state in one word or two, as shown and as printed in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Degraded { .. } => "degraded",
            Self::NeedsAuth { .. } => "needs auth",
            Self::Failed { .. } => "failed",
            Self::Disabled { .. } => "disabled",
        }
    }

    /// The reason given with the state; empty where there is none.
    pub fn reason(&self) -> &str {
        match self {
            Self::Connecting | Self::Ready => "",
            Self::Degraded { reason }
            | Self::NeedsAuth { reason }
            | Self::Failed { reason, .. }
            | Self::Disabled { reason } => reason,
        }
    }

    /// Whether tools of a server in this state may be called.
    pub fn usable(&self) -> bool {
        matches!(self, Self::Ready | Self::Degraded { .. })
    }

    /// Whether discovery has come to an end, well or badly.
    pub fn settled(&self) -> bool {
        !matches!(self, Self::Connecting)
    }
}
