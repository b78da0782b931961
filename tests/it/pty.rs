//! The built binary on a real pseudo-terminal: what a person sees, and the terminal afterwards.
#![cfg(all(unix, feature = "demo"))]

use std::time::Instant;

use crate::support::pty::{PATIENCE, Tty};

fn demo() -> Tty {
    let tty = Tty::start(&["--demo"], (100, 30));
    tty.until_text("Ask something");
    tty
}

#[test]
fn ctrl_c_twice_quits_and_the_terminal_is_as_it_was() {
    let mut tty = demo();
    tty.types("hello\r");
    tty.until("the whole answer", |screen| {
        let contents = screen.contents();
        contents.contains("   allow.") && contents.contains(" ready   F1")
    });
    tty.types("\u{3}");
    tty.until_text("again to quit");
    tty.types("\u{3}");
    tty.restored();
    assert_eq!(tty.ends(), 0);
    tty.until_text("Transcript: ");
}

#[test]
fn signals_end_it_with_their_code_and_the_terminal_is_as_it_was() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        let mut tty = demo();
        tty.signal(name);
        tty.restored();
        assert_eq!(tty.ends(), code, "{name}");
    }
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_continuing_draws_it_whole() {
    let tty = demo();
    tty.types("\u{1a}");
    tty.restored();
    // It may not have stopped yet when the first one comes.
    let end = Instant::now() + PATIENCE;
    while !tty.screen(vt100::Screen::alternate_screen) {
        assert!(Instant::now() < end, "it does not go on");
        tty.signal("CONT");
        tty.pause();
    }
    tty.until_text("Ask something");
    tty.types("x");
    tty.until_text("› x");
}

#[test]
fn a_small_terminal_is_told_so_and_growing_it_draws_again() {
    let tty = demo();
    for (rows, cols) in [(5, 20), (30, 100)] {
        tty.resize(cols, rows);
        let wanted = if rows < 12 { "needs 40" } else { "Ask something" };
        tty.until_text(wanted);
    }
}

#[test]
fn the_wire_view_opens_by_its_key_shows_an_exchange_and_goes_away() {
    let tty = demo();
    tty.until_text("● tracker");
    tty.types("\u{1b}[17~");
    tty.until_text("tools/list");
    tty.types("discover\r");
    tty.until_text("Bearer $MINI_ME_DEMO_KEY");
    // Escape alone is told from a sequence by what follows.
    for gone in ["Bearer $MINI_ME_DEMO_KEY", "› discover", "TIME UTC"] {
        tty.types("\u{1b}");
        tty.until("one step back", |screen| !screen.contents().contains(gone));
    }
    tty.until_text("Ask something");
}

#[test]
fn pasted_lines_are_one_draft_and_press_nothing() {
    let tty = demo();
    tty.types("\u{1b}[200~first\r\n\r\nthird\r\n\u{1b}[201~");
    tty.until_text("third");
    assert!(tty.contents().contains("first"));
    assert!(!tty.contents().contains("working"));
}

#[test]
fn a_call_waits_for_its_answer_and_runs_after_it() {
    let tty = demo();
    tty.until_text("● tracker");
    tty.types("Look at task #42 and explain it\r");
    tty.until_text("Allow this call?");
    tty.types("y");
    tty.until_text("› y");
    tty.until_text("your answer?");
    tty.types("y");
    tty.until("a first result", |screen| {
        let text = screen.contents();
        text.contains(" ok") && text.contains("list_tasks")
    });
    tty.types("\u{3}");
    tty.until("the end of the turn", |screen| !screen.contents().contains("Allow this call?"));
}

#[test]
fn a_tool_is_called_by_its_form_and_asked_about() {
    let tty = demo();
    tty.until_text("● tracker");
    tty.types("\u{1b}[Zget_task");
    tty.until_text("filter: get_task");
    tty.types("\u{14}");
    tty.until_text("call tracker/get_task");
    tty.types("#42");
    tty.until_text("│ #42");
    tty.types("\u{13}");
    tty.until_text("Allow this call?");
    tty.until_text("your answer?");
    tty.types("y");
    tty.until("the result", |screen| screen.contents().contains("Checkout hangs"));
}

#[test]
fn plain_lines_ask_in_words_and_never_take_the_screen() {
    let mut tty = Tty::start(&["--demo", "--linear"], (100, 30));
    tty.until_text("Your message:");
    tty.types("Look at task #42 and explain it\r");
    tty.until_text("DECISION: allow this call?");
    let end = Instant::now() + PATIENCE;
    while !tty.contents().contains("list_tasks: ok after") {
        assert!(Instant::now() < end, "no answer counts:\n{}", tty.contents());
        // What comes too soon after the question decides nothing.
        (0..40).for_each(|_| tty.pause());
        tty.types("allow\r");
    }
    tty.types("\u{3}");
    tty.until_text("Cancelled.");
    assert!(!tty.screen(vt100::Screen::alternate_screen));
    tty.types("/quit\r");
    assert_eq!(tty.ends(), 0);
    tty.until_text("Transcript: ");
}

#[test]
fn conversations_are_forked_resumed_and_chosen_from_a_list() {
    let mut tty = demo();
    tty.until_text("● tracker");
    let whole = |screen: &vt100::Screen| {
        let text = screen.contents();
        text.contains("   allow.") && text.contains(" ready   F1")
    };
    tty.types("hello\r");
    tty.until("the first answer", whole);
    tty.types("draft\u{1b}r");
    tty.until_text("fork before which message?");
    tty.types("\r");
    tty.until_text("A copy of the conversation up to here");
    tty.until("the message as a draft", |screen| screen.contents().contains("› hello"));
    tty.types(" again\r");
    tty.until("the second answer", whole);
    tty.types("/sessions\r");
    tty.until_text("resume a conversation");
    tty.until("the other one", |screen| screen.contents().contains("1 message"));
    assert!(!tty.contents().contains("hello again  "), "{}", tty.contents());
    tty.types("\r");
    tty.until_text("Resumed: what follows is new.");
    tty.types("\u{3}");
    tty.until_text("again to quit");
    tty.types("\u{3}");
    assert_eq!(tty.ends(), 0);

    let mut second = Tty::start_in(tty.home(), &["--demo", "--resume"], (100, 30));
    second.until_text("resume a conversation");
    second.types("again");
    second.until_text("1 of 2");
    second.types("\r");
    second.until_text("Resumed: what follows is new.");
    second.until_text("hello again");
    second.types("\u{3}\u{3}");
    second.restored();
    assert_eq!(second.ends(), 0);
}
