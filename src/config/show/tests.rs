use std::ffi::OsString;
use std::path::Path;

use super::*;
use crate::config::{decode, load};

const TEXT: &str = "model:
  name: \"true\"
  baseUrl: http://127.0.0.1/v1?x=y
  apiKeyEnv: KEY
mcp:
  callTimeout: 60
  servers:
    - name: docs
      url: http://127.0.0.1/mcp?toolset=repos
      auth: { type: bearer, tokenEnv: TOK }
      rules:
        - { tool: \"*\", when: { /a: [1, x] }, permissions: ask }
      headersEnv: { X-T: TOK }
    - { name: off, url: http://127.0.0.1/, auth: { type: bearer, tokenEnv: UNSET } }
    - { name: bad, url: \"http://u:pw-EXAMPLE@127.0.0.1/\" }
";

fn shown() -> Loaded {
    let env = |name: &str| ["KEY", "TOK"].contains(&name).then(|| OsString::from("tok-EXAMPLE-1"));
    decode(TEXT, Path::new("/x/config.yaml"), &env).unwrap()
}

fn line_with<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} in\n{text}"))
}

#[test]
fn every_value_names_its_origin() {
    let text = yaml(&shown());
    assert!(line_with(&text, "baseUrl:").ends_with("# config.yaml:3"), "{text}");
    assert!(line_with(&text, "discoveryTimeout: 10s").ends_with("# default"), "{text}");
    assert!(line_with(&text, "token: <from $TOK, set>").ends_with("# environment variable TOK"));
    assert!(line_with(&text, "apiKey: <from $KEY, set>").ends_with("# environment variable KEY"));
    assert!(line_with(&text, "\"tool\":\"*\"").ends_with("# config.yaml:12"), "{text}");
    assert!(line_with(&text, "permissions: ask").ends_with("# default"), "{text}");
}

#[test]
fn a_value_that_was_refused_is_said_to_be_a_default() {
    let text = yaml(&shown());
    assert!(line_with(&text, "callTimeout: 60s").ends_with("# default"), "{text}");
}

#[test]
fn no_secret_is_shown() {
    let loaded = shown();
    let text = format!("{}{}", yaml(&loaded), json(&loaded));
    assert!(!text.contains("EXAMPLE"), "{text}");
    assert!(!text.contains("toolset"), "{text}");
}

#[test]
fn what_is_shown_is_yaml_again_and_refused_entries_are_listed() {
    let text = yaml(&shown());
    let value: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(value["model"]["name"].as_str(), Some("true"));
    assert_eq!(value["mcp"]["servers"][0]["name"].as_str(), Some("docs"));
    assert_eq!(value["mcp"]["servers"][1]["enabled"].as_bool(), Some(false));
    assert!(text.contains("# refused: bad http://127.0.0.1/"), "{text}");
}

#[test]
fn json_has_value_and_origin() {
    let all = json(&shown());
    assert_eq!(all["mcp"]["callTimeout"], json!({ "value": "60s", "origin": "default" }));
    assert_eq!(all["refused"][0]["name"], "bad");
}

#[test]
fn defaults_alone_can_be_shown() {
    let text = yaml(&load::nothing());
    assert!(text.contains("no config file") && text.contains("servers: []"), "{text}");
}
