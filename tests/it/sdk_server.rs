//! The client against a server made with the official SDK, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mini_me_tui::config::Protocol;
use mini_me_tui::domain::{Era, Outcome};
use mini_me_tui::mcp::{ServerEventKind, ServerSpec};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::client::{Client, eventually, spawn, spec, text};

#[derive(Clone, Default)]
struct Desk {
    started: Arc<AtomicBool>,
    cancelled: Arc<AtomicBool>,
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<rmcp::RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let schema = schema.as_object().unwrap();
        let tool = |name: &'static str| Tool::new(name, "d", schema.clone());
        let tools = ["echo", "fail", "refuse", "steps", "slow"].into_iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<rmcp::RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = request.arguments.as_ref().and_then(|all| all.get("text")?.as_str());
        let said = vec![ContentBlock::text(said.unwrap_or("nothing"))];
        match request.name.as_ref() {
            "fail" => Ok(CallToolResult::error(said).into()),
            "refuse" => Err(ErrorData::invalid_params("not like this", None)),
            "steps" => {
                let token = context.meta.get_progress_token().expect("a progress token");
                let step = ProgressNotificationParam::new(token, 1.0).with_total(2.0);
                context.peer.notify_progress(step).await.expect("progress is delivered");
                Ok(CallToolResult::success(said).into())
            }
            "slow" => {
                self.started.store(true, Ordering::SeqCst);
                context.ct.cancelled().await;
                self.cancelled.store(true, Ordering::SeqCst);
                Ok(CallToolResult::success(said).into())
            }
            _ => Ok(CallToolResult::success(said).into()),
        }
    }
}

/// The desk as a service; it ends with the token.
async fn serve(desk: &Desk) -> (ServerSpec, CancellationToken) {
    let stop = CancellationToken::new();
    let desk = desk.clone();
    let mut config = StreamableHttpServerConfig::default();
    config.cancellation_token = stop.child_token();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(desk.clone()), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stopped = stop.clone().cancelled_owned();
    spawn(async move {
        axum::serve(listener, router).with_graceful_shutdown(stopped).await.unwrap();
    });
    (spec(&url), stop)
}

async fn does_everything(protocol: Protocol, era: Era) {
    let desk = Desk::default();
    let (mut spec, stop) = serve(&desk).await;
    spec.protocol = protocol;
    let client = Client::ready(spec).await;
    assert_eq!(client.connection().await.era, era);
    assert_eq!(client.tools(), ["echo", "fail", "refuse", "steps", "slow"]);

    let arguments = json!({"text": "Zürich"});
    let echo = client.call("echo", &arguments).await;
    assert_eq!((echo.word(), text(&echo).as_str()), ("ok", "Zürich"));
    let fail = client.call("fail", &arguments).await;
    assert_eq!((fail.word(), text(&fail).as_str()), ("tool error", "Zürich"));
    let refuse = client.call("refuse", &arguments).await;
    assert_eq!(refuse.word(), "tool error");
    assert!(text(&refuse).contains("-32602: not like this"), "{refuse:?}");

    let calling = client.begin("steps", &arguments).await;
    let id = calling.id;
    assert_eq!(text(&calling.outcome().await), "Zürich");
    let progress = client
        .until(|events| {
            events.iter().find_map(|kind| match kind {
                ServerEventKind::Progress { call, progress } if *call == id => {
                    Some(progress.clone())
                }
                _ => None,
            })
        })
        .await;
    assert_eq!((progress.done, progress.total), (1.0, Some(2.0)));

    let calling = client.begin("slow", &arguments).await;
    eventually("it runs", || desk.started.load(Ordering::SeqCst)).await;
    calling.cancel.cancel();
    assert_eq!(calling.outcome().await, Outcome::Cancelled { sent: true });
    eventually("the server stops it", || desk.cancelled.load(Ordering::SeqCst)).await;
    client.stop().await;
    stop.cancel();
}

#[tokio::test]
async fn a_modern_sdk_server_is_listed_called_and_cancelled() {
    does_everything(Protocol::Auto, Era::Modern).await;
}

#[tokio::test]
async fn a_legacy_sdk_server_is_listed_called_and_cancelled() {
    does_everything(Protocol::V20251125, Era::Legacy).await;
}
