//! All MCP clients; the owner of the catalog.
//!
//! One actor per server. What they report changes the catalog here and nowhere else; snapshots are
//! made a little later, so that many servers reporting at once cost one snapshot.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::pinboard::Pinboard;
use super::tasks::Tasks;
use super::{Setup, assembly, spec};
use crate::bridge::Target;
use crate::config::ServerConfig;
use crate::domain::{
    CallId, Catalog, FilteredTool, Mode, Progress, Server, ServerConnection, ServerName,
    ServerState, Source, Tool, ToolDefinition, ToolName, Warning,
};
use crate::mcp::{COMMANDS, Command, ServerEvent, ServerEventKind, ServerSpec, client};
use crate::permission::Policy;

/// How long changes are gathered before a snapshot is made.
const GATHER: Duration = Duration::from_millis(15);
/// Round-trip times that are kept of a server.
const LATENCIES: usize = 32;
/// Warnings that are kept of a server.
const WARNINGS: usize = 50;

/// All servers, configured and refused, in the order of the config.
pub(super) struct Hub {
    links: Vec<Link>,
    warnings: Vec<Warning>,
    revision: u64,
    due: Option<Instant>,
    lists_changed: bool,
    events: mpsc::Sender<ServerEvent>,
    pins: Pinboard,
    tasks: Tasks,
}

/// One server and its client.
pub(super) struct Link {
    pub(super) name: ServerName,
    /// Absent for a refused entry.
    pub(super) config: Option<ServerConfig>,
    permission: Mode,
    /// Its address without secrets; empty where it has none that can be read.
    url: String,
    host: String,
    /// What its client starts with; absent where it must not be connected.
    spec: Option<ServerSpec>,
    pub(super) state: ServerState,
    connection: Option<ServerConnection>,
    pub(super) listed: Vec<Arc<ToolDefinition>>,
    pub(super) dropped: Vec<(String, String)>,
    warnings: Vec<Warning>,
    latency: VecDeque<Duration>,
    pub(super) off: HashSet<ToolName>,
    client: Option<Client>,
    pub(super) made: Assembled,
}

/// What the catalog shows of a server's list.
#[derive(Default, Clone)]
pub(super) struct Assembled {
    pub(super) tools: Vec<Arc<Tool>>,
    pub(super) filtered: Vec<FilteredTool>,
    pub(super) warnings: Vec<Warning>,
}

/// The near end of a running client.
struct Client {
    commands: mpsc::Sender<Command>,
    cancel: CancellationToken,
}

/// What of a server's report concerns others than the catalog.
pub(super) enum Report {
    /// A running call made progress.
    Progress(CallId, Progress),
    /// Nothing else.
    Nothing,
}

impl Hub {
    /// Takes the servers of the setup in; connects none of them yet.
    pub(super) fn new(
        setup: &Setup,
        warnings: Vec<Warning>,
        ca: Option<Arc<[u8]>>,
        pins: Pinboard,
        events: mpsc::Sender<ServerEvent>,
        tasks: Tasks,
    ) -> Self {
        let mcp = &setup.config.mcp;
        let configured = mcp.servers.iter().map(|server| {
            let named = |only: &Vec<ServerName>| only.contains(&server.name);
            let left_out = !setup.only.as_ref().is_none_or(named);
            let spec = spec::of(server, mcp, ca.clone());
            let why_off = match &server.disabled {
                Some(reason) => Some(reason.clone()),
                None => left_out.then(|| "not needed for this command".to_owned()),
            };
            let permission = server.permissions.unwrap_or(mcp.permissions);
            Link::new(server.name.clone(), Some(server.clone()), permission, Some(spec), why_off)
        });
        let refused = setup.refused.iter().map(|refused| {
            let reason = Some(refused.reason.clone());
            let name = refused.name.as_str().into();
            let mut link = Link::new(name, None, mcp.permissions, None, reason);
            link.url.clone_from(&refused.url);
            link
        });
        let links = configured.chain(refused).collect();
        Self { links, warnings, revision: 0, due: None, lists_changed: true, events, pins, tasks }
    }

    /// Connects every server that is not off.
    pub(super) fn connect_all(&mut self) {
        for link in &mut self.links {
            if matches!(link.state, ServerState::Connecting) {
                link.start(&self.events, &self.tasks);
            }
        }
    }

    /// When the next snapshot is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    fn changed(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// Permissions changed: marks in the catalog may have changed with them.
    pub(super) fn permissions_changed(&mut self) {
        self.lists_changed = true;
        self.changed();
    }

    /// Adds a warning that belongs to no server.
    pub(super) fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) && self.warnings.len() < WARNINGS {
            self.warnings.push(warning);
            self.changed();
        }
    }

    /// Makes a snapshot of how things stand.
    pub(super) fn snapshot(&mut self, policy: &Policy) -> Arc<Catalog> {
        self.due = None;
        self.revision += 1;
        if std::mem::take(&mut self.lists_changed) {
            assembly::assemble(&mut self.links, &mut self.pins, policy);
        }
        let servers = self.links.iter().map(Link::shown).collect();
        Arc::new(Catalog::new(servers, self.warnings.clone(), self.revision))
    }

    /// Takes in what a client reports.
    pub(super) fn heard(&mut self, event: ServerEvent) -> Report {
        let Some(link) = self.links.iter_mut().find(|link| link.name == event.server) else {
            return Report::Nothing;
        };
        if link.client.is_none() {
            // The last words of a client that was switched off.
            return Report::Nothing;
        }
        match event.kind {
            ServerEventKind::State(state) => link.state = state,
            ServerEventKind::Connected(connection) => link.connection = Some(connection),
            ServerEventKind::Tools { tools, dropped } => {
                link.listed = tools.into_iter().map(Arc::new).collect();
                link.dropped = dropped;
                self.lists_changed = true;
            }
            ServerEventKind::Warned(warning) => link.warn(warning),
            ServerEventKind::Latency(took) => link.add_latency(took),
            ServerEventKind::Progress { call, progress } => {
                return Report::Progress(call, progress);
            }
            ServerEventKind::Log { level, text } => {
                tracing::info!(server = %link.name, level, text, "log message of a server");
                return Report::Nothing;
            }
            ServerEventKind::Stage { stage, took } => {
                tracing::debug!(server = %link.name, %stage, ?took, "stage passed");
                return Report::Nothing;
            }
        }
        self.changed();
        Report::Nothing
    }

    /// Where calls of this server go; `None` if it has no client.
    pub(super) fn commands(&self, server: &ServerName) -> Option<mpsc::Sender<Command>> {
        let link = self.links.iter().find(|link| link.name == *server)?;
        link.client.as_ref().map(|client| client.commands.clone())
    }

    /// Connects a server again, or all that are not usable.
    pub(super) fn reconnect(&mut self, server: Option<&ServerName>) {
        for link in &mut self.links {
            let meant = server.map_or(!link.state.usable(), |name| link.name == *name);
            if !meant || matches!(link.state, ServerState::Disabled { .. }) {
                continue;
            }
            // A full queue means that the client is busy connecting or at work.
            let sent =
                link.client.as_ref().map(|client| client.commands.try_send(Command::Connect));
            if matches!(sent, None | Some(Err(mpsc::error::TrySendError::Closed(_)))) {
                link.start(&self.events, &self.tasks);
            }
        }
        self.changed();
    }

    /// Switches a server or a tool on or off.
    pub(super) fn set_enabled(&mut self, target: &Target, on: bool) {
        match target {
            Target::Server(name) => {
                let Some(link) = self.links.iter_mut().find(|link| link.name == *name) else {
                    return;
                };
                if on {
                    link.switch_on(&self.events, &self.tasks);
                } else {
                    link.switch_off(&self.tasks);
                }
            }
            Target::Tool(id) => {
                let Some(link) = self.links.iter_mut().find(|link| link.name == id.server) else {
                    return;
                };
                if on {
                    link.off.remove(&id.tool);
                } else {
                    link.off.insert(id.tool.clone());
                }
            }
        }
        self.lists_changed = true;
        self.changed();
    }

    /// Notes that a call of this tool was allowed with its present definition.
    pub(super) fn allowed(&mut self, id: &crate::domain::ToolId) {
        let Some(link) = self.links.iter().find(|link| link.name == id.server) else { return };
        let Some(config) = &link.config else { return };
        let Some(tool) = link.made.tools.iter().find(|tool| tool.id == *id) else { return };
        if self.pins.allow(&assembly::endpoint(config), id, &tool.definition) {
            self.lists_changed = true;
            self.changed();
        }
    }

    /// The pins, if they changed since they were last asked for.
    pub(super) fn pins_to_save(&mut self) -> Option<crate::pin::Pins> {
        self.pins.to_save()
    }

    /// Asks every client to end in order.
    pub(super) fn shut_down(&mut self) {
        for link in &mut self.links {
            if let Some(client) = link.client.take() {
                client.end(&self.tasks);
            }
        }
    }
}

impl Client {
    /// Asks the client to end. It does so at once when nobody can ask it any more, so the request
    /// waits for room in the background.
    fn end(self, tasks: &Tasks) {
        tasks.spawn("ending a client", async move {
            if self.commands.send(Command::Shutdown).await.is_err() {
                self.cancel.cancel();
            }
        });
    }
}

impl Link {
    fn new(
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
            listed: Vec::new(),
            dropped: Vec::new(),
            warnings: Vec::new(),
            latency: VecDeque::new(),
            off: HashSet::new(),
            client: None,
            made: Assembled::default(),
        }
    }

    fn start(&mut self, events: &mpsc::Sender<ServerEvent>, tasks: &Tasks) {
        let Some(spec) = self.spec.clone() else { return };
        let (commands, queue) = mpsc::channel(COMMANDS);
        let cancel = tasks.quit().child_token();
        tasks.spawn("mcp client", client::run(spec, queue, events.clone(), cancel.clone()));
        self.client = Some(Client { commands, cancel });
        self.state = ServerState::Connecting;
    }

    fn switch_on(&mut self, events: &mpsc::Sender<ServerEvent>, tasks: &Tasks) {
        if self.client.is_some() {
            return;
        }
        if let Some(missing) = self.config.as_ref().and_then(missing_credential) {
            self.warn(Warning::new(
                Source::Server(self.name.clone()),
                format!("{} stays off: {missing}.", self.name),
                "Set the variable and start the program again.",
            ));
            return;
        }
        self.start(events, tasks);
    }

    fn switch_off(&mut self, tasks: &Tasks) {
        if let Some(client) = self.client.take() {
            client.end(tasks);
        }
        self.state = ServerState::Disabled { reason: "switched off by you".to_owned() };
    }

    fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) && self.warnings.len() < WARNINGS {
            self.warnings.push(warning);
        }
    }

    fn add_latency(&mut self, took: Duration) {
        if self.latency.len() >= LATENCIES {
            self.latency.pop_front();
        }
        self.latency.push_back(took);
    }

    fn shown(&self) -> Server {
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

/// Why a server that is off cannot be switched on: it was not the user who switched it off, but the
/// want of a secret.
fn missing_credential(config: &ServerConfig) -> Option<&str> {
    config.disabled.as_deref().filter(|reason| !reason.starts_with("`enabled: false`"))
}
