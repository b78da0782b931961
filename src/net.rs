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
}
