//! The runtime behind a command: started, waited for, ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::launch::Launch;
use super::{Exit, Stop, output};
use crate::bridge::{Notice, Op};
use crate::domain::{Catalog, ServerName};
use crate::runtime::{self, Handle};

/// How much longer than one discovery may take is waited for all to settle.
const GRACE: Duration = Duration::from_secs(2);
/// How long the runtime is given to end.
const FAREWELL: Duration = Duration::from_secs(3);

/// A running program without a screen.
#[derive(Debug)]
pub struct Headless {
    handle: Handle,
    /// How things stand.
    pub catalog: Arc<Catalog>,
    discovery: Duration,
}

impl Headless {
    /// Starts the runtime; servers connect in the background. The demo's services, if there are
    /// any, must be served by the caller meanwhile: [`Launch::accompany`] does.
    pub fn start(launch: &Launch) -> Self {
        let handle = runtime::start(launch.setup.clone());
        let catalog = Arc::clone(&handle.catalog);
        Self { handle, catalog, discovery: launch.setup.config.mcp.discovery_timeout }
    }

    /// The next notice; `None` when the runtime has ended. Keeps the catalog up to date.
    pub async fn next(&mut self) -> Option<Notice> {
        let notice = self.handle.notices.recv().await?;
        if let Notice::CatalogChanged { catalog } = &notice {
            self.catalog = Arc::clone(catalog);
        }
        Some(notice)
    }

    /// Waits until discovery of these servers (all, for `None`) has come to an end, or should have.
    pub async fn settle(&mut self, only: Option<&ServerName>) {
        let deadline = Instant::now() + self.discovery + GRACE;
        while !settled(&self.catalog, only) {
            match timeout_at(deadline, self.next()).await {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Sends an operation.
    pub async fn send(&mut self, op: Op) -> Result<(), Stop> {
        let ended = |_| Stop::new(Exit::Failed, "the program's own runtime has ended");
        self.handle.ops.send(op).await.map_err(ended)
    }

    /// Ends everything in order, not waiting longer than a moment.
    pub async fn end(mut self) {
        let farewell = async {
            // A runtime that cannot speak cannot listen: its last notices are taken in.
            let quit = async { drop(self.handle.ops.send(Op::Quit).await) };
            let drain = async { while self.handle.notices.recv().await.is_some() {} };
            tokio::join!(quit, drain);
            self.handle.join().await;
        };
        if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
            output::note("mini-me-tui: not everything ended in time");
        }
    }
}

fn settled(catalog: &Catalog, only: Option<&ServerName>) -> bool {
    let mut waited =
        catalog.servers.iter().filter(|server| only.is_none_or(|name| server.name == *name));
    waited.all(|server| server.state.settled())
}

/// Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler the signal ends the process by itself.
        std::future::pending::<()>().await;
    }
}
