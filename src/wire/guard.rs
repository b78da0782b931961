//! What must not be kept, and what stands for it.
//!
//! A secret is known in two ways: by place (the header or parameter it travels in) and by value
//! (wherever else it turns up, also as JSON or a URL spells it).

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
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

/// All secret values of a run. What one server repeats may travel on to the model and to others, so
/// every exchange is searched for all of them.
#[derive(Debug, Clone, Default)]
pub struct Needles(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    values: Vec<SecretString>,
    /// Made when the first exchange is recorded.
    made: OnceLock<Finder>,
}

#[derive(Default)]
struct Finder {
    all: Option<AhoCorasick>,
    /// Length of the longest value.
    longest: usize,
}

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(redact::MARK)
    }
}

impl Needles {
    /// These values, and those in the queries and user infos of these URLs.
    pub fn new<'a>(
        values: impl IntoIterator<Item = SecretString>,
        urls: impl IntoIterator<Item = &'a Url>,
    ) -> Self {
        let of_urls = urls.into_iter().flat_map(|url| {
            let raw = url.query().unwrap_or_default().split('&');
            let raw = raw.filter_map(|pair| Some(pair.split_once('=')?.1.to_owned()));
            let decoded = url.query_pairs().map(|(_, value)| value.into_owned());
            decoded.chain(raw).chain(url.password().map(str::to_owned)).collect::<Vec<_>>()
        });
        let values = values.into_iter().chain(of_urls.map(SecretString::from)).collect();
        Self(Arc::new(Known { values, made: OnceLock::new() }))
    }

    fn finder(&self) -> &Finder {
        self.0.made.get_or_init(|| {
            let values = self.0.values.iter().map(|value| value.expose_secret().trim());
            let long = values.filter(|value| value.len() >= LEAST);
            let mut spellings: Vec<String> = long
                .flat_map(redact::spellings)
                .filter(|spelling| !redact::MARK.contains(spelling))
                .collect();
            spellings.sort_unstable();
            spellings.dedup();
            let longest = spellings.iter().map(String::len).max().unwrap_or_default();
            // The longest: a secret may be the beginning of another one.
            let kind = MatchKind::LeftmostLongest;
            let all = AhoCorasick::builder().match_kind(kind).build(&spellings).ok();
            Finder { all: all.filter(|_| longest > 0), longest }
        })
    }
}

/// What knows the secrets of one server or model by the places they travel in, and those of all
/// others by value.
#[derive(Debug, Default)]
pub struct Guard {
    secrets: Needles,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    header: String,
    before: String,
    variable: String,
}

impl Guard {
    /// Knows these values.
    pub fn new(secrets: Needles) -> Self {
        Self { secrets, places: Vec::new() }
    }

    /// Guards what this header holds: `variable` stands for it; `before` stands before the secret
    /// and is none.
    #[must_use]
    pub fn header(mut self, header: &str, before: &str, variable: &str) -> Self {
        self.places.push(Place {
            header: header.to_owned(),
            before: before.to_owned(),
            variable: variable.to_owned(),
        });
        self
    }

    /// A header as it may be kept.
    pub(super) fn keep_header(&self, name: &str, value: &[u8]) -> Header {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let value = match self.places.iter().find(|place| is(&place.header)) {
            Some(place) => HeaderValue::Secret {
                before: place.before.clone(),
                variable: place.variable.clone(),
            },
            None if !HARMLESS.into_iter().any(is) && redact::guards(name) => {
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
        if self.secrets.finder().all.as_ref().is_none_or(|all| all.find(text).is_none()) {
            return text.to_owned();
        }
        let mut kept = Kept::default();
        self.append(&mut kept, text.as_bytes(), usize::MAX, &[]);
        String::from_utf8_lossy(&kept.bytes).into_owned()
    }

    /// Adds what came of a body, without the secrets and without `also`. One is found also where
    /// pieces divide it, or the limit.
    pub(super) fn append(&self, kept: &mut Kept, piece: &[u8], limit: usize, also: &[u8]) {
        let finder = self.secrets.finder();
        let longest = finder.longest.max(also.len());
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
        if let Some(all) = &finder.all {
            replace(kept, from, |rest| all.find(rest).map(|found| found.range()));
        }
        if also.len() >= LEAST {
            let one = |rest: &[u8]| memmem::find(rest, also).map(|at| at..at + also.len());
            replace(kept, from, one);
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

/// Replaces whatever is found from a place on.
fn replace(kept: &mut Kept, from: usize, find: impl Fn(&[u8]) -> Option<std::ops::Range<usize>>) {
    let mut at = from;
    while let Some(found) = kept.bytes.get(at..).and_then(&find) {
        let (start, size) = (at + found.start, found.len());
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
        let secrets = Needles::new([secret.to_owned().into()], []);
        Guard::new(secrets).header("Authorization", "Bearer ", "TOKEN")
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
    fn an_echoed_secret_is_replaced_in_base64_and_hex() {
        use base64::Engine as _;
        use base64::engine::general_purpose::STANDARD;
        let guard = guard("tok-EXAMPLE-of-some-length");
        let hex: String =
            "tok-EXAMPLE-of-some-length".bytes().fold(String::new(), |mut hex, byte| {
                hex.extend([format!("{byte:02x}")]);
                hex
            });
        let basic = STANDARD.encode("user:tok-EXAMPLE-of-some-length");
        let shown = guard.text(&format!("{hex} {basic}"));
        assert!(!shown.contains(&hex) && !shown.contains(&basic), "{shown}");
        assert_eq!(shown.matches(redact::MARK).count(), 2, "{shown}");
    }

    #[test]
    fn values_of_a_query_are_guarded() {
        let url = Url::parse("https://h.test/mcp?key=k-EXAMPLE&set=a%20b%20EXAMPLE").unwrap();
        let guard = Guard::new(Needles::new([], [&url]));
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
