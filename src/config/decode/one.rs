//! The server that `--url URL [--token-env VAR]` names: an entry without a file, held to the same
//! rules.

use std::path::Path;

use url::Host;

use super::super::context::Origins;
use super::super::model::ServerConfig;
use super::mcp::sanitised;
use super::{Context, Entry, Env, Node, Position, Value, server};
use crate::domain::{Source, Warning};

/// Decodes the entry. Its name comes from the host, and is none of `taken`. A variable that is not
/// set disables it, with a warning.
///
/// # Errors
/// A sentence with the fix: the address cannot be used, or holds a secret; or the variable's name
/// is none.
pub fn server(
    url: &str,
    token_env: Option<&str>,
    env: &Env<'_>,
    taken: &[ServerConfig],
) -> Result<(ServerConfig, Vec<Warning>), String> {
    let file = Path::new("command line");
    let mut context = Context { file, env, warnings: Vec::new(), origins: Origins::default() };
    let mut entries = vec![entry("name", text(&free_name(url, taken))), entry("url", text(url))];
    if let Some(variable) = token_env {
        let auth = vec![entry("type", text("bearer")), entry("tokenEnv", text(variable))];
        entries.push(entry("auth", Value::Map(auth)));
    }
    let node = Node { at: Position::START, value: Value::Map(entries) };
    match server::decode(&mut context, &node, "") {
        Ok(server) => {
            let warnings = context.warnings.into_iter().map(without_line).collect();
            Ok((ServerConfig { line: None, ..server }, warnings))
        }
        Err(problem) => {
            let flag = if problem.field == "url" { "--url" } else { "--token-env" };
            Err(format!("{flag}: {}. {}", problem.what, problem.advice))
        }
    }
}

/// A command line has no lines.
fn without_line(mut warning: Warning) -> Warning {
    if let Source::Config { line, .. } = &mut warning.source {
        *line = None;
    }
    warning
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn entry(key: &str, value: Value) -> Entry {
    let at = Position::START;
    Entry { key: key.to_owned(), key_at: at, value: Node { at, value } }
}

/// The telling part of the host's name, or `local` for a bare address; numbered where a server has
/// it already.
fn free_name(url: &str, taken: &[ServerConfig]) -> String {
    let url = url::Url::parse(url.trim()).ok();
    let base = match url.as_ref().and_then(url::Url::host) {
        Some(Host::Domain(host)) if host != "localhost" => {
            let telling = host.split('.').find(|label| !["mcp", "www", "api", ""].contains(label));
            telling.unwrap_or(host).to_owned()
        }
        _ => "local".to_owned(),
    };
    let is_free = |name: &String| {
        taken.iter().all(|server| sanitised(server.name.as_str()) != sanitised(name))
    };
    let numbered = (2..).map(|number: usize| format!("{base}{number}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unset(_: &str) -> Option<std::ffi::OsString> {
        None
    }

    #[test]
    fn the_name_comes_from_the_host_and_is_free() {
        let (first, warnings) = server("https://mcp.example.test/mcp", None, &unset, &[]).unwrap();
        assert_eq!((first.name.as_str(), warnings.len()), ("example", 0));
        let (second, _) = server("https://mcp.example.test/other", None, &unset, &[first]).unwrap();
        assert_eq!(second.name.as_str(), "example2");
        assert_eq!(server("http://[::1]:80/", None, &unset, &[]).unwrap().0.name, "local".into());
    }

    #[test]
    fn the_same_rules_hold_as_in_a_file() {
        for (url, variable) in [
            ("ftp://h/", None),
            ("nowhere", None),
            ("https://u:pw-EXAMPLE@h/", None),
            ("https://h/?key=sk-EXAMPLE-1", None),
            ("https://h/", Some("$TOKEN")),
            ("https://h/", Some("ghp_EXAMPLE0123456789")),
        ] {
            let error = server(url, variable, &unset, &[]).unwrap_err();
            assert!(error.starts_with("--") && !error.contains("EXAMPLE"), "{error}");
        }
        let (off, warnings) = server("https://h/", Some("TOKEN"), &unset, &[]).unwrap();
        assert!(off.disabled.is_some() && warnings[0].message.contains("TOKEN"), "{warnings:?}");
        let set = |_: &str| Some("secret".into());
        let (on, warnings) = server("http://h.example.test/", Some("TOKEN"), &set, &[]).unwrap();
        assert!(on.auth.is_some() && on.disabled.is_none());
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }
}
