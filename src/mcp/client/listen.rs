//! What the server says outside any answer: the standing stream of a legacy server (T6, T15), the
//! subscription of a modern one (U1–U6). Reopened with growing waits, given up where it brings
//! nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::shared::{Conn, Shared};
use crate::domain::Era;
use crate::mcp::exchange::{Cursor, Hearing, RECONNECT, Upcall, is_stream, listen};
use crate::mcp::fault::Fault;
use crate::mcp::http::Response;

/// Openings in a row that brought nothing before it is given up.
const IN_VAIN: u32 = 4;
/// A stream that lasted this long was worth opening, even if nothing was said.
const LASTED: Duration = Duration::from_secs(10);

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

async fn keep_open(shared: &Shared, conn: &Conn) {
    let mut cursor = Cursor::default();
    let mut in_vain = 0;
    let mut again = false;
    loop {
        let (id, opened) = open(shared, conn, &cursor).await;
        conn.listening.cancel();
        cursor.events = 0;
        let begun = Instant::now();
        match opened {
            Ok(response) if is_stream(&response) && response.check_coding().is_ok() => {
                if std::mem::replace(&mut again, true) && conn.dialect.era == Era::Modern {
                    // U4: anything may have been missed meanwhile.
                    shared.peer.up(Upcall::ToolsChanged).await;
                }
                let mut hearing = Hearing::new(id, None, conn.dialect.clone());
                listen(&shared.peer, &mut hearing, response, &mut cursor).await;
            }
            // Any other answer means that there is none (U6): it is not asked for again.
            Ok(response) if response.status() < 500 => return,
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

/// Opens the stream; the id is that of the request it answers, 0 where it answers none.
async fn open(shared: &Shared, conn: &Conn, cursor: &Cursor) -> (u64, Result<Response, Fault>) {
    match conn.dialect.era {
        Era::Legacy => (0, shared.peer.open(&conn.dialect, &cursor.id).await),
        Era::Modern => {
            let id = shared.peer.next_id();
            (id, shared.peer.subscribe(&conn.dialect, id).await)
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
