//! Round trip of `tools/call`: this program's client, the official SDK's and bare reqwest.
//!
//! `cargo bench --bench calls`. One loopback server on a thread of its own answers all three, in
//! both eras and in both forms of an answer; the three take turns, so that whatever else the machine
//! does hits them alike. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use mini_me_tui::config::Protocol;
use mini_me_tui::domain::{Answering, CallId, Outcome, ServerName, ServerState, ToolName};
use mini_me_tui::mcp::{self, Command, Limits, ServerEvent, ServerEventKind, ServerSpec};
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 40;
const CALLS: usize = 50;
const SESSION: &str = "s-1";

fn main() {
    let base = serve();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("tools/call, {} calls each, µs; medians, and p99 in brackets", ROUNDS * CALLS);
    runtime.block_on(async {
        for (name, path, modern) in [
            ("legacy era, JSON body", "json", false),
            ("legacy era, event stream", "sse", false),
            ("modern era, JSON body", "json", true),
            ("modern era, event stream", "sse", true),
        ] {
            measure(name, &format!("{base}/{path}"), modern).await;
        }
    });
}

async fn measure(name: &str, url: &str, modern: bool) {
    let ours = Ours::connect(url, modern).await;
    let sdk = match sdk(url, modern).await {
        Ok(sdk) => sdk,
        Err(fault) => return println!("{name:<26} the SDK's client does not connect: {fault}"),
    };
    let bare = Bare::new(url, modern);
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=ROUNDS {
        for (kind, times) in times.iter_mut().enumerate() {
            for _ in 0..CALLS {
                let begun = Instant::now();
                match kind {
                    0 => bare.call().await,
                    1 => sdk_call(&sdk).await,
                    _ => ours.call().await,
                }
                // The first round is for warming up.
                if round > 0 {
                    times.push(begun.elapsed());
                }
            }
        }
    }
    let [bare, sdk, ours] = times.map(|mut all| {
        all.sort();
        (us(all[all.len() / 2]), us(all[all.len() * 99 / 100]))
    });
    println!(
        "{name:<26} bare {:>4.0} [{:>4.0}]  SDK {:>4.0} [{:>4.0}]  ours {:>4.0} [{:>4.0}]  ours − bare {:>4.0}, ours / SDK {:.2}",
        bare.0,
        bare.1,
        sdk.0,
        sdk.1,
        ours.0,
        ours.1,
        ours.0 - bare.0,
        ours.0 / sdk.0
    );
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn arguments() -> Map<String, Value> {
    json!({"text": "Zürich", "count": 3}).as_object().unwrap().clone()
}

/// This program's client, through its channel.
struct Ours {
    commands: mpsc::Sender<Command>,
    arguments: Arc<Map<String, Value>>,
}

impl Ours {
    async fn connect(url: &str, modern: bool) -> Self {
        let spec = ServerSpec {
            name: ServerName::new("bench"),
            url: url.parse().unwrap(),
            headers: Vec::new(),
            has_credential: false,
            protocol: if modern { Protocol::Auto } else { Protocol::V20251125 },
            ca_pem: None,
            answering: Answering::Everything,
            remembered: None,
            wire: None,
            limits: Limits {
                discovery: Duration::from_secs(10),
                silence: Duration::from_secs(10),
                call: Duration::from_secs(30),
            },
        };
        let (commands, inbox) = mpsc::channel(mcp::COMMANDS);
        let (events, mut reports) = mpsc::channel::<ServerEvent>(64);
        spawn(mcp::client::run(spec, inbox, events, CancellationToken::new()));
        loop {
            let report = reports.recv().await.expect("a report");
            match report.kind {
                ServerEventKind::State(ServerState::Ready) => break,
                ServerEventKind::State(state) => assert!(!state.settled(), "{state:?}"),
                _ => {}
            }
        }
        spawn(async move { while reports.recv().await.is_some() {} });
        Self { commands, arguments: Arc::new(arguments()) }
    }

    async fn call(&self) {
        let (reply, outcome) = oneshot::channel();
        let call = Command::Call {
            call: CallId(1),
            tool: ToolName::new("echo"),
            arguments: Arc::clone(&self.arguments),
            decided: None,
            cancel: CancellationToken::new(),
            reply,
            trace: None,
        };
        self.commands.send(call).await.unwrap();
        let outcome = outcome.await.unwrap();
        assert!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench has no runtime of the program's own")]
fn spawn(job: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(job));
}

async fn sdk(
    url: &str,
    modern: bool,
) -> Result<RunningService<RoleClient, ()>, ClientInitializeError> {
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::with_client(http(), config);
    let lifecycle = if modern {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    ().serve_with_lifecycle(transport, lifecycle).await
}

async fn sdk_call(sdk: &RunningService<RoleClient, ()>) {
    let request = CallToolRequestParams::new("echo").with_arguments(arguments());
    let result = sdk.call_tool(request).await.unwrap();
    assert_eq!(result.content.len(), 1);
}

/// One POST with the same body and headers, the answer parsed and no more.
struct Bare {
    request: reqwest::Request,
    client: reqwest::Client,
}

impl Bare {
    fn new(url: &str, modern: bool) -> Self {
        let client = http();
        let mut request = client.post(url).header("accept", "application/json, text/event-stream");
        let mut params = json!({"name": "echo", "arguments": arguments()});
        if modern {
            request = request
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "echo");
            params["_meta"] = json!({
                "progressToken": 1,
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "bare", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        } else {
            request = request.header("mcp-session-id", SESSION);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        Self { request: request.json(&body).build().unwrap(), client }
    }

    async fn call(&self) {
        let request = self.request.try_clone().unwrap();
        let body = self.client.execute(request).await.unwrap().bytes().await.unwrap();
        let text = body.strip_prefix(b"data: ").unwrap_or(&body);
        let answer: Value = serde_json::from_slice(text).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
    }
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap()
}

/// Starts the server; its base URL.
fn serve() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let router = axum::Router::new()
                .route("/json", post(|headers, body| async move { answer(&headers, &body, false) }))
                .route("/sse", post(|headers, body| async move { answer(&headers, &body, true) }));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
            axum::serve(listener, router).await.unwrap();
        });
    });
    base
}

fn answer(headers: &HeaderMap, body: &Bytes, stream: bool) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap();
    let modern = headers.get("mcp-protocol-version").is_some_and(|v| v == "2026-07-28");
    let text = json!([{"type": "text", "text": "Zürich, Zürich, Zürich"}]);
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"}}),
        "server/discover" => json!({"resultType": "complete", "ttlMs": 60000,
            "cacheScope": "private", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}}}),
        "tools/list" => json!({"resultType": "complete",
            "tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"resultType": "complete", "content": text, "isError": false}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    let (kind, body) = if stream && request["method"] == "tools/call" {
        ("text/event-stream", format!("data: {message}\n\n"))
    } else {
        ("application/json", message.to_string())
    };
    let mut response = ([(header::CONTENT_TYPE, kind)], body).into_response();
    if !modern {
        response.headers_mut().insert("mcp-session-id", HeaderValue::from_static(SESSION));
    }
    response
}
