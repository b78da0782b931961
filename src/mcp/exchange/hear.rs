//! What comes beside the answer: progress, log messages, change notices, requests of the server.

use serde_json::{Map, Value, json};

use super::{Dialect, Peer, Question, Topic, Upcall};
use crate::domain::{Answering, CallId, ElicitationReply, Era};
use crate::jsonrpc::{self, ErrorObject, Id, Message, code};
use crate::mcp::ServerEventKind;
use crate::mcp::cache::Stale;
use crate::mcp::desk::Admission;
use crate::mcp::model::{cut, question};

/// Longest log line or progress message that is passed on, in bytes.
const NOTE_LIMIT: usize = 2000;

/// Where a message of a subscription says whose it is.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// What a subscription to changes of the tools is called.
const TOOLS: &str = "toolsListChanged";

/// Who listens: one request of ours with its call, or the standing stream.
#[derive(Debug)]
pub(in crate::mcp) struct Hearing {
    /// The request whose answer is awaited; 0 (never given) on the standing stream.
    pub(super) id: u64,
    pub(super) call: Option<CallId>,
    pub(super) dialect: Dialect,
    /// What a subscription was opened with; it begins with an acknowledgement (U2).
    wanted: Option<Map<String, Value>>,
    acknowledged: bool,
}

/// The answer to the awaited request.
pub(super) type Body = Result<Value, ErrorObject>;

impl Hearing {
    pub(in crate::mcp) fn new(id: u64, call: Option<CallId>, dialect: Dialect) -> Self {
        Self { id, call, dialect, wanted: None, acknowledged: false }
    }

    /// Listens to a subscription that was opened with this request for these changes.
    pub(in crate::mcp) fn to_changes(
        id: u64,
        dialect: Dialect,
        wanted: Map<String, Value>,
    ) -> Self {
        Self { wanted: Some(wanted), ..Self::new(id, None, dialect) }
    }

    /// J1. Before there is an agreement, an odd answer is no breach: it may be no MCP server at all.
    pub(super) async fn of_version(&self, peer: &Peer, versioned: bool) {
        if !versioned && self.dialect.link > 0 {
            peer.remark("sends messages without “jsonrpc”: “2.0”", "").await;
        }
    }

    /// Takes one message; `Some` is the awaited answer, or why there will be none.
    pub(super) async fn take(
        &mut self,
        peer: &Peer,
        message: Message,
    ) -> Option<Result<Body, String>> {
        match message {
            Message::Response { id, body } => return self.response(peer, &id, body).await.map(Ok),
            Message::Invalid { id, reason } if jsonrpc::answers(&id, self.id) => {
                return Some(Err(reason));
            }
            Message::Invalid { reason, .. } => {
                peer.remark("sends messages that are none", &reason).await;
            }
            Message::Notification { method, params } => {
                if self.ends_subscription(&method, &params) {
                    return Some(Err("the server ended the subscription".to_owned()));
                }
                self.subscribed(peer, &method, &params).await;
                self.notice(peer, &method, params).await;
            }
            Message::Request { id, method, params } => {
                self.request(peer, id, &method, &params).await;
            }
        }
        None
    }

    /// T14: an answer to another request goes where it is waited for; H15: an error without an id is
    /// ours.
    async fn response(&self, peer: &Peer, id: &Value, body: Body) -> Option<Body> {
        if self.id != 0 && jsonrpc::answers(id, self.id) {
            if id.is_string() {
                peer.remark("gives ids back as text where they were numbers", "").await;
            }
            return Some(body);
        }
        if self.id != 0 && id.is_null() && body.is_err() {
            return Some(body);
        }
        peer.deliver(id, body);
        None
    }

    /// U4: a server may also end a subscription by a notice that names its request.
    fn ends_subscription(&self, method: &str, params: &Value) -> bool {
        self.wanted.is_some()
            && method == "notifications/cancelled"
            && params.get("requestId").is_some_and(|id| jsonrpc::answers(id, self.id))
    }

    /// U2, U3: what a subscription says first, and whose its messages are. The stream itself tells
    /// that; what else is said of it is only checked.
    async fn subscribed(&mut self, peer: &Peer, method: &str, params: &Value) {
        let Some(wanted) = &self.wanted else { return };
        let of = params.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION));
        if of.is_some_and(|id| !jsonrpc::answers(id, self.id)) {
            peer.remark("names another subscription than the one it speaks on", method).await;
        }
        if method == "notifications/subscriptions/acknowledged" {
            self.acknowledged = true;
            let accepted = params.get("notifications").and_then(Value::as_object);
            let missing: Vec<&str> = wanted
                .keys()
                .filter(|key| accepted.is_some_and(|all| !all.get(*key).is_some_and(is_granted)))
                .map(String::as_str)
                .collect();
            if !missing.is_empty() {
                tracing::debug!(server = %peer.server, ?missing, "not told of");
            }
            let tools = wanted.contains_key(TOOLS) && !missing.contains(&TOOLS);
            peer.up(Upcall::Subscribed(self.dialect.link, tools)).await;
        } else if !self.acknowledged {
            peer.remark("sends news on a subscription before it acknowledges it", method).await;
        }
    }

    async fn notice(&mut self, peer: &Peer, method: &str, params: Value) {
        match method {
            "notifications/progress" => progressed(peer, &params).await,
            "notifications/message" => self.logged(peer, &params).await,
            "notifications/tools/list_changed" => {
                peer.announce();
                peer.up(Upcall::Announced(Topic::Tools)).await;
            }
            // C4: stale at once, whatever else is done about it.
            "notifications/prompts/list_changed" => {
                peer.cache().forget(Stale::Prompts);
                peer.up(Upcall::Announced(Topic::Prompts)).await;
            }
            "notifications/resources/list_changed" => {
                peer.cache().forget(Stale::Resources);
                peer.up(Upcall::Announced(Topic::Resources)).await;
            }
            "notifications/resources/updated" => {
                peer.cache().forget(Stale::Contents);
                let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
                peer.up(Upcall::Announced(Topic::Contents(cut(uri, NOTE_LIMIT).to_owned()))).await;
            }
            "notifications/tasks" if self.dialect.era == Era::Modern => peer.pushed.tell(params),
            // G9
            "notifications/cancelled" if self.dialect.era == Era::Legacy => {
                let id = params.get("requestId").unwrap_or(&Value::Null);
                peer.desk.withdraw(self.dialect.link, id);
            }
            "notifications/elicitation/complete" if self.dialect.era == Era::Legacy => {
                let name = params.get("elicitationId").and_then(Value::as_str);
                peer.desk.page_done(name.unwrap_or_default());
            }
            // J6: whatever else there is, nobody is waiting for it.
            _ => tracing::debug!(server = %peer.server, method, "notification passed over"),
        }
    }

    async fn logged(&mut self, peer: &Peer, params: &Value) {
        let text = match params.get("data") {
            Some(Value::String(text)) => cut(text, NOTE_LIMIT).to_owned(),
            Some(data) => cut(&data.to_string(), NOTE_LIMIT).to_owned(),
            None => return,
        };
        if let Some((call, progress)) = peer.live.note(self.id, &text) {
            peer.tell(ServerEventKind::Progress { call, progress }).await;
        } else {
            let level = params.get("level").and_then(Value::as_str).unwrap_or("info");
            let level = cut(level, 40).to_owned();
            peer.tell(ServerEventKind::Log { level, text }).await;
        }
    }

    /// G6–G8: every request of a legacy server is answered, in a post of its own. T1: a modern one
    /// may not ask.
    async fn request(&self, peer: &Peer, id: Id, method: &str, params: &Value) {
        if self.dialect.era == Era::Modern {
            let breach = "sends requests on a stream where it may not; they cannot be answered";
            peer.remark(breach, method).await;
            return;
        }
        let refuse = |why| jsonrpc::error(&id, code::METHOD_NOT_FOUND, why);
        let answer = match method {
            "ping" => jsonrpc::result(&id, &json!({})),
            "roots/list" => refuse("Roots not supported"),
            "sampling/createMessage" => refuse("Sampling not supported"),
            "elicitation/create" => return self.asked(peer, id, params).await,
            _ => refuse("Method not found"),
        };
        peer.up(Upcall::Post(answer, self.dialect.clone())).await;
    }

    /// A question to the user. It is noted here, so that a repeat or a withdrawal that comes right
    /// behind it finds it; the actor sees to the rest.
    async fn asked(&self, peer: &Peer, id: Id, params: &Value) {
        let version = self.dialect.version.as_deref().unwrap_or_default();
        let answering = match question::declared(peer.desk.answering, version) {
            Some(_) => peer.desk.answering,
            None => Answering::Nobody,
        };
        let upcall = match question::read(params, answering) {
            Err(error) => {
                let answer = jsonrpc::error(&id, error.code, &error.message);
                Upcall::Post(answer, self.dialect.clone())
            }
            Ok(asked) => match peer.desk.admit(self.dialect.link, &id, self.call) {
                Admission::Welcome(call, stopped) => {
                    let dialect = self.dialect.clone();
                    Upcall::Asked(Box::new(Question { id, asked, call, stopped, dialect }))
                }
                Admission::Repeated => return,
                Admission::Full => {
                    peer.remark("asks the user more at once than can be put", "").await;
                    let answer = question::answer(&ElicitationReply::Cancel);
                    Upcall::Post(jsonrpc::result(&id, &answer), self.dialect.clone())
                }
            },
        };
        peer.up(upcall).await;
    }
}

/// Progress of a call, on whichever stream it comes. An unknown token is passed over.
async fn progressed(peer: &Peer, params: &Value) {
    let note = params.get("message").and_then(Value::as_str).map(|note| cut(note, NOTE_LIMIT));
    let Some(reported) = peer.live.report(params, note) else { return };
    if reported.went_back {
        peer.remark("reports progress that goes back", "").await;
    }
    let (call, progress) = (reported.call, reported.progress);
    peer.tell(ServerEventKind::Progress { call, progress }).await;
}

/// Whether what was asked for is granted: not `false`, and not an empty list.
fn is_granted(value: &Value) -> bool {
    match value {
        Value::Bool(granted) => *granted,
        Value::Array(granted) => !granted.is_empty(),
        Value::Null => false,
        _ => true,
    }
}
