//! What the actor's jobs share: the peer, the link as it stands, the limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Protocol;
use crate::domain::{Era, ServerConnection, ToolDefinition, ToolName};
use crate::mcp::exchange::{Ask, Dialect, Peer, Upcall};
use crate::mcp::headers::ParamHeader;
use crate::mcp::model::tool::Listed;
use crate::mcp::{Limits, ServerEvent, ServerSpec};
use crate::pin;

/// A connection that was agreed on; it lives until another takes its place.
#[derive(Debug)]
pub(super) struct Conn {
    /// Rises with every connection of this client.
    pub(super) generation: u64,
    /// How messages are dressed.
    pub(super) dialect: Dialect,
    /// What the server says it can do.
    pub(super) capabilities: Map<String, Value>,
    pub(super) identity: String,
    pub(super) instructions: Option<String>,
    pub(super) remarks: Vec<String>,
    /// Cancelled as soon as the standing stream is open or known not to be (T7).
    pub(super) listening: CancellationToken,
    /// Cancelled when the connection is over.
    pub(super) over: CancellationToken,
    /// The calls that are on their way in its MCP session.
    pub(super) calls: TaskTracker,
}

impl Conn {
    /// Whether the server may have something to say outside its answers: a legacy one always
    /// (T6), a modern one where it tells of changes (U1).
    pub(super) fn may_be_listened_to(&self) -> bool {
        self.dialect.era == Era::Legacy || self.announces_changes()
    }

    /// Whether it declared that it tells of changes to its tools.
    pub(super) fn announces_changes(&self) -> bool {
        let tools = self.capabilities.get("tools");
        let changes = tools.and_then(|tools| tools.get("listChanged")).and_then(Value::as_bool);
        changes == Some(true)
    }

    /// The connection as the catalog shows it.
    pub(super) fn described(&self) -> ServerConnection {
        ServerConnection {
            era: self.dialect.era,
            protocol_version: self.dialect.version.clone().unwrap_or_default(),
            session: self.dialect.session.is_some(),
            capabilities: self.capabilities.keys().cloned().collect(),
            identity: self.identity.clone(),
            instructions: self.instructions.clone(),
        }
    }
}

/// Whether there is a connection.
#[derive(Debug, Clone)]
pub(super) enum Link {
    /// It is being made.
    Connecting,
    /// There is one.
    Up(Arc<Conn>),
    /// There is none, and why.
    Down(Arc<str>),
}

impl Link {
    /// Ends what belongs to a connection that is over.
    pub(super) fn part(&self) {
        if let Self::Up(conn) = self {
            conn.over.cancel();
        }
    }
}

/// What all jobs of one client share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) peer: Peer,
    pub(super) limits: Limits,
    pub(super) protocol: Protocol,
    pub(super) link: watch::Receiver<Link>,
    /// Cancelled when the client ends.
    pub(super) closing: CancellationToken,
    /// How many announced changes of the list have been followed up.
    pub(super) covered: watch::Sender<u64>,
    headers: Mutex<Arc<HashMap<ToolName, Vec<ParamHeader>>>>,
    definitions: Mutex<HashMap<ToolName, ToolDefinition>>,
    outputs: Mutex<HashMap<ToolName, Arc<Value>>>,
}

impl Shared {
    pub(super) fn new(
        spec: &ServerSpec,
        events: mpsc::Sender<ServerEvent>,
        upcalls: mpsc::Sender<Upcall>,
        link: watch::Receiver<Link>,
    ) -> Self {
        Self {
            peer: Peer::new(spec, events, upcalls),
            limits: spec.limits,
            protocol: spec.protocol,
            link,
            closing: CancellationToken::new(),
            covered: watch::channel(0).0,
            headers: Mutex::default(),
            definitions: Mutex::default(),
            outputs: Mutex::default(),
        }
    }

    /// Posts beside everything else; nobody waits for how it goes.
    pub(super) async fn post(&self, message: &Value, dialect: &Dialect) {
        if let Err(fault) = self.peer.post(dialect, message).await {
            tracing::debug!(server = %self.peer.server, %fault, "a message was not taken");
        }
    }

    /// Asks beside everything else; nobody waits for how it goes.
    pub(super) async fn aside(&self, ask: Ask, dialect: &Dialect) {
        let method = ask.method;
        if let Err(fault) = self.peer.ask(dialect, ask).await {
            tracing::debug!(server = %self.peer.server, method, %fault, "refused");
        }
    }

    /// Remembers which arguments of which tools travel in headers (X6), and what the tools say of
    /// their structured results (D9).
    pub(super) fn set_tools(&self, tools: &[Listed]) {
        let definitions =
            tools.iter().map(|tool| (tool.definition.name.clone(), tool.definition.clone()));
        *self.definitions.lock().unwrap_or_else(PoisonError::into_inner) = definitions.collect();
        let outputs = tools.iter().filter_map(|tool| {
            let schema = tool.definition.output_schema.as_ref()?;
            Some((tool.definition.name.clone(), Arc::clone(schema)))
        });
        *self.outputs.lock().unwrap_or_else(PoisonError::into_inner) = outputs.collect();
        let table = tools
            .iter()
            .filter(|tool| !tool.headers.is_empty())
            .map(|tool| (tool.definition.name.clone(), tool.headers.clone()))
            .collect();
        *self.headers.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
    }

    /// Waits until the changes that the server has announced so far are known, or a listing should
    /// have ended long ago.
    pub(super) async fn caught_up(&self) {
        let announced = self.peer.announced();
        if *self.covered.borrow() >= announced {
            return;
        }
        let mut covered = self.covered.subscribe();
        let listed = covered.wait_for(|covered| *covered >= announced);
        if timeout(self.limits.discovery, listed).await.is_err() {
            tracing::debug!(server = %self.peer.server, "the announced change was not listed in time");
        }
    }

    /// Whether the server lists another definition of the tool now than this one, or none.
    pub(super) fn differs(&self, definition: &ToolDefinition) -> bool {
        let known = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        let now = known.get(&definition.name);
        // Nothing is known of a server that has never listed anything.
        !known.is_empty()
            && now.is_none_or(|now| {
                now != definition && pin::fingerprint(now) != pin::fingerprint(definition)
            })
    }

    /// What a tool's structured results have to fit.
    pub(super) fn output_schema(&self, tool: &ToolName) -> Option<Arc<Value>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }

    /// The table of [`Self::set_tools`].
    pub(super) fn headers(&self) -> Arc<HashMap<ToolName, Vec<ParamHeader>>> {
        Arc::clone(&self.headers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
