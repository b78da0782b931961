//! The standing stream of a legacy server (T6, T15): what the server says outside any answer.

use std::sync::Arc;

use tokio::time::sleep;

use super::shared::{Conn, Shared};
use crate::mcp::wire::{Cursor, Hearing, RECONNECT, is_stream, listen};

/// Openings in a row that brought nothing before it is given up.
const IN_VAIN: u32 = 4;

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
    loop {
        let opened = shared.wire.open(&conn.dialect, &cursor.id).await;
        conn.listening.cancel();
        cursor.events = 0;
        match opened {
            Ok(response) if is_stream(&response) && response.check_coding().is_ok() => {
                let mut hearing = Hearing::new(0, None, conn.dialect.clone());
                listen(&shared.wire, &mut hearing, response, &mut cursor).await;
            }
            // Any other answer means that there is none: it is not asked for again.
            Ok(response) if response.status() < 500 => return,
            Ok(_) | Err(_) => {}
        }
        in_vain = if cursor.events == 0 { in_vain + 1 } else { 0 };
        if in_vain >= IN_VAIN {
            return;
        }
        // T10, and a server that closes at once is asked ever less often.
        sleep(cursor.wait().max(RECONNECT) * 2_u32.pow(in_vain)).await;
    }
}
