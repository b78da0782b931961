//! What must not be kept, and what stands for it.
//!
//! A secret is known in two ways: by place (the header or parameter it travels in) and by value
//! (wherever else it turns up, also as JSON or a URL spells it).

use memchr::memmem;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::domain::exchange::{Header, HeaderValue, Kept};
use crate::redact;

/// Shorter values are words like any other: replacing them would only make bodies unreadable.
const LEAST: usize = 4;
/// Headers of the protocols themselves, which hold no secret.
const HARMLESS: [&str; 8] = [
    "accept",
    "accept-encoding",
    "content-type",
    "content-length",
    "date",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
];

/// The secrets of one server or model.
#[derive(Debug, Default)]
pub struct Guard {
    places: Vec<Place>,
    values: Vec<Needle>,
    /// Length of the longest value.
    longest: usize,
}

#[derive(Debug)]
struct Place {
    header: String,
    before: String,
    variable: String,
}

struct Needle(memmem::Finder<'static>);

impl std::fmt::Debug for Needle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(redact::MARK)
    }
}

impl Guard {
    /// Guards the values in the query of a URL.
    #[must_use]
    pub fn url(mut self, url: &Url) -> Self {
        for (_, value) in url.query_pairs() {
            self.value(&value);
        }
        for raw in url.query().into_iter().flat_map(|query| query.split('&')) {
            self.value(raw.split_once('=').map_or("", |(_, value)| value));
        }
        if let Some(password) = url.password() {
            self.value(password);
        }
        self
    }

    /// Guards what this header holds; `before` stands before the secret and is none.
    #[must_use]
    pub fn header(
        mut self,
        header: &str,
        before: &str,
        variable: &str,
        value: &SecretString,
    ) -> Self {
        self.places.push(Place {
            header: header.to_ascii_lowercase(),
            before: before.to_owned(),
            variable: variable.to_owned(),
        });
        self.value(value.expose_secret());
        self
    }

    fn value(&mut self, value: &str) {
        if value.trim().len() < LEAST {
            return;
        }
        for spelling in redact::spellings(value.trim()) {
            let known = self.values.iter().any(|known| known.0.needle() == spelling.as_bytes());
            if !known && !redact::MARK.contains(&spelling) {
                self.longest = self.longest.max(spelling.len());
                self.values.push(Needle(memmem::Finder::new(spelling.as_bytes()).into_owned()));
            }
        }
        // The longest first: a secret may be the beginning of another one.
        self.values.sort_by_key(|needle| std::cmp::Reverse(needle.0.needle().len()));
    }

    /// A header as it may be kept.
    pub(super) fn keep_header(&self, name: &str, value: &[u8]) -> Header {
        let lower = name.to_ascii_lowercase();
        let place = self.places.iter().find(|place| place.header == lower);
        let value = match place {
            Some(place) => HeaderValue::Secret {
                before: place.before.clone(),
                variable: place.variable.clone(),
            },
            None if !HARMLESS.contains(&lower.as_str()) && redact::guards(&lower) => {
                HeaderValue::Secret { before: String::new(), variable: variable_of(name) }
            }
            None => HeaderValue::Plain(self.text(&String::from_utf8_lossy(value))),
        };
        Header { name: name.to_owned(), value }
    }

    /// The parameters of a URL's query: their names alone.
    pub(super) fn keep_query(url: &Url) -> Vec<(String, HeaderValue)> {
        let hidden =
            |name: &str| HeaderValue::Secret { before: String::new(), variable: variable_of(name) };
        url.query_pairs().map(|(name, _)| (name.clone().into_owned(), hidden(&name))).collect()
    }

    /// A text without the secrets.
    pub fn text(&self, text: &str) -> String {
        let mut kept = Kept::default();
        self.append(&mut kept, text.as_bytes(), usize::MAX, &[]);
        String::from_utf8_lossy(&kept.bytes).into_owned()
    }

    /// Adds what came of a body, without the secrets and without `also`. One is found also where
    /// pieces divide it, or the limit.
    pub(super) fn append(&self, kept: &mut Kept, piece: &[u8], limit: usize, also: &[u8]) {
        let longest = self.longest.max(also.len());
        kept.total += piece.len() as u64;
        if kept.cut > 0 {
            kept.cut += piece.len() as u64;
            return;
        }
        let from = kept.bytes.len().saturating_sub(longest);
        // As much more than the limit as a secret that begins before it needs to be whole.
        let room = limit.saturating_add(longest).saturating_sub(kept.bytes.len());
        let (taken, left) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        kept.bytes.extend_from_slice(taken);
        for Needle(finder) in &self.values {
            replace(kept, from, finder);
        }
        if also.len() >= LEAST {
            replace(kept, from, &memmem::Finder::new(also));
        }
        kept.cut += left.len() as u64;
        if kept.cut > 0 {
            Self::finish(kept, limit);
        }
    }

    /// The body is at its end: what was only kept to find secrets goes.
    pub(super) fn finish(kept: &mut Kept, limit: usize) {
        let beyond = kept.bytes.len().saturating_sub(limit);
        kept.bytes.truncate(limit);
        kept.cut += beyond as u64;
        kept.bytes.shrink_to_fit();
        let size = kept.bytes.len();
        for (end, _) in kept.arrivals.iter_mut().rev().take_while(|(end, _)| *end > size) {
            *end = size;
        }
    }
}

fn replace(kept: &mut Kept, from: usize, finder: &memmem::Finder<'_>) {
    let mut at = from;
    while let Some(found) = kept.bytes.get(at..).and_then(|rest| finder.find(rest)) {
        let (start, size) = (at + found, finder.needle().len());
        kept.bytes.splice(start..start + size, redact::MARK.bytes());
        kept.redacted += 1;
        at = start + redact::MARK.len();
        for (end, _) in kept.arrivals.iter_mut().rev().take_while(|(end, _)| *end > start) {
            // A piece that ended inside the secret ends behind it now.
            *end = (*end).max(start + size) - size + redact::MARK.len();
        }
    }
}

/// A name for a variable that could hold what a header or parameter holds: `MCP_SESSION_ID`.
pub fn variable_of(name: &str) -> String {
    let mut variable: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    if !variable.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') {
        variable.insert_str(0, "V_");
    }
    variable
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn guard(secret: &str) -> Guard {
        Guard::default().header("Authorization", "Bearer ", "TOKEN", &secret.to_owned().into())
    }

    fn kept(guard: &Guard, pieces: &[&[u8]], limit: usize) -> Kept {
        let mut kept = Kept::default();
        for piece in pieces {
            guard.append(&mut kept, piece, limit, &[]);
            let end = kept.bytes.len();
            kept.arrivals.push((end, Duration::ZERO));
        }
        Guard::finish(&mut kept, limit);
        kept
    }

    #[test]
    fn a_header_of_a_secret_keeps_its_variable_alone() {
        let header = guard("tok-EXAMPLE").keep_header("authorization", b"Bearer tok-EXAMPLE");
        assert_eq!(header.value.shown(), "Bearer $TOKEN");
    }

    #[test]
    fn a_header_that_is_guarded_by_its_name_gets_a_variable_of_that_name() {
        for (name, shown) in [
            ("Mcp-Session-Id", "$MCP_SESSION_ID"),
            ("Set-Cookie", "$SET_COOKIE"),
            ("9-token", "$V_9_TOKEN"),
        ] {
            assert_eq!(guard("s").keep_header(name, b"x").value.shown(), shown);
        }
        let plain = guard("s").keep_header("Mcp-Method", b"tools/list").value;
        assert_eq!(plain, HeaderValue::Plain("tools/list".to_owned()));
    }

    #[test]
    fn an_echoed_secret_is_replaced_however_it_is_spelled() {
        let guard = guard("a\"b c/EXAMPLE");
        let text =
            r#"{"raw":"a\"b c/EXAMPLE"} a"b c/EXAMPLE a%22b%20c%2FEXAMPLE a%22b+c%2FEXAMPLE"#;
        let shown = guard.text(text);
        assert!(!shown.contains("EXAMPLE"), "{shown}");
        assert_eq!(shown.matches(redact::MARK).count(), 4);
    }

    #[test]
    fn values_of_a_query_are_guarded() {
        let url = Url::parse("https://h.test/mcp?key=k-EXAMPLE&set=a%20b%20EXAMPLE").unwrap();
        let guard = Guard::default().url(&url);
        assert_eq!(
            guard.text("k-EXAMPLE, a b EXAMPLE, a%20b%20EXAMPLE").matches(redact::MARK).count(),
            3
        );
        let names: Vec<_> = Guard::keep_query(&url)
            .into_iter()
            .map(|(name, value)| (name, value.shown()))
            .collect();
        assert_eq!(names, [("key".into(), "$KEY".into()), ("set".into(), "$SET".into())]);
    }

    #[test]
    fn what_is_cut_is_counted_to_the_byte() {
        let body = kept(&guard("tok-EXAMPLE"), &[b"0123456789", b"abcdef"], 12);
        assert_eq!((body.bytes.as_slice(), body.total, body.cut), (&b"0123456789ab"[..], 16, 4));
        let body = kept(&guard("tok-EXAMPLE"), &[b"0123456789", b"ab"], 12);
        assert_eq!((body.total, body.cut), (12, 0));
    }

    proptest! {
        /// Whatever the pieces and wherever the limit: never the secret, nor a part of it that was
        /// cut off at the limit.
        #[test]
        fn no_division_into_pieces_lets_a_secret_through(
            before in "[a-z ]{0,30}", between in "[a-z ]{0,5}",
            cuts in prop::collection::vec(0_usize..80, 0..6), limit in 1_usize..90,
        ) {
            let text = format!("{before}tok-EXAMPLE-1{between}tok-EXAMPLE-1 end");
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut % text.len()).collect();
            places.extend([0, text.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> =
                places.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]).collect();
            let body = kept(&guard("tok-EXAMPLE-1"), &pieces, limit);
            let shown = String::from_utf8(body.bytes.clone()).unwrap();
            prop_assert!(!shown.contains("tok"), "{}", shown);
            prop_assert!(body.bytes.len() <= limit);
            prop_assert_eq!(body.total, text.len() as u64);
            prop_assert!(body.arrivals.is_sorted());
        }
    }
}
