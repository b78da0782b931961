//! Where the pane stands, and what is selected.

use super::*;

#[test]
fn view_holds_its_rows_while_text_streams_in_and_says_how_much_is_new() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(200));
    scene.screen(80, 24);
    scene.go(Move::Rows(-10));
    let before = scene.screen(80, 24);
    for _ in 0..500 {
        scene.text("more text\n\n");
    }
    let held = scene.screen(80, 24);
    assert_eq!(
        before.lines().take(22).collect::<Vec<_>>(),
        held.lines().take(22).collect::<Vec<_>>()
    );
    insta::assert_snapshot!("scrolled_up", held);
    scene.go(Move::Bottom).text("LAST");
    assert!(scene.screen(80, 24).contains("LAST"));
    scene.text("\n\nEVEN LATER");
    assert!(scene.screen(80, 24).contains("EVEN LATER"));
}

#[test]
fn view_holds_inside_a_line_that_grows_past_every_bound() {
    let words = |from: u32| (from..from + 2_500).map(|n| n.to_string() + " ").collect::<String>();
    let mut scene = Scene::new();
    scene.ask("q").text(&words(10_000));
    scene.screen(80, 12);
    scene.go(Move::Rows(-2));
    let held = scene.screen(80, 12);
    scene.text(&words(12_500)).text(&words(15_000));
    let rows = |screen: &str| screen.lines().take(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&held), rows(&scene.screen(80, 12)));
}

#[test]
fn scrolling_down_to_the_end_follows_again() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(50));
    scene.screen(80, 10);
    scene.go(Move::Pages(-2)).screen(80, 10);
    scene.go(Move::Pages(5)).screen(80, 10);
    scene.text("NEW\n");
    let screen = scene.screen(80, 10);
    assert!(screen.contains("NEW") && !screen.contains("End"), "{screen}");
}

#[test]
fn sending_a_message_follows_again() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(50)).end(TurnEnd::Done);
    scene.screen(80, 10);
    scene.go(Move::Top).screen(80, 10);
    scene.ask("the next question");
    assert!(scene.screen(80, 10).contains("the next question"));
}

#[test]
fn seventy_thousand_rows_can_be_seen_from_the_first_to_the_last() {
    let mut scene = Scene::new();
    let text = (1..=70_000).map(|n| format!("line {n:06}\\\n")).collect::<Vec<_>>().concat();
    scene.ask("q").text(&text);
    assert!(scene.screen(80, 24).contains("line 070000"));
    scene.go(Move::Top);
    assert!(scene.screen(80, 24).contains("line 000001"));
    scene.go(Move::Bottom);
    assert!(scene.screen(80, 24).contains("line 070000"));
}

#[test]
fn frame_over_ten_megabytes_lays_out_only_what_is_visible() {
    let mut scene = Scene::new();
    let answer = format!("{}\n\n", "Some words of an answer. ".repeat(40)).repeat(1_000);
    for _ in 0..10 {
        scene.ask("q").text(&answer).end(TurnEnd::Done);
    }
    scene.ask("q").text("The last one");
    scene.screen(80, 24);
    let first = scene.conversation.pane.layouts;
    assert!(first < 16, "{first} layouts");
    scene.text(" goes on");
    scene.screen(80, 24);
    let more = scene.conversation.pane.layouts - first;
    assert!(more <= 8, "{more} layouts for one delta");
    scene.go(Move::Rows(-300)).screen(80, 24);
    scene.screen(61, 24);
    let all = scene.conversation.pane.layouts;
    assert!(all < 120, "{all} layouts after scrolling and a new width");
}

#[test]
fn click_selects_and_opens() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.call(1, done(Outcome::Ok(said("fine")), "fine"));
    let row = scene.screen(80, 20).lines().position(|row| row.contains("search_issues")).unwrap();
    scene.conversation.click(u16::try_from(row).unwrap());
    let open = scene.screen(80, 20);
    assert!(open.contains("┃◆") && open.contains("arguments"), "{open}");
    scene.conversation.click(u16::try_from(row).unwrap());
    assert!(!scene.screen(80, 20).contains("arguments"));
    scene.conversation.click(19);
    scene.conversation.click(200);
}

#[test]
fn selection_moves_over_what_can_be_copied() {
    let mut scene = Scene::new();
    scene.ask("my question").text("the answer").end(TurnEnd::Done);
    scene.conversation.note("copied");
    scene.screen(80, 20);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("the answer"));
    scene.go(Move::Previous).go(Move::Previous);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("my question"));
    scene.go(Move::Previous);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("my question"));
    scene.go(Move::Next);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("the answer"));
    scene.go(Move::Unselect);
    assert!(!scene.screen(80, 20).contains('┃'));
}
