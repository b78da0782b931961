//! The conductor's loop: owns the agent and the hub, performs effects, tells the face.
//!
//! Operations come first, so that an interrupt is heard whatever else is going on. A face that is
//! slow holds back the model's stream, nothing else. Nothing here waits for a server, the model or
//! the disk: all of that happens in tasks which report back over bounded channels.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::coalesce::Outbox;
use super::held::Held;
use super::hub::{Heard, Hub, Report};
use super::past::{self, Resume, Wanted};
use super::records::Records;
use super::tasks::{Fault, Tasks};
use super::wiretap::{self, Wiretap};
use super::work::{self, Inside, ModelReport};
use super::{Setup, beginning, spec};
use crate::agent::{Agent, Effect, Event, Grants};
use crate::bridge::{Notice, Op};
use crate::domain::exchange::ExchangeId;
use crate::domain::model::{ModelEvent, ModelRequest, ProviderError, ProviderErrorKind};
use crate::domain::{
    Answer, Call, CallId, Catalog, ElicitationId, ElicitationReply, Inquiry, InquiryId,
    Interaction, ServerName, Source, ToolId, TurnId, Warning,
};
use crate::mcp::Command;
use crate::paths::Paths;
use crate::permission::Rule;
use crate::provider::http::Provider;
use crate::redact::Secrets;
use crate::store::{self, StoreError};
use crate::telemetry::{Settings, Spans};

/// Room for outcomes of calls and news of the program's own tasks.
const INSIDE: usize = 64;
/// Room for reports of all servers together.
const SERVER_EVENTS: usize = 256;
/// Room for what the model says, before its stream is held back.
const MODEL_REPORTS: usize = 64;
/// How long servers and writers are given to end in order.
const ENDING: Duration = Duration::from_secs(2);
/// How long is waited for what still runs then.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// Owner of everything that decides and of everything that is open.
pub(super) struct Conductor {
    pub(super) agent: Agent,
    hub: Hub,
    pub(super) outbox: Outbox,
    pub(super) records: Records,
    pub(super) tasks: Tasks,
    paths: Option<Paths>,
    pub(super) provider: Option<Provider>,
    /// The same as the file describes it.
    pub(super) configured: Option<Provider>,
    pub(super) held: Held,
    /// The endpoint was asked once more for the window, of a model that is loaded.
    pub(super) window_confirmed: bool,
    /// The model that answers from the next turn on.
    pub(super) next_model: Option<String>,
    /// A turn runs.
    pub(super) turning: bool,
    pub(super) inside: mpsc::Sender<Inside>,
    reports: mpsc::Sender<ModelReport>,
    secrets: Secrets,
    model: Option<(TurnId, CancellationToken)>,
    calls: HashMap<CallId, CancellationToken>,
    completing: CancellationToken,
    spans: Spans,
    /// Open questions of servers.
    asked_by: HashMap<ElicitationId, ServerName>,
    wire: Wiretap,
    ending: bool,
}

/// Everything the loop listens to.
struct Ears {
    ops: mpsc::Receiver<Op>,
    inside: mpsc::Receiver<Inside>,
    servers: mpsc::Receiver<Heard>,
    model: mpsc::Receiver<ModelReport>,
    faults: mpsc::Receiver<Fault>,
}

/// Starts the loop and returns the first snapshot. `ended` is cancelled when all is over.
pub(super) fn start(
    setup: Setup,
    ops: mpsc::Receiver<Op>,
    notices: mpsc::Sender<Notice>,
    ended: CancellationToken,
) -> Arc<Catalog> {
    let (tasks, faults) = Tasks::new();
    let (inside, inside_end) = mpsc::channel(INSIDE);
    let (server_events, servers) = mpsc::channel(SERVER_EVENTS);
    let (reports, model) = mpsc::channel(MODEL_REPORTS);
    let ears = Ears { ops, inside: inside_end, servers, model, faults };

    let mut warnings = setup.warnings.clone();
    let secrets = spec::secrets(&setup.config);
    let ca = spec::certificates(&setup.config.mcp, &mut warnings);
    let rules = beginning::remembered_rules(setup.paths.as_ref(), &mut warnings);
    let agent = beginning::agent(&setup, &rules);
    let spans = spans(setup.telemetry.as_ref(), &tasks, &mut warnings);
    let hub = Hub::new(&setup, warnings, ca.as_ref(), &secrets, server_events, tasks.clone());
    let provider = setup.config.model.clone().map(|model| {
        let tap = wiretap::of_model(&model, &setup.wire, spec::needles(&setup.config));
        Provider::new(model, ca).recorded(tap)
    });
    let wire = Wiretap::new(Arc::clone(&setup.wire));
    let configured = setup.config.model.as_ref().is_none_or(|model| model.context_window.is_some());
    let held = if configured { Held::settled() } else { Held::default() };
    let records = Records::new(&setup, &tasks, inside.clone(), secrets.clone());
    let mut conductor = Conductor {
        agent,
        hub,
        outbox: Outbox::default(),
        records,
        tasks,
        paths: setup.paths,
        configured: provider.clone(),
        provider,
        held,
        window_confirmed: false,
        next_model: None,
        turning: false,
        inside,
        reports,
        secrets,
        model: None,
        calls: HashMap::new(),
        completing: CancellationToken::new(),
        spans,
        asked_by: HashMap::new(),
        wire,
        ending: false,
    };
    let catalog = conductor.begin(setup.resume);
    if setup.interaction == Interaction::Interactive {
        // Somebody looks at what is on offer before the first message.
        conductor.ask_window();
    }
    // Its own set of tasks: the conductor waits for the others at the end.
    let (outer, _) = Tasks::new();
    outer.spawn("conductor", async move {
        let _ended = ended.drop_guard();
        conductor.run(ears, notices).await;
    });
    catalog
}

/// Begins to record spans, where that is asked for.
fn spans(settings: Option<&Settings>, tasks: &Tasks, warnings: &mut Vec<Warning>) -> Spans {
    match settings.map(Spans::begin) {
        None => Spans::default(),
        Some(Ok((spans, export))) => {
            tasks.spawn("spans", until(tasks.quit().clone(), export));
            spans
        }
        Some(Err(warning)) => {
            warnings.push(*warning);
            Spans::default()
        }
    }
}

impl Conductor {
    fn begin(&mut self, earlier: Option<Resume>) -> Arc<Catalog> {
        match earlier {
            Some(earlier) => self.announce(earlier),
            None => self.begin_session(),
        }
        let catalog = self.hub.snapshot(self.agent.policy());
        self.drive(Event::CatalogChanged { catalog: Arc::clone(&catalog) });
        self.show_model(false);
        catalog
    }

    async fn run(mut self, mut ears: Ears, notices: mpsc::Sender<Notice>) {
        self.recall_eras().await;
        self.hub.connect_all();
        self.recall_pins().await;
        loop {
            let due = self.hub.due();
            tokio::select! {
                biased;
                op = ears.ops.recv() => match op {
                    None | Some(Op::Quit) => break,
                    Some(op) => self.asked(op),
                },
                room = notices.reserve(), if !self.outbox.is_empty() => match room {
                    Ok(room) => if let Some(notice) = self.outbox.pop() { room.send(notice) },
                    // Nobody is there any more.
                    Err(_) => break,
                },
                Some(news) = ears.inside.recv() => self.heard_inside(news),
                Some(fault) = ears.faults.recv() => self.task_failed(&fault),
                Some(event) = ears.servers.recv() => self.heard_server(event),
                () = sleep_until(due), if due.is_some() => self.show_catalog(),
                () = self.wire.turned(), if self.wire.watching() => {
                    self.outbox.push(self.wire.notice());
                }
                Some(report) = ears.model.recv(), if self.outbox.has_room() => {
                    self.heard_model(report);
                }
            }
        }
        self.end(ears, notices).await;
    }

    /// Reads which eras the servers spoke: connecting begins with it, the first snapshot does not
    /// wait for it.
    async fn recall_eras(&mut self) {
        let Some(paths) = self.paths.clone() else { return };
        let reading = tokio::task::spawn_blocking(move || store::read_eras(&paths));
        if let Ok(eras) = reading.await {
            self.hub.recall_eras(eras);
        }
    }

    /// Reads the pins. They may be many and no list is compared before, so the first snapshot does
    /// not wait for them.
    async fn recall_pins(&mut self) {
        let Some(paths) = self.paths.clone() else { return };
        let reading = tokio::task::spawn_blocking(move || store::read_pins(&paths));
        let Ok((pins, troubles)) = reading.await else { return };
        self.hub.recall(pins);
        for trouble in troubles {
            self.warn(trouble);
        }
    }

    fn asked(&mut self, op: Op) {
        match op {
            Op::Submit { text } => self.submit(text),
            Op::TakeBack { at, text } => self.take_back(at, text),
            Op::Answer { call, answer } => {
                if matches!(answer, Answer::Session | Answer::Always) {
                    // The catalog's marks follow the grant.
                    self.hub.permissions_changed();
                }
                self.drive(Event::Answered { call, answer });
            }
            Op::Decide { question, go_on } => self.drive(Event::Decided { question, go_on }),
            Op::Reply { elicitation, reply } => self.reply(elicitation, reply),
            Op::Interrupt => {
                let texts = self.held.take();
                self.hand_back(texts);
                self.drive(Event::Interrupted);
            }
            Op::Reconnect { server } => self.hub.reconnect(server.as_ref()),
            Op::SetEnabled { target, on } => {
                self.hub.set_enabled(&target, on);
                // The next call must already find it so.
                self.show_catalog();
            }
            Op::CallDirect { tool, arguments, consent } => {
                self.drive(Event::CallDirect { tool, arguments, consent });
            }
            Op::CallUnchecked { tool, arguments } => {
                self.drive(Event::CallUnchecked { tool, arguments });
            }
            Op::AcceptPin { tool, pin } => self.accept(&tool, &pin),
            Op::Inquire { inquiry, server, what } => self.inquire(inquiry, &server, what),
            Op::ListModels => self.list_models(),
            Op::SwitchModel { name } => self.switch_model(name),
            Op::NewSession => {
                let texts = self.held.take();
                self.hand_back(texts);
                self.drive(Event::NewSession);
                self.begin_session();
            }
            Op::ListSessions => self.look(Wanted::List),
            Op::Resume { id } => {
                let current = self.records.id().map(ToString::to_string).unwrap_or_default();
                self.look(Wanted::Resume { id, current });
            }
            Op::Fork { before } => {
                if let Some(id) = self.records.id().cloned() {
                    self.look(Wanted::Fork { id, before });
                }
            }
            Op::WatchWire { on } => {
                if self.wire.watch(on) {
                    self.outbox.push(self.wire.notice());
                }
            }
            Op::ExportWire { only } => self.export(only),
            Op::Quit => {}
        }
    }

    fn export(&self, only: Option<Vec<ExchangeId>>) {
        let file = self.paths.as_ref().map(Paths::wire_dir);
        let writing = self.wire.export(only, file, self.inside.clone());
        self.tasks.spawn("writing an archive", writing);
    }

    /// The first message waits until the model's window is known.
    fn submit(&mut self, text: String) {
        self.ask_window();
        match self.held.keep(text) {
            Some(text) => self.drive(Event::Submitted { text }),
            None => self.tell_held(),
        }
    }

    fn take_back(&mut self, at: usize, text: String) {
        match self.held.take_back(at, &text) {
            Some(text) => self.hand_back(vec![text]),
            None => self.drive(Event::TakenBack { at, text }),
        }
    }

    pub(super) fn tell_held(&mut self) {
        self.outbox.push(Notice::Queued { texts: self.held.texts().to_vec() });
    }

    fn hand_back(&mut self, texts: Vec<String>) {
        if !texts.is_empty() {
            self.tell_held();
            self.outbox.push(Notice::TakenBack { texts });
        }
    }

    /// Takes a changed definition that the user was shown for the one to compare with.
    fn accept(&mut self, tool: &ToolId, pin: &str) {
        if let Err(why) = self.hub.accept(tool, pin) {
            let advice = "Look at its page again.";
            self.warn(Warning::new(Source::Tool(tool.clone()), why, advice));
        }
        self.show_catalog();
    }

    fn heard_inside(&mut self, news: Inside) {
        match news {
            Inside::CallDone { call, outcome } => {
                self.calls.remove(&call);
                self.spans.call_done(call, &outcome);
                self.drive(Event::CallDone { call, outcome });
            }
            Inside::Window { model, window } => self.heard_window(&model, window),
            Inside::ModelsListed(models) => {
                self.outbox.push(Notice::ModelsListed { models: Arc::new(models) });
            }
            Inside::Inquired { inquiry, answer } => {
                self.outbox.push(Notice::Inquired { inquiry, answer: Arc::new(answer) });
            }
            Inside::Warned(warning) => self.warn(warning),
            Inside::Exported(written) => self.outbox.push(Notice::WireExported { written }),
            Inside::Sessions(found) => {
                self.outbox.push(Notice::Sessions { found: Arc::new(found) });
            }
            Inside::Reopened(earlier, grants) => self.go_on(*earlier, grants),
            Inside::Refused(reason) => self.outbox.push(Notice::Refused { reason }),
        }
    }

    /// Looks at the sessions on disk, away from the loop.
    fn look(&mut self, wanted: Wanted) {
        let Some(directory) = self.records.directory() else {
            let reason = "conversations are not kept on this machine: there is no home directory";
            return self.outbox.push(Notice::Refused { reason: reason.to_owned() });
        };
        let waits_for = match &wanted {
            Wanted::List | Wanted::Fork { .. } => self.records.written(),
            Wanted::Resume { .. } => self.records.let_go(),
        };
        let inside = self.inside.clone();
        self.tasks.spawn("reading sessions", async move {
            let found = past::look(directory, wanted, waits_for).await;
            drop(inside.send(found).await);
        });
    }

    /// Leaves this conversation for another.
    fn go_on(&mut self, earlier: Resume, grants: Grants) {
        let past = Box::new(earlier.past.clone());
        self.drive(Event::Resumed { past, grants });
        // The catalog's marks follow what is allowed.
        self.hub.permissions_changed();
        self.announce(earlier);
    }

    fn begin_session(&mut self) {
        let started = self.records.begin();
        self.session_started(started);
    }

    fn session_started(&mut self, started: Notice) {
        if let Notice::SessionStarted { id, .. } = &started {
            self.spans.session(id);
        }
        self.outbox.push(started);
    }

    /// Tells that an earlier conversation is gone on with, and what of it.
    fn announce(&mut self, earlier: Resume) {
        let started = self.records.go_on(&earlier);
        self.session_started(started);
        let Resume { history, remarks, warnings, draft, .. } = earlier;
        self.outbox.push(Notice::Resumed { history: history.into(), remarks, draft });
        for warning in warnings {
            self.warn(warning);
        }
    }

    fn heard_server(&mut self, event: Heard) {
        let server = event.server().clone();
        match self.hub.heard(event) {
            Report::Progress(call, progress) => self.drive(Event::Progressed { call, progress }),
            Report::Elicited(elicitation) => {
                self.asked_by.insert(elicitation.id, server);
                self.outbox.push(Notice::Elicited { elicitation });
            }
            Report::ElicitationClosed(elicitation, why) => {
                // Of one that never got here nobody knows.
                if self.asked_by.remove(&elicitation).is_some() {
                    self.outbox.push(Notice::ElicitationClosed { elicitation, why });
                }
            }
            Report::Changed(server, what) => {
                self.outbox.push(Notice::OffersChanged { server, what });
            }
            Report::Nothing => {}
        }
    }

    /// Passes the user's answer on to the server that asks. A stale one is passed over.
    fn reply(&mut self, elicitation: ElicitationId, reply: ElicitationReply) {
        let asking = self.asked_by.get(&elicitation).and_then(|server| self.hub.commands(server));
        let Some(commands) = asking else { return };
        self.tasks.spawn("answer to a server", async move {
            // A client that has ended closes its questions by itself.
            drop(commands.send(Command::Reply { elicitation, reply }).await);
        });
    }

    fn heard_model(&mut self, report: ModelReport) {
        match report {
            ModelReport::Said { turn, mut event } => {
                self.scrub_model(&mut event);
                self.spans.model_said(turn, &event);
                self.drive(Event::Model { turn, event });
            }
            ModelReport::Failed { turn, mut error } => {
                // Endpoints are known to quote the key that they refuse.
                self.secrets.scrub(&mut error.message);
                self.spans.model_failed(turn, &error);
                self.drive(Event::ModelFailed { turn, error });
            }
        }
    }

    /// Endpoints too are known to echo; a secret that is split over two pieces is not seen.
    fn scrub_model(&self, event: &mut ModelEvent) {
        if let ModelEvent::Retrying { reason: text, .. }
        | ModelEvent::Warned(text)
        | ModelEvent::Text(text)
        | ModelEvent::Reasoning(text) = event
        {
            self.secrets.scrub(text);
        }
    }

    fn task_failed(&mut self, fault: &Fault) {
        self.warn(Warning::new(
            Source::Program,
            format!("A part of the program stopped ({}): {}.", fault.task, fault.message),
            "Please report this; the rest goes on.",
        ));
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.hub.warn(warning.clone());
        self.outbox.push(Notice::Warned { warning });
    }

    fn show_catalog(&mut self) {
        let catalog = self.hub.snapshot(self.agent.policy());
        self.outbox.push(Notice::CatalogChanged { catalog: Arc::clone(&catalog) });
        self.drive(Event::CatalogChanged { catalog });
        self.save_pins();
    }

    fn save_pins(&mut self) {
        if let (Some(pins), Some(paths)) = (self.hub.take_pin_changes(), self.paths.clone()) {
            self.on_disk(move || store::merge_pins(&paths, &pins).map(drop));
        }
        if let (Some(eras), Some(paths)) = (self.hub.take_era_changes(), self.paths.clone()) {
            self.on_disk(move || store::merge_eras(&paths, &eras));
        }
    }

    /// Tells the agent what happened and does what it asks for.
    pub(super) fn drive(&mut self, event: Event) {
        let effects = self.agent.handle(event, Instant::now());
        self.perform_all(effects);
    }

    pub(super) fn perform_all(&mut self, effects: Vec<Effect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            if let Some(event) = self.perform(effect) {
                waiting.extend(self.agent.handle(event, Instant::now()));
            }
        }
    }

    /// Performs one effect; some have an answer at once.
    fn perform(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::AskModel { turn, request } => return self.ask_model(turn, request),
            Effect::StopModel { turn } => self.stop_model(turn),
            Effect::RunCall { call } => self.run_call(call),
            Effect::StopCall { call } => {
                if let Some(cancel) = self.calls.get(&call) {
                    cancel.cancel();
                }
            }
            Effect::Remember { server, rule } => self.remember(server, rule),
            Effect::Audit(record) => self.records.audit(&record),
            Effect::Save(event) => self.records.save(event),
            Effect::Tell(notice) => self.tell(notice),
        }
        None
    }

    fn tell(&mut self, notice: Notice) {
        match &notice {
            Notice::TurnStarted { turn, text } => {
                self.turning = true;
                self.spans.turn_started(*turn, text);
            }
            Notice::TurnEnded { turn, reason, usage, .. } => {
                self.spans.turn_ended(*turn, reason, usage);
                self.turning = false;
                self.confirm_window();
            }
            _ => {}
        }
        self.outbox.push(notice);
        if !self.turning
            && let Some(name) = self.next_model.take()
        {
            self.switch_model(name);
        }
    }

    fn ask_model(&mut self, turn: TurnId, request: ModelRequest) -> Option<Event> {
        if self.ending {
            return None;
        }
        let Some(provider) = self.provider.clone() else {
            return Some(Event::ModelFailed { turn, error: no_model() });
        };
        self.spans.model_asked(turn, provider.config(), &request);
        let cancel = self.tasks.quit().child_token();
        self.model = Some((turn, cancel.clone()));
        let asking = work::ask_model(provider, turn, request, self.reports.clone(), cancel);
        self.tasks.spawn("model request", asking);
        None
    }

    fn stop_model(&mut self, turn: TurnId) {
        self.spans.model_stopped(turn);
        if let Some((_, cancel)) = self.model.take_if(|(asked, _)| *asked == turn) {
            cancel.cancel();
        }
    }

    fn run_call(&mut self, call: Arc<Call>) {
        let cancel = self.tasks.quit().child_token();
        self.calls.insert(call.id, cancel.clone());
        self.hub.allowed(&call.tool);
        let trace = self.spans.call_run(&call, || self.hub.peer(&call.tool.server));
        let commands = self.hub.commands(&call.tool.server);
        let decided = self.hub.decided(&call.tool);
        let (inside, secrets) = (self.inside.clone(), self.secrets.clone());
        let carrying = work::carry(commands, call, decided, trace, cancel, inside, secrets);
        self.tasks.spawn("call", carrying);
    }

    /// A completion that is asked for while an older one is under way ends that one (K2).
    fn inquire(&mut self, inquiry: InquiryId, server: &ServerName, what: Inquiry) {
        let cancel = self.tasks.quit().child_token();
        if matches!(what, Inquiry::Complete { .. }) {
            std::mem::replace(&mut self.completing, cancel.clone()).cancel();
        }
        let commands = self.hub.commands(server);
        let secrets = self.secrets.clone();
        let asking = work::inquire(commands, inquiry, what, cancel, self.inside.clone(), secrets);
        self.tasks.spawn("inquiry", asking);
    }

    fn remember(&mut self, server: ServerName, rule: Rule) {
        self.hub.permissions_changed();
        let Some(paths) = self.paths.clone() else { return };
        self.on_disk(move || store::append_rule(&paths, &server, &rule));
    }

    /// Does something that waits for the disk, and warns if it fails.
    fn on_disk<F>(&self, job: F)
    where
        F: FnOnce() -> Result<(), StoreError> + Send + 'static,
    {
        self.tasks.spawn("writing", work::write(job, self.inside.clone()));
    }

    /// Sends what there is room for now.
    fn send_waiting(&mut self, notices: &mpsc::Sender<Notice>) {
        while let Ok(room) = notices.try_reserve() {
            let Some(notice) = self.outbox.pop() else { return };
            room.send(notice);
        }
    }

    /// Ends in order, within bounds: the turn first, then servers and writers, the notices last.
    async fn end(mut self, mut ears: Ears, notices: mpsc::Sender<Notice>) {
        self.ending = true;
        // The first asks what runs to stop, the second does not wait for it.
        self.drive(Event::Interrupted);
        self.drive(Event::Interrupted);
        // What was allowed a moment ago, with no catalog shown since.
        self.save_pins();
        self.send_waiting(&notices);
        self.hub.shut_down();
        if let Some((_, cancel)) = self.model.take() {
            cancel.cancel();
        }
        let Self { tasks, mut outbox, records, inside, reports, hub, spans, .. } = self;
        // Spans that are still open end here, and are sent with the rest.
        drop((records, inside, reports, hub, spans));
        tokio::select! {
            ended = tasks.wait(ENDING) => {
                if !ended {
                    tracing::warn!("some tasks did not end in time");
                }
            }
            () = listen_on(&mut ears) => {}
        }
        tasks.quit().cancel();
        let flush = async {
            while let Some(notice) = outbox.pop() {
                if notices.send(notice).await.is_err() {
                    break;
                }
            }
        };
        let (_, flushed) = tokio::join!(tasks.wait(LAST_WAIT), tokio::time::timeout(ENDING, flush));
        if flushed.is_err() {
            tracing::warn!("the face did not take the last notices");
        }
    }
}

/// Takes what still comes, so that nobody waits for room. Never ends.
async fn listen_on(ears: &mut Ears) {
    loop {
        tokio::select! {
            Some(_) = ears.inside.recv() => {}
            Some(_) = ears.servers.recv() => {}
            Some(_) = ears.model.recv() => {}
            else => std::future::pending().await,
        }
    }
}

async fn sleep_until(due: Option<tokio::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Runs a future until it ends or the token is cancelled.
pub(super) async fn until(cancel: CancellationToken, work: impl Future<Output = ()>) {
    tokio::select! {
        () = cancel.cancelled() => {}
        () = work => {}
    }
}

fn no_model() -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Unreachable,
        message: "no model is configured; write a `model:` section (`mini-me-tui config init` makes a file to begin with), or try `--demo`".to_owned(),
        retry_after: None,
    }
}
