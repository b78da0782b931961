//! When keys may decide.

use super::*;

#[test]
fn type_ahead_never_decides_and_is_not_lost() {
    let mut bench = Bench::new();
    bench.turn();
    bench.kinds("please also ");
    bench.ask(1);
    let mut intents = Vec::new();
    for (gap, key) in [(10, "c"), (20, "h"), (20, "space"), (30, "enter"), (20, "y")] {
        bench.wait(gap);
        intents.extend(bench.key(key));
    }
    assert_eq!(intents, submitted("please also ch "));
    assert_eq!(bench.draft(), "y");
    assert!(bench.ui.state.decisions.visible());
}

#[test]
fn a_key_that_only_draws_the_screen_anew_ends_the_quiet_too() {
    for key in ["ctrl-l", "ctrl-z"] {
        let mut bench = Bench::new();
        bench.ask(1);
        bench.wait(400);
        bench.key(key);
        bench.wait(599);
        assert_eq!(bench.key("y"), [], "{key}");
        assert!(bench.ui.state.decisions.visible(), "{key}");
    }
}

#[test]
fn letters_before_the_pause_go_into_the_draft_with_its_cursor() {
    let mut bench = Bench::new();
    bench.kinds("ac");
    bench.key("left");
    bench.ask(1);
    bench.wait(599);
    assert_eq!(bench.kinds("y"), []);
    assert_eq!(bench.draft(), "ayc");
}

#[test]
fn a_word_that_begins_like_an_answer_decides_nothing_more() {
    for word in ["also yes", "what is this? say", "use another, yes"] {
        let mut bench = Bench::new();
        bench.ask(1);
        bench.armed();
        let mut intents = Vec::new();
        for c in word.chars() {
            intents.extend(bench.key_event(KeyEvent::from(KeyCode::Char(c))));
            bench.wait(80);
        }
        assert_eq!(intents, [], "{word}");
        assert!(bench.ui.state.decisions.visible(), "{word}");
    }
}

#[test]
fn a_letter_that_is_no_answer_begins_a_message() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.kinds("who says so?");
    assert_eq!(bench.draft(), "who says so?");
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn keys_that_come_as_one_are_a_paste_and_never_decide() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let _ = bench.ui.update(Msg::Hurried { at: bench.now });
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
}

#[test]
fn keys_that_come_as_one_stay_in_the_note_being_written() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("r");
    let _ = bench.ui.update(Msg::Hurried { at: bench.now });
    bench.kinds("not now");
    assert_eq!(bench.draft(), "");
    let note = Answer::Deny { note: "not now".to_owned() };
    assert_eq!(bench.key("enter"), answered(1, note));
}

#[test]
fn a_box_that_cannot_be_seen_takes_no_answer() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.terminal.backend_mut().resize(30, 10);
    bench.wait(5_000);
    assert_eq!(bench.kinds("yss"), []);
    bench.terminal.backend_mut().resize(80, 24);
    bench.wait(0);
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn keys_in_the_side_panel_decide_nothing() {
    for open in ["f2", "shift-tab"] {
        let mut bench = Bench::of(catalog());
        bench.ask(1);
        bench.armed();
        bench.key(open);
        bench.wait(5_000);
        assert_eq!(bench.kinds("yes"), [], "{open}");
        assert_eq!(bench.ui.state.panel.filter, "yes");
        bench.key("f3");
        assert_eq!(bench.key("y"), []);
        bench.armed();
        assert_eq!(bench.key("y"), answered(1, Answer::Once));
    }
}

#[test]
fn leaving_the_side_panel_arms_the_box_anew() {
    let mut bench = Bench::of(catalog());
    bench.terminal.backend_mut().resize(120, 24);
    bench.frame();
    bench.key("shift-tab");
    bench.ask(1);
    bench.armed();
    bench.key("shift-tab");
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn a_click_into_the_draft_goes_there() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let input = bench.ui.state.drawn.input;
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: input.x + 4,
        row: input.y,
        modifiers: KeyModifiers::NONE,
    };
    bench.event(Event::Mouse(click));
    bench.wait(5_000);
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
}

#[test]
fn enter_is_deny_space_is_nothing_and_neither_ever_approves() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.key("space"), []);
    assert_eq!(bench.key("enter"), answered(1, denied()));
}

#[test]
fn paste_and_click_never_decide_and_a_paste_disarms() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.event(Event::Paste("y".to_owned())), []);
    bench.wait(100);
    assert_eq!(bench.key("y"), []);
    assert_eq!(bench.draft(), "yy");
    for row in 0..24 {
        let click = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: 4,
            row,
            modifiers: KeyModifiers::NONE,
        };
        assert_eq!(bench.event(Event::Mouse(click)), []);
    }
}

#[test]
fn a_held_key_scrolls_but_never_decides() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let held =
        |c| KeyEvent::new_with_kind(KeyCode::Char(c), KeyModifiers::NONE, KeyEventKind::Repeat);
    for c in ['y', 's', 'n', 'a', 'a', 'N'] {
        assert_eq!(bench.key_event(held(c)), []);
    }
    assert!(bench.ui.state.decisions.visible());
}

#[test]
fn the_next_decision_is_armed_anew() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.ask(2);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
    assert_eq!(bench.key("y"), []);
    assert_eq!(bench.draft(), "y");
    bench.armed();
    assert_eq!(bench.key("s"), answered(2, Answer::Session));
}

#[test]
fn the_same_call_asked_again_is_armed_anew() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.ask(1);
    assert_eq!(bench.key("y"), []);
}

#[test]
fn a_page_over_the_box_keeps_keys_from_it() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("f1");
    bench.wait(5_000);
    assert_eq!(bench.kinds("yyy"), []);
    bench.key("esc");
    assert_eq!(bench.key("y"), []);
}

#[test]
fn a_side_panel_that_lies_over_the_screen_gives_way_to_a_decision() {
    let mut bench = Bench::of(catalog());
    bench.key("shift-tab");
    bench.kinds("stop");
    assert!(bench.frame().contains("filter: stop"));
    bench.ask(1);
    let frame = bench.frame();
    assert!(frame.contains("Allow this call?") && !frame.contains("filter: stop"), "{frame}");
    // What was meant for the filter goes on in the draft, and decides nothing.
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
    // Who goes back to the panel covers the box, and it takes no answer.
    bench.armed();
    bench.key("f2");
    bench.wait(5_000);
    assert_eq!(bench.kinds("y"), []);
    bench.key("f3");
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn keys_read_late_by_a_busy_program_decide_nothing() {
    let mut bench = Bench::new();
    bench.ask(1);
    // Typed in the first moments after the box came up; the program had no time to read them.
    bench.now += Duration::from_secs(3);
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
}
