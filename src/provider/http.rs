//! Carries a mapping over HTTP: POST, stream, cancel, retry.
//!
//! Redirects are not followed, so that a key never reaches another origin. There is no limit on how
//! long an answer takes, only on silence. What the requests and answers mean is decided elsewhere,
//! without I/O.

mod attempt;
mod client;
mod failure;
mod probe;
mod traced;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::sync::{OnceCell, mpsc};
use tokio_util::sync::CancellationToken;

use super::openai::Omit;
use super::retry::{Decision, decide};
use super::{
    ModelEvent, ModelInfo, ModelRequest, OfferedModel, ProviderError, ProviderErrorKind, fault,
};
use crate::config::ModelConfig;
use crate::domain::model::WindowOrigin;
use crate::wire::Tap;

use client::{add_headers, build, endpoint};
use failure::{Failure, of_transport};
pub use probe::{LocalEndpoint, probe_local};

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
    /// Where exchanges are recorded.
    wire: OnceLock<Tap>,
}

impl Provider {
    /// Makes no connection yet. `ca_pem` holds further certificate authorities.
    pub fn new(config: ModelConfig, ca_pem: Option<Arc<[u8]>>) -> Self {
        let shared = Shared {
            ca_pem,
            client: OnceCell::new(),
            omit: Mutex::new(Omit::default()),
            wire: OnceLock::new(),
        };
        Self { config: Arc::new(config), shared: Arc::new(shared) }
    }

    /// Records its exchanges from now on; the first tap stays.
    #[must_use]
    pub fn recorded(self, tap: Tap) -> Self {
        self.shared.wire.get_or_init(|| tap);
        self
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
        probe::context_window(client, &self.config).await
    }

    /// The same endpoint with another model. What is known of the first does not hold for it: what
    /// it takes, and the window that was configured.
    #[must_use]
    pub fn with_model(&self, name: &str) -> Self {
        let shared = Shared {
            ca_pem: self.shared.ca_pem.clone(),
            client: self.shared.client.clone(),
            omit: Mutex::new(Omit::default()),
            wire: self.shared.wire.clone(),
        };
        let config = ModelConfig {
            name: name.to_owned(),
            context_window: None,
            ..ModelConfig::clone(&self.config)
        };
        Self { config: Arc::new(config), shared: Arc::new(shared) }
    }

    /// What is known of the model without asking.
    pub fn info(&self) -> ModelInfo {
        let config = &self.config;
        let (window, origin) = match config.context_window {
            Some(window) => (window, WindowOrigin::Configured),
            None => (super::window::assumed(config), WindowOrigin::Assumed),
        };
        let endpoint = crate::redact::url(&config.base_url);
        ModelInfo { name: config.name.clone(), endpoint, window, origin }
    }

    /// What is known of the model once the endpoint was asked.
    pub async fn known(&self) -> ModelInfo {
        let mut info = self.info();
        if info.origin == WindowOrigin::Assumed
            && let Some(window) = self.context_window().await
        {
            (info.window, info.origin) = (window, WindowOrigin::Asked);
        }
        info
    }

    /// The models that the endpoint offers, and their windows where the list tells them.
    pub async fn models(&self) -> Result<Vec<OfferedModel>, ProviderError> {
        let client = self.client().await?;
        probe::models(client, &self.config).await.map_err(|mut error| {
            self.scrub(&mut error);
            error
        })
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
            let tap = self.shared.wire.get();
            let answered = attempt::run((client, tap), &self.config, request, omit, events).await;
            let Err(mut failure) = answered else { return Ok(()) };
            self.scrub(&mut failure.error);
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
                    error.message = format!(
                        "{} Given up after {attempt} attempts: send again later.",
                        error.message
                    );
                }
                Err(error)
            }
            Decision::TooLong(wait) => {
                error.message = format!(
                    "{} It asks to wait {} s: send again then.",
                    error.message,
                    wait.as_secs()
                );
                Err(error)
            }
        }
    }

    /// Endpoints repeat in their refusals what they were sent, the key included.
    fn scrub(&self, error: &mut ProviderError) {
        let key = self.config.api_key.as_ref().map(ExposeSecret::expose_secret);
        if let Some(key) = key.filter(|key| !key.is_empty() && error.message.contains(*key)) {
            error.message = error.message.replace(key, "[key]");
        }
    }

    fn omit(&self) -> std::sync::MutexGuard<'_, Omit> {
        self.shared.omit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody listening any more counts as cancelled.
async fn send(events: &mpsc::Sender<ModelEvent>, event: ModelEvent) -> Result<(), ProviderError> {
    if events.send(event).await.is_err() { Err(cancelled()) } else { Ok(()) }
}

fn cancelled() -> ProviderError {
    fault::error(ProviderErrorKind::Cancelled, "The request to the model was cancelled.")
}
