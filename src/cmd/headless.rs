//! The runtime behind a command: started, waited for, ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::launch::Launch;
use super::{Exit, Stop, output};
use crate::bridge::{Notice, Op};
use crate::domain::{Catalog, ServerName};
use crate::runtime::{self, Handle};
use crate::terminal::signals::{self, Caught, INTERRUPT, Signals};

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
    /// The conversation, where it is kept.
    pub session: Option<String>,
    discovery: Duration,
}

impl Headless {
    /// Starts the runtime; servers connect in the background. The demo's services, if there are
    /// any, must be served by the caller meanwhile: [`Launch::accompany`] does.
    pub fn start(launch: &Launch) -> Self {
        let handle = runtime::start(launch.setup.clone());
        let catalog = Arc::clone(&handle.catalog);
        Self {
            handle,
            catalog,
            session: None,
            discovery: launch.setup.config.mcp.discovery_timeout,
        }
    }

    /// The next notice; `None` when the runtime has ended. Keeps the catalog up to date.
    pub async fn next(&mut self) -> Option<Notice> {
        let notice = self.handle.notices.recv().await?;
        match &notice {
            Notice::CatalogChanged { catalog } => self.catalog = Arc::clone(catalog),
            Notice::SessionStarted { id, path: Some(_) } => self.session = Some(id.clone()),
            _ => {}
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
    pub async fn end(self) {
        let Handle { notices, ops, .. } = self.handle;
        if !runtime::farewell(notices, ops, FAREWELL).await {
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

/// Listens for what ends a command: Ctrl-C, and the signals that ask a program to end. None is
/// missed between two questions.
#[derive(Debug)]
pub struct Stops {
    signals: Signals,
}

impl Stops {
    /// Begins to listen.
    pub fn listen() -> Result<Self, Stop> {
        Ok(Self { signals: Signals::listen()? })
    }

    /// The next one, as the command's end. Cancel-safe.
    pub async fn next(&mut self) -> Exit {
        loop {
            match self.signals.next().await {
                Caught::End(INTERRUPT) => return Exit::Interrupted,
                Caught::End(number) => return Exit::Signal(number),
                // Without a screen there is nothing to put away first.
                Caught::Stop => drop(signals::stop()),
            }
        }
    }
}
