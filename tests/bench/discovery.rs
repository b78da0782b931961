//! Discovery of many servers: fifty slow ones, then a hundred with a hundred tools each.
//!
//! `cargo bench --bench discovery`. All servers are one loopback listener on a thread of its own; the
//! runtime is the program's, without a screen. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::config::{AuditConfig, Config, McpConfig, ServerConfig, UiConfig};
use mini_me_tui::domain::{Annotations, Catalog, ToolDefinition};
use mini_me_tui::pin::Board;
use mini_me_tui::runtime::assemble::{Input, Listed, assemble, policy};
use mini_me_tui::runtime::{self, Interaction, Setup};
use serde_json::{Value, json};

const RUNS: usize = 5;
/// A slow server takes this for each of its two answers, so 200 ms in all.
const SLOW: Duration = Duration::from_millis(100);
const TOOLS: usize = 100;

fn main() {
    let base = serve();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let settle = |count, kind: &str| {
        let servers = (0..count).map(|n| server(&base, kind, n)).collect();
        runtime.block_on(settled(servers))
    };
    // Reads certificates and starts threads, once in the life of a process.
    settle(1, "quick");
    let median = |count, kind| {
        let mut all: Vec<_> = (0..RUNS).map(|_| settle(count, kind).1).collect();
        all.sort();
        all[RUNS / 2]
    };
    let (one, fifty) = (median(1, "slow"), median(50, "slow"));
    println!(" 1 server that takes 200 ms     {:>7.1} ms (median of {RUNS})", ms(one));
    println!(
        "50 servers that take 200 ms     {:>7.1} ms = {:.2} × one (target 1.1)",
        ms(fifty),
        ms(fifty) / ms(one)
    );
    let before = resident();
    let (catalog, time) = settle(100, "quick");
    let tools: usize = catalog.servers.iter().map(|server| server.tools.len()).sum();
    println!("100 servers × {TOOLS} tools: {tools} tools after {:.1} ms", ms(time));
    println!(
        "    resident {:.1} MiB more than before, {:.1} KiB a tool",
        (resident() - before) / 1024.0,
        (resident() - before) / tools as f64
    );
    drop(catalog);
    assembling();
}

/// Starts the runtime and waits until every server is settled; the time that took.
async fn settled(servers: Vec<ServerConfig>) -> (Arc<Catalog>, Duration) {
    let config = Config {
        file: None,
        model: None,
        mcp: McpConfig { servers, ..McpConfig::default() },
        ui: UiConfig::default(),
        keys: BTreeMap::default(),
        audit: AuditConfig::default(),
    };
    let begun = Instant::now();
    let mut handle = runtime::start(Setup::new(config, Interaction::Headless));
    let (catalog, time) = loop {
        if let Notice::CatalogChanged { catalog } = handle.notices.recv().await.unwrap()
            && catalog.settled()
        {
            break (catalog, begun.elapsed());
        }
    };
    assert!(catalog.servers.iter().all(|server| server.state.usable()));
    handle.ops.send(Op::Quit).await.unwrap();
    while handle.notices.recv().await.is_some() {}
    handle.join().await;
    (catalog, time)
}

/// What it costs to put all servers together anew, which every change of a list does.
fn assembling() {
    let listed: Vec<Listed> = Listed::all((0..TOOLS).map(definition));
    let configs: Vec<_> = (0..100).map(|n| server("http://127.0.0.1", "quick", n)).collect();
    let mcp = McpConfig { servers: configs.clone(), ..McpConfig::default() };
    let (policy, pins) = (policy(&mcp, &[], &[]), Board::default());
    let inputs: Vec<_> = configs
        .iter()
        .map(|config| Input { config, listed: Some(&listed), dropped: &[], disabled: &[] })
        .collect();
    let mut all: Vec<_> = (0..RUNS * 4)
        .map(|_| {
            let begun = Instant::now();
            let made = assemble(&inputs, &policy, &pins);
            assert_eq!(made.len(), 100);
            begun.elapsed()
        })
        .collect();
    all.sort();
    println!("    assembled in {:.1} ms (median; target 50 ms)", ms(all[all.len() / 2]));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Resident memory of this process in KiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn server(base: &str, kind: &str, n: usize) -> ServerConfig {
    let url = format!("{base}/{kind}/{n}");
    ServerConfig::new(format!("server{n}").as_str().into(), url.parse().unwrap())
}

/// A tool as servers have them: some 900 bytes.
fn listed_tool(n: usize) -> Value {
    let text = |what: &str| json!({"type": "string", "description": format!("The {what} of it.")});
    json!({
        "name": format!("handle_issue_{n}"),
        "description": "Handles one issue of a repository. Give the owner and the name of the \
            repository and the number of the issue; labels that do not exist are made.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "owner": text("owner"), "repo": text("name"), "title": text("title"),
                "body": text("text"), "assignee": text("assignee"),
                "number": {"type": "integer", "minimum": 1},
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["owner", "repo", "number"],
        },
        "annotations": {"readOnlyHint": false, "destructiveHint": true},
    })
}

fn definition(n: usize) -> ToolDefinition {
    let raw = listed_tool(n);
    ToolDefinition {
        name: raw["name"].as_str().unwrap().into(),
        title: None,
        description: raw["description"].as_str().unwrap().to_owned(),
        input_schema: Arc::new(raw["inputSchema"].clone()),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::new(raw),
    }
}

/// Starts the servers; their base URL.
fn serve() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let router = axum::Router::new().route("/{kind}/{n}", post(answer));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    base
}

async fn answer(Path((kind, _)): Path<(String, usize)>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let (slow, count) = if kind == "slow" { (SLOW, 3) } else { (Duration::ZERO, TOOLS) };
    tokio::time::sleep(slow).await;
    let result = match request["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"resultType": "complete", "ttlMs": 60000,
            "cacheScope": "private", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}}}),
        "tools/list" => {
            let tools: Vec<Value> = (0..count).map(listed_tool).collect();
            json!({"resultType": "complete", "tools": tools})
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    ([(header::CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}
