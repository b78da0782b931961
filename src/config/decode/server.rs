//! One entry of `servers:`.

use secrecy::SecretString;
use url::{Host, Url};

use super::super::context::{describe, shown_key};
use super::super::model::{Auth, Protocol, SWITCHED_OFF, ServerConfig};
use super::super::nearest::plain;
use super::super::{scalar, secret};
use super::auth::{self, placeholder};
use super::rule::{self, patterns};
use super::{Context, Entry, Fields, Node, Position, Problem, Value, fault, keys};
use crate::domain::{Mode, ServerName, Source, Warning};
use crate::permission::{Pattern, Rule};

pub(super) const PROTOCOLS: [(&str, Protocol); 5] = [
    ("auto", Protocol::Auto),
    ("2026-07-28", Protocol::V20260728),
    ("2025-11-25", Protocol::V20251125),
    ("2025-06-18", Protocol::V20250618),
    ("2025-03-26", Protocol::V20250326),
];
const URL_SHAPE: &str = "an address such as `https://mcp.example.com/mcp` (http or https)";
const ENTRY: &str = "an entry such as `{ name: docs, url: https://… }`";
/// Longest name of a server, in characters.
const MAX_NAME: usize = 128;
/// Headers that the protocol itself sets.
const OWN_HEADERS: [&str; 16] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Decodes one entry; an error refuses it.
pub(super) fn decode(
    context: &mut Context<'_>,
    node: &Node,
    path: &str,
) -> Result<ServerConfig, Problem> {
    let fields = Fields::of(node, path, ENTRY)?;
    not_stdio(&fields)?;
    let closing = unknown_keys(context, &fields);
    fault(node, path).map_or(Ok(()), Err)?;
    closing.map_or(Ok(()), Err)?;
    let name = name(&fields)?;
    context.origins.note(&super::Origins::server(&name), &fields);
    let url = url(&fields)?;
    let guards = Guards::decode(context, &fields, &name)?;
    let protocol = fields.given("protocol");
    let protocol = protocol
        .map(|node| scalar::choice(node, &fields.path_of("protocol"), &PROTOCOLS))
        .transpose()?
        .unwrap_or_default();
    let headers = headers(&fields)?;
    let credentials = Credentials::decode(context, &fields)?;
    credentials.headers_once(&fields, &headers)?;
    if credentials.configured && in_the_clear(&url) {
        warn_in_the_clear(context, &fields, &name, &url);
    }
    let disabled = match credentials.absent {
        Some(problem) if guards.enabled => Some(disable(context, &name, problem)),
        Some(problem) => Some(format!("{}; and {SWITCHED_OFF}", problem.what)),
        None => (!guards.enabled).then(|| SWITCHED_OFF.to_owned()),
    };
    Ok(ServerConfig {
        name: ServerName::new(name),
        url,
        auth: credentials.auth,
        permissions: guards.permissions,
        tools: guards.tools,
        exclude_tools: guards.exclude_tools,
        rules: guards.rules,
        headers,
        headers_env: credentials.headers_env,
        protocol,
        disabled,
        line: Some(node.at.line),
    })
}

fn not_stdio(fields: &Fields<'_>) -> Result<(), Problem> {
    fields.get("command").map_or(Ok(()), |entry| {
        Err(Problem::new(
            entry.key_at,
            fields.path_of("command"),
            "stdio servers are not supported: put it behind an HTTP bridge",
            "Start the bridge yourself and write its `url:` here.",
        ))
    })
}

/// Warns about unknown keys. The first one that guards something, or holds a secret, is given
/// back instead: it closes the server.
fn unknown_keys(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Problem> {
    let mut closing: Option<Problem> = None;
    for entry in fields.unknown(&keys::SERVER) {
        let mut problem = fields.unknown_key(entry, &keys::SERVER);
        let literal = auth::literal(fields, entry);
        let mut closes = entry.key == "<<";
        if excludes(entry) {
            problem.what.push_str("; it is read as that");
        } else if let Some(guard) = keys::near_guard(&entry.key) {
            problem.what = format!("{}; `{guard}` guards what the server may do", problem.what);
            closes = true;
        } else if let Some(literal) = literal {
            problem = literal;
            closes = true;
        }
        match closing {
            None if closes => closing = Some(problem),
            _ => context.warn(&problem),
        }
    }
    closing
}

/// `exclude_tools` and the like: reading it as meant can only take tools away.
fn excludes(entry: &Entry) -> bool {
    plain(&entry.key) == "excludetools"
}

fn name(fields: &Fields<'_>) -> Result<String, Problem> {
    let field = fields.path_of("name");
    let allowed = "a name such as `github`, in quotes if it looks like a number";
    let node = fields.given("name").ok_or_else(|| {
        Problem::new(fields.at, field.clone(), "`name` is missing", format!("Allowed: {ENTRY}."))
    })?;
    let name = match &node.value {
        Value::Int(number) => number.to_string(),
        _ => scalar::text(node, &field, allowed)?.to_owned(),
    };
    if name.chars().count() > MAX_NAME {
        let allowed = format!("a name of at most {MAX_NAME} characters");
        return Err(Problem::found(node.at, &field, node, &allowed));
    }
    Ok(name)
}

fn url(fields: &Fields<'_>) -> Result<Url, Problem> {
    let field = fields.path_of("url");
    let node = fields.given("url").ok_or_else(|| {
        Problem::new(fields.at, field.clone(), "`url` is missing", format!("Allowed: {URL_SHAPE}."))
    })?;
    endpoint(node, &field)
}

/// An HTTP address without secrets in it.
pub(super) fn endpoint(node: &Node, field: &str) -> Result<Url, Problem> {
    let text = scalar::text(node, field, URL_SHAPE)?;
    let hidden = |what: &str| {
        Problem::new(node.at, field, what.to_owned(), format!("Allowed: {URL_SHAPE}."))
    };
    let bad = || {
        if text.contains(['@', '?', '#']) {
            hidden("this is no address that can be used")
        } else {
            Problem::found(node.at, field, node, URL_SHAPE)
        }
    };
    let url = Url::parse(text).map_err(|_error| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(bad());
    }
    let by_header = "Take it out of the address and send it as a header: \
                     `auth: { type: apiKey, header: NAME, keyEnv: VARIABLE }`.";
    if !url.username().is_empty() || url.password().is_some() {
        let what = "a user name or password in an address is a literal secret and refused";
        return Err(Problem::new(node.at, field, what, by_header));
    }
    let secret = url
        .query_pairs()
        .find(|(name, value)| secret::name_of_secret(name) || secret::looks_secret(value));
    if let Some((name, _)) = secret {
        let what = format!(
            "the query parameter {} holds a literal secret and is refused",
            secret::quote(&name)
        );
        return Err(Problem::new(node.at, field, what, by_header));
    }
    if text.contains("${") || text.contains("$(") || text.contains("{{") {
        let advice = "Write the whole address; secrets go into `auth` or `headersEnv`.";
        return Err(Problem::new(node.at, field, "placeholders are not replaced", advice));
    }
    Ok(url)
}

/// Whether what is sent there can be read on the way: `http` to a host that is not this machine.
pub(super) fn in_the_clear(url: &Url) -> bool {
    let local = match url.host() {
        Some(Host::Domain(host)) => {
            let host = host.trim_end_matches('.');
            host.eq_ignore_ascii_case("localhost")
                || host.to_ascii_lowercase().ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
        None => false,
    };
    url.scheme() == "http" && !local
}

fn warn_in_the_clear(context: &mut Context<'_>, fields: &Fields<'_>, name: &str, url: &Url) {
    let at = fields.get("url").map_or(fields.at, |entry| entry.value.at);
    let host = url.host_str().unwrap_or_default();
    let what = format!("the credential of server `{name}` would travel unencrypted to `{host}`");
    let problem = Problem::new(at, fields.path_of("url"), what, "");
    let message = context.sentence(&problem);
    context.warnings.push(Warning::new(
        Source::Server(ServerName::from(name)),
        message,
        "Use `https://`, or a tunnel that ends on this machine.",
    ));
}

fn disable(context: &mut Context<'_>, name: &str, mut problem: Problem) -> String {
    let reason = problem.what.clone();
    problem.what = format!("{reason}: server `{name}` is disabled");
    context.warn(&problem);
    reason
}

/// What an entry says about what its tools may do.
struct Guards {
    permissions: Option<Mode>,
    tools: Option<Vec<Pattern>>,
    exclude_tools: Vec<Pattern>,
    rules: Vec<Rule>,
    enabled: bool,
}

impl Guards {
    fn decode(context: &mut Context<'_>, fields: &Fields<'_>, name: &str) -> Result<Self, Problem> {
        let value = |key: &str| fields.get(key).map(|entry| &entry.value);
        let permissions =
            value("permissions").map(|node| context.mode(node, &fields.path_of("permissions")));
        let tools = value("tools").map(|node| patterns(node, &fields.path_of("tools")));
        let mut exclude_tools = Vec::new();
        for entry in fields.entries.iter().filter(|entry| excludes(entry)) {
            exclude_tools.extend(patterns(&entry.value, &fields.path_of(&entry.key))?);
        }
        let rules = value("rules").map(|node| rules(context, node, &fields.path_of("rules"), name));
        let enabled = value("enabled").map(|node| scalar::switch(node, &fields.path_of("enabled")));
        Ok(Self {
            permissions,
            tools: tools.transpose()?,
            exclude_tools,
            rules: rules.transpose()?.unwrap_or_default(),
            enabled: enabled.transpose()?.unwrap_or(true),
        })
    }
}

fn rules(
    context: &mut Context<'_>,
    node: &Node,
    path: &str,
    name: &str,
) -> Result<Vec<Rule>, Problem> {
    let Value::List(items) = &node.value else {
        let allowed = "a list of rules, such as `- { tool: \"*\", permissions: ask }`";
        return Err(Problem::found(node.at, path, node, allowed));
    };
    let numbered = items.iter().enumerate();
    numbered
        .map(|(index, item)| rule::decode(context, item, &format!("{path}[{index}]"), Some(name)))
        .collect()
}

/// What an entry says about who we are.
struct Credentials {
    auth: Option<Auth>,
    headers_env: Vec<(String, String, SecretString)>,
    configured: bool,
    /// Why a credential cannot be had.
    absent: Option<Problem>,
}

impl Credentials {
    fn decode(context: &mut Context<'_>, fields: &Fields<'_>) -> Result<Self, Problem> {
        let auth = fields
            .get("auth")
            .map(|entry| auth::decode(context, &entry.value, &fields.path_of("auth")))
            .transpose()?;
        let headers_env = fields
            .given("headersEnv")
            .map(|node| auth::headers_env(context, node, &fields.path_of("headersEnv")))
            .transpose()?;
        let configured = auth.is_some() || headers_env.is_some();
        let mut absent = None;
        let auth = auth.and_then(|read| read.map_err(|problem| absent = Some(problem)).ok());
        let headers_env = headers_env
            .and_then(|read| read.map_err(|problem| absent = absent.take().or(Some(problem))).ok())
            .unwrap_or_default();
        Ok(Self { auth, headers_env, configured, absent })
    }

    /// No header may be set twice: which value is sent could not be said.
    fn headers_once(&self, fields: &Fields<'_>, plain: &[(String, String)]) -> Result<(), Problem> {
        let own = match &self.auth {
            Some(Auth::Bearer { .. }) => Some("authorization"),
            Some(Auth::ApiKey { header, .. }) => Some(header.as_str()),
            None => None,
        };
        let mut seen: Vec<String> = own.into_iter().map(str::to_ascii_lowercase).collect();
        let names = plain.iter().map(|(name, _)| name);
        for name in names.chain(self.headers_env.iter().map(|(name, ..)| name)) {
            let lower = name.to_ascii_lowercase();
            if seen.contains(&lower) {
                return Err(Problem::new(
                    fields.get("headers").map_or(fields.at, |entry| entry.key_at),
                    fields.path_of("headers"),
                    format!("the header `{name}` is set twice"),
                    "Keep one: in `auth`, in `headers` or in `headersEnv`.",
                ));
            }
            seen.push(lower);
        }
        Ok(())
    }
}

/// Decodes `headers:`: plain values, never secrets.
fn headers(fields: &Fields<'_>) -> Result<Vec<(String, String)>, Problem> {
    let advice = "Put it into an environment variable and name that: \
                  `headersEnv: { NAME: VARIABLE }`, or use `auth`.";
    fields
        .given("headers")
        .map(|node| plain_headers(node, &fields.path_of("headers"), advice))
        .transpose()
        .map(Option::unwrap_or_default)
}

/// Headers with plain values; a value that is a secret is refused with `advice`.
pub(super) fn plain_headers(
    node: &Node,
    path: &str,
    advice: &str,
) -> Result<Vec<(String, String)>, Problem> {
    let fields = Fields::of(node, path, "a map of headers and values")?;
    let decode = |entry: &Entry| {
        let field = fields.path_of(shown_key(&entry.key));
        let name = header_name(entry.key_at, &field, &entry.key)?;
        let value = match &entry.value.value {
            Value::Text(text) => text.trim().to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            _ => return Err(Problem::found(entry.value.at, &field, &entry.value, "a text")),
        };
        if secret::name_of_secret(&name)
            || value.split_whitespace().any(secret::looks_secret)
            || secret::looks_secret(&value)
        {
            let what = "a literal secret in a header is refused";
            return Err(Problem::new(entry.value.at, field, what, advice));
        }
        placeholder(&entry.value, &field, &value, advice)?;
        if !value.chars().all(|c| c == '\t' || (' '..='~').contains(&c)) {
            let what = format!("found {}, which cannot travel in a header", describe(&entry.value));
            return Err(Problem::new(
                entry.value.at,
                field,
                what,
                "Allowed: ASCII text, one line.",
            ));
        }
        Ok((name, value))
    };
    fields.entries.iter().map(decode).collect()
}

/// A header's name that is not the protocol's own.
pub(super) fn header_name(at: Position, field: &str, name: &str) -> Result<String, Problem> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        let what = format!("found {}, which is no name of a header", secret::quote(name));
        return Err(Problem::new(at, field, what, "Allowed: letters, digits and hyphens."));
    }
    if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        let what = format!("the header `{name}` belongs to the protocol and cannot be set");
        return Err(Problem::new(at, field, what, "Take it out."));
    }
    Ok(name.to_owned())
}
