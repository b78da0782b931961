//! What an endpoint's refusal means and what to try. Pure: status, headers and body in, a
//! [`ProviderError`] out. Messages never hold a key, user info or a query.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{ProviderError, ProviderErrorKind as Kind};

mod wording;

/// Most characters of a body or message that an error quotes.
pub(super) const EXCERPT: usize = 500;

/// Whom a message is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Scheme, host, port, path.
    pub(super) url: String,
    /// Model name.
    pub(super) model: String,
    /// The variable of the key; `None` where none is configured.
    pub(super) key_env: Option<String>,
    /// Port, where it tells which local server this is.
    pub(super) local_port: Option<u16>,
}

/// A response that is not a success.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) body: &'a str,
    pub(super) retry_after: Option<Duration>,
    /// Tools were offered with the request.
    pub(super) with_tools: bool,
}

/// Builds an error.
pub(super) fn error(kind: Kind, message: impl Into<String>) -> ProviderError {
    ProviderError { kind, message: message.into(), retry_after: None }
}

/// A stream that cannot be used.
pub(super) fn broken(message: impl Into<String>) -> ProviderError {
    error(Kind::Broken, message)
}

/// Something that should have been JSON.
pub(super) fn not_json(what: &str, text: &str, fault: &serde_json::Error) -> ProviderError {
    broken(format!(
        "The model's endpoint sent something that is not JSON as {what} ({fault}): {}",
        excerpt(text)
    ))
}

/// Whether the same request may succeed a moment later.
pub(super) fn is_retryable(kind: Kind) -> bool {
    matches!(kind, Kind::Unreachable | Kind::RateLimited | Kind::Server | Kind::Broken)
}

/// The error that a refused request becomes.
pub(super) fn of_refusal(endpoint: &Endpoint, refusal: &Refusal<'_>) -> ProviderError {
    let said = Said::of_body(refusal.body);
    let kind = kind_of(refusal, &said);
    let quoted = said.quoted();
    let message = match kind {
        Kind::Auth => auth(endpoint, refusal.status, &quoted),
        Kind::UnknownModel => unknown_model(endpoint, refusal.status, &said, &quoted),
        Kind::RateLimited => format!(
            "{} limits the rate of requests (429){quoted}. Wait a little, then send again.",
            endpoint.url
        ),
        Kind::TooLong => format!(
            "The conversation is too long for the context window of {}{quoted}. \
             Shorten it or start a new session.",
            endpoint.model
        ),
        Kind::NoTools => format!(
            "The model {} at {} cannot call tools{quoted}. Choose a model with tool support.",
            endpoint.model, endpoint.url
        ),
        Kind::Server => format!(
            "{} had trouble answering ({}){quoted}. Send again in a moment.",
            endpoint.url, refusal.status
        ),
        _ if (300..400).contains(&refusal.status) => format!(
            "{} answered with a redirect ({}), which is not followed{quoted}. \
             Put the address it leads to into model.baseUrl.",
            endpoint.url, refusal.status
        ),
        _ => format!("{} refused the request ({}){quoted}.", endpoint.url, refusal.status),
    };
    ProviderError { kind, message, retry_after: refusal.retry_after }
}

/// The error that an error object inside an answer becomes.
pub(super) fn of_stream(value: &Value) -> ProviderError {
    let said = Said::of_value(value);
    let kind = match said.code.parse::<u16>() {
        _ if wording::too_long(&said.text()) => Kind::TooLong,
        Ok(401 | 403) => Kind::Auth,
        Ok(429) => Kind::RateLimited,
        Ok(408 | 500..=599) => Kind::Server,
        Ok(400..=499) => Kind::Refused,
        _ if wording::rate_limited(&said.text()) => Kind::RateLimited,
        _ if wording::overloaded(&said.text()) => Kind::Server,
        _ => Kind::Broken,
    };
    error(kind, format!("The model's endpoint reported an error{}.", said.quoted()))
}

/// The parts of an error body that mean something, whichever shape it has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    message: String,
    code: String,
    kind: String,
}

impl Said {
    fn of_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of_value(&value),
            Err(_) => Self { message: body.trim().to_owned(), ..Self::default() },
        }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Array(entries) => entries.first().map(Self::of_value).unwrap_or_default(),
            Value::Object(object) => match object.get("error") {
                Some(inner) if !inner.is_null() => Self::of_value(inner),
                _ => Self::of_object(object),
            },
            other => Self { message: plain(other), ..Self::default() },
        }
    }

    fn of_object(object: &serde_json::Map<String, Value>) -> Self {
        let member = |names: &[&str]| {
            names.iter().find_map(|name| object.get(*name)).map(plain).unwrap_or_default()
        };
        let said = Self {
            message: member(&["message", "detail", "msg", "error_description"]),
            code: member(&["code", "status"]),
            kind: member(&["type"]),
        };
        if said.message.is_empty() {
            return Self { message: Value::Object(object.clone()).to_string(), ..said };
        }
        said
    }

    /// All of it in lower case, for looking words up.
    fn text(&self) -> String {
        format!("{} {} {}", self.message, self.code, self.kind).to_lowercase()
    }

    fn quoted(&self) -> String {
        let message = excerpt(&self.message);
        let message = message.trim_end_matches('.');
        if message.is_empty() { String::new() } else { format!(": {message}") }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// One line of at most [`EXCERPT`] characters.
pub(super) fn excerpt(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() > EXCERPT * 4 {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().nth(EXCERPT).is_none() {
        return line;
    }
    line.chars().take(EXCERPT).chain(['…']).collect()
}

fn kind_of(refusal: &Refusal<'_>, said: &Said) -> Kind {
    let text = said.text();
    let Refusal { status, .. } = *refusal;
    if refusal.with_tools && wording::no_tools(&text) {
        return Kind::NoTools;
    }
    if wording::too_long(&text) && !matches!(status, 401 | 403 | 429) {
        return Kind::TooLong;
    }
    match status {
        401 | 403 => Kind::Auth,
        404 | 405 => Kind::UnknownModel,
        429 if wording::quota(&text) => Kind::Refused,
        429 => Kind::RateLimited,
        408 | 500..=599 => Kind::Server,
        413 => Kind::TooLong,
        _ if wording::unknown_model(&text) => Kind::UnknownModel,
        _ => Kind::Refused,
    }
}

fn auth(endpoint: &Endpoint, status: u16, quoted: &str) -> String {
    match &endpoint.key_env {
        Some(variable) => format!(
            "{} did not accept the key from the environment variable {variable} ({status}){quoted}. \
             Check its value.",
            endpoint.url
        ),
        None => format!(
            "{} wants a key ({status}){quoted}. Name the environment variable that holds it: \
             model.apiKeyEnv.",
            endpoint.url
        ),
    }
}

fn unknown_model(endpoint: &Endpoint, status: u16, said: &Said, quoted: &str) -> String {
    let Endpoint { url, model, local_port, .. } = endpoint;
    if !said.text().contains("model") {
        return format!(
            "There is no such endpoint: {url} ({status}){quoted}. \
             Check model.baseUrl (it usually ends in /v1) and the model name {model}."
        );
    }
    let advice = match local_port {
        Some(11434) => format!("Fetch it with `ollama pull {model}`, or correct model.name."),
        Some(12434) => format!("Fetch it with `docker model pull {model}`, or correct model.name."),
        _ => "Correct model.name.".to_owned(),
    };
    format!("{url} does not know the model {model} ({status}){quoted}. {advice}")
}

/// What `Retry-After` asks for: seconds, or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        if seconds.is_nan() {
            return None;
        }
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let date =
        time::OffsetDateTime::parse(value, &time::format_description::well_known::Rfc2822).ok()?;
    let wait = date - time::OffsetDateTime::from(now);
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests;
