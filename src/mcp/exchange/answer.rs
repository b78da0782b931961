//! Reading the answer to a request: a JSON body, a stream, or a status that is neither.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::hear::{Body, Hearing};
use super::{Dialect, Peer, stream};
use crate::domain::{CallId, Era};
use crate::jsonrpc::{self, ErrorObject, Message, code};
use crate::mcp::fault::Fault;
use crate::mcp::http::{JSON_LIMIT, Response};

/// Largest body of an error that is read, in bytes.
const ERROR_LIMIT: usize = 1024 * 1024;
/// Time for the body of a refusal; the status alone says enough.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// Reads until the answer of the awaited request is there.
pub(super) async fn read(
    peer: &Peer,
    hearing: &mut Hearing,
    response: Response,
    silence: Duration,
) -> Result<Value, Fault> {
    if !response.is_success() {
        return refused(&hearing.dialect, response).await;
    }
    response.check_coding()?;
    let status = response.status();
    let body = match response.media().as_str() {
        "text/event-stream" => stream::read(peer, hearing, response, silence).await?,
        "application/json" => json(peer, hearing, response, silence).await?,
        _ => return Err(odd(response).await),
    };
    body.map_err(|error| Fault::Rpc { status, error })
}

/// H16: a success with another media type, or none, is no answer. 202 is one to notifications only.
async fn odd(response: Response) -> Fault {
    let seen = timeout(ERROR_TIME, response.seen_with_excerpt()).await;
    let seen = seen.unwrap_or_else(|_elapsed| "A body that does not come".to_owned());
    Fault::Odd { reason: format!("{seen}. An MCP server answers with JSON or an event stream.") }
}

async fn json(
    peer: &Peer,
    hearing: &mut Hearing,
    mut response: Response,
    silence: Duration,
) -> Result<Body, Fault> {
    let seen = response.seen();
    let patience = (peer, hearing.call, silence);
    let text = body(&mut response, JSON_LIMIT, Some(patience)).await?;
    let jsonrpc::Read { messages, versioned } =
        jsonrpc::read(&text).map_err(|fault| Fault::Odd { reason: format!("{seen}: {fault}.") })?;
    hearing.of_version(peer, versioned).await;
    let alone = messages.len() == 1;
    for message in messages {
        // H15: the only error of the only answer is ours, whatever its id.
        if let (true, Message::Response { body: Err(error), .. }) = (alone, &message) {
            return Ok(Err(error.clone()));
        }
        if let (true, Message::Invalid { reason, .. }) = (alone, &message) {
            return Err(Fault::Odd { reason: format!("{seen}: no JSON-RPC message: {reason}.") });
        }
        match hearing.take(peer, message).await {
            Some(Ok(body)) => return Ok(body),
            Some(Err(reason)) => return Err(Fault::Odd { reason: format!("{seen}: {reason}.") }),
            None => {}
        }
    }
    Err(Fault::Odd { reason: format!("{seen}: no answer with the id of the request.") })
}

/// A whole body, bounded. Without a limit on silence the caller bounds the time.
async fn body(
    response: &mut Response,
    limit: usize,
    patience: Option<(&Peer, Option<CallId>, Duration)>,
) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    loop {
        let next = response.chunk();
        let chunk = match patience {
            Some((peer, call, silence)) => {
                let next = peer.desk.patiently(call, Instant::now(), silence, next).await;
                next.ok_or(Fault::Silent(silence))??
            }
            None => next.await?,
        };
        let Some(chunk) = chunk else { return Ok(text) };
        if text.len() + chunk.len() > limit {
            let seen = response.seen();
            let reason = format!("{seen}: larger than the limit of {limit} bytes (JSON body).");
            return Err(Fault::Odd { reason });
        }
        text.extend_from_slice(&chunk);
    }
}

/// What a status that is no success means. A JSON-RPC error in the body wins (H15).
pub(in crate::mcp) async fn refused<T>(
    dialect: &Dialect,
    mut response: Response,
) -> Result<T, Fault> {
    let status = response.status();
    if matches!(status, 401 | 403) {
        return Err(auth(response).await);
    }
    let after = response.retry_after();
    let seen = response.seen();
    let (error, reason) = if response.media() == "application/json" {
        let text = timeout(ERROR_TIME, body(&mut response, ERROR_LIMIT, None)).await;
        let text = text.ok().and_then(Result::ok).unwrap_or_default();
        let said = || crate::mcp::http::excerpt(&String::from_utf8_lossy(&text));
        match rpc_error(&text) {
            Some(error) => (Some(error), seen),
            None if text.is_empty() => (None, seen),
            None => (None, format!("{seen}: “{}”", said())),
        }
    } else {
        let read = timeout(ERROR_TIME, response.seen_with_excerpt()).await;
        (None, read.unwrap_or(seen))
    };
    if session_is_lost(dialect, status, error.as_ref(), &reason) {
        let reason = error.map_or(reason, |error| error.to_string());
        return Err(Fault::SessionLost { reason });
    }
    Err(match error {
        // What counts is that it was not processed and may be sent again (§2.4); no error of the
        // protocol's own comes with this status.
        Some(error)
            if status == 429 && !error.is_modern() && error.code != code::METHOD_NOT_FOUND =>
        {
            Fault::Status { status, reason: format!("{reason}: {error}."), after }
        }
        Some(error) => Fault::Rpc { status, error },
        None if status == 413 => Fault::Status {
            status,
            reason: format!("{reason}. The request is larger than the server takes."),
            after,
        },
        None => Fault::Status { status, reason: format!("{reason}."), after },
    })
}

fn rpc_error(text: &[u8]) -> Option<ErrorObject> {
    let messages = jsonrpc::decode(text).ok()?;
    messages.into_iter().find_map(|message| match message {
        // Some proxies answer `{"error": "text"}`, which is no JSON-RPC error.
        Message::Response { body: Err(error), .. } if error.code != 0 => Some(error),
        _ => None,
    })
}

/// §2.4: 404 with a session; or 400 where the words point at it, as some servers do.
fn session_is_lost(
    dialect: &Dialect,
    status: u16,
    error: Option<&ErrorObject>,
    words: &str,
) -> bool {
    if dialect.era == Era::Modern || dialect.session.is_none() {
        return false;
    }
    match status {
        404 => error.is_none_or(|error| error.code != code::METHOD_NOT_FOUND),
        400 => {
            let words = error.map_or(words, |error| error.message.as_str()).to_ascii_lowercase();
            words.contains("session") || words.contains("not initialized")
        }
        _ => false,
    }
}

/// 401 and 403: what is wanted, in words. Never tried again by itself.
async fn auth(response: Response) -> Fault {
    let status = response.status();
    let challenge = response.challenge();
    let seen = timeout(ERROR_TIME, response.seen_with_excerpt()).await;
    let seen = seen.unwrap_or_else(|_elapsed| format!("HTTP {status}"));
    let wants = if challenge.is_empty() {
        String::new()
    } else {
        format!(" The server asks for: {}.", crate::mcp::model::cut(&challenge, 500))
    };
    let advice = if status == 401 {
        "Set a credential for this server in the config (auth), or renew it."
    } else {
        "The credential is not enough, or the server's policy forbids this address or program."
    };
    let reason = format!("{seen}.{wants} {advice}");
    Fault::Auth { status, reason }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn with_session() -> Dialect {
        let session = Some(HeaderValue::from_static("s-1"));
        Dialect { era: Era::Legacy, version: None, session, link: 1 }
    }

    fn error(code: i64, message: &str) -> ErrorObject {
        ErrorObject { code, message: message.to_owned(), data: Value::Null }
    }

    #[test]
    fn a_session_is_lost_by_404_or_by_400_with_words_about_it() {
        let known = with_session();
        assert!(session_is_lost(&known, 404, None, ""));
        assert!(session_is_lost(&known, 404, Some(&error(-32001, "gone")), ""));
        let words = error(-32000, "Bad Request: No valid session ID provided");
        assert!(session_is_lost(&known, 400, Some(&words), ""));
        assert!(!session_is_lost(&known, 400, Some(&error(-32602, "bad params")), ""));
        assert!(!session_is_lost(&known, 404, Some(&error(-32601, "unknown")), ""));
        assert!(!session_is_lost(&Dialect::opening(), 404, None, ""));
        assert!(!session_is_lost(&known, 500, None, "session"));
    }
}
