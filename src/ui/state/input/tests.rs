use super::*;

fn composer(text: &str) -> Composer {
    let mut composer = Composer::default();
    composer.area.insert_str(text);
    composer
}

#[test]
fn pasted_line_ends_become_one_kind() {
    let mut composer = Composer::default();
    assert!(!composer.paste("first\r\n\r\nthird\r", Instant::now()));
    assert_eq!(composer.text(), "first\n\nthird\n");
}

#[test]
fn a_large_paste_is_folded_and_sent_whole() {
    let mut composer = composer("look: ");
    let pasted: Vec<String> = (1..=120).map(|line| format!("line {line}")).collect();
    let pasted = pasted.join("\n");
    composer.paste(&pasted, Instant::now());
    assert_eq!(composer.text(), "look: [pasted 120 lines #1]");
    assert_eq!(composer.take(), format!("look: {pasted}"));
    assert_eq!(composer.text(), "");
}

#[test]
fn a_paste_beyond_the_limit_is_cut_between_characters_and_said() {
    let mut composer = Composer::default();
    let pasted = "é".repeat(PASTE_LIMIT);
    assert!(composer.paste(&pasted, Instant::now()));
    assert_eq!(composer.expanded().len(), PASTE_LIMIT);
}

#[test]
fn escapes_in_a_paste_do_not_reach_the_draft() {
    let mut composer = Composer::default();
    composer.paste("a\u{1b}]0;title\u{7}b", Instant::now());
    assert!(!composer.text().contains('\u{1b}'));
    assert!(!composer.text().contains('\u{7}'));
}

#[test]
fn history_goes_back_and_returns_to_the_draft() {
    let mut composer = Composer::default();
    composer.remember("one");
    composer.remember("two");
    composer.area.insert_str("draft");
    assert!(composer.older());
    assert_eq!(composer.text(), "two");
    composer.older();
    composer.older();
    assert_eq!(composer.text(), "one");
    composer.newer();
    composer.newer();
    assert_eq!(composer.text(), "draft");
}

#[test]
fn up_moves_the_cursor_while_there_is_a_row_above() {
    let mut composer = composer("one\ntwo");
    composer.remember("old");
    assert!(!composer.older());
    assert_eq!(composer.text(), "one\ntwo");
}

#[test]
fn search_finds_the_latest_message_first() {
    let mut composer = Composer::default();
    for text in ["list tasks", "other", "List reports"] {
        composer.remember(text);
    }
    composer.search = Some(Search { query: "list".to_owned(), skip: 0 });
    assert_eq!(composer.found(), Some("List reports"));
    composer.search = Some(Search { query: "list".to_owned(), skip: 1 });
    assert_eq!(composer.found(), Some("list tasks"));
    composer.search = Some(Search { query: "list".to_owned(), skip: 2 });
    assert_eq!(composer.found(), None);
}

#[test]
fn history_is_bounded() {
    let mut composer = Composer::default();
    for number in 0..HISTORY * 2 {
        composer.remember(&number.to_string());
    }
    assert_eq!(composer.history.len(), HISTORY);
}
