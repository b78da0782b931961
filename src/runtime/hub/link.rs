//! One server as the hub holds it: its entry, its client, what it reported.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::ServerConfig;
use crate::domain::{
    ElicitationId, Mode, Server, ServerConnection, ServerName, ServerState, Source, Stage,
    ToolDefinition, ToolName, Warning,
};
use crate::mcp::{COMMANDS, Command, ServerEvent, ServerEventKind, ServerSpec, client, memory};
use crate::pin;
use crate::redact::Secrets;
use crate::runtime::assemble::{Assembled, Input, Listed};
use crate::runtime::scrub::Scrub as _;
use crate::runtime::spec;
use crate::runtime::tasks::Tasks;

/// Room for the reports of one client.
const REPORTS: usize = 64;
/// Round-trip times that are kept.
const LATENCIES: usize = 32;
/// Warnings that are kept.
pub(super) const WARNINGS: usize = 50;

/// One server and its client.
pub(super) struct Link {
    pub(super) name: ServerName,
    /// Absent for a refused entry.
    pub(super) config: Option<ServerConfig>,
    permission: Mode,
    /// Its address without secrets; empty where it has none that can be read.
    pub(super) url: String,
    host: String,
    /// What its client starts with; absent where it must not be connected.
    pub(super) spec: Option<ServerSpec>,
    pub(super) state: ServerState,
    pub(super) connection: Option<ServerConnection>,
    pub(super) listed: Option<Vec<Listed>>,
    pub(super) dropped: Vec<(String, String)>,
    pub(super) warnings: Vec<Warning>,
    latency: VecDeque<Duration>,
    pub(super) off: Vec<ToolName>,
    pub(super) client: Option<Client>,
    pub(super) made: Assembled,
    /// What its reports must not hold.
    pub(super) secrets: Secrets,
}

/// The near end of a running client.
pub(super) struct Client {
    /// Tells its reports from those of an earlier client of the same server.
    pub(super) number: u64,
    pub(super) commands: mpsc::Sender<Command>,
    cancel: CancellationToken,
}

/// A report of a client on its way to the hub. Lists are already worked out.
pub(in crate::runtime) struct Heard {
    pub(super) server: ServerName,
    pub(super) client: u64,
    pub(super) what: What,
}

impl Heard {
    /// Whose report it is.
    pub(in crate::runtime) fn server(&self) -> &ServerName {
        &self.server
    }
}

pub(super) enum What {
    Said(ServerEventKind),
    Listed { tools: Vec<Listed>, dropped: Vec<(String, String)> },
}

impl Client {
    /// Asks the client to end. It does so at once when nobody can ask it any more, so the request
    /// waits for room in the background.
    pub(super) fn end(self, tasks: &Tasks) {
        tasks.spawn("ending a client", async move {
            if self.commands.send(Command::Shutdown).await.is_err() {
                self.cancel.cancel();
            }
        });
    }
}

impl Link {
    pub(super) fn new(
        name: ServerName,
        config: Option<ServerConfig>,
        permission: Mode,
        spec: Option<ServerSpec>,
        why_off: Option<String>,
    ) -> Self {
        let state = match why_off {
            Some(reason) => ServerState::Disabled { reason },
            None => ServerState::Connecting,
        };
        let endpoint = config.as_ref().map(|config| &config.url);
        Self {
            url: endpoint.map(crate::redact::url).unwrap_or_default(),
            host: endpoint.map(spec::host).unwrap_or_default(),
            name,
            config,
            permission,
            spec,
            state,
            connection: None,
            listed: None,
            dropped: Vec::new(),
            warnings: Vec::new(),
            latency: VecDeque::new(),
            off: Vec::new(),
            client: None,
            made: Assembled::default(),
            secrets: Secrets::default(),
        }
    }

    /// What the assembly has to know of it; nothing of a refused entry.
    pub(super) fn input(&self) -> Option<Input<'_>> {
        Some(Input {
            config: self.config.as_ref()?,
            listed: self.listed.as_deref(),
            dropped: &self.dropped,
            disabled: &self.off,
        })
    }

    pub(super) fn start(&mut self, clients: &mut u64, events: &mpsc::Sender<Heard>, tasks: &Tasks) {
        let Some(spec) = self.spec.clone() else { return };
        *clients += 1;
        let number = *clients;
        let (commands, queue) = mpsc::channel(COMMANDS);
        let (reports, said) = mpsc::channel(REPORTS);
        let cancel = tasks.quit().child_token();
        tasks.spawn("mcp client", client::run(spec, queue, reports, cancel.clone()));
        tasks.spawn(
            "reports of a client",
            pass_on(said, number, events.clone(), self.secrets.clone()),
        );
        self.client = Some(Client { number, commands, cancel });
        self.state = ServerState::Connecting;
    }

    pub(super) fn switch_on(
        &mut self,
        clients: &mut u64,
        events: &mpsc::Sender<Heard>,
        tasks: &Tasks,
    ) {
        if self.client.is_some() {
            return;
        }
        if let Some(missing) = self.config.as_ref().and_then(ServerConfig::missing_credential) {
            self.warn(Warning::new(
                Source::Server(self.name.clone()),
                format!("{} stays off: {missing}.", self.name),
                "Set the variable and start the program again.",
            ));
            return;
        }
        self.start(clients, events, tasks);
    }

    pub(super) fn switch_off(&mut self, tasks: &Tasks) {
        if let Some(client) = self.client.take() {
            client.end(tasks);
        }
        self.state = ServerState::Disabled { reason: "switched off by you".to_owned() };
    }

    /// A connection was made: a later client begins with what was found. Gives back the spec.
    pub(super) fn learn_era(&mut self, connection: &ServerConnection) -> Option<&ServerSpec> {
        let spec = self.spec.as_mut()?;
        spec.remembered = Some(connection.era);
        Some(spec)
    }

    /// E5: a server that was reached and did not come to an agreement is probed the next time. The
    /// key of what has to be forgotten, if anything was remembered.
    pub(super) fn forget_era(&mut self, state: &ServerState) -> Option<String> {
        let ServerState::Failed { stage: Stage::Http | Stage::Negotiate, .. } = state else {
            return None;
        };
        let spec = self.spec.as_mut()?;
        spec.remembered.take().map(|_| memory::key(spec))
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) && self.warnings.len() < WARNINGS {
            self.warnings.push(warning);
        }
    }

    pub(super) fn add_latency(&mut self, took: Duration) {
        if self.latency.len() >= LATENCIES {
            self.latency.pop_front();
        }
        self.latency.push_back(took);
    }

    pub(super) fn shown(&self) -> Server {
        let warnings = self.warnings.iter().chain(&self.made.warnings).cloned().collect();
        Server {
            name: self.name.clone(),
            url: self.url.clone(),
            host: self.host.clone(),
            state: self.state.clone(),
            connection: self.connection.clone(),
            permission: self.permission,
            tools: self.made.tools.clone(),
            filtered: self.made.filtered.clone(),
            warnings,
            latency: self.latency.iter().copied().collect(),
        }
    }
}

/// What follows from definitions. `given` holds them as the server gave them, or nothing where there is
/// nothing to hide: a call is compared with what the server says, not with what is shown of it.
fn listed(tools: Vec<ToolDefinition>, given: &[ToolDefinition]) -> Vec<Listed> {
    let mut all = Listed::all(tools);
    for (listed, given) in all.iter_mut().zip(given) {
        if *given != *listed.definition {
            listed.given = Some(pin::fingerprint(given).into());
        }
    }
    all
}

/// Passes a client's reports on in their order. Lists are worked out on the way, away from the
/// loop: checking the schemas of many tools takes its time. Questions that are still open when the
/// client ends are closed here.
async fn pass_on(
    mut said: mpsc::Receiver<ServerEvent>,
    client: u64,
    events: mpsc::Sender<Heard>,
    secrets: Secrets,
) {
    let mut open: Vec<(ServerName, ElicitationId)> = Vec::new();
    while let Some(ServerEvent { server, mut kind }) = said.recv().await {
        let given = match &kind {
            ServerEventKind::Tools { tools, .. } if !secrets.is_empty() => tools.clone(),
            _ => Vec::new(),
        };
        kind.scrub(&secrets);
        match &kind {
            ServerEventKind::Elicit(asked) => open.push((server.clone(), asked.id)),
            ServerEventKind::ElicitClosed { elicitation, .. } => {
                open.retain(|(_, id)| id != elicitation);
            }
            _ => {}
        }
        let what = match kind {
            ServerEventKind::Tools { tools, dropped } => {
                let listing = tokio::task::spawn_blocking(move || listed(tools, &given)).await;
                What::Listed { tools: listing.unwrap_or_default(), dropped }
            }
            other => What::Said(other),
        };
        if events.send(Heard { server, client, what }).await.is_err() {
            return;
        }
    }
    for (server, elicitation) in open {
        let why = "the connection ended".to_owned();
        let what = What::Said(ServerEventKind::ElicitClosed { elicitation, why });
        if events.send(Heard { server, client, what }).await.is_err() {
            return;
        }
    }
}
