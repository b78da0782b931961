//! `model:`, `ui:`, `keys:` and the global settings.

use std::path::Path;
use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::{loaded, told, with_env};
use crate::config::{
    Notify, PinMode, Presence, Protocol, ProviderKind, ThemeName, ToolSearchMode, UiConfig,
};
use crate::domain::Mode;

/// The whole dialect in one file.
const FULL: &str = r#"model:
  provider: openai
  baseUrl: http://localhost:12434/engines/v1
  name: ai/qwen3
  apiKeyEnv: OPENAI_API_KEY
  contextWindow: 32768
  maxOutputTokens: 4096
  temperature: 0.2
  headers: { X-Title: mini-me }
mcp:
  permissions: ask
  discoveryTimeout: 10s
  callTimeout: 60s
  maxCallTime: 15m
  resultLimit: 6000
  pins: block
  toolSearch: on
  caFile: ~/ca.pem
  servers:
    - name: github
      url: https://api.githubcopilot.com/mcp/
      auth: { type: bearer, tokenEnv: GITHUB_PERSONAL_ACCESS_TOKEN }
      permissions: auto
      tools: [get_me, list_repositories, search_code]
      excludeTools: [delete_*]
      rules:
        - { tool: search_code, permissions: auto }
        - { tool: create_issue, when: { /owner: my-org }, permissions: ask, maxCalls: 5/min }
        - { tool: "*", readOnly: false, permissions: deny }
      headers: { X-Toolset: repos }
      headersEnv: { X-Tenant: GITHUB_TENANT }
      protocol: auto
      enabled: true
    - name: context7
      url: https://mcp.context7.com/mcp
      auth: { type: apiKey, header: CONTEXT7_API_KEY, keyEnv: CONTEXT7_API_KEY }
      protocol: 2025-11-25
ui: { theme: auto, mouse: true, sidebarWidth: 38, notify: auto }
keys: { approve: y, deny: n }
"#;

#[test]
fn every_key_of_the_dialect_is_understood_without_a_warning() {
    let env = [
        ("OPENAI_API_KEY", "k"),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "t"),
        ("GITHUB_TENANT", "x"),
        ("CONTEXT7_API_KEY", "c"),
        ("HOME", "/home/u"),
    ];
    let loaded = with_env(FULL, &env).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.presence, Presence::Given);
    let model = loaded.config.model.unwrap();
    assert_eq!(model.api_key.unwrap().expose_secret(), "k");
    assert_eq!((model.context_window, model.temperature), (Some(32768), Some(0.2)));
    let mcp = loaded.config.mcp;
    assert_eq!(mcp.max_call_time, Duration::from_secs(900));
    assert_eq!((mcp.pins, mcp.permissions), (PinMode::Block, Mode::Ask));
    assert_eq!(mcp.tool_search, ToolSearchMode::On);
    assert_eq!(mcp.ca_file.as_deref(), Some(Path::new("/home/u/ca.pem")));
    assert_eq!(mcp.servers[0].line, Some(19));
    assert_eq!(mcp.servers[0].rules.len(), 3);
    assert_eq!(mcp.servers[1].protocol, Protocol::V20251125);
    assert_eq!(loaded.config.keys["approve"], "y");
    assert_eq!(loaded.origins.line("mcp", "callTimeout"), Some(13));
    assert_eq!(loaded.origins.line("server github", "permissions"), Some(22));
}

#[test]
fn an_empty_file_leads_to_the_first_screen() {
    for text in ["", "\u{feff}", "# nothing yet\n", "---\n"] {
        let loaded = loaded(text);
        assert_eq!((loaded.presence, loaded.warnings.len()), (Presence::Empty, 0), "{text:?}");
    }
}

#[test]
fn broken_durations_and_numbers_keep_the_default_and_say_so() {
    let loaded = loaded(
        "mcp:\n  callTimeout: 60\n  discoveryTimeout: 0s\n  maxCallTime: soon\n  resultLimit: -1\n  \
         pins: false\n  caFile: [x]\n  toolSearch: perhaps\n",
    );
    let mcp = &loaded.config.mcp;
    assert_eq!(mcp.call_timeout, Duration::from_secs(60));
    assert_eq!((mcp.result_limit, mcp.pins), (6000, PinMode::Warn));
    assert_eq!(mcp.tool_search, ToolSearchMode::Auto);
    assert_eq!(loaded.warnings.len(), 7);
    let message = told(&loaded.warnings);
    for word in ["config.yaml:2: `mcp.callTimeout`", "`60s`", "config.yaml:5", "stays in force"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
fn a_model_that_cannot_be_used_is_none_with_a_warning() {
    for text in [
        "model: { provider: gpt, name: x }",
        "model: { name: x, baseUrl: nowhere }",
        "model: { provider: openai }",
        "model: x",
        "model: { name: x, apiKey: sk-EXAMPLE-1 }",
        "model: { name: x, apiKeyEnv: \"${KEY}\" }",
        "model: { name: x, headers: { Authorization: EXAMPLE } }",
        "model: { name: x, name: y }",
        "model: { name: x, <<: { temperature: 1 } }",
    ] {
        let loaded = loaded(text);
        assert!(loaded.config.model.is_none(), "{text}");
        assert!(!told(&loaded.warnings).is_empty(), "{text}");
        assert!(!format!("{loaded:?}").contains("EXAMPLE"), "{text}: {loaded:?}");
    }
}

#[test]
fn a_limit_on_tokens_by_another_name_is_no_secret() {
    let loaded = loaded("model: { name: x, max_tokens: 4096, authType: bearer }");
    assert!(loaded.config.model.is_some());
    assert_eq!(loaded.warnings.len(), 2, "{}", told(&loaded.warnings));
}

#[test]
fn a_model_without_its_key_stays_and_says_so() {
    let loaded =
        loaded("model: { name: x, apiKeyEnv: NO_KEY, temperature: hot, contextWindow: 0 }");
    let model = loaded.config.model.unwrap();
    assert_eq!((model.provider, model.api_key.is_none()), (ProviderKind::OpenAi, true));
    assert_eq!((model.temperature, model.context_window), (None, None));
    assert!(told(&loaded.warnings).contains("NO_KEY"));
    assert_eq!(loaded.warnings.len(), 3);
}

#[test]
fn broken_ui_values_keep_their_defaults() {
    let loaded = loaded(
        "ui: { theme: neon, mouse: yes, sidebarWidth: 9999999, notify: loud, colour: x, theme: x }",
    );
    assert_eq!(loaded.config.ui, UiConfig::default());
    assert_eq!(loaded.warnings.len(), 5, "{}", told(&loaded.warnings));
    let good = super::loaded("ui: { theme: none, mouse: false, sidebarWidth: 50, notify: off }");
    let ui =
        UiConfig { theme: ThemeName::None, mouse: false, sidebar_width: 50, notify: Notify::Off };
    assert_eq!((good.config.ui, good.warnings), (ui, vec![]));
}

#[test]
fn keys_are_texts() {
    let loaded = loaded("keys: { approve: y, help: 1, quit: [x], deny: }");
    assert_eq!(loaded.config.keys.len(), 2);
    assert_eq!(loaded.warnings.len(), 2);
}

#[test]
fn unknown_sections_are_warnings_with_the_nearest() {
    let loaded = loaded("modle: {}\nmcpServers: {}\n");
    let message = told(&loaded.warnings);
    assert!(message.contains("`model`") && message.contains("`mcp`"), "{message}");
}
