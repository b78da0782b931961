//! Catalogs for the tests of the commands.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::domain::{
    Annotations, Catalog, Era, Mode, PinState, Server, ServerConnection, ServerState, Tool,
    ToolDefinition, ToolId,
};

/// A catalog of these servers.
pub(crate) fn catalog(servers: Vec<Server>) -> Catalog {
    Catalog::new(servers, Vec::new(), 1)
}

/// A ready server with these read-only tools.
pub(crate) fn server(name: &str, tools: &[&str]) -> Server {
    Server {
        name: name.into(),
        url: format!("https://{name}.example/mcp"),
        host: format!("{name}.example:443"),
        state: ServerState::Ready,
        connection: Some(ServerConnection {
            era: Era::Modern,
            protocol_version: "2026-07-28".to_owned(),
            session: false,
            capabilities: vec!["tools".to_owned()],
            identity: "test 1".to_owned(),
            instructions: None,
        }),
        permission: Mode::Ask,
        tools: tools.iter().map(|tool| Arc::new(self::tool(name, tool))).collect(),
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: vec![Duration::from_millis(12)],
    }
}

fn tool(server: &str, name: &str) -> Tool {
    let definition = ToolDefinition {
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: Arc::new(json!({ "type": "object" })),
        output_schema: None,
        annotations: Annotations { read_only_hint: Some(true), ..Annotations::default() },
        raw: Arc::new(json!({})),
    };
    Tool {
        id: ToolId::new(server, name),
        model_name: format!("{server}_{name}").as_str().into(),
        definition: Arc::new(definition),
        pin: "0f".to_owned(),
        pin_state: PinState::New,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 100,
    }
}
