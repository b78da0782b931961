//! Asking, answers, and what runs because of them.

use std::sync::Arc;

use serde_json::json;

use super::rig::*;
use crate::agent::{Effect, Event};
use crate::bridge::Notice;
use crate::domain::{Answer, Catalog, Message, PinState, ServerState, ToolId};
use crate::permission::Pattern;

const NOTHING: [&str; 0] = [];

fn ask_one(rig: &mut Rig) {
    let effects = rig.model_calls(vec![wants("k1", "asks_one", json!({"a": 1}))]);
    assert_eq!(effects, ["1 asking", "asked 1"]);
}

#[test]
fn a_call_that_needs_asking_is_asked_about_and_run_once_it_is_allowed() {
    let mut rig = rig();
    ask_one(&mut rig);
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: answered", "1 running", "run 1 {\"a\":1}"]);
    assert_eq!(rig.does(done(1, ok("x"))), ["1 ok", "ask model 1"]);
}

#[test]
fn an_approval_shows_where_the_arguments_go_and_why_it_asks() {
    let mut rig = rig();
    rig.does(submit("go"));
    let call = wants("k1", "asks_one", json!({"a": 1}));
    rig.does(says(1, crate::domain::model::ModelEvent::Call(call)));
    let effects = rig.all(finish(1, crate::domain::model::Finish::ToolCalls));
    let approval = effects.iter().find_map(|effect| match effect {
        Effect::Tell(Notice::Asked { approval }) => Some(Arc::clone(approval)),
        _ => None,
    });
    let approval = approval.unwrap();
    assert_eq!(approval.host, "asks.example:443");
    assert_eq!(approval.why, "ask: the server's own mode");
    assert_eq!(*approval.call.arguments, object(json!({"a": 1})));
}

#[test]
fn all_approvals_are_asked_oldest_first_and_answered_in_any_order() {
    let mut rig = rig();
    let calls = vec![
        wants("k1", "asks_one", json!({})),
        wants("k2", "free_one", json!({})),
        wants("k3", "asks_two", json!({})),
    ];
    let effects = rig.model_calls(calls);
    assert_eq!(effects, ["1 asking", "asked 1", "2 running", "run 2 {}", "3 asking", "asked 3"]);
    let effects = rig.does(answer(3, Answer::Once));
    assert_eq!(effects, ["closed 3: answered", "3 running", "run 3 {}"]);
    rig.does(done(3, ok("third")));
    rig.does(done(2, ok("second")));
    let request = rig.request(answer(1, deny("")));
    assert_eq!(roles(&request)[2..], ["error k1", "result k2", "result k3"]);
}

#[test]
fn the_first_answer_wins() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(answer(1, Answer::Once));
    assert_eq!(rig.does(answer(1, deny("no"))), NOTHING);
}

#[test]
fn late_answer_to_a_withdrawn_ask_is_ignored() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(Event::Interrupted);
    assert_eq!(rig.does(answer(1, Answer::Once)), NOTHING);
    assert_eq!(rig.does(answer(99, Answer::Once)), NOTHING);
}

#[test]
fn a_denial_is_told_to_the_model_with_the_note() {
    let mut rig = rig();
    ask_one(&mut rig);
    let request = rig.request(answer(1, deny("use the other project")));
    let Some(Message::Result { text, is_error: true, .. }) = request.messages.last() else {
        panic!("{request:?}")
    };
    assert!(text.contains("not run") && text.contains("use the other project"), "{text}");
}

#[test]
fn a_session_answer_covers_this_tool_and_no_other() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(answer(1, Answer::Session));
    rig.does(done(1, ok("x")));
    let calls = vec![wants("k1", "asks_one", json!({"b": 2})), wants("k2", "asks_two", json!({}))];
    let effects = rig.model_calls_again(1, calls);
    assert_eq!(effects, ["2 running", "run 2 {\"b\":2}", "3 asking", "asked 3"]);
}

#[test]
fn a_session_answer_releases_the_other_questions_about_the_same_tool() {
    let mut rig = rig();
    let calls = vec![
        wants("k1", "asks_one", json!({"n": 1})),
        wants("k2", "asks_one", json!({"n": 2})),
        wants("k3", "asks_two", json!({})),
    ];
    rig.model_calls(calls);
    let effects = rig.does(answer(1, Answer::Session));
    assert_eq!(
        effects,
        [
            "closed 1: answered",
            "1 running",
            "run 1 {\"n\":1}",
            "closed 2: allowed by the answer to another",
            "2 running",
            "run 2 {\"n\":2}",
        ]
    );
}

#[test]
fn a_grant_does_not_cover_a_definition_that_changed() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(answer(1, Answer::Session));
    rig.does(done(1, ok("x")));
    rig.does(Event::CatalogChanged { catalog: catalog("other") });
    let effects = rig.model_calls_again(1, vec![wants("k", "asks_one", json!({}))]);
    assert_eq!(effects, ["2 asking", "asked 2"]);
}

#[test]
fn always_writes_a_rule_for_exactly_this_tool_and_pin() {
    let mut rig = rig();
    ask_one(&mut rig);
    let effects = rig.does(answer(1, Answer::Always));
    assert_eq!(
        effects,
        [
            "closed 1: answered",
            "remember {\"server\":\"asks\",\"tool\":\"one\",\"permissions\":\"auto\",\"pin\":\"pin\"}",
            "1 running",
            "run 1 {\"a\":1}",
        ]
    );
}

#[test]
fn edited_arguments_are_asked_about_again_and_sent_as_shown() {
    let mut rig = rig();
    ask_one(&mut rig);
    let edit = Answer::Edit(Arc::new(object(json!({"a": 2}))));
    assert_eq!(rig.does(answer(1, edit)), ["closed 1: edited", "1 asking", "asked 1"]);
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: answered", "1 running", "run 1 {\"a\":2}"]);
    let told = rig.told(done(1, ok("x")));
    assert!(
        told.contains("The user changed the arguments") && told.contains("{\"a\":2}"),
        "{told}"
    );
}

#[test]
fn edited_arguments_that_do_not_fit_leave_the_question_open() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k1", "asks_picky", json!({"q": "x"}))]);
    let edit = Answer::Edit(Arc::new(object(json!({"q": 1}))));
    assert_eq!(rig.does(answer(1, edit)), ["warned"]);
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: answered", "1 running", "run 1 {\"q\":\"x\"}"]);
}

#[test]
fn a_definition_that_changed_while_the_user_was_asked_is_asked_about_again() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(Event::CatalogChanged { catalog: catalog("other") });
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: changed", "1 asking", "asked 1"]);
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: answered", "1 running", "run 1 {\"a\":1}"]);
}

#[test]
fn a_server_that_went_away_while_the_user_was_asked_gets_nothing() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(Event::CatalogChanged { catalog: catalog_without_asks() });
    let effects = rig.does(answer(1, Answer::Once));
    assert_eq!(effects, ["closed 1: gone", "1 not sent", "ask model 1"]);
}

#[test]
fn what_a_rule_denies_is_not_asked_about() {
    let mut rig = rig();
    let effects = rig.model_calls(vec![wants("k1", "closed_one", json!({}))]);
    assert_eq!(effects, ["1 denied", "ask model 1"]);
}

#[test]
fn without_anybody_to_ask_a_call_is_denied_and_the_rule_named_that_would_allow_it() {
    let mut rig = headless();
    rig.does(submit("go"));
    let call = wants("k1", "asks_one", json!({}));
    rig.does(says(1, crate::domain::model::ModelEvent::Call(call)));
    let told = rig.told(finish(1, crate::domain::model::Finish::ToolCalls));
    assert!(told.contains("asks/one"), "{told}");
}

fn direct(tool: &str, consent: bool) -> Event {
    let tool = ToolId::new(tool, "one");
    Event::CallDirect { tool, arguments: Arc::new(object(json!({}))), consent }
}

#[test]
fn a_direct_call_passes_the_same_door() {
    let mut rig = rig();
    assert_eq!(rig.does(direct("asks", false)), ["1 asking", "asked 1"]);
    assert_eq!(rig.does(direct("asks", true)), ["2 running", "run 2 {}"]);
    assert_eq!(rig.does(direct("closed", true)), ["3 denied"]);
    assert_eq!(rig.does(direct("nowhere", true)), ["4 not sent"]);
    assert_eq!(rig.does(done(2, ok("x"))), ["2 ok"]);
}

#[test]
fn arguments_of_an_unchecked_call_are_sent_as_they_are_and_a_rule_still_denies() {
    let mut rig = rig();
    let arguments = Arc::new(object(json!({"q": null})));
    let unchecked = |server: &str| Event::CallUnchecked {
        tool: ToolId::new(server, "picky"),
        arguments: Arc::clone(&arguments),
    };
    let checked = Event::CallDirect {
        tool: ToolId::new("asks", "picky"),
        arguments: Arc::clone(&arguments),
        consent: true,
    };
    assert_eq!(rig.does(checked), ["1 invalid arguments"]);
    assert_eq!(rig.does(unchecked("asks")), ["2 running", "run 2 {\"q\":null}"]);
    assert_eq!(rig.does(unchecked("closed")), ["3 denied"]);
}

#[test]
fn a_deny_rule_beats_consent_and_grants() {
    let mut rig = rig();
    ask_one(&mut rig);
    rig.does(answer(1, Answer::Session));
    rig.agent.policy.add_global_rule(Pattern("*".into()), deny_rule("*"));
    assert_eq!(rig.does(direct("asks", true)), ["2 denied"]);
}

#[test]
fn every_decision_and_outcome_is_audited() {
    let mut rig = rig();
    ask_one(&mut rig);
    assert_eq!(audits(&rig.all(answer(1, Answer::Once))), ["1 allowed by user: once"]);
    assert_eq!(audits(&rig.all(done(1, ok("x")))), ["1 ok"]);
    let effects = rig.all(direct("closed", true));
    assert_eq!(audits(&effects), ["2 denied by deny: the server's own mode", "2 denied"]);
    let effects = rig.all(direct("free", false));
    assert_eq!(audits(&effects), ["3 allowed by auto: the server's own mode"]);
}

#[test]
fn without_a_person_a_changed_definition_is_denied_and_no_rule_is_said_to_help() {
    let mut rig = headless();
    let mut tool = tool("asks", "one", "other pin");
    tool.pin_state = PinState::Changed;
    let mut server = server("asks", ServerState::Ready, "pin");
    server.tools = vec![Arc::new(tool)];
    let catalog = Arc::new(Catalog::new(vec![server], Vec::new(), 2));
    rig.does(Event::CatalogChanged { catalog });
    rig.does(submit("go"));
    let call = wants("k", "asks_one", json!({}));
    rig.does(says(1, crate::domain::model::ModelEvent::Call(call)));
    let told = rig.told(finish(1, crate::domain::model::Finish::ToolCalls));
    assert!(told.contains("definition changed") && !told.contains("--allow"), "{told}");
}
