//! `mcp:` and the list of servers.

use std::collections::HashMap;
use std::time::Duration;

use super::super::model::{PinMode, ServerConfig, ToolSearchMode};
use super::super::nearest::distance;
use super::super::{RefusedServer, scalar, secret};
use super::{
    Context, Fields, McpConfig, Mode, Node, Problem, Value, fault, keys, merge_key, path_of,
    server, twice,
};
use crate::permission::{GrantLimits, Rate};
use crate::redact;

/// Added to what is said of a misspelt guard outside a server's entry.
pub(super) const CLOSES: &str =
    "; it guards what all servers may do, so the global mode is not `auto`";

pub(super) const PINS: [(&str, PinMode); 3] =
    [("warn", PinMode::Warn), ("block", PinMode::Block), ("off", PinMode::Off)];
pub(super) const TOOL_SEARCH: [(&str, ToolSearchMode); 3] =
    [("auto", ToolSearchMode::Auto), ("on", ToolSearchMode::On), ("off", ToolSearchMode::Off)];
/// Bounds of `resultLimit`, in tokens.
const RESULT_LIMIT: (u64, u64) = (100, 10_000_000);

pub(super) fn decode(
    context: &mut Context<'_>,
    top: &Fields<'_>,
) -> (McpConfig, Vec<RefusedServer>) {
    let mut lists: Vec<(&Node, &str)> = Vec::new();
    let mut mcp = McpConfig::default();
    if let Some(node) = top.given("mcp") {
        match Fields::of(node, "mcp", "a map with `permissions`, `servers` and others") {
            Ok(fields) => {
                mcp = settings(context, &fields);
                lists.extend(fields.given("servers").map(|node| (node, "mcp.servers")));
            }
            Err(problem) => context.warn(&problem),
        }
    }
    if let Some(node) = top.given("servers") {
        if !lists.is_empty() {
            context.warn(&Problem::new(
                node.at,
                "servers",
                "`servers` is given at the top and under `mcp`; both lists count, `mcp.servers` first",
                "Keep one list.",
            ));
        }
        lists.push((node, "servers"));
    }
    let mut list = List::default();
    for (node, path) in lists {
        list.decode(context, node, path);
    }
    mcp.servers = list.servers;
    (mcp, list.refused)
}

fn settings(context: &mut Context<'_>, fields: &Fields<'_>) -> McpConfig {
    let default = McpConfig::default();
    context.origins.note("mcp", fields);
    let mut closed = None;
    let mut blocks = false;
    for entry in fields.unknown(&keys::MCP) {
        let mut problem = fields.unknown_key(entry, &keys::MCP);
        if entry.key == "<<" {
            problem = merge_key(fields, entry);
        }
        if entry.key == "<<" || keys::near_guard(&entry.key).is_some() {
            problem.what.push_str(CLOSES);
            // What was given under the wrong key counts where it is stricter.
            let given = scalar::mode_or_meant(&entry.value);
            closed = closed.max(Some(given.max(Mode::Ask)));
        }
        if keys::near_pins(&entry.key) && means_block(&entry.value) {
            problem.what.push_str("; `block` is in force as it was probably meant");
            blocks = true;
        }
        context.warn(&problem);
    }
    let mut repeated = Vec::new();
    for (entry, first) in fields.repeated() {
        let mut problem = twice(fields, entry, first);
        if entry.key == "permissions" {
            problem.what.push_str(CLOSES);
            let given = scalar::mode_or_meant(&entry.value);
            closed = closed.max(Some(given.max(Mode::Ask)));
        }
        context.warn(&problem);
        context.origins.forget(&problem.field);
        repeated.push(entry.key.as_str());
    }
    let value = |key: &str| {
        let entry = fields.get(key).filter(|_| !repeated.contains(&key))?;
        Some((&entry.value, fields.path_of(key)))
    };
    let mut time = |key: &str, default: std::time::Duration| {
        let found = value(key).map_or(Ok(default), |(node, field)| scalar::duration(node, &field));
        let kept = format!("the default of `{}`", scalar::show_duration(default));
        context.or_default(found, default, &kept)
    };
    let discovery_timeout = time("discoveryTimeout", default.discovery_timeout);
    let call_timeout = time("callTimeout", default.call_timeout);
    let max_call_time = time("maxCallTime", default.max_call_time);
    let permissions = value("permissions")
        .map_or(default.permissions, |(node, field)| context.mode(node, &field));
    let limit = value("resultLimit").map_or(Ok(default.result_limit), |(node, field)| {
        scalar::whole(node, &field, RESULT_LIMIT.0, RESULT_LIMIT.1)
    });
    let pins =
        value("pins").map_or(Ok(default.pins), |(node, field)| scalar::choice(node, &field, &PINS));
    let tool_search = value("toolSearch").map_or(Ok(default.tool_search), |(node, field)| {
        scalar::choice(node, &field, &TOOL_SEARCH)
    });
    blocks |= pins.is_err() && value("pins").is_some_and(|(node, _)| means_block(node));
    let (pins_kept, kept) = if blocks {
        (PinMode::Block, "`block`, which was probably meant")
    } else {
        (default.pins, "the default of `warn`")
    };
    let pins = context.or_default(pins, pins_kept, kept);
    let grants = value("grants")
        .map_or_else(GrantLimits::default, |(node, field)| grants(context, node, &field));
    let ca_file = value("caFile").filter(|(node, _)| node.value != Value::Null);
    let ca_file = ca_file.map(|(node, field)| {
        scalar::text(node, &field, "the path of a PEM file").map(|text| path_of(context, text))
    });
    McpConfig {
        permissions: closed.map_or(permissions, |closed| permissions.max(closed)),
        discovery_timeout,
        call_timeout,
        max_call_time,
        result_limit: context.or_default(limit, default.result_limit, "the default of `6000`"),
        pins: if blocks { PinMode::Block } else { pins },
        grants,
        tool_search: context.or_default(tool_search, default.tool_search, "the default of `auto`"),
        ca_file: context.or_default(ca_file.transpose(), None, "no further authority"),
        servers: Vec::new(),
    }
}

/// Limits of session grants. One that cannot be understood is the narrowest there is: it cannot be
/// said how wide it was meant.
fn grants(context: &mut Context<'_>, node: &Node, path: &str) -> GrantLimits {
    let narrowest = Rate { calls: 1, per: Duration::from_secs(60) };
    let closed = GrantLimits { until: None, max_calls: Some(narrowest) };
    let shape = "a map such as `{ until: 30m, maxCalls: 20/h }`";
    let read = Fields::of(node, path, shape).and_then(|fields| {
        fault(node, path).map_or(Ok(()), Err)?;
        if let Some(entry) = fields.unknown(&keys::GRANTS).first() {
            return Err(fields.unknown_key(entry, &keys::GRANTS));
        }
        let value = |key: &str| fields.get(key).map(|entry| (&entry.value, fields.path_of(key)));
        let until = value("until").map(|(node, field)| scalar::duration(node, &field));
        let max_calls = value("maxCalls").map(|(node, field)| scalar::rate(node, &field));
        Ok(GrantLimits { until: until.transpose()?, max_calls: max_calls.transpose()? })
    });
    read.unwrap_or_else(|mut problem| {
        problem.what.push_str("; a session grant allows one call a minute until it is mended");
        context.warn(&problem);
        closed
    })
}

/// Whether a value is *block*, or what was probably meant to be it.
fn means_block(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if distance(text, "block") <= 2)
}

/// The servers so far, and the names that are taken.
#[derive(Default)]
struct List {
    servers: Vec<ServerConfig>,
    refused: Vec<RefusedServer>,
    /// Sanitised name → the name as written, and its line.
    taken: HashMap<String, (String, usize)>,
}

impl List {
    fn decode(&mut self, context: &mut Context<'_>, node: &Node, path: &str) {
        let shape = "a list of entries that each begin with `- name:`";
        match &node.value {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.entry(context, item, &format!("{path}[{index}]"));
                }
            }
            Value::Map(entries) => {
                for entry in entries {
                    let fields = Fields { entries, path: path.to_owned(), at: node.at };
                    let what = format!("`{path}` is a map here, but has to be a list");
                    let advice = format!("Allowed: {shape}.");
                    let field = fields.path_of(super::super::context::shown_key(&entry.key));
                    let problem = Problem::new(entry.key_at, field, what, advice);
                    self.refuse(context, &entry.key, &entry.value, problem);
                }
            }
            _ => context.warn(&Problem::found(node.at, path, node, shape)),
        }
    }

    fn entry(&mut self, context: &mut Context<'_>, node: &Node, path: &str) {
        let written = written_name(node);
        let shown = written.clone().unwrap_or_else(|| path.to_owned());
        let clash = written.as_deref().and_then(|name| self.take(name, node, path));
        match server::decode(context, node, path).and_then(|server| match clash {
            Some(problem) => Err(problem),
            None => Ok(server),
        }) {
            Ok(server) => self.servers.push(server),
            Err(problem) => self.refuse(context, &shown, node, problem),
        }
    }

    /// Takes a name for the first entry that has it; later ones get the problem.
    fn take(&mut self, name: &str, node: &Node, path: &str) -> Option<Problem> {
        let clean = sanitised(name);
        if let Some((first, line)) = self.taken.get(&clean) {
            let what = format!(
                "the name `{name}` becomes `{clean}`, and so does `{first}` on line {line}"
            );
            let advice = "Give each server a name of its own letters and digits.";
            return Some(Problem::new(node.at, format!("{path}.name"), what, advice));
        }
        self.taken.insert(clean, (name.to_owned(), node.at.line));
        None
    }

    fn refuse(&mut self, context: &mut Context<'_>, name: &str, node: &Node, mut problem: Problem) {
        let name = if secret::looks_secret(name) { secret::HIDDEN } else { name };
        let reason = context.sentence(&problem);
        problem.what = format!("{}; server `{name}` is skipped until this is mended", problem.what);
        context.warn(&problem);
        self.refused.push(RefusedServer {
            name: name.to_owned(),
            url: shown_url(node),
            reason: format!("{reason} {}", problem.advice).trim_end().to_owned(),
            line: problem.at.line,
        });
    }
}

fn written_name(node: &Node) -> Option<String> {
    let fields = Fields::of(node, "", "").ok()?;
    match &fields.given("name")?.value {
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The entry's address without user, password and query; empty if it has none.
fn shown_url(node: &Node) -> String {
    let url = Fields::of(node, "", "").ok().and_then(|fields| match &fields.given("url")?.value {
        Value::Text(text) => url::Url::parse(text.trim()).ok(),
        _ => None,
    });
    url.filter(url::Url::has_host).map(|url| redact::url(&url)).unwrap_or_default()
}

/// Every run of characters that are not ASCII letters or digits becomes one `_`.
pub(super) fn sanitised(name: &str) -> String {
    let mut clean = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            clean.push(c);
        } else if !clean.ends_with('_') {
            clean.push('_');
        }
    }
    clean
}
