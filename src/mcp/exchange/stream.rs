//! Reading event streams: the answer's own one, resumed where a legacy server broke it off, and the
//! standing one.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::hear::{Body, Hearing};
use super::{Peer, Upcall};
use crate::domain::Era;
use crate::jsonrpc;
use crate::mcp::desk::after;
use crate::mcp::fault::Fault;
use crate::mcp::http::Response;
use crate::sse::{Decoder, SseEvent};

/// Wait before a stream is resumed when the server names none (T10).
pub(in crate::mcp) const RECONNECT: Duration = Duration::from_secs(1);
/// Longest wait that a server may ask for.
const RECONNECT_MOST: Duration = Duration::from_secs(5 * 60);
/// Resumptions in a row that bring nothing before it is given up (T11).
const RESUMES: u32 = 5;

/// Where a stream stands: what to resume it after, and how.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Cursor {
    /// The last event id (T13: of this stream alone).
    pub(in crate::mcp) id: String,
    /// The wait the server asks for.
    pub(in crate::mcp) retry: Option<Duration>,
    /// Events that came since it was opened.
    pub(in crate::mcp) events: usize,
}

impl Cursor {
    fn saw(&mut self, decoder: &Decoder) {
        if !decoder.last_id().is_empty() {
            decoder.last_id().clone_into(&mut self.id);
        }
        self.retry = decoder.retry().or(self.retry);
    }

    /// How long to wait after the stream ended (T10).
    pub(in crate::mcp) fn wait(&self) -> Duration {
        self.retry.unwrap_or(RECONNECT).min(RECONNECT_MOST)
    }
}

/// How one opened stream ended.
enum End {
    /// With the answer.
    Answer(Body),
    /// Before it; what happened, in words.
    Early(String),
}

/// Reads the stream that answers a request until the answer is there. T3: nothing after it is
/// waited for; its end is read off beside, so that the connection can be used again.
pub(super) async fn read(
    peer: &Peer,
    hearing: &mut Hearing,
    mut response: Response,
    silence: Duration,
) -> Result<Body, Fault> {
    let mut cursor = Cursor::default();
    let mut last_byte = Instant::now();
    let mut in_vain = 0;
    loop {
        cursor.events = 0;
        let end =
            follow(peer, hearing, &mut response, &mut cursor, Some((silence, &mut last_byte)));
        let reason = match end.await? {
            End::Answer(body) => {
                peer.up(Upcall::ReadOff(Box::new(response))).await;
                return Ok(body);
            }
            End::Early(reason) => reason,
        };
        in_vain = if cursor.events == 0 { in_vain + 1 } else { 0 };
        // T2: modern streams cannot be resumed. T12: nor can one without an id.
        let lost = hearing.dialect.era == Era::Modern || cursor.id.is_empty() || in_vain > RESUMES;
        if lost {
            return Err(Fault::Lost { reason });
        }
        if hearing.call.is_some_and(|call| peer.desk.asks_for(call)) {
            // It is a person who is silent.
            last_byte = Instant::now();
        }
        let deadline = after(last_byte, silence);
        sleep_until((Instant::now() + cursor.wait()).min(deadline)).await;
        let opening = peer.open(&hearing.dialect, &cursor.id);
        response = match peer.desk.patiently(hearing.call, last_byte, silence, opening).await {
            None => return Err(Fault::Silent(silence)),
            Some(Ok(resumed)) if is_stream(&resumed) => resumed,
            Some(Ok(refusal)) => {
                let seen = refusal.seen();
                let reason = format!("{reason} It could not be resumed: {seen}.");
                return Err(Fault::Lost { reason });
            }
            Some(Err(fault)) => {
                return Err(Fault::Lost { reason: format!("{reason} {fault}") });
            }
        };
    }
}

pub(in crate::mcp) fn is_stream(response: &Response) -> bool {
    response.is_success() && response.media() == "text/event-stream"
}

/// Listens to the standing stream until it ends. No limit on silence: it may have nothing to say.
pub(in crate::mcp) async fn listen(
    peer: &Peer,
    hearing: &mut Hearing,
    mut response: Response,
    cursor: &mut Cursor,
) {
    if let Err(fault) = follow(peer, hearing, &mut response, cursor, None).await {
        tracing::debug!(server = %peer.server, %fault, "the standing stream ended");
    }
}

/// Reads one opened stream to its end or to the answer.
async fn follow(
    peer: &Peer,
    hearing: &mut Hearing,
    response: &mut Response,
    cursor: &mut Cursor,
    mut patience: Option<(Duration, &mut Instant)>,
) -> Result<End, Fault> {
    let mut decoder = Decoder::default();
    let ended = loop {
        let chunk = match &mut patience {
            Some((silence, last_byte)) => {
                let next = response.chunk();
                let chunk = peer.desk.patiently(hearing.call, **last_byte, *silence, next).await;
                let chunk = chunk.ok_or(Fault::Silent(*silence))?;
                **last_byte = Instant::now();
                chunk
            }
            None => response.chunk().await,
        };
        let bytes = match chunk {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break format!("{} ended before the answer.", "The event stream"),
            Err(fault) => break fault.to_string(),
        };
        decoder.push(&bytes);
        while let Some(event) = decoder.next() {
            let event = event.map_err(|fault| Fault::Odd { reason: format!("{fault}.") })?;
            cursor.events += 1;
            if let ControlFlow::Break(body) = take(peer, hearing, &event).await? {
                return Ok(End::Answer(body));
            }
        }
        cursor.saw(&decoder);
    };
    Ok(match leftover(peer, hearing, decoder).await? {
        Some(body) => End::Answer(body),
        None => End::Early(ended),
    })
}

/// One event: its messages in order, until the awaited answer.
async fn take(
    peer: &Peer,
    hearing: &mut Hearing,
    event: &SseEvent,
) -> Result<ControlFlow<Body>, Fault> {
    // S8: other types are none of ours. S6: an event without data only carries an id.
    if event.event != "message" || event.data.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    let messages = match jsonrpc::read(event.data.as_bytes()) {
        Ok(read) => {
            hearing.of_version(peer, read.versioned).await;
            read.messages
        }
        Err(fault) => {
            // S9: one broken event costs that event.
            peer.remark("sends events that are no JSON", &fault.to_string()).await;
            return Ok(ControlFlow::Continue(()));
        }
    };
    for message in messages {
        match hearing.take(peer, message).await {
            Some(Ok(body)) => return Ok(ControlFlow::Break(body)),
            Some(Err(reason)) => {
                return Err(Fault::Odd { reason: format!("The answer is no JSON-RPC: {reason}.") });
            }
            None => {}
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// S7: by the rules an unfinished event is none. Whole lines that lack only the empty one after
/// them, and hold the complete answer, are taken all the same; a line without an end is not.
async fn leftover(
    peer: &Peer,
    hearing: &mut Hearing,
    decoder: Decoder,
) -> Result<Option<Body>, Fault> {
    if hearing.id == 0 || decoder.inside_line() {
        return Ok(None);
    }
    let Some(data) = decoder.finish() else { return Ok(None) };
    if jsonrpc::decode(data.as_bytes()).is_err() {
        return Ok(None);
    }
    let event = SseEvent { event: "message".into(), data, id: String::new(), retry: None };
    match take(peer, hearing, &event).await? {
        ControlFlow::Break(body) => {
            let breach = "closes its streams without the empty line that ends the last event";
            peer.remark(breach, "").await;
            Ok(Some(body))
        }
        ControlFlow::Continue(()) => Ok(None),
    }
}
