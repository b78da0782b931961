//! Exchanges with one server: sends one JSON-RPC request and reads on until its answer is there,
//! in whichever form the server chose (H6). Everything else that comes on the way is heard here too:
//! progress, log messages, change notices, requests of the server.

mod answer;
mod hear;
mod stream;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::cache::Cache;
use super::desk::{Desk, Stop};
use super::fault::Fault;
use super::http::{Http, Response, Verb};
use super::live::{Live, Push};
use super::model::question::Asked;
use super::{ServerEvent, ServerEventKind, ServerSpec, headers, model};
use crate::domain::exchange::About;
use crate::domain::{CallId, Era, ServerName, Stage, Warning};
use crate::jsonrpc::{self, Id};

pub(super) use answer::refused;
use hear::Body;
pub(super) use hear::Hearing;
pub(super) use stream::{Cursor, RECONNECT, is_stream, listen};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Longest detail of a conformance warning, in bytes.
const DETAIL_LIMIT: usize = 400;

/// Room for what streams tell the actor; a stream waits when it is full.
pub(super) const UPCALLS: usize = 64;

/// What a stream tells the actor.
#[derive(Debug)]
pub(super) enum Upcall {
    /// The list of tools may have changed.
    ToolsChanged,
    /// The server says that something it offers has changed.
    Announced(Topic),
    /// The server of that generation cannot be reached any more: where that was seen, and why.
    Unreachable(u64, Stage, String),
    /// A server of that generation that had a standing stream says that it has forgotten the MCP
    /// session.
    Forgotten(u64),
    /// A subscription of that generation was acknowledged: whether it covers the tools (U2).
    Subscribed(u64, bool),
    /// This message has to be posted beside everything else.
    Post(Value, Dialect),
    /// This has to be asked beside everything else; nobody waits for the answer.
    Ask(Box<Ask>, Dialect),
    /// A legacy server asks the user something.
    Asked(Box<Question>),
    /// The answer has been read; what is left of its stream is to be read off, for a moment.
    ReadOff(Box<Response>),
    /// The MCP session of that generation is gone.
    SessionLost(u64),
    /// The credential that served for the connection of that generation does no more; why.
    Unauthorized(u64, String),
    /// The endpoint of that generation is gone or speaks another era now.
    Gone(u64),
}

/// What a server tells changes of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// What this resource holds.
    Contents(String),
}

/// A request of a legacy server that somebody has to be asked about.
#[derive(Debug)]
pub(super) struct Question {
    /// What the answer has to carry.
    pub(super) id: Id,
    pub(super) asked: Asked,
    /// The call it belongs to, as far as is known.
    pub(super) call: Option<CallId>,
    /// Says when no answer is wanted any more.
    pub(super) stopped: oneshot::Receiver<Stop>,
    /// How the answer has to be dressed.
    pub(super) dialect: Dialect,
}

/// How messages have to be dressed for the server as it is known now.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    /// The family.
    pub(super) era: Era,
    /// The version, once it is agreed (legacy) or tried (modern).
    pub(super) version: Option<String>,
    /// The MCP session (G4). Never shown.
    pub(super) session: Option<HeaderValue>,
    /// The generation of the connection; 0 before there is one. Ids of the server's requests mean
    /// something within it alone (J10).
    pub(super) link: u64,
}

impl Dialect {
    /// Before anything is agreed with a legacy server.
    pub(super) fn opening() -> Self {
        Self { era: Era::Legacy, version: None, session: None, link: 0 }
    }

    /// A modern server, spoken to with this version.
    pub(super) fn modern(version: &str) -> Self {
        Self { era: Era::Modern, version: Some(version.to_owned()), session: None, link: 0 }
    }

    fn headers(&self, method: &str, name: Option<&str>) -> Result<HeaderMap, Fault> {
        let mut all = HeaderMap::new();
        if let Some(version) = &self.version {
            all.insert(VERSION, value(version)?);
        }
        match self.era {
            Era::Modern if !method.is_empty() => {
                all.insert(METHOD, value(method)?);
                if let Some(name) = name {
                    all.insert(NAME, value(&headers::encode(name))?);
                }
            }
            Era::Modern => {}
            Era::Legacy => {
                if let Some(session) = &self.session {
                    all.insert(SESSION, session.clone());
                }
            }
        }
        Ok(all)
    }
}

fn value(text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_invalid| Fault::NotSent {
        stage: Stage::Http,
        reason: "A value has characters that no header may have.".to_owned(),
        retry: false,
    })
}

/// One request to be made.
#[derive(Debug)]
pub(super) struct Ask {
    /// Its id, from [`Peer::next_id`].
    pub(super) id: u64,
    /// Its method.
    pub(super) method: &'static str,
    /// Its parameters, without `_meta` of the era.
    pub(super) params: Map<String, Value>,
    /// What `Mcp-Name` says, where the method has one.
    pub(super) name: Option<String>,
    /// Arguments that travel in headers too.
    pub(super) mirrored: Vec<(String, String)>,
    /// The call it is made for.
    pub(super) call: Option<CallId>,
    /// Silence that is put up with; any byte of the answer starts it anew, a comment too (S11).
    pub(super) silence: Duration,
}

impl Ask {
    /// A request of its own, without a name and without patience for silence.
    pub(super) fn new(id: u64, method: &'static str, params: Map<String, Value>) -> Self {
        let silence = Duration::ZERO;
        Self { id, method, params, name: None, mirrored: Vec::new(), call: None, silence }
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answered {
    /// The result, whatever it is.
    pub(super) result: Value,
    /// The session that came with it.
    pub(super) session: Option<HeaderValue>,
    /// Time until the head of the response was there.
    pub(super) head: Duration,
}

/// The server as it is spoken to.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) server: ServerName,
    pub(super) http: Http,
    pub(super) desk: Desk,
    ids: AtomicU64,
    /// Requests whose answer may come on any stream (T14).
    elsewhere: Mutex<HashMap<u64, oneshot::Sender<Body>>>,
    events: mpsc::Sender<ServerEvent>,
    upcalls: mpsc::Sender<Upcall>,
    remarked: Mutex<HashSet<&'static str>>,
    cache: Mutex<Cache>,
    /// Calls on their way, by the token of their progress.
    pub(super) live: Live,
    /// Tasks that are followed, for news of them (Y7).
    pub(super) pushed: Push,
    /// Changes to the list of tools that the server has announced.
    announced: AtomicU64,
}

impl Peer {
    pub(super) fn new(
        spec: &ServerSpec,
        events: mpsc::Sender<ServerEvent>,
        upcalls: mpsc::Sender<Upcall>,
    ) -> Self {
        Self {
            server: spec.name.clone(),
            http: Http::new(spec),
            desk: Desk::new(spec),
            ids: AtomicU64::new(1),
            elsewhere: Mutex::default(),
            events,
            upcalls,
            remarked: Mutex::new(HashSet::new()),
            cache: Mutex::default(),
            live: Live::default(),
            pushed: Push::default(),
            announced: AtomicU64::new(0),
        }
    }

    /// Answers that are still fresh.
    pub(super) fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server says that its tools have changed. It counts from this moment on, whenever the actor
    /// gets to it.
    pub(super) fn announce(&self) {
        self.announced.fetch_add(1, Ordering::SeqCst);
    }

    /// How often it has said so.
    pub(super) fn announced(&self) -> u64 {
        self.announced.load(Ordering::SeqCst)
    }

    /// J2: ever rising, for the life of the client.
    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request once and waits for its answer.
    pub(super) async fn ask(&self, dialect: &Dialect, ask: Ask) -> Result<Answered, Fault> {
        // T14. Before a version is agreed there is no other stream.
        let elsewhere = dialect.era == Era::Legacy && dialect.version.is_some();
        let answered = if elsewhere {
            let begun = Instant::now();
            let (_expected, answer) = self.expect(ask.id);
            tokio::select! {
                biased;
                answered = self.exchange(dialect, ask) => answered,
                Ok(body) = answer => match body {
                    Ok(result) => Ok(Answered { result, session: None, head: begun.elapsed() }),
                    Err(error) => Err(Fault::Rpc { status: 200, error }),
                },
            }
        } else {
            self.exchange(dialect, ask).await
        };
        answered.map_err(|fault| fault.cleaned(|text| self.http.scrub(text)))
    }

    /// Expects the answer to a request from any stream until what is returned is dropped.
    fn expect(&self, id: u64) -> (Expected<'_>, oneshot::Receiver<Body>) {
        let (sender, answer) = oneshot::channel();
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        (Expected { peer: self, id }, answer)
    }

    /// Hands an answer that came on another stream to whoever waits for it; J5: nobody may.
    fn deliver(&self, id: &Value, body: Body) {
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = elsewhere.keys().copied().find(|ours| jsonrpc::answers(id, *ours));
        if ours.and_then(|ours| elsewhere.remove(&ours)).is_none_or(|to| to.send(body).is_err()) {
            tracing::debug!(server = %self.server, %id, "nobody waits for this answer");
        }
    }

    async fn exchange(&self, dialect: &Dialect, ask: Ask) -> Result<Answered, Fault> {
        let (body, headers) = self.dress(dialect, &ask)?;
        let _live = ask.call.map(|call| self.live.begin(ask.id, call));
        let mut withdrawal = Withdrawal::of(self, dialect, &ask);
        let begun = Instant::now();
        let verb = Verb::Post(body);
        let about =
            About { method: ask.method.to_owned(), subject: ask.name.clone(), call: ask.call };
        let sending = self.http.send_for(about, &verb, &headers);
        let sent = self.desk.patiently(ask.call, begun, ask.silence, sending).await;
        let Some(sent) = sent else { return Err(Fault::Silent(ask.silence)) };
        let response = withdrawal.unless_lost(sent)?;
        let head = begun.elapsed();
        self.tell(ServerEventKind::Latency(head)).await;
        let session = response.header(SESSION.as_str()).cloned();
        let mut hearing = Hearing::new(ask.id, ask.call, dialect.clone());
        let read = answer::read(self, &mut hearing, response, ask.silence).await;
        if !matches!(read, Err(Fault::Silent(_))) {
            withdrawal.settled();
        }
        // Before there is an agreement, an odd answer is no breach: it may be no MCP server at all.
        if let (Err(Fault::Odd { reason }), false) =
            (&read, matches!(ask.method, "server/discover" | "initialize"))
        {
            self.remark("answers a request with what is no answer", reason).await;
        }
        Ok(Answered { result: read?, session, head })
    }

    /// Posts a notification or an answer of ours. Any success acknowledges it; its body is not
    /// looked at (H7).
    pub(super) async fn post(&self, dialect: &Dialect, message: &Value) -> Result<(), Fault> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let headers = dialect.headers(method, None)?;
        let verb = Verb::Post(Bytes::from(message.to_string()));
        let about = About::method(if method.is_empty() { "answer" } else { method });
        let response = self.http.send_for(about, &verb, &headers).await?;
        if response.is_success() {
            return Ok(());
        }
        let refused: Result<(), Fault> = answer::refused(dialect, response).await;
        refused.map_err(|fault| fault.cleaned(|text| self.http.scrub(text)))
    }

    /// Opens the standing stream of a legacy server, or resumes one after `last_id`.
    pub(super) async fn open(&self, dialect: &Dialect, last_id: &str) -> Result<Response, Fault> {
        let mut headers = dialect.headers("", None)?;
        if !last_id.is_empty() {
            // S10: an id may be any text; `from_bytes` takes what is not ASCII too.
            headers.insert(LAST_EVENT, value(last_id)?);
        }
        self.http.send(&Verb::Get, &headers).await
    }

    /// Asks a modern server to tell of these changes (U1); the response is a stream that lasts.
    pub(super) async fn subscribe(
        &self,
        dialect: &Dialect,
        id: u64,
        wanted: &Map<String, Value>,
    ) -> Result<Response, Fault> {
        let mut params = Map::new();
        params.insert("notifications".to_owned(), json!(wanted));
        let (body, headers) = self.dress(dialect, &Ask::new(id, "subscriptions/listen", params))?;
        let about = About::method("subscriptions/listen");
        self.http.send_for(about, &Verb::Post(body), &headers).await
    }

    /// Ends the MCP session (G5). Whatever the server says to that is fine.
    pub(super) async fn end_session(&self, dialect: &Dialect) {
        if dialect.session.is_none() {
            return;
        }
        let Ok(headers) = dialect.headers("", None) else { return };
        if let Err(fault) = self.http.send(&Verb::Delete, &headers).await {
            tracing::debug!(server = %self.server, %fault, "the MCP session was not ended");
        }
    }

    /// Reports to the runtime; waits for room.
    pub(super) async fn tell(&self, kind: ServerEventKind) {
        let event = ServerEvent { server: self.server.clone(), kind };
        if self.events.send(event).await.is_err() {
            tracing::debug!(server = %self.server, "nobody listens any more");
        }
    }

    /// Tells the actor; waits for room.
    pub(super) async fn up(&self, upcall: Upcall) {
        if self.upcalls.send(upcall).await.is_err() {
            tracing::debug!(server = %self.server, "the client has ended");
        }
    }

    /// A conformance warning, once for each kind of breach; `detail` says more of this one.
    pub(super) async fn remark(&self, breach: &'static str, detail: &str) {
        if let Some(warning) = self.breach(breach, detail) {
            self.tell(ServerEventKind::Warned(warning)).await;
        }
    }

    /// The warning of [`Self::remark`], where it is the first of its kind.
    pub(super) fn breach(&self, breach: &'static str, detail: &str) -> Option<Warning> {
        let new = self.remarked.lock().unwrap_or_else(PoisonError::into_inner).insert(breach);
        let detail = self.http.scrub(model::cut(detail, DETAIL_LIMIT));
        let detail = if detail.is_empty() { detail } else { format!(" ({detail})") };
        new.then(|| Warning::conformance(&self.server, &format!("{breach}{detail}")))
    }

    /// Body and headers of a request.
    fn dress(&self, dialect: &Dialect, ask: &Ask) -> Result<(Bytes, HeaderMap), Fault> {
        let mut params = ask.params.clone();
        let mut meta = Map::new();
        if let (Era::Modern, Some(version)) = (dialect.era, &dialect.version) {
            meta = model::modern_meta(version, self.desk.answering);
            if ask.call.is_some() {
                model::ask_for_logs(&mut meta);
            }
            // Y4; what is asked about a task declares it too.
            let of_tasks = ask.method.starts_with("tasks/") || names_tasks(&ask.params);
            if ask.method == "tools/call" || of_tasks {
                model::offer_tasks(&mut meta);
            }
        }
        if ask.call.is_some() {
            meta.insert("progressToken".to_owned(), ask.id.into());
        }
        // What the request brings of its own (P3).
        if let Some(Value::Object(own)) = params.remove("_meta") {
            meta.extend(own);
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let message = jsonrpc::request(ask.id, ask.method, &Value::Object(params));
        let mut headers = dialect.headers(ask.method, ask.name.as_deref())?;
        if dialect.era == Era::Modern {
            for (name, text) in &ask.mirrored {
                // X6: the prefix is ours, so that no real header can be shadowed.
                if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                    headers.insert(name, value(text)?);
                }
            }
        }
        Ok((Bytes::from(message.to_string()), headers))
    }
}

/// Whether a subscription asks for news of tasks (Y7).
fn names_tasks(params: &Map<String, Value>) -> bool {
    params.get("notifications").and_then(|wanted| wanted.get("taskIds")).is_some()
}

/// T8: a request of a legacy server that is given up is withdrawn by a notice: closing the
/// connection means nothing there. Calls see to that themselves, and `initialize` must not be
/// withdrawn. A request that was not sent, or whose answer is there or lost, needs none.
struct Withdrawal<'a> {
    peer: &'a Peer,
    id: u64,
    dialect: Option<Dialect>,
}

impl<'a> Withdrawal<'a> {
    fn of(peer: &'a Peer, dialect: &Dialect, ask: &Ask) -> Self {
        let legacy = dialect.era == Era::Legacy && dialect.version.is_some();
        let dialect = (legacy && ask.call.is_none()).then(|| dialect.clone());
        Self { peer, id: ask.id, dialect }
    }

    fn unless_lost<T>(&mut self, sent: Result<T, Fault>) -> Result<T, Fault> {
        if sent.is_err() {
            self.settled();
        }
        sent
    }

    fn settled(&mut self) {
        self.dialect = None;
    }
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let Some(dialect) = self.dialect.take() else { return };
        // Not where the answer came on another stream (T14).
        let elsewhere = self.peer.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if !elsewhere.contains_key(&self.id) {
            return;
        }
        drop(elsewhere);
        let params = json!({ "requestId": self.id, "reason": "not wanted any more" });
        let notice = jsonrpc::notification("notifications/cancelled", &params);
        if self.peer.upcalls.try_send(Upcall::Post(notice, dialect)).is_err() {
            tracing::debug!(server = %self.peer.server, id = self.id, "not withdrawn");
        }
    }
}

/// An answer that is waited for.
struct Expected<'a> {
    peer: &'a Peer,
    id: u64,
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.peer.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
