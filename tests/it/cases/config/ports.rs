//! The addresses of a case: where they stand in its texts, and the free ports that they become.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One address of this machine that a case names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
}

impl Place {
    /// The addresses that the host stands for; none if it is another machine.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        match self.host.as_str() {
            "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            host => {
                let bare = host.trim_matches(['[', ']']);
                bare.parse().ok().filter(IpAddr::is_loopback).into_iter().collect()
            }
        }
    }
}

/// Every address with a port in a text.
pub(super) fn places(text: &str) -> Vec<Place> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| " \t\r\n/?#\"'`,})\\".contains(c)).unwrap_or(rest.len());
        let authority = rest[..end].rsplit('@').next().unwrap();
        found.extend(place(authority, scheme == Some("https")));
    }
    if !text.contains("://") {
        found.extend(place(text.trim(), false));
    }
    found
}

fn place(authority: &str, tls: bool) -> Option<Place> {
    let (host, port) = authority.rsplit_once(':')?;
    let whole = !host.is_empty() && (!host.contains(':') || host.ends_with(']'));
    let place = Place { host: host.to_owned(), port: port.parse().ok()?, tls };
    (whole && !host.contains(char::is_whitespace)).then_some(place)
}

/// Ports of a case → ports of this run.
pub(super) type Ports = BTreeMap<u16, u16>;

/// The text with its ports exchanged: those behind a colon, and, where `bare`, those that stand
/// alone too.
pub(super) fn exchange(text: &str, ports: &Ports, bare: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back());
        let end = rest[at..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| at + end);
        let number = &rest[at..end];
        let fits = before == Some(':') || (bare && !before.is_some_and(char::is_alphanumeric));
        let port = number.parse().ok().and_then(|port: u16| ports.get(&port));
        out.push_str(&rest[..at]);
        match port {
            Some(port) if fits => out.push_str(&port.to_string()),
            _ => out.push_str(number),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[test]
fn addresses_are_found_and_exchanged_where_they_stand() {
    let text =
        "a: http://u:pw@127.0.0.1:8801/mcp?k=1, b: \"https://[::1]:8802\"\nc: http://x.test/";
    let found = places(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].host.as_str(), found[0].port, found[0].tls), ("127.0.0.1", 8801, false));
    assert_eq!((found[1].host.as_str(), found[1].port, found[1].tls), ("[::1]", 8802, true));
    let ports = Ports::from([(8801, 8802), (8802, 1)]);
    let exchanged = exchange(text, &ports, false);
    assert!(
        exchanged.contains("127.0.0.1:8802/") && exchanged.contains("[::1]:1\""),
        "{exchanged}"
    );
    assert_eq!(exchange("8801 x8801", &ports, true), "8802 x8801");
}
