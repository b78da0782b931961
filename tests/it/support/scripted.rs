//! A scripted MCP server and scripted answers of a model, for runs of the whole program.

use serde_json::{Value, json};

use super::server::{Recorded, Reply, error, result};

/// The desk: an MCP server of the legacy era. `echo` says its arguments, `fail` reports an error,
/// `steps` tells its progress, `cut` loses its answer, `slow` never answers.
pub(crate) fn desk(request: &Recorded) -> Reply {
    let named = request.json()["params"]["name"].as_str().unwrap_or_default().to_owned();
    match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let answer = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "desk", "version": "1"}});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "tools/list") => {
            let tool =
                |name| json!({"name": name, "description": "d", "inputSchema": {"type": "object"}});
            let tools = ["echo", "fail", "steps", "cut", "slow"].map(tool);
            Reply::json(200, &result(request, &json!({ "tools": tools })))
        }
        ("POST", "tools/call") if named == "slow" => Reply::stream().hang(),
        ("POST", "tools/call") if named == "cut" => Reply::stream().bytes(b": begun\n\n").reset(),
        ("POST", "tools/call") if named == "steps" => {
            let token = &request.json()["params"]["_meta"]["progressToken"];
            let step = |done: u32| {
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
                    {"progressToken": token, "progress": done, "total": 2, "message": "a step"}})
            };
            let answer = json!({"content": [{"type": "text", "text": "both"}]});
            // What is told after the answer is of no use to anybody.
            let steps = Reply::stream().event(&step(1)).event(&step(2));
            steps.wait(500).event(&result(request, &answer))
        }
        ("POST", "tools/call") => {
            let said = request.json()["params"]["arguments"].to_string();
            let answer = json!({"content": [{"type": "text", "text": said}],
                "isError": named == "fail"});
            Reply::json(200, &result(request, &answer))
        }
        ("POST", "server/discover") => Reply::json(400, &error(request, -32600, "no session")),
        ("POST", _) => Reply::status(202),
        _ => Reply::status(405),
    }
}

/// An answer of these deltas.
pub(crate) fn streamed(deltas: &[Value], finish: &str) -> Reply {
    let choice = |delta: &Value, finish: Value| {
        json!({"id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut reply = Reply::stream();
    for delta in deltas {
        reply = reply.event(&choice(delta, Value::Null));
    }
    reply.event(&choice(&json!({}), finish.into())).bytes(b"data: [DONE]\n\n")
}

/// An answer that says `text`.
pub(crate) fn says(text: &str) -> Reply {
    streamed(&[json!({"role": "assistant", "content": text})], "stop")
}

/// An answer that calls a tool.
pub(crate) fn calls(tool: &str, arguments: &str) -> Reply {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": tool, "arguments": arguments}});
    streamed(&[json!({"role": "assistant", "tool_calls": [call]})], "tool_calls")
}

/// Whether this asks the model for an answer.
pub(crate) fn is_chat(request: &Recorded) -> bool {
    request.method == "POST" && request.target.ends_with("/chat/completions")
}

/// The text of the last message that the model is sent, and whether it is a tool's result.
pub(crate) fn last(request: &Recorded) -> (String, bool) {
    let messages = request.json()["messages"].as_array().cloned().unwrap_or_default();
    let last = messages.last().cloned().unwrap_or_default();
    (last["content"].as_str().unwrap_or_default().to_owned(), last["role"] == "tool")
}

/// A model that calls the tool named in the user's message and then says that it is done.
pub(crate) fn obedient(request: &Recorded) -> Reply {
    if !is_chat(request) {
        return Reply::status(404);
    }
    match last(request) {
        (_, true) => says("Done."),
        (text, false) => match text.strip_prefix("call ") {
            Some(tool) => calls(tool, "{\"a\": \"word-of-the-call\"}"),
            None => says(&format!("You said: {text}")),
        },
    }
}
