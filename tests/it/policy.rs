//! What holds of permissions whatever is configured, claimed and asked for.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mini_me_tui::config::{self, McpConfig, PinMode, ServerConfig, remembered};
use mini_me_tui::domain::{Annotations, Mode, PinState, ServerName, Tool, ToolDefinition, ToolId};
use mini_me_tui::permission::{
    Because, Listing, Matcher, Pattern, Policy, Rate, Rule, ServerPolicy,
};
use mini_me_tui::pin::Board;
use mini_me_tui::runtime::assemble::{self, Input, Listed};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn definition(name: &str, annotations: Annotations) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {
        "owner": {"type": "string"}, "path": {}, "count": {"type": "integer"},
        "filter": {"type": "object", "properties": {"state": {"type": "string"}}},
    }});
    ToolDefinition {
        name: name.into(),
        title: None,
        description: String::new(),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations,
        raw: Arc::new(Value::Null),
    }
}

fn tool(name: &str, annotations: Annotations, pin_state: PinState) -> Tool {
    Tool {
        id: ToolId::new("s", name),
        model_name: name.into(),
        definition: Arc::new(definition(name, annotations)),
        pin: "pin-1".to_owned(),
        pin_state,
        changes: Vec::new(),
        permission: Mode::Ask,
        disabled: false,
        tokens: 0,
    }
}

const NAMES: [&str; 3] = ["create_issue", "delete_branch", "list_reports"];

fn policy(world: &World, rules: Vec<Rule>) -> Policy {
    let server = ServerPolicy { mode: world.server, rules };
    let mut policy = Policy::new(world.global, HashMap::from([(ServerName::new("s"), server)]));
    policy.pins = world.pins;
    for (servers, rule) in &world.wide {
        policy.add_global_rule(Pattern(servers.clone()), rule.clone());
    }
    policy.learn(listing());
    if world.granted {
        policy.grant(&world.tool);
    }
    policy
}

fn listing() -> [Listing; 1] {
    let schema = || Some(Arc::clone(&definition("x", Annotations::default()).input_schema));
    let tools = NAMES.iter().map(|name| ((*name).into(), schema())).collect();
    [Listing { server: "s".into(), tools }]
}

/// Everything but the server's rules.
#[derive(Debug, Clone)]
struct World {
    tool: Tool,
    arguments: Map<String, Value>,
    global: Mode,
    server: Option<Mode>,
    pins: PinMode,
    wide: Vec<(String, Rule)>,
    granted: bool,
}

impl World {
    fn decide(&self, rules: Vec<Rule>) -> Mode {
        policy(self, rules).decide(&self.tool, &self.arguments, Instant::now()).verdict
    }
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Auto), Just(Mode::Ask), Just(Mode::Deny)]
}

fn any_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_i64..4).prop_map(Value::from),
        "(my-org|src/a|src/\\.\\./x|src\\\\x|[a-z./%2e\n]{0,5})".prop_map(Value::from),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any_scalar(),
        1 => prop::collection::vec(any_scalar(), 0..3).prop_map(Value::from),
        1 => any_scalar().prop_map(|inner| json!({"state": inner})),
    ]
}

fn any_matcher() -> impl Strategy<Value = Matcher> {
    let one = prop_oneof![
        "(my-org|src/\\*|\\*|[a-z*./]{0,4})".prop_map(|text| Matcher::Text(Pattern(text))),
        any_scalar().prop_map(Matcher::Value),
    ];
    let one = one.boxed();
    prop_oneof![
        3 => one.clone(),
        1 => prop::collection::vec(one, 1..3).prop_map(Matcher::OneOf),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let pointer = prop_oneof![
        Just("/owner"),
        Just("/ownr"),
        Just("/path"),
        Just("/count"),
        Just("/filter/state"),
        Just("/filtr/state"),
        Just("/else"),
        Just("no"),
    ];
    let when = prop::collection::vec((pointer.prop_map(str::to_owned), any_matcher()), 0..2);
    let tool = prop_oneof![
        Just("*"),
        Just("create_issue"),
        Just("create_isue"),
        Just("delete_*"),
        Just("delte_*"),
        Just("list_reports"),
        Just("other"),
    ];
    let claim = || prop::option::of(any::<bool>());
    let limits = (prop::option::of("pin-[12]"), prop::option::of(1_u32..3));
    (tool, when, claim(), claim(), any_mode(), limits).prop_map(
        |(tool, when, read_only, destructive, mode, (pin, calls))| Rule {
            when,
            read_only,
            destructive,
            pin,
            max_calls: calls.map(|calls| Rate { calls, per: Duration::from_secs(60) }),
            ..Rule::new(Pattern(tool.to_owned()), mode)
        },
    )
}

fn any_annotations() -> impl Strategy<Value = Annotations> {
    let claim = || prop::option::of(any::<bool>());
    (claim(), claim(), claim()).prop_map(|(read_only_hint, destructive_hint, open_world_hint)| {
        Annotations { read_only_hint, destructive_hint, open_world_hint, idempotent_hint: None }
    })
}

prop_compose! {
    fn any_world()(
        name in prop::sample::select(NAMES.to_vec()),
        annotations in any_annotations(),
        pin_state in prop_oneof![Just(PinState::Known), Just(PinState::New), Just(PinState::Changed)],
        arguments in prop::collection::btree_map(
            prop_oneof![Just("owner"), Just("path"), Just("count"), Just("filter"), Just("ownr")],
            any_value(), 0..4,
        ),
        global in any_mode(),
        server in prop::option::of(any_mode()),
        pins in prop_oneof![Just(PinMode::Warn), Just(PinMode::Block), Just(PinMode::Off)],
        wide in prop::collection::vec((prop_oneof![Just("*"), Just("s"), Just("t")], any_rule()), 0..2),
        granted in prop::bool::weighted(0.3),
    ) -> World {
        let arguments = arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let wide = wide.into_iter().map(|(servers, rule)| (servers.to_owned(), rule)).collect();
        let tool = tool(name, annotations, pin_state);
        World { tool, arguments, global, server, pins, wide, granted }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_denial_that_is_added_never_loosens(
        world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..5),
        denial in any_rule(),
        place in any::<prop::sample::Index>(),
        for_all_servers in any::<bool>(),
    ) {
        let denial = Rule { permissions: Mode::Deny, ..denial };
        let before = world.decide(rules.clone());
        let after = if for_all_servers {
            let mut world = world;
            world.wide.insert(place.index(world.wide.len() + 1), ("*".to_owned(), denial));
            world.decide(rules)
        } else {
            let mut more = rules.clone();
            more.insert(place.index(rules.len() + 1), denial);
            world.decide(more)
        };
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn a_denial_that_fits_denies_whatever_else_there_is(
        world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..5),
        place in any::<prop::sample::Index>(),
        pattern in prop_oneof![Just("*"), Just("named")],
    ) {
        let name = if pattern == "*" { "*" } else { world.tool.id.tool.as_str() };
        let denial = Rule::new(Pattern(name.to_owned()), Mode::Deny);
        let mut more = rules;
        let place = place.index(more.len() + 1);
        more.insert(place, denial);
        prop_assert_eq!(world.decide(more), Mode::Deny);
    }

    /// What a server no longer says of itself never opens anything. A claim that contradicts another
    /// one is no claim: of those both go.
    #[test]
    fn a_claim_that_is_taken_away_never_loosens(
        world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..5),
        which in 0_u8..4,
    ) {
        let said = world.tool.definition.annotations;
        let contradictory = said.read_only_hint == Some(true) && said.destructive_hint == Some(true);
        let left = match which {
            0 if !contradictory => Annotations { read_only_hint: None, ..said },
            1 if !contradictory => Annotations { destructive_hint: None, ..said },
            2 => Annotations { open_world_hint: None, ..said },
            _ => Annotations::default(),
        };
        let mut quiet = world.clone();
        quiet.tool = tool(world.tool.id.tool.as_str(), left, world.tool.pin_state);
        let (before, after) = (world.decide(rules.clone()), quiet.decide(rules));
        prop_assert!(after >= before, "{said:?} to {left:?}: {before:?} became {after:?}");
    }

    /// A condition that loosens never holds of an argument that is absent or of another kind.
    #[test]
    fn arguments_of_an_unknown_shape_never_loosen(
        mut world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..5),
        odd in prop_oneof![
            Just(None), Just(Some(Value::Null)), Just(Some(json!({"a": "my-org"}))),
            Just(Some(json!(["my-org"]))), Just(Some(json!(1.5))),
        ],
    ) {
        let text_only = |rule: &Rule| rule.when.iter().all(|(_, matcher)| matches!(matcher, Matcher::Text(_)));
        let rules: Vec<Rule> = rules.into_iter().filter(text_only).collect();
        world.wide.retain(|(_, rule)| text_only(rule));
        for name in ["owner", "path", "count", "filter", "ownr"] {
            match &odd {
                Some(odd) => drop(world.arguments.insert(name.to_owned(), odd.clone())),
                None => drop(world.arguments.remove(name)),
            }
        }
        // `/filter/state` may be reached in an odd object all the same, but not with these members.
        let conditional = |rule: &Rule| rule.permissions == Mode::Auto && !rule.when.is_empty();
        let with = world.decide(rules.clone());
        world.wide.retain(|(_, rule)| !conditional(rule));
        let without = world.decide(rules.into_iter().filter(|rule| !conditional(rule)).collect());
        prop_assert!(with >= without, "{without:?} became {with:?}");
    }

    #[test]
    fn a_grant_never_outlives_a_changed_definition(
        mut world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..5),
    ) {
        world.granted = false;
        world.tool.pin_state = PinState::Changed;
        let mut policy = policy(&world, rules.clone());
        let before = policy.decide(&world.tool, &world.arguments, Instant::now()).verdict;
        policy.grant(&Tool { pin: "another".to_owned(), ..world.tool.clone() });
        let after = policy.decide(&world.tool, &world.arguments, Instant::now()).verdict;
        prop_assert_eq!(after, before);
    }

    /// What is said to change the answer does.
    #[test]
    fn what_would_change_the_answer_is_no_guess(
        world in any_world(),
        rules in prop::collection::vec(any_rule(), 0..4),
    ) {
        let policy = policy(&world, rules);
        let now = Instant::now();
        let verdict = policy.decide(&world.tool, &world.arguments, now).verdict;
        for other in policy.what_if(&world.tool, Some(&world.arguments), now) {
            prop_assert_ne!(other.verdict, verdict, "{}", other.change);
        }
    }
}

/// A config with one of everything that guards, at these modes.
fn config_text(global: Mode, server: Mode, rules: &[String]) -> String {
    let mut text = format!(
        "mcp:\n  permissions: {}\n  pins: block\n  servers:\n    - name: tracker\n      url: http://127.0.0.1/mcp\n      permissions: {}\n      excludeTools: [purge_everything]\n",
        global.word(),
        server.word()
    );
    if !rules.is_empty() {
        text.push_str("      rules:\n");
        for rule in rules {
            text = format!("{text}        - {rule}\n");
        }
    }
    text
}

/// A rule as it is written; conditions are on parameters that the tools have.
fn written_rule() -> impl Strategy<Value = String> {
    let tool = prop_oneof![
        Just("create_issue"),
        Just("delete_branch"),
        Just("list_reports"),
        Just("delete_*"),
        Just("\"*\""),
        Just("\"*_issue\""),
    ];
    let when = prop_oneof![
        3 => Just(String::new()),
        2 => Just("when: { /owner: my-org }, ".to_owned()),
        1 => Just("when: { /path: \"src/*\", /owner: [my-org, other] }, ".to_owned()),
        1 => Just("when: { /filter/state: open }, ".to_owned()),
    ];
    let claim = prop_oneof![
        3 => Just(""), 1 => Just("readOnly: true, "), 1 => Just("readOnly: false, "),
        1 => Just("destructive: true, "), 1 => Just("destructive: false, "),
    ];
    let limit =
        prop_oneof![3 => Just(""), 1 => Just(", maxCalls: 5/min"), 1 => Just(", pin: abcdef")];
    (tool, when, claim, any_mode(), limit).prop_map(|(tool, when, claim, mode, limit)| {
        format!("{{ tool: {tool}, {when}{claim}permissions: {}{limit} }}", mode.word())
    })
}

/// The letters that may be misspelt: not the texts that conditions compare with, which nobody else
/// knows, and not the address and the name of the server, which guard nothing.
fn letters(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut letters = Vec::new();
    let free = ["my-org", "other", "src/", "open", "http://127.0.0.1/mcp", "tracker", "abcdef"];
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(word) = free.iter().find(|word| rest.starts_with(*word)) {
            at += word.len();
            continue;
        }
        let c = rest.chars().next().unwrap();
        if c.is_ascii_alphabetic() {
            letters.push(at);
        }
        at += c.len_utf8();
    }
    letters
}

fn misspelt(text: &str, place: prop::sample::Index, letter: char) -> String {
    let places = letters(text);
    let at = places[place.index(places.len())];
    let mut text = text.to_owned();
    text.replace_range(at..=at, &letter.to_string());
    text
}

const LISTED: [&str; 4] = ["create_issue", "delete_branch", "list_reports", "purge_everything"];

/// By tool and number of the arguments.
type Verdicts = BTreeMap<(String, usize), Mode>;

/// What is decided about each tool with each of some arguments; a tool that is not there is denied.
fn verdicts(mcp: &McpConfig, remembered: &[(ServerName, Rule)]) -> Verdicts {
    let reads = Annotations { read_only_hint: Some(true), ..Annotations::default() };
    let listed: Vec<Listed> = LISTED
        .iter()
        .map(|name| {
            let claims = if name.starts_with("list") { reads } else { Annotations::default() };
            Listed::new(definition(name, claims))
        })
        .collect();
    let inputs: Vec<Input<'_>> = mcp
        .servers
        .iter()
        .filter(|server| server.disabled.is_none())
        .map(|config: &ServerConfig| Input {
            config,
            listed: Some(&listed),
            dropped: &[],
            disabled: &[],
        })
        .collect();
    let mut policy = assemble::policy(mcp, remembered, &[]);
    let tools = LISTED.iter().zip(&listed);
    let schemas = tools
        .map(|(name, listed)| ((*name).into(), Some(Arc::clone(&listed.definition.input_schema))));
    let schemas: Vec<_> = schemas.collect();
    policy.learn(
        inputs
            .iter()
            .map(|input| Listing { server: input.config.name.clone(), tools: schemas.clone() }),
    );
    let assembled = assemble::assemble(&inputs, &policy, &Board::default());
    let arguments = [
        json!({}),
        json!({"owner": "my-org"}),
        json!({"owner": "evil", "path": "src/a"}),
        json!({"owner": "my-org", "path": "src/a", "filter": {"state": "open"}}),
        json!({"path": "src/../x", "filter": {"state": ["open"]}}),
    ];
    let mut found = BTreeMap::new();
    for name in LISTED {
        for (at, arguments) in arguments.iter().enumerate() {
            let offered = assembled.iter().flat_map(|made| &made.tools);
            let tool = offered.into_iter().find(|tool| tool.id.tool.as_str() == name);
            let verdict = tool.map_or(Mode::Deny, |tool| {
                policy.decide(tool, arguments.as_object().unwrap(), Instant::now()).verdict
            });
            found.insert((name.to_owned(), at), verdict);
        }
    }
    found
}

fn of_config(text: &str) -> Option<(Verdicts, PinMode)> {
    let loaded = config::decode(text, Path::new("config.yaml"), &|_| None).ok()?;
    let mcp = loaded.config.mcp;
    Some((verdicts(&mcp, &[]), mcp.pins))
}

fn pin_strictness(mode: PinMode) -> u8 {
    match mode {
        PinMode::Off => 0,
        PinMode::Warn => 1,
        PinMode::Block => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn a_letter_that_is_wrong_in_the_config_never_loosens(
        global in any_mode(),
        server in any_mode(),
        rules in prop::collection::vec(written_rule(), 0..4),
        place in any::<prop::sample::Index>(),
        letter in proptest::char::range('a', 'z'),
    ) {
        let right = config_text(global, server, &rules);
        let wrong = misspelt(&right, place, letter);
        let (before, pins) = of_config(&right).unwrap();
        // A file that cannot be read stops the program.
        if let Some((after, pins_after)) = of_config(&wrong) {
            for (call, verdict) in &before {
                prop_assert!(after[call] >= *verdict, "{call:?}: {verdict:?} became {:?}\n{wrong}", after[call]);
            }
            let none_run = after.values().all(|verdict| *verdict == Mode::Deny);
            prop_assert!(none_run || pin_strictness(pins_after) >= pin_strictness(pins), "{wrong}");
        }
    }

    #[test]
    fn a_letter_that_is_wrong_in_the_file_of_rules_never_loosens(
        server in any_mode(),
        rules in prop::collection::vec(written_rule(), 1..4),
        place in any::<prop::sample::Index>(),
        letter in proptest::char::range('a', 'z'),
    ) {
        let items = rules.iter().map(|rule| rule.replacen('{', "- { server: tracker,", 1));
        let right = items.collect::<Vec<_>>().join("\n");
        let wrong = misspelt(&right, place, letter);
        let config = config_text(Mode::Ask, server, &[]);
        let loaded = config::decode(&config, Path::new("config.yaml"), &|_| None).unwrap();
        let decide = |text: &str| {
            let (rules, _) = remembered::decode(text, Path::new("rules.yaml"));
            verdicts(&loaded.config.mcp, &rules)
        };
        let (before, after) = (decide(&right), decide(&wrong));
        for (call, verdict) in &before {
            prop_assert!(after[call] >= *verdict, "{call:?}: {verdict:?} became {:?}\n{wrong}", after[call]);
        }
    }
}

#[test]
fn the_two_files_have_one_format() {
    let rule = "{ server: tracker, tool: create_issue, when: { /owner: my-org }, readOnly: false, destructive: true, permissions: ask, maxCalls: 5/min, pin: abcdef }";
    let loaded = config::decode(
        &config_text(Mode::Ask, Mode::Ask, &[rule.to_owned()]),
        Path::new("f"),
        &|_| None,
    )
    .unwrap();
    let (rules, warnings) = remembered::decode(&format!("- {rule}\n"), Path::new("f"));
    assert_eq!(warnings, []);
    let mut of_config = loaded.config.mcp.servers[0].rules[0].clone();
    of_config.origin = rules[0].1.origin.clone();
    assert_eq!(of_config, rules[0].1);
}

#[test]
fn a_limit_that_was_reached_says_when_it_lets_through_again() {
    let limited = Rule {
        max_calls: Some(Rate { calls: 2, per: Duration::from_secs(60) }),
        ..Rule::new(Pattern("*".to_owned()), Mode::Auto)
    };
    let server = ServerPolicy { mode: None, rules: vec![limited] };
    let mut policy = Policy::new(Mode::Ask, HashMap::from([(ServerName::new("s"), server)]));
    let tool = tool("create_issue", Annotations::default(), PinState::Known);
    let (start, arguments) = (Instant::now(), Map::new());
    policy.record(&tool, start);
    policy.record(&tool, start + Duration::from_secs(10));
    let now = start + Duration::from_secs(20);
    assert!(matches!(policy.decide(&tool, &arguments, now).because, Because::Limit(_)));
    let told = policy.what_if(&tool, Some(&arguments), now);
    assert_eq!(
        (told[0].change.as_str(), told[0].verdict),
        ("after 40 s the limit allows it again", Mode::Auto)
    );
}

#[test]
fn explaining_tells_rule_place_and_what_would_change_it() {
    let text = config_text(
        Mode::Ask,
        Mode::Ask,
        &["{ tool: create_issue, when: { /owner: my-org }, permissions: auto }".to_owned()],
    );
    let loaded = config::decode(&text, Path::new("/cfg/config.yaml"), &|_| None).unwrap();
    let policy = assemble::policy(&loaded.config.mcp, &[], &[]);
    let mut tool = tool("create_issue", Annotations::default(), PinState::Known);
    tool.id = ToolId::new("tracker", "create_issue");
    let arguments = json!({"owner": "evil"});
    let told = policy.what_if(&tool, arguments.as_object(), Instant::now());
    let said: Vec<String> =
        told.iter().map(|other| format!("{}: {}", other.change, other.verdict.word())).collect();
    assert_eq!(
        said,
        [
            "with /owner: my-org (the rule at /cfg/config.yaml:10): auto",
            "with a rule `{\"server\":\"tracker\",\"tool\":\"create_issue\",\"permissions\":\"auto\"}` in rules.yaml: auto",
        ]
    );
    let arguments = json!({"owner": "my-org"});
    let told = policy.what_if(&tool, arguments.as_object(), Instant::now());
    assert!(
        told.iter()
            .any(|other| other.change.contains("another /owner") && other.verdict == Mode::Ask),
        "{told:?}"
    );
}
