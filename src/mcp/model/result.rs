//! What a tool answered (D13–D15), and what other answers to a call mean.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::domain::{Content, Era, Outcome, ToolOutput};
use crate::jsonrpc::{ErrorObject, code};

/// Longest `data` of an error that is quoted, in bytes.
const DATA_LIMIT: usize = 2000;

/// Where an error says that it is elicitation that is missing.
const ELICITATION: &str = "/requiredCapabilities/elicitation";

/// The outcome that a result of `tools/call` stands for.
pub fn outcome(result: Value, era: Era) -> Outcome {
    let Value::Object(mut result) = result else {
        return unusable("its result is not an object");
    };
    if let Some(outcome) = of_another_type(&result, era) {
        return outcome;
    }
    let failed = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let mut remarks = Vec::new();
    let content = contents(result.remove("content"), &mut remarks);
    let output = ToolOutput { content, structured: result.remove("structuredContent"), remarks };
    if failed { Outcome::ToolError(output) } else { Outcome::Ok(output) }
}

/// The outcome that an error answer to `tools/call` stands for: the model has to see it.
pub fn error_outcome(error: &ErrorObject) -> Outcome {
    let mut text = format!("The server answered with error {}: {}", error.code, error.message);
    if error.code == code::MISSING_CAPABILITY && error.data.pointer(ELICITATION).is_some() {
        text.push_str(
            "\nThe tool has to ask the user something, and in this run nobody is there to answer.",
        );
    }
    if !error.data.is_null() {
        let data = error.data.to_string();
        let shown = super::cut(&data, DATA_LIMIT);
        text.push_str("\nDetails: ");
        text.push_str(shown);
        if shown.len() < data.len() {
            text.push('…');
        }
    }
    tool_error(text)
}

/// A failure in words of our own.
pub fn tool_error(text: String) -> Outcome {
    Outcome::ToolError(ToolOutput { content: vec![Content::Text(text)], ..ToolOutput::default() })
}

/// An answer that means nothing.
pub fn unusable(what: &str) -> Outcome {
    let reason = format!("The server answered, but {what}. The call may have run.");
    Outcome::Unknown { reason }
}

/// The outcome of a call that ends before the server is done with it, for what it did (R6).
pub fn unfinished(why: &str) -> Outcome {
    tool_error(format!("The server {why}; the call was not finished."))
}

/// P6: an answer of another type than the result of a call.
fn of_another_type(result: &Map<String, Value>, era: Era) -> Option<Outcome> {
    if era == Era::Legacy {
        return None;
    }
    match result.get("resultType") {
        None => None,
        Some(Value::String(kind)) if kind == "complete" => None,
        Some(other) => Some(unusable(&format!("with a result of an unknown type ({other})"))),
    }
}

fn contents(content: Option<Value>, remarks: &mut Vec<String>) -> Vec<Content> {
    match content {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        Some(other) => {
            remarks.push("the server's content is not a list".to_owned());
            vec![Content::Unknown(other)]
        }
    }
}

/// D14; what is malformed or not known stays as it came (J8).
pub(super) fn block(block: Value) -> Content {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let known = match kind {
        "text" => text(&block, "text").map(Content::Text),
        "image" | "audio" => binary(&block, kind, "data"),
        "resource" => block.get("resource").and_then(resource),
        "resource_link" => link(&block),
        _ => None,
    };
    known.unwrap_or(Content::Unknown(block))
}

pub(super) fn text(block: &Value, key: &str) -> Option<String> {
    block.get(key)?.as_str().map(str::to_owned)
}

pub(super) fn binary(block: &Value, kind: &str, key: &str) -> Option<Content> {
    let data = block.get(key)?.as_str()?;
    Some(Content::Binary {
        kind: kind.to_owned(),
        mime: text(block, "mimeType").unwrap_or_default(),
        uri: text(block, "uri").unwrap_or_default(),
        size: decoded_size(data),
        data: Arc::from(data),
    })
}

fn resource(resource: &Value) -> Option<Content> {
    match text(resource, "text") {
        Some(text_of) => Some(Content::Resource {
            uri: text(resource, "uri").unwrap_or_default(),
            text: text_of,
        }),
        None => binary(resource, "resource", "blob"),
    }
}

fn link(block: &Value) -> Option<Content> {
    let uri = text(block, "uri")?;
    let name = text(block, "title").or_else(|| text(block, "name")).unwrap_or_default();
    Some(Content::Link { uri, name })
}

/// Bytes that Base64 text stands for, without decoding it.
fn decoded_size(data: &str) -> usize {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    (data.len() * 3 / 4).saturating_sub(padding)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(result: Value) -> ToolOutput {
        let Outcome::Ok(output) = outcome(result, Era::Modern) else { panic!("not ok") };
        output
    }

    #[test]
    fn every_kind_of_content_is_read_and_the_unknown_is_kept() {
        let odd = json!({"type": "hologram", "x": 1});
        let broken = json!({"type": "text"});
        let output = output(json!({"content": [
            {"type": "text", "text": "hi", "annotations": {"priority": 1}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b", "text": "t"}},
            {"type": "resource", "resource": {"uri": "a:c", "blob": "AA==", "mimeType": "x/y"}},
            {"type": "resource_link", "uri": "a:d", "name": "n", "title": "N"},
            odd, broken
        ]}));
        let binary = |kind: &str, mime: &str, uri: &str, size, data: &str| Content::Binary {
            kind: kind.to_owned(),
            mime: mime.to_owned(),
            uri: uri.to_owned(),
            size,
            data: Arc::from(data),
        };
        assert_eq!(
            output.content,
            [
                Content::Text("hi".to_owned()),
                binary("image", "image/png", "", 3, "AAAA"),
                Content::Resource { uri: "a:b".to_owned(), text: "t".to_owned() },
                binary("resource", "x/y", "a:c", 1, "AA=="),
                Content::Link { uri: "a:d".to_owned(), name: "N".to_owned() },
                Content::Unknown(odd),
                Content::Unknown(broken),
            ]
        );
    }

    #[test]
    fn structured_null_is_not_the_same_as_absent() {
        assert_eq!(output(json!({"structuredContent": null})).structured, Some(Value::Null));
        assert_eq!(output(json!({"content": []})).structured, None);
    }

    #[test]
    fn a_tool_that_failed_is_a_tool_error_and_so_is_an_error_answer() {
        let failed = outcome(json!({"content": [], "isError": true}), Era::Legacy);
        assert_eq!(failed.word(), "tool error");
        let error = ErrorObject { code: -32602, message: "no".to_owned(), data: json!({"a": 1}) };
        let Outcome::ToolError(output) = error_outcome(&error) else { panic!() };
        let Content::Text(text) = &output.content[0] else { panic!() };
        assert_eq!(text, "The server answered with error -32602: no\nDetails: {\"a\":1}");
    }

    #[test]
    fn a_modern_result_of_another_type_is_not_taken_for_an_empty_one() {
        for kind in ["input_required", "task", "odd"] {
            let result = json!({"resultType": kind, "content": []});
            assert_ne!(outcome(result.clone(), Era::Modern).word(), "ok", "{kind}");
            assert_eq!(outcome(result, Era::Legacy).word(), "ok");
        }
        assert_eq!(outcome(json!({"resultType": "complete"}), Era::Modern).word(), "ok");
        assert_eq!(outcome(json!("text"), Era::Legacy).word(), "unknown");
    }
}
