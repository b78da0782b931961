//! Why an attempt failed, how often it is worth repeating, and whether leaving something out helps.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use crate::net::{is_set, is_this_machine, loopback, proxy_variable};
use crate::provider::fault::{self, Endpoint, excerpt};
use crate::provider::openai::Omit;
use crate::provider::retry::RETRIES;
use crate::provider::{ModelRequest, ProviderError, ProviderErrorKind as Kind};

/// Repetitions when nobody listens: enough for a server that is just starting.
const RETRIES_REFUSED: u32 = 2;
/// Longest look-up of addresses for a message.
const LOOKUP: Duration = Duration::from_secs(1);

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::provider) struct Failure {
    pub(in crate::provider) error: ProviderError,
    /// How often the same request may be repeated.
    pub(in crate::provider) retries: u32,
}

impl Failure {
    /// Not worth repeating.
    pub(super) fn last(error: ProviderError) -> Self {
        Self { error, retries: 0 }
    }

    /// What to leave out so that the endpoint takes the request, and what to tell the user. `None`
    /// if nothing helps: the same request is never sent for this reason twice.
    pub(super) fn without(
        &self,
        omit: Omit,
        request: &ModelRequest,
    ) -> Option<(Omit, Option<String>)> {
        let told = |what: &str| Some(format!("{} {what}", self.error.message));
        let message = self.error.message.to_lowercase();
        match self.error.kind {
            Kind::NoTools if !omit.tools && !request.tools.is_empty() => {
                let told = told("The conversation goes on without tools.");
                Some((Omit { tools: true, ..omit }, told))
            }
            Kind::Refused if message.contains("stream_options") && !omit.stream_options => {
                Some((Omit { stream_options: true, ..omit }, None))
            }
            Kind::Refused
                if message.contains("max_completion_tokens") && !omit.other_limit_name =>
            {
                Some((Omit { other_limit_name: true, ..omit }, None))
            }
            Kind::Refused
                if message.contains("temperature")
                    && message.contains("support")
                    && !omit.temperature =>
            {
                let told = told("It is left out from now on.");
                Some((Omit { temperature: true, ..omit }, told))
            }
            _ => None,
        }
    }
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        let retries = if fault::is_retryable(error.kind) { RETRIES } else { 0 };
        Self { error, retries }
    }
}

/// What went wrong below HTTP, before an answer came.
pub(in crate::provider) async fn of_transport(
    fault: reqwest::Error,
    endpoint: &Endpoint,
    url: &Url,
) -> Failure {
    let cause = cause(&fault);
    let place = host_port(url);
    if is_refused(&fault) {
        let tried = tried(url).await;
        let message = format!(
            "Nothing answers at {place}{tried}: connection refused. \
             Start the model's server, or check model.baseUrl.{}",
            through_proxy(url)
        );
        return Failure {
            error: fault::error(Kind::Unreachable, message),
            retries: RETRIES_REFUSED,
        };
    }
    let lower = cause.to_lowercase();
    if let Some(advice) = tls_advice(&lower) {
        let message = format!("No secure connection to {place} (stage TLS): {cause}. {advice}");
        return Failure::last(fault::error(Kind::Unreachable, message));
    }
    if lower.contains("dns error") || lower.contains("lookup address") {
        let message = format!(
            "The host of {place} is not known: {cause}. Check model.baseUrl and the network."
        );
        return Failure {
            error: fault::error(Kind::Unreachable, message),
            retries: RETRIES_REFUSED,
        };
    }
    let what = if fault.is_connect() { "No connection to" } else { "No answer from" };
    let message = format!(
        "{what} {}: {cause}. Check the network and model.baseUrl.{}",
        endpoint.url,
        through_proxy(url)
    );
    fault::error(Kind::Unreachable, message).into()
}

/// What to try when TLS failed with this cause, in lower case; `None` if something else did.
fn tls_advice(cause: &str) -> Option<&'static str> {
    if cause.contains("certificate") {
        return Some(
            "If a company's own authority signs its certificates, name that authority's file in \
             mcp.caFile or SSL_CERT_FILE.",
        );
    }
    let any = ["invalidcontenttype", "corrupt message", "tls", "handshake"];
    any.iter()
        .any(|word| cause.contains(word))
        .then_some("If it is meant to be plain HTTP, begin model.baseUrl with http://.")
}

/// The innermost reasons, without the URL.
pub(in crate::provider) fn cause(fault: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut next: Option<&dyn Error> = fault.source();
    while let Some(error) = next {
        let text = error.to_string();
        // Wrappers repeat what they wrap.
        causes.retain(|known| !text.contains(known.as_str()) && !known.contains(&text));
        next = error.source();
        // The library's word for the step; what lies below says more.
        if !(text.starts_with("client error (") && next.is_some()) {
            causes.push(text);
        }
    }
    if causes.is_empty() {
        causes.push(if fault.is_timeout() { "timed out" } else { "the request failed" }.to_owned());
    }
    excerpt(&causes.join(": "))
}

fn is_refused(fault: &reqwest::Error) -> bool {
    let mut next: Option<&dyn Error> = fault.source();
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        next = error.source();
    }
    false
}

fn host_port(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// The addresses behind a name, as they were tried.
async fn tried(url: &Url) -> String {
    let Some(url::Host::Domain(name)) = url.host() else { return String::new() };
    let port = url.port_or_known_default().unwrap_or_default();
    if is_this_machine(url) {
        return named(loopback(port).into_iter());
    }
    let looked_up = tokio::time::timeout(LOOKUP, tokio::net::lookup_host((name, port))).await;
    let Ok(Ok(addresses)) = looked_up else { return String::new() };
    named(addresses)
}

fn named(addresses: impl Iterator<Item = SocketAddr>) -> String {
    let addresses: Vec<_> = addresses.take(4).map(|address| address.to_string()).collect();
    if addresses.is_empty() { String::new() } else { format!(" (tried {})", addresses.join(", ")) }
}

/// Names the proxy variable in force: its failure looks like the endpoint's.
fn through_proxy(url: &Url) -> String {
    proxy_variable(url, is_set)
        .map(|name| format!(" The proxy that {name} names may be the reason."))
        .unwrap_or_default()
}
