//! Where a URL leads, as far as its host says. Pure: nothing is looked up.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// Whether a URL leads to this machine: no proxy stands in between then.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.to_ipv4_mapped().is_some_and(|inner| inner.is_loopback())
        }
        None => false,
    }
}

/// Both addresses that `localhost` stands for: many systems list one of them only, and servers
/// listen on one of them only.
pub fn loopback(port: u16) -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]
}

/// The variable that names the proxy for a URL, if there is one: its failure looks like the
/// server's. `set` says which variables hold something.
pub fn proxy_variable(url: &Url, set: impl Fn(&str) -> bool) -> Option<&'static str> {
    const HTTPS: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    const HTTP: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    if is_this_machine(url) {
        return None;
    }
    let names = if url.scheme() == "https" { HTTPS } else { HTTP };
    names.into_iter().find(|name| set(name))
}

/// Whether a variable of the environment holds something.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_under_all_its_names() {
        for near in [
            "http://localhost:1/mcp",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://127.8.9.1/",
            "http://0.0.0.0:8/",
            "http://[::1]:8/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(is_this_machine(&Url::parse(near).unwrap()), "{near}");
        }
        for far in [
            "http://192.168.0.1/",
            "http://[2001:db8::1]/",
            "https://localhost.example/",
            "https://notlocalhost/",
        ] {
            assert!(!is_this_machine(&Url::parse(far).unwrap()), "{far}");
        }
    }

    #[test]
    fn the_proxy_of_a_url_is_named_and_none_for_this_machine() {
        let of = |url: &str, set: &str| proxy_variable(&Url::parse(url).unwrap(), |at| at == set);
        assert_eq!(of("https://a.test/", "HTTPS_PROXY"), Some("HTTPS_PROXY"));
        assert_eq!(of("https://a.test/", "HTTP_PROXY"), None);
        assert_eq!(of("http://a.test/", "all_proxy"), Some("all_proxy"));
        assert_eq!(of("http://localhost/", "HTTP_PROXY"), None);
    }
}
