use std::collections::BTreeMap;

use super::*;

fn with(name: &str, key: &str) -> (Keymap, Vec<Warning>) {
    Keymap::new(&BTreeMap::from([(name.to_owned(), key.to_owned())]), None)
}

#[test]
fn every_default_key_can_be_read_and_has_one_meaning() {
    for binding in TABLE {
        for word in binding.keys {
            assert!(Key::parse(word).is_some(), "{word}");
        }
    }
    let rows: usize = TABLE.iter().map(|binding| binding.keys.len()).sum();
    assert_eq!(Keymap::default().lookup.len(), rows, "a key is bound twice in one place");
}

#[test]
fn names_of_actions_are_unique() {
    let mut names: Vec<_> = TABLE.iter().map(|binding| binding.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TABLE.len());
}

#[test]
fn an_action_can_be_rebound() {
    let (keymap, warnings) = with("approve", "o");
    assert_eq!(warnings, []);
    assert_eq!(keymap.at(Place::Dialog, Key::parse("o").unwrap()), Some(Action::Approve));
    assert_eq!(keymap.at(Place::Dialog, Key::parse("y").unwrap()), None);
}

#[test]
fn enter_space_and_escape_can_not_be_made_to_approve() {
    for key in ["enter", "space", "esc", "tab", "ctrl-y", "alt-enter"] {
        let (keymap, warnings) = with("approve", key);
        assert_eq!(warnings.len(), 1, "{key}");
        assert_ne!(keymap.at(Place::Dialog, Key::parse(key).unwrap()), Some(Action::Approve));
    }
}

#[test]
fn a_key_that_is_taken_is_refused_and_the_default_stays() {
    let (keymap, warnings) = with("approve", "n");
    assert_eq!(warnings.len(), 1);
    assert_eq!(keymap.at(Place::Dialog, Key::parse("n").unwrap()), Some(Action::Deny));
    assert_eq!(keymap.at(Place::Dialog, Key::parse("y").unwrap()), Some(Action::Approve));
}

#[test]
fn unknown_actions_and_unreadable_keys_are_warnings() {
    assert_eq!(with("aprove", "y").1.len(), 1);
    assert_eq!(with("approve", "hyper-y").1.len(), 1);
    assert_eq!(with("approve", "").1.len(), 1);
}

#[test]
fn keys_are_shown_as_people_write_them() {
    for (word, shown) in [
        ("ctrl-b", "Ctrl-B"),
        ("y", "y"),
        ("N", "N"),
        ("shift-tab", "Shift-Tab"),
        ("F2", "F2"),
        ("alt+enter", "Alt-Enter"),
    ] {
        assert_eq!(Key::parse(word).unwrap().to_string(), shown);
    }
}
