//! The client under test, with everything it reports kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mini_me_tui::config::Protocol;
use mini_me_tui::domain::{
    Answering, CallId, Content, Elicitation, ElicitationId, ElicitationReply, Found, Inquiry,
    InquiryFault, Outcome, ServerConnection, ServerName, ServerState, ToolName,
};
use mini_me_tui::mcp::{self, Command, Limits, ServerEvent, ServerEventKind, ServerSpec};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a test waits for something that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Runs something beside the test.
#[expect(clippy::disallowed_methods, reason = "tests have no runtime of the program's own")]
pub(crate) fn spawn<T: Send + 'static>(
    job: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    tokio::spawn(job)
}

/// What is known of a server with this URL, and nothing else configured.
pub(crate) fn spec(url: &str) -> ServerSpec {
    ServerSpec {
        name: ServerName::new("demo"),
        url: url.parse().unwrap(),
        headers: vec![("Authorization".to_owned(), "Bearer tok-EXAMPLE".to_owned().into())],
        has_credential: true,
        protocol: Protocol::Auto,
        ca_pem: None,
        answering: Answering::Everything,
        limits: Limits {
            discovery: Duration::from_secs(10),
            silence: Duration::from_secs(10),
            call: Duration::from_secs(30),
        },
        remembered: None,
        wire: None,
    }
}

#[derive(Default)]
struct Kept {
    events: Mutex<Vec<ServerEventKind>>,
    changed: Notify,
}

/// A running client.
pub(crate) struct Client {
    commands: mpsc::Sender<Command>,
    kept: Arc<Kept>,
    task: JoinHandle<()>,
    next: std::sync::atomic::AtomicU64,
}

/// A call on its way.
pub(crate) struct Calling {
    pub(crate) id: CallId,
    pub(crate) cancel: CancellationToken,
    reply: oneshot::Receiver<Outcome>,
}

impl Calling {
    pub(crate) async fn outcome(self) -> Outcome {
        tokio::time::timeout(PATIENCE, self.reply).await.expect("in time").expect("an outcome")
    }
}

impl Client {
    pub(crate) fn start(spec: ServerSpec) -> Self {
        let (commands, inbox) = mpsc::channel(mcp::COMMANDS);
        let (events, mut outbox) = mpsc::channel::<ServerEvent>(64);
        let kept = Arc::new(Kept::default());
        let keeping = Arc::clone(&kept);
        spawn(async move {
            while let Some(event) = outbox.recv().await {
                keeping.events.lock().unwrap().push(event.kind);
                keeping.changed.notify_waiters();
            }
        });
        let task = spawn(mcp::client::run(spec, inbox, events, CancellationToken::new()));
        Self { commands, kept, task, next: std::sync::atomic::AtomicU64::new(1) }
    }

    /// A client whose server is ready.
    pub(crate) async fn ready(spec: ServerSpec) -> Self {
        let client = Self::start(spec);
        assert_eq!(client.settled().await, ServerState::Ready);
        client
    }

    pub(crate) fn events(&self) -> Vec<ServerEventKind> {
        self.kept.events.lock().unwrap().clone()
    }

    /// Waits until what was reported answers the question.
    pub(crate) async fn until<T>(&self, answer: impl Fn(&[ServerEventKind]) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let changed = self.kept.changed.notified();
                if let Some(found) = answer(&self.kept.events.lock().unwrap()) {
                    return found;
                }
                changed.await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, waiting).await;
        found.unwrap_or_else(|elapsed| panic!("{elapsed}; reported: {:#?}", self.events()))
    }

    /// The first state that is not *connecting*.
    pub(crate) async fn settled(&self) -> ServerState {
        self.until(|events| states(events).into_iter().find(ServerState::settled)).await
    }

    pub(crate) async fn connection(&self) -> ServerConnection {
        let found = |kind: &ServerEventKind| match kind {
            ServerEventKind::Connected(connection) => Some(connection.clone()),
            _ => None,
        };
        self.until(|events| events.iter().find_map(found)).await
    }

    /// Original names of the tools as they were last listed.
    pub(crate) fn tools(&self) -> Vec<String> {
        let mut last = Vec::new();
        for kind in self.events() {
            if let ServerEventKind::Tools { tools, .. } = kind {
                last = tools.iter().map(|tool| tool.name.as_str().to_owned()).collect();
            }
        }
        last
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        let message = |kind| match kind {
            ServerEventKind::Warned(warning) => Some(warning.message),
            _ => None,
        };
        self.events().into_iter().filter_map(message).collect()
    }

    /// The question with this number, from 0, once the server asks it.
    pub(crate) async fn asked(&self, nth: usize) -> Arc<Elicitation> {
        let asked = |kind: &ServerEventKind| match kind {
            ServerEventKind::Elicit(elicitation) => Some(Arc::clone(elicitation)),
            _ => None,
        };
        self.until(|events| events.iter().filter_map(asked).nth(nth)).await
    }

    /// Why a question was closed, once it is.
    pub(crate) async fn closed(&self, id: ElicitationId) -> String {
        let closed = |kind: &ServerEventKind| match kind {
            ServerEventKind::ElicitClosed { elicitation, why } if *elicitation == id => {
                Some(why.clone())
            }
            _ => None,
        };
        self.until(|events| events.iter().find_map(closed)).await
    }

    pub(crate) async fn reply(&self, elicitation: ElicitationId, reply: ElicitationReply) {
        self.send(Command::Reply { elicitation, reply }).await;
    }

    pub(crate) async fn send(&self, command: Command) {
        self.commands.send(command).await.unwrap();
    }

    pub(crate) async fn begin(&self, tool: &str, arguments: &Value) -> Calling {
        let id = CallId(self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let (reply, outcome) = oneshot::channel();
        let cancel = CancellationToken::new();
        self.send(Command::Call {
            call: id,
            tool: ToolName::new(tool),
            arguments: Arc::new(arguments.as_object().unwrap().clone()),
            decided: None,
            cancel: cancel.clone(),
            reply,
            trace: None,
        })
        .await;
        Calling { id, cancel, reply: outcome }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Outcome {
        self.begin(tool, arguments).await.outcome().await
    }

    /// Asks something that changes nothing.
    pub(crate) async fn inquire(&self, inquiry: Inquiry) -> Result<Found, InquiryFault> {
        let (reply, answer) = oneshot::channel();
        let (inquiry, cancel) = (Box::new(inquiry), CancellationToken::new());
        self.send(Command::Inquire { inquiry, cancel, reply }).await;
        tokio::time::timeout(PATIENCE, answer).await.expect("in time").expect("an answer")
    }

    /// Ends it in order; how long that took.
    pub(crate) async fn stop(self) -> Duration {
        let begun = tokio::time::Instant::now();
        self.send(Command::Shutdown).await;
        tokio::time::timeout(PATIENCE, self.task).await.expect("it ends").unwrap();
        begun.elapsed()
    }
}

pub(crate) fn states(events: &[ServerEventKind]) -> Vec<ServerState> {
    let state = |kind: &ServerEventKind| match kind {
        ServerEventKind::State(state) => Some(state.clone()),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

/// The text of an outcome: what the tool said, or the reason.
pub(crate) fn text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => output
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => text.clone(),
                other => format!("{other:?}"),
            })
            .collect(),
        Outcome::Unknown { reason } | Outcome::NotSent { reason } => reason.clone(),
        other => format!("{other:?}"),
    }
}

/// Waits until something holds.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "never: {what}");
}
