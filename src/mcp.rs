//! The MCP client: Streamable HTTP only, both eras.
//!
//! One actor per server ([`run`](client::run)) owns the connection, its MCP session and the table of
//! requests in flight. It takes [`Command`]s and reports [`ServerEvent`]s; it knows nothing of the
//! screen, the catalog or permissions.
//!
//! # What of the protocol is not built, and why
//!
//! Every numbered item of the digest of the protocol is built and has a test that
//! `tests/it/era_items.rs` names, or it stands here.
//!
//! | item | why not |
//! |---|---|
//! | S9 (rate) | Events are bounded in size, not in number a second: each is dealt with before the next is read, and what it tells waits for room in bounded queues, so that a flood slows down its own stream alone. |
//! | J3 (text for a number) | An id that comes back as text is taken, with a warning: all ids of ours are numbers, so no two read the same. |
//! | J11 (any length) | Integers of 64 bits and all floats are kept exactly; a longer number is rounded to the nearest float. The switch of the JSON library that keeps those too changes how other parts of the program read numbers. |
//! | G6 (pings of ours) | None are sent: an idle program sends nothing and does not wake. A connection that broke shows on the standing stream, or at the next request, which waits for a new one. Pings of the server are answered. |
//! | N4 (pages at a time) | Tools are shown when all pages are there: their model names are unique across all of them. The time for that is bounded by `discoveryTimeout`. |
//! | D7 (reject) | A schema that refers to another address is not refused, which would cost the tool, but warned of; that part of it accepts anything, and nothing is fetched. |
//! | O2 (direct) | Addresses of resources are never fetched or opened but read through their server. |
//! | V2 | Sampling is not offered (V1) and refused as the protocol asks. |
//! | V3 | Roots are not offered (V1) and refused as the protocol asks. |
//! | Y2 | Tasks of 2025-11-25 are not used, which Y1 allows; a tool that insists on them is dropped with the reason. |
//! | Y3 | Belongs to Y2. |
//! | Y5 (durable ids) | A task belongs to a call, and a call to a turn: a program that ends cancels its tasks, and after a crash there is no turn that could take a result. |
//! | Y8 | Superseded: the extension for tasks is declared and followed (Y4–Y7). |
//! | Z2 | A terminal shows no icons: none are fetched. They stay in the raw definition. |
//! | F4 | There is no authorisation of our own yet (OAuth); configured credentials are bound to their origin (H14). |
//! | F5 | No metadata addresses are followed before there is one. |

pub mod cache;
pub mod client;
mod desk;
pub mod era;
mod exchange;
pub mod fault;
pub mod headers;
pub mod http;
pub mod lifecycle;
mod live;
pub mod memory;
pub mod model;
pub mod paging;
pub mod retry;

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::config::Protocol;
use crate::domain::{
    Answering, CallId, Changed, Elicitation, ElicitationId, ElicitationReply, Era, Found, Inquiry,
    InquiryFault, Outcome, Progress, ServerConnection, ServerName, ServerState, Stage,
    ToolDefinition, ToolName, TraceContext, Warning,
};
use crate::wire::Tap;

/// Room for commands to one server: more calls than this at once wait in line.
pub const COMMANDS: usize = 32;

/// Everything a client has to know about its server.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// The configured name.
    pub name: ServerName,
    /// The endpoint, its query included.
    pub url: Url,
    /// Headers for every request to this origin: credentials and configured ones.
    pub headers: Vec<(String, SecretString)>,
    /// Whether any of the headers is a credential.
    pub has_credential: bool,
    /// Which era to speak.
    pub protocol: Protocol,
    /// Further certificate authorities, in PEM.
    pub ca_pem: Option<Arc<[u8]>>,
    /// Which questions of the server somebody is there to answer.
    pub answering: Answering,
    /// Time limits.
    pub limits: Limits,
    /// The era it spoke when it was last reached (E5); `None` where it has to be probed.
    pub remembered: Option<Era>,
    /// Where its exchanges are recorded; `None` for nowhere.
    pub wire: Option<Tap>,
}

/// Time limits of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `discoveryTimeout`: whole of one discovery.
    pub discovery: Duration,
    /// `callTimeout`: silence allowed during a call. Not counted while the user is asked something
    /// by the server.
    pub silence: Duration,
    /// `maxCallTime`: whole of one call, without the time in which the user is asked something.
    pub call: Duration,
}

/// What the runtime asks of a client.
#[derive(Debug)]
pub enum Command {
    /// Connect (again) and list the tools.
    Connect,
    /// List the tools again.
    Refresh,
    /// Call a tool. The outcome is sent exactly once.
    Call {
        /// Our id, for progress.
        call: CallId,
        /// Original name.
        tool: ToolName,
        /// What is sent, exactly.
        arguments: Arc<Map<String, Value>>,
        /// Fingerprint of the definition that was decided about, as the server gave it: the call is not
        /// sent where the server has listed another one since. `None` where nobody decided about any.
        decided: Option<Arc<str>>,
        /// Cancels the call in the way of the server's era.
        cancel: CancellationToken,
        /// Where the outcome goes.
        reply: oneshot::Sender<Outcome>,
        /// The span that the server's own are to stand below, where traces are made (P3).
        trace: Option<TraceContext>,
    },
    /// Ask something that changes nothing at the server. The answer is sent exactly once.
    Inquire {
        /// What is asked.
        inquiry: Box<Inquiry>,
        /// Ends the asking.
        cancel: CancellationToken,
        /// Where the answer goes.
        reply: oneshot::Sender<Result<Found, InquiryFault>>,
    },
    /// The user's answer to [`ServerEventKind::Elicit`]. Stale ids are ignored.
    Reply {
        /// Which question.
        elicitation: ElicitationId,
        /// The answer.
        reply: ElicitationReply,
    },
    /// End the MCP session, if there is one, and stop. Bounded in time.
    Shutdown,
}

/// What a client reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerEvent {
    /// Which server.
    pub server: ServerName,
    /// What happened.
    pub kind: ServerEventKind,
}

/// What happened at a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEventKind {
    /// Its state changed.
    State(ServerState),
    /// A stage of connecting was passed; `check` prints these.
    Stage {
        /// Which.
        stage: Stage,
        /// How long it took.
        took: Duration,
    },
    /// What was agreed with it.
    Connected(ServerConnection),
    /// The complete list of its tools, and what was wrong with some of them.
    Tools {
        /// Usable definitions in the server's order.
        tools: Vec<ToolDefinition>,
        /// Tools that were dropped: name (as far as known) and reason.
        dropped: Vec<(String, String)>,
    },
    /// Something the server does that it should not (a conformance warning), or other news.
    Warned(Warning),
    /// Progress or a log line of a running call.
    Progress {
        /// Which call.
        call: CallId,
        /// What it says.
        progress: Progress,
    },
    /// It asks the user something; answered by [`Command::Reply`].
    Elicit(Arc<Elicitation>),
    /// It no longer wants an answer.
    ElicitClosed {
        /// Which question.
        elicitation: ElicitationId,
        /// Why.
        why: String,
    },
    /// A log message outside any call.
    Log {
        /// Level as the server names it.
        level: String,
        /// Text.
        text: String,
    },
    /// Something else than its tools has changed; what was found of it before may no longer hold.
    Changed(Changed),
    /// Round-trip time of a request.
    Latency(Duration),
}
