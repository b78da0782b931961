use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::config::PinMode;
use crate::domain::{
    Annotations, Mode, ModelName, PinState, ServerName, Tool, ToolDefinition, ToolName,
};

fn tool(server: &str, name: &str) -> Tool {
    Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(ToolDefinition {
            name: ToolName::new(name),
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({"type": "object"})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(Value::Null),
        }),
        pin: "pin-1".to_owned(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 0,
    }
}

fn claiming(server: &str, name: &str, read_only: Option<bool>) -> Tool {
    let mut tool = tool(server, name);
    Arc::make_mut(&mut tool.definition).annotations.read_only_hint = read_only;
    tool
}

fn rule(tool: &str, permissions: Mode) -> Rule {
    Rule::new(Pattern(tool.to_owned()), permissions)
}

fn when(tool: &str, pointer: &str, pattern: &str, permissions: Mode) -> Rule {
    let matcher = Matcher::Text(Pattern(pattern.to_owned()));
    Rule { when: vec![(pointer.to_owned(), matcher)], ..rule(tool, permissions) }
}

fn policy(global: Mode, servers: &[(&str, Option<Mode>, Vec<Rule>)]) -> Policy {
    let servers = servers
        .iter()
        .map(|(name, mode, rules)| {
            (ServerName::new(*name), ServerPolicy { mode: *mode, rules: rules.clone() })
        })
        .collect();
    Policy::new(global, servers)
}

fn args(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

fn verdict(policy: &Policy, tool: &Tool, arguments: Value) -> Mode {
    policy.decide(tool, &args(arguments), Instant::now()).verdict
}

#[test]
fn pattern_star_matches_any_run() {
    let cases = [
        ("*", "", true),
        ("*rm -rf*", "true\nrm -rf z\ntrue", true),
        ("*rm -rf*", "cd x && rm -rf /data/y", true),
        ("src/**", "src/a/b.rs", true),
        ("src/*", "/src/a", false),
        ("a*a", "a", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "acb", false),
        ("", "", true),
        ("", "x", false),
        ("größe*", "größen", true),
        ("read", "read_all", false),
    ];
    for (pattern, text, fits) in cases {
        assert_eq!(Pattern(pattern.to_owned()).matches(text), fits, "{pattern} {text}");
    }
}

#[test]
fn server_mode_replaces_the_global_one() {
    let policy = policy(Mode::Auto, &[("a", None, vec![]), ("b", Some(Mode::Ask), vec![])]);
    assert_eq!(verdict(&policy, &tool("a", "t"), json!({})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("b", "t"), json!({})), Mode::Ask);
}

#[test]
fn unknown_server_asks() {
    let decision = policy(Mode::Auto, &[]).decide(&tool("x", "t"), &Map::new(), Instant::now());
    assert_eq!((decision.verdict, decision.because), (Mode::Ask, Because::UnknownServer));
}

#[test]
fn trust_is_kept_by_server_and_original_name() {
    let servers = [("a", Some(Mode::Ask), vec![]), ("a_b", Some(Mode::Ask), vec![])];
    let mut policy = policy(Mode::Ask, &servers);
    policy.grant(&tool("a_b", "c"));
    assert_eq!(verdict(&policy, &tool("a_b", "c"), json!({})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("a", "b_c"), json!({})), Mode::Ask);
}

#[test]
fn first_matching_rule_decides_and_deny_beats_every_grant() {
    let rules = vec![
        rule("delete_branch", Mode::Ask),
        rule("*", Mode::Auto),
        rule("force_push", Mode::Deny),
    ];
    let mut policy = policy(Mode::Auto, &[("repo", Some(Mode::Auto), rules)]);
    assert_eq!(verdict(&policy, &tool("repo", "list"), json!({})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("repo", "delete_branch"), json!({})), Mode::Ask);
    policy.grant(&tool("repo", "delete_branch"));
    assert_eq!(verdict(&policy, &tool("repo", "delete_branch"), json!({})), Mode::Auto);
    policy.grant(&tool("repo", "force_push"));
    assert_eq!(verdict(&policy, &tool("repo", "force_push"), json!({})), Mode::Deny);
}

#[test]
fn always_covers_one_tool_with_one_definition_and_config_deny_beats_it() {
    let read = tool("b", "read");
    let mut policy = policy(Mode::Ask, &[("b", None, vec![]), ("c", None, vec![])]);
    policy.remember(&read.id.server, Rule::always(&read));
    assert_eq!(verdict(&policy, &read, json!({})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("b", "read_all"), json!({})), Mode::Ask);
    assert_eq!(verdict(&policy, &tool("c", "read"), json!({})), Mode::Ask);
    let changed = Tool { pin: "pin-2".to_owned(), ..read.clone() };
    assert_eq!(verdict(&policy, &changed, json!({})), Mode::Ask);
    policy.servers.get_mut(&read.id.server).unwrap().rules.push(rule("read", Mode::Deny));
    assert_eq!(verdict(&policy, &read, json!({})), Mode::Deny);
}

#[test]
fn argument_rules_fail_closed() {
    let rules = vec![
        when("run", "/command", "*rm -rf*", Mode::Deny),
        when("write", "/path", "src/**", Mode::Auto),
        rule("write", Mode::Ask),
    ];
    let policy = policy(Mode::Ask, &[("box", Some(Mode::Auto), rules)]);
    let run = tool("box", "run");
    for command in ["rm -rf tmp", "cd x && rm -rf /data/y", "true\nrm -rf z\ntrue"] {
        assert_eq!(verdict(&policy, &run, json!({"command": command})), Mode::Deny, "{command}");
    }
    assert_eq!(verdict(&policy, &run, json!({"command": ["sh", "-c", "rm -rf x"]})), Mode::Deny);
    assert_eq!(verdict(&policy, &run, json!({"command": "echo a\necho b"})), Mode::Auto);
    let write = tool("box", "write");
    assert_eq!(verdict(&policy, &write, json!({"path": "src/a/b.rs"})), Mode::Auto);
    for arguments in [
        json!({"path": "src/../secret/key"}),
        json!({"path": "/src/a"}),
        json!({}),
        json!({"path": null}),
        json!({"path": ["src/a"]}),
        json!({"path": 5}),
        json!({"path": "src\\..\\secret"}),
        json!({"path": "src/%2e%2E/secret"}),
        json!({"path": "src/a\nb"}),
    ] {
        assert_eq!(verdict(&policy, &write, arguments.clone()), Mode::Ask, "{arguments}");
    }
}

#[test]
fn doubt_about_a_loosening_rule_asks_even_where_the_mode_is_auto() {
    let rules = vec![when("write", "/path", "src/*", Mode::Auto)];
    let policy = policy(Mode::Auto, &[("box", Some(Mode::Auto), rules)]);
    let decision =
        policy.decide(&tool("box", "write"), &args(json!({"path": "src/../x"})), Instant::now());
    assert_eq!(decision.verdict, Mode::Ask);
    assert!(matches!(decision.because, Because::Undecided(_)));
}

#[test]
fn denied_path_is_seen_in_every_reading() {
    let rules = vec![when("read", "/path", "secret/*", Mode::Deny)];
    let policy = policy(Mode::Auto, &[("box", Some(Mode::Auto), rules)]);
    for path in ["secret/key", "src/../secret/key", "secret\\key", "./secret/key", " secret/key"] {
        assert_eq!(
            verdict(&policy, &tool("box", "read"), json!({"path": path})),
            Mode::Deny,
            "{path}"
        );
    }
    assert_eq!(verdict(&policy, &tool("box", "read"), json!({"path": "src/key"})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("box", "read"), json!({})), Mode::Ask);
}

#[test]
fn pointers_reach_into_nested_and_escaped_keys() {
    let rules = vec![when("t", "/a~1b/0/c", "yes", Mode::Auto)];
    let policy = policy(Mode::Ask, &[("s", None, rules)]);
    assert_eq!(verdict(&policy, &tool("s", "t"), json!({"a/b": [{"c": "yes"}]})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("s", "t"), json!({"a/b": [{"c": "no"}]})), Mode::Ask);
}

#[test]
fn lists_mean_one_of_and_plain_values_are_compared_exactly() {
    let matcher = Matcher::OneOf(vec![
        Matcher::Text(Pattern("my-*".to_owned())),
        Matcher::Value(json!(3)),
        Matcher::Value(Value::Null),
    ]);
    let rules = vec![Rule { when: vec![("/v".to_owned(), matcher)], ..rule("t", Mode::Auto) }];
    let policy = policy(Mode::Ask, &[("s", None, rules)]);
    for (value, expected) in [
        (json!("my-org"), Mode::Auto),
        (json!(3), Mode::Auto),
        (json!(null), Mode::Auto),
        (json!("3"), Mode::Ask),
        (json!(true), Mode::Ask),
    ] {
        assert_eq!(verdict(&policy, &tool("s", "t"), json!({"v": value})), expected, "{value}");
    }
}

#[test]
fn missing_read_only_claim_counts_as_writing() {
    let rules = vec![Rule { read_only: Some(false), ..rule("*", Mode::Deny) }];
    let policy = policy(Mode::Auto, &[("s", None, rules)]);
    assert_eq!(verdict(&policy, &claiming("s", "t", None), json!({})), Mode::Deny);
    assert_eq!(verdict(&policy, &claiming("s", "t", Some(false)), json!({})), Mode::Deny);
    assert_eq!(verdict(&policy, &claiming("s", "t", Some(true)), json!({})), Mode::Auto);
}

#[test]
fn read_only_claim_loosens_only_by_a_rule_for_that_server() {
    let loose = Rule { read_only: Some(true), ..rule("*", Mode::Auto) };
    let reading = claiming("s", "t", Some(true));
    let own = policy(Mode::Ask, &[("s", None, vec![loose.clone()])]);
    assert_eq!(verdict(&own, &reading, json!({})), Mode::Auto);
    let mut wide = policy(Mode::Ask, &[("s", None, vec![])]);
    wide.add_global_rule(Pattern("*".to_owned()), loose);
    assert_eq!(verdict(&wide, &reading, json!({})), Mode::Ask);
    let mut torn = reading;
    Arc::make_mut(&mut torn.definition).annotations.destructive_hint = Some(true);
    assert_eq!(verdict(&own, &torn, json!({})), Mode::Ask);
}

#[test]
fn command_line_rules_come_first_and_reach_servers_by_pattern() {
    let mut policy =
        policy(Mode::Ask, &[("git", None, vec![rule("*", Mode::Ask)]), ("x", None, vec![])]);
    let (server, allow) = Rule::parse_cli("gi*/get_*", Mode::Auto).unwrap();
    policy.add_global_rule(server, allow);
    assert_eq!(verdict(&policy, &tool("git", "get_me"), json!({})), Mode::Auto);
    assert_eq!(verdict(&policy, &tool("git", "put_me"), json!({})), Mode::Ask);
    assert_eq!(verdict(&policy, &tool("x", "get_me"), json!({})), Mode::Ask);
    let (server, deny) = Rule::parse_cli("*/get_me", Mode::Deny).unwrap();
    policy.add_global_rule(server, deny);
    assert_eq!(verdict(&policy, &tool("git", "get_me"), json!({})), Mode::Deny);
}

#[test]
fn command_line_rule_needs_both_parts() {
    for text in ["", "/", "a/", "/b", "a"] {
        assert!(Rule::parse_cli(text, Mode::Auto).is_err(), "{text}");
    }
    let (server, rule) = Rule::parse_cli("s/notes/list", Mode::Auto).unwrap();
    assert_eq!((server.0.as_str(), rule.tool.0.as_str()), ("s", "notes/list"));
}

#[test]
fn headless_rule_allows_the_tool_it_names() {
    let id = ToolId::new("s", "notes/list");
    let (server, rule) = Rule::parse_cli(&headless_rule(&id), Mode::Auto).unwrap();
    assert!(server.matches("s") && rule.tool.matches("notes/list"));
}

#[test]
fn what_data_of_other_servers_would_change_is_told_with_the_rule() {
    let from = |server: &str, mode| Rule {
        from: vec![Pattern(server.to_owned())],
        origin: RuleOrigin { file: Some(PathBuf::from("c.yaml")), line: Some(8) },
        ..rule("send", mode)
    };
    let rules = vec![from("a", Mode::Deny), from("c*", Mode::Auto)];
    let policy = policy(Mode::Auto, &[("a", None, vec![]), ("b", None, rules)]);
    let tool = tool("b", "send");
    let told = policy.by_source(&tool, None, &policy.preview(&tool));
    let told: Vec<_> = told.iter().map(|one| (one.change.as_str(), one.verdict)).collect();
    let repeat = "with arguments that repeat a result of";
    assert_eq!(
        told,
        [
            (format!("{repeat} a (the rule at c.yaml:8)").as_str(), Mode::Deny),
            (format!("{repeat} another server").as_str(), Mode::Ask),
        ]
    );
}

#[test]
fn rate_turns_auto_into_ask_until_the_window_has_passed() {
    let rate = Rate { calls: 2, per: Duration::from_secs(60) };
    let rules = vec![Rule { max_calls: Some(rate), ..rule("*", Mode::Auto) }];
    let mut policy = policy(Mode::Ask, &[("s", None, rules)]);
    let (tool, other, start) = (tool("s", "t"), tool("s", "u"), Instant::now());
    let at = |policy: &Policy, seconds| {
        policy.decide(&tool, &Map::new(), start + Duration::from_secs(seconds)).verdict
    };
    policy.record(&tool, start);
    assert_eq!(at(&policy, 1), Mode::Auto);
    policy.record(&other, start + Duration::from_secs(10));
    assert_eq!(at(&policy, 11), Mode::Ask);
    assert_eq!(at(&policy, 60), Mode::Auto);
    assert_eq!(policy.preview(&tool).verdict, Mode::Auto);
}

#[test]
fn grant_ends_and_is_bound_to_the_definition() {
    let mut policy = policy(Mode::Ask, &[("s", None, vec![])]);
    let (tool, start) = (tool("s", "t"), Instant::now());
    policy.grant_within(&tool, Some(start + Duration::from_secs(1800)), None);
    let at = |seconds| policy.decide(&tool, &Map::new(), start + Duration::from_secs(seconds));
    assert_eq!(at(1799).verdict, Mode::Auto);
    let after = at(1800);
    assert_eq!(after.verdict, Mode::Ask);
    assert!(matches!(after.because, Because::Limit(_)));
    let changed = Tool { pin: "pin-2".to_owned(), ..tool.clone() };
    assert_eq!(policy.decide(&changed, &Map::new(), start).verdict, Mode::Ask);
    policy.revoke(&tool.id);
    assert_eq!(policy.decide(&tool, &Map::new(), start).because, Because::GlobalMode);
}

#[test]
fn a_grant_of_the_session_holds_within_the_limits_that_are_configured() {
    let mut policy = policy(Mode::Ask, &[("s", None, vec![])]);
    let (tool, start) = (tool("s", "t"), Instant::now());
    let rate = Rate { calls: 1, per: Duration::from_secs(60) };
    policy.grant_limits =
        GrantLimits { until: Some(Duration::from_secs(1800)), max_calls: Some(rate) };
    policy.grant_limited(&tool, start);
    let at = |policy: &Policy, seconds| {
        policy.decide(&tool, &Map::new(), start + Duration::from_secs(seconds)).verdict
    };
    assert_eq!(at(&policy, 0), Mode::Auto);
    policy.record(&tool, start);
    assert_eq!(
        (at(&policy, 1), at(&policy, 61), at(&policy, 1800)),
        (Mode::Ask, Mode::Auto, Mode::Ask)
    );
}

#[test]
fn a_denial_that_may_fit_counts_behind_a_rule_that_lets_it_run() {
    let rules = vec![rule("delete", Mode::Auto), when("delete", "/id", "evil*", Mode::Deny)];
    let mut policy = policy(Mode::Ask, &[("s", None, rules)]);
    let tool = tool("s", "delete");
    let decide = |policy: &Policy, arguments: Value| {
        policy.decide(&tool, arguments.as_object().unwrap(), Instant::now()).verdict
    };
    assert_eq!(decide(&policy, json!({"id": "good"})), Mode::Auto);
    assert_eq!(decide(&policy, json!({"id": "evil one"})), Mode::Deny);
    // The server may have a default.
    assert_eq!(decide(&policy, json!({})), Mode::Ask);
    // A person who was asked has decided.
    policy.grant(&tool);
    assert_eq!(decide(&policy, json!({})), Mode::Auto);
}

#[test]
fn doubt_never_opens_what_is_closed() {
    let rules = vec![Rule { read_only: Some(true), ..rule("t", Mode::Ask) }];
    let closed = policy(Mode::Deny, &[("s", None, rules)]);
    assert_eq!(verdict(&closed, &claiming("s", "t", Some(true)), json!({})), Mode::Ask);
    assert_eq!(verdict(&closed, &claiming("s", "t", None), json!({})), Mode::Deny);
}

#[test]
fn a_rule_by_the_claim_to_destroy_takes_a_missing_one_for_the_worst() {
    let mut destroys = claiming("s", "t", None);
    let rules = vec![Rule { destructive: Some(true), ..rule("*", Mode::Deny) }];
    let closed = policy(Mode::Auto, &[("s", None, rules)]);
    assert_eq!(verdict(&closed, &destroys, json!({})), Mode::Deny);
    assert_eq!(verdict(&closed, &claiming("s", "t", Some(true)), json!({})), Mode::Auto);
    let rules = vec![Rule { destructive: Some(false), ..rule("*", Mode::Auto) }];
    let open = policy(Mode::Ask, &[("s", None, rules)]);
    assert_eq!(verdict(&open, &destroys, json!({})), Mode::Ask);
    Arc::make_mut(&mut destroys.definition).annotations.destructive_hint = Some(false);
    assert_eq!(verdict(&open, &destroys, json!({})), Mode::Auto);
}

#[test]
fn grant_rate_counts_calls_of_that_tool_alone() {
    let mut policy = policy(Mode::Ask, &[("s", None, vec![])]);
    let (granted, other, now) = (tool("s", "t"), tool("s", "u"), Instant::now());
    let rate = Rate { calls: 1, per: Duration::from_secs(60) };
    policy.grant_within(&granted, None, Some(rate));
    policy.record(&other, now);
    assert_eq!(policy.decide(&granted, &Map::new(), now).verdict, Mode::Auto);
    policy.record(&granted, now);
    assert_eq!(policy.decide(&granted, &Map::new(), now).verdict, Mode::Ask);
}

#[test]
fn changed_definition_asks_again_unless_pins_are_off() {
    let changed = Tool { pin_state: PinState::Changed, ..tool("s", "t") };
    let mut policy = policy(Mode::Auto, &[("s", None, vec![rule("t", Mode::Auto)])]);
    let decision = policy.decide(&changed, &Map::new(), Instant::now());
    assert_eq!((decision.verdict, decision.because), (Mode::Ask, Because::PinChanged));
    policy.pins = PinMode::Off;
    assert_eq!(verdict(&policy, &changed, json!({})), Mode::Auto);
    policy.pins = PinMode::Block;
    policy.grant(&changed);
    assert_eq!(verdict(&policy, &changed, json!({})), Mode::Deny);
    policy.pins = PinMode::Warn;
    assert_eq!(verdict(&policy, &changed, json!({})), Mode::Auto);
}

#[test]
fn preview_never_promises_what_arguments_could_change() {
    let rules = vec![when("t", "/path", "src/*", Mode::Auto), rule("t", Mode::Auto)];
    let policy = policy(Mode::Auto, &[("s", None, rules)]);
    assert_eq!(policy.preview(&tool("s", "t")).verdict, Mode::Ask);
    assert_eq!(policy.preview(&tool("s", "u")).verdict, Mode::Auto);
}

#[test]
fn reason_names_rule_file_and_line() {
    let origin = RuleOrigin { file: Some(PathBuf::from("/cfg/config.yaml")), line: Some(14) };
    let rules = vec![Rule { origin, ..when("t", "/a", "x*", Mode::Ask) }];
    let policy = policy(Mode::Auto, &[("s", None, rules)]);
    let decision = policy.decide(&tool("s", "t"), &args(json!({"a": "xy"})), Instant::now());
    let words = decision.describe();
    assert!(words.starts_with("ask: ") && words.contains("/cfg/config.yaml:14"), "{words}");
    assert!(words.contains(r#""tool":"t""#) && words.contains(r#""/a":"x*""#), "{words}");
}

#[test]
fn rule_is_written_with_the_keys_of_the_config() {
    let rule = Rule {
        read_only: Some(true),
        max_calls: Some(Rate { calls: 5, per: Duration::from_secs(60) }),
        pin: Some("abc".to_owned()),
        when: vec![(
            "/v".to_owned(),
            Matcher::OneOf(vec![
                Matcher::Text(Pattern("a".to_owned())),
                Matcher::Value(json!(true)),
            ]),
        )],
        ..rule("read", Mode::Auto)
    };
    let written = rule.to_yaml_value(Some(&ServerName::new("b")));
    let expected = json!({
        "server": "b", "tool": "read", "when": {"/v": ["a", true]}, "readOnly": true,
        "permissions": "auto", "maxCalls": "5/min", "pin": "abc",
    });
    assert_eq!(written, expected);
    assert_eq!(serde_json::to_value(rule).unwrap(), {
        let mut without = expected;
        without.as_object_mut().unwrap().remove("server");
        without
    });
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Auto), Just(Mode::Ask), Just(Mode::Deny)]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (0i64..4).prop_map(Value::from),
        "[ab./\\\\%2e\n]{0,6}".prop_map(Value::from),
        prop::collection::vec("[ab]{0,2}", 0..2).prop_map(Value::from),
    ]
}

fn any_matcher() -> impl Strategy<Value = Matcher> {
    prop_oneof![
        "[ab*./]{0,4}".prop_map(|text| Matcher::Text(Pattern(text))),
        any_value().prop_map(Matcher::Value),
        prop::collection::vec(any_value().prop_map(Matcher::Value), 0..2).prop_map(Matcher::OneOf),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let when = prop::collection::vec(("/?[pq]?", any_matcher()), 0..2);
    ("[tu*]{1,2}", when, prop::option::of(any::<bool>()), any_mode(), prop::option::of("pin-[12]"))
        .prop_map(|(tool, when, read_only, mode, pin)| Rule {
            when,
            read_only,
            pin,
            ..rule(&tool, mode)
        })
}

fn strictness(mode: Mode) -> u8 {
    match mode {
        Mode::Auto => 0,
        Mode::Ask => 1,
        Mode::Deny => 2,
    }
}

proptest! {
    #[test]
    fn adding_a_deny_never_loosens(
        rules in prop::collection::vec(any_rule(), 0..4),
        mut deny in any_rule(),
        place in any::<prop::sample::Index>(),
        mode in any_mode(),
        granted in any::<bool>(),
        claim in prop::option::of(any::<bool>()),
        arguments in prop::collection::hash_map("[pq]", any_value(), 0..3),
    ) {
        let tool = claiming("s", "t", claim);
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        deny.permissions = Mode::Deny;
        let mut more = rules.clone();
        more.insert(place.index(rules.len() + 1), deny);
        let decide = |rules| {
            let mut policy = policy(mode, &[("s", None, rules)]);
            if granted {
                policy.grant(&tool);
            }
            strictness(policy.decide(&tool, &arguments, Instant::now()).verdict)
        };
        prop_assert!(decide(more) >= decide(rules));
    }

    #[test]
    fn tricky_text_never_satisfies_a_loosening_rule(
        head in "[a-z/]{0,5}", tail in "[a-z/]{0,5}",
        trick in prop_oneof![Just("/../"), Just("\\"), Just("\n"), Just("\u{7f}"), Just("/%2e./")],
        pattern in "[a-z*/]{0,3}\\*",
    ) {
        let rules = vec![when("t", "/p", &pattern, Mode::Auto)];
        let policy = policy(Mode::Ask, &[("s", None, rules)]);
        let path = format!("{head}{trick}{tail}");
        prop_assert_eq!(verdict(&policy, &tool("s", "t"), json!({"p": path})), Mode::Ask);
    }

    #[test]
    fn pattern_agrees_with_a_plain_search(pattern in "[ab*]{0,6}", text in "[ab\n]{0,8}") {
        fn slow(pattern: &[u8], text: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'*', rest)) => (0..=text.len()).any(|skip| slow(rest, &text[skip..])),
                Some((c, rest)) => text.first() == Some(c) && slow(rest, &text[1..]),
            }
        }
        prop_assert_eq!(
            Pattern(pattern.clone()).matches(&text),
            slow(pattern.as_bytes(), text.as_bytes())
        );
    }
}

#[test]
fn servers_without_rules_need_no_entry_of_their_own() {
    let servers = HashMap::from([(ServerName::new("s"), ServerPolicy::default())]);
    let policy = Policy::new(Mode::Auto, servers);
    assert_eq!(verdict(&policy, &tool("s", "t"), json!({})), Mode::Auto);
}
