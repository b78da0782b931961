//! Answers, reasoning, messages, ends of turns.

use super::*;

#[test]
fn streaming_answer_shows_tables_code_and_lists() {
    let mut scene = Scene::new();
    scene.ask("Which bugs are open?\nPlease be short.");
    for chunk in ANSWER.chars().collect::<Vec<_>>().chunks(7) {
        scene.text(&chunk.iter().collect::<String>());
    }
    scene.after(2_000);
    insta::assert_snapshot!("answer_80", scene.screen(80, 34));
    insta::assert_snapshot!("answer_50", scene.screen(50, 36));
}

#[test]
fn unfinished_markdown_is_drawn_at_every_prefix_and_size() {
    for width in [1, 4, 5, 9, 20, 50] {
        let mut scene = Scene::new();
        scene.ask("q");
        for c in ANSWER.chars() {
            scene.text(&c.to_string());
            scene.screen(width, 8);
        }
    }
}

#[test]
fn nobody_is_thinking_while_the_user_is_asked_whether_to_go_on() {
    use crate::domain::{Question, QuestionId, QuestionKind};
    let mut scene = Scene::new();
    scene.ask("q");
    assert!(scene.screen(60, 12).contains("thinking"));
    let kind = QuestionKind::Rounds { rounds: 50 };
    let question = Question { id: QuestionId(4), kind };
    scene.apply(Notice::Questioned { question });
    assert!(!scene.screen(60, 12).contains("thinking"));
    scene.apply(Notice::QuestionClosed { question: QuestionId(4) });
    assert!(scene.screen(60, 12).contains("thinking"));
}

#[test]
fn broken_answer_is_marked_and_the_end_says_why() {
    let mut scene = Scene::new();
    scene.ask("q").text("Half an ans");
    scene.end(TurnEnd::Failed {
        reason: "The model at localhost:12434 closed the connection. Ask again.".into(),
        unreachable: false,
    });
    insta::assert_snapshot!("failed", scene.screen(80, 10));
}

#[test]
fn plain_end_of_a_turn_adds_nothing() {
    let mut scene = Scene::new();
    scene.ask("q").text("Answer.").end(TurnEnd::Done);
    insta::assert_snapshot!("done", scene.screen(50, 5));
}

#[test]
fn note_in_the_middle_of_an_answer_does_not_tear_it() {
    let mut scene = Scene::new();
    scene.ask("q").text("A **bo");
    scene.conversation.note("copied");
    scene.text("ld** word");
    let screen = scene.screen(80, 10);
    assert!(screen.contains("A bold word"), "{screen}");
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("A **bold** word"));
}

#[test]
fn text_of_another_turn_is_ignored() {
    let mut scene = Scene::new();
    scene.ask("q").end(TurnEnd::Done);
    let late = Notice::Text { turn: TURN, chunk: "late".into() };
    assert!(!scene.conversation.apply(&late, scene.now));
    assert!(!scene.conversation.transcript().contains("late"));
}

#[test]
fn reasoning_is_one_line_until_it_is_opened() {
    let mut scene = Scene::new();
    scene.ask("q");
    for chunk in ["First I look.\n\n", "Then I think."] {
        scene.apply(Notice::Reasoning { turn: TURN, chunk: chunk.into() });
    }
    scene.text("Answer.");
    let closed = scene.screen(80, 12);
    assert!(closed.contains("reasoning · about 8 tokens · First I look."), "{closed}");
    assert!(!closed.contains("Then I think"));
    scene.go(Move::Toggle);
    assert!(scene.screen(80, 12).contains("Then I think."));
}

#[test]
fn long_message_of_the_user_is_folded() {
    let mut scene = Scene::new();
    scene.ask(&"a line\n".repeat(40));
    let closed = scene.screen(80, 60);
    assert!(closed.contains("… 24 more lines"), "{closed}");
    scene.go(Move::Toggle);
    assert_eq!(scene.screen(80, 60).matches("a line").count(), 40);
}

#[test]
fn queued_messages_and_retries_are_shown() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.apply(Notice::Retrying {
        turn: TURN,
        attempt: 2,
        after: Duration::from_secs(3),
        reason: "429 from api.example.com".into(),
    });
    scene.apply(Notice::Queued { texts: vec!["and then\nthis".into()] });
    insta::assert_snapshot!("retry_and_queue", scene.screen(80, 9));
}

#[test]
fn new_session_keeps_only_the_banner() {
    let mut scene = scene_with_banner();
    scene.ask("q").text("Answer.").end(TurnEnd::Done);
    scene.call(1, done(Outcome::Ok(said("x")), "x"));
    scene.apply(Notice::SessionStarted { id: "2".into(), path: None });
    let screen = scene.screen(80, 30);
    assert!(screen.contains("mini-me") && !screen.contains("Answer."), "{screen}");
}
