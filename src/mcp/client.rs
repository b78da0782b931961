//! One actor per server: HTTP, MCP session, requests in flight.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Command, ServerEvent, ServerSpec};

/// Runs a server's client until [`Command::Shutdown`], the end of `commands`, or `cancel`.
/// Connects at once; after a failure reconnects with backoff and on [`Command::Connect`].
pub async fn run(
    spec: ServerSpec,
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<ServerEvent>,
    cancel: CancellationToken,
) {
    let _ = (spec, commands, events);
    cancel.cancelled().await;
}
