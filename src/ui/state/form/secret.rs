//! Whether a form seems to ask for a secret. Servers must not: the user is warned (I6).

use crate::text;

use super::{Field, Form};

/// Words, and words in a row, that name a secret wherever they stand.
const SECRETS: [&[&str]; 20] = [
    &["password"],
    &["passwd"],
    &["passphrase"],
    &["passcode"],
    &["pwd"],
    &["secret"],
    &["secrets"],
    &["credential"],
    &["credentials"],
    &["apikey"],
    &["api", "key"],
    &["access", "key"],
    &["private", "key"],
    &["secret", "key"],
    &["signing", "key"],
    &["seed", "phrase"],
    &["recovery", "phrase"],
    &["cvv"],
    &["cvc"],
    &["ssn"],
];
/// Words that name a secret when they name a field, not in a sentence about it.
const NAMES: [&[&str]; 6] =
    [&["token"], &["otp"], &["pin"], &["jwt"], &["bearer"], &["card", "number"]];

/// What a form asks for that looks like a secret: the labels of such fields. Raw.
pub fn asks_for_secret(form: &Form, message: &str) -> Option<String> {
    let fields = form.fields.iter().filter(|field| looks_secret(field));
    let labels: Vec<&str> = fields.map(|field| field.label.as_str()).collect();
    if !labels.is_empty() {
        return Some(labels.join(", "));
    }
    let said = words(message);
    SECRETS.iter().find(|secret| holds(&said, secret)).map(|secret| secret.join(" "))
}

/// Whether a field looks as if it asked for a secret.
pub fn looks_secret(field: &Field) -> bool {
    let named = |raw: &str| {
        let words = words(raw);
        SECRETS.iter().chain(&NAMES).any(|secret| holds(&words, secret))
    };
    let said = words(&field.description);
    named(&field.name) || named(&field.label) || SECRETS.iter().any(|secret| holds(&said, secret))
}

fn holds(words: &[String], secret: &[&str]) -> bool {
    words.windows(secret.len()).any(|part| part == secret)
}

/// The words of a name or a sentence, in lower case: `apiKey`, `api_key` and `API key` are alike.
/// What cannot be seen does not part a word.
fn words(raw: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in raw.chars() {
        let hidden = text::is_suspicious(c.encode_utf8(&mut [0; 4])).is_some();
        if hidden {
            continue;
        }
        if (!c.is_alphanumeric() || (lower_before && c.is_uppercase())) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
