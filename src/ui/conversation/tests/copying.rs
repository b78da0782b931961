//! What is copied, kept and drawn: clean, whole, inside the area.

use super::cards::cards;
use super::*;

#[test]
fn copied_text_keeps_joiners() {
    let text = "می\u{200c}روم 👨\u{200d}👩\u{200d}👧 pass\u{200b}word";
    let mut scene = Scene::new();
    scene.ask("q").text(text);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some(text));
}

#[test]
fn escapes_reach_neither_screen_nor_clipboard_nor_transcript() {
    let hostile = "A\u{1b}]52;c;ZXZpbA==\u{7}B\u{1b}]0;owned\u{1b}\\C\u{1b}[2JD\u{1b}cE\u{1b}[31mF";
    let mut scene = Scene::new();
    scene.ask(hostile);
    scene.apply(Notice::Reasoning { turn: TURN, chunk: hostile.into() });
    scene.text(hostile);
    scene.call(1, done(Outcome::ToolError(said(hostile)), hostile));
    scene.apply(Notice::Warned { warning: Warning::new(Source::Model, hostile, hostile) });
    scene.end(TurnEnd::Failed { reason: hostile.into(), unreachable: false });
    for screen in [scene.screen(80, 30), scene.conversation.transcript()] {
        assert_eq!(screen.matches("ABCDEF").count(), 7, "{screen}");
        assert!(!screen.contains("owned") && !screen.contains('\u{1b}'), "{screen}");
    }
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("ABCDEF"));
}

#[test]
fn transcript_holds_everything_closed_or_not() {
    let mut scene = cards();
    scene.text("The **answer**.").end(TurnEnd::Cancelled);
    let transcript = scene.conversation.transcript();
    for words in [
        "> Look",
        "[github/search_issues] {\"owner\":\"my-org\"",
        "eight",
        "use the archive",
        "The **answer**.",
        "(incomplete)",
        "Cancelled.",
    ] {
        assert!(transcript.contains(words), "{words} is missing in\n{transcript}");
    }
}

#[test]
fn meaning_does_not_hang_on_colour() {
    let mut scene = cards();
    let area = Rect::new(0, 0, 80, 44);
    let mut buffer = Buffer::empty(area);
    let theme = Theme::of(ThemeName::None, true);
    scene.conversation.draw(area, &mut buffer, &theme, scene.now);
    assert!(buffer.content.iter().all(|cell| cell.fg == ratatui::style::Color::Reset));
}

#[test]
fn every_size_is_drawn_without_leaving_the_area() {
    let mut scene = cards();
    scene.text(ANSWER);
    for width in 0..60 {
        for height in [0, 1, 2, 15] {
            let outer = Rect::new(0, 0, width + 4, height + 4);
            let mut buffer = Buffer::empty(outer);
            let area = Rect::new(2, 2, width, height);
            let theme = Theme::of(ThemeName::Dark, false);
            scene.conversation.draw(area, &mut buffer, &theme, scene.now);
            for position in outer.positions().filter(|at| !area.contains(*at)) {
                assert_eq!(buffer[position].symbol(), " ", "{position} at {width}x{height}");
            }
        }
    }
}
