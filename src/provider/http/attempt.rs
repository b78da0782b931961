//! One request and its answer.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use super::traced::Traced;
use super::{Failure, add_headers, endpoint, of_transport, send};
use crate::config::ModelConfig;
use crate::config::model::ProviderKind;
use crate::provider::fault::{self, Endpoint, Refusal};
use crate::provider::openai::{Omit, Sent};
use crate::provider::stream::{Decoder, Progress};
use crate::provider::{
    Finish, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind as Kind, anthropic, openai,
};
use crate::redact;
use crate::wire::Tap;

/// Silence before the first token: a local model may read a long prompt for minutes.
const FIRST_SILENCE: Duration = Duration::from_secs(300);
/// Silence in the middle of an answer.
const SILENCE: Duration = Duration::from_secs(120);
/// How long token counts may follow the reason of the end.
const CLOSING: Duration = Duration::from_secs(5);
/// How long the end of the connection may follow the end mark, so that it can be used again.
const DRAIN: Duration = Duration::from_millis(50);
/// Most bytes of an error's body that are read.
const ERROR_BODY: usize = 64 * 1024;

/// Sends one request and passes on the events of its answer. A failure after the first token is
/// never worth repeating.
pub(super) async fn run(
    (client, tap): (&reqwest::Client, Option<&Tap>),
    config: &ModelConfig,
    request: &ModelRequest,
    omit: Omit,
    events: &mpsc::Sender<ModelEvent>,
) -> Result<(), Failure> {
    let exchange = Exchange::new(config, request, omit);
    let mut traced = Traced::default();
    let response = exchange.post(client, tap, &mut traced).await?;
    let response = exchange.accepted(response, &mut traced).await?;
    exchange.answer(response, events, traced).await
}

struct Exchange<'a> {
    config: &'a ModelConfig,
    sent: Sent,
    url: Url,
    endpoint: Endpoint,
    with_tools: bool,
}

impl<'a> Exchange<'a> {
    fn new(config: &'a ModelConfig, request: &ModelRequest, omit: Omit) -> Self {
        let (sent, url) = match config.provider {
            ProviderKind::Anthropic => {
                (anthropic::request(request, config, omit), anthropic::url(&config.base_url))
            }
            ProviderKind::OpenAi | ProviderKind::Demo => {
                (openai::request(request, config, omit), openai::url(&config.base_url))
            }
        };
        let endpoint = endpoint(config, &url);
        let with_tools = !omit.tools && !request.tools.is_empty();
        Self { config, sent, url, endpoint, with_tools }
    }

    fn decoder(&self) -> Decoder {
        let (renames, seed) = (self.sent.renames.clone(), fastrand::u64(..));
        match self.config.provider {
            ProviderKind::Anthropic => anthropic::decoder(self.config, renames, seed),
            ProviderKind::OpenAi | ProviderKind::Demo => {
                openai::decoder(self.config, renames, seed)
            }
        }
    }

    async fn post(
        &self,
        client: &reqwest::Client,
        tap: Option<&Tap>,
        traced: &mut Traced,
    ) -> Result<Response, Failure> {
        if tracing::enabled!(tracing::Level::TRACE) {
            let body = redact::body(self.sent.body.to_string().as_bytes());
            tracing::trace!(place = self.endpoint.url, body, "request");
        }
        let request = client
            .post(self.url.clone())
            .header(ACCEPT, "text/event-stream, application/json")
            .json(&self.sent.body);
        let request = add_headers(request, self.config)?;
        let sending = traced.send(client, tap, request);
        let failure = match timeout(FIRST_SILENCE, sending).await {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(fault)) => of_transport(fault, &self.endpoint, &self.url).await,
            Err(_) => Failure::last(self.silent(Kind::Unreachable, FIRST_SILENCE)),
        };
        traced.failed(&failure.error.message);
        Err(failure)
    }

    /// The response if it is a success that can be an answer.
    async fn accepted(&self, response: Response, traced: &mut Traced) -> Result<Response, Failure> {
        let status = response.status();
        let headers = response.headers();
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if !status.is_success() {
            let retry_after =
                header(RETRY_AFTER).and_then(|value| fault::retry_after(value, SystemTime::now()));
            let body = beginning(response).await;
            traced.piece(body.as_bytes());
            traced.complete();
            let refusal = Refusal {
                status: status.as_u16(),
                body: &body,
                retry_after,
                with_tools: self.with_tools,
            };
            return Err(fault::of_refusal(&self.endpoint, &refusal).into());
        }
        if header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html")) {
            let message = format!(
                "{} answered with a web page instead of a model's answer. Check model.baseUrl.",
                self.endpoint.url
            );
            return Err(Failure::last(fault::error(Kind::Refused, message)));
        }
        Ok(response)
    }

    async fn answer(
        &self,
        mut response: Response,
        events: &mpsc::Sender<ModelEvent>,
        mut traced: Traced,
    ) -> Result<(), Failure> {
        let mut decoder = self.decoder();
        let read = self.read((&mut response, &mut traced), &mut decoder, events).await;
        let begun = decoder.progress() != Progress::Waiting;
        let ended = match read {
            Ok(()) => self.end(decoder, begun, events).await,
            Err(failure) => Err(failure),
        };
        ended.map_err(|failure| if begun { Failure::last(failure.error) } else { failure })
    }

    /// Reads until the answer is complete or the connection ends in order.
    async fn read(
        &self,
        (response, traced): (&mut Response, &mut Traced),
        decoder: &mut Decoder,
        events: &mpsc::Sender<ModelEvent>,
    ) -> Result<(), Failure> {
        loop {
            let progress = decoder.progress();
            let patience = match progress {
                Progress::Waiting => FIRST_SILENCE,
                Progress::Running => SILENCE,
                Progress::Closing => CLOSING,
                Progress::Done => DRAIN,
            };
            let bytes = match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    traced.piece(&bytes);
                    bytes
                }
                Ok(Ok(None)) => {
                    traced.complete();
                    return Ok(());
                }
                // The reason of the end is known: the answer is complete.
                _ if matches!(progress, Progress::Closing | Progress::Done) => return Ok(()),
                Ok(Err(fault)) => {
                    let cut = self.cut(&fault);
                    traced.failed(&cut.message);
                    return Err(cut.into());
                }
                Err(_) => return Err(Failure::last(self.silent(Kind::Broken, patience))),
            };
            if progress == Progress::Done {
                return Ok(());
            }
            let mut found = Vec::new();
            let result = decoder.push(&bytes, &mut found);
            pass_on(found, events).await?;
            result?;
        }
    }

    async fn end(
        &self,
        decoder: Decoder,
        begun: bool,
        events: &mpsc::Sender<ModelEvent>,
    ) -> Result<(), Failure> {
        let mut found = Vec::new();
        let result = decoder.finish(&mut found);
        let nothing = !begun && found.last() == Some(&ModelEvent::Finished(Finish::Incomplete));
        if nothing && result.is_ok() {
            let message = format!("{} ended the answer before its first word.", self.endpoint.url);
            return Err(fault::broken(message).into());
        }
        pass_on(found, events).await?;
        Ok(result?)
    }

    fn cut(&self, fault: &reqwest::Error) -> ProviderError {
        fault::broken(format!(
            "The connection to {} broke in the middle of the answer: {}. Send again.",
            self.endpoint.url,
            super::failure::cause(fault)
        ))
    }

    fn silent(&self, kind: Kind, patience: Duration) -> ProviderError {
        let message = format!(
            "{} has been silent for {} s, so the request was ended. Send again, or check what the \
             server is doing.",
            self.endpoint.url,
            patience.as_secs()
        );
        fault::error(kind, message)
    }
}

async fn pass_on(
    found: Vec<ModelEvent>,
    events: &mpsc::Sender<ModelEvent>,
) -> Result<(), ProviderError> {
    for event in found {
        send(events, event).await?;
    }
    Ok(())
}

/// The beginning of a body, as text.
pub(in crate::provider) async fn beginning(mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < ERROR_BODY
        && let Ok(Ok(Some(bytes))) = timeout(CLOSING, response.chunk()).await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(ERROR_BODY);
    String::from_utf8_lossy(&body).into_owned()
}
