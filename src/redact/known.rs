//! Secrets that are known by value, in every spelling that others give them.
//!
//! A server that echoes its credential, an endpoint that quotes the key it refuses: wherever the
//! value comes back it becomes `[redacted: NAME]`. Looked for are the value itself and its JSON,
//! URL, hex and Base64 forms, the last also inside a longer text that was encoded as a whole
//! (`user:password`). A value that was split over two texts is not found.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem::Finder;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

/// Shorter secrets are not looked for: they would take ordinary words apart.
const SHORTEST: usize = 6;
/// Shorter encoded forms are not looked for.
const SHORTEST_CODE: usize = 8;

/// What no text may hold. Cheap to clone; its `Debug` shows names alone.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[Known]>);

struct Known {
    name: Arc<str>,
    spelling: SecretString,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.0.iter().map(|known| known.name.as_ref()).collect();
        names.dedup();
        f.debug_tuple("Secrets").field(&names).finish()
    }
}

impl Secrets {
    /// From names (of variables, say) and values. What is too short to be told from a word is left
    /// out.
    pub fn new<N: AsRef<str>, S: AsRef<str>>(secrets: impl IntoIterator<Item = (N, S)>) -> Self {
        let mut spellings: BTreeMap<String, Arc<str>> = BTreeMap::new();
        for (name, value) in secrets {
            let value = value.as_ref().trim();
            if value.len() < SHORTEST {
                continue;
            }
            let name: Arc<str> = name.as_ref().into();
            for spelling in spelled(value) {
                spellings.entry(spelling).or_insert_with(|| Arc::clone(&name));
            }
        }
        let mut known: Vec<Known> = spellings
            .into_iter()
            .map(|(spelling, name)| Known { name, spelling: spelling.into() })
            .collect();
        // The longest first: a secret may be the beginning of another one.
        known.sort_by_key(|known| std::cmp::Reverse(known.spelling.expose_secret().len()));
        Self(known.into())
    }

    /// Those of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut all: Vec<Known> = self
            .0
            .iter()
            .chain(other.0.iter())
            .map(|known| Known { name: Arc::clone(&known.name), spelling: known.spelling.clone() })
            .collect();
        all.sort_by_key(|known| std::cmp::Reverse(known.spelling.expose_secret().len()));
        Self(all.into())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text holds one of them.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|known| known.is_in(text))
    }

    /// The text without them; borrowed where it holds none.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for known in self.0.iter() {
            if known.is_in(&clean) {
                let mark = format!("[redacted: {}]", known.name);
                clean = Cow::Owned(clean.replace(known.spelling.expose_secret(), &mark));
            }
        }
        clean
    }

    /// Takes them out of a text in place.
    pub fn scrub(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// Takes them out of a shared text in place.
    pub fn scrub_shared(&self, text: &mut Arc<str>) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean.into();
        }
    }

    /// A JSON value without them, keys included, and without what stands where secrets stand.
    pub fn value(&self, value: &Value) -> Value {
        let mut clean = super::json(value);
        self.scrub_value(&mut clean);
        clean
    }

    /// Takes them out of a JSON value in place, keys included.
    pub fn scrub_value(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.scrub(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.scrub_value(member));
                if members.keys().any(|key| self.are_in(key)) {
                    let taken = std::mem::take(members);
                    *members = taken
                        .into_iter()
                        .map(|(key, value)| (self.text(&key).into_owned(), value))
                        .collect::<Map<_, _>>();
                }
            }
            // A key of digits alone may come back as a number.
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.text(&number.to_string()) {
                    *value = clean.into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The same for a shared value: it stays shared where it holds none of them.
    pub fn scrub_shared_value(&self, value: &mut Arc<Value>) {
        if !self.is_empty() && self.are_in_value(value) {
            self.scrub_value(Arc::make_mut(value));
        }
    }

    fn are_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.are_in(text),
            Value::Array(items) => items.iter().any(|item| self.are_in_value(item)),
            Value::Object(members) => {
                members.iter().any(|(key, member)| self.are_in(key) || self.are_in_value(member))
            }
            Value::Number(number) => self.are_in(&number.to_string()),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

impl Known {
    fn is_in(&self, text: &str) -> bool {
        let spelling = self.spelling.expose_secret().as_bytes();
        text.len() >= spelling.len() && Finder::new(spelling).find(text.as_bytes()).is_some()
    }
}

/// Every form in which others may write a value.
pub(super) fn spelled(value: &str) -> Vec<String> {
    let escaped = Value::from(value).to_string();
    let escaped = escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let percent = form.replace('+', "%20");
    let path: String = percent_encoded(value);
    let hex: String = value.bytes().flat_map(digits).collect();
    let mut all = vec![
        value.to_owned(),
        escaped.unwrap_or(value).to_owned(),
        value.replace('/', "\\/"),
        lower_hex(&form),
        lower_hex(&percent),
        lower_hex(&path),
        form,
        percent,
        path,
        hex.to_uppercase(),
        hex,
    ];
    for code in base64_cores(value) {
        all.push(code.replace('+', "-").replace('/', "_"));
        all.push(code.replace('+', "%2B").replace('/', "%2F"));
        all.push(code);
    }
    all
}

/// A byte in hex.
fn digits(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|half| char::from_digit(u32::from(half), 16).unwrap_or('0'))
}

/// All but letters, digits and `-._~` as `%XX`.
fn percent_encoded(value: &str) -> String {
    value.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(digits(byte).map(|digit| digit.to_ascii_uppercase()));
        }
        out
    })
}

/// `%2F` as `%2f`.
fn lower_hex(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        out.extend(["%", &code.to_ascii_lowercase(), rest]);
    }
    out
}

/// What Base64 makes of a value wherever it begins in the encoded text: the characters that depend
/// on it alone.
fn base64_cores(value: &str) -> impl Iterator<Item = String> {
    (0..3).filter_map(move |before| {
        let padded = [vec![0; before], value.as_bytes().to_vec()].concat();
        let code = STANDARD_NO_PAD.encode(&padded);
        let whole = padded.len() / 3 * 4;
        let from = if before == 0 { 0 } else { before + 1 };
        let own = code.get(from..whole).filter(|own| own.len() >= SHORTEST_CODE)?;
        Some(own.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one() -> Secrets {
        Secrets::new([("MY_TOKEN", "tok/EX+AM PLE=\"1")])
    }

    #[test]
    fn a_secret_vanishes_in_every_spelling() {
        let value = "tok/EX+AM PLE=\"1";
        let encoded: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        for text in [
            value.to_owned(),
            json!(value).to_string(),
            encoded.clone(),
            encoded.replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"),
            encoded.replace('+', "%20"),
            value.bytes().flat_map(digits).collect(),
        ] {
            let clean = one().text(&format!("before {text} after")).into_owned();
            assert!(clean.contains("[redacted: MY_TOKEN]"), "{text} → {clean}");
            assert!(clean.starts_with("before ") && clean.ends_with(" after"), "{clean}");
        }
    }

    #[test]
    fn base64_of_what_holds_it_does_not_carry_it() {
        for text in ["tok/EX+AM PLE=\"1", "user:tok/EX+AM PLE=\"1", "xy:tok/EX+AM PLE=\"1 z"] {
            for code in [STANDARD.encode(text), URL_SAFE.encode(text)] {
                let clean = one().text(&code).into_owned();
                assert!(clean.contains("[redacted: MY_TOKEN]"), "{text} → {clean}");
            }
        }
    }

    #[test]
    fn values_keys_and_numbers_of_json_are_looked_at() {
        let secrets = Secrets::new([("A", "swordfish"), ("B", "12345678")]);
        let mut value = json!({ "swordfish": ["x swordfish", 12_345_678], "n": 1 });
        secrets.scrub_value(&mut value);
        let expected = json!({ "[redacted: A]": ["x [redacted: A]", "[redacted: B]"], "n": 1 });
        assert_eq!(value, expected);
    }

    #[test]
    fn short_words_and_texts_without_a_secret_stay() {
        let secrets = Secrets::new([("A", "abc"), ("B", "swordfish")]);
        assert!(matches!(secrets.text("abc and more"), Cow::Borrowed("abc and more")));
        let shared = Arc::new(json!({ "a": "b" }));
        let mut same = Arc::clone(&shared);
        secrets.scrub_shared_value(&mut same);
        assert!(Arc::ptr_eq(&shared, &same));
    }

    #[test]
    fn a_longer_secret_goes_before_its_own_beginning() {
        let secrets = Secrets::new([("A", "abcdef"), ("B", "abcdefgh")]);
        assert_eq!(secrets.text("abcdef abcdefgh"), "[redacted: A] [redacted: B]");
    }

    #[test]
    fn debug_shows_names_alone() {
        assert_eq!(format!("{:?}", one()), "Secrets([\"MY_TOKEN\"])");
    }

    proptest! {
        #[test]
        fn no_secret_survives(before in ".*", secret in "[!-~]{6,20}", after in ".*") {
            prop_assume!(!"[redacted: N]".contains(&secret));
            let secrets = Secrets::new([("N", &secret)]);
            let clean = secrets.text(&format!("{before}{secret}{after}")).into_owned();
            prop_assert!(!clean.contains(&secret));
        }
    }
}
