//! Who may talk to the demo's services: programs on this machine that know the key, no web page.
//!
//! A page in a browser can reach a loopback port under a name of its own (DNS rebinding). So
//! `Host` must name this machine, and a request that says it comes from a page is refused.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};

/// Whether a request must carry the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyIs {
    /// Without it: 401.
    Required,
    /// Without it: welcome. With a wrong one: 401.
    Optional,
}

/// What a request to a service must be like.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) key: SecretString,
    pub(super) key_is: KeyIs,
    /// Origins of pages that may ask all the same.
    pub(super) origins: Vec<String>,
}

pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.refusal(request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
    NoKey,
    WrongKey,
}

impl Guard {
    fn refusal(&self, headers: &HeaderMap) -> Option<Refusal> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        if !text(HOST).is_some_and(is_this_machine) {
            return Some(Refusal::Host);
        }
        if text(ORIGIN).is_some_and(|origin| !self.welcomes(origin)) {
            return Some(Refusal::Origin);
        }
        match (text(AUTHORIZATION), self.key_is) {
            (None, KeyIs::Required) => Some(Refusal::NoKey),
            (None, KeyIs::Optional) => None,
            (Some(value), _) => (!self.opens(value)).then_some(Refusal::WrongKey),
        }
    }

    fn welcomes(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| match known.strip_suffix(":*") {
            Some(host) => origin
                .strip_prefix(host)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':')),
            None => known == origin,
        })
    }

    fn opens(&self, header: &str) -> bool {
        let Some((scheme, key)) = header.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && same(key.trim(), self.key.expose_secret())
    }
}

/// Compares without telling by its duration how much was right.
fn same(given: &str, key: &str) -> bool {
    given.len() == key.len()
        && given.bytes().zip(key.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        matches!(name, "127.0.0.1" | "::1") || name.eq_ignore_ascii_case("localhost")
    })
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::Host => (StatusCode::FORBIDDEN, "this service answers to loopback names only"),
            Self::Origin => (StatusCode::FORBIDDEN, "this service answers to no web page"),
            Self::NoKey => (StatusCode::UNAUTHORIZED, "the project key is missing"),
            Self::WrongKey => (StatusCode::UNAUTHORIZED, "this is not the project key"),
        };
        let body = format!("{text}\n");
        if status == StatusCode::UNAUTHORIZED {
            return (status, [(WWW_AUTHENTICATE, "Bearer realm=\"harbor\"")], body).into_response();
        }
        (status, body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(key_is: KeyIs) -> Guard {
        Guard {
            key: "k1".to_owned().into(),
            key_is,
            origins: vec!["http://localhost:*".to_owned()],
        }
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn rebound_host_name_is_refused_even_with_the_key() {
        let asked = headers(&[("host", "evil.example:80"), ("authorization", "Bearer k1")]);
        assert_eq!(guard(KeyIs::Required).refusal(&asked), Some(Refusal::Host));
        let asked = headers(&[("host", "localhost.evil.example"), ("authorization", "Bearer k1")]);
        assert_eq!(guard(KeyIs::Required).refusal(&asked), Some(Refusal::Host));
    }

    #[test]
    fn page_of_another_site_is_refused() {
        let asked = headers(&[("host", "127.0.0.1:9"), ("origin", "http://localhostx.example")]);
        assert_eq!(guard(KeyIs::Optional).refusal(&asked), Some(Refusal::Origin));
        let asked = headers(&[("host", "127.0.0.1:9"), ("origin", "http://localhost:6274")]);
        assert_eq!(guard(KeyIs::Optional).refusal(&asked), None);
    }

    #[test]
    fn key_is_asked_for_only_where_it_is_required_and_a_wrong_one_never_passes() {
        let bare = headers(&[("host", "[::1]:9")]);
        assert_eq!(guard(KeyIs::Required).refusal(&bare), Some(Refusal::NoKey));
        assert_eq!(guard(KeyIs::Optional).refusal(&bare), None);
        let wrong = headers(&[("host", "localhost"), ("authorization", "Bearer k2")]);
        assert_eq!(guard(KeyIs::Optional).refusal(&wrong), Some(Refusal::WrongKey));
        let right = headers(&[("host", "localhost"), ("authorization", "bearer k1")]);
        assert_eq!(guard(KeyIs::Required).refusal(&right), None);
    }
}
