//! Going through the stages with one server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::report::{Report, Step, Verdict};
use crate::config::{Auth, ServerConfig};
use crate::domain::{PinState, ServerState, Stage, ToolDefinition, ToolId};
use crate::mcp::http::tls;
use crate::mcp::{COMMANDS, Command, ServerEvent, ServerEventKind, ServerSpec, client};
use crate::net::{is_set, is_this_machine, loopback, proxy_variable};
use crate::pin::{Pins, fingerprint};
use crate::redact::{self, Secrets};
use crate::runtime::scrub::Scrub as _;
use crate::schema::{binary, check};

/// Time for a name and for a connection.
const REACH: Duration = Duration::from_secs(5);
/// How much longer than discovery may take is waited for its end.
const GRACE: Duration = Duration::from_secs(2);
/// Room for what a client reports.
const EVENTS: usize = 64;

/// Checks one server; `way` is what [`reach`] found.
pub(super) async fn server(
    server: &ServerConfig,
    spec: ServerSpec,
    way: Vec<Step>,
    pins: Option<&Pins>,
    secrets: &Secrets,
) -> Report {
    let mut report = Report::new(&server.name, &redact::url(&server.url));
    report.add(Step::ok(Stage::Config, None, place(server)));
    if let Some(reason) = &server.disabled {
        report.add(Step::new(Stage::Credential, Verdict::Skipped, None, reason.clone()));
        report.off = true;
        return report;
    }
    report.add(Step::ok(Stage::Credential, None, credential(server)));
    let begun = Instant::now();
    let heard = listen(spec, begun, secrets).await;
    let usable = heard.state.as_ref().is_some_and(ServerState::usable);
    let proxy = proxy_variable(&server.url, is_set);
    for mut step in way {
        // Something else carries the request where there is a proxy.
        let instead = match (usable, proxy) {
            _ if step.verdict != Verdict::Failed => None,
            (true, _) => Some("the server was reached all the same".to_owned()),
            (false, Some(name)) => Some(format!("the proxy that {name} names is used instead")),
            (false, None) => None,
        };
        if let Some(instead) = instead {
            step.verdict = Verdict::Warning;
            step.note = format!("{}; {instead}", step.note.trim_end_matches('.'));
        }
        report.add(step);
    }
    report.tell(&heard);
    if usable {
        report.add(schemas(&heard.tools, &heard.dropped));
        report.add(pinned(server, &heard.tools, pins));
    }
    report
}

fn place(server: &ServerConfig) -> String {
    server.line.map_or_else(|| "from the command line".to_owned(), |line| format!("line {line}"))
}

fn credential(server: &ServerConfig) -> String {
    match &server.auth {
        Some(Auth::Bearer { token_env, .. }) => format!("bearer token from {token_env}"),
        Some(Auth::ApiKey { header, key_env, .. }) => format!("header {header} from {key_env}"),
        None => "none configured".to_owned(),
    }
}

/// DNS, TCP and TLS, as this machine does them itself; nothing of a server that is off.
pub(super) async fn reach(server: &ServerConfig, spec: &ServerSpec) -> Vec<Step> {
    if server.disabled.is_some() {
        return Vec::new();
    }
    let url = &server.url;
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Vec::new();
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let begun = Instant::now();
    let found = match timeout(REACH, lookup_host((bare, port))).await {
        // As the client does: some systems list one of the two only.
        _ if is_this_machine(url) && url.domain().is_some() => Ok(loopback(port).to_vec()),
        Ok(Ok(addresses)) => Ok(addresses.collect::<Vec<_>>()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", REACH.as_secs())),
    };
    let took = Some(begun.elapsed());
    let addresses = match found {
        Ok(addresses) if !addresses.is_empty() => addresses,
        Ok(_) => return vec![Step::failed(Stage::Dns, took, format!("{host} has no address"))],
        Err(why) => {
            let note = format!("{host} was not found: {why}. Check the host name and the network.");
            return vec![Step::failed(Stage::Dns, took, note)];
        }
    };
    let list: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
    let dns = Step::ok(Stage::Dns, took, list.join(", "));
    let (tcp, stream) = connect(&addresses, port).await;
    let mut steps = vec![dns, tcp];
    if let Some(stream) = stream.filter(|_| url.scheme() == "https") {
        steps.push(secure(spec, bare, stream).await);
    }
    steps
}

/// TLS over the connection that was just opened, so that its time stands alone.
async fn secure(spec: &ServerSpec, host: &str, stream: TcpStream) -> Step {
    let begun = Instant::now();
    let agreed = tls::handshake(spec.ca_pem.as_deref(), host, stream).await;
    let took = Some(begun.elapsed());
    match agreed {
        Ok(version) => Step::ok(Stage::Tls, took, format!("{version}, certificate accepted")),
        Err(why) => Step::failed(Stage::Tls, took, why),
    }
}

async fn connect(addresses: &[SocketAddr], port: u16) -> (Step, Option<TcpStream>) {
    let begun = Instant::now();
    let tried = timeout(REACH, TcpStream::connect(addresses)).await;
    let took = Some(begun.elapsed());
    let step = match tried {
        Ok(Ok(stream)) => {
            return (Step::ok(Stage::Tcp, took, format!("port {port}")), Some(stream));
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Step::failed(
            Stage::Tcp,
            took,
            format!(
                "nothing listens on port {port}. Is the server running, and is the port right?"
            ),
        ),
        Ok(Err(error)) => Step::failed(Stage::Tcp, took, format!("port {port}: {error}")),
        Err(_) => Step::failed(
            Stage::Tcp,
            took,
            format!(
                "port {port}: no answer within {} s. A firewall, a VPN, or a wrong port.",
                REACH.as_secs()
            ),
        ),
    };
    (step, None)
}

/// What a client said of its server.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) stages: Vec<(Stage, Duration)>,
    pub(super) state: Option<ServerState>,
    pub(super) agreed: Option<crate::domain::ServerConnection>,
    pub(super) tools: Vec<ToolDefinition>,
    pub(super) dropped: Vec<(String, String)>,
    pub(super) warnings: Vec<crate::domain::Warning>,
    pub(super) took: Duration,
}

/// Runs a client until its discovery has come to an end.
async fn listen(spec: ServerSpec, begun: Instant, secrets: &Secrets) -> Heard {
    let at_most = spec.limits.discovery + GRACE;
    let (commands, queue) = mpsc::channel(COMMANDS);
    let (events, mut reports) = mpsc::channel(EVENTS);
    let cancel = CancellationToken::new();
    let running = client::run(spec, queue, events, cancel.clone());
    let hearing = async {
        let mut heard = Heard::default();
        let gathered = timeout(at_most, gather(&mut heard, &mut reports, secrets)).await;
        heard.took = begun.elapsed();
        drop(gathered);
        drop(commands.send(Command::Shutdown).await);
        // A client that cannot speak cannot end.
        while reports.recv().await.is_some() {}
        heard
    };
    let ((), heard) = tokio::join!(running, hearing);
    heard
}

async fn gather(heard: &mut Heard, reports: &mut mpsc::Receiver<ServerEvent>, secrets: &Secrets) {
    while let Some(mut event) = reports.recv().await {
        event.kind.scrub(secrets);
        match event.kind {
            ServerEventKind::Stage { stage, took } => heard.stages.push((stage, took)),
            ServerEventKind::Connected(agreed) => heard.agreed = Some(agreed),
            ServerEventKind::Tools { tools, dropped } => {
                (heard.tools, heard.dropped) = (tools, dropped);
            }
            ServerEventKind::Warned(warning) => heard.warnings.push(warning),
            ServerEventKind::State(state) => {
                let settled = state.settled();
                heard.state = Some(state);
                if settled {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// Whether arguments of each tool can be checked by its schema, and be given as text.
fn schemas(tools: &[ToolDefinition], dropped: &[(String, String)]) -> Step {
    let begun = Instant::now();
    let mut odd: Vec<String> =
        dropped.iter().map(|(name, reason)| format!("{name} was dropped: {reason}")).collect();
    for tool in tools {
        if let Some(fault) = check::schema_fault(&tool.input_schema) {
            odd.push(format!("{}: {fault}", tool.name));
        } else if let Some(place) = binary::binary_parameter(&tool.input_schema) {
            odd.push(format!("{} wants binary data at {place} and is not offered", tool.name));
        }
    }
    let took = Some(begun.elapsed());
    match odd.as_slice() {
        [] => Step::ok(Stage::Schemas, took, format!("{} tools", tools.len())),
        odd => Step::new(Stage::Schemas, Verdict::Warning, took, odd.join("; ")),
    }
}

/// How the definitions compare with the remembered ones.
fn pinned(server: &ServerConfig, tools: &[ToolDefinition], pins: Option<&Pins>) -> Step {
    let Some(pins) = pins else {
        return Step::ok(Stage::Pins, None, "nothing is remembered yet".to_owned());
    };
    let begun = Instant::now();
    let endpoint = redact::url(&server.url);
    let (mut new, mut changed) = (0, Vec::new());
    for tool in tools {
        let id = ToolId::new(server.name.clone(), tool.name.clone());
        match pins.state(&endpoint, &id, &fingerprint(tool)) {
            PinState::Known => {}
            PinState::New => new += 1,
            PinState::Changed => changed.push(tool.name.to_string()),
        }
    }
    let took = Some(begun.elapsed());
    if changed.is_empty() {
        return Step::ok(Stage::Pins, took, format!("{} known, {new} new", tools.len() - new));
    }
    let note = format!(
        "changed since they were last seen: {}. They are asked about again.",
        changed.join(", ")
    );
    Step::new(Stage::Pins, Verdict::Warning, took, note)
}
