//! From text to a [`Config`], entry by entry. Pure: the environment is a function.
//!
//! What cannot be understood costs its own entry and leaves a warning. What guards something never
//! becomes looser by a mistake: a misspelt guard, a duplicate, a merge key or a broken rule closes
//! its server; a permission word that is not known counts as *ask*.

mod audit;
mod auth;
mod mcp;
mod model;
pub mod one;
pub(super) mod rule;
mod server;
mod ui;
pub(super) mod words;

use std::path::Path;

use super::context::{Context, Env, Fields, Origins, Problem, fault, join, merge_key, twice};
use super::error::ConfigError;
use super::keys;
use super::model::{AuditConfig, Config, McpConfig, UiConfig};
use super::node::{self, Entry, Node, Position, Value};
use super::{Loaded, Presence};
use crate::domain::Mode;

/// Largest config file, in bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// Decodes a config file's text. `file` is for messages and for relative paths in it.
///
/// # Errors
/// The text is not one YAML document that holds a map, or gives a section twice.
pub fn decode(text: &str, file: &Path, env: &Env<'_>) -> Result<Loaded, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let syntax = |at, problem| ConfigError::syntax(file.to_path_buf(), text, at, problem);
    if text.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { file: file.to_path_buf(), limit: MAX_BYTES });
    }
    if let Some(at) = control_character(text) {
        return Err(syntax(at, "a control character stands here".to_owned()));
    }
    let root = node::parse(text).map_err(|error| syntax(error.at, error.problem))?;
    let context = Context { file, env, warnings: Vec::new(), origins: Origins::default() };
    if root.value == Value::Null {
        return Ok(empty(context));
    }
    let top = Fields::of(&root, "", "").map_err(|problem| {
        let what = "a config file is a map of keys such as `model:` and `mcp:`";
        syntax(problem.at, what.to_owned())
    })?;
    if let Some(problem) = section_twice(&top) {
        return Err(syntax(problem.at, format!("`{}`: {}", problem.field, problem.what)));
    }
    Ok(decode_top(context, &top))
}

/// The first character that YAML does not allow.
fn control_character(text: &str) -> Option<Position> {
    text.lines().enumerate().find_map(|(index, line)| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let column = line.chars().position(|c| c.is_control() && c != '\t' && c != '\u{85}')?;
        Some(Position { line: index + 1, column: column + 1 })
    })
}

fn empty(context: Context<'_>) -> Loaded {
    Loaded {
        config: Config {
            file: Some(context.file.to_path_buf()),
            model: None,
            mcp: McpConfig::default(),
            ui: UiConfig::default(),
            keys: std::collections::BTreeMap::new(),
            audit: AuditConfig::default(),
        },
        warnings: context.warnings,
        refused: Vec::new(),
        origins: context.origins,
        presence: Presence::Empty,
    }
}

/// A whole section given twice: which one counts cannot be said, so neither does.
fn section_twice(top: &Fields<'_>) -> Option<Problem> {
    if let Some((entry, first)) = top.repeated().into_iter().next() {
        return Some(twice(top, entry, first));
    }
    let mcp = top.given("mcp")?;
    let mcp = Fields::of(mcp, "mcp", "").ok()?;
    let again = mcp.repeated().into_iter().find(|(entry, _)| entry.key == "servers");
    again.map(|(entry, first)| twice(&mcp, entry, first))
}

fn decode_top(mut context: Context<'_>, top: &Fields<'_>) -> Loaded {
    let mut misplaced_guard = None;
    for entry in top.unknown(&keys::TOP) {
        let mut problem = top.unknown_key(entry, &keys::TOP);
        if entry.key == "<<" || keys::near_guard(&entry.key).is_some() {
            problem.what.push_str(mcp::CLOSES);
            misplaced_guard = Some(());
        }
        context.warn(&problem);
    }
    let model = top.given("model").and_then(|node| model::decode(&mut context, node));
    let (mut mcp, refused) = mcp::decode(&mut context, top);
    if misplaced_guard.is_some() {
        mcp.permissions = mcp.permissions.max(Mode::Ask);
    }
    let ui = top.given("ui").map(|node| ui::decode(&mut context, node)).unwrap_or_default();
    let keys = top.given("keys").map(|node| ui::keys(&mut context, node)).unwrap_or_default();
    let audit = top.given("audit").map(|node| audit::decode(&mut context, node));
    let audit = audit.unwrap_or_default();
    let config = Config { file: Some(context.file.to_path_buf()), model, mcp, ui, keys, audit };
    Loaded {
        config,
        warnings: context.warnings,
        refused,
        origins: context.origins,
        presence: Presence::Given,
    }
}

/// Warns about unknown and repeated keys of a section that guards nothing, and gives the entries
/// that remain.
fn plain_section(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    known: &[&'static str],
) -> Vec<Entry> {
    for entry in fields.unknown(known) {
        context.warn(&fields.unknown_key(entry, known));
    }
    let repeated: Vec<String> = fields
        .repeated()
        .into_iter()
        .map(|(entry, first)| {
            context.warn(&twice(fields, entry, first));
            entry.key.clone()
        })
        .collect();
    fields.entries.iter().filter(|entry| !repeated.contains(&entry.key)).cloned().collect()
}

/// A path in the file: absolute, under home (`~/`), or beside the file.
fn path_of(context: &Context<'_>, written: &str) -> std::path::PathBuf {
    let home = written.strip_prefix("~/").zip((context.env)("HOME"));
    match home {
        Some((rest, home)) => Path::new(&home).join(rest),
        None => context.file.parent().unwrap_or_else(|| Path::new("")).join(written),
    }
}
