//! Questions of one server to the user: which are open, which wait in line, and for whose sake.
//!
//! At most [`OPEN`] of one server are open at a time, the others wait (I9). Every question that was
//! shown is told to be closed again, whatever ends it. While a question is open or waits, a person
//! is what is waited for: neither the silence of the server nor the time of the call it belongs to
//! is counted. Where it is not known to which call it belongs, that holds for all of them.

mod clock;
mod incoming;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Map;
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::model::question::Asked;
use super::{ServerEventKind, ServerSpec};
use crate::domain::{
    Answering, CallId, Elicitation, ElicitationId, ElicitationKind, ElicitationReply, ServerName,
};
use crate::schema::form::asked;

pub(super) use clock::after;
pub(super) use incoming::{Admission, Incoming, Stop};

/// Questions of one server that are open at a time.
pub(super) const OPEN: usize = 3;

/// What is open at one server.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) answering: Answering,
    server: ServerName,
    host: String,
    room: Semaphore,
    table: Mutex<Table>,
    /// Changes with every question that comes or goes.
    changes: watch::Sender<()>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Table {
    /// Open and waiting ones, with the call each belongs to.
    asking: BTreeMap<ElicitationId, Option<CallId>>,
    /// Open ones.
    open: HashMap<ElicitationId, (Arc<Elicitation>, oneshot::Sender<ElicitationReply>)>,
    /// What the runtime has to be told.
    news: VecDeque<ServerEventKind>,
    /// Requests of a legacy server that are not answered yet, by connection and id.
    incoming: HashMap<(u64, String), Incoming>,
    /// Pages that a legacy server will tell the end of.
    pages: HashMap<String, CancellationToken>,
    /// Calls on their way.
    calls: BTreeSet<CallId>,
}

impl Desk {
    pub(super) fn new(spec: &ServerSpec) -> Self {
        let host = spec.url.host_str().unwrap_or_default();
        let host = match spec.url.port_or_known_default() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Self {
            answering: spec.answering,
            server: spec.name.clone(),
            host,
            room: Semaphore::new(OPEN),
            table: Mutex::default(),
            changes: watch::Sender::new(()),
            news: Notify::new(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question to the user and waits for the answer, or until `stop` says that none is
    /// wanted any more, and why.
    pub(super) async fn ask<T>(
        &self,
        asked: Asked,
        call: Option<CallId>,
        stop: impl Future<Output = (T, &'static str)>,
    ) -> Result<ElicitationReply, T> {
        let mut asking = Asking::new(self, call);
        let answered = async {
            let room = self.room.acquire().await;
            let reply = asking.show(asked, call).await;
            drop(room);
            reply.unwrap_or(ElicitationReply::Cancel)
        };
        let ended = tokio::select! {
            biased;
            reply = answered => Ok(reply),
            stopped = stop => Err(stopped),
        };
        match ended {
            Ok(reply) => {
                asking.why = "answered";
                Ok(reply)
            }
            Err((what, why)) => {
                asking.why = why;
                Err(what)
            }
        }
    }

    /// The user's answer. A stale id is passed over.
    pub(super) fn reply(&self, id: ElicitationId, reply: ElicitationReply) {
        let Some((elicitation, sender)) = self.table().open.remove(&id) else { return };
        if sender.send(settled(&elicitation.kind, reply)).is_err() {
            tracing::debug!(server = %self.server, %id, "the question was withdrawn meanwhile");
        }
    }

    /// Waits until there is something to tell the runtime.
    pub(super) async fn news(&self) {
        loop {
            let told = self.news.notified();
            if !self.table().news.is_empty() {
                return;
            }
            told.await;
        }
    }

    /// The next thing to tell.
    pub(super) fn take_news(&self) -> Option<ServerEventKind> {
        self.table().news.pop_front()
    }

    fn changed(&self) {
        self.changes.send_replace(());
        self.news.notify_one();
    }
}

/// What is sent for an answer: what was agreed to without touching any field has the defaults (I3),
/// what was left out stays out, and nothing goes out that does not fit the form (I4): faces check
/// before, so that this is a cancel here.
fn settled(kind: &ElicitationKind, reply: ElicitationReply) -> ElicitationReply {
    let ElicitationReply::Accept(content) = reply else { return reply };
    match kind {
        ElicitationKind::Url { .. } => ElicitationReply::Accept(None),
        ElicitationKind::Form { fault: Some(_), .. } => ElicitationReply::Decline,
        ElicitationKind::Form { fields, .. } => {
            let settled = match content {
                Some(content) => asked::exactly(fields, &content),
                None => asked::answer(fields, &Map::new()),
            };
            match settled {
                Ok(content) => ElicitationReply::Accept(Some(Arc::new(content))),
                Err(faults) => {
                    tracing::warn!(?faults, "an answer does not fit its form");
                    ElicitationReply::Cancel
                }
            }
        }
    }
}

/// A question from its coming to its end.
struct Asking<'a> {
    desk: &'a Desk,
    id: ElicitationId,
    /// Told when it is over.
    why: &'static str,
}

impl<'a> Asking<'a> {
    fn new(desk: &'a Desk, call: Option<CallId>) -> Self {
        /// One row of numbers for all servers.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = ElicitationId(NEXT.fetch_add(1, Ordering::Relaxed));
        desk.table().asking.insert(id, call);
        desk.changed();
        Self { desk, id, why: "cancelled" }
    }

    fn show(&self, asked: Asked, call: Option<CallId>) -> oneshot::Receiver<ElicitationReply> {
        let (sender, reply) = oneshot::channel();
        let elicitation = Arc::new(Elicitation {
            id: self.id,
            server: self.desk.server.clone(),
            host: self.desk.host.clone(),
            call,
            message: asked.message,
            kind: asked.kind,
        });
        let mut table = self.desk.table();
        table.news.push_back(ServerEventKind::Elicit(Arc::clone(&elicitation)));
        table.open.insert(self.id, (elicitation, sender));
        drop(table);
        self.desk.changed();
        reply
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut table = self.desk.table();
        table.asking.remove(&self.id);
        table.open.remove(&self.id);
        let untold =
            |kind: &ServerEventKind| matches!(kind, ServerEventKind::Elicit(e) if e.id == self.id);
        let before = table.news.len();
        table.news.retain(|kind| !untold(kind));
        // One that nobody has heard of yet needs no end either.
        if table.news.len() == before {
            let why = self.why.to_owned();
            table.news.push_back(ServerEventKind::ElicitClosed { elicitation: self.id, why });
        }
        drop(table);
        self.desk.changed();
    }
}

#[cfg(test)]
mod tests;
