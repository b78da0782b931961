//! What runs beside the loop: one request to the model, one call, one write. Each reports its end
//! exactly once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Resume;
use crate::agent::Grants;
use crate::domain::model::{Finish, ModelEvent, ModelRequest, OfferedModel, ProviderError};
use crate::domain::{
    Call, CallId, Found, Inquiry, InquiryFault, InquiryFaultKind, InquiryId, Outcome,
    SessionSummary, Source, TraceContext, TurnId, Warning,
};
use crate::mcp::Command;
use crate::provider::http::Provider;
use crate::redact::Secrets;
use crate::runtime::scrub::Scrub as _;
use crate::store::StoreError;

/// Room between a provider and the loop.
const EVENTS: usize = 64;
/// How long the endpoint may take to say how large the model's window is: the first message waits.
const WINDOW_PATIENCE: Duration = Duration::from_secs(2);

/// News of the program's own tasks.
pub(super) enum Inside {
    /// A call came to its end.
    CallDone {
        /// Which.
        call: CallId,
        /// How.
        outcome: Outcome,
    },
    /// The endpoint said how large a model's window is, or did not.
    Window {
        /// Which model's.
        model: String,
        /// In tokens.
        window: Option<u64>,
    },
    /// The endpoint said which models it offers, or did not.
    ModelsListed(Result<Vec<OfferedModel>, String>),
    /// A server answered an inquiry, or did not.
    Inquired {
        /// Which.
        inquiry: InquiryId,
        /// The answer.
        answer: Result<Found, InquiryFault>,
    },
    /// Something could not be written.
    Warned(Warning),
    /// An archive of exchanges was written, or why not.
    Exported(Result<(usize, std::path::PathBuf), String>),
    /// The sessions on disk.
    Sessions(Result<Vec<SessionSummary>, String>),
    /// A session was opened to go on with.
    Reopened(Box<Resume>, Grants),
    /// What the user asked for cannot be done.
    Refused(String),
}

/// News of a request to the model.
pub(super) enum ModelReport {
    /// The model sent something.
    Said {
        /// For which turn.
        turn: TurnId,
        /// What.
        event: ModelEvent,
    },
    /// The request failed for good.
    Failed {
        /// Which turn.
        turn: TurnId,
        /// Why.
        error: ProviderError,
    },
}

/// Carries one request to the model. The last report is its end, whatever happens.
pub(super) async fn ask_model(
    provider: Provider,
    turn: TurnId,
    request: ModelRequest,
    reports: mpsc::Sender<ModelReport>,
    cancel: CancellationToken,
) {
    let (events, mut stream) = mpsc::channel(EVENTS);
    let asking = async {
        let asked = provider.ask(&request, &events, &cancel).await;
        drop(events);
        asked
    };
    let passing = async {
        let mut finished = false;
        while let Some(event) = stream.recv().await {
            finished |= matches!(event, ModelEvent::Finished(_));
            if reports.send(ModelReport::Said { turn, event }).await.is_err() {
                break;
            }
        }
        finished
    };
    let (asked, finished) = tokio::join!(asking, passing);
    let last = match asked {
        Err(error) => ModelReport::Failed { turn, error },
        Ok(()) if finished => return,
        Ok(()) => ModelReport::Said { turn, event: ModelEvent::Finished(Finish::Incomplete) },
    };
    // With nobody left to hear it the turn is over as well.
    drop(reports.send(last).await);
}

/// Asks the endpoint for the model's window. Reports also that there is no answer.
pub(super) async fn ask_window(provider: Provider, inside: mpsc::Sender<Inside>) {
    let asking = tokio::time::timeout(WINDOW_PATIENCE, provider.context_window());
    let window = asking.await.ok().flatten();
    let model = provider.config().name.clone();
    drop(inside.send(Inside::Window { model, window }).await);
}

/// Asks the endpoint for the models that it offers.
pub(super) async fn list_models(provider: Provider, inside: mpsc::Sender<Inside>) {
    let models = provider.models().await.map_err(|error| error.message);
    drop(inside.send(Inside::ModelsListed(models)).await);
}

/// Carries one call to its server and reports its outcome. This is where all calls pass, whoever asked
/// for them: no other place makes [`Command::Call`].
pub(super) async fn carry(
    commands: Option<mpsc::Sender<Command>>,
    call: Arc<Call>,
    decided: Option<Arc<str>>,
    trace: Option<TraceContext>,
    cancel: CancellationToken,
    inside: mpsc::Sender<Inside>,
    secrets: Secrets,
) {
    let mut outcome = outcome_of(commands, &call, decided, trace, cancel).await;
    outcome.scrub(&secrets);
    drop(inside.send(Inside::CallDone { call: call.id, outcome }).await);
}

async fn outcome_of(
    commands: Option<mpsc::Sender<Command>>,
    call: &Call,
    decided: Option<Arc<str>>,
    trace: Option<TraceContext>,
    cancel: CancellationToken,
) -> Outcome {
    let no_client = || Outcome::NotSent {
        reason: format!("the server {} has no connection now; reconnect it", call.tool.server),
    };
    let Some(commands) = commands else { return no_client() };
    let (reply, answer) = oneshot::channel();
    let command = Command::Call {
        call: call.id,
        tool: call.tool.tool.clone(),
        arguments: Arc::clone(&call.arguments),
        decided,
        cancel: cancel.clone(),
        reply,
        trace,
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => return Outcome::Cancelled { sent: false },
        sent = commands.send(command) => if sent.is_err() { return no_client() },
    }
    answer.await.unwrap_or_else(|_| Outcome::Unknown {
        reason: "the connection to the server ended".to_owned(),
    })
}

/// Carries one inquiry to its server and reports the answer.
pub(super) async fn inquire(
    commands: Option<mpsc::Sender<Command>>,
    inquiry: InquiryId,
    what: Inquiry,
    cancel: CancellationToken,
    inside: mpsc::Sender<Inside>,
    secrets: Secrets,
) {
    let asked = async {
        let (reply, answer) = oneshot::channel();
        let command = Command::Inquire { inquiry: Box::new(what), cancel: cancel.clone(), reply };
        commands?.send(command).await.ok()?;
        answer.await.ok()
    };
    let mut answer = asked.await.unwrap_or_else(|| {
        let message = "The server has no connection now; reconnect it.".to_owned();
        Err(InquiryFault { kind: InquiryFaultKind::Unavailable, message })
    });
    answer.scrub(&secrets);
    drop(inside.send(Inside::Inquired { inquiry, answer }).await);
}

/// Does something that waits for the disk, and warns if it fails.
pub(super) async fn write<F>(job: F, inside: mpsc::Sender<Inside>)
where
    F: FnOnce() -> Result<(), StoreError> + Send + 'static,
{
    let warning = match tokio::task::spawn_blocking(job).await {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => Warning::from(fault),
        Err(_) => Warning::new(Source::Program, "A file was not written: the writer stopped.", ""),
    };
    drop(inside.send(Inside::Warned(warning)).await);
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::domain::ToolId;

    fn call() -> Call {
        Call {
            id: CallId(1),
            turn: None,
            tool: ToolId::new("s", "t"),
            model_name: "s_t".into(),
            arguments: Arc::new(Map::new()),
        }
    }

    #[tokio::test]
    async fn a_call_without_a_client_is_not_sent() {
        let outcome = outcome_of(None, &call(), None, None, CancellationToken::new()).await;
        assert_eq!(outcome.word(), "not sent");
    }

    #[tokio::test]
    async fn a_call_that_waits_for_room_is_cancelled_unsent() {
        let (commands, _queue) = mpsc::channel(1);
        commands.send(Command::Connect).await.unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let outcome = outcome_of(Some(commands), &call(), None, None, cancel).await;
        assert_eq!(outcome, Outcome::Cancelled { sent: false });
    }

    #[tokio::test]
    async fn an_answer_that_never_comes_is_unknown() {
        let (commands, mut queue) = mpsc::channel(1);
        let taking = async { drop(queue.recv().await) };
        let call = call();
        let carrying = outcome_of(Some(commands), &call, None, None, CancellationToken::new());
        let (outcome, ()) = tokio::join!(carrying, taking);
        assert_eq!(outcome.word(), "unknown");
    }
}
