//! Cancelling: in every phase the conversation stays valid.

use serde_json::json;

use super::rig::*;
use crate::agent::Event;
use crate::domain::model::ModelEvent;
use crate::domain::{Outcome, Progress};

const NOTHING: [&str; 0] = [];

#[test]
fn with_nothing_open_there_is_nothing_to_cancel() {
    assert_eq!(rig().does(Event::Interrupted), NOTHING);
}

#[test]
fn while_the_model_answers_its_text_is_kept_as_incomplete() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(text(1, "I thi"));
    rig.does(says(1, ModelEvent::Call(wants("k1", "free_one", json!({})))));
    assert_eq!(rig.does(Event::Interrupted), ["stop model 1", "ended Cancelled"]);
    assert_eq!(rig.does(text(1, "nk")), NOTHING);
    let request = rig.request(submit("next"));
    assert_eq!(roles(&request), ["user go", "assistant I thi[] (incomplete)", "user next"]);
}

#[test]
fn while_the_user_is_asked_the_question_is_closed_and_nothing_runs() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k1", "asks_one", json!({}))]);
    let effects = rig.does(Event::Interrupted);
    assert_eq!(effects, ["closed 1: cancelled", "1 cancelled", "ended Cancelled"]);
    let request = rig.request(submit("next"));
    assert_eq!(roles(&request), ["user go", "assistant [\"k1\"]", "error k1", "user next"]);
}

#[test]
fn running_calls_are_stopped_and_the_turn_ends_once_they_have_reported() {
    let mut rig = rig();
    let calls = vec![
        wants("k1", "free_one", json!({})),
        wants("k2", "asks_one", json!({})),
        wants("k3", "free_two", json!({})),
    ];
    rig.model_calls(calls);
    rig.does(done(1, ok("first")));
    assert_eq!(rig.does(Event::Interrupted), ["closed 2: cancelled", "2 cancelled", "stop 3"]);
    let effects = rig.does(done(3, Outcome::Cancelled { sent: true }));
    assert_eq!(effects, ["3 cancelled", "ended Cancelled"]);
    let request = rig.request(submit("next"));
    assert_eq!(
        roles(&request),
        [
            "user go",
            "assistant [\"k1\", \"k2\", \"k3\"]",
            "result k1",
            "error k2",
            "error k3",
            "user next"
        ]
    );
}

#[test]
fn an_outcome_that_was_faster_than_the_cancelling_is_kept() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k1", "free_one", json!({}))]);
    rig.does(Event::Interrupted);
    assert_eq!(rig.does(done(1, ok("made it"))), ["1 ok", "ended Cancelled"]);
}

#[test]
fn a_second_interrupt_does_not_wait_and_late_outcomes_are_ignored() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k1", "free_one", json!({}))]);
    assert_eq!(rig.does(Event::Interrupted), ["stop 1"]);
    assert_eq!(rig.does(Event::Interrupted), ["1 cancelled", "ended Cancelled"]);
    assert_eq!(rig.does(done(1, ok("late"))), NOTHING);
    let late = Event::Progressed { call: crate::domain::CallId(1), progress: Progress::default() };
    assert_eq!(rig.does(late), NOTHING);
    let request = rig.request(submit("next"));
    assert_eq!(roles(&request), ["user go", "assistant [\"k1\"]", "error k1", "user next"]);
}

#[test]
fn a_question_is_closed() {
    let mut rig = rig();
    rig.does(submit("go"));
    for _ in 0..3 {
        rig.model_calls_again(1, vec![wants("k", "nope", json!({}))]);
    }
    assert_eq!(rig.does(Event::Interrupted), ["question 1 closed", "ended Cancelled"]);
    assert_eq!(rig.does(decide(1, true)), NOTHING);
}

#[test]
fn a_direct_call_is_stopped_too() {
    let mut rig = rig();
    rig.does(Event::CallDirect {
        tool: crate::domain::ToolId::new("free", "one"),
        arguments: std::sync::Arc::default(),
        consent: true,
    });
    assert_eq!(rig.does(Event::Interrupted), ["stop 1"]);
    assert_eq!(rig.does(done(1, Outcome::Cancelled { sent: true })), ["1 cancelled"]);
}
