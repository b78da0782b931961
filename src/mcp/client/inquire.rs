//! Questions that change nothing at the server: lists of resources, templates and prompts, reading
//! one, completion. They may be asked again without harm (H13), and are, where that may help.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::call::{ROUNDS, connection, is_gone};
use super::connect::complete;
use super::questions;
use super::shared::{Conn, Shared};
use crate::domain::{Era, Found, Inquiry, InquiryFault, InquiryFaultKind};
use crate::jsonrpc::code;
use crate::mcp::cache::{self, freshness};
use crate::mcp::era::is_passing;
use crate::mcp::exchange::{Ask, Upcall};
use crate::mcp::fault::{Fault, sentence};
use crate::mcp::model::list::{Item, Items};
use crate::mcp::model::question::{self, InputRequired};
use crate::mcp::model::{read, tool};
use crate::mcp::paging::{After, Pages};
use crate::mcp::retry;

/// Times that one request is made again after a fault that may pass.
const AGAIN: u32 = 2;
/// Longest wait that a server may ask for before it is asked again.
const PATIENCE: Duration = Duration::from_secs(30);

/// An inquiry as it was asked for.
pub(super) struct Request {
    pub(super) inquiry: Inquiry,
    pub(super) cancel: CancellationToken,
    pub(super) reply: oneshot::Sender<Result<Found, InquiryFault>>,
}

/// Asks and settles it.
pub(super) async fn run(shared: Arc<Shared>, request: Request) {
    let limit = shared.limits.call;
    let answer = tokio::select! {
        biased;
        answer = attempts(&shared, &request.inquiry) => answer,
        () = request.cancel.cancelled() => {
            Err(fault(InquiryFaultKind::Cancelled, "Cancelled.".to_owned()))
        }
        () = shared.closing.cancelled() => {
            Err(fault(InquiryFaultKind::Unavailable, "The client has ended.".to_owned()))
        }
        () = shared.peer.desk.run_out(None, limit) => {
            let message = format!("No answer within {limit:?} (maxCallTime).");
            Err(fault(InquiryFaultKind::Unavailable, message))
        }
    };
    if request.reply.send(answer).is_err() {
        tracing::debug!(server = %shared.peer.server, "nobody wants the answer");
    }
}

fn fault(kind: InquiryFaultKind, message: String) -> InquiryFault {
    InquiryFault { kind, message }
}

/// What was found, and for how long it is fresh.
struct Answered {
    found: Found,
    fresh: Duration,
    weight: usize,
}

async fn attempts(shared: &Shared, inquiry: &Inquiry) -> Result<Found, InquiryFault> {
    let mut above = 0;
    let mut again = true;
    loop {
        let conn = connection(shared, above)
            .await
            .map_err(|reason| fault(InquiryFaultKind::Unavailable, reason))?;
        supported(&conn, inquiry)?;
        if let Some(found) = shared.peer.cache().fresh(inquiry, Instant::now().into_std()) {
            return Ok(found);
        }
        let _of_session = conn.calls.token();
        let met = match ask(shared, &conn, inquiry).await {
            Ok(Answered { found, fresh, weight }) => {
                let modern = conn.dialect.era == Era::Modern;
                if modern && weight <= cache::WEIGHT {
                    let now = Instant::now().into_std();
                    shared.peer.cache().keep(inquiry, &found, fresh, now);
                }
                if let Inquiry::Read { uri } = inquiry {
                    shared.watch(&conn, uri).await;
                }
                return Ok(found);
            }
            Err(met) => met,
        };
        let renewed = match (&met, conn.dialect.era) {
            (Fault::SessionLost { .. }, _) => Upcall::SessionLost(conn.generation),
            (met, Era::Modern) if is_gone(met) => Upcall::Gone(conn.generation),
            (Fault::Auth { status: 401, reason }, _) => {
                shared.peer.up(Upcall::Unauthorized(conn.generation, reason.clone())).await;
                return Err(explained(inquiry, &met));
            }
            (Fault::NotSent { stage, reason, retry: true }, _) => {
                let told = Upcall::Unreachable(conn.generation, *stage, reason.clone());
                shared.peer.up(told).await;
                return Err(explained(inquiry, &met));
            }
            _ => return Err(explained(inquiry, &met)),
        };
        if !std::mem::take(&mut again) {
            return Err(explained(inquiry, &met));
        }
        shared.peer.up(renewed).await;
        above = conn.generation + 1;
    }
}

/// G3: nothing is asked for that the server does not declare. One that declares nothing at all is
/// asked all the same.
fn supported(conn: &Conn, inquiry: &Inquiry) -> Result<(), InquiryFault> {
    let (key, what) = kind(inquiry);
    if conn.capabilities.is_empty() || conn.capabilities.contains_key(key) {
        return Ok(());
    }
    let message = format!("The server offers no {what}: it does not declare “{key}”.");
    Err(fault(InquiryFaultKind::Unsupported, message))
}

/// The capability that an inquiry needs, and what it is about.
fn kind(inquiry: &Inquiry) -> (&'static str, &'static str) {
    match inquiry {
        Inquiry::Resources | Inquiry::Templates | Inquiry::Read { .. } => {
            ("resources", "resources")
        }
        Inquiry::Prompts | Inquiry::Prompt { .. } => ("prompts", "prompts"),
        Inquiry::Complete { .. } => ("completions", "completion"),
    }
}

/// What a fault means for the one who asked.
fn explained(inquiry: &Inquiry, met: &Fault) -> InquiryFault {
    let (_, what) = kind(inquiry);
    let Fault::Rpc { error, .. } = met else {
        let kind = match met {
            Fault::Odd { .. } => InquiryFaultKind::Refused,
            _ => InquiryFaultKind::Unavailable,
        };
        return fault(kind, sentence(&met.to_string()));
    };
    match (error.code, inquiry) {
        (code::METHOD_NOT_FOUND, _) => fault(
            InquiryFaultKind::Unsupported,
            format!("The server offers no {what}: it does not know the request ({error})."),
        ),
        // O3: legacy servers have a code of their own for it.
        (code::RESOURCE_NOT_FOUND | code::INVALID_PARAMS, Inquiry::Read { uri }) => fault(
            InquiryFaultKind::NotFound,
            format!("The server has no resource {uri}, or does not give it to you: {error}."),
        ),
        // Q2
        (code::INVALID_PARAMS, Inquiry::Prompt { name, .. }) => fault(
            InquiryFaultKind::NotFound,
            format!(
                "The server has no prompt {name}, or an argument is missing or wrong: {error}."
            ),
        ),
        _ => fault(InquiryFaultKind::Refused, sentence(&met.to_string())),
    }
}

async fn ask(shared: &Shared, conn: &Conn, inquiry: &Inquiry) -> Result<Answered, Fault> {
    let (method, name) = match inquiry {
        Inquiry::Resources => return all(shared, conn, inquiry, Found::Resources).await,
        Inquiry::Templates => {
            let listed = all(shared, conn, inquiry, Found::Templates).await;
            return no_templates(conn, listed);
        }
        Inquiry::Prompts => return all(shared, conn, inquiry, Found::Prompts).await,
        Inquiry::Read { uri } => ("resources/read", Some(uri.clone())),
        Inquiry::Prompt { name, .. } => ("prompts/get", Some(name.clone())),
        Inquiry::Complete { .. } => ("completion/complete", None),
    };
    let (result, rounds) = rounds(shared, conn, method, name, read::params(inquiry)).await?;
    let (fresh, weight) = match inquiry {
        // R9: what took an answer of the user is not kept.
        Inquiry::Read { .. } if rounds == 0 => (freshness(&result), tool::weight(&result)),
        _ => (Duration::ZERO, 0),
    };
    let found = match inquiry {
        Inquiry::Read { .. } => read::parts(result).map(Found::Read),
        Inquiry::Prompt { .. } => read::prompt(result).map(Found::Prompt),
        _ => read::completion(&result).map(Found::Completion),
    };
    let found = found.map_err(|what| odd(shared, &what))?;
    Ok(Answered { found, fresh, weight })
}

fn odd(shared: &Shared, what: &str) -> Fault {
    Fault::Odd { reason: format!("{}: {what}.", shared.peer.http.place()) }
}

/// Many servers that have resources know no request for templates: they have none.
fn no_templates(conn: &Conn, listed: Result<Answered, Fault>) -> Result<Answered, Fault> {
    match listed {
        Err(Fault::Rpc { error, .. })
            if error.code == code::METHOD_NOT_FOUND
                && conn.capabilities.contains_key("resources") =>
        {
            let found = Items::default().finish(None);
            Ok(Answered { found: Found::Templates(found), fresh: Duration::ZERO, weight: 0 })
        }
        listed => listed,
    }
}

/// All pages of a list (N1–N4). A cursor that the server refuses means starting over, once (N3).
async fn all<T: Item>(
    shared: &Shared,
    conn: &Conn,
    inquiry: &Inquiry,
    found: fn(crate::domain::Listing<T>) -> Found,
) -> Result<Answered, Fault> {
    let walked = match walk::<T>(shared, conn, inquiry).await {
        Err((Fault::Rpc { error, .. }, true)) if error.code == code::INVALID_PARAMS => {
            walk::<T>(shared, conn, inquiry).await
        }
        other => other,
    };
    let (list, fresh, weight) = walked.map_err(|(fault, _)| fault)?;
    if !list.remarks.is_empty() {
        let all = list.remarks.join("; ");
        shared.peer.remark("gives a list that is not as it should be", &all).await;
    }
    Ok(Answered { found: found(list), fresh, weight })
}

type Walked<T> = (crate::domain::Listing<T>, Duration, usize);

/// One walk over the pages; a fault comes with whether a cursor was in use. The list is as fresh
/// as the page that is stale first (C5).
async fn walk<T: Item>(
    shared: &Shared,
    conn: &Conn,
    inquiry: &Inquiry,
) -> Result<Walked<T>, (Fault, bool)> {
    let mut items = Items::<T>::default();
    let mut pages = Pages::default();
    let mut cursor: Option<String> = None;
    let mut fresh = Duration::MAX;
    let mut weight = 0_usize;
    let begun = Instant::now();
    let cut = loop {
        let further = cursor.is_some();
        let mut params = read::params(inquiry);
        params.extend(cursor.map(|cursor| ("cursor".to_owned(), Value::String(cursor))));
        let page = one(shared, conn, T::METHOD, None, params).await;
        let page = page.and_then(|page| complete(page, conn.dialect.era));
        let page = page.map_err(|fault| (fault, further))?;
        fresh = fresh.min(freshness(&page));
        weight = weight.saturating_add(tool::weight(&page));
        let count = items.take_page(&page).map_err(|what| (odd(shared, &what), further))?;
        let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if let (Some(why), true) = (items.full(), next.is_some()) {
            break Some(why);
        }
        match pages.after(count, next) {
            After::Fetch(next) => cursor = Some(next),
            After::End => break items.full(),
            After::Repeats => {
                let breach = "gives the same page cursor twice, so that a list was cut";
                shared.peer.remark(breach, T::METHOD).await;
                break Some("the server gave the same page cursor twice".to_owned());
            }
            After::Stop(why) => break Some(why),
        }
    };
    Ok((items.finish(cut), fresh.saturating_sub(begun.elapsed()), weight))
}

/// One request and, where the server needs input first, the further ones with the user's answers
/// (R2, R3). Says how many those were.
async fn rounds(
    shared: &Shared,
    conn: &Conn,
    method: &'static str,
    name: Option<String>,
    original: Map<String, Value>,
) -> Result<(Value, u32), Fault> {
    let odd = |what: &str| Fault::Odd { reason: format!("The server {what}.") };
    let mut params = original.clone();
    for round in 0..=ROUNDS {
        let result = one(shared, conn, method, name.clone(), params).await?;
        let required = match conn.dialect.era {
            Era::Modern => question::input_required(&result, shared.peer.desk.answering),
            Era::Legacy => None,
        };
        let Some(required) = required else {
            return Ok((complete(result, conn.dialect.era)?, round));
        };
        let InputRequired { questions, state } = required.map_err(|why| odd(&why))?;
        // Only the latest round's answers go along, and the state as it came (R3, R4).
        params = original.clone();
        if questions.is_empty() {
            sleep(retry::backoff(round + 1, None, fastrand::f64())).await;
        } else {
            let answers = questions::round(shared, None, questions).await;
            params.insert("inputResponses".to_owned(), Value::Object(answers));
        }
        params.extend(state.map(|state| ("requestState".to_owned(), Value::String(state))));
    }
    Err(odd(&format!("asked for more after {ROUNDS} rounds, which is the limit (rounds)")))
}

/// One request, made again where what went wrong may pass.
async fn one(
    shared: &Shared,
    conn: &Conn,
    method: &'static str,
    name: Option<String>,
    params: Map<String, Value>,
) -> Result<Value, Fault> {
    let mut attempt = 0;
    loop {
        let ask = Ask {
            name: name.clone(),
            silence: shared.limits.silence,
            ..Ask::new(shared.peer.next_id(), method, params.clone())
        };
        let met = match shared.peer.ask(&conn.dialect, ask).await {
            Ok(answered) => return Ok(answered.result),
            Err(met) => met,
        };
        let hint = match &met {
            Fault::Lost { .. } | Fault::NotSent { retry: true, .. } => None,
            Fault::Status { status, after, .. } if is_passing(*status) => *after,
            _ => return Err(met),
        };
        attempt += 1;
        if attempt > AGAIN || hint.is_some_and(|wait| wait > PATIENCE) {
            return Err(met);
        }
        sleep(retry::backoff(attempt, hint, fastrand::f64())).await;
    }
}
