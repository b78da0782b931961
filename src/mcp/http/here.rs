//! Servers on this machine: no proxy reaches them, and `localhost` means both of its addresses.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Whether a URL points at this machine: no proxy stands in between.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(_)) => loopback(url).is_some(),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Both addresses that a URL's name stands for if it is one of this machine: many systems list one
/// of them only, and servers listen on one of them only.
pub fn loopback(url: &Url) -> Option<[SocketAddr; 2]> {
    let Some(Host::Domain(name)) = url.host() else { return None };
    let name = name.trim_end_matches('.');
    let here = name == "localhost" || name.ends_with(".localhost");
    here.then(|| both(url.port_or_known_default().unwrap_or_default()))
}

fn both(port: u16) -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]
}

/// Finds the addresses of names of this machine, without asking anybody.
#[derive(Debug)]
pub(super) struct Loopback;

impl Resolve for Loopback {
    fn resolve(&self, _name: Name) -> Resolving {
        // The port is the URL's.
        let addresses: Addrs = Box::new(both(0).into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        for here in [
            "http://localhost:1/",
            "http://LOCALHOST./",
            "http://127.0.0.9/",
            "http://[::1]:8/",
            "http://a.localhost/",
        ] {
            assert!(is_loopback(&url(here)), "{here}");
        }
        assert!(!is_loopback(&url("http://192.168.0.1/")));
        assert!(!is_loopback(&url("https://localhost.example.test/")));
    }

    #[test]
    fn localhost_is_both_addresses_and_an_address_is_itself() {
        assert_eq!(loopback(&url("http://localhost:8801/mcp")), Some(both(8801)));
        assert_eq!(loopback(&url("http://127.0.0.1:8801/mcp")), None);
        assert_eq!(loopback(&url("http://mcp.example.test/mcp")), None);
    }
}
