//! Coming to an agreement and listing the tools, within `discoveryTimeout` altogether.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::shared::{Conn, Shared};
use crate::domain::{Era, Stage};
use crate::jsonrpc::{self, code};
use crate::mcp::ServerEventKind;
use crate::mcp::cache::freshness;
use crate::mcp::era::Refusal;
use crate::mcp::exchange::{Answered, Ask, Dialect, Upcall};
use crate::mcp::fault::Fault;
use crate::mcp::lifecycle::{Lifecycle, Step};
use crate::mcp::model::tool::{Listed, ToolList};
use crate::mcp::model::{self, Agreed};
use crate::mcp::paging::{After, Pages};

/// A connection and its list of tools.
pub(super) struct Found {
    pub(super) conn: Conn,
    pub(super) list: List,
}

/// A complete list, or as much of it as there was before a guard stopped it.
pub(super) struct List {
    pub(super) tools: Vec<Listed>,
    pub(super) dropped: Vec<(String, String)>,
    pub(super) cut: Option<String>,
    /// What it does that the protocol does not allow, and where.
    pub(super) breaches: Vec<(&'static str, String)>,
    /// How long it is fresh (C1): as long as the page that is stale first.
    pub(super) fresh: Duration,
}

impl List {
    /// The list of a server without tools.
    fn empty() -> Self {
        Self {
            tools: Vec::new(),
            dropped: Vec::new(),
            cut: None,
            breaches: Vec::new(),
            fresh: Duration::MAX,
        }
    }
}

/// How a listing ended.
pub(super) type ListOutcome = Result<List, Fault>;

/// Why there is no connection.
pub(super) enum Failed {
    /// A credential is wanted.
    Auth(String),
    /// Anything else, and how long the server asks to be left alone.
    Refused(Refusal, Option<Duration>),
}

impl Failed {
    fn at(stage: Stage, fault: Fault) -> Self {
        match fault {
            Fault::Auth { reason, .. } => Self::Auth(reason),
            Fault::Status { after, .. } => Self::Refused(fault.refusal(stage), after),
            other => Self::Refused(other.refusal(stage), None),
        }
    }
}

/// How far it has come, for the message when time runs out.
struct Way {
    stage: Mutex<Stage>,
}

impl Way {
    fn at(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    fn stage(&self) -> Stage {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects and lists.
pub(super) async fn run(
    shared: Arc<Shared>,
    remembered: Option<Era>,
    generation: u64,
) -> Result<Box<Found>, Failed> {
    let way = Way { stage: Mutex::new(Stage::Http) };
    let limit = shared.limits.discovery;
    let all = timeout(limit, discover(&shared, &way, remembered, generation));
    all.await.unwrap_or_else(|_elapsed| {
        let reason = format!(
            "No answer from {} within {limit:?} (discoveryTimeout). Try again, or allow it more time.",
            shared.peer.http.place()
        );
        Err(Failed::Refused(Refusal { stage: way.stage(), reason, retry: true }, None))
    })
}

async fn discover(
    shared: &Shared,
    way: &Way,
    remembered: Option<Era>,
    generation: u64,
) -> Result<Box<Found>, Failed> {
    let begun = Instant::now();
    let mut head = None;
    let (agreed, dialect) = negotiate(shared, way, remembered, generation, &mut head).await?;
    passed(shared, Stage::Http, head.unwrap_or_default()).await;
    passed(shared, Stage::Negotiate, begun.elapsed()).await;
    way.at(Stage::List);
    let listing = Instant::now();
    let list = list(shared, &dialect, &agreed.capabilities).await;
    let list = list.map_err(|fault| Failed::at(Stage::List, fault))?;
    passed(shared, Stage::List, listing.elapsed()).await;
    let conn = Conn {
        generation,
        dialect,
        capabilities: agreed.capabilities,
        identity: agreed.identity,
        instructions: agreed.instructions,
        remarks: agreed.remarks,
        listening: CancellationToken::new(),
        over: CancellationToken::new(),
        calls: TaskTracker::new(),
        told: AtomicBool::new(false),
        silent_on_tasks: AtomicBool::new(false),
    };
    Ok(Box::new(Found { conn, list }))
}

/// Told at once: whatever fails later, how far it came is known.
async fn passed(shared: &Shared, stage: Stage, took: Duration) {
    shared.peer.tell(ServerEventKind::Stage { stage, took }).await;
}

/// Does what the lifecycle asks for until it comes to an end.
async fn negotiate(
    shared: &Shared,
    way: &Way,
    remembered: Option<Era>,
    generation: u64,
    head: &mut Option<Duration>,
) -> Result<(Agreed, Dialect), Failed> {
    let mut lifecycle = Lifecycle::new(shared.protocol, remembered);
    let mut session = None;
    loop {
        let (dialect, method, params) = match lifecycle.step() {
            Step::Discover(version) => (Dialect::modern(version), "server/discover", json!({})),
            Step::Initialize(version) => (
                Dialect::opening(),
                "initialize",
                model::initialize_params(version, shared.peer.desk.answering),
            ),
            Step::Initialized(agreed) => {
                let given = session.take();
                let odd = given.is_some();
                let dialect = dialect_of(agreed, given, generation);
                if odd && dialect.session.is_none() {
                    let breach = "gives an MCP session id with characters that none may have";
                    shared.peer.remark(breach, "").await;
                }
                let notice = jsonrpc::notification("notifications/initialized", &Value::Null);
                let told = shared.peer.post(&dialect, &notice).await;
                told.map_err(|fault| Failed::at(Stage::Negotiate, fault))?;
                session = dialect.session;
                lifecycle.acknowledged();
                continue;
            }
            Step::Agreed(agreed) => {
                let dialect = dialect_of(agreed, session, generation);
                return Ok((Agreed::clone(agreed), dialect));
            }
            Step::Refused(refusal) => return Err(Failed::Refused(refusal.clone(), None)),
        };
        let asking = Instant::now();
        let answer = safely(shared, &dialect, method, params).await;
        head.get_or_insert_with(|| answer.as_ref().map_or_else(|_| asking.elapsed(), |a| a.head));
        way.at(Stage::Negotiate);
        let reply = match answer {
            Ok(answered) => {
                session = answered.session;
                crate::mcp::era::Reply::Result(answered.result)
            }
            Err(fault) => match (fault.evidence(), &fault) {
                (_, Fault::Status { status, after: after @ Some(_), .. })
                    if crate::mcp::era::is_passing(*status) =>
                {
                    return Err(Failed::Refused(fault.refusal(Stage::Http), *after));
                }
                (Some(reply), _) => reply,
                (None, _) => return Err(Failed::at(Stage::Http, fault)),
            },
        };
        lifecycle.replied(&reply);
    }
}

fn dialect_of(
    agreed: &Agreed,
    session: Option<reqwest::header::HeaderValue>,
    link: u64,
) -> Dialect {
    let version = Some(agreed.version.clone());
    let mut dialect = Dialect { era: agreed.era, version, session: None, link };
    if agreed.era == Era::Legacy {
        // G4: visible characters only; it is a secret.
        dialect.session = session.filter(|id| {
            !id.is_empty() && id.as_bytes().iter().all(|byte| (0x21..=0x7E).contains(byte))
        });
        if let Some(session) = &mut dialect.session {
            session.set_sensitive(true);
        }
    }
    dialect
}

/// Asks something that may be asked twice (H13): once more if the answer was lost.
async fn safely(
    shared: &Shared,
    dialect: &Dialect,
    method: &'static str,
    params: Value,
) -> Result<Answered, Fault> {
    let Value::Object(params) = params else { return Err(no_object()) };
    let ask = |params: Map<String, Value>| Ask {
        // The whole is bounded by less.
        silence: shared.limits.discovery.saturating_mul(2),
        ..Ask::new(shared.peer.next_id(), method, params)
    };
    match shared.peer.ask(dialect, ask(params.clone())).await {
        Err(Fault::Lost { .. }) => shared.peer.ask(dialect, ask(params)).await,
        other => other,
    }
}

fn no_object() -> Fault {
    Fault::Odd { reason: "Parameters that are no object.".to_owned() }
}

/// Lists again on an existing connection.
pub(super) async fn list_again(shared: Arc<Shared>, conn: Arc<Conn>) -> ListOutcome {
    let limit = shared.limits.discovery;
    let listing = timeout(limit, list(&shared, &conn.dialect, &conn.capabilities));
    let listed = listing.await.unwrap_or_else(|_elapsed| {
        Err(Fault::Lost { reason: format!("No answer within {limit:?} (discoveryTimeout).") })
    });
    match &listed {
        Err(Fault::SessionLost { .. }) => {
            shared.peer.up(Upcall::SessionLost(conn.generation)).await;
        }
        Err(Fault::Status { status: 404, .. }) => {
            shared.peer.up(Upcall::Gone(conn.generation)).await;
        }
        Err(Fault::Auth { status: 401, reason }) => {
            shared.peer.up(Upcall::Unauthorized(conn.generation, reason.clone())).await;
        }
        Err(Fault::NotSent { stage, reason, retry: true }) => {
            let told = Upcall::Unreachable(conn.generation, *stage, reason.clone());
            shared.peer.up(told).await;
        }
        _ => {}
    }
    listed
}

/// Looks at the schemas anew for the headers they ask for (X5); the catalog hears of it too.
pub(super) async fn list_again_for_headers(shared: &Shared, conn: &Conn) -> Result<(), Fault> {
    let list = list(shared, &conn.dialect, &conn.capabilities).await?;
    shared.set_tools(&list.tools);
    shared.peer.up(Upcall::ToolsChanged).await;
    Ok(())
}

/// All pages (N1–N4). A cursor that the server refuses means starting over, once (N3).
async fn list(
    shared: &Shared,
    dialect: &Dialect,
    capabilities: &Map<String, Value>,
) -> ListOutcome {
    // G3; a server that names no capability at all is asked all the same.
    if !capabilities.is_empty() && !capabilities.contains_key("tools") {
        return Ok(List::empty());
    }
    match walk(shared, dialect).await {
        Err((Fault::Rpc { error, .. }, true)) if error.code == code::INVALID_PARAMS => {
            walk(shared, dialect).await.map_err(|(fault, _)| fault)
        }
        Err((Fault::Rpc { error, .. }, false)) if error.code == code::METHOD_NOT_FOUND => {
            Ok(List::empty())
        }
        other => other.map_err(|(fault, _)| fault),
    }
}

/// One walk over the pages; a fault comes with whether a cursor was in use.
async fn walk(shared: &Shared, dialect: &Dialect) -> Result<List, (Fault, bool)> {
    let mut list = ToolList::default();
    let mut pages = Pages::default();
    let mut cursor: Option<String> = None;
    let mut fresh = Duration::MAX;
    let cut = loop {
        let further = cursor.is_some();
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let answer = safely(shared, dialect, "tools/list", params).await;
        let answer = answer.and_then(|answered| complete(answered.result, dialect.era));
        let result = answer.map_err(|fault| (fault, further))?;
        fresh = fresh.min(freshness(&result));
        let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let taken = list.take_page(result, dialect.era);
        let count = taken.map_err(|what| {
            (Fault::Odd { reason: format!("{}: {what}.", shared.peer.http.place()) }, further)
        })?;
        if let Some(why) = list.full() {
            break Some(why.to_owned());
        }
        match pages.after(count, next) {
            After::Fetch(next) => cursor = Some(next),
            After::End => break None,
            After::Repeats => {
                let breach = "gives the same page cursor twice, so that its list of tools was cut";
                list.breaches.push((breach, String::new()));
                break None;
            }
            After::Stop(why) => break Some(why),
        }
    };
    let ToolList { tools, dropped, breaches, .. } = list;
    Ok(List { tools, dropped, cut, breaches, fresh })
}

/// P6: a list is complete or no answer at all.
pub(super) fn complete(result: Value, era: Era) -> Result<Value, Fault> {
    match model::other_type(&result, era) {
        None => Ok(result),
        Some(kind) => Err(Fault::Odd {
            reason: format!("The server answered with a result of an unknown type ({kind})."),
        }),
    }
}
