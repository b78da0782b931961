//! What the actor's jobs share: the peer, the link as it stands, the limits.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Protocol;
use crate::domain::{Answering, Era, ServerConnection, ToolName};
use crate::mcp::exchange::{Ask, Dialect, Peer, Topic, Upcall};
use crate::mcp::headers::ParamHeader;
use crate::mcp::model::tool::Listed;
use crate::mcp::{Limits, ServerEvent, ServerSpec};
use crate::pin;

/// Calls of one server that are on their way at a time; more wait in line (F9).
const CALLS: usize = 64;
/// Resources that are watched at a time; the one read longest ago goes first.
const WATCHED: usize = 64;

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
    /// The calls and inquiries that are on their way in its MCP session.
    pub(super) calls: TaskTracker,
    /// Whether a subscription covers its tools: a change would be told.
    pub(super) told: AtomicBool,
    /// Whether it has shown that it tells no news of tasks (Y7).
    pub(super) silent_on_tasks: AtomicBool,
}

impl Conn {
    /// Whether the server may have something to say outside its answers: a legacy one always
    /// (T6), a modern one where it tells of changes (U1).
    pub(super) fn may_be_listened_to(&self) -> bool {
        self.dialect.era == Era::Legacy || TOLD.iter().any(|(of, what, _)| self.declares(of, what))
    }

    fn declares(&self, of: &str, what: &str) -> bool {
        let declared = self.capabilities.get(of).and_then(|part| part.get(what));
        declared.and_then(Value::as_bool) == Some(true)
    }

    /// Whether it declared that it tells of such changes.
    pub(super) fn tells_of(&self, topic: &Topic) -> bool {
        match topic {
            Topic::Tools => self.declares("tools", "listChanged"),
            Topic::Prompts => self.declares("prompts", "listChanged"),
            Topic::Resources => self.declares("resources", "listChanged"),
            Topic::Contents(_) => self.takes_watchers(),
        }
    }

    /// Whether it tells of changes to single resources, where it is asked to.
    pub(super) fn takes_watchers(&self) -> bool {
        self.declares("resources", "subscribe")
    }

    /// U1: what a subscription asks for: all that is declared, and these resources.
    pub(super) fn wanted(&self, watched: &[String]) -> Map<String, Value> {
        let declared = TOLD.iter().filter(|(of, what, _)| self.declares(of, what));
        declared
            .filter_map(|(_, _, key)| match *key {
                RESOURCES if watched.is_empty() => None,
                RESOURCES => Some((RESOURCES.to_owned(), json!(watched))),
                key => Some((key.to_owned(), json!(true))),
            })
            .collect()
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

/// Single resources in a subscription.
const RESOURCES: &str = "resourceSubscriptions";
/// What a server may declare to tell of, and what that is called in a subscription (U1).
const TOLD: [(&str, &str, &str); 4] = [
    ("tools", "listChanged", "toolsListChanged"),
    ("prompts", "listChanged", "promptsListChanged"),
    ("resources", "listChanged", "resourcesListChanged"),
    ("resources", "subscribe", RESOURCES),
];

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
    /// Room for calls on their way.
    pub(super) room: Semaphore,
    /// Resources whose changes somebody may want to know of, the latest last.
    pub(super) watched: watch::Sender<Vec<String>>,
    /// How many announced changes of the list have been followed up.
    pub(super) covered: watch::Sender<u64>,
    headers: Mutex<Arc<HashMap<ToolName, Vec<ParamHeader>>>>,
    fingerprints: Mutex<HashMap<ToolName, String>>,
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
            room: Semaphore::new(CALLS),
            watched: watch::Sender::default(),
            covered: watch::channel(0).0,
            headers: Mutex::default(),
            fingerprints: Mutex::default(),
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

    /// O4, U5: a resource that was read is watched from now on, where the server takes watchers and
    /// somebody is there to see that it changes: a command that reads and ends has no use for it.
    pub(super) async fn watch(&self, conn: &Conn, uri: &str) {
        if self.peer.desk.answering == Answering::Nobody || !conn.takes_watchers() {
            return;
        }
        let mut dropped = None;
        let new = self.watched.send_if_modified(|all| {
            let new = all.iter().all(|known| known != uri);
            if new {
                dropped = (all.len() >= WATCHED).then(|| all.remove(0));
                all.push(uri.to_owned());
            }
            new
        });
        if new && conn.dialect.era == Era::Legacy {
            if let Some(dropped) = dropped {
                self.tell_watch(conn, "resources/unsubscribe", &dropped).await;
            }
            self.tell_watch(conn, "resources/subscribe", uri).await;
        }
    }

    async fn tell_watch(&self, conn: &Conn, method: &'static str, uri: &str) {
        let ask = self.about_resource(method, uri);
        self.peer.up(Upcall::Ask(Box::new(ask), conn.dialect.clone())).await;
    }

    /// A request of a legacy server's watchers.
    pub(super) fn about_resource(&self, method: &'static str, uri: &str) -> Ask {
        let mut params = Map::new();
        params.insert("uri".to_owned(), json!(uri));
        Ask { silence: self.limits.discovery, ..Ask::new(self.peer.next_id(), method, params) }
    }

    /// Remembers which arguments of which tools travel in headers (X6), and what the tools say of
    /// their structured results (D9).
    pub(super) fn set_tools(&self, tools: &[Listed]) {
        let fingerprints = tools
            .iter()
            .map(|tool| (tool.definition.name.clone(), pin::fingerprint(&tool.definition)));
        let fingerprints = fingerprints.collect();
        *self.fingerprints.lock().unwrap_or_else(PoisonError::into_inner) = fingerprints;
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

    /// Whether the server lists another definition of the tool now than the one with this
    /// fingerprint, or none.
    pub(super) fn differs(&self, tool: &ToolName, decided: &str) -> bool {
        let known = self.fingerprints.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing is known of a server that has never listed anything.
        !known.is_empty() && known.get(tool).is_none_or(|now| now != decided)
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
