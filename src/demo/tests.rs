use serde_json::{Value, json};

use secrecy::ExposeSecret;

use super::*;
use crate::runtime::tasks::Tasks;

struct Running {
    demo: Demo,
    client: reqwest::Client,
    cancel: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn running() -> Running {
    let (demo, services) = start().unwrap();
    let cancel = CancellationToken::new();
    let (tasks, _faults) = Tasks::new();
    let stop = cancel.clone();
    tasks.spawn("demo", async move { services.serve(stop).await.unwrap() });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    Running { demo, client, cancel }
}

impl Running {
    fn mcp(&self, body: &Value) -> reqwest::RequestBuilder {
        self.client
            .post(self.demo.mcp.clone())
            .bearer_auth(self.demo.key.expose_secret())
            .header("accept", "application/json, text/event-stream")
            .json(body)
    }

    /// One request of the 2026-07-28 era.
    async fn modern(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name =
            params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = self
            .mcp(&body)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        message(&request.send().await.unwrap().text().await.unwrap())
    }
}

/// The JSON-RPC answer in a body that is JSON or an event stream.
fn message(body: &str) -> Value {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let found = std::iter::once(body.trim()).chain(data).find_map(|text| {
        serde_json::from_str::<Value>(text).ok().filter(|value| value.get("id").is_some())
    });
    found.unwrap_or_else(|| panic!("no answer in {body}"))
}

#[tokio::test]
async fn modern_client_finds_seven_read_only_tools_and_instructions() {
    let demo = running();
    let found = demo.modern("server/discover", json!({})).await;
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    assert!(found["result"]["instructions"].as_str().unwrap().contains("Never invent one"));
    let listed = demo.modern("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 7, "{listed}");
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == json!(true)));
    let called = demo
        .modern("tools/call", json!({ "name": "get_task", "arguments": { "task": "#42" } }))
        .await;
    assert_eq!(called["result"]["structuredContent"]["number"], json!(42), "{called}");
    let failed = demo
        .modern("tools/call", json!({ "name": "get_task", "arguments": { "task": "#1" } }))
        .await;
    assert_eq!(failed["result"]["isError"], json!(true), "{failed}");
}

#[tokio::test]
async fn legacy_client_gets_a_session_resources_and_a_prompt() {
    let demo = running();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let answer = demo.mcp(&hello).send().await.unwrap();
    let session = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    drop(answer);
    let ask = async |body: Value| {
        let request = demo
            .mcp(&body)
            .header("mcp-session-id", &session)
            .header("mcp-protocol-version", "2025-11-25");
        request.send().await.unwrap().text().await.unwrap()
    };
    ask(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let listed =
        message(&ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/list" })).await);
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 9);
    let read = json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": { "uri": resources[0]["uri"] } });
    assert!(
        message(&ask(read).await)["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("environment")
    );
    let prompt = json!({ "jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": { "name": "triage_task", "arguments": { "task": "42" } } });
    assert!(
        message(&ask(prompt).await)["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("#42")
    );
}

#[tokio::test]
async fn without_the_key_or_from_a_web_page_nothing_is_answered() {
    let demo = running();
    let bare = demo.client.post(demo.demo.mcp.clone()).json(&json!({})).send().await.unwrap();
    assert_eq!(bare.status(), 401);
    assert!(bare.headers().contains_key("www-authenticate"));
    let model = format!("{}/models", demo.demo.model);
    assert_eq!(demo.client.get(&model).send().await.unwrap().status(), 401);
    let page = demo.mcp(&json!({})).header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(page.status(), 403);
    let rebound = demo.mcp(&json!({})).header("host", "evil.example").send().await.unwrap();
    assert_eq!(rebound.status(), 403);
}

#[tokio::test]
async fn server_alone_works_without_a_key_but_not_with_a_wrong_one() {
    let (url, _key, services) = server_alone(0).unwrap();
    let cancel = CancellationToken::new();
    let (tasks, _faults) = Tasks::new();
    let stop = cancel.clone();
    tasks.spawn("demo", async move { services.serve(stop).await.unwrap() });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let ask = || {
        client
            .post(url.clone())
            .header("accept", "application/json, text/event-stream")
            .json(&hello)
    };
    assert_eq!(ask().send().await.unwrap().status(), 200);
    assert_eq!(ask().bearer_auth("wrong").send().await.unwrap().status(), 401);
    cancel.cancel();
}

#[tokio::test]
async fn model_streams_pieces_usage_and_done() {
    let demo = running();
    let body = json!({ "model": MODEL, "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "hello" }] });
    let answer = demo
        .client
        .post(format!("{}/chat/completions", demo.demo.model))
        .bearer_auth(demo.demo.key.expose_secret())
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    let events: Vec<&str> = text.split("\n\n").filter(|event| !event.is_empty()).collect();
    assert_eq!(*events.last().unwrap(), "data: [DONE]");
    assert!(events.len() > 20);
    assert!(events[events.len() - 2].contains("total_tokens"));
}

#[tokio::test]
async fn broken_request_to_the_model_is_an_error_in_its_protocol() {
    let demo = running();
    let answer = demo
        .client
        .post(format!("{}/chat/completions", demo.demo.model))
        .bearer_auth(demo.demo.key.expose_secret())
        .json(&json!({ "messages": [] }))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 400);
    assert!(answer.json::<Value>().await.unwrap()["error"]["message"].is_string());
}
