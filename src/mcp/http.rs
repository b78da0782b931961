//! Streamable HTTP: one request, one response. Redirects, credentials, limits and the words for
//! what goes wrong; nothing of the protocol above it.
//!
//! Credentials go to the configured origin alone. Messages never hold a query or user info.

mod failure;
mod response;
pub mod tls;
mod traced;

use std::sync::OnceLock;

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Client, Method, redirect};
use secrecy::ExposeSecret as _;
use url::{Host, Url};

use super::ServerSpec;
use super::fault::Fault;
use crate::domain::Stage;
use crate::domain::exchange::About;
use crate::net::{is_this_machine, loopback};
use crate::redact;
use crate::wire::Tap;
use traced::Traced;

pub(in crate::mcp) use response::excerpt;
pub use response::{JSON_LIMIT, Response};

/// Time to open a connection, TLS included: less than a discovery has, so that the message can say
/// that it was this.
const CONNECT: std::time::Duration = std::time::Duration::from_secs(8);
/// A connection that idled longer is not used again: servers and what stands before them close idle
/// ones, and a call on one that is just being closed would be of unknown outcome.
const IDLE: std::time::Duration = std::time::Duration::from_secs(30);
/// Shorter values are words like any other.
const SECRET_LEAST: usize = 6;
const LOCAL: &str = "localhost";
/// Redirects that are followed (H14).
const REDIRECTS: usize = 3;

/// What is sent.
#[derive(Debug, Clone)]
pub enum Verb {
    /// One JSON-RPC message.
    Post(Bytes),
    /// Opens or resumes a stream.
    Get,
    /// Ends the MCP session.
    Delete,
}

/// The way to one endpoint.
#[derive(Debug)]
pub struct Http {
    url: Url,
    headers: Vec<(String, secrecy::SecretString)>,
    ca_pem: Option<std::sync::Arc<[u8]>>,
    own: OnceLock<Result<Client, String>>,
    wire: Option<Tap>,
}

impl Http {
    /// Takes what the spec says; nothing is opened before the first request.
    pub fn new(spec: &ServerSpec) -> Self {
        Self {
            url: spec.url.clone(),
            headers: spec.headers.clone(),
            ca_pem: spec.ca_pem.clone(),
            own: OnceLock::new(),
            wire: spec.wire.clone(),
        }
    }

    /// Makes the client now, so that reading the system's certificates is no part of the first
    /// request's time. Without certificates of one's own it is made once for all servers.
    pub fn prepare(&self) -> Result<(), Fault> {
        self.client().map(drop)
    }

    /// The endpoint without query and user info.
    pub fn place(&self) -> String {
        redact::url(&self.url)
    }

    /// Takes out of a text what must not be shown, wherever a server may have repeated it: the
    /// query of the URL and the values of the configured headers.
    pub fn scrub(&self, text: &str) -> String {
        let query = self.url.query().map(str::to_owned);
        let values = self.headers.iter().map(|(_, value)| value.expose_secret());
        // The scheme before a token is no secret.
        let tokens = values.filter_map(|value| value.split_whitespace().last().map(str::to_owned));
        let secrets = query.into_iter().chain(tokens).filter(|secret| secret.len() >= SECRET_LEAST);
        secrets.fold(text.to_owned(), |text, secret| text.replace(&secret, "[hidden]"))
    }

    /// Sends one request that is for nothing in particular: see [`Self::send_for`].
    pub async fn send(&self, verb: &Verb, own: &HeaderMap) -> Result<Response, Fault> {
        self.send_for(About::default(), verb, own).await
    }

    /// Sends one request and returns when the response's head is there. Follows redirects that stay
    /// on the origin (H14). `about` says in the record what it is for.
    pub async fn send_for(
        &self,
        about: About,
        verb: &Verb,
        own: &HeaderMap,
    ) -> Result<Response, Fault> {
        let client = self.client()?;
        let headers = self.all_headers(verb, own)?;
        let mut url = self.url.clone();
        if let Verb::Post(body) = verb
            && tracing::enabled!(tracing::Level::TRACE)
        {
            tracing::trace!(place = self.place(), body = redact::body(body), "request");
        }
        for _ in 0..=REDIRECTS {
            let request = match verb {
                Verb::Post(body) => client.request(Method::POST, url.clone()).body(body.clone()),
                Verb::Get => client.request(Method::GET, url.clone()),
                Verb::Delete => client.request(Method::DELETE, url.clone()),
            };
            let traced = Traced::begin(self.wire.as_ref(), &about, verb, &url, &headers);
            let response = match request.headers(headers.clone()).send().await {
                Ok(response) => response,
                Err(error) => {
                    let fault = failure::of_sending(error, &url);
                    traced.failed(&fault);
                    return Err(fault);
                }
            };
            let traced = traced.head(&response);
            if !response.status().is_redirection() {
                return Ok(Response::new(response, redact::url(&url), traced));
            }
            url = target(&url, &response)?;
        }
        Err(config_fault(format!(
            "More than the limit of {REDIRECTS} redirects from {} (redirects). Configure the URL that they lead to.",
            self.place()
        )))
    }

    fn all_headers(&self, verb: &Verb, own: &HeaderMap) -> Result<HeaderMap, Fault> {
        let mut all = HeaderMap::new();
        for (name, value) in &self.headers {
            let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
                return Err(config_fault(format!(
                    "“{name}” is no header name: mend it in the config."
                )));
            };
            let Ok(mut value) = HeaderValue::from_bytes(value.expose_secret().as_bytes()) else {
                return Err(config_fault(format!(
                    "The value of header “{name}” has characters that no header may have."
                )));
            };
            value.set_sensitive(true);
            all.insert(header, value);
        }
        all.extend(own.clone());
        // H2, H3. What cannot be unpacked is not asked for.
        all.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let accept = match verb {
            Verb::Get => "text/event-stream",
            Verb::Post(_) | Verb::Delete => "application/json, text/event-stream",
        };
        all.insert(ACCEPT, HeaderValue::from_static(accept));
        if matches!(verb, Verb::Post(_)) {
            all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(all)
    }

    /// The client, made on first use. Servers without certificates of their own share one, so that
    /// the system's roots are read once.
    fn client(&self) -> Result<Client, Fault> {
        static DIRECT: OnceLock<Result<Client, String>> = OnceLock::new();
        static PROXIED: OnceLock<Result<Client, String>> = OnceLock::new();
        let way = Way::to(&self.url);
        let slot = match (&self.ca_pem, &way) {
            (Some(_), _) | (_, Way::Named(_)) => &self.own,
            (None, Way::Direct) => &DIRECT,
            (None, Way::Proxied) => &PROXIED,
        };
        slot.get_or_init(|| build(&way, self.ca_pem.as_deref()))
            .clone()
            .map_err(|reason| Fault::NotSent { stage: Stage::Tls, reason, retry: false })
    }
}

/// How an endpoint is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// Through the proxy that the environment names, if it names one.
    Proxied,
    /// On this machine, by address or as `localhost`: no proxy stands in between.
    Direct,
    /// On this machine by another name.
    Named(String),
}

impl Way {
    fn to(url: &Url) -> Self {
        match url.host() {
            _ if !is_this_machine(url) => Self::Proxied,
            Some(Host::Domain(name)) if name != LOCAL => Self::Named(name.to_owned()),
            _ => Self::Direct,
        }
    }
}

fn build(way: &Way, ca_pem: Option<&[u8]>) -> Result<Client, String> {
    // No total time limit: a stream may live long (S11). Redirects are decided here (H14).
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true);
    let name = match way {
        Way::Proxied => None,
        Way::Direct => Some(LOCAL),
        Way::Named(name) => Some(name.as_str()),
    };
    if let Some(name) = name {
        builder = builder.no_proxy().resolve_to_addrs(name, &loopback(0));
    }
    if let Some(pem) = ca_pem {
        builder = builder.tls_backend_preconfigured(tls::config(Some(pem))?);
    }
    builder.build().map_err(|error| format!("The HTTP client cannot be set up: {error}."))
}

fn config_fault(reason: String) -> Fault {
    Fault::NotSent { stage: Stage::Http, reason, retry: false }
}

/// H14: where a redirect leads, if it may be followed.
fn target(from: &Url, response: &reqwest::Response) -> Result<Url, Fault> {
    let status = response.status().as_u16();
    let named = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(to) = named.and_then(|to| from.join(to).ok()) else {
        return Err(config_fault(format!(
            "{} answers with a redirect (HTTP {status}) that leads nowhere.",
            redact::url(from)
        )));
    };
    let place = redact::url(&to);
    if !matches!(status, 307 | 308) {
        return Err(config_fault(format!(
            "{} answers with a redirect (HTTP {status}) to {place}, which would lose the request. If that is the endpoint, configure this URL.",
            redact::url(from)
        )));
    }
    if !same_origin(from, &to) {
        return Err(config_fault(format!(
            "{} redirects (HTTP {status}) to another origin: {place}. Nothing was sent there. If you trust it, configure this URL.",
            redact::url(from)
        )));
    }
    Ok(to)
}

/// The same scheme, host and port, or the step from http to https on the same host.
fn same_origin(from: &Url, to: &Url) -> bool {
    let upgraded = from.scheme() == "http"
        && to.scheme() == "https"
        && (from.port(), to.port()) == (None, None);
    from.host() == to.host()
        && (upgraded
            || (from.scheme() == to.scheme()
                && from.port_or_known_default() == to.port_or_known_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let here = url("http://a.test:8801/mcp");
        assert!(same_origin(&here, &url("http://a.test:8801/other")));
        assert!(!same_origin(&here, &url("http://a.test:8802/mcp")));
        assert!(!same_origin(&here, &url("http://b.test:8801/mcp")));
        assert!(!same_origin(&here, &url("https://a.test:8801/mcp")));
        assert!(same_origin(&url("http://a.test/mcp"), &url("https://a.test/mcp")));
        assert!(!same_origin(&url("https://a.test/mcp"), &url("http://a.test/mcp")));
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        for here in ["http://localhost:1/", "http://127.0.0.9/", "http://[::1]:8/"] {
            assert_eq!(Way::to(&url(here)), Way::Direct, "{here}");
        }
        assert_eq!(Way::to(&url("http://a.localhost/")), Way::Named("a.localhost".to_owned()));
        assert_eq!(Way::to(&url("http://192.168.0.1/")), Way::Proxied);
        assert_eq!(Way::to(&url("https://localhost.example.test/")), Way::Proxied);
    }
}
