//! The HTTP client and what is sent with every request.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use url::{Host, Url};

use crate::config::ModelConfig;
use crate::config::model::ProviderKind;
use crate::net::{is_this_machine, loopback};
use crate::provider::fault::{self, Endpoint};
use crate::provider::place::is_host;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::redact;

/// From the first packet to a connection, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const USER_AGENT: &str = concat!("mini-me-tui/", env!("CARGO_PKG_VERSION"));

/// A client for one origin. Proxies named by the environment are used, but never to reach this
/// machine: a proxy cannot.
pub(in crate::provider) fn build(
    base: &Url,
    ca_pem: Option<&[u8]>,
) -> Result<reqwest::Client, ProviderError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(30));
    if is_this_machine(base) {
        builder = builder.no_proxy();
        if let Some(Host::Domain(name)) = base.host() {
            builder = builder.resolve_to_addrs(name, &loopback(0));
        }
    }
    if let Some(pem) = ca_pem {
        let certificates = reqwest::Certificate::from_pem_bundle(pem)
            .map_err(|fault| unusable("The extra certificate authorities", &fault))?;
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|fault| unusable("The HTTP client", &fault))
}

fn unusable(what: &str, fault: &reqwest::Error) -> ProviderError {
    let message = format!("{what} cannot be used: {}.", super::failure::cause(fault));
    fault::error(ProviderErrorKind::Unreachable, message)
}

/// Whom messages about a request to `url` are about.
pub(in crate::provider) fn endpoint(config: &ModelConfig, url: &Url) -> Endpoint {
    Endpoint {
        url: redact::url(url),
        model: config.name.clone(),
        key_env: config.api_key_env.clone(),
        local_port: if is_this_machine(url) { url.port() } else { None },
    }
}

/// The configured headers and the key.
pub(in crate::provider) fn add_headers(
    request: reqwest::RequestBuilder,
    config: &ModelConfig,
) -> Result<reqwest::RequestBuilder, ProviderError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        headers.insert(header_name(name)?, header_value(name, value)?);
    }
    if let Some(key) = &config.api_key {
        let key = key.expose_secret();
        let (name, value) = match config.provider {
            ProviderKind::Anthropic => ("x-api-key", key.to_owned()),
            _ if is_host(&config.base_url, "openai.azure.com") => ("api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        };
        let mut value = header_value(name, &value)?;
        value.set_sensitive(true);
        headers.insert(header_name(name)?, value);
    }
    if config.provider == ProviderKind::Anthropic {
        let version = HeaderValue::from_static(crate::provider::anthropic::VERSION);
        headers.entry("anthropic-version").or_insert(version);
    }
    Ok(request.headers(headers))
}

fn header_name(name: &str) -> Result<HeaderName, ProviderError> {
    HeaderName::try_from(name).map_err(|_invalid| unusable_header(name))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, ProviderError> {
    HeaderValue::try_from(value).map_err(|_invalid| unusable_header(name))
}

/// The value may be a secret and is not named.
fn unusable_header(name: &str) -> ProviderError {
    let message = format!(
        "The header {name} cannot be sent to the model: its name or value holds a character that \
         is not allowed. Correct it in model.headers, or the variable that holds the key."
    );
    fault::error(ProviderErrorKind::Refused, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_that_are_none_are_an_error() {
        let base = Url::parse("https://localhost/v1").unwrap();
        let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".as_slice();
        assert!(build(&base, Some(broken)).is_err());
        assert!(build(&base, None).is_ok());
    }
}
