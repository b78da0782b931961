//! One actor per server: it owns the link, the MCP session and everything in flight.
//!
//! All work is futures inside the actor; nothing is spawned and nothing wakes up while there is
//! nothing to do. The actor itself never waits for the runtime: what it has to report stands in a
//! queue of its own. Every call is settled exactly once, also when the client ends.

mod call;
mod connect;
mod inquire;
mod listen;
mod output;
mod questions;
mod shared;
mod task;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::era::Refusal;
use super::exchange::{Ask, Dialect, Topic, UPCALLS, Upcall};
use super::{Command, ServerEvent, ServerEventKind, ServerSpec, retry};
use crate::domain::{Changed, Era, ServerState, Source, Stage, Warning};
use call::Request;
use connect::{Failed, Found};
use shared::{Link, Shared};

/// Change notices that come within this time of one another make one listing.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// A list of a modern server that does not tell of changes is not asked for more often than this,
/// however soon it is stale (C2).
const RELIST: Duration = Duration::from_secs(60);
/// A server that forgets the session of its standing stream is not connected anew for that more
/// often than this.
const REVIVE: Duration = Duration::from_secs(60);
/// News that wait to be told; more resources than this are all of them.
const NEWS: usize = 64;
/// Time for the good-byes: quitting must not hang (G5).
const GOODBYE: Duration = Duration::from_millis(1500);

/// Runs a server's client until [`Command::Shutdown`], the end of `commands`, or `cancel`.
/// Connects at once; after a failure reconnects with backoff and on [`Command::Connect`].
pub async fn run(
    spec: ServerSpec,
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<ServerEvent>,
    cancel: CancellationToken,
) {
    let (upcalls, from_streams) = mpsc::channel(UPCALLS);
    let (link, seen) = watch::channel(Link::Connecting);
    let shared = Arc::new(Shared::new(&spec, events.clone(), upcalls, seen));
    let mut actor = Actor {
        shared,
        link,
        jobs: FuturesUnordered::new(),
        outbox: VecDeque::new(),
        connecting: false,
        listing: Listing::Idle,
        era: spec.remembered,
        listed: false,
        listing_from: 0,
        attempts: 0,
        retry_at: None,
        generation: 0,
        news: BTreeSet::new(),
        stale_at: None,
        revived_at: None,
    };
    actor.connect();
    actor.serve(commands, from_streams, events, cancel).await;
}

/// What a job came to.
enum Done {
    Connected(Result<Box<Found>, Failed>),
    Listed(Box<connect::ListOutcome>),
    Waited,
    Gathered,
    Settled,
}

/// Where listing again stands: at most one runs and one more waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Idle,
    Waiting,
    Running,
    RunningAndAgain,
}

struct Actor {
    shared: Arc<Shared>,
    link: watch::Sender<Link>,
    jobs: FuturesUnordered<BoxFuture<'static, Done>>,
    outbox: VecDeque<ServerEventKind>,
    connecting: bool,
    listing: Listing,
    era: Option<Era>,
    listed: bool,
    /// How many changes had been announced when the latest listing began.
    listing_from: u64,
    attempts: u32,
    retry_at: Option<Instant>,
    generation: u64,
    /// What else has changed and is to be told.
    news: BTreeSet<Topic>,
    /// When the list of tools may be asked for again because it is old.
    stale_at: Option<Instant>,
    /// When the connection was last made anew because its standing stream was refused.
    revived_at: Option<Instant>,
}

impl Actor {
    async fn serve(
        &mut self,
        mut commands: mpsc::Receiver<Command>,
        mut upcalls: mpsc::Receiver<Upcall>,
        events: mpsc::Sender<ServerEvent>,
        cancel: CancellationToken,
    ) {
        let news = Arc::clone(&self.shared);
        loop {
            let retry_at = self.retry_at;
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                permit = events.reserve(), if !self.outbox.is_empty() => match permit {
                    Ok(permit) => self.report(permit),
                    Err(_closed) => break,
                },
                command = commands.recv() => match command {
                    None | Some(Command::Shutdown) => break,
                    Some(command) => self.command(command),
                },
                () = news.peer.desk.news(), if self.outbox.is_empty() => {
                    self.outbox.extend(news.peer.desk.take_news());
                }
                Some(upcall) = upcalls.recv() => self.upcall(upcall),
                Some(done) = self.jobs.next(), if !self.jobs.is_empty() => self.done(done),
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => {
                    self.connect();
                }
            }
        }
        self.end(upcalls).await;
    }

    fn report(&mut self, permit: mpsc::Permit<'_, ServerEvent>) {
        if let Some(kind) = self.outbox.pop_front() {
            permit.send(ServerEvent { server: self.shared.peer.server.clone(), kind });
        }
    }

    fn tell(&mut self, kind: ServerEventKind) {
        self.outbox.push_back(kind);
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Connect => {
                self.attempts = 0;
                self.leave();
                self.connect();
            }
            Command::Refresh => self.refresh(),
            Command::Call { call, tool, arguments, decided, cancel, reply, trace } => {
                self.wake();
                self.refresh_if_stale();
                let request = Request { call, tool, arguments, decided, cancel, reply, trace };
                self.start(call::run(Arc::clone(&self.shared), request), |()| Done::Settled);
            }
            Command::Inquire { inquiry, cancel, reply } => {
                self.wake();
                let request = inquire::Request { inquiry: *inquiry, cancel, reply };
                self.start(inquire::run(Arc::clone(&self.shared), request), |()| Done::Settled);
            }
            Command::Reply { elicitation, reply } => {
                self.shared.peer.desk.reply(elicitation, reply);
            }
            Command::Shutdown => {}
        }
    }

    /// Somebody wants something of a server that would be tried again later: that is now.
    fn wake(&mut self) {
        if self.retry_at.is_some() && self.listed {
            self.connect();
        }
    }

    fn upcall(&mut self, upcall: Upcall) {
        match upcall {
            Upcall::ToolsChanged => self.refresh_soon(),
            Upcall::Announced(topic) => self.announced(topic),
            Upcall::Subscribed(generation, tools) if generation == self.generation => {
                if let Link::Up(conn) = &*self.link.borrow() {
                    conn.told.store(tools, Ordering::Relaxed);
                }
            }
            Upcall::Unreachable(generation, stage, reason) if generation == self.generation => {
                if matches!(&*self.link.borrow(), Link::Up(_)) {
                    self.leave();
                    let refusal = Refusal { stage, reason, retry: true };
                    self.failed(Failed::Refused(refusal, None));
                }
            }
            Upcall::Forgotten(generation) if generation == self.generation => {
                let now = Instant::now();
                if self.revived_at.is_none_or(|last| now.duration_since(last) >= REVIVE) {
                    self.revived_at = Some(now);
                    self.connect();
                }
            }
            Upcall::Post(message, dialect) => self.post(message, dialect),
            Upcall::Ask(ask, dialect) => self.aside(*ask, dialect),
            Upcall::Asked(question) => {
                let answering = questions::answer(Arc::clone(&self.shared), *question);
                self.start_until_end(answering, |()| Done::Settled);
            }
            Upcall::ReadOff(response) => {
                self.start_until_end(response.read_off(), |()| Done::Settled);
            }
            Upcall::SessionLost(generation) if generation == self.generation => self.connect(),
            Upcall::Gone(generation) if generation == self.generation => {
                self.era = None;
                self.connect();
            }
            Upcall::Unauthorized(generation, reason) if generation == self.generation => {
                self.link.send_replace(Link::Down(Arc::from(reason.as_str()))).part();
                self.shared.peer.desk.withdraw_all(self.generation);
                self.tell(ServerEventKind::State(ServerState::NeedsAuth { reason }));
            }
            // Somebody else noticed it earlier.
            Upcall::SessionLost(_)
            | Upcall::Gone(_)
            | Upcall::Unauthorized(..)
            | Upcall::Unreachable(..)
            | Upcall::Forgotten(_)
            | Upcall::Subscribed(..) => {}
        }
    }

    /// §16: a list that has changed is fetched again, or told of for whoever holds it; a burst of
    /// news is told once.
    fn announced(&mut self, topic: Topic) {
        let undeclared = matches!(&*self.link.borrow(), Link::Up(conn) if !conn.tells_of(&topic));
        if undeclared {
            self.breach(undeclared_news(&topic), "");
        }
        if topic == Topic::Tools {
            self.refresh_soon();
            return;
        }
        if self.news.is_empty() {
            self.start_until_end(sleep(DEBOUNCE), |()| Done::Gathered);
        }
        let topic = if self.news.len() < NEWS { topic } else { Topic::Resources };
        self.news.insert(topic);
    }

    fn tell_news(&mut self) {
        for topic in std::mem::take(&mut self.news) {
            let changed = match topic {
                Topic::Tools => continue,
                Topic::Prompts => Changed::Prompts,
                Topic::Resources => Changed::Resources,
                Topic::Contents(uri) => Changed::Resource { uri },
            };
            self.tell(ServerEventKind::Changed(changed));
        }
    }

    /// C2, U6: a list that is stale and of whose changes nobody tells is fetched again when somebody
    /// needs it; the need does not wait for that. The same for a legacy server that announces
    /// changes and has no stream to tell of them.
    fn refresh_if_stale(&mut self) {
        let untold = match &*self.link.borrow() {
            Link::Up(conn) => {
                let may_change = conn.dialect.era == Era::Modern || conn.tells_of(&Topic::Tools);
                may_change && !conn.told.load(Ordering::Relaxed)
            }
            Link::Connecting | Link::Down(_) => false,
        };
        let stale = self.stale_at.is_some_and(|at| Instant::now() >= at);
        if untold && stale && self.listing == Listing::Idle {
            self.refresh();
        }
    }

    fn start<T: 'static>(
        &mut self,
        job: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(T) -> Done + Send + 'static,
    ) {
        self.jobs.push(Box::pin(async move { done(job.await) }));
    }

    /// The same for work that means nothing any more once the client ends.
    fn start_until_end<T: 'static>(
        &mut self,
        job: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(T) -> Done + Send + 'static,
    ) {
        let closing = self.shared.closing.clone();
        let job = async move { closing.run_until_cancelled(job).await };
        self.start(job, |ended| ended.map_or(Done::Settled, done));
    }

    fn post(&mut self, message: serde_json::Value, dialect: Dialect) {
        let shared = Arc::clone(&self.shared);
        self.start(async move { shared.post(&message, &dialect).await }, |()| Done::Settled);
    }

    /// Asks something whose answer nobody waits for.
    fn aside(&mut self, ask: Ask, dialect: Dialect) {
        let shared = Arc::clone(&self.shared);
        self.start(async move { shared.aside(ask, &dialect).await }, |()| Done::Settled);
    }

    /// G11: without it some servers send no log messages at all. Refusals are harmless.
    fn ask_for_logs(&mut self, conn: &shared::Conn) {
        if conn.dialect.era == Era::Legacy && conn.capabilities.contains_key("logging") {
            let mut params = serde_json::Map::new();
            params.insert("level".to_owned(), "info".into());
            let ask = Ask {
                silence: self.shared.limits.discovery,
                ..Ask::new(self.shared.peer.next_id(), "logging/setLevel", params)
            };
            let (shared, dialect) = (Arc::clone(&self.shared), conn.dialect.clone());
            let job = async move { shared.aside(ask, &dialect).await };
            self.start_until_end(job, |()| Done::Settled);
        }
    }

    /// Connects anew. Whoever needs the link waits for it meanwhile.
    fn connect(&mut self) {
        self.retry_at = None;
        if std::mem::replace(&mut self.connecting, true) {
            return;
        }
        let last = self.generation;
        self.generation += 1;
        self.listing_from = self.shared.peer.announced();
        self.shared.peer.cache().clear();
        if let old @ Link::Up(_) = self.link.send_replace(Link::Connecting) {
            old.part();
            self.shared.peer.desk.withdraw_all(last);
        }
        // What failed is shown with its reason until something better is known.
        if !self.listed && self.attempts == 0 {
            self.tell(ServerEventKind::State(ServerState::Connecting));
        }
        let job = connect::run(Arc::clone(&self.shared), self.era, self.generation);
        self.start_until_end(job, Done::Connected);
    }

    /// Gives up a connection that another is to replace. What is still on its way in it comes to its
    /// end first, with the standing stream that it may need and the questions that it asks; then
    /// its MCP session is ended (G5).
    fn leave(&mut self) {
        let Link::Up(conn) = self.link.send_replace(Link::Connecting) else { return };
        let shared = Arc::clone(&self.shared);
        self.start(
            async move {
                conn.calls.close();
                tokio::select! {
                    () = conn.calls.wait() => {}
                    () = shared.closing.cancelled() => {}
                }
                conn.over.cancel();
                shared.peer.desk.withdraw_all(conn.generation);
                let ended = timeout(GOODBYE, shared.peer.end_session(&conn.dialect));
                if ended.await.is_err() {
                    tracing::debug!(server = %shared.peer.server, "the old MCP session was not ended");
                }
            },
            |()| Done::Settled,
        );
    }

    fn refresh(&mut self) {
        let link = self.link.borrow().clone();
        match link {
            Link::Up(_) if matches!(self.listing, Listing::Running | Listing::RunningAndAgain) => {
                self.listing = Listing::RunningAndAgain;
            }
            Link::Up(conn) => {
                self.listing = Listing::Running;
                self.listing_from = self.shared.peer.announced();
                let job = connect::list_again(Arc::clone(&self.shared), conn);
                self.start_until_end(job, |listed| Done::Listed(Box::new(listed)));
            }
            // Connecting lists too.
            Link::Connecting => {}
            Link::Down(_) => self.connect(),
        }
    }

    fn refresh_soon(&mut self) {
        match self.listing {
            Listing::Idle => {
                self.listing = Listing::Waiting;
                self.start_until_end(sleep(DEBOUNCE), |()| Done::Waited);
            }
            Listing::Running => self.listing = Listing::RunningAndAgain,
            Listing::Waiting | Listing::RunningAndAgain => {}
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Connected(Ok(found)) => self.connected(*found),
            Done::Connected(Err(failed)) => self.failed(failed),
            Done::Listed(listed) => self.listed_again(*listed),
            Done::Waited if self.listing == Listing::Waiting => {
                self.listing = Listing::Idle;
                self.refresh();
            }
            Done::Gathered => self.tell_news(),
            Done::Waited | Done::Settled => {}
        }
    }

    fn connected(&mut self, found: Found) {
        self.connecting = false;
        self.attempts = 0;
        let conn = Arc::new(found.conn);
        self.era = Some(conn.dialect.era);
        self.tell(ServerEventKind::Connected(conn.described()));
        for remark in &conn.remarks {
            let message = format!("The server is usable, but {remark}.");
            let source = Source::Server(self.shared.peer.server.clone());
            self.tell(ServerEventKind::Warned(Warning::new(source, message, "")));
        }
        if conn.may_be_listened_to() {
            self.start(listen::run(Arc::clone(&self.shared), Arc::clone(&conn)), |()| {
                Done::Settled
            });
        }
        self.ask_for_logs(&conn);
        self.watch_again(&conn);
        self.link.send_replace(Link::Up(conn));
        self.take_list(found.list);
    }

    /// O4: subscriptions to resources end with the connection they were made on. A modern stream
    /// names them all when it is opened.
    fn watch_again(&mut self, conn: &shared::Conn) {
        if conn.dialect.era == Era::Legacy && conn.takes_watchers() {
            let watched = self.shared.watched.borrow().clone();
            for uri in watched {
                let ask = self.shared.about_resource("resources/subscribe", &uri);
                self.aside(ask, conn.dialect.clone());
            }
        }
    }

    fn breach(&mut self, breach: &'static str, detail: &str) {
        if let Some(warning) = self.shared.peer.breach(breach, detail) {
            self.tell(ServerEventKind::Warned(warning));
        }
    }

    fn take_list(&mut self, list: connect::List) {
        self.listed = true;
        self.stale_at = Instant::now().checked_add(list.fresh.max(RELIST));
        self.shared.set_tools(&list.tools);
        for (breach, tool) in list.breaches {
            self.breach(breach, &tool);
        }
        if let Some(why) = list.cut {
            let source = Source::Server(self.shared.peer.server.clone());
            let message = format!("Its list of tools was cut: {why}.");
            let advice = "The tools read so far are offered; its makers may want to know.";
            self.tell(ServerEventKind::Warned(Warning::new(source, message, advice)));
        }
        self.covered();
        let tools = list.tools.into_iter().map(|tool| tool.definition).collect();
        self.tell(ServerEventKind::Tools { tools, dropped: list.dropped });
        self.tell(ServerEventKind::State(ServerState::Ready));
    }

    /// A listing has come to its end: the changes that were announced before it began are in it, as
    /// far as they can be had. One that was announced meanwhile makes another.
    fn covered(&mut self) {
        self.shared.covered.send_replace(self.listing_from);
        if self.shared.peer.announced() > self.listing_from {
            self.refresh_soon();
        }
    }

    fn listed_again(&mut self, outcome: connect::ListOutcome) {
        let again = self.listing == Listing::RunningAndAgain;
        self.listing = Listing::Idle;
        match outcome {
            Ok(list) => self.take_list(list),
            // The connection is being made anew, or cannot be, and that is told already.
            Err(_) if !matches!(&*self.link.borrow(), Link::Up(_)) => {}
            Err(fault) => {
                self.covered();
                let reason = format!("The tools could not be listed again: {fault}");
                self.tell(ServerEventKind::State(ServerState::Degraded { reason }));
            }
        }
        if again {
            self.refresh_soon();
        }
    }

    fn failed(&mut self, failed: Failed) {
        self.connecting = false;
        let (state, reason, again) = match failed {
            Failed::Auth(reason) => {
                (ServerState::NeedsAuth { reason: reason.clone() }, reason, None)
            }
            Failed::Refused(Refusal { stage, reason, retry }, after) => {
                if stage >= Stage::Http && !self.listed {
                    // E5: what was remembered may be why.
                    self.era = None;
                }
                let again = retry.then_some(after);
                let state = if self.listed && retry {
                    ServerState::Degraded { reason: format!("{stage}: {reason}") }
                } else {
                    ServerState::Failed { stage, reason: reason.clone() }
                };
                (state, reason, again)
            }
        };
        if let Some(hint) = again {
            self.attempts = self.attempts.saturating_add(1);
            let wait = retry::backoff(self.attempts, hint, fastrand::f64());
            self.retry_at = Some(Instant::now() + wait);
        }
        self.tell(ServerEventKind::State(state));
        self.link.send_replace(Link::Down(Arc::from(reason)));
    }

    /// Settles every call, says good-bye where the era wants it, and is done within
    /// [`GOODBYE`].
    async fn end(&mut self, mut upcalls: mpsc::Receiver<Upcall>) {
        self.shared.closing.cancel();
        let shared = Arc::clone(&self.shared);
        let last = self.link.send_replace(Link::Down(Arc::from("The client has ended.")));
        last.part();
        let goodbye = async {
            let posts = async {
                loop {
                    tokio::select! {
                        Some(upcall) = upcalls.recv() => match upcall {
                            Upcall::Post(message, dialect) => self.post(message, dialect),
                            Upcall::Ask(ask, dialect) => self.aside(*ask, dialect),
                            _ => {}
                        },
                        done = self.jobs.next() => if done.is_none() { break },
                    }
                }
                while let Ok(upcall) = upcalls.try_recv() {
                    match upcall {
                        Upcall::Post(message, dialect) => shared.post(&message, &dialect).await,
                        Upcall::Ask(ask, dialect) => shared.aside(*ask, &dialect).await,
                        _ => {}
                    }
                }
            };
            posts.await;
            if let Link::Up(conn) = &last {
                shared.peer.end_session(&conn.dialect).await;
            }
        };
        if timeout(GOODBYE, goodbye).await.is_err() {
            tracing::debug!(server = %self.shared.peer.server, "the server did not answer the good-bye");
        }
    }
}

/// What a server does wrong that tells of changes which it did not declare to tell of.
fn undeclared_news(topic: &Topic) -> &'static str {
    match topic {
        Topic::Tools => "tells of changes to its tools without having declared listChanged",
        Topic::Prompts => "tells of changes to its prompts without having declared listChanged",
        Topic::Resources => {
            "tells of changes to its resources without having declared listChanged for them"
        }
        Topic::Contents(_) => {
            "tells of changes to a resource without having declared subscribe for them"
        }
    }
}
