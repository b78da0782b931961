//! Credentials: named by variable, read from the environment, never literal.

use secrecy::SecretString;

use super::super::context::describe;
use super::super::model::Auth;
use super::super::nearest::plain;
use super::super::{scalar, secret};
use super::server::header_name;
use super::{Context, Entry, Fields, Node, Problem, Value, join, keys};

const KINDS: &str = "`{ type: bearer, tokenEnv: NAME }` or \
                     `{ type: apiKey, header: X-Key, keyEnv: NAME }`";
const BARE_NAME: &str = "the bare name of an environment variable, such as `DOCS_TOKEN`";

/// A variable that a file names, and what the environment says.
pub(super) struct Variable {
    pub(super) name: String,
    /// Its value, or why there is none that can be used.
    pub(super) value: Result<SecretString, Problem>,
}

/// A credential, or why the server cannot have it at the moment.
pub(super) type Read = Result<Auth, Problem>;

/// Decodes `auth:`. The outer error refuses the entry, the inner one disables it.
pub(super) fn decode(context: &mut Context<'_>, node: &Node, path: &str) -> Result<Read, Problem> {
    let fields = Fields::of(node, path, KINDS)?;
    let kind = fields.get("type").map(|entry| &entry.value);
    let known: &[&'static str] = match kind.map(|node| &node.value) {
        Some(Value::Text(kind)) if kind == "bearer" => &keys::BEARER,
        Some(Value::Text(kind)) if kind == "apiKey" => &keys::API_KEY,
        _ => &keys::AUTH,
    };
    let mut literal_found = None;
    for entry in fields.unknown(known) {
        match literal(&fields, entry) {
            Some(problem) if literal_found.is_none() => literal_found = Some(problem),
            Some(problem) => context.warn(&problem),
            None => context.warn(&fields.unknown_key(entry, known)),
        }
    }
    if let Some(problem) = literal_found {
        return Err(problem);
    }
    let Some(kind) = kind else {
        return Err(Problem::new(
            fields.at,
            path,
            "`type` is missing",
            format!("Allowed: {KINDS}."),
        ));
    };
    let field = fields.path_of("type");
    let kinds: [(&str, Decode); 2] = [("bearer", bearer), ("apiKey", api_key)];
    let decode = scalar::choice(kind, &field, &kinds)?;
    decode(context, &fields)
}

type Decode = fn(&Context<'_>, &Fields<'_>) -> Result<Read, Problem>;

fn bearer(context: &Context<'_>, fields: &Fields<'_>) -> Result<Read, Problem> {
    let Variable { name, value } = named(context, fields, "tokenEnv")?;
    Ok(value.map(|token| Auth::Bearer { token_env: name, token }))
}

fn api_key(context: &Context<'_>, fields: &Fields<'_>) -> Result<Read, Problem> {
    let header = fields.given("header").ok_or_else(|| missing(fields, "header"))?;
    let field = fields.path_of("header");
    let header = header_name(header.at, &field, scalar::text(header, &field, "a header's name")?)?;
    let Variable { name, value } = named(context, fields, "keyEnv")?;
    Ok(value.map(|key| Auth::ApiKey { header, key_env: name, key }))
}

fn named(context: &Context<'_>, fields: &Fields<'_>, key: &str) -> Result<Variable, Problem> {
    let node = fields.given(key).ok_or_else(|| missing(fields, key))?;
    variable(context, node, &fields.path_of(key))
}

fn missing(fields: &Fields<'_>, key: &str) -> Problem {
    Problem::new(
        fields.at,
        fields.path_of(key),
        format!("`{key}` is missing, so there is no usable credential"),
        format!("Allowed: {KINDS}."),
    )
}

/// The problem that a literal secret is; `None` for keys that name none. Never quotes it.
pub(super) fn literal(fields: &Fields<'_>, entry: &Entry) -> Option<Problem> {
    let empty = matches!(entry.value.value, Value::Null | Value::Bool(_));
    let secret = secret::key_of_secret(&entry.key) && !plain(&entry.key).ends_with("env");
    (secret && !empty).then(|| {
        Problem::new(
            entry.key_at,
            fields.path_of(super::super::context::shown_key(&entry.key)),
            "a literal secret in the file is refused",
            "Put it into an environment variable and write the variable's name: \
             `auth: { type: bearer, tokenEnv: NAME }`. Then change the secret: it stood in a file.",
        )
    })
}

/// Reads the variable that `node` names.
pub(super) fn variable(
    context: &Context<'_>,
    node: &Node,
    field: &str,
) -> Result<Variable, Problem> {
    let Value::Text(written) = &node.value else {
        return Err(Problem::found(node.at, field, node, BARE_NAME));
    };
    let written = written.trim();
    let key = field.rsplit('.').next().unwrap_or(field);
    let bare = written.trim_start_matches(['$', '{', '%']).trim_end_matches(['}', '%']);
    if bare != written && is_variable(bare) {
        return Err(Problem::new(
            node.at,
            field,
            format!("found a placeholder, but `{key}` takes the bare name of a variable"),
            format!("Write the bare name: `{key}: {bare}`."),
        ));
    }
    if !is_variable(written) || secret::is_secret_for_a_name(written) {
        return Err(Problem::new(
            node.at,
            field,
            "this is not the name of a variable; if it is the secret itself, it is refused here",
            format!("Put the secret into an environment variable and write {BARE_NAME}."),
        ));
    }
    let value = read(context, written).map_err(|why| {
        Problem::new(
            node.at,
            field,
            format!("variable `{written}` {why}"),
            format!("Set `{written}` in the environment that starts mini-me-tui."),
        )
    });
    Ok(Variable { name: written.to_owned(), value })
}

/// The value of a variable without the white space around it.
fn read(context: &Context<'_>, name: &str) -> Result<SecretString, &'static str> {
    let value = (context.env)(name).ok_or("is not set")?;
    let value = value.to_str().ok_or("does not hold text")?.trim();
    if value.is_empty() {
        return Err("is empty");
    }
    if value.chars().any(char::is_control) {
        return Err("holds a control character, such as a line break, inside its value: refused");
    }
    if !value.is_ascii() {
        return Err("holds a character that cannot travel in a header: refused");
    }
    Ok(SecretString::from(value))
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Headers with the variable and value of each, or why the server cannot have them at the moment.
pub(super) type ReadHeaders = Result<Vec<(String, String, SecretString)>, Problem>;

/// Decodes `headersEnv:`: header → variable. The inner error disables the server.
pub(super) fn headers_env(
    context: &Context<'_>,
    node: &Node,
    path: &str,
) -> Result<ReadHeaders, Problem> {
    let fields = Fields::of(node, path, "a map of headers and variables")?;
    let mut headers = Vec::new();
    let mut absent = None;
    for entry in fields.entries {
        let field = join(path, super::super::context::shown_key(&entry.key));
        let header = header_name(entry.key_at, &field, &entry.key)?;
        let Variable { name, value } = variable(context, &entry.value, &field)?;
        match value {
            Ok(value) => headers.push((header, name, value)),
            Err(problem) => absent = absent.or(Some(problem)),
        }
    }
    Ok(absent.map_or(Ok(headers), Err))
}

/// Whether a plain text holds a placeholder that nothing here replaces.
pub(super) fn placeholder(
    node: &Node,
    field: &str,
    text: &str,
    advice: &str,
) -> Result<(), Problem> {
    let dollar = text.contains("${") || text.strip_prefix('$').is_some_and(is_variable);
    if !dollar {
        return Ok(());
    }
    let what = format!("found {}: placeholders are not replaced", describe(node));
    Err(Problem::new(node.at, field, what, advice))
}
