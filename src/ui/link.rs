//! Links that a terminal can open: which addresses may be one, and how a cell of the screen says to
//! which it belongs.
//!
//! A target rides in the underline colour of a style, which nothing else here uses: so it takes
//! part in telling which cells have changed, and whoever writes the cells to a terminal turns it
//! into a link or leaves it out. Targets are kept for the whole run, up to a bound; past it a link
//! is text like any other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::style::{Color, Style};

/// Longest address that becomes a link, in bytes: terminals drop longer ones.
pub const LENGTH: usize = 2_000;
/// Addresses that are kept.
const KEPT: usize = 20_000;

static TARGETS: Mutex<Option<Targets>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Targets {
    list: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

/// The style that makes text lead to an address; without effect where it may not be one.
pub fn to(address: &str) -> Style {
    if !may_open(address) {
        return Style::new();
    }
    let mut targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    match targets.get_or_insert_default().place(address) {
        Some(place) => Style::new().underline_color(colour(place)),
        None => Style::new(),
    }
}

/// The address that a cell with this underline colour leads to.
pub fn target(tag: Color) -> Option<Arc<str>> {
    let Color::Rgb(high, middle, low) = tag else { return None };
    let place = usize::try_from(u32::from_be_bytes([0, high, middle, low])).ok()?;
    let targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    targets.as_ref()?.list.get(place).cloned()
}

/// A style without the link in it.
pub fn without(style: Style) -> Style {
    Style { underline_color: None, ..style }
}

/// Whether an address may be opened by a click: http, https or mailto, nothing in it that is not
/// plain ASCII, no name and password before the host.
pub fn may_open(address: &str) -> bool {
    let plain = address.len() <= LENGTH && address.bytes().all(|byte| byte.is_ascii_graphic());
    if !plain {
        return false;
    }
    let Ok(url) = url::Url::parse(address) else { return false };
    match url.scheme() {
        "mailto" => true,
        "http" | "https" => url.has_host() && url.username().is_empty() && url.password().is_none(),
        _ => false,
    }
}

/// The host that an address leads to, where it is one with a host: in ASCII, without a port.
pub fn host(address: &str) -> Option<String> {
    let url = url::Url::parse(address.trim()).ok()?;
    url.host_str().map(str::to_owned)
}

/// The host of an address that has a name before it: `https://bank.example@bad.example/`.
pub fn disguised(address: &str) -> Option<String> {
    let url = url::Url::parse(address.trim()).ok()?;
    let named = !url.username().is_empty() || url.password().is_some();
    url.host_str().filter(|_| named).map(str::to_owned)
}

impl Targets {
    fn place(&mut self, address: &str) -> Option<u32> {
        if let Some(place) = self.places.get(address) {
            return Some(*place);
        }
        if self.list.len() >= KEPT {
            return None;
        }
        let place = u32::try_from(self.list.len()).ok()?;
        let address: Arc<str> = address.into();
        self.list.push(Arc::clone(&address));
        self.places.insert(address, place);
        Some(place)
    }
}

#[expect(clippy::disallowed_methods, reason = "no colour: the number of a target")]
fn colour(place: u32) -> Color {
    let [_, high, middle, low] = place.to_be_bytes();
    Color::Rgb(high, middle, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_of_three_schemes_open() {
        for address in ["https://a.example/x?y=1#z", "http://[::1]:8080/", "mailto:a@b.example"] {
            assert!(may_open(address), "{address}");
        }
        for address in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ftp://a.example/",
            "https://bank.example@bad.example/",
            "https://a.example/\u{7}",
            "https://a.example/ b",
            "https://ex\u{430}mple.example/",
            "//a.example",
            "a.example",
            "",
        ] {
            assert!(!may_open(address), "{address}");
        }
        assert!(!may_open(&format!("https://a.example/{}", "x".repeat(LENGTH))));
    }

    #[test]
    fn a_style_leads_back_to_its_address() {
        let (one, other) = (to("https://a.example/1"), to("https://a.example/2"));
        assert_ne!(one, other);
        assert_eq!(one, to("https://a.example/1"));
        let found = other.underline_color.and_then(target);
        assert_eq!(found.as_deref(), Some("https://a.example/2"));
        assert_eq!(target(Color::Reset), None);
        assert_eq!(to("file:///x"), Style::new());
    }

    #[test]
    fn a_name_before_the_host_is_a_disguise() {
        let host = disguised("https://bank.example@bad.example/");
        assert_eq!(host.as_deref(), Some("bad.example"));
        assert_eq!(disguised("https://a.example/@name"), None);
    }
}
