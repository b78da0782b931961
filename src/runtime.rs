//! The conductor: owns the agent, performs its effects, turns what happens into events and notices.

pub mod assemble;
mod beginning;
pub mod coalesce;
pub mod conductor;
mod held;
pub mod hub;
pub mod journal;
mod models;
mod past;
mod records;
pub mod scrub;
pub mod spec;
pub mod tasks;
mod wiretap;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::bridge::{NOTICES, Notice, OPS, Op};
use crate::config::{Config, RefusedServer};
pub use crate::domain::Interaction;
use crate::domain::{Answering, Catalog, ServerName, Warning};
use crate::paths::Paths;
use crate::permission::Rule;
use crate::telemetry;
use crate::wire::{Clock, Limits, Recorder};
pub use past::Resume;
pub use wiretap::write as write_archive;

/// Everything the runtime starts from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The config in force.
    pub config: Config,
    /// Warnings of loading it, for the catalog.
    pub warnings: Vec<Warning>,
    /// Servers whose entries were refused: shown as disabled, never connected.
    pub refused: Vec<RefusedServer>,
    /// Where files go; `None` where there is no home: nothing is written then.
    pub paths: Option<Paths>,
    /// Whether somebody is there to be asked.
    pub interaction: Interaction,
    /// Which questions of servers the face can answer.
    pub answering: Answering,
    /// Rules of the command line: server pattern and rule; they come before all others.
    pub extra_rules: Vec<(ServerName, Rule)>,
    /// Only these servers are connected; `None` for all.
    pub only: Option<Vec<ServerName>>,
    /// The conversation to go on with; `None` for a new one.
    pub resume: Option<Resume>,
    /// Whether the conversation is written to a session file; a single call is none.
    pub conversation: bool,
    /// Where all exchanges with servers and the model are recorded.
    pub wire: Arc<Recorder>,
    /// What traces are asked for; `None` for none.
    pub telemetry: Option<telemetry::Settings>,
}

/// A recorder with the clock of this machine.
pub fn recorder(limits: Limits) -> Arc<Recorder> {
    Arc::new(Recorder::new(limits, Clock { now: Instant::now, wall: SystemTime::now }))
}

impl Setup {
    /// A setup that writes no files, has no rules but those of the config and starts a new
    /// conversation with all servers. Who can be asked about calls can be asked by servers too.
    pub fn new(config: Config, interaction: Interaction) -> Self {
        Self {
            config,
            warnings: Vec::new(),
            refused: Vec::new(),
            paths: None,
            interaction,
            answering: match interaction {
                Interaction::Interactive => Answering::Everything,
                Interaction::Headless => Answering::Nobody,
            },
            extra_rules: Vec::new(),
            only: None,
            resume: None,
            conversation: true,
            wire: recorder(Limits::VIEW),
            telemetry: None,
        }
    }
}

/// The face's end of the two channels.
#[derive(Debug)]
pub struct Handle {
    /// Operations to the runtime.
    pub ops: mpsc::Sender<Op>,
    /// Notices from it; closed after [`Op::Quit`] once everything has ended.
    pub notices: mpsc::Receiver<Notice>,
    /// The first snapshot: every configured server, connecting or disabled.
    pub catalog: Arc<Catalog>,
    ended: CancellationToken,
}

impl Handle {
    /// Waits until the runtime has ended: after [`Op::Quit`], or once the face's ends of both
    /// channels are gone. Bounded, because the runtime's own end is.
    pub async fn join(&self) {
        self.ended.cancelled().await;
    }
}

/// Asks the runtime to end and waits until it has. Says whether that came in time.
pub async fn farewell(
    mut notices: mpsc::Receiver<Notice>,
    ops: mpsc::Sender<Op>,
    patience: Duration,
) -> bool {
    let ended = async {
        // Notices are taken in the meantime: a runtime that cannot speak cannot listen.
        let drain = async { while notices.recv().await.is_some() {} };
        let quit = async { drop(ops.send(Op::Quit).await) };
        tokio::join!(drain, quit);
    };
    let in_time = tokio::time::timeout(patience, ended).await.is_ok();
    if !in_time {
        tracing::warn!("the runtime did not end in time");
    }
    in_time
}

/// Starts everything inside the current tokio runtime and returns at once: servers connect in the
/// background.
///
/// # Panics
///
/// Outside a tokio runtime.
pub fn start(setup: Setup) -> Handle {
    let (ops, ops_end) = mpsc::channel(OPS);
    let (notices_end, notices) = mpsc::channel(NOTICES);
    let ended = CancellationToken::new();
    let catalog = conductor::start(setup, ops_end, notices_end, ended.clone());
    Handle { ops, notices, catalog, ended }
}
