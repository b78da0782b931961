//! All MCP clients; the owner of the catalog.
//!
//! One actor per server. What they report changes the catalog here and nowhere else; snapshots are
//! made a little later, so that many servers reporting at once cost one snapshot.

mod link;
mod lookalike;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;
use tokio::time::Instant;

pub(super) use link::Heard;
use link::{Link, WARNINGS, What};

use super::assemble::{self, Input};
use super::tasks::Tasks;
use super::{Setup, spec};
use crate::bridge::Target;
use crate::domain::{
    CallId, Catalog, Changed, Elicitation, ElicitationId, PinState, Progress, ServerName,
    ServerState, Tool, ToolId, Warning,
};
use crate::mcp::memory::{Changes, Eras};
use crate::mcp::{Command, ServerEventKind, ServerSpec};
use crate::permission::Policy;
use crate::pin::{Board, Pins};
use crate::redact::Secrets;
use crate::telemetry::Peer;

/// How long changes are gathered before a snapshot is made.
const GATHER: Duration = Duration::from_millis(15);

/// All servers, configured and refused, in the order of the config.
pub(super) struct Hub {
    links: Vec<Link>,
    warnings: Vec<Warning>,
    /// Rules for several servers that speak of no tool.
    stray: Vec<Warning>,
    stray_due: bool,
    revision: u64,
    due: Option<Instant>,
    lists_changed: bool,
    events: mpsc::Sender<Heard>,
    clients: u64,
    /// Under which key the tools of each configured server are pinned.
    keys: Vec<(ServerName, String)>,
    pins: Board,
    eras: Eras,
    era_changes: Changes,
    tasks: Tasks,
}

/// What of a server's report concerns others than the catalog.
pub(super) enum Report {
    /// A running call made progress.
    Progress(CallId, Progress),
    /// The server asks the user something.
    Elicited(Arc<Elicitation>),
    /// Something else than its tools has changed at a server.
    Changed(ServerName, Changed),
    /// It wants no answer any more, and why.
    ElicitationClosed(ElicitationId, String),
    /// Nothing else.
    Nothing,
}

impl Hub {
    /// Takes the servers of the setup in; connects none of them yet.
    pub(super) fn new(
        setup: &Setup,
        warnings: Vec<Warning>,
        ca: Option<&Arc<[u8]>>,
        secrets: &Secrets,
        events: mpsc::Sender<Heard>,
        tasks: Tasks,
    ) -> Self {
        let mcp = &setup.config.mcp;
        let needles = spec::needles(&setup.config);
        let configured = mcp.servers.iter().map(|server| {
            let named = |only: &Vec<ServerName>| only.contains(&server.name);
            let left_out = !setup.only.as_ref().is_none_or(named);
            let spec = ServerSpec {
                answering: setup.answering,
                wire: Some(spec::tap(server, &setup.wire, &needles)),
                ..spec::of(server, mcp, ca.cloned())
            };
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
        let mut links: Vec<Link> = configured.chain(refused).collect();
        for link in &mut links {
            link.secrets = secrets.clone();
        }
        for (name, warning) in lookalike::warnings(&mcp.servers) {
            links.iter_mut().filter(|link| link.name == name).for_each(|link| {
                link.warn(warning.clone());
            });
        }
        Self {
            links,
            warnings,
            stray: Vec::new(),
            stray_due: true,
            revision: 0,
            due: None,
            lists_changed: true,
            events,
            clients: 0,
            keys: mcp
                .servers
                .iter()
                .map(|server| server.name.clone())
                .zip(assemble::pin_keys(&mcp.servers))
                .collect(),
            pins: Board::default(),
            eras: Eras::default(),
            era_changes: Changes::new(),
            tasks,
        }
    }

    /// Takes in the pins of earlier runs, before any list is compared with them.
    pub(super) fn recall(&mut self, pins: Pins) {
        self.pins = Board::new(pins);
    }

    /// Takes in the eras of earlier runs; before any server is connected.
    pub(super) fn recall_eras(&mut self, eras: Eras) {
        self.eras = eras;
        let now = since_1970();
        for spec in self.links.iter_mut().filter_map(|link| link.spec.as_mut()) {
            spec.remembered = self.eras.recall(spec, now);
        }
    }

    /// Connects every server that is not off.
    pub(super) fn connect_all(&mut self) {
        for link in &mut self.links {
            if matches!(link.state, ServerState::Connecting) {
                link.start(&mut self.clients, &self.events, &self.tasks);
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

    /// Where a server is, for the traces.
    pub(super) fn peer(&self, server: &ServerName) -> Peer {
        let Some(link) = self.links.iter().find(|link| link.name == *server) else {
            return Peer::default();
        };
        let url = link.config.as_ref().map(|config| &config.url);
        Peer {
            host: url.and_then(|url| url.host_str()).unwrap_or_default().to_owned(),
            port: url.and_then(url::Url::port_or_known_default),
            version: link.connection.as_ref().map(|known| known.protocol_version.clone()),
        }
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
            self.assemble(policy);
            self.stray_due = true;
        }
        let waits = |link: &Link| matches!(link.state, ServerState::Connecting);
        if self.stray_due && !self.links.iter().any(waits) {
            self.stray_due = false;
            let inputs: Vec<Input<'_>> = self.links.iter().filter_map(Link::input).collect();
            self.stray = assemble::stray_rules(&inputs, policy);
        }
        let servers = self.links.iter().map(Link::shown).collect();
        let warnings = self.warnings.iter().chain(&self.stray).cloned().collect();
        Arc::new(Catalog::new(servers, warnings, self.revision))
    }

    fn assemble(&mut self, policy: &Policy) {
        let inputs: Vec<Input<'_>> = self.links.iter().filter_map(Link::input).collect();
        let made = assemble::assemble(&inputs, policy, &self.pins);
        let keys = self.keys.iter().map(|(_, key)| key);
        let now = since_1970().as_secs();
        let configured = self.links.iter_mut().filter(|link| link.config.is_some());
        for ((link, made), key) in configured.zip(made).zip(keys) {
            for listed in link.listed.iter().flatten() {
                let id = ToolId { server: link.name.clone(), tool: listed.definition.name.clone() };
                self.pins.see(key, &id, &listed.pin, &listed.definition, now);
            }
            if link.listed.is_some() {
                let listed = link.listed.iter().flatten();
                let names = listed.map(|listed| listed.definition.name.as_str());
                let dropped = link.dropped.iter().map(|(name, _)| name.as_str());
                self.pins.list(key, &made.set_pin, names.chain(dropped));
            }
            link.made = made;
        }
    }

    /// The key of a server's pins.
    fn pin_key(&self, server: &ServerName) -> Option<String> {
        self.keys.iter().find(|(name, _)| name == server).map(|(_, key)| key.clone())
    }

    fn made(&self, id: &ToolId) -> Option<&Arc<Tool>> {
        let link = self.links.iter().find(|link| link.name == id.server)?;
        link.made.tools.iter().find(|tool| tool.id == *id)
    }

    /// Fingerprint of the definition of a tool that was last decided about, as the server gave it.
    pub(super) fn decided(&self, id: &ToolId) -> Option<Arc<str>> {
        let tool = self.made(id)?;
        let link = self.links.iter().find(|link| link.name == id.server)?;
        let of_it = |listed: &&assemble::Listed| Arc::ptr_eq(&listed.definition, &tool.definition);
        let given =
            link.listed.iter().flatten().find(of_it).and_then(|listed| listed.given.clone());
        Some(given.unwrap_or_else(|| tool.pin.as_str().into()))
    }

    /// Accepts the changed definition of a tool that somebody was shown: the one with this
    /// fingerprint, and no other that came since.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub(super) fn accept(&mut self, id: &ToolId, pin: &str) -> Result<(), String> {
        let Some(tool) = self.made(id).cloned() else {
            return Err(format!("{id} is no longer on offer; nothing was accepted."));
        };
        if tool.pin != pin {
            return Err(format!(
                "The definition of {id} changed again since it was shown; nothing was accepted."
            ));
        }
        if let (PinState::Changed, Some(key)) = (tool.pin_state, self.pin_key(&id.server)) {
            self.pins.accept(&key, id, &tool.definition);
            self.lists_changed = true;
            self.changed();
        }
        Ok(())
    }

    /// Takes in what a client reports.
    pub(super) fn heard(&mut self, heard: Heard) -> Report {
        // A question ends whatever became of the client.
        if let What::Said(ServerEventKind::ElicitClosed { elicitation, why }) = heard.what {
            return Report::ElicitationClosed(elicitation, why);
        }
        let Some(link) = self.links.iter_mut().find(|link| link.name == heard.server) else {
            return Report::Nothing;
        };
        if link.client.as_ref().is_none_or(|client| client.number != heard.client) {
            // The last words of a client that was switched off.
            return Report::Nothing;
        }
        let said = match heard.what {
            What::Said(said) => said,
            What::Listed { tools, dropped } => {
                link.listed = Some(tools);
                link.dropped = dropped;
                self.lists_changed = true;
                self.changed();
                return Report::Nothing;
            }
        };
        match said {
            ServerEventKind::State(state) => {
                if let Some(key) = link.forget_era(&state) {
                    self.era_changes.insert(key, None);
                }
                link.state = state;
                self.stray_due = true;
            }
            ServerEventKind::Connected(connection) => {
                let learnt = link
                    .learn_era(&connection)
                    .and_then(|spec| self.eras.learnt(spec, &connection, since_1970()));
                if let Some((key, seen)) = learnt {
                    self.era_changes.insert(key, Some(seen));
                }
                link.connection = Some(connection);
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
            ServerEventKind::Elicit(elicitation) => return Report::Elicited(elicitation),
            ServerEventKind::Changed(what) => return Report::Changed(link.name.clone(), what),
            // Worked out on the way: see `pass_on`; or looked at above.
            ServerEventKind::ElicitClosed { .. } | ServerEventKind::Tools { .. } => {
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
            let meant = match server {
                Some(name) => link.name == *name,
                None => !link.state.usable(),
            };
            if !meant || matches!(link.state, ServerState::Disabled { .. }) {
                continue;
            }
            // A full queue means that the client is busy connecting or at work.
            let sent =
                link.client.as_ref().map(|client| client.commands.try_send(Command::Connect));
            if matches!(sent, None | Some(Err(mpsc::error::TrySendError::Closed(_)))) {
                link.start(&mut self.clients, &self.events, &self.tasks);
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
                    link.switch_on(&mut self.clients, &self.events, &self.tasks);
                } else {
                    link.switch_off(&self.tasks);
                }
            }
            Target::Tool(id) => {
                let Some(link) = self.links.iter_mut().find(|link| link.name == id.server) else {
                    return;
                };
                link.off.retain(|tool| *tool != id.tool);
                if !on {
                    link.off.push(id.tool.clone());
                }
            }
        }
        self.lists_changed = true;
        self.changed();
    }

    /// Notes that a call of this tool was allowed with its present definition.
    pub(super) fn allowed(&mut self, id: &ToolId) {
        let Some(key) = self.pin_key(&id.server) else { return };
        let Some(tool) = self.made(id).cloned() else { return };
        let known = self.pins.get(&key, id);
        if known.is_some_and(|pin| pin.allowed && pin.fingerprint == tool.pin) {
            return;
        }
        if self.pins.allow(&key, id, &tool.definition) {
            self.lists_changed = true;
            self.changed();
        }
    }

    /// Changes of pins since they were last asked for.
    pub(super) fn take_pin_changes(&mut self) -> Option<Pins> {
        self.pins.take_changes()
    }

    /// Changes of remembered eras since they were last asked for.
    pub(super) fn take_era_changes(&mut self) -> Option<Changes> {
        self.eras.apply(&self.era_changes);
        (!self.era_changes.is_empty()).then(|| std::mem::take(&mut self.era_changes))
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

/// The time of day, for what outlives the run.
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
