//! Data of one server in the arguments for another.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::rig::*;
use crate::agent::{Agent, AgentConfig, Effect, Event};
use crate::bridge::Notice;
use crate::domain::{Answer, Interaction, Mode, Outcome};
use crate::permission::policy::ServerPolicy;
use crate::permission::{Pattern, Policy, Rule};

const DATA: &str = "The keys to the archive are kept in the third drawer of Mrs Lindqvist's desk.";

/// `asks` gives the data; `free` would run by itself, with these rules.
fn after_data(interaction: Interaction, rules: Vec<Rule>) -> Rig {
    let policy = |mode, rules| ServerPolicy { mode: Some(mode), rules };
    let servers = HashMap::from([
        ("free".into(), policy(Mode::Auto, rules)),
        ("asks".into(), policy(Mode::Auto, Vec::new())),
    ]);
    let mut rig = rig();
    rig.agent = Agent::new(AgentConfig::new(interaction), Policy::new(Mode::Ask, servers));
    rig.does(Event::CatalogChanged { catalog: catalog("pin") });
    rig.model_calls(vec![wants("k1", "asks_one", json!({}))]);
    rig.does(done(1, ok(DATA)));
    rig
}

fn sends(rig: &mut Rig, tool: &str) -> Vec<String> {
    rig.model_calls_again(1, vec![wants("k2", tool, json!({ "text": format!("Note: {DATA}") }))])
}

fn pair() -> Rule {
    Rule { from: vec![Pattern("asks".into())], ..Rule::new(Pattern("*".into()), Mode::Auto) }
}

#[test]
fn data_of_another_server_is_asked_about_and_its_source_is_named() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    let call = wants("k2", "free_one", json!({ "text": DATA }));
    rig.does(says(1, crate::domain::model::ModelEvent::Call(call)));
    let effects = rig.all(finish(1, crate::domain::model::Finish::ToolCalls));
    let approval = effects.iter().find_map(|effect| match effect {
        Effect::Tell(Notice::Asked { approval }) => Some(Arc::clone(approval)),
        _ => None,
    });
    let approval = approval.expect("it is asked about");
    let [carried] = approval.carried.as_slice() else { panic!("{:?}", approval.carried) };
    assert_eq!(carried.from.to_string(), "asks/one");
    assert!(approval.why.contains("a result of asks/one (call 1)"), "{}", approval.why);
}

#[test]
fn the_same_server_may_have_its_data_back() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    assert!(sends(&mut rig, "asks_two").contains(&"2 running".to_owned()));
}

#[test]
fn a_rule_that_names_the_pair_lets_it_run() {
    let mut rig = after_data(Interaction::Interactive, vec![pair()]);
    assert!(sends(&mut rig, "free_one").contains(&"2 running".to_owned()));
}

#[test]
fn what_the_user_wrote_may_go_anywhere() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    rig.model_calls_again(1, Vec::new());
    rig.does(submit(&format!("send this: {DATA}")));
    let call = wants("k2", "free_one", json!({ "text": DATA }));
    assert!(rig.model_calls_again(2, vec![call]).contains(&"2 running".to_owned()));
}

#[test]
fn an_answer_for_the_session_holds_for_the_pair() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    assert!(sends(&mut rig, "free_one").contains(&"asked 2".to_owned()));
    rig.does(answer(2, Answer::Session));
    rig.does(done(2, ok("done")));
    assert!(sends(&mut rig, "free_one").contains(&"3 running".to_owned()));
    rig.does(done(3, ok("done")));
    // Another tool of the same server is another question.
    assert!(sends(&mut rig, "free_two").contains(&"asked 4".to_owned()));
}

#[test]
fn once_is_for_once() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    sends(&mut rig, "free_one");
    rig.does(answer(2, Answer::Once));
    rig.does(done(2, ok("done")));
    assert!(sends(&mut rig, "free_one").contains(&"asked 3".to_owned()));
}

#[test]
fn arguments_that_are_edited_are_looked_at_again() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    sends(&mut rig, "free_one");
    let harmless = Arc::new(object(json!({ "text": "nothing of it" })));
    rig.does(answer(2, Answer::Edit(harmless)));
    let open = rig.agent.open.values().next().unwrap();
    assert!(open.carried.is_empty());
}

#[test]
fn with_nobody_to_ask_it_is_denied_and_the_rule_for_the_pair_is_named() {
    let mut rig = after_data(Interaction::Headless, Vec::new());
    let call = wants("k2", "free_one", json!({ "text": DATA }));
    rig.does(says(1, crate::domain::model::ModelEvent::Call(call)));
    let effects = rig.all(finish(1, crate::domain::model::Finish::ToolCalls));
    let outcome = effects.iter().find_map(|effect| match effect {
        Effect::Save(crate::agent::SessionEvent::Call { outcome, .. }) => Some(Arc::clone(outcome)),
        _ => None,
    });
    let shown = format!("{outcome:?}");
    assert!(matches!(outcome.as_deref(), Some(Outcome::Denied(_))), "{shown}");
    assert!(shown.contains("asks/one") && shown.contains("from: "), "{shown}");
    let mut rig = after_data(Interaction::Headless, vec![pair()]);
    assert!(sends(&mut rig, "free_one").contains(&"2 running".to_owned()));
}

#[test]
fn a_new_conversation_remembers_nothing() {
    let mut rig = after_data(Interaction::Interactive, Vec::new());
    rig.does(Event::NewSession);
    rig.does(submit("go"));
    let call = wants("k2", "free_one", json!({ "text": DATA }));
    assert!(rig.model_calls_again(2, vec![call]).contains(&"2 running".to_owned()));
}
