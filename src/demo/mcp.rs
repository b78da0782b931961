//! The tracker as an MCP server, on the official SDK: both eras, `Host` and `Origin` checked.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::filler;
use super::tools::{self, Definition};
use super::tracker::Tracker;

/// Where a report's resource lives.
const REPORT_URI: &str = "harbor://reports/";
const PROMPT: &str = "triage_task";

/// The service to mount. `cancel` ends its sessions and streams.
pub(super) fn service(
    tracker: Arc<Tracker>,
    extra_tools: usize,
    origins: &[String],
    cancel: CancellationToken,
) -> StreamableHttpService<BugTracker, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_cancellation_token(cancel);
    let factory = move || Ok(BugTracker { tracker: Arc::clone(&tracker), extra_tools });
    StreamableHttpService::new(factory, Arc::default(), config)
}

/// One client's view of the tracker.
#[derive(Debug, Clone)]
pub(super) struct BugTracker {
    tracker: Arc<Tracker>,
    /// Made-up tools beside those of the tracker.
    extra_tools: usize,
}

impl BugTracker {
    fn answer(&self, request: &CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let none = Map::new();
        let arguments = request.arguments.as_ref().unwrap_or(&none);
        match self.tracker.ask(&request.name, arguments) {
            Some(Ok(value)) => Ok(CallToolResult::structured(value)),
            Some(Err(advice)) => Ok(CallToolResult::error(vec![ContentBlock::text(advice)])),
            None if filler::names(self.extra_tools).any(|name| name == request.name) => {
                Ok(CallToolResult::success(vec![ContentBlock::text(filler::ANSWER)]))
            }
            None => Err(ErrorData::invalid_params(
                format!("there is no tool {}; tools/list names them", request.name),
                None,
            )),
        }
    }

    fn resources(&self) -> Vec<Resource> {
        self.tracker
            .reports()
            .iter()
            .map(|report| {
                Resource::new(format!("{REPORT_URI}{}", report.id), report.title.clone())
                    .with_description(format!("Report of task #{}", report.task_number))
                    .with_mime_type("application/json")
            })
            .collect()
    }

    fn read(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let Some(id) = uri.strip_prefix(REPORT_URI) else {
            return Err(unknown_resource(uri));
        };
        let mut arguments = Map::new();
        arguments.insert("report".to_owned(), id.into());
        arguments.insert("summaryLimit".to_owned(), 20_000.into());
        let Some(Ok(report)) = self.tracker.ask("get_report", &arguments) else {
            return Err(unknown_resource(uri));
        };
        let text = serde_json::to_string_pretty(&report).unwrap_or_default();
        let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]))
    }

    fn prompt(&self, request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt {}; prompts/list names them", request.name),
                None,
            ));
        }
        let task = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get("task"))
            .and_then(Value::as_str)
            .ok_or_else(|| ErrorData::invalid_params(format!("{PROMPT} needs `task`"), None))?;
        let task = self.tracker.task(task).map_err(|why| ErrorData::invalid_params(why, None))?;
        let text = format!(
            "Look at task #{number} and explain it. Read the task, its reports and the telemetry \
             of the most telling report to the end. Say what the title claims, what was recorded, \
             and where the two disagree. Quote the entries you rely on, and say what you have not \
             looked at.",
            number = task.number
        );
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
            .with_description(format!("Triage of #{}: {}", task.number, task.title)))
    }
}

impl ServerHandler for BugTracker {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("harbor-bugs", env!("CARGO_PKG_VERSION"))
                    .with_title("Harbor bug tracker (demo)"),
            )
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // The tracker's own stand in the middle: nobody finds them by their place.
        let mut tools = filler::tools(self.extra_tools);
        let middle = tools.len() / 2;
        tools.splice(middle..middle, tools::definitions().into_iter().map(described));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.answer(&request).map(Into::into)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read(&request.uri).map(Into::into)
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let task = PromptArgument::new("task")
            .with_description("Number or id of a task, such as #42")
            .with_required(true);
        let prompt = Prompt::new(
            PROMPT,
            Some("Find out what is behind a task, from its reports and their telemetry"),
            Some(vec![task]),
        )
        .with_title("Triage a task");
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(&request).map(Into::into)
    }
}

fn unknown_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("there is no resource {uri}; resources/list names them"),
        None,
    )
}

fn described(definition: Definition) -> Tool {
    let claims = ToolAnnotations::with_title(definition.title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(definition.name, definition.description, definition.schema)
        .with_title(definition.title)
        .with_annotations(claims)
}
