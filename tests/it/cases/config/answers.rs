//! What stands behind every address of a case: an MCP server, a model and a proxy in one, told apart
//! by what they are asked.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::support::fake::{Answer, Request};

/// What the endpoints do.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The tools of the server at a port, as `tools/list` has them.
    pub(super) tools: BTreeMap<u16, Vec<Value>>,
    /// What servers at these ports do instead of being MCP servers: in order, the last one again.
    pub(super) instead: BTreeMap<u16, Vec<Answer>>,
    /// Calls that the model makes, one for each message of the user: name and arguments.
    pub(super) calls: Mutex<VecDeque<(String, String)>>,
    counts: Mutex<BTreeMap<u16, usize>>,
}

impl Answers {
    pub(super) fn answer(&self, request: &Request) -> Answer {
        if request.proxied().is_some() {
            return Answer::new(502, "text/plain", "this proxy reaches nobody");
        }
        if let Some(instead) = self.instead.get(&request.port) {
            let mut counts = self.counts.lock().unwrap();
            let count = counts.entry(request.port).or_default();
            *count += 1;
            return instead.get(*count - 1).or_else(|| instead.last()).unwrap().clone();
        }
        let path = request.target.split('?').next().unwrap();
        match request.method.as_str() {
            "POST" if path.ends_with("/chat/completions") => self.completion(request),
            "POST" if path.ends_with("/messages") => self.message(request),
            "POST" if !request.rpc().is_empty() => self.rpc(request),
            "POST" => Answer::status(202),
            _ => Answer::status(405),
        }
    }

    /// An MCP server of the legacy era with a session.
    fn rpc(&self, request: &Request) -> Answer {
        let asked = request.json();
        if asked.get("id").is_none() {
            return Answer::status(202);
        }
        let error = |code: i64, message: &str| Err(json!({ "code": code, "message": message }));
        let outcome = match asked["method"].as_str().unwrap() {
            "initialize" => Ok(json!({ "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} }, "serverInfo": { "name": "fake", "version": "1" } })),
            "ping" => Ok(json!({})),
            "tools/list" => {
                Ok(json!({ "tools": self.tools.get(&request.port).cloned().unwrap_or_default() }))
            }
            "tools/call" => Ok(json!({ "content": [{ "type": "text", "text": "it is done" }] })),
            _ => error(-32601, "Method not found"),
        };
        let mut answer = json!({ "jsonrpc": "2.0", "id": asked["id"] });
        match outcome {
            Ok(result) => answer["result"] = result,
            Err(error) => answer["error"] = error,
        }
        let mut answer = Answer::json(200, &answer);
        if let Answer::Whole { headers, .. } = &mut answer
            && request.rpc() == "initialize"
        {
            headers.push(("Mcp-Session-Id".to_owned(), "session-of-the-fake".to_owned()));
        }
        answer
    }

    /// The call to make now; `None` after a tool's answer, or where none is left.
    fn next_call(&self, request: &Request) -> Option<(String, String)> {
        let asked = request.json();
        let last = asked["messages"].as_array()?.last()?.clone();
        let answered = last["role"] == "tool"
            || last["content"]
                .as_array()
                .is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_result"));
        if answered { None } else { self.calls.lock().unwrap().pop_front() }
    }

    /// Chat completions.
    fn completion(&self, request: &Request) -> Answer {
        let (delta, finish) = match self.next_call(request) {
            None => (json!({ "role": "assistant", "content": "All right." }), "stop"),
            Some((name, arguments)) => {
                let call = json!({ "index": 0, "id": call_id(request), "type": "function",
                    "function": { "name": name, "arguments": arguments } });
                (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
            }
        };
        let chunk = |delta: &Value, finish: &Value| {
            json!({ "id": "x", "object": "chat.completion.chunk", "model": "m",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
        };
        let events = [chunk(&delta, &Value::Null), chunk(&json!({}), &finish.into())];
        let [first, last] = events.map(|event| format!("data: {event}\n\n"));
        Answer::new(200, "text/event-stream", format!("{first}{last}data: [DONE]\n\n"))
    }

    /// Anthropic's messages.
    fn message(&self, request: &Request) -> Answer {
        let (block, delta, stop) = match self.next_call(request) {
            None => (
                json!({ "type": "text", "text": "" }),
                json!({ "type": "text_delta", "text": "All right." }),
                "end_turn",
            ),
            Some((name, arguments)) => (
                json!({ "type": "tool_use", "id": call_id(request), "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": arguments }),
                "tool_use",
            ),
        };
        let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
        let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "m",
            "content": [], "usage": usage });
        let events = [
            json!({ "type": "message_start", "message": message }),
            json!({ "type": "content_block_start", "index": 0, "content_block": block }),
            json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": usage }),
            json!({ "type": "message_stop" }),
        ];
        let event = |event: &Value| {
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
        };
        let body = events.iter().map(event).collect::<Vec<_>>().concat();
        Answer::new(200, "text/event-stream", body)
    }
}

/// An id that no other call of the conversation has.
fn call_id(request: &Request) -> String {
    let count = request.json()["messages"].as_array().map_or(0, Vec::len);
    format!("call_{count}")
}

/// What a server with this fault answers; `Ok(None)` if nothing listens.
pub(super) fn fault(name: &str) -> Result<Option<Answer>, String> {
    Ok(Some(match name {
        "refused" => return Ok(None),
        "timeout" | "hang" => Answer::Hang,
        "reset" | "closed" | "drop" => Answer::Close,
        "bad_json" => Answer::new(200, "application/json", "{\"jsonrpc\": \"2.0\", \"id\""),
        "html" => Answer::new(200, "text/html", "<html>Sign in</html>"),
        "empty" => Answer::new(200, "application/json", ""),
        status => match status.parse() {
            Ok(status) => Answer::new(status, "text/plain", "no"),
            Err(_) => return Err(format!("the driver does not know the fault `{status}`")),
        },
    }))
}

/// An answer as a case describes it.
pub(super) fn described(answer: &Value, place: impl Fn(&str) -> String) -> Result<Answer, String> {
    let mut status = 200;
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut body = Vec::new();
    for (key, value) in answer.as_object().ok_or("an answer is no map")? {
        let text = |value: &Value| match value {
            Value::String(text) => place(text),
            other => other.to_string(),
        };
        match key.as_str() {
            "status" => status = value.as_u64().and_then(|code| code.try_into().ok()).unwrap_or(0),
            "location" => headers.push(("Location".to_owned(), text(value))),
            "headers" => {
                let given = value.as_object().ok_or("`headers` is no map")?;
                headers.extend(given.iter().map(|(name, value)| (name.clone(), text(value))));
            }
            "body" | "body_text" | "body_json" => body = text(value).into_bytes(),
            "hang" => return Ok(Answer::Hang),
            other => return Err(format!("the driver does not know `{other}` of an answer")),
        }
    }
    Ok(Answer::Whole { status, headers, body })
}
