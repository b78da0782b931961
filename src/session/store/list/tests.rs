use super::super::tests::{called, id, said, write};
use super::*;
use crate::session::SessionEvent;

fn one(events: Vec<SessionEvent>) -> Summary {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, events);
    summary(home.path(), &session).unwrap()
}

#[test]
fn a_long_first_message_is_cut_where_the_beginning_of_the_file_ends() {
    for odd in ["x", "ü", "\u{1f600}", "\"\\", "\u{7}"] {
        let found = one(vec![said(&odd.repeat(9000))]);
        assert!(found.title.starts_with(odd) && found.title.chars().count() <= TITLE, "{odd}");
        assert_eq!(found.turns, 1);
    }
}

#[test]
fn the_end_of_the_file_tells_how_many_messages_there_are() {
    let found = one(vec![said("first"), said(&"long ".repeat(4000)), said("last"), called()]);
    assert_eq!((found.title.as_str(), found.turns), ("first", 3));
}

#[test]
fn a_file_that_begins_otherwise_or_ends_torn_is_read_whole() {
    let found = one(vec![called(), called(), said("late")]);
    assert_eq!((found.title.as_str(), found.turns), ("late", 1));

    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![said("one"), said(&"x".repeat(9000))]);
    let path = file(home.path(), &session);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 200]).unwrap();
    let found = summary(home.path(), &session).unwrap();
    assert_eq!((found.title.as_str(), found.turns), ("one", 1));
}

#[test]
fn words_of_a_message_are_never_taken_for_the_count() {
    let found = one(vec![said("first"), said(",\"turns\":77}")]);
    assert_eq!(found.turns, 2);
}
