//! JSON shapes of the commands: one shape per command, camelCase, documented in the README.
//!
//! Values are raw: the encoder escapes what a terminal could mistake for a command.

use serde_json::{Value, json};

use super::output;
use crate::domain::{
    Call, Catalog, Content, Era, InquiryFault, Outcome, PinState, Server, ServerName, Tool, Usage,
    Warning,
};
use crate::text;

/// A document as one line in which every character can be seen: JSON itself escapes the controls
/// below U+0020 only.
pub fn line(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if text::is_unseen(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.extend([format!("\\u{unit:04x}")]);
            }
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

/// `tools --json`, with `--schemas` or without.
pub fn tools(catalog: &Catalog, only: Option<&ServerName>, schemas: bool) -> Value {
    let servers = || {
        catalog.servers.iter().filter(move |server| only.is_none_or(|name| server.name == *name))
    };
    let filtered = servers().flat_map(|server| {
        server
            .filtered
            .iter()
            .map(|tool| json!({ "server": server.name, "name": tool.name, "reason": tool.reason }))
    });
    let general = catalog.warnings.iter().filter(|_| only.is_none());
    let warned = general.chain(servers().flat_map(|server| &server.warnings));
    json!({
        "tools": servers().flat_map(|server| &server.tools).map(|tool| self::tool(tool, schemas)).collect::<Vec<_>>(),
        "filtered": filtered.collect::<Vec<_>>(),
        "warnings": warned.map(warning).collect::<Vec<_>>(),
    })
}

fn tool(tool: &Tool, schemas: bool) -> Value {
    let mut shape = json!({
        "server": tool.id.server,
        "name": tool.id.tool,
        "modelName": tool.model_name,
        "permission": tool.permission.word(),
        "readOnly": tool.definition.annotations.read_only_hint,
        "tokens": tool.tokens,
        "pin": tool.pin,
        "pinState": pin_state(tool.pin_state),
    });
    if let (true, Some(members)) = (schemas, shape.as_object_mut()) {
        members.insert("inputSchema".to_owned(), Value::clone(&tool.definition.input_schema));
        let output = tool.definition.output_schema.as_deref().cloned();
        members.insert("outputSchema".to_owned(), output.unwrap_or_default());
    }
    shape
}

/// The word for how a definition compares with the remembered one.
pub fn pin_state(state: PinState) -> &'static str {
    match state {
        PinState::Known => "known",
        PinState::New => "new",
        PinState::Changed => "changed",
    }
}

/// `servers --json`.
pub fn servers(catalog: &Catalog) -> Value {
    json!({ "servers": catalog.servers.iter().map(server).collect::<Vec<_>>() })
}

fn server(server: &Server) -> Value {
    let connection = server.connection.as_ref();
    json!({
        "name": server.name,
        "url": server.url,
        "state": server.state.word(),
        "reason": server.state.reason(),
        "era": connection.map(|connection| era(connection.era)),
        "protocolVersion": connection.map(|connection| &connection.protocol_version),
        "session": connection.map(|connection| connection.session),
        "capabilities": connection.map(|connection| &connection.capabilities),
        "tools": server.tools.len(),
        "latencyMs": server.latency.last().map(millis),
        "warnings": server.warnings.iter().map(warning).collect::<Vec<_>>(),
    })
}

/// The word for an era.
pub fn era(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// A warning: `{source, message, advice}`.
pub fn warning(warning: &Warning) -> Value {
    json!({
        "source": output::source(&warning.source),
        "message": warning.message,
        "advice": warning.advice,
    })
}

/// Milliseconds with three digits after the point.
pub fn millis(duration: &std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

/// `call --json`.
pub fn call(outcome: &Outcome, took: std::time::Duration) -> Value {
    let output = match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => Some(output),
        _ => None,
    };
    let mut shape = json!({
        "outcome": outcome.word(),
        "content": output.map_or_else(Vec::new, |output| output.content.iter().map(content).collect()),
        "structuredContent": output.and_then(|output| output.structured.as_ref()),
        "durationMs": millis(&took),
    });
    if let (None, Some(members)) = (output, shape.as_object_mut()) {
        members.insert("reason".to_owned(), reason(outcome).into());
    }
    shape
}

/// Why a call gave no answer; empty where it did.
pub fn reason(outcome: &Outcome) -> String {
    use crate::domain::DeniedBy;
    match outcome {
        Outcome::Ok(_) | Outcome::ToolError(_) => String::new(),
        Outcome::InvalidArguments { message } => message.clone(),
        Outcome::NotSent { reason } | Outcome::Unknown { reason } => reason.clone(),
        Outcome::Cancelled { sent: true } => "interrupted; it may have run".to_owned(),
        Outcome::Cancelled { sent: false } => "interrupted before it was sent".to_owned(),
        Outcome::Denied(DeniedBy::User { note }) => note.clone(),
        Outcome::Denied(DeniedBy::Rule { rule }) => rule.clone(),
        Outcome::Denied(DeniedBy::Headless { rule, why }) => {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            // It is made to be pasted, and servers choose the names of their tools.
            let rule = rule.replace('\'', "'\\''");
            format!(
                "it would ask{why}, and nobody is here to be asked; --allow '{rule}' would allow it"
            )
        }
    }
}

/// Servers that gave no answer: `{server, reason}` each.
pub fn failed(failed: &[(ServerName, InquiryFault)]) -> Vec<Value> {
    let one = |(server, fault): &(ServerName, InquiryFault)| json!({ "server": server, "reason": fault.message });
    failed.iter().map(one).collect()
}

/// A part of an answer, in the shape that servers give it.
pub fn content(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Binary { kind, mime, uri, data, .. } if kind == "resource" => {
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "blob": data } })
        }
        Content::Binary { kind, mime, data, .. } => {
            json!({ "type": kind, "mimeType": mime, "data": data })
        }
        Content::Resource { uri, text } => {
            json!({ "type": "resource", "resource": { "uri": uri, "text": text } })
        }
        Content::Link { uri, name } => json!({ "type": "resource_link", "uri": uri, "name": name }),
        Content::Unknown(value) => value.clone(),
    }
}

/// Who a call is, in the events of `exec --json`.
pub fn call_head(call: &Call) -> Value {
    json!({
        "id": call.id,
        "server": call.tool.server,
        "tool": call.tool.tool,
        "modelName": call.model_name,
        "arguments": *call.arguments,
    })
}

/// Token counts.
pub fn usage(usage: &Usage) -> Value {
    json!({ "input": usage.input, "output": usage.output, "cached": usage.cached })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::ToolOutput;

    #[test]
    fn a_rule_to_paste_stays_one_word_whatever_the_tool_is_called() {
        let rule = "s/x'; touch pwned; '".to_owned();
        let denied =
            Outcome::Denied(crate::domain::DeniedBy::Headless { rule, why: String::new() });
        let said = reason(&denied);
        assert!(said.contains(r"--allow 's/x'\''; touch pwned; '\''' would"), "{said}");
    }

    #[test]
    fn invisible_and_c1_characters_are_escaped_and_mean_the_same() {
        let value = json!({ "a": "x\u{1b}[31m\u{9b}31m\u{202e}y" });
        let shown = line(&value);
        assert!(shown.trim_end().chars().all(|c| (' '..='~').contains(&c)), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }

    #[test]
    fn call_has_the_documented_shape() {
        let output = ToolOutput {
            content: vec![Content::Text("hi".to_owned())],
            structured: Some(json!({ "a": 1 })),
            remarks: Vec::new(),
        };
        assert_eq!(
            call(&Outcome::Ok(output), Duration::from_micros(12_500)),
            json!({
                "outcome": "ok",
                "content": [{ "type": "text", "text": "hi" }],
                "structuredContent": { "a": 1 },
                "durationMs": 12.5,
            })
        );
    }

    #[test]
    fn call_that_gave_no_answer_says_why() {
        let shape = call(&Outcome::NotSent { reason: "gone".to_owned() }, Duration::ZERO);
        assert_eq!(shape["outcome"], "not sent");
        assert_eq!((&shape["content"], &shape["reason"]), (&json!([]), &json!("gone")));
    }
}
