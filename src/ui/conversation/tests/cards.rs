//! Cards of calls.

use super::*;

pub(super) fn cards() -> Scene {
    let mut scene = Scene::new();
    scene.ask("Look");
    scene.call(1, CallState::Asking);
    scene.call(2, CallState::Running { progress: None });
    scene.after(4_200);
    let progress = Progress { done: 40.0, total: Some(100.0), note: "fetching page 2".into() };
    scene.call(3, CallState::Running { progress: Some(progress) });
    let long = "{\"total\": 2}\ntwo\nthree\nfour\nfive\nsix\nseven\neight";
    scene.call(4, done(Outcome::Ok(said(long)), long));
    scene.call(5, done(Outcome::ToolError(said("rate limited until 12:00")), "x"));
    let note = "use the archive".to_owned();
    scene.call(6, done(Outcome::Denied(DeniedBy::User { note }), "denied"));
    let reason = "The connection closed after 31 s.".to_owned();
    scene.call(7, done(Outcome::Unknown { reason }, "unknown"));
    scene.call(8, done(Outcome::Cancelled { sent: true }, "cancelled"));
    scene.call(9, done(Outcome::Ok(ToolOutput::default()), "The result is empty."));
    scene.apply(Notice::CallRefused {
        turn: TURN,
        name: "github_serch".into(),
        arguments: "{\"q\": \"a".into(),
        outcome: Arc::new(Outcome::InvalidArguments { message: "no such tool".into() }),
        for_model: "no such tool".into(),
    });
    scene
}

#[test]
fn cards_show_every_state() {
    let mut scene = cards();
    insta::assert_snapshot!("cards_80", scene.screen(80, 40));
    insta::assert_snapshot!("cards_50", scene.screen(50, 44));
}

#[test]
fn open_card_shows_arguments_result_and_what_the_model_saw() {
    let mut scene = Scene::new();
    scene.ask("Look");
    let output = ToolOutput {
        content: vec![
            Content::Text("two issues".into()),
            Content::Binary {
                kind: "image".into(),
                mime: "image/png".into(),
                uri: String::new(),
                size: 2_345,
                data: "".into(),
            },
            Content::Link { uri: "file:///a.log".into(), name: "log".into() },
        ],
        structured: Some(json!({"total": 2})),
        remarks: vec!["structuredContent does not fit the schema".into()],
    };
    scene.call(1, done(Outcome::Ok(output), "two issues\n[cut]"));
    scene.screen(80, 30);
    scene.go(Move::Toggle);
    insta::assert_snapshot!("card_open", scene.screen(80, 30));
    assert!(scene.conversation.copy_text().is_none(), "no answer yet and nothing selected");
    scene.go(Move::Previous);
    let copied = scene.conversation.copy_text().unwrap();
    assert!(copied.starts_with("two issues\n[image, image/png, 2.3 kB: not shown]"), "{copied}");
}

#[test]
fn result_that_the_model_saw_whole_is_not_shown_twice() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.call(1, done(Outcome::Ok(said("fine")), "[Result of a server]\nfine"));
    scene.screen(80, 20);
    scene.go(Move::Toggle);
    let screen = scene.screen(80, 20);
    assert_eq!(screen.matches("fine").count(), 1, "{screen}");
    assert!(screen.contains("[Result of a server]"), "{screen}");
}

#[test]
fn structured_result_that_the_text_says_already_is_not_repeated() {
    let output = ToolOutput {
        content: vec![Content::Text("{\"total\":2}".into())],
        structured: Some(json!({"total": 2})),
        remarks: vec![],
    };
    assert_eq!(result::text_of(&Outcome::Ok(output)), "{\"total\":2}");
}

#[test]
fn json_in_one_line_is_indented_on_an_open_card_and_copied_as_it_came() {
    let mut scene = Scene::new();
    let json = r#"{"total":2,"ids":[41,7]}"#;
    scene.ask("q").call(1, done(Outcome::Ok(said(json)), json));
    scene.screen(80, 24);
    scene.go(Move::Previous).go(Move::Toggle);
    insta::assert_snapshot!("card_open_json", scene.screen(80, 24));
    assert_eq!(scene.conversation.copy_text().as_deref(), Some(json));
}

#[test]
fn edited_arguments_are_shown_as_they_are_sent() {
    let mut scene = Scene::new();
    scene.ask("q").call(1, CallState::Asking);
    let Value::Object(arguments) = json!({"owner": "somebody else"}) else { return };
    let edited = Call { arguments: Arc::new(arguments), ..call(1) };
    let state = CallState::Running { progress: None };
    scene.apply(Notice::CallChanged { call: Arc::new(edited), state });
    let screen = scene.screen(80, 10);
    assert!(screen.contains("somebody else") && !screen.contains("my-org"), "{screen}");
}

#[test]
fn running_call_counts_seconds_and_a_settled_one_rests() {
    let mut scene = Scene::new();
    scene.ask("q");
    assert!(scene.conversation.animating(), "the model is awaited");
    scene.call(1, CallState::Asking);
    assert!(!scene.conversation.animating(), "a person is awaited");
    scene.call(1, CallState::Running { progress: None });
    assert!(scene.conversation.animating());
    scene.after(65_000);
    assert!(scene.screen(80, 10).contains("running 1 min 5 s"));
    scene.call(1, done(Outcome::Ok(said("x")), "x"));
    scene.after(2_000);
    assert!(scene.screen(80, 10).contains("thinking… 2 s"));
    scene.end(TurnEnd::Done);
    assert!(!scene.conversation.animating());
}

#[test]
fn huge_result_is_laid_out_piece_by_piece() {
    let mut scene = Scene::new();
    scene.ask("q");
    let huge = "0123456789 abcdef\n".repeat(300_000);
    scene.call(1, done(Outcome::Ok(said(&huge)), "cut"));
    scene.screen(80, 24);
    scene.go(Move::Toggle);
    scene.screen(80, 24);
    assert!(scene.conversation.pane.layouts < 30, "{}", scene.conversation.pane.layouts);
    scene.go(Move::Bottom);
    assert!(scene.screen(80, 24).contains("the model saw"));
}

#[test]
fn opening_a_card_keeps_its_head_in_place() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(30));
    scene.call(1, done(Outcome::Ok(said(&numbered(60))), "x"));
    let closed = scene.screen(80, 20);
    let row = |screen: &str| screen.lines().position(|row| row.contains("search_issues"));
    scene.go(Move::Toggle);
    assert_eq!(row(&scene.screen(80, 20)), row(&closed));
    scene.go(Move::Toggle);
    assert_eq!(scene.screen(80, 20), closed);
}

#[test]
fn names_and_arguments_stay_in_one_line_and_hide_nothing() {
    let mut scene = Scene::new();
    scene.ask("q");
    let mut evil = call(1);
    evil.tool = ToolId::new("srv", "go\n\u{1b}[31m\u{202e}x");
    let Value::Object(arguments) = json!({"a\u{200b}b": "line\nbreak \u{202e}"}) else { return };
    evil.arguments = Arc::new(arguments);
    let notice = Notice::CallChanged { call: Arc::new(evil), state: CallState::Asking };
    scene.apply(notice);
    let screen = scene.screen(160, 6);
    let row = screen.lines().find(|row| row.contains("srv/")).unwrap();
    assert!(row.contains("\\u{202e}x") && row.contains("a\\u{200b}b="), "{screen}");
    assert!(row.ends_with("waiting for your decision"), "{screen}");
}

#[test]
fn tabs_and_carriage_returns_of_a_result_move_nothing() {
    let mut scene = Scene::new();
    scene.ask("q");
    let text = "a\tb\n\tindent\n10%\r50%\r100%\nend\u{7f}";
    scene.call(1, done(Outcome::Ok(said(text)), text));
    let screen = scene.screen(60, 12);
    for words in ["   a       b\n", "           indent\n", "   100%\n"] {
        assert!(screen.contains(words), "{screen}");
    }
}
