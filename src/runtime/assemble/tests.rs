use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::domain::Annotations;
use crate::permission::{Matcher, RuleOrigin};
use crate::pin::Pins;

fn server(name: &str) -> ServerConfig {
    let url = format!("https://{}.example.test/mcp?k=1", name.replace('_', "-"));
    ServerConfig { line: Some(7), ..ServerConfig::new(ServerName::new(name), url.parse().unwrap()) }
}

fn patterns(names: &[&str]) -> Vec<Pattern> {
    names.iter().map(|name| Pattern((*name).to_owned())).collect()
}

fn tool(name: &str, schema: Value) -> Listed {
    Listed::new(ToolDefinition {
        name: ToolName::new(name),
        title: None,
        description: format!("does {name}"),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::new(json!({"name": name})),
    })
}

fn plain(names: &[&str]) -> Vec<Listed> {
    names.iter().map(|name| tool(name, json!({"type": "object"}))).collect()
}

/// Assembles one server alone.
fn alone(config: &ServerConfig, listed: &[Listed], pins: &Board) -> Assembled {
    let mcp = McpConfig { servers: vec![config.clone()], ..McpConfig::default() };
    let input = Input { config, listed: Some(listed), dropped: &[], disabled: &[] };
    assemble(&[input], &policy(&mcp, &[], &[]), pins).remove(0)
}

fn offered(assembled: &Assembled) -> Vec<&str> {
    assembled.tools.iter().map(|tool| tool.id.tool.as_str()).collect()
}

fn said(assembled: &Assembled) -> String {
    let told = |warning: &Warning| format!("{} | {}", warning.message, warning.advice);
    assembled.warnings.iter().map(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn allow_list_keeps_only_its_tools_and_a_stray_entry_is_named_with_the_nearest() {
    let config =
        ServerConfig { tools: Some(patterns(&["query-docs", "get-libary-docs"])), ..server("ctx") };
    let assembled = alone(&config, &plain(&["query-docs", "get-library-docs"]), &Board::default());
    assert_eq!(offered(&assembled), ["query-docs"]);
    assert_eq!(assembled.filtered.len(), 1);
    let said = said(&assembled);
    assert!(said.contains("get-libary-docs") && said.contains("get-library-docs"), "{said}");
    assert!(said.contains("line 7"), "{said}");
}

#[test]
fn lists_are_compared_with_original_names_only() {
    let config = ServerConfig { tools: Some(patterns(&["jira_search"])), ..server("jira") };
    let assembled =
        alone(&config, &plain(&["search", "jira_search", "delete_issue"]), &Board::default());
    assert_eq!(offered(&assembled), ["jira_search"]);
    assert_eq!(said(&assembled), "");
}

#[test]
fn excluded_tools_are_filtered_by_pattern() {
    let config =
        ServerConfig { exclude_tools: patterns(&["delete_*", "drop_*", "purgee"]), ..server("s") };
    let assembled = alone(&config, &plain(&["delete_it", "get", "purge"]), &Board::default());
    // One letter away from an entry that fits nothing: probably meant.
    assert_eq!(offered(&assembled), ["get"]);
    assert!(assembled.filtered[0].reason.contains("delete_*"));
    let said = said(&assembled);
    assert!(said.contains("excludeTools: purgee") && said.contains("“purge”"), "{said}");
    assert!(!said.contains("drop_*"), "{said}");
}

#[test]
fn tool_that_needs_bytes_is_filtered_with_tool_and_parameter_named() {
    let listed = [
        tool("upload", json!({"properties": {"body": {"format": "binary"}}, "required": ["body"]})),
        tool("note", json!({"properties": {"icon": {"contentEncoding": "base64"}}})),
        tool("text", json!({"type": "string"})),
    ];
    let assembled = alone(&server("s"), &listed, &Board::default());
    assert_eq!(offered(&assembled), ["note"]);
    let said = said(&assembled);
    assert!(
        said.contains("“upload”") && said.contains("“body”") && said.contains("“text”"),
        "{said}"
    );
}

#[test]
fn unwanted_tools_get_no_warning_about_their_schema() {
    let config = ServerConfig { exclude_tools: patterns(&["bad"]), ..server("s") };
    let assembled = alone(&config, &[tool("bad", json!({"type": "string"}))], &Board::default());
    assert_eq!((said(&assembled).as_str(), assembled.filtered.len()), ("", 1));
}

#[test]
fn tool_listed_twice_is_offered_once() {
    let assembled = alone(&server("s"), &plain(&["a", "a"]), &Board::default());
    assert_eq!(offered(&assembled), ["a"]);
    assert!(said(&assembled).contains("more than once"));
}

#[test]
fn a_tool_whose_name_looks_like_that_of_another_is_told() {
    let assembled =
        alone(&server("s"), &plain(&["delete", "d\u{435}lete", "delete_2"]), &Board::default());
    assert_eq!(assembled.tools.len(), 3);
    let said = said(&assembled);
    assert!(said.contains("looks like “delete”"), "{said}");
    assert_eq!(assembled.warnings.len(), 1, "{said}");
}

#[test]
fn a_tool_whose_name_is_a_pattern_is_not_offered() {
    let assembled = alone(&server("s"), &plain(&["*", "get_*", "get"]), &Board::default());
    assert_eq!(offered(&assembled), ["get"]);
    assert_eq!(assembled.filtered.len(), 2);
    assert!(said(&assembled).contains("holds a `*`"), "{}", said(&assembled));
}

#[test]
fn dropped_tools_are_filtered_with_their_reason() {
    let (config, dropped) = (server("s"), [("x".to_owned(), "it has no name".to_owned())]);
    let input = Input { config: &config, listed: Some(&[]), dropped: &dropped, disabled: &[] };
    let assembled = &assemble(&[input], &Policy::default(), &Board::default())[0];
    assert_eq!(assembled.filtered[0].reason, "it has no name");
    assert!(said(assembled).contains("it has no name"));
}

#[test]
fn model_names_are_unique_across_servers_and_collisions_are_told() {
    let configs = [server("acme_"), server("acme"), server("other")];
    let lists = [plain(&["status"]), plain(&["_status"]), plain(&["status"])];
    let inputs: Vec<_> = configs
        .iter()
        .zip(&lists)
        .map(|(config, listed)| Input { config, listed: Some(listed), dropped: &[], disabled: &[] })
        .collect();
    let assembled = assemble(&inputs, &Policy::default(), &Board::default());
    let names: Vec<_> =
        assembled.iter().map(|a| a.tools[0].model_name.as_str().to_owned()).collect();
    assert_ne!(names[0], names[1]);
    assert!(names[..2].iter().all(|name| name.starts_with("acme_status_")));
    assert_eq!(names[2], "other_status");
    assert!(
        said(&assembled[0]).contains("acme/_status")
            && said(&assembled[1]).contains("acme_/status")
    );
    assert_eq!(said(&assembled[2]), "");
}

#[test]
fn no_server_takes_the_name_of_a_built_in_tool() {
    let assembled = alone(&server("mini_me"), &plain(&["read_result", "other"]), &Board::default());
    assert_ne!(assembled.tools[0].model_name.as_str(), "mini_me_read_result");
    assert_eq!(assembled.tools[1].model_name.as_str(), "mini_me_other");
}

#[test]
fn permission_in_force_and_switched_off_tools_are_marked() {
    let deny = Rule::new(Pattern("b".to_owned()), Mode::Deny);
    let config = ServerConfig { permissions: Some(Mode::Auto), rules: vec![deny], ..server("s") };
    let mcp = McpConfig { servers: vec![config.clone()], ..McpConfig::default() };
    let (listed, off) = (plain(&["a", "b"]), [ToolName::new("a")]);
    let input = Input { config: &config, listed: Some(&listed), dropped: &[], disabled: &off };
    let tools = &assemble(&[input], &policy(&mcp, &[], &[]), &Board::default())[0].tools;
    assert_eq!((tools[0].permission, tools[0].disabled), (Mode::Auto, true));
    assert_eq!((tools[1].permission, tools[1].disabled), (Mode::Deny, false));
    assert!(tools[0].tokens > 0);
}

#[test]
fn rule_that_matches_no_tool_is_named_with_file_and_line() {
    let origin = RuleOrigin { file: Some(PathBuf::from("/cfg.yaml")), line: Some(9) };
    let stray = Rule { origin, ..Rule::new(Pattern("delete_isue".to_owned()), Mode::Deny) };
    let config = ServerConfig { rules: vec![stray], ..server("s") };
    let assembled = alone(&config, &plain(&["delete_issue"]), &Board::default());
    let warning = &assembled.warnings[0];
    assert!(matches!(&warning.source, Source::Config { line: Some(9), .. }));
    assert!(warning.advice.contains("delete_issue"), "{}", warning.advice);
}

#[test]
fn stray_rule_of_the_command_line_is_named() {
    let config = server("git");
    let mcp = McpConfig { servers: vec![config.clone()], ..McpConfig::default() };
    let deny = Rule::new(Pattern("delet_repo".to_owned()), Mode::Deny);
    let policy = policy(&mcp, &[], &[(ServerName::new("git"), deny)]);
    let listed = plain(&["delete_repo"]);
    let input = Input { config: &config, listed: Some(&listed), dropped: &[], disabled: &[] };
    let warnings = stray_rules(&[input], &policy);
    assert!(warnings[0].message.contains("git/delet_repo"));
    assert!(warnings[0].advice.contains("git/delete_repo"));
}

fn remembered(config: &ServerConfig, tools: &[&Listed]) -> Board {
    let key = &pin_keys([config])[0];
    let mut pins = Pins::default();
    for tool in tools {
        let id = ToolId::new(config.name.clone(), tool.definition.name.clone());
        pins.mark_allowed(key, &id, &tool.definition);
    }
    Board::new(pins)
}

fn with_rules(rules: Vec<Rule>, listed: &[Listed]) -> (String, Vec<Mode>) {
    let config = ServerConfig { rules, ..server("s") };
    let assembled = alone(&config, listed, &Board::default());
    let modes = assembled.tools.iter().map(|tool| tool.permission).collect();
    (said(&assembled), modes)
}

fn rule(tool: &str, permissions: Mode) -> Rule {
    Rule::new(Pattern(tool.to_owned()), permissions)
}

#[test]
fn a_misspelt_denial_is_told_and_denies_what_it_was_meant_for() {
    let rules = vec![rule("delete_isue", Mode::Deny), rule("*", Mode::Auto)];
    let (said, modes) = with_rules(rules, &plain(&["delete_issue", "get_issue"]));
    assert!(said.contains("until it is mended it applies to delete_issue"), "{said}");
    assert_eq!(modes, [Mode::Deny, Mode::Auto]);
}

#[test]
fn a_rule_that_another_decides_before_is_told_with_the_place_of_that_one() {
    let at = |line, rule| Rule {
        origin: RuleOrigin { file: Some(PathBuf::from("/cfg.yaml")), line: Some(line) },
        ..rule
    };
    let rules = vec![at(3, rule("get_*", Mode::Ask)), at(4, rule("get_me", Mode::Auto))];
    let (said, _) = with_rules(rules, &plain(&["get_me"]));
    assert!(said.contains("“get_me” (auto)") && said.contains("never reached"), "{said}");
    assert!(said.contains("/cfg.yaml:3"), "{said}");
    let rules = vec![at(3, rule("get_me", Mode::Auto)), at(4, rule("*", Mode::Deny))];
    let (said, _) = with_rules(rules, &plain(&["get_me"]));
    assert!(said.contains("never decides") && said.contains("/cfg.yaml:4"), "{said}");
    // One with conditions, or for fewer tools, leaves others to the next.
    let when = Rule {
        when: vec![("/owner".to_owned(), Matcher::Text(Pattern("me".to_owned())))],
        ..rule("get_*", Mode::Auto)
    };
    let listed = [tool("get_me", json!({"properties": {"owner": {}}}))];
    let (said, _) = with_rules(vec![when, rule("get_me", Mode::Ask)], &listed);
    assert_eq!(said, "");
}

#[test]
fn a_condition_on_an_argument_that_no_tool_has_is_told_with_the_nearest() {
    let when = |pointer: &str| Rule {
        when: vec![(pointer.to_owned(), Matcher::Text(Pattern("me".to_owned())))],
        ..rule("get_*", Mode::Ask)
    };
    let listed = [tool("get_me", json!({"properties": {"owner": {"type": "string"}}}))];
    let (said, _) = with_rules(vec![when("/ownr")], &listed);
    assert!(said.contains("asks for /ownr") && said.contains("“/owner”"), "{said}");
    assert_eq!(with_rules(vec![when("/owner")], &listed).0, "");
    // A schema that leaves its arguments open may take it.
    assert_eq!(with_rules(vec![when("/ownr")], &plain(&["get_me"])).0, "");
}

#[test]
fn what_is_no_longer_listed_is_told() {
    let config = server("s");
    let listed = plain(&["a", "b"]);
    let pins = remembered(&config, &listed.iter().collect::<Vec<_>>());
    let said = said(&alone(&config, &plain(&["a"]), &pins));
    assert!(said.contains("no longer listed since this server was last seen: b"), "{said}");
}

#[test]
fn two_entries_for_one_endpoint_have_pins_of_their_own() {
    let (one, two) = (server("s"), ServerConfig { name: "other".into(), ..server("s") });
    let keys = pin_keys([&one, &two]);
    assert_eq!(keys, ["https://s.example.test/mcp", "https://s.example.test/mcp (other)"]);
}

#[test]
fn a_remembered_rule_for_a_server_that_is_not_there_closes_the_one_it_was_meant_for() {
    let config = ServerConfig { permissions: Some(Mode::Auto), ..server("github") };
    let mcp = McpConfig { servers: vec![config.clone()], ..McpConfig::default() };
    let remembered = [(ServerName::new("gihub"), rule("drop", Mode::Deny))];
    let policy = policy(&mcp, &remembered, &[]);
    let listed = plain(&["drop", "get"]);
    let input = Input { config: &config, listed: Some(&listed), dropped: &[], disabled: &[] };
    let tools = &assemble(&[input], &policy, &Board::default())[0].tools;
    let modes: Vec<Mode> = tools.iter().map(|tool| tool.permission).collect();
    assert_eq!(modes, [Mode::Deny, Mode::Auto]);
    let warnings = stray_rules(&[input], &policy);
    assert!(warnings[0].advice.contains("github/drop"), "{warnings:?}");
}

#[test]
fn changed_and_new_tools_of_a_known_server_are_told() {
    let config = server("s");
    let before = tool("a", json!({"type": "object"}));
    let pins = remembered(&config, &[&before]);
    let now =
        [tool("a", json!({"type": "object", "properties": {"to": {}}})), tool("b", json!({}))];
    let assembled = alone(&config, &now, &pins);
    assert_eq!(assembled.tools[0].pin_state, PinState::Changed);
    assert_eq!(assembled.tools[1].pin_state, PinState::New);
    let said = said(&assembled);
    assert!(said.contains("changed since it was last allowed: parameter “to” is new"), "{said}");
    assert!(said.contains("new since this server was last seen: b"), "{said}");
    assert_eq!(self::said(&alone(&config, &now, &Board::default())), "");
}

#[test]
fn nothing_is_said_of_a_server_that_has_not_answered() {
    let config = ServerConfig { tools: Some(patterns(&["x"])), ..server("s") };
    let input = Input { config: &config, listed: None, dropped: &[], disabled: &[] };
    let assembled = assemble(&[input], &Policy::default(), &Board::default());
    assert_eq!(assembled, [Assembled::default()]);
}

#[test]
fn remembered_rules_come_before_those_of_the_file_and_after_the_command_line() {
    let ask = Rule::new(Pattern("*".to_owned()), Mode::Ask);
    let config = ServerConfig { rules: vec![ask], ..server("s") };
    let mcp = McpConfig { servers: vec![config.clone()], ..McpConfig::default() };
    let allow = Rule::new(Pattern("a".to_owned()), Mode::Auto);
    let remembered = [(config.name.clone(), allow)];
    let listed = plain(&["a", "b"]);
    let input = Input { config: &config, listed: Some(&listed), dropped: &[], disabled: &[] };
    let modes = |policy: &Policy| -> Vec<Mode> {
        assemble(&[input], policy, &Board::default())[0]
            .tools
            .iter()
            .map(|tool| tool.permission)
            .collect()
    };
    assert_eq!(modes(&policy(&mcp, &remembered, &[])), [Mode::Auto, Mode::Ask]);
    let extra = [(ServerName::new("*"), Rule::new(Pattern("*".to_owned()), Mode::Deny))];
    assert_eq!(modes(&policy(&mcp, &remembered, &extra)), [Mode::Deny, Mode::Deny]);
}

#[test]
fn hundred_servers_of_a_hundred_tools_have_distinct_names() {
    let configs: Vec<_> = (0..100).map(|n| server(&format!("server_{n}"))).collect();
    let names: Vec<String> = (0..100).map(|n| format!("tool-{n}")).collect();
    let listed = plain(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let inputs: Vec<_> = configs
        .iter()
        .map(|config| Input { config, listed: Some(&listed), dropped: &[], disabled: &[] })
        .collect();
    let assembled = assemble(&inputs, &Policy::default(), &Board::default());
    let names: HashSet<_> =
        assembled.iter().flat_map(|a| &a.tools).map(|tool| &tool.model_name).collect();
    assert_eq!(names.len(), 10_000);
}
