use std::path::PathBuf;

use super::*;

fn summary(number: u64, title: &str) -> SessionSummary {
    SessionSummary {
        id: SessionId::parse(&format!("20261130-181512-{number:06x}")).unwrap(),
        path: PathBuf::from("/x"),
        created: "2026-11-30T18:15:12Z".to_owned(),
        changed: "2026-11-30T18:15:12Z".to_owned(),
        age: Duration::from_secs(number * 3000),
        model: Some("qwen3".to_owned()),
        servers: vec!["tracker".to_owned()],
        title: title.to_owned(),
        turns: 3,
        bytes: 2048,
        parent: None,
    }
}

fn press(picker: &mut Picker, words: &str) -> Step {
    let keymap = Keymap::default();
    let mut step = Step::Stay;
    for word in words.split(' ') {
        step = picker.key(&keymap, Key::parse(word).unwrap(), false);
    }
    step
}

#[test]
fn typing_filters_and_enter_takes_what_is_chosen() {
    let all = [summary(1, "Look at #42"), summary(2, "Plan a trip"), summary(3, "look again")];
    let mut picker = Picker::sessions(&all);
    assert_eq!(press(&mut picker, "down l o o k"), Step::Stay);
    assert_eq!(picker.counts(), (2, 3));
    assert_eq!(press(&mut picker, "down enter"), Step::Chosen(Chosen::Session(all[2].id.clone())));
    assert_eq!(press(&mut picker, "x enter"), Step::Stay);
    assert!(picker.nothing().is_some_and(|told| told.contains("Backspace")));
    assert_eq!(press(&mut picker, "esc"), Step::Close);
}

#[test]
fn the_latest_message_is_chosen_at_first() {
    let mut picker = Picker::messages(["one", "two", "three"]);
    assert_eq!(press(&mut picker, "up enter"), Step::Chosen(Chosen::Message(2)));
}

#[test]
fn what_is_typed_while_the_list_is_awaited_holds() {
    let mut picker = Picker::awaited();
    press(&mut picker, "t r i p");
    picker.arrived(Ok(&[summary(1, "Look"), summary(2, "Plan a trip")]));
    assert_eq!(picker.counts(), (1, 2));
    picker.arrived(Err("the disk\u{1b}[2J"));
    assert_eq!(picker.counts(), (0, 0));
    assert!(picker.nothing().is_some_and(|told| !told.contains('\u{1b}')));
}

#[test]
fn an_empty_list_says_what_to_do() {
    let told = Picker::sessions(&[]).nothing().unwrap().to_owned();
    assert!(told.starts_with("No other conversations yet."), "{told}");
}

#[test]
fn ages_are_in_one_unit_and_end_in_a_date() {
    let age_of =
        |seconds| age(&SessionSummary { age: Duration::from_secs(seconds), ..summary(0, "") });
    let found: Vec<String> = [5, 65, 7300, 200_000, 86_400 * 40].into_iter().map(age_of).collect();
    assert_eq!(found, ["just now", "1 min ago", "2 h ago", "2 d ago", "2026-11-30"]);
}
