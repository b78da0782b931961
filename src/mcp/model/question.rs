//! What servers ask in the middle of a request, in either era, and how it is answered (§8, §17).

use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use super::cut;
use crate::domain::{Answering, ElicitationKind, ElicitationReply};
use crate::jsonrpc::{ErrorObject, code};
use crate::schema::form::asked;

/// Longest message of a question that is kept, in bytes.
const MESSAGE_LIMIT: usize = 16 * 1024;
/// Longest URL that is shown, in bytes: it has to be shown whole.
const URL_LIMIT: usize = 8 * 1024;
/// Most questions of one answer.
const QUESTIONS: usize = 16;

/// A question as it is put to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The server's words; raw.
    pub message: String,
    /// A form or a page.
    pub kind: ElicitationKind,
    /// What a legacy server calls it when it tells that the page is done with (I8).
    pub name: Option<String>,
}

/// What was declared of elicitation to a server of this version; `None` for nothing (G13).
pub fn declared(answering: Answering, version: &str) -> Option<Value> {
    match (answering, version) {
        // Older ones know no elicitation, or forms alone.
        (Answering::Nobody, _) | (_, "2025-03-26") => None,
        (_, "2025-06-18") => Some(json!({})),
        (Answering::Forms, _) => Some(json!({ "form": {} })),
        (Answering::Everything, _) => Some(json!({ "form": {}, "url": {} })),
    }
}

/// Reads the parameters of `elicitation/create`. The error is what the server is answered (G8).
pub fn read(params: &Value, answering: Answering) -> Result<Asked, ErrorObject> {
    if answering == Answering::Nobody {
        return Err(fault(code::METHOD_NOT_FOUND, "Elicitation not supported"));
    }
    let Some(message) = params.get("message").and_then(Value::as_str) else {
        return Err(fault(code::INVALID_PARAMS, "An elicitation needs a message"));
    };
    let kind = match params.get("mode").map(Value::as_str) {
        // I1
        None | Some(Some("form")) => form(params)?,
        Some(Some("url")) if answering == Answering::Everything => page(params)?,
        Some(Some("url")) => {
            return Err(fault(code::INVALID_PARAMS, "Elicitation by URL not supported"));
        }
        Some(_) => return Err(fault(code::INVALID_PARAMS, "Unknown mode of elicitation")),
    };
    let name = params.get("elicitationId").and_then(Value::as_str).map(str::to_owned);
    Ok(Asked { message: cut(message, MESSAGE_LIMIT).to_owned(), kind, name })
}

fn form(params: &Value) -> Result<ElicitationKind, ErrorObject> {
    let Some(schema @ Value::Object(_)) = params.get("requestedSchema") else {
        return Err(fault(code::INVALID_PARAMS, "A form needs a requestedSchema"));
    };
    // I2: what is no flat form is shown all the same, and can be declined.
    let (fields, why) = match asked::form(schema) {
        Ok(fields) => (fields, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Ok(ElicitationKind::Form { schema: Arc::new(schema.clone()), fields, fault: why })
}

/// I7: http and https alone, shown as they are; a host in other letters stays in its ASCII form.
fn page(params: &Value) -> Result<ElicitationKind, ErrorObject> {
    let refuse = |why: &str| Err(fault(code::INVALID_PARAMS, why));
    let Some(text) = params.get("url").and_then(Value::as_str) else {
        return refuse("An elicitation by URL needs a url");
    };
    if text.len() > URL_LIMIT {
        return refuse("The url is too long to be shown");
    }
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => {
            let host = url.host_str().unwrap_or_default().to_owned();
            Ok(ElicitationKind::Url { url: url.into(), host })
        }
        _ => refuse("The url is no http or https address"),
    }
}

fn fault(code: i64, message: &str) -> ErrorObject {
    ErrorObject { code, message: message.to_owned(), data: Value::Null }
}

/// The answer as servers read it (I5): without an envelope (R3).
pub fn answer(reply: &ElicitationReply) -> Value {
    match reply {
        ElicitationReply::Accept(Some(content)) => {
            json!({ "action": "accept", "content": Map::clone(content) })
        }
        ElicitationReply::Accept(None) => json!({ "action": "accept" }),
        ElicitationReply::Decline => json!({ "action": "decline" }),
        ElicitationReply::Cancel => json!({ "action": "cancel" }),
    }
}

/// What a modern server needs before it goes on (R1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputRequired {
    /// Its questions under their keys, in its order.
    pub questions: Vec<(String, Asked)>,
    /// To be sent back byte for byte (R4); `None` where there was none.
    pub state: Option<String>,
}

/// Reads a result of type `input_required`; `None` for any other. `Err` says why the request has to
/// end here: the server asks for what was not offered, or in a way that cannot be understood (R6).
pub fn input_required(
    result: &Value,
    answering: Answering,
) -> Option<Result<InputRequired, String>> {
    (result.get("resultType")? == "input_required").then(|| required(result, answering))
}

fn required(result: &Value, answering: Answering) -> Result<InputRequired, String> {
    let state = match result.get("requestState") {
        None => None,
        Some(Value::String(state)) => Some(state.clone()),
        Some(_) => return Err("keeps its state in something else than a text".to_owned()),
    };
    let questions = match result.get("inputRequests") {
        None => Vec::new(),
        Some(requests) => questions(requests, answering)?,
    };
    if questions.is_empty() && state.is_none() {
        return Err("asks for input, but for none in particular".to_owned());
    }
    Ok(InputRequired { questions, state })
}

/// Reads questions under their keys.
pub fn questions(requests: &Value, answering: Answering) -> Result<Vec<(String, Asked)>, String> {
    let Some(requests) = requests.as_object() else {
        return Err("asks for input in a way that cannot be understood".to_owned());
    };
    if requests.len() > QUESTIONS {
        return Err(format!("asks more at once than the limit of {QUESTIONS} (questions)"));
    }
    let read_one = |(key, request): (&String, &Value)| {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        if method != "elicitation/create" {
            return Err(format!(
                "asks for input that this program did not offer to give ({})",
                crate::text::cut(method, 60)
            ));
        }
        let params = request.get("params").unwrap_or(&Value::Null);
        read(params, answering).map(|asked| (key.clone(), asked)).map_err(|fault| {
            if fault.code == code::METHOD_NOT_FOUND {
                "asks for input, but nobody is there to give it".to_owned()
            } else {
                format!("asks a question that cannot be put: {}", fault.message)
            }
        })
    };
    requests.iter().map(read_one).collect()
}

/// The pages that a legacy server wants opened before it goes on (I8); `None` where the error says
/// nothing of the kind.
pub fn pages_required(error: &ErrorObject, answering: Answering) -> Option<Vec<Asked>> {
    if error.code != code::URL_ELICITATION_REQUIRED || answering != Answering::Everything {
        return None;
    }
    let list = error.data.get("elicitations")?.as_array()?;
    let pages: Option<Vec<Asked>> = list
        .iter()
        .map(|params| {
            let asked = read(params, answering).ok()?;
            matches!(asked.kind, ElicitationKind::Url { .. }).then_some(asked)
        })
        .collect();
    pages.filter(|pages| !pages.is_empty() && pages.len() <= QUESTIONS)
}

#[cfg(test)]
mod tests;
