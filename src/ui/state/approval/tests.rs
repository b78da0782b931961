use proptest::prelude::*;
use serde_json::json;

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

proptest! {
    /// The plain reading of the rule, against the state machine.
    #[test]
    fn a_key_decides_only_after_600_quiet_ms_since_the_first_frame(
        shown in 0_u64..2_000,
        gaps in proptest::collection::vec(0_u64..1_500, 1..30),
    ) {
        let start = Instant::now();
        let mut arming = Arming::default();
        let (mut at, mut last, mut armed) = (0, None::<u64>, false);
        let mut visible = false;
        for gap in gaps {
            at += gap;
            arming.tick(start + ms(at));
            if at >= shown && !visible {
                arming.shown(start + ms(shown));
                arming.tick(start + ms(at));
                visible = true;
            }
            let since = last.map_or(shown, |last| last.max(shown));
            armed = armed || (visible && at >= since + 600);
            prop_assert_eq!(arming.key(start + ms(at)), armed);
            last = Some(at);
        }
    }

    #[test]
    fn nothing_decides_before_a_frame_showed_the_box(gaps in proptest::collection::vec(0_u64..10_000, 1..20)) {
        let start = Instant::now();
        let mut arming = Arming::default();
        let mut at = start;
        for gap in gaps {
            at += ms(gap);
            arming.tick(at);
            prop_assert!(!arming.key(at));
        }
    }

    #[test]
    fn edited_arguments_read_back_as_they_were(text in any::<String>(), key in any::<String>()) {
        let arguments = json!({ key: [text, 1.5, null] });
        let shown = editable(arguments.as_object().unwrap());
        prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), arguments);
    }
}

#[test]
fn arguments_in_the_editor_hide_nothing() {
    let arguments = json!({"path": "a\u{202e}b\u{200b}c", "flag": "\u{e0061}"});
    let shown = editable(arguments.as_object().unwrap());
    assert!(shown.contains("a\\u202eb\\u200bc"), "{shown}");
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn a_disturbed_box_waits_for_quiet_again() {
    let start = Instant::now();
    let mut arming = Arming::default();
    arming.shown(start);
    arming.tick(start + ms(600));
    assert!(arming.key(start + ms(600)));
    arming.disturb(start + ms(700));
    arming.tick(start + ms(1_299));
    assert!(!arming.armed());
    arming.tick(start + ms(1_300));
    assert!(arming.armed());
}

#[test]
fn a_key_that_was_pressed_early_and_is_read_late_decides_nothing() {
    let start = Instant::now();
    let mut arming = Arming::default();
    arming.shown(start);
    // The program was busy: by the clock the quiet is over, but nobody saw it.
    assert!(!arming.key(start + ms(700)));
    arming.tick(start + ms(1_299));
    assert!(!arming.armed());
    arming.tick(start + ms(1_300));
    assert!(arming.key(start + ms(1_301)));
}

#[test]
fn a_key_that_has_come_and_is_not_read_yet_ends_the_quiet() {
    let start = Instant::now();
    let mut arming = Arming::default();
    arming.shown(start);
    arming.touched(start + ms(550));
    arming.tick(start + ms(600));
    assert!(!arming.key(start + ms(620)));
    // Once it is armed, the wheel and the like change nothing.
    arming.tick(start + ms(1_220));
    arming.touched(start + ms(1_230));
    assert!(arming.key(start + ms(1_240)));
}

#[test]
fn time_that_seems_to_go_back_never_arms() {
    let start = Instant::now();
    let mut arming = Arming::default();
    arming.shown(start + ms(5_000));
    assert!(!arming.key(start + ms(10)));
    arming.tick(start + ms(5_599));
    assert!(!arming.armed());
}

fn question(id: u64) -> Pending {
    let kind = crate::domain::QuestionKind::Rounds { rounds: 50 };
    Pending::Question(Question { id: QuestionId(id), kind })
}

#[test]
fn a_batch_counts_what_was_answered_and_begins_anew_when_empty() {
    let mut decisions = Decisions::default();
    for id in 1..=5 {
        decisions.add(question(id));
    }
    assert_eq!(decisions.place(), (1, 5));
    decisions.remove(PendingId::Question(QuestionId(1)));
    assert_eq!(decisions.place(), (2, 5));
    for id in 2..=5 {
        decisions.remove(PendingId::Question(QuestionId(id)));
    }
    decisions.add(question(6));
    assert_eq!(decisions.place(), (1, 1));
}

#[test]
fn the_next_box_is_not_armed_by_the_one_before() {
    let start = Instant::now();
    let mut decisions = Decisions::default();
    decisions.add(question(1));
    decisions.add(question(2));
    decisions.arming.shown(start);
    decisions.arming.tick(start + ms(600));
    assert!(decisions.arming.key(start + ms(600)));
    decisions.remove(PendingId::Question(QuestionId(1)));
    decisions.arming.shown(start + ms(601));
    decisions.arming.tick(start + ms(700));
    assert!(!decisions.arming.key(start + ms(700)));
}

#[test]
fn withdrawing_one_further_back_leaves_the_box_as_it_is() {
    let start = Instant::now();
    let mut decisions = Decisions::default();
    decisions.add(question(1));
    decisions.add(question(2));
    decisions.arming.shown(start);
    decisions.arming.tick(start + ms(600));
    decisions.scroll = 3;
    decisions.remove(PendingId::Question(QuestionId(2)));
    decisions.remove(PendingId::Question(QuestionId(9)));
    assert!(decisions.arming.armed());
    assert_eq!(decisions.scroll, 3);
}
