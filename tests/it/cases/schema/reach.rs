//! A call by the name that the model uses reaches its server under the tool's own name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::checks::listed;
use super::offered::Offered;
use crate::support::client::{Client, spec};
use crate::support::server::{Recorded, Reply, Server, error, result};

pub(super) async fn as_wished(value: &Value, offered: &Offered) -> Result<(), String> {
    if *value != json!(true) {
        return Err("only round trips that arrive are known".to_owned());
    }
    called(offered).await.map(drop)
}

pub(super) async fn by_original_name(value: &Value, offered: &Offered) -> Result<(), String> {
    let mut arrived: Vec<String> = called(offered).await?.into_iter().flatten().collect();
    let mut wanted: Vec<String> = listed(value).into_iter().map(str::to_owned).collect();
    arrived.sort();
    wanted.sort();
    if arrived == wanted { Ok(()) } else { Err(format!("{arrived:?} arrived")) }
}

/// Has the model call every tool once, each at a server of its own; what arrived there.
async fn called(offered: &Offered) -> Result<Vec<Vec<String>>, String> {
    let mut by_server: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for sent in &offered.sent {
        let call = offered.called(&sent.name, &json!({}));
        let known = offered.catalog.by_model_name(&call.name);
        let known = known.ok_or_else(|| format!("{} leads nowhere", call.name))?;
        if known.id != sent.id {
            return Err(format!("{} leads to {} instead of {}", sent.name, known.id, sent.id));
        }
        let tools = by_server.entry(known.id.server.as_str().to_owned()).or_default();
        tools.push(known.id.tool.as_str().to_owned());
    }
    let mut all = Vec::new();
    for (server, tools) in by_server {
        let arrived = at_a_server(&tools).await;
        if arrived != tools {
            return Err(format!("{server} was called for {arrived:?} instead of {tools:?}"));
        }
        all.push(arrived);
    }
    Ok(all)
}

async fn at_a_server(tools: &[String]) -> Vec<String> {
    let listed: Vec<Value> =
        tools.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    let server = Server::start(move |request: &Recorded| {
        let answer = match request.rpc().as_str() {
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            }
            "tools/list" => json!({ "tools": listed }),
            "tools/call" => json!({"content": []}),
            _ => return Reply::json(404, &error(request, -32601, "Method not found")),
        };
        Reply::json(200, &result(request, &answer))
    })
    .await;
    let client = Client::ready(spec(&server.url("/mcp"))).await;
    for tool in tools {
        client.call(tool, &json!({})).await;
    }
    client.stop().await;
    let calls = server.asked("tools/call").into_iter();
    calls.map(|call| call.json()["params"]["name"].as_str().unwrap().to_owned()).collect()
}
