//! Carries a mapping over HTTP: POST, stream, cancel, retry.
//!
//! Redirects are not followed, so that a key never reaches another origin. There is no limit on how
//! long an answer takes, only on silence. What the requests and answers mean is decided elsewhere,
//! without I/O.

mod attempt;
mod client;
mod failure;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, mpsc};
use tokio_util::sync::CancellationToken;

use super::openai::Omit;
use super::retry::{Decision, decide};
use super::{ModelEvent, ModelRequest, ProviderError, ProviderErrorKind, fault};
use crate::config::ModelConfig;

pub(super) use client::{add_headers, build, endpoint, is_this_machine};
pub(super) use failure::{Failure, of_transport};

/// A configured model's endpoint. Cheap to clone; the HTTP client is made at the first request.
#[derive(Debug, Clone)]
pub struct Provider {
    config: Arc<ModelConfig>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ca_pem: Option<Arc<[u8]>>,
    client: OnceCell<reqwest::Client>,
    /// What the endpoint was found not to take.
    omit: Mutex<Omit>,
}

impl Provider {
    /// Makes no connection yet. `ca_pem` holds further certificate authorities.
    pub fn new(config: ModelConfig, ca_pem: Option<Arc<[u8]>>) -> Self {
        let shared = Shared { ca_pem, client: OnceCell::new(), omit: Mutex::new(Omit::default()) };
        Self { config: Arc::new(config), shared: Arc::new(shared) }
    }

    /// What it was made with.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Sends one request and streams its events, the last of them
    /// [`Finished`](ModelEvent::Finished). Errors before the first token are retried, visibly, at
    /// most 4 times; after it never. Dropping the future or cancelling stops the exchange.
    pub async fn ask(
        &self,
        request: &ModelRequest,
        events: &mpsc::Sender<ModelEvent>,
        cancel: &CancellationToken,
    ) -> Result<(), ProviderError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(cancelled()),
            result = self.ask_until_answered(request, events) => result,
        }
    }

    /// The model's window in tokens: configured, or told by the endpoint; `None` if it does not.
    pub async fn context_window(&self) -> Option<u64> {
        if self.config.context_window.is_some() {
            return self.config.context_window;
        }
        let client = self.client().await.ok()?;
        super::probe::context_window(client, &self.config).await
    }

    /// The names of the models that the endpoint offers.
    pub async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let client = self.client().await?;
        super::probe::models(client, &self.config).await
    }

    async fn client(&self) -> Result<&reqwest::Client, ProviderError> {
        let shared = &self.shared;
        shared
            .client
            .get_or_try_init(|| async { build(&self.config.base_url, shared.ca_pem.as_deref()) })
            .await
    }

    async fn ask_until_answered(
        &self,
        request: &ModelRequest,
        events: &mpsc::Sender<ModelEvent>,
    ) -> Result<(), ProviderError> {
        let client = self.client().await?;
        let mut attempt = 1;
        loop {
            let omit = *self.omit();
            let Err(failure) = attempt::run(client, &self.config, request, omit, events).await
            else {
                return Ok(());
            };
            if let Some((without, told)) = failure.without(omit, request) {
                *self.omit() = without;
                if let Some(told) = told {
                    send(events, ModelEvent::Warned(told)).await?;
                }
                continue;
            }
            let after = self.wait(attempt, failure, events).await?;
            tokio::time::sleep(after).await;
            attempt += 1;
        }
    }

    /// Announces the next attempt and tells how long to wait for it, or gives up.
    async fn wait(
        &self,
        attempt: u32,
        failure: Failure,
        events: &mpsc::Sender<ModelEvent>,
    ) -> Result<Duration, ProviderError> {
        let Failure { mut error, retries } = failure;
        match decide(attempt, retries, error.retry_after, fastrand::f64()) {
            Decision::Wait(after) => {
                let next =
                    ModelEvent::Retrying { attempt: attempt + 1, after, reason: error.message };
                send(events, next).await?;
                Ok(after)
            }
            Decision::UsedUp => {
                if attempt > 1 {
                    error.message = format!("{} ({attempt} attempts were made.)", error.message);
                }
                Err(error)
            }
            Decision::TooLong(wait) => {
                error.message = format!(
                    "{} It asks to wait {} s, which is too long to do by itself.",
                    error.message,
                    wait.as_secs()
                );
                Err(error)
            }
        }
    }

    fn omit(&self) -> std::sync::MutexGuard<'_, Omit> {
        self.shared.omit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody listening any more counts as cancelled.
pub(super) async fn send(
    events: &mpsc::Sender<ModelEvent>,
    event: ModelEvent,
) -> Result<(), ProviderError> {
    if events.send(event).await.is_err() { Err(cancelled()) } else { Ok(()) }
}

fn cancelled() -> ProviderError {
    fault::error(ProviderErrorKind::Cancelled, "The request to the model was cancelled.")
}
