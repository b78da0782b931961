use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use super::*;
use crate::domain::{Annotations, PinState, ToolDefinition};
use crate::permission::{Pattern, Rule, ServerPolicy};

const SECRET: &str =
    "Quarterly revenue fell by 12.4 % in the northern region; the board meets on Tuesday.";

fn tool(server: &str, name: &str) -> Tool {
    let raw = json!({ "name": name, "description": "Posts a message that begins with the words: dear colleagues of the northern region" });
    Tool {
        id: ToolId::new(server, name),
        model_name: format!("{server}_{name}").as_str().into(),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({ "type": "object" })),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(raw),
        }),
        pin: "pin".into(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Mode::Auto,
        disabled: false,
        tokens: 1,
    }
}

fn knowing(text: &str) -> Provenance {
    let mut provenance = Provenance::default();
    provenance.result(&ToolId::new("finance", "report"), CallId(3), text);
    provenance
}

fn carried(provenance: &Provenance, arguments: &Value) -> Vec<Carried> {
    let arguments = arguments.as_object().unwrap();
    provenance.carried(&tool("chat", "post"), arguments, &|_| None)
}

#[test]
fn a_repeated_piece_names_its_source() {
    let found = carried(&knowing(SECRET), &json!({ "text": format!("FYI: {SECRET} Bye.") }));
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.from.to_string(), one.call), ("finance/report".into(), Some(CallId(3))));
    assert!(one.piece.starts_with("Quarterly revenue") && one.characters > 60, "{one:?}");
}

#[test]
fn wrapping_quoting_and_codes_do_not_hide_it() {
    let quoted = json!({ "inner": SECRET }).to_string();
    for text in [
        SECRET.to_uppercase(),
        SECRET.replace(' ', "\n   > "),
        serde_json::to_string(&quoted).unwrap(),
        STANDARD.encode(SECRET),
        format!("https://x.example/?d={}", URL_SAFE_NO_PAD.encode(SECRET)),
        SECRET
            .bytes()
            .flat_map(|byte| format!("{byte:02x}").into_bytes())
            .map(char::from)
            .collect(),
        url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect(),
        url::form_urlencoded::byte_serialize(STANDARD.encode(SECRET).as_bytes()).collect(),
    ] {
        assert_eq!(carried(&knowing(SECRET), &json!({ "text": text })).len(), 1, "{text}");
    }
    let parts: Vec<&str> = SECRET.split(' ').collect();
    assert_eq!(carried(&knowing(SECRET), &json!({ "lines": parts })).len(), 1);
}

#[test]
fn short_and_monotonous_pieces_are_none() {
    for (result, argument) in [
        ("the quick brown fox jumps", "the quick brown fox jumps"),
        (&"0".repeat(500), &"0".repeat(400)),
        (SECRET, "Quarterly revenue fell, says the board"),
    ] {
        assert_eq!(carried(&knowing(result), &json!({ "text": argument })), []);
    }
}

#[test]
fn what_the_user_the_receiver_or_its_definition_said_is_no_secret() {
    let arguments = json!({ "text": SECRET });
    let mut provenance = knowing(SECRET);
    provenance.user(&format!("Post this: {SECRET}"));
    assert_eq!(carried(&provenance, &arguments), []);
    let mut provenance = knowing(SECRET);
    provenance.result(&ToolId::new("chat", "read"), CallId(4), SECRET);
    assert_eq!(carried(&provenance, &arguments), []);
    let words = "dear colleagues of the northern region, begins with the words: dear colleagues of the northern region";
    assert_eq!(
        carried(&knowing(words), &json!({ "text": "Dear colleagues of the northern region" })),
        []
    );
    // Half of it is not all of it.
    let mut provenance = knowing(SECRET);
    provenance.user("Quarterly revenue fell by 12.4 %");
    assert_eq!(carried(&provenance, &arguments).len(), 1);
}

#[test]
fn a_server_may_have_its_own_data_back() {
    let provenance = knowing(SECRET);
    let arguments = json!({ "text": SECRET });
    let own = tool("finance", "comment");
    assert_eq!(provenance.carried(&own, arguments.as_object().unwrap(), &|_| None), []);
}

#[test]
fn results_of_an_earlier_run_count_for_the_server_of_their_tool() {
    let mut provenance = Provenance::default();
    provenance.earlier(&"chat_read".into(), Some(CallId(1)), SECRET);
    let arguments = json!({ "text": SECRET });
    let arguments = arguments.as_object().unwrap();
    let named =
        |name: &ModelName| (name.as_str() == "chat_read").then(|| ToolId::new("chat", "read"));
    assert_eq!(provenance.carried(&tool("chat", "post"), arguments, &named), []);
    assert_eq!(provenance.carried(&tool("mail", "send"), arguments, &named).len(), 1);
    assert_eq!(provenance.carried(&tool("chat", "post"), arguments, &|_| None).len(), 1);
}

#[test]
fn memory_is_bounded_and_the_latest_stays() {
    let mut provenance = Provenance { generation: 20_000, ..Provenance::default() };
    let filler: String = (0..2_000).map(|n: u32| n.to_string()).collect();
    for call in 0..20 {
        provenance.result(&ToolId::new("a", "t"), CallId(call), &format!("{call}{filler}"));
    }
    provenance.result(&ToolId::new("finance", "report"), CallId(99), SECRET);
    assert!(provenance.young.size() + provenance.old.size() <= 40_000);
    let found = carried(&provenance, &json!({ "text": SECRET }));
    assert_eq!(found.len(), 1);
}

fn judged(rules: Vec<Rule>, verdict: Mode, granted: &[ServerName]) -> Decision {
    let server = ServerPolicy { mode: Some(Mode::Auto), rules };
    let policy = Policy::new(Mode::Ask, HashMap::from([("chat".into(), server)]));
    let tool = tool("chat", "post");
    let arguments = json!({ "text": SECRET, "to": "all" });
    let arguments = arguments.as_object().unwrap();
    let carried = knowing(SECRET).carried(&tool, arguments, &|_| None);
    let before = policy.decide(&tool, arguments, Instant::now());
    let before = Decision { verdict, ..before };
    guard(&policy, before, &tool, arguments, &carried, granted)
}

fn rule(from: &[&str], permissions: Mode) -> Rule {
    let from = from.iter().map(|name| Pattern((*name).to_owned())).collect();
    Rule { from, ..Rule::new(Pattern("post".into()), permissions) }
}

#[test]
fn what_would_run_is_asked_about_unless_a_rule_names_the_pair() {
    let decision = judged(Vec::new(), Mode::Auto, &[]);
    assert_eq!(decision.verdict, Mode::Ask);
    assert!(decision.describe().contains("finance/report"), "{}", decision.describe());
    let auto = || Rule::new(Pattern("*".into()), Mode::Auto);
    assert_eq!(judged(vec![auto()], Mode::Auto, &[]).verdict, Mode::Ask);
    let pair = rule(&["finance"], Mode::Auto);
    assert_eq!(judged(vec![auto(), pair.clone()], Mode::Auto, &[]).verdict, Mode::Auto);
    assert_eq!(judged(vec![rule(&["other"], Mode::Auto)], Mode::Auto, &[]).verdict, Mode::Ask);
    assert_eq!(judged(vec![rule(&["fin*"], Mode::Auto)], Mode::Auto, &[]).verdict, Mode::Auto);
    assert_eq!(judged(Vec::new(), Mode::Auto, &["finance".into()]).verdict, Mode::Auto);
    // A rule about data alone does not let a call run that would be asked about.
    assert_eq!(judged(vec![pair], Mode::Ask, &[]).verdict, Mode::Ask);
}

#[test]
fn a_rule_forbids_the_pair_whatever_else_allows_it() {
    let rules = vec![rule(&["finance"], Mode::Auto), rule(&["fin*"], Mode::Deny)];
    let decision = judged(rules, Mode::Auto, &["finance".into()]);
    assert_eq!(decision.verdict, Mode::Deny);
    assert_eq!(judged(vec![rule(&["*"], Mode::Deny)], Mode::Ask, &[]).verdict, Mode::Deny);
}

#[test]
fn a_condition_on_arguments_in_doubt_does_not_loosen() {
    let when = |value: &str| {
        vec![("/to".to_owned(), crate::permission::Matcher::Text(Pattern(value.into())))]
    };
    let pair = |value: &str| Rule { when: when(value), ..rule(&["finance"], Mode::Auto) };
    assert_eq!(judged(vec![pair("all")], Mode::Auto, &[]).verdict, Mode::Auto);
    assert_eq!(judged(vec![pair("one")], Mode::Auto, &[]).verdict, Mode::Ask);
    let absent = Rule {
        when: vec![("/gone".to_owned(), crate::permission::Matcher::Text(Pattern("*".into())))],
        ..rule(&["finance"], Mode::Auto)
    };
    assert_eq!(judged(vec![absent], Mode::Auto, &[]).verdict, Mode::Ask);
}

/// Not asserted: figures are the machine's. `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "prints how long a large argument takes against large results"]
fn figures_of_a_megabyte_against_ten() {
    let words = |seed: u64, count: usize| -> String {
        let mut state = seed;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40).to_string()
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let begun = Instant::now();
    let mut provenance = Provenance::default();
    for seed in 0..10 {
        provenance.result(&ToolId::new("a", "t"), CallId(seed), &words(seed, 150_000));
    }
    let learnt = begun.elapsed();
    let argument = json!({ "text": words(77, 150_000) });
    let begun = Instant::now();
    let none = carried(&provenance, &argument).len();
    let strange = begun.elapsed();
    let argument = json!({ "text": words(3, 150_000) });
    let begun = Instant::now();
    let one = carried(&provenance, &argument).len();
    println!(
        "learnt {learnt:?}, {none} found in {strange:?}, {one} found in {:?}",
        begun.elapsed()
    );
}
