use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::domain::Annotations;
use crate::pin::fingerprint;

const AT: &str = "https://host.example/mcp";

fn definition(name: &str, description: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        title: None,
        description: description.into(),
        input_schema: Arc::new(json!({"type": "object"})),
        output_schema: None,
        annotations: Annotations::default(),
        raw: Arc::new(Value::Null),
    }
}

fn id(name: &str) -> ToolId {
    ToolId::new("s", name)
}

fn state(board: &Board, definition: &ToolDefinition) -> PinState {
    board.state(AT, &id(definition.name.as_str()), &fingerprint(definition))
}

fn see(board: &mut Board, definition: &ToolDefinition) {
    board.see(AT, &id(definition.name.as_str()), &fingerprint(definition), definition, 7);
}

fn remembered(definition: &ToolDefinition) -> Board {
    let mut pins = Pins::default();
    pins.mark_allowed(AT, &id(definition.name.as_str()), definition);
    Board::new(pins)
}

#[test]
fn what_is_seen_for_the_first_time_is_saved_once_and_stays_new() {
    let mut board = remembered(&definition("t", "a"));
    let other = definition("other", "b");
    see(&mut board, &other);
    let saved = board.take_changes().unwrap();
    assert_eq!(saved.get(AT, &id("other")).unwrap().first_seen, Some(7));
    see(&mut board, &other);
    assert!(board.take_changes().is_none());
    assert_eq!(state(&board, &other), PinState::New);
}

#[test]
fn a_changed_definition_stays_changed_until_it_is_allowed() {
    let mut board = remembered(&definition("t", "a"));
    let changed = definition("t", "b");
    see(&mut board, &changed);
    assert!(board.take_changes().is_none());
    assert_eq!(state(&board, &changed), PinState::Changed);
    assert!(board.allow(AT, &id("t"), &changed));
    assert_eq!(state(&board, &changed), PinState::Known);
    assert!(!board.allow(AT, &id("t"), &changed));
    assert!(board.take_changes().is_some());
}

#[test]
fn accepting_a_definition_says_of_no_call_that_it_was_allowed() {
    let mut board = remembered(&definition("t", "a"));
    let changed = definition("t", "b");
    board.accept(AT, &id("t"), &changed);
    assert_eq!(state(&board, &changed), PinState::Known);
    assert_eq!(state(&board, &definition("t", "a")), PinState::Changed);
    let pin = board.take_changes().unwrap().get(AT, &id("t")).unwrap().clone();
    assert!(pin.accepted && !pin.allowed);
}

#[test]
fn a_definition_that_changes_in_the_run_that_first_saw_it_is_changed() {
    let mut board = Board::default();
    see(&mut board, &definition("t", "sends a report"));
    let changed = definition("t", "sends everything");
    assert_eq!(state(&board, &changed), PinState::Changed);
    let told = board.changes(AT, &id("t"), &changed);
    assert_eq!(&*told[0], "description was “sends a report”, is “sends everything”");
    see(&mut board, &changed);
    assert_eq!(state(&board, &changed), PinState::Changed);
}

#[test]
fn two_tools_that_swapped_names_are_two_changed_tools() {
    let mut board = Board::default();
    see(&mut board, &definition("read", "reads"));
    see(&mut board, &definition("write", "writes"));
    for swapped in [definition("read", "writes"), definition("write", "reads")] {
        assert_eq!(state(&board, &swapped), PinState::Changed);
    }
}

#[test]
fn a_renamed_tool_and_one_that_moved_to_another_server_are_new() {
    let board = remembered(&definition("t", "a"));
    assert_eq!(state(&board, &definition("u", "a")), PinState::New);
    let same = definition("t", "a");
    assert_eq!(board.state("https://other.example/", &id("t"), &fingerprint(&same)), PinState::New);
}

#[test]
fn allowing_one_tool_of_a_new_endpoint_makes_no_news_of_the_others() {
    let mut board = Board::default();
    let tool = definition("t", "a");
    see(&mut board, &tool);
    assert!(board.allow(AT, &id("t"), &tool));
    assert_eq!(state(&board, &tool), PinState::New);
}

#[test]
fn a_tool_that_comes_back_to_a_list_is_no_news() {
    let mut board = Board::default();
    see(&mut board, &definition("a", "x"));
    see(&mut board, &definition("b", "x"));
    board.list(AT, "both", ["a", "b"]);
    board.list(AT, "one", ["a"]);
    let next = Board::new(board.take_changes().unwrap());
    assert_eq!(next.set_change(AT, ["a", "b"]), Some(SetChange::default()));
    assert_eq!(next.set_change(AT, ["a", "c"]).unwrap().added, ["c"]);
}

#[test]
fn what_was_added_to_a_list_and_taken_from_it_is_told() {
    let mut board = Board::default();
    assert_eq!(board.set_change(AT, ["a", "b"]), None);
    board.list(AT, "one", ["a", "b"]);
    let change = board.set_change(AT, ["b", "c"]).unwrap();
    assert_eq!((change.added, change.removed), (vec!["c".to_owned()], vec!["a".to_owned()]));
    board.list(AT, "two", ["b", "c"]);
    // For the whole of this run, and no longer in the next one.
    assert_eq!(board.set_change(AT, ["b", "c"]).unwrap().added, ["c"]);
    let next = Board::new(board.take_changes().unwrap());
    assert_eq!(next.set_change(AT, ["b", "c"]), Some(SetChange::default()));
}

#[test]
fn where_no_list_was_remembered_the_pins_stand_for_it() {
    let board = remembered(&definition("t", "a"));
    assert_eq!(board.set_change(AT, ["t", "u"]).unwrap().added, ["u"]);
}

#[test]
fn very_long_definitions_are_remembered_by_fingerprint_alone() {
    let mut board = Board::default();
    let long = definition("t", &"long ".repeat(10_000));
    see(&mut board, &long);
    assert_eq!(board.get(AT, &id("t")).unwrap().definition, None);
    assert_eq!(state(&board, &definition("t", "short")), PinState::Changed);
    assert!(board.changes(AT, &id("t"), &definition("t", "short")).is_empty());
}
