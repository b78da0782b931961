//! Where an endpoint is: on this machine, near, or somewhere else. Pure.

use url::{Host, Url};

use crate::config::ModelConfig;
use crate::net::is_this_machine;

/// This machine or its network: an address, or a name without a dot.
pub(super) fn is_near(url: &Url) -> bool {
    let near = match url.host() {
        Some(Host::Ipv4(address)) => address.is_private() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_unique_local(),
        Some(Host::Domain(name)) => {
            !name.contains('.')
                || [".local", ".internal", ".lan"].iter().any(|end| name.ends_with(end))
        }
        None => false,
    };
    near || is_this_machine(url)
}

/// Whether a URL's host is `suffix` or below it.
pub(super) fn is_host(url: &Url, suffix: &str) -> bool {
    let Some(host) = url.host_str() else { return false };
    host.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Identity of an endpoint and model, for reasoning that must not reach another.
pub(super) fn origin(config: &ModelConfig) -> String {
    let host = config.base_url.host_str().unwrap_or_default();
    let port = config.base_url.port_or_known_default().unwrap_or_default();
    format!("{host}:{port} {}", config.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_local_servers_stay_near() {
        for near in ["http://localhost:1", "http://10.0.0.7/v1", "http://nas/v1", "http://[::1]/v1"]
        {
            assert!(is_near(&Url::parse(near).unwrap()), "{near}");
        }
        for far in ["https://api.openai.com/v1", "http://8.8.8.8/v1", "http://[2001:db8::1]/v1"] {
            assert!(!is_near(&Url::parse(far).unwrap()), "{far}");
        }
    }

    #[test]
    fn a_host_is_not_one_that_only_ends_alike() {
        let is_openai = |url: &str| is_host(&Url::parse(url).unwrap(), "openai.com");
        assert!(is_openai("https://api.openai.com/v1") && is_openai("https://openai.com"));
        assert!(!is_openai("https://notopenai.com/v1"));
    }
}
