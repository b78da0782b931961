//! One call, from its command to its one outcome. It is sent once; only what surely was not
//! processed is sent again, and that once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::shared::{Conn, Link, Shared};
use super::{connect, output, questions, task};
use crate::domain::{CallId, Era, Outcome, Progress, ToolName, TraceContext};
use crate::jsonrpc::{self, code};
use crate::mcp::exchange::{Ask, Dialect, Upcall};
use crate::mcp::fault::{Fault, may_have_run, sentence};
use crate::mcp::model::question::{self, InputRequired};
use crate::mcp::model::result;
use crate::mcp::model::task::{Task, is_task};
use crate::mcp::{ServerEventKind, headers, retry};

/// How long the first call waits for the standing stream (T7).
const STREAM_WAIT: Duration = Duration::from_secs(5);
/// Times that one call is sent again because the server was too busy to look at it.
const PAUSES: u32 = 3;
/// Longest wait that a server may ask for before a call is sent again.
const PATIENCE: Duration = Duration::from_secs(60);
/// Times that one call is sent again because the server asked for something (R8).
pub(super) const ROUNDS: u32 = 10;

/// A call as it was asked for.
pub(super) struct Request {
    pub(super) call: CallId,
    pub(super) tool: ToolName,
    pub(super) arguments: Arc<Map<String, Value>>,
    pub(super) decided: Option<Arc<str>>,
    pub(super) cancel: CancellationToken,
    pub(super) reply: oneshot::Sender<Outcome>,
    pub(super) trace: Option<TraceContext>,
}

/// What is on its way: what a cancel has to name.
pub(super) enum Flying {
    /// A request.
    Request(u64, Dialect),
    /// A task at the server, with or without a request about it.
    Task(Box<Task>, Dialect),
}

/// How far the call has come.
#[derive(Default)]
pub(super) struct Flight {
    /// What is on its way, if anything.
    now: Mutex<Option<Flying>>,
    /// Whether the server has begun with the call and waits for input: it may have done part of it.
    begun: AtomicBool,
}

impl Flight {
    pub(super) fn set(&self, flying: Flying) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(flying);
    }

    /// Nothing is on its way any more; gives what was.
    pub(super) fn landed(&self) -> Option<Flying> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What the latest round adds to the parameters. It belongs to this call alone (R5).
#[derive(Debug, Default)]
struct Round {
    number: u32,
    answers: Option<Map<String, Value>>,
    state: Option<String>,
}

/// Makes the call and settles it.
pub(super) async fn run(shared: Arc<Shared>, request: Request) {
    let flight = Flight::default();
    let _calling = shared.peer.desk.calling(request.call);
    let outcome = tokio::select! {
        biased;
        outcome = attempts(&shared, &request, &flight) => outcome,
        () = request.cancel.cancelled() => cancelled(&shared, &flight, "cancelled by the user").await,
        () = shared.closing.cancelled() => cancelled(&shared, &flight, "the client ends").await,
        () = shared.peer.desk.run_out(Some(request.call), shared.limits.call) => {
            overdue(&shared, &flight).await
        }
    };
    let outcome = output::checked(&shared, &request.tool, outcome).await;
    if !matches!(outcome, Outcome::Ok(_) | Outcome::ToolError(_)) {
        shared.peer.desk.cancel_for(request.call);
    }
    if request.reply.send(outcome).is_err() {
        tracing::debug!(server = %shared.peer.server, call = %request.call, "nobody wants the outcome");
    }
}

/// Ends what is on its way in the way of its era. Modern: dropping the exchange closes its stream,
/// which is the cancel (T4). Legacy: a notice of its own, and nothing is waited for (T8). A task:
/// a request of its own, never a notice (Y6). Between rounds nothing is on its way (R8). Tells
/// whether anything had been sent.
pub(super) async fn withdraw(shared: &Shared, flight: &Flight, why: &str) -> bool {
    match flight.landed() {
        None => return flight.begun.load(Ordering::Relaxed),
        Some(Flying::Request(id, dialect)) if dialect.era == Era::Legacy => {
            let params = json!({ "requestId": id, "reason": why });
            let notice = jsonrpc::notification("notifications/cancelled", &params);
            shared.peer.up(Upcall::Post(notice, dialect)).await;
        }
        Some(Flying::Request(..)) => {}
        Some(Flying::Task(task, dialect)) => {
            let ask = task::about(shared, &task, "tasks/cancel");
            shared.peer.up(Upcall::Ask(Box::new(ask), dialect)).await;
        }
    }
    true
}

async fn cancelled(shared: &Shared, flight: &Flight, why: &str) -> Outcome {
    Outcome::Cancelled { sent: withdraw(shared, flight, why).await }
}

async fn overdue(shared: &Shared, flight: &Flight) -> Outcome {
    let limit = shared.limits.call;
    let reason = format!("No answer within {limit:?} (maxCallTime)");
    if withdraw(shared, flight, "timed out").await {
        Outcome::Unknown { reason: may_have_run(&reason) }
    } else {
        Outcome::NotSent { reason: sentence(&reason) }
    }
}

async fn attempts(shared: &Shared, request: &Request, flight: &Flight) -> Outcome {
    let Ok(_room) = shared.room.acquire().await else {
        return Outcome::NotSent { reason: "The client has ended.".to_owned() };
    };
    let mut above = 0;
    let mut again = true;
    let mut pauses = 0;
    let mut round = Round::default();
    loop {
        let conn = match connection(shared, above).await {
            Ok(conn) => conn,
            Err(reason) => return Outcome::NotSent { reason },
        };
        if let Some(outcome) = as_decided(shared, request, flight).await {
            return outcome;
        }
        let _of_session = conn.calls.token();
        let fault = match attempt(shared, request, &conn, flight, &round).await {
            Ok(result) => {
                let required = match conn.dialect.era {
                    Era::Modern => question::input_required(&result, shared.peer.desk.answering),
                    Era::Legacy => None,
                };
                let required = match required {
                    None => return settled(shared, request, &conn, flight, result).await,
                    Some(Err(why)) => return result::unfinished(&why),
                    Some(Ok(required)) => required,
                };
                flight.begun.store(true, Ordering::Relaxed);
                round = match next(shared, request, round, required).await {
                    Ok(round) => round,
                    Err(outcome) => return outcome,
                };
                continue;
            }
            Err(fault) => fault,
        };
        if let Some(wait) = spared(&fault, pauses) {
            pauses += 1;
            pause(shared, request.call, &fault, wait).await;
            continue;
        }
        match (&fault, conn.dialect.era) {
            (Fault::SessionLost { .. }, _) if again => {
                shared.peer.up(Upcall::SessionLost(conn.generation)).await;
                above = conn.generation + 1;
            }
            // X5: the headers did not fit the schema: look at it anew.
            (Fault::Rpc { error, .. }, Era::Modern)
                if again && error.code == code::HEADER_MISMATCH =>
            {
                match connect::list_again_for_headers(shared, &conn).await {
                    Ok(()) => {}
                    Err(_unlisted) => return fault.outcome(),
                }
            }
            // §2.4, E5: the endpoint speaks another era now, or is gone.
            (fault, Era::Modern) if again && is_gone(fault) => {
                shared.peer.up(Upcall::Gone(conn.generation)).await;
                above = conn.generation + 1;
            }
            (Fault::Auth { status: 401, reason }, _) => {
                let told = Upcall::Unauthorized(conn.generation, reason.clone());
                shared.peer.up(told).await;
                return fault.outcome();
            }
            (Fault::Silent(_), _) => {
                withdraw(shared, flight, "timed out").await;
                return fault.outcome();
            }
            // The connection it was to go over is gone: the server's state has to say so.
            (Fault::NotSent { stage, reason, retry: true }, _) => {
                let told = Upcall::Unreachable(conn.generation, *stage, reason.clone());
                shared.peer.up(told).await;
                return of_round(&round, fault);
            }
            // I8: 2025-11-25 alone.
            (Fault::Rpc { error, .. }, Era::Legacy) if round.number < ROUNDS => {
                let pages = question::pages_required(error, shared.peer.desk.answering);
                let Some(pages) = pages else { return fault.outcome() };
                if !questions::pages(shared, request.call, pages).await {
                    return fault.outcome();
                }
                round = Round { number: round.number + 1, ..Round::default() };
                continue;
            }
            _ => return of_round(&round, fault),
        }
        again = false;
    }
}

/// H13, §2.4: how long to wait before a call is sent again that the server surely did not process and
/// may process later: 429, and 503 that names a time. One that asks for too long is not waited for.
fn spared(fault: &Fault, pauses: u32) -> Option<Duration> {
    let Fault::Status { status, after, .. } = fault else { return None };
    let later = *status == 429 || (*status == 503 && after.is_some());
    let too_long = after.is_some_and(|wait| wait > PATIENCE);
    (later && !too_long && pauses < PAUSES)
        .then(|| retry::backoff(pauses + 1, *after, fastrand::f64()))
}

/// Waits before the call is sent again, visibly.
async fn pause(shared: &Shared, call: CallId, fault: &Fault, wait: Duration) {
    let status = match fault {
        Fault::Status { status, .. } => *status,
        _ => 0,
    };
    let note = format!(
        "The server is too busy for the call (HTTP {status}); it is sent again in {:.0} s.",
        wait.as_secs_f64().ceil()
    );
    let progress = Progress { note, ..Progress::default() };
    shared.peer.tell(ServerEventKind::Progress { call, progress }).await;
    sleep(wait).await;
}

/// Whether the tool is still the one that was decided about; else the call is not sent, not for the
/// first time and not again. Changes that were announced are waited for.
async fn as_decided(shared: &Shared, request: &Request, flight: &Flight) -> Option<Outcome> {
    // What the server has begun with goes on as it was begun.
    if flight.begun.load(Ordering::Relaxed) {
        return None;
    }
    let decided = request.decided.as_ref()?;
    shared.caught_up().await;
    shared.differs(&request.tool, decided).then(|| {
        let reason = format!(
            "the server has changed the definition of {} since the call was decided about; call it again to have the new one decided about",
            request.tool
        );
        Outcome::NotSent { reason }
    })
}

/// The outcome that a result leads to, at once or by way of a task.
async fn settled(
    shared: &Shared,
    request: &Request,
    conn: &Conn,
    flight: &Flight,
    result: Value,
) -> Outcome {
    if conn.dialect.era == Era::Modern && is_task(&result) {
        return task::follow(shared, conn, request.call, flight, &result).await;
    }
    result::outcome(result, conn.dialect.era)
}

/// Asks for what the server needs, and makes the next round of it (R2, R3).
async fn next(
    shared: &Shared,
    request: &Request,
    last: Round,
    required: InputRequired,
) -> Result<Round, Outcome> {
    let InputRequired { questions, state } = required;
    let number = last.number + 1;
    if number > ROUNDS {
        return Err(result::unfinished(&format!(
            "asked for more after {ROUNDS} rounds, which is the limit (rounds of one call)"
        )));
    }
    let answers = if questions.is_empty() {
        // It only wants to be asked again, which is not to be a busy loop.
        sleep(retry::backoff(number, None, fastrand::f64())).await;
        None
    } else {
        Some(questions::round(shared, Some(request.call), questions).await)
    };
    Ok(Round { number, answers, state })
}

/// A later round that was not sent does not mean that the call was not.
fn of_round(round: &Round, fault: Fault) -> Outcome {
    match fault.outcome() {
        Outcome::NotSent { reason } if round.number > 0 => {
            let reason = format!("What the server had asked for could not be sent: {reason}");
            Outcome::Unknown { reason: may_have_run(&reason) }
        }
        outcome => outcome,
    }
}

/// Whether a modern server refuses as if it were none any more. It did not process the request.
pub(super) fn is_gone(fault: &Fault) -> bool {
    match fault {
        Fault::Status { status: 404, .. } => true,
        Fault::Rpc { error, .. } => error.code == code::UNSUPPORTED_VERSION,
        _ => false,
    }
}

/// The link, once it stands; at least of that generation.
pub(super) async fn connection(shared: &Shared, above: u64) -> Result<Arc<Conn>, String> {
    let mut link = shared.link.clone();
    let usable = |link: &Link| match link {
        Link::Connecting => false,
        Link::Up(conn) => conn.generation >= above,
        Link::Down(_) => true,
    };
    let Ok(now) = link.wait_for(usable).await else {
        return Err("The client has ended.".to_owned());
    };
    match &*now {
        Link::Up(conn) => Ok(Arc::clone(conn)),
        Link::Down(reason) => Err(format!("The server is not usable: {reason}")),
        Link::Connecting => Err("The server is not connected.".to_owned()),
    }
}

async fn attempt(
    shared: &Shared,
    request: &Request,
    conn: &Conn,
    flight: &Flight,
    round: &Round,
) -> Result<Value, Fault> {
    if conn.dialect.era == Era::Legacy
        && timeout(STREAM_WAIT, conn.listening.cancelled()).await.is_err()
    {
        tracing::debug!(server = %shared.peer.server, "the standing stream does not answer");
    }
    let table = shared.headers();
    let annotated = table.get(&request.tool).map(Vec::as_slice).unwrap_or_default();
    let mirrored =
        headers::mirror(annotated, &request.arguments).map_err(|why| Fault::NotSent {
            stage: crate::domain::Stage::Http,
            reason: format!("The call cannot be sent: {why}."),
            retry: false,
        })?;
    let id = shared.peer.next_id();
    let mut params = Map::new();
    params.insert("name".to_owned(), json!(request.tool.as_str()));
    params.insert("arguments".to_owned(), Value::Object(Map::clone(&request.arguments)));
    if conn.dialect.era == Era::Modern {
        if let Some(answers) = &round.answers {
            params.insert("inputResponses".to_owned(), Value::Object(answers.clone()));
        }
        // R4: the same text, and none where there was none.
        if let Some(state) = &round.state {
            params.insert("requestState".to_owned(), json!(state));
        }
    }
    if let Some(trace) = &request.trace {
        params.insert("_meta".to_owned(), traced(trace));
    }
    let ask = Ask {
        id,
        method: "tools/call",
        params,
        name: Some(request.tool.as_str().to_owned()),
        mirrored,
        call: Some(request.call),
        silence: shared.limits.silence,
    };
    flight.set(Flying::Request(id, conn.dialect.clone()));
    let answer = shared.peer.ask(&conn.dialect, ask).await;
    if !matches!(answer, Err(Fault::Silent(_))) {
        flight.landed();
    }
    answer.map(|answered| answered.result)
}

/// P3: the caller's span, in `_meta`.
fn traced(trace: &TraceContext) -> Value {
    let mut meta = Map::new();
    meta.insert("traceparent".to_owned(), json!(trace.parent));
    if !trace.state.is_empty() {
        meta.insert("tracestate".to_owned(), json!(trace.state));
    }
    Value::Object(meta)
}
