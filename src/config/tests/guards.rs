//! A mistake never makes anything looser.

use std::time::Duration;

use proptest::prelude::*;

use super::{loaded, names, told, with_env};
use crate::config::node::Position;
use crate::config::{ConfigError, PinMode};
use crate::domain::{Mode, Source};
use crate::permission::{Matcher, Pattern};

const GUARDS: [&str; 6] = ["permissions", "rules", "tools", "excludeTools", "enabled", "auth"];

fn entry(lines: &str) -> String {
    let mut text = String::from(
        "mcp:\n  permissions: auto\n  servers:\n    - name: a\n      url: http://127.0.0.1/mcp\n",
    );
    for line in lines.lines() {
        text = format!("{text}      {line}\n");
    }
    text
}

fn skipped(lines: &str) -> String {
    let loaded = loaded(&entry(lines));
    assert_eq!(names(&loaded), (vec![], vec!["a"]), "{lines}\n{}", told(&loaded.warnings));
    assert_eq!(loaded.refused[0].url, "http://127.0.0.1/mcp", "{lines}");
    told(&loaded.warnings)
}

#[test]
fn a_misspelt_guard_skips_its_server_and_says_so() {
    let message = skipped("permisions: ask");
    for word in ["config.yaml:6", "mcp.servers[0].permisions", "`permissions`", "skipped"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    for line in
        ["exludeTools: [x]", "tolls: [x]", "enabld: false", "auht: {}", "rulse: []", "Auth: {}"]
    {
        skipped(line);
    }
}

#[test]
fn a_guard_by_another_name_skips_its_server() {
    for line in ["allowedTools: [x]", "disabled: true", "denyTools: [x]", "approval: ask"] {
        skipped(line);
    }
}

#[test]
fn an_unknown_key_that_guards_nothing_is_a_warning_with_line_and_path() {
    let loaded = loaded(&entry("description: x"));
    assert_eq!(names(&loaded), (vec!["a"], vec![]));
    let Source::Config { line, field, file } = &loaded.warnings[0].source else { panic!() };
    assert_eq!((*line, field.as_str()), (Some(6), "mcp.servers[0].description"));
    assert!(file.ends_with("config.yaml"));
}

#[test]
fn exclude_tools_in_another_spelling_takes_tools_away_with_a_warning() {
    let loaded = loaded(&entry("exclude_tools: [delete_*]\nexcludeTools: [x]"));
    let server = &loaded.config.mcp.servers[0];
    assert_eq!(server.exclude_tools, [Pattern("delete_*".into()), Pattern("x".into())]);
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn a_misspelt_global_permission_means_ask_not_auto() {
    for text in [
        "mcp:\n  permisions: aks\n  permissions: auto\n",
        "mcp:\n  permissions: auto\n  permissions: auto\n",
        "mcp:\n  permissions: auto\n  <<: {}\n",
        "mcp:\n  permissions: AUTO\n",
        "mcp:\n  permissions: [auto]\n",
        "mcp:\n  permissions:\n",
        "permissions: deny\nmcp: { permissions: auto }\n",
    ] {
        let loaded = loaded(text);
        assert_eq!(loaded.config.mcp.permissions, Mode::Ask, "{text}");
        assert!(!loaded.warnings.is_empty(), "{text}");
    }
    let loaded = loaded("mcp:\n  permisions: ask\n  permissions: deny\n");
    assert_eq!(loaded.config.mcp.permissions, Mode::Deny);
}

#[test]
fn values_of_guards_that_cannot_be_understood_skip_the_server() {
    for line in [
        "enabled: no",
        "enabled:",
        "enabled: 1",
        "tools: search",
        "tools:",
        "tools: [[x]]",
        "excludeTools: x",
        "rules: {}",
        "rules: [x]",
        "auth:",
        "auth: bearer",
        "auth: { type: oauth }",
        "tools: { a: b }",
        "tools: !x [a]",
    ] {
        skipped(line);
    }
}

#[test]
fn a_broken_rule_skips_the_server() {
    for rule in [
        "{ permissions: auto }",
        "{ tool: x }",
        "{ tool: x, permissions: auto, wehn: { /p: q } }",
        "{ tool: x, permissions: auto, when: { p: q } }",
        "{ tool: x, permissions: auto, when: {} }",
        "{ tool: x, permissions: auto, when: }",
        "{ tool: x, permissions: auto, when: { /p: {} } }",
        "{ tool: x, permissions: auto, when: { /p: [] } }",
        "{ tool: x, permissions: auto, when: { /p: .nan } }",
        "{ tool: x, permissions: auto, when: { /p~2: x } }",
        "{ tool: x, permissions: auto, readOnly: yes }",
        "{ tool: x, permissions: auto, maxCalls: 5 }",
        "{ tool: x, permissions: auto, until: 30m }",
        "{ tool: x, permissions: auto, destructive: no }",
        "{ server: other, tool: x, permissions: auto }",
        "{ tool: [x], permissions: auto }",
        "{ tool: x, tool: y, permissions: auto }",
    ] {
        let message = skipped(&format!("rules:\n  - {rule}"));
        assert!(message.contains("rules[0]"), "{rule}: {message}");
    }
}

#[test]
fn what_is_probably_meant_counts_where_it_is_stricter() {
    for text in ["mcp:\n  permissions: dney\n", "mcp:\n  permisions: deny\n  permissions: auto\n"] {
        assert_eq!(loaded(text).config.mcp.permissions, Mode::Deny, "{text}");
    }
    for text in ["mcp:\n  pins: blok\n", "mcp:\n  pin: block\n"] {
        assert_eq!(loaded(text).config.mcp.pins, PinMode::Block, "{text}");
    }
    let grants = |text: &str| loaded(text).config.mcp.grants;
    let given = grants("mcp:\n  grants: { until: 30m, maxCalls: 20/h }\n");
    assert_eq!(given.until, Some(Duration::from_secs(1800)));
    assert_eq!(given.max_calls.map(|rate| rate.calls), Some(20));
    let broken = grants("mcp:\n  grants: { untill: 30m }\n");
    assert_eq!(broken.max_calls.map(|rate| rate.calls), Some(1));
}

#[test]
fn a_rule_of_the_users_file_may_be_moved_into_the_config() {
    let loaded = loaded(&entry(
        "rules:\n  - { server: a, tool: x, permissions: auto, destructive: false, pin: ab }",
    ));
    let rule = &loaded.config.mcp.servers[0].rules[0];
    assert_eq!((rule.pin.as_deref(), rule.destructive), (Some("ab"), Some(false)));
}

#[test]
fn a_rule_keeps_all_that_it_says() {
    let loaded = loaded(&entry(
        "rules:\n  - { tool: create_*, when: { /owner: my-org, /n: [1, true, x] }, readOnly: false, \
         permissions: ask, maxCalls: 5/min }\n  - { tool: \"*\", permissions: dney }",
    ));
    let rules = &loaded.config.mcp.servers[0].rules;
    assert_eq!(rules[0].tool, Pattern("create_*".into()));
    assert_eq!(rules[0].when[0].1, Matcher::Text(Pattern("my-org".into())));
    assert_eq!(rules[0].read_only, Some(false));
    assert_eq!(rules[0].max_calls.map(|rate| rate.calls), Some(5));
    assert_eq!(rules[0].origin.line, Some(7));
    // The word that was probably meant, where it is the stricter one.
    assert_eq!(rules[1].permissions, Mode::Deny);
    assert!(told(&loaded.warnings).contains("dney"));
}

#[test]
fn a_duplicate_anywhere_in_an_entry_skips_it() {
    let message = skipped("headers: { X-A: b, X-A: c }");
    assert!(message.contains("twice") && message.contains("duplicate"), "{message}");
    skipped("tools: [x]\ntools: [y]");
}

#[test]
fn a_whole_section_given_twice_stops_the_program() {
    for (text, line) in [("ui: {}\nui: {}\n", 2), ("mcp:\n  servers: []\n  servers: []\n", 3)] {
        let error = with_env(text, &[]).unwrap_err();
        let ConfigError::Syntax { at, problem, .. } = &error else { panic!("{error:?}") };
        assert_eq!(at.line, line, "{text}");
        assert!(problem.contains("twice"), "{problem}");
    }
}

#[test]
fn yaml_that_cannot_be_parsed_names_line_and_column_and_shows_that_line_alone() {
    let text =
        "model:\n  name: x\n  apiKey: tok-EXAMPLE-1\n  headers: { a: b\nui: {}\n# tok-EXAMPLE-2\n";
    let error = with_env(text, &[]).unwrap_err();
    let ConfigError::Syntax { at, excerpt, .. } = &error else { panic!("{error:?}") };
    let line = text.lines().nth(at.line - 1).unwrap();
    assert_eq!(excerpt.as_str(), line);
    let shown = error.to_string();
    assert!(shown.contains(&format!("config.yaml:{}:{}", at.line, at.column)), "{shown}");
    assert!(!shown.contains("EXAMPLE"), "{shown}");
}

#[test]
fn control_characters_and_other_roots_are_refused_with_their_place() {
    let error = with_env("ui:\n  theme: \u{1b}[2J\n", &[]).unwrap_err();
    let ConfigError::Syntax { at, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*at, Position { line: 2, column: 10 });
    assert!(!error.to_string().contains('\u{1b}'));
    assert!(with_env("- a\n", &[]).is_err());
    assert!(with_env("just text\n", &[]).is_err());
}

#[test]
fn a_command_entry_is_told_about_the_bridge() {
    let loaded = loaded("servers:\n  - { name: fs, command: npx, args: [-y, x] }\n");
    assert_eq!(loaded.warnings.len(), 1);
    let message = told(&loaded.warnings);
    assert!(
        message.contains("stdio servers are not supported: put it behind an HTTP bridge"),
        "{message}"
    );
    assert_eq!(names(&loaded), (vec![], vec!["fs"]));
}

#[test]
fn one_bad_entry_costs_that_entry_alone() {
    let loaded = loaded(
        "servers:\n  - { name: a, url: \"http://127.0.0.1/\" }\n  - { name: b, url: \"ftp://x/\" }\n  \
         - 7\n  - { url: \"http://127.0.0.1/\" }\n  - { name: c, url: \"http://127.0.0.1/\", protocol: 2024-11-05 }\n  \
         - { name: d, url: \"http://127.0.0.1/\" }\n",
    );
    assert_eq!(names(&loaded), (vec!["a", "d"], vec!["b", "servers[2]", "servers[3]", "c"]));
    assert_eq!(loaded.refused.iter().map(|server| server.line).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert!(told(&loaded.warnings).contains("`2025-06-18`"));
}

#[test]
fn both_lists_of_servers_count_with_a_warning() {
    let loaded = loaded(
        "mcp: { servers: [{ name: a, url: \"http://127.0.0.1/\" }] }\n\
         servers: [{ name: b, url: \"http://127.0.0.1/\" }, { name: a, url: \"http://127.0.0.1/\" }]\n",
    );
    assert_eq!(names(&loaded), (vec!["a", "b"], vec!["a"]));
    assert_eq!(loaded.warnings.len(), 2);
}

#[test]
fn servers_as_a_map_are_refused_one_by_one() {
    let loaded = loaded("servers:\n  docs: { url: \"http://127.0.0.1/\" }\n");
    assert_eq!(names(&loaded), (vec![], vec!["docs"]));
    assert_eq!(loaded.refused[0].url, "http://127.0.0.1/");
}

/// A guard with one letter left out, doubled, changed or swapped.
fn misspelt() -> impl Strategy<Value = String> {
    (0..GUARDS.len(), 0..4_usize, any::<proptest::sample::Index>(), "[a-zA-Z_]").prop_filter_map(
        "the same or another guard",
        |(guard, kind, index, letter)| {
            let mut letters: Vec<char> = GUARDS[guard].chars().collect();
            let at = index.index(letters.len());
            let letter = letter.chars().next()?;
            match kind {
                0 => drop(letters.remove(at)),
                1 => letters.insert(at, letter),
                2 => letters[at] = letter,
                _ => letters.swap(at, (at + 1) % GUARDS[guard].len()),
            }
            let word: String = letters.into_iter().collect();
            (!GUARDS.contains(&word.as_str())).then_some(word)
        },
    )
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s)[-a-z:{}\\[\\]&*!|>'\"#%@`,?\\n \\t0-9.~<$\\PC]{0,120}") {
        drop(with_env(&text, &[("a", "b")]));
    }

    #[test]
    fn no_values_in_known_places_panic(
        key in prop::sample::select(vec![
            "name", "url", "auth", "permissions", "tools", "excludeTools", "rules", "headers",
            "headersEnv", "protocol", "enabled", "command", "<<", "x",
        ]),
        value in "[-a-z:{}\\[\\]'\"$@/?=.~0-9<\\PC]{0,30}",
    ) {
        drop(with_env(&entry(&format!("{key}: {value}")), &[("x", "y")]));
        drop(with_env(&format!("mcp:\n  {key}: {value}\nmodel:\n  {key}: {value}\n"), &[]));
    }

    #[test]
    fn a_misspelt_guard_never_yields_auto(key in misspelt(), value in prop::sample::select(
        vec!["auto", "ask", "[x]", "false", "{ type: bearer, tokenEnv: X }", "[]", "~"],
    )) {
        let loaded = loaded(&entry(&format!("{key}: {value}")));
        for server in &loaded.config.mcp.servers {
            // Only `excludeTools` in another spelling is read as meant: it can only take away.
            let excludes = key.to_lowercase().replace('_', "") == "excludetools";
            prop_assert!(excludes, "{key}");
            prop_assert!(!server.exclude_tools.is_empty() || value == "[]", "{key}");
        }
        prop_assert!(!loaded.warnings.is_empty());
        let global = super::loaded(&format!("mcp:\n  permissions: auto\n  {key}: {value}\n"));
        prop_assert_ne!(global.config.mcp.permissions, Mode::Auto);
    }
}

#[test]
fn a_line_that_begins_with_a_tab_is_told_to_use_spaces() {
    let error = super::with_env("model:\n\tprovider: openai\n", &[]).unwrap_err().to_string();
    assert!(error.contains("tab") && error.contains(":2:1"), "{error}");
}
