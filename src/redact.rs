//! Secrets out of strings, headers, URLs and JSON.
//!
//! Two ways that complete each other: by place ([`url()`], [`header`], [`json`]: what stands where
//! secrets stand) and by value ([`Secrets`]: what is known to be one,
//! in every spelling). Never panics, never makes
//! text showable: that is [`crate::text`]'s part.

mod known;

use secrecy::SecretString;
use serde_json::{Map, Value};
use url::Url;

pub use known::Secrets;

/// Stands where a secret stood.
pub const MARK: &str = "[redacted]";

/// Characters of a body that the log shows.
const BODY: usize = 8192;

/// Words that make the name of a header or member one that guards a secret.
const GUARDED: [&str; 12] = [
    "authorization",
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "cookie",
    "credential",
    "privatekey",
    "sessionid",
    "accesskey",
];

/// Names that count tokens, or hold one that opens nothing.
const COUNTS: [&str; 4] = ["tokens", "tokencount", "tokenlimit", "progresstoken"];

/// Scheme, host, port and path: no user info, no query, no fragment.
pub fn url(url: &Url) -> String {
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    // Fails only for URLs that cannot have user info.
    bare.set_username("").ok();
    bare.set_password(None).ok();
    bare.to_string()
}

/// What of an address opens something: the password of its user info, and what of its query stands
/// where secrets stand. Each with a name that says whose it is.
pub fn in_url(whose: &str, url: &Url) -> Vec<(String, SecretString)> {
    let decode = |text: &str| {
        let pairs = format!("x={}", text.replace('+', "%2B"));
        let mut decoded = url::form_urlencoded::parse(pairs.as_bytes());
        decoded.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let password = url.password().map(decode);
    let opens = |name: &str| guards(name) || matches!(name, "key" | "sig" | "auth" | "code");
    let query = url.query_pairs().filter(|(name, _)| opens(&name.to_ascii_lowercase()));
    let query = query.map(|(name, value)| (format!("{whose}: {name}"), value.into_owned().into()));
    let password = password.map(|password| (format!("{whose}: password"), password.into()));
    password.into_iter().chain(query).collect()
}

/// A header's value, hidden where its name guards a secret; the scheme of an `Authorization` stays.
pub fn header(name: &str, value: &str) -> String {
    if !guards(name) {
        return value.to_owned();
    }
    match value.trim().split_once(' ') {
        Some((scheme, _)) if folded(name).ends_with("authorization") && is_word(scheme) => {
            format!("{scheme} {MARK}")
        }
        _ => MARK.to_owned(),
    }
}

/// A copy of a JSON value in which members whose names guard secrets hold [`MARK`] instead.
pub fn json(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Object(members) => Value::Object(members.iter().map(member).collect::<Map<_, _>>()),
        other => other.clone(),
    }
}

/// The beginning of a JSON body as the log shows it; of anything else only the size.
pub fn body(bytes: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return format!("[{} bytes]", bytes.len());
    };
    let text = json(&value).to_string();
    match text.char_indices().nth(BODY) {
        Some((end, _)) => {
            format!("{}… [{} bytes in all]", text.get(..end).unwrap_or_default(), bytes.len())
        }
        None => text,
    }
}

/// Replaces known secret values, also where JSON or a URL spells them differently.
pub fn secrets<S: AsRef<str>>(text: &str, values: &[S]) -> String {
    let mut spellings: Vec<String> = values
        .iter()
        .map(|value| value.as_ref().trim())
        .filter(|value| !value.is_empty())
        .flat_map(spellings)
        .collect();
    // The longest first: a secret may be the beginning of another one.
    spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    spellings.dedup();
    let present = spellings.iter().filter(|spelling| text.contains(spelling.as_str()));
    present.fold(text.to_owned(), |text, spelling| text.replace(spelling.as_str(), MARK))
}

/// Whether a header or member of this name usually holds a secret.
pub fn guards(name: &str) -> bool {
    let name = folded(name);
    let counts = COUNTS.iter().any(|word| name.ends_with(word));
    !counts && GUARDED.iter().any(|word| name.contains(word))
}

fn member((name, value): (&String, &Value)) -> (String, Value) {
    let hidden = guards(name) && !matches!(value, Value::Null | Value::Bool(_));
    // A schema calls a parameter by such a name without holding its value.
    let value = match value {
        Value::Object(_) => json(value),
        _ if hidden => Value::from(MARK),
        _ => json(value),
    };
    (name.clone(), value)
}

/// Every form in which others may write a value: the value itself and its JSON, URL, hex and Base64
/// forms. Not sorted, and one may be there twice.
pub fn spellings(value: &str) -> Vec<String> {
    known::spelled(value)
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests;
