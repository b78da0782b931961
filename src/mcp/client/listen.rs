//! What the server says outside any answer: the standing stream of a legacy server (T6, T15), the
//! subscription of a modern one (U1–U6). Reopened with growing waits, given up where it brings
//! nothing.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::shared::{Conn, Shared};
use crate::domain::Era;
use crate::mcp::exchange::{Cursor, Hearing, RECONNECT, Topic, Upcall, is_stream, listen, refused};
use crate::mcp::fault::Fault;
use crate::mcp::http::Response;

/// Openings in a row that brought nothing before it is given up.
const IN_VAIN: u32 = 4;
/// A stream that lasted this long was worth opening, even if nothing was said.
const LASTED: Duration = Duration::from_secs(10);
/// Resources that are asked for within this time of one another make one new subscription.
const GATHER: Duration = Duration::from_millis(200);

/// Keeps the stream open until the connection is over, or the server shows that it has none.
pub(super) async fn run(shared: Arc<Shared>, conn: Arc<Conn>) {
    tokio::select! {
        biased;
        () = conn.over.cancelled() => {}
        () = shared.closing.cancelled() => {}
        () = keep_open(&shared, &conn) => {}
    }
    conn.listening.cancel();
}

/// A stream that was asked for.
struct Opening {
    /// The request it answers; 0 where it answers none.
    id: u64,
    /// What a modern server was asked to tell of.
    wanted: Map<String, Value>,
    opened: Result<Response, Fault>,
}

async fn keep_open(shared: &Shared, conn: &Conn) {
    let mut cursor = Cursor::default();
    let mut in_vain = 0;
    let mut again = false;
    let mut watched = shared.watched.subscribe();
    loop {
        let Opening { id, wanted, opened } = open(shared, conn, &cursor, &mut watched).await;
        conn.listening.cancel();
        cursor.events = 0;
        let begun = Instant::now();
        match opened {
            Ok(response) if is_stream(&response) && response.check_coding().is_ok() => {
                if std::mem::replace(&mut again, true) {
                    missed(shared, conn).await;
                }
                if conn.dialect.era == Era::Legacy {
                    shared.peer.up(Upcall::Subscribed(conn.generation, true)).await;
                }
                hear(shared, conn, (id, wanted, response), &mut cursor, &mut watched).await;
                shared.peer.up(Upcall::Subscribed(conn.generation, false)).await;
            }
            Ok(response) if response.status() < 500 => {
                // Any other answer means that there is none (U6): it is not asked for again. Where
                // there was one before, the server may have forgotten the MCP session.
                let status = response.status();
                if again
                    && let Err(Fault::SessionLost { .. }) =
                        refused::<()>(&conn.dialect, response).await
                {
                    tracing::debug!(server = %shared.peer.server, status, "the standing stream is refused");
                    shared.peer.up(Upcall::Forgotten(conn.generation)).await;
                }
                return;
            }
            Err(Fault::NotSent { stage, reason, retry: true }) if again => {
                shared.peer.up(Upcall::Unreachable(conn.generation, stage, reason)).await;
                return;
            }
            Ok(_) | Err(_) => {}
        }
        let brought = cursor.events > greetings(conn.dialect.era) || begun.elapsed() >= LASTED;
        in_vain = if brought { 0 } else { in_vain + 1 };
        if in_vain >= IN_VAIN {
            return;
        }
        // T10, and a server that closes at once is asked ever less often.
        sleep(cursor.wait().max(RECONNECT) * 2_u32.pow(in_vain)).await;
    }
}

/// U4: anything may have been missed meanwhile. A legacy stream goes on where it was broken off.
async fn missed(shared: &Shared, conn: &Conn) {
    if conn.dialect.era == Era::Legacy {
        return;
    }
    shared.peer.cache().clear();
    shared.peer.up(Upcall::ToolsChanged).await;
    for topic in [Topic::Prompts, Topic::Resources] {
        if conn.tells_of(&topic) {
            shared.peer.up(Upcall::Announced(topic)).await;
        }
    }
}

/// Opens the stream. Where a modern server has nothing to tell of yet, waits until there is.
async fn open(
    shared: &Shared,
    conn: &Conn,
    cursor: &Cursor,
    watched: &mut watch::Receiver<Vec<String>>,
) -> Opening {
    if conn.dialect.era == Era::Legacy {
        let opened = shared.peer.open(&conn.dialect, &cursor.id).await;
        return Opening { id: 0, wanted: Map::new(), opened };
    }
    let wanted = loop {
        let wanted = conn.wanted(&watched.borrow_and_update());
        if !wanted.is_empty() {
            break wanted;
        }
        next(watched).await;
    };
    subscribe(shared, conn, wanted).await
}

async fn subscribe(shared: &Shared, conn: &Conn, wanted: Map<String, Value>) -> Opening {
    let id = shared.peer.next_id();
    let opened = shared.peer.subscribe(&conn.dialect, id, &wanted).await;
    Opening { id, wanted, opened }
}

/// Waits until other resources are watched, and a moment longer for more of them.
async fn next(watched: &mut watch::Receiver<Vec<String>>) {
    if watched.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    sleep(GATHER).await;
}

/// Listens until the stream ends. U5: where other resources are watched, a new one with all of them
/// is opened first, and then the old one closed.
async fn hear(
    shared: &Shared,
    conn: &Conn,
    first: (u64, Map<String, Value>, Response),
    cursor: &mut Cursor,
    watched: &mut watch::Receiver<Vec<String>>,
) {
    let mut now = first;
    loop {
        let (id, wanted, response) = now;
        let mut hearing = match conn.dialect.era {
            Era::Legacy => Hearing::new(0, None, conn.dialect.clone()),
            Era::Modern => Hearing::to_changes(id, conn.dialect.clone(), wanted.clone()),
        };
        let mut listening = pin!(listen(&shared.peer, &mut hearing, response, cursor));
        now = tokio::select! {
            biased;
            () = &mut listening => return,
            another = replaced(shared, conn, &wanted, watched), if conn.dialect.era == Era::Modern => another,
        };
    }
}

/// A subscription that takes the place of one that asks for less or other things.
async fn replaced(
    shared: &Shared,
    conn: &Conn,
    old: &Map<String, Value>,
    watched: &mut watch::Receiver<Vec<String>>,
) -> (u64, Map<String, Value>, Response) {
    loop {
        next(watched).await;
        let wanted = conn.wanted(&watched.borrow_and_update());
        if wanted == *old {
            continue;
        }
        let Opening { id, wanted, opened } = subscribe(shared, conn, wanted).await;
        match opened {
            Ok(response) if is_stream(&response) => return (id, wanted, response),
            // The old one goes on.
            Ok(_) | Err(_) => {}
        }
    }
}

/// Events that come in any case: a modern stream begins with an acknowledgement (U2).
fn greetings(era: Era) -> usize {
    match era {
        Era::Legacy => 0,
        Era::Modern => 1,
    }
}
