//! From a server's entry in the config to what its client starts with.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::config::{Auth, Config, McpConfig, ServerConfig};
use crate::domain::exchange::Side;
use crate::domain::{Answering, Source, Warning};
use crate::mcp::{Limits, ServerSpec};
use crate::redact::{self, Secrets};
use crate::wire::{Guard, Needles, Recorder, Tap};

/// Variables that may hold the password of a proxy.
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// What the client of this server starts with. Nobody answers its questions unless the caller says
/// so.
pub fn of(server: &ServerConfig, mcp: &McpConfig, ca_pem: Option<Arc<[u8]>>) -> ServerSpec {
    let plain = server
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), SecretString::from(value.clone())));
    let secret = server.headers_env.iter().map(|(name, _, value)| (name.clone(), value.clone()));
    ServerSpec {
        name: server.name.clone(),
        url: server.url.clone(),
        headers: plain.chain(secret).chain(server.auth.as_ref().map(credential)).collect(),
        has_credential: server.auth.is_some() || !server.headers_env.is_empty(),
        protocol: server.protocol,
        ca_pem,
        answering: Answering::Nobody,
        limits: Limits {
            discovery: mcp.discovery_timeout,
            silence: mcp.call_timeout,
            call: mcp.max_call_time,
        },
        remembered: None,
        wire: None,
    }
}

/// What no record of exchanges may hold: the secrets of the config, the passwords of the proxies that
/// the environment names, and every value in the queries of its URLs.
pub fn needles(config: &Config) -> Needles {
    let model = config.model.iter().map(|model| &model.base_url);
    let urls = config.mcp.servers.iter().map(|server| &server.url).chain(model);
    Needles::new(named(config).into_iter().map(|(_, value)| value), urls)
}

/// What records the exchanges with this server: without its credentials, and without any secret
/// that somebody repeats.
pub fn tap(server: &ServerConfig, recorder: &Arc<Recorder>, needles: &Needles) -> Tap {
    let mut guard = Guard::new(needles.clone());
    for (header, variable, _) in &server.headers_env {
        guard = guard.header(header, "", variable);
    }
    guard = match &server.auth {
        Some(Auth::Bearer { token_env, .. }) => guard.header("Authorization", "Bearer ", token_env),
        Some(Auth::ApiKey { header, key_env, .. }) => guard.header(header, "", key_env),
        None => guard,
    };
    Tap::new(Arc::clone(recorder), Side::Server(server.name.clone()), guard)
}

fn credential(auth: &Auth) -> (String, SecretString) {
    match auth {
        Auth::Bearer { token, .. } => {
            let value = format!("Bearer {}", token.expose_secret());
            ("Authorization".to_owned(), value.into())
        }
        Auth::ApiKey { header, key, .. } => (header.clone(), key.clone()),
    }
}

/// Everything that must come back from nowhere: the secrets of the config, and the passwords of the
/// proxies that the environment names.
pub fn secrets(config: &Config) -> Secrets {
    let named = named(config);
    Secrets::new(named.iter().map(|(name, value)| (name.as_str(), value.expose_secret())))
}

/// All secrets of a run, with the names that they are known by.
fn named(config: &Config) -> Vec<(String, SecretString)> {
    let proxies = PROXIES.iter().filter_map(|name| {
        let url = Url::parse(&std::env::var(name).ok()?).ok()?;
        Some(redact::in_url(name, &url))
    });
    config.named_secrets().into_iter().chain(proxies.flatten()).collect()
}

/// Host and port of an endpoint.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Reads the file of further certificate authorities, if one is configured.
pub fn certificates(mcp: &McpConfig, warnings: &mut Vec<Warning>) -> Option<Arc<[u8]>> {
    let file = mcp.ca_file.as_ref()?;
    match std::fs::read(file) {
        Ok(pem) => Some(pem.into()),
        Err(fault) => {
            if warnings.iter().any(is_about_it) {
                return None;
            }
            warnings.push(Warning::new(
                Source::Program,
                format!("The certificate file {} cannot be read: {fault}.", file.display()),
                "Check mcp.caFile; until then only the system's certificates are trusted.",
            ));
            None
        }
    }
}

/// Whether the config was warned about already for its certificate file.
fn is_about_it(warning: &Warning) -> bool {
    matches!(&warning.source, Source::Config { field, .. } if field == "mcp.caFile")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(auth: Option<Auth>) -> ServerConfig {
        let url = Url::parse("https://host.example/mcp?key=x").unwrap();
        let headers = vec![("X-A".into(), "1".into())];
        ServerConfig { auth, headers, ..ServerConfig::new("s".into(), url) }
    }

    fn headers(spec: &ServerSpec) -> Vec<(&str, &str)> {
        spec.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect()
    }

    #[test]
    fn a_bearer_token_travels_in_authorization() {
        let auth = Auth::Bearer { token_env: "T".into(), token: "tok".to_owned().into() };
        let spec = of(&server(Some(auth)), &McpConfig::default(), None);
        assert_eq!(headers(&spec), [("X-A", "1"), ("Authorization", "Bearer tok")]);
        assert!(spec.has_credential);
    }

    #[test]
    fn an_api_key_travels_in_its_own_header() {
        let auth =
            Auth::ApiKey { header: "K".into(), key_env: "E".into(), key: "k".to_owned().into() };
        let spec = of(&server(Some(auth)), &McpConfig::default(), None);
        assert_eq!(headers(&spec), [("X-A", "1"), ("K", "k")]);
    }

    #[test]
    fn plain_headers_are_no_credential() {
        assert!(!of(&server(None), &McpConfig::default(), None).has_credential);
    }

    #[test]
    fn the_host_is_shown_with_its_port() {
        assert_eq!(host(&Url::parse("https://a.example/x").unwrap()), "a.example:443");
        assert_eq!(host(&Url::parse("http://127.0.0.1:8080/x").unwrap()), "127.0.0.1:8080");
    }
}
