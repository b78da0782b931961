//! What comes beside the answer: progress, log messages, change notices, requests of the server.

use serde_json::{Value, json};

use super::{Dialect, Peer, Question, Upcall};
use crate::domain::{Answering, CallId, ElicitationReply, Era, Progress};
use crate::jsonrpc::{self, ErrorObject, Id, Message, code};
use crate::mcp::ServerEventKind;
use crate::mcp::cache::Stale;
use crate::mcp::desk::Admission;
use crate::mcp::model::{cut, question};

/// Longest log line or progress message that is passed on, in bytes.
const NOTE_LIMIT: usize = 2000;

/// Who listens: one request of ours with its call, or the standing stream.
#[derive(Debug)]
pub(in crate::mcp) struct Hearing {
    /// The request whose answer is awaited; 0 (never given) on the standing stream.
    pub(super) id: u64,
    pub(super) call: Option<CallId>,
    pub(super) dialect: Dialect,
    progress: Progress,
}

/// The answer to the awaited request.
pub(super) type Body = Result<Value, ErrorObject>;

impl Hearing {
    pub(in crate::mcp) fn new(id: u64, call: Option<CallId>, dialect: Dialect) -> Self {
        Self { id, call, dialect, progress: Progress::default() }
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
            Message::Notification { method, params } => self.notice(peer, &method, &params).await,
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

    async fn notice(&mut self, peer: &Peer, method: &str, params: &Value) {
        match method {
            "notifications/progress" => self.progressed(peer, params).await,
            "notifications/message" => self.logged(peer, params).await,
            "notifications/tools/list_changed" => {
                peer.announce();
                peer.up(Upcall::ToolsAnnounced).await;
            }
            // C4
            "notifications/prompts/list_changed" => peer.cache().forget(Stale::Prompts),
            "notifications/resources/list_changed" => peer.cache().forget(Stale::Resources),
            "notifications/resources/updated" => peer.cache().forget(Stale::Contents),
            // G9
            "notifications/cancelled" if self.dialect.era == Era::Legacy => {
                peer.desk.withdraw(params.get("requestId").unwrap_or(&Value::Null));
            }
            "notifications/elicitation/complete" if self.dialect.era == Era::Legacy => {
                let name = params.get("elicitationId").and_then(Value::as_str);
                peer.desk.page_done(name.unwrap_or_default());
            }
            // J6: whatever else there is, nobody is waiting for it.
            _ => tracing::debug!(server = %peer.server, method, "notification passed over"),
        }
    }

    async fn progressed(&mut self, peer: &Peer, params: &Value) {
        let ours = params.get("progressToken").is_some_and(|t| jsonrpc::answers(t, self.id));
        let Some(call) = self.call.filter(|_| ours) else { return };
        // Values must rise; one that does not is taken for the last.
        let done = params.get("progress").and_then(Value::as_f64).unwrap_or_default();
        if done < self.progress.done {
            peer.remark("reports progress that goes back", "").await;
        }
        self.progress.done = done.max(self.progress.done);
        if let Some(total) = params.get("total").and_then(Value::as_f64) {
            self.progress.total = Some(total);
        }
        if let Some(message) = params.get("message").and_then(Value::as_str) {
            cut(message, NOTE_LIMIT).clone_into(&mut self.progress.note);
        }
        let progress = self.progress.clone();
        peer.tell(ServerEventKind::Progress { call, progress }).await;
    }

    async fn logged(&mut self, peer: &Peer, params: &Value) {
        let text = match params.get("data") {
            Some(Value::String(text)) => cut(text, NOTE_LIMIT).to_owned(),
            Some(data) => cut(&data.to_string(), NOTE_LIMIT).to_owned(),
            None => return,
        };
        if let Some(call) = self.call {
            self.progress.note = text;
            let progress = self.progress.clone();
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
            Ok(asked) => match peer.desk.admit(&id, self.call) {
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
