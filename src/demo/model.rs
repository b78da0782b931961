//! The demo's model: an endpoint that speaks chat completions and follows a script.
//!
//! It is no language model and says so. It looks at the conversation it is sent and decides the
//! next step from that alone; it keeps nothing between requests and makes up no identifier.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Json, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, extract::rejection::JsonRejection};
use futures_util::stream;
use serde_json::{Value, json};

mod conversation;
mod explain;
mod facts;
mod script;
#[cfg(test)]
mod tests;
mod wire;

use conversation::Conversation;
use script::Script;

/// The model's name.
pub(super) const NAME: &str = "demo-script";
/// What its window is said to be, in tokens.
pub(super) const WINDOW: u64 = 32_768;
/// Time between two pieces: a pace that can be watched.
const PACE: Duration = Duration::from_millis(7);

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// It answers and is done.
    Say(String),
    /// It wants these tools run.
    Call {
        /// What it says before.
        text: String,
        /// Tools, by the names under which they are offered.
        calls: Vec<Wanted>,
    },
}

/// A call the model wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// Name as offered.
    pub(super) name: String,
    /// Arguments.
    pub(super) arguments: Value,
}

/// The endpoint's routes, below `/v1`.
pub(super) fn routes() -> io::Result<Router> {
    let script = Arc::new(Script::load()?);
    Ok(Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(complete))
        .with_state(script))
}

async fn models() -> Json<Value> {
    Json(json!({
        "object": "list",
        "data": [{
            "id": NAME,
            "object": "model",
            "created": 1_795_000_000,
            "owned_by": "mini-me-tui",
            "context_length": WINDOW,
            "description": "Follows a script. No language model.",
        }],
    }))
}

async fn complete(
    State(script): State<Arc<Script>>,
    body: Result<Json<Value>, JsonRejection>,
) -> Response {
    let request = match body {
        Ok(Json(request)) => request,
        Err(why) => return fault(&why.body_text()),
    };
    let Some(conversation) = Conversation::read(&request) else {
        return fault("messages must be a list that is not empty");
    };
    let step = script.next(&conversation);
    let answer = wire::Answer::new(&request, step);
    if request.get("stream").and_then(Value::as_bool) == Some(true) {
        streamed(answer.chunks())
    } else {
        Json(answer.whole()).into_response()
    }
}

fn fault(message: &str) -> Response {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error" } });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

/// The chunks as server-sent events, one after the other at a pace that can be watched.
fn streamed(chunks: Vec<Value>) -> Response {
    let mut events: Vec<String> =
        chunks.into_iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    let paced = stream::unfold(events.into_iter(), |mut rest| async {
        let event = rest.next()?;
        tokio::time::sleep(PACE).await;
        Some((Ok::<_, Infallible>(Bytes::from(event)), rest))
    });
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(paced)).into_response()
}
