//! From a list of tools to what a provider is sent of it.

use std::time::{Duration, Instant};

use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::config::{McpConfig, ModelConfig, ServerConfig};
use mini_me_tui::domain::model::{ModelRequest, ToolOffer};
use mini_me_tui::domain::{
    Catalog, Era, Message, Mode, RequestedCall, Server, ServerState, ToolId,
};
use mini_me_tui::mcp::model::tool::ToolList;
use mini_me_tui::pin::Board;
use mini_me_tui::provider::openai::Omit;
use mini_me_tui::provider::{Decoder, ModelEvent, anthropic, openai};
use mini_me_tui::runtime::assemble::{self, Input, Listed};
use serde_json::{Value, json};

/// One tool as a provider is sent it.
pub(super) struct Sent {
    pub(super) name: String,
    pub(super) parameters: Value,
    /// The tool that the catalog says it is.
    pub(super) id: ToolId,
    /// Its schema as the server gave it.
    pub(super) original: Value,
}

/// All servers of a case, and what came of their tools.
pub(super) struct Offered {
    pub(super) sent: Vec<Sent>,
    pub(super) catalog: Catalog,
    /// All tools as they were listed, in order.
    pub(super) listed: Vec<ToolId>,
    /// Messages and advice.
    pub(super) warnings: Vec<String>,
    pub(super) took: Duration,
    config: ModelConfig,
    renames: mini_me_tui::provider::Renames,
}

impl Offered {
    pub(super) fn of(input: &Value) -> Result<Self, String> {
        let servers = input["servers"].as_array().ok_or("the input has no servers")?;
        Self::of_servers(servers, &config(input["target"].as_str())?)
    }

    /// The same with the servers in another order, as when they are heard of in another order.
    pub(super) fn turned_round(input: &Value) -> Result<Self, String> {
        let servers = input["servers"].as_array().ok_or("the input has no servers")?;
        let turned: Vec<Value> = servers.iter().rev().cloned().collect();
        Self::of_servers(&turned, &config(input["target"].as_str())?)
    }

    fn of_servers(servers: &[Value], config: &ModelConfig) -> Result<Self, String> {
        let begun = Instant::now();
        let mut listed = Vec::new();
        let mut configs = Vec::new();
        let mut lists = Vec::new();
        for server in servers {
            let name = server["name"].as_str().ok_or("a server has no name")?;
            let tools = server["tools"].as_array().ok_or("a server has no tools")?;
            let named = tools.iter().filter_map(|tool| tool["name"].as_str());
            listed.extend(named.map(|tool| ToolId::new(name, tool)));
            let mut list = ToolList::default();
            list.take_page(json!({ "tools": tools }), Era::Modern)?;
            let definitions = list.tools.into_iter().map(|tool| tool.definition);
            lists.push((Listed::all(definitions), list.dropped));
            configs.push(configured(name, configs.len()));
        }
        let mcp = McpConfig { servers: configs.clone(), ..McpConfig::default() };
        let inputs: Vec<Input<'_>> = configs
            .iter()
            .zip(&lists)
            .map(|(config, (tools, dropped))| Input {
                config,
                listed: Some(tools),
                dropped,
                disabled: &[],
            })
            .collect();
        let policy = assemble::policy(&mcp, &[], &[]);
        let assembled = assemble::assemble(&inputs, &policy, &Board::default());
        let servers = configs.iter().zip(assembled).map(|(config, made)| Server {
            name: config.name.clone(),
            url: config.url.to_string(),
            host: config.url.host_str().unwrap().to_owned(),
            state: ServerState::Ready,
            connection: None,
            permission: Mode::Ask,
            tools: made.tools,
            filtered: made.filtered,
            warnings: made.warnings,
            latency: Vec::new(),
        });
        let catalog = Catalog::new(servers.collect(), Vec::new(), 1);
        let warnings =
            catalog.all_warnings().map(|w| format!("{:?} {} {}", w.source, w.message, w.advice));
        let warnings = warnings.collect();
        let (sent, renames) = send(&catalog, config)?;
        let took = begun.elapsed();
        Ok(Self { sent, catalog, listed, warnings, took, config: config.clone(), renames })
    }

    pub(super) fn by_tool(&self, name: &str) -> Result<&Sent, String> {
        let found = self.sent.iter().find(|sent| sent.id.tool.as_str() == name);
        found.ok_or_else(|| format!("{name} is not offered"))
    }

    /// A call as the model makes it, read from the bytes of its answer.
    pub(super) fn called(&self, name: &str, arguments: &Value) -> RequestedCall {
        let renames = self.renames.clone();
        let (mut decoder, bytes): (Decoder, String) = if is_anthropic(&self.config) {
            (anthropic::decoder(&self.config, renames, 1), messages(name, arguments))
        } else {
            (openai::decoder(&self.config, renames, 1), chunks(name, arguments))
        };
        let mut events = Vec::new();
        decoder.push(bytes.as_bytes(), &mut events).unwrap();
        decoder.finish(&mut events).unwrap();
        let call = events.into_iter().find_map(|event| match event {
            ModelEvent::Call(call) => Some(call),
            _ => None,
        });
        call.expect("a call")
    }
}

/// The kind of endpoint that a case is about.
fn config(target: Option<&str>) -> Result<ModelConfig, String> {
    let (provider, base) = match target {
        Some("openai") => (ProviderKind::OpenAi, "https://api.openai.com/v1"),
        Some("anthropic") => (ProviderKind::Anthropic, "https://api.anthropic.com"),
        Some("gemini-compat") => {
            (ProviderKind::OpenAi, "https://generativelanguage.googleapis.com/v1beta/openai")
        }
        other => return Err(format!("an unknown target: {other:?}")),
    };
    Ok(ModelConfig::new(provider, base.parse().unwrap(), "m".to_owned()))
}

fn is_anthropic(config: &ModelConfig) -> bool {
    config.provider == ProviderKind::Anthropic
}

fn configured(name: &str, nth: usize) -> ServerConfig {
    let url = format!("https://server-{nth}.example.test/mcp");
    ServerConfig::new(name.into(), url.parse().unwrap())
}

/// What the request to the model says of the tools.
fn send(
    catalog: &Catalog,
    config: &ModelConfig,
) -> Result<(Vec<Sent>, mini_me_tui::provider::Renames), String> {
    let tools = catalog.tools().map(|tool| ToolOffer {
        name: tool.model_name.clone(),
        description: tool.definition.description.clone(),
        schema: tool.definition.input_schema.clone(),
    });
    let request = ModelRequest {
        system: String::new(),
        messages: [Message::User { text: "hello".to_owned() }].into(),
        tools: tools.collect(),
        max_output_tokens: Some(100),
        temperature: None,
    };
    let made = if is_anthropic(config) {
        anthropic::request(&request, config, Omit::default())
    } else {
        openai::request(&request, config, Omit::default())
    };
    let sent = made.body["tools"].as_array().cloned().unwrap_or_default();
    let sent = sent.iter().map(|tool| {
        let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
        let name = tool["name"].as_str().ok_or("a tool is sent without a name")?;
        let known = catalog.by_model_name(&name.into());
        let known = known.ok_or_else(|| format!("nobody knows the name {name}"))?;
        let parameters = tool.get("parameters").or_else(|| tool.get("input_schema"));
        Ok(Sent {
            name: name.to_owned(),
            parameters: parameters.cloned().ok_or("a tool is sent without parameters")?,
            id: known.id.clone(),
            original: Value::clone(&known.definition.input_schema),
        })
    });
    Ok((sent.collect::<Result<_, String>>()?, made.renames))
}

fn chunks(name: &str, arguments: &Value) -> String {
    let call = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()}});
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "x", "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let call = chunk(json!({"role": "assistant", "tool_calls": [call]}), Value::Null);
    let end = chunk(json!({}), json!("tool_calls"));
    format!("data: {call}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

fn messages(name: &str, arguments: &Value) -> String {
    let block = json!({"type": "tool_use", "id": "c1", "name": name, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]
    .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
    .concat()
}
