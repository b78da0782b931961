//! Holds the table of layers to the code: every `crate::…` and `super::…` path in `src`, groups
//! included, against what its file may know. Comments and tests may name anything.

use std::fs;
use std::path::{Path, PathBuf};

/// Longest match decides. A layer may use itself and those below.
const LAYERS: [(&str, u8); 41] = [
    ("domain", 0),
    ("jsonrpc", 0),
    ("sse", 0),
    ("text", 0),
    ("redact", 0),
    ("net", 0),
    ("bridge", 0),
    ("schema", 1),
    ("permission", 1),
    ("pin", 1),
    ("wire", 1),
    ("agent", 1),
    ("mcp", 1),
    ("provider", 1),
    ("config", 1),
    ("session", 1),
    ("runtime::coalesce", 1),
    ("runtime::assemble", 1),
    ("terminal::frame", 1),
    ("ui", 1),
    ("mcp::http", 2),
    ("mcp::client", 2),
    ("mcp::exchange", 2),
    ("mcp::desk", 2),
    ("provider::http", 2),
    ("config::load", 2),
    ("session::store", 2),
    ("store", 2),
    ("audit", 2),
    ("logging", 2),
    ("telemetry", 2),
    ("paths", 2),
    ("terminal", 2),
    ("runtime", 3),
    ("app", 4),
    ("linear", 4),
    ("cmd", 4),
    ("demo", 4),
    ("cli", 4),
    ("main", 4),
    ("lib", 4),
];

/// They meet in `runtime` and `bridge`, and nowhere else.
const STRANGERS: [&str; 4] = ["agent", "mcp", "provider", "ui"];

/// What a module never knows, whatever the layers say.
const FORBIDDEN: [(&str, &str); 2] = [("runtime", "ui"), ("runtime", "terminal")];

/// Modules that neither wait nor talk to anybody.
const PURE: [&str; 13] = [
    "domain",
    "jsonrpc",
    "sse",
    "text",
    "redact",
    "net",
    "bridge",
    "schema",
    "permission",
    "pin",
    "wire",
    "agent",
    "ui",
];

/// Crates that wait or talk.
const IMPURE: [&str; 2] = ["tokio", "reqwest"];

#[test]
fn every_module_knows_only_what_its_layer_may_know() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let offences: Vec<String> =
        sources(&root).iter().flat_map(|file| offences_of_file(&root, file)).collect();
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn groups_nested_paths_and_parents_are_read() {
    let source = "use crate::{domain::{Mode, tool::{Tool, Annotations as A}}, text};\n\
                  // crate::nothing\n\
                  fn f() { crate::redact::url(u); super::rule::Rule::new(); $crate::pin::x!() }\n\
                  #[cfg(test)]\nmod tests { use crate::app; }";
    let expected = [
        "domain::Mode",
        "domain::tool::Tool",
        "domain::tool::Annotations",
        "text",
        "redact::url",
        "permission::rule::Rule::new",
        "pin::x",
    ];
    assert_eq!(paths("permission::policy", source), expected);
}

#[test]
fn offences_are_found() {
    for (module, source) in [
        ("domain::tool", "use crate::schema::check;"),
        ("schema", "use crate::{text, store};"),
        ("mcp::era", "use super::http;"),
        ("agent", "use crate::provider::ModelEvent;"),
        ("ui::view", "use crate::mcp::Command;"),
        ("ui", "use tokio::sync::mpsc;"),
        ("runtime::hub", "use crate::ui::theme;"),
        ("runtime", "fn f() { crate::terminal::enter() }"),
        ("runtime", "use crate::app;"),
        ("domain", "use crate::unheard_of;"),
    ] {
        assert_eq!(offences(module, source).len(), 1, "{module}: {source}");
    }
}

#[test]
fn what_is_allowed_is_no_offence() {
    for (module, source) in [
        ("schema", "use crate::text;"),
        ("mcp::client", "use super::{Command, http::Http};"),
        ("runtime::hub", "use crate::{agent, mcp::client as c};"),
        ("cmd::exec", "use crate::{ui, runtime, terminal};"),
        ("ui", "// use tokio::sync;"),
        ("domain", "/// See [`crate::runtime`].\nuse crate::text;"),
    ] {
        let found = offences(module, source);
        assert!(found.is_empty(), "{module}: {found:?}");
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn offences_of_file(root: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root).unwrap().with_extension("");
    let parts: Vec<_> = inside.iter().map(|part| part.to_str().unwrap()).collect();
    let source = fs::read_to_string(file).unwrap();
    // The map of the code names every module, and `main` reaches the library by its name.
    if parts == ["lib"] || parts == ["main"] {
        return Vec::new();
    }
    let found = offences(&parts.join("::"), &source);
    found.into_iter().map(|offence| format!("src/{}.rs: {offence}", parts.join("/"))).collect()
}

fn offences(module: &str, source: &str) -> Vec<String> {
    let mut found: Vec<String> =
        paths(module, source).iter().filter_map(|path| offence(module, path)).collect();
    if PURE.contains(&top(module)) {
        let code = code(source);
        let named = IMPURE.iter().filter(|name| !after(&code, &format!("{name}::")).is_empty());
        found.extend(named.map(|name| format!("{module} is pure and must not know {name}")));
    }
    found
}

fn offence(module: &str, path: &str) -> Option<String> {
    let (from, to) = (top(module), top(path));
    let (Some(own), Some(other)) = (layer(module), layer(path)) else {
        return Some(format!("{module} → crate::{path}: not in the table of layers"));
    };
    if STRANGERS.contains(&from) && STRANGERS.contains(&to) && from != to {
        return Some(format!("{module} → crate::{path}: {from} and {to} never import one another"));
    }
    if FORBIDDEN.contains(&(from, to)) {
        return Some(format!("{module} → crate::{path}: {from} never knows {to}"));
    }
    (other > own).then(|| format!("{module} (layer {own}) → crate::{path} (layer {other})"))
}

fn top(path: &str) -> &str {
    path.split("::").next().unwrap()
}

fn layer(path: &str) -> Option<u8> {
    let fits = |prefix: &str| path == prefix || path.starts_with(&format!("{prefix}::"));
    let known = LAYERS.iter().filter(|(prefix, _)| fits(prefix));
    known.max_by_key(|(prefix, _)| prefix.len()).map(|(_, layer)| *layer)
}

/// The source without comments and without what stands in its tests.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = source.lines().map(|line| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => &line[..at],
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path into the crate, as seen from its root.
fn paths(module: &str, source: &str) -> Vec<String> {
    let code = code(source);
    let mut found: Vec<(usize, String)> = Vec::new();
    for at in after(&code, "crate::") {
        expand(&code[at..], "", &mut |path| found.push((at, path)));
    }
    for at in after(&code, "super::") {
        // Of `super::super::x` the first one counts the steps.
        if code[..at - 7].ends_with("super::") {
            continue;
        }
        let mut rest = &code[at..];
        let mut home: Vec<&str> = module.split("::").collect();
        home.pop();
        while let Some(further) = rest.strip_prefix("super::") {
            home.pop();
            rest = further;
        }
        expand(rest, &home.join("::"), &mut |path| {
            if !home.is_empty() {
                found.push((at, path));
            }
        });
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, path)| path).collect()
}

/// Where each `word` ends that is not the end of a longer name.
fn after(code: &str, word: &str) -> Vec<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .filter(|(at, _)| !code[..*at].ends_with(is_name))
        .map(|(at, word)| at + word.len())
        .collect()
}

/// Calls `tell` for each path that begins at `text`, with all members of groups.
fn expand(text: &str, prefix: &str, tell: &mut dyn FnMut(String)) {
    let join = |name: &str| {
        if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
    };
    if let Some(group) = text.strip_prefix('{') {
        for member in members(group) {
            expand(member, prefix, tell);
        }
        return;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match (name, rest.strip_prefix("::")) {
        ("" | "self", _) if prefix.is_empty() => {}
        ("" | "self", _) => tell(prefix.to_owned()),
        (name, Some(rest))
            if rest.starts_with(|c: char| c.is_alphanumeric() || "_{*".contains(c)) =>
        {
            expand(rest, &join(name), tell);
        }
        (name, _) => tell(join(name)),
    }
}

/// The members of a group, up to its closing brace.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                found.push(group[start..at].trim());
                break;
            }
            ',' if depth == 0 => {
                found.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|member| !member.is_empty());
    found
}
