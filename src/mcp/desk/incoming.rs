//! Questions that come as requests of a legacy server: each is answered once (J10), and may be
//! withdrawn (G9).

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::domain::CallId;
use crate::jsonrpc::Id;

/// Requests of one server that wait for an answer at a time; more are cancelled at once (I9).
const INCOMING: usize = 32;

/// A request that is not answered yet.
#[derive(Debug)]
pub(in crate::mcp) struct Incoming {
    call: Option<CallId>,
    stop: oneshot::Sender<Stop>,
}

/// Why a request of the server needs no person any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum Stop {
    /// The server withdrew it: nothing is to be answered.
    Withdrawn,
    /// Another connection takes the place of the one it came on.
    ConnectionOver,
    /// The call it belongs to was cancelled.
    CallOver,
}

impl Stop {
    /// How a face is told.
    pub(in crate::mcp) fn words(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn by the server",
            Self::ConnectionOver => "the connection ended",
            Self::CallOver => "cancelled",
        }
    }
}

/// What becomes of a request of the server.
#[derive(Debug)]
pub(in crate::mcp) enum Admission {
    /// It is to be put to the user, for the sake of this call as far as is known.
    Welcome(Option<CallId>, oneshot::Receiver<Stop>),
    /// The same request is already open (J10).
    Repeated,
    /// There are too many.
    Full,
}

impl Desk {
    /// Takes in a request. Where the stream it came on says nothing about a call, it belongs to the
    /// only one that is on its way. Ids count within the connection (`link`) they came on.
    pub(in crate::mcp) fn admit(&self, link: u64, id: &Id, call: Option<CallId>) -> Admission {
        let mut table = self.table();
        let key = (link, id.as_value().to_string());
        if table.incoming.contains_key(&key) {
            return Admission::Repeated;
        }
        if table.incoming.len() >= INCOMING {
            return Admission::Full;
        }
        let only = table.calls.first().filter(|_| table.calls.len() == 1).copied();
        let call = call.or(only);
        let (stop, stopped) = oneshot::channel();
        table.incoming.insert(key, Incoming { call, stop });
        Admission::Welcome(call, stopped)
    }

    /// The request has been answered.
    pub(in crate::mcp) fn dismiss(&self, link: u64, id: &Id) {
        self.table().incoming.remove(&(link, id.as_value().to_string()));
    }

    /// G9: the server does not want an answer any more. An unknown id is passed over.
    pub(in crate::mcp) fn withdraw(&self, link: u64, id: &serde_json::Value) {
        let found = self.table().incoming.remove(&(link, id.to_string()));
        if let Some(incoming) = found {
            incoming.end(Stop::Withdrawn);
        }
    }

    /// A connection is over, and with it all requests that came on it.
    pub(in crate::mcp) fn withdraw_all(&self, link: u64) {
        let mut table = self.table();
        let all: Vec<_> = table.incoming.extract_if(|(on, _), _| *on == link).collect();
        drop(table);
        for (_, incoming) in all {
            incoming.end(Stop::ConnectionOver);
        }
    }

    /// A call begins; it is on its way until what is returned is dropped.
    pub(in crate::mcp) fn calling(&self, call: CallId) -> Calling<'_> {
        self.table().calls.insert(call);
        Calling { desk: self, call }
    }

    /// A call was cancelled: so are the questions that belong to it.
    pub(in crate::mcp) fn cancel_for(&self, call: CallId) {
        let mut table = self.table();
        let of_call = |incoming: &Incoming| incoming.call == Some(call);
        let ended: Vec<_> = table.incoming.extract_if(|_, incoming| of_call(incoming)).collect();
        drop(table);
        for (_, incoming) in ended {
            incoming.end(Stop::CallOver);
        }
    }

    /// Something that ends when the server says that this page is done with (I8).
    pub(in crate::mcp) fn page(&self, name: &str) -> CancellationToken {
        let mut table = self.table();
        table.pages.retain(|_, done| !done.is_cancelled());
        table.pages.entry(name.to_owned()).or_default().clone()
    }

    /// The server says that a page is done with. An unknown one is passed over.
    pub(in crate::mcp) fn page_done(&self, name: &str) {
        if let Some(done) = self.table().pages.remove(name) {
            done.cancel();
        }
    }

    /// Nobody waits for this page any more.
    pub(in crate::mcp) fn forget_page(&self, name: &str) {
        self.table().pages.remove(name);
    }
}

impl Incoming {
    fn end(self, why: Stop) {
        if self.stop.send(why).is_err() {
            tracing::debug!("the question had just been answered");
        }
    }
}

/// A call on its way.
#[derive(Debug)]
pub(in crate::mcp) struct Calling<'a> {
    desk: &'a Desk,
    call: CallId,
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.desk.table().calls.remove(&self.call);
    }
}
