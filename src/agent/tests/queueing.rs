//! Messages that wait for a turn to end.

use super::rig::*;
use crate::agent::Event;
use crate::domain::model::{Finish, ProviderErrorKind};

const NOTHING: [&str; 0] = [];

fn take_back(at: usize, text: &str) -> Event {
    Event::TakenBack { at, text: text.into() }
}

/// A turn goes on and two messages wait.
fn waiting() -> Rig {
    let mut rig = rig();
    rig.does(submit("one"));
    assert_eq!(rig.does(submit("two")), ["queued [\"two\"]"]);
    assert_eq!(rig.does(submit("three")), ["queued [\"two\", \"three\"]"]);
    rig
}

#[test]
fn they_are_sent_in_order_when_a_turn_ends() {
    let mut rig = waiting();
    rig.does(text(1, "x"));
    let effects = rig.does(finish(1, Finish::Stop));
    assert_eq!(effects, ["ended Done", "turn 2 starts: two", "ask model 2", "queued [\"three\"]"]);
    let effects = rig.does(finish(2, Finish::Stop));
    assert_eq!(effects, ["ended Empty", "turn 3 starts: three", "ask model 3", "queued []"]);
}

#[test]
fn one_can_be_taken_back_by_its_place_and_words() {
    let mut rig = waiting();
    assert_eq!(rig.does(take_back(0, "three")), NOTHING);
    assert_eq!(rig.does(take_back(7, "two")), NOTHING);
    assert_eq!(rig.does(take_back(0, "two")), ["queued [\"three\"]", "back [\"two\"]"]);
    assert_eq!(rig.does(take_back(0, "two")), NOTHING);
}

#[test]
fn after_cancelling_they_are_not_sent_and_are_the_users_again() {
    let mut rig = waiting();
    let effects = rig.does(Event::Interrupted);
    let back = "back [\"two\", \"three\"]";
    assert_eq!(effects, ["stop model 1", "ended Cancelled", "queued []", back]);
    assert_eq!(rig.does(submit("four")), ["turn 2 starts: four", "ask model 2"]);
}

#[test]
fn they_are_not_burnt_on_a_model_that_fails() {
    let mut rig = waiting();
    let effects = rig.does(fails(1, ProviderErrorKind::Server));
    let back = "back [\"two\", \"three\"]";
    assert_eq!(effects, ["ended Failed unreachable=false", "queued []", back]);
}

#[test]
fn white_space_alone_does_not_wait() {
    let mut rig = rig();
    rig.does(submit("one"));
    assert_eq!(rig.does(submit("  \n")), NOTHING);
}
