//! Any keys at any times.

use super::*;

/// Any key that a terminal can report.
pub(super) fn any_key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        proptest::char::range(' ', '~').prop_map(KeyCode::Char),
        Just(KeyCode::Enter),
        Just(KeyCode::Esc),
        Just(KeyCode::Tab),
        Just(KeyCode::BackTab),
        Just(KeyCode::Backspace),
        Just(KeyCode::Up),
        Just(KeyCode::PageDown),
        (1_u8..=12).prop_map(KeyCode::F),
    ];
    let modifiers = (0_u8..8).prop_map(KeyModifiers::from_bits_truncate);
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn keys_pressed_without_a_pause_never_decide(
        keys in proptest::collection::vec((any_key(), 0_u64..600), 1..40),
    ) {
        let mut bench = Bench::new();
        bench.ask(1);
        for (key, gap) in keys {
            bench.wait(gap);
            let intents = bench.key_event(key);
            // Ctrl-C is no answer: it cancels the turn, and with it what is asked.
            let cancelled = intents.contains(&Intent::Send(Op::Interrupt));
            prop_assert!(cancelled || decisions(&intents) == 0, "{key:?} {intents:?}");
            if cancelled {
                break;
            }
        }
    }

    #[test]
    fn no_key_but_y_s_and_a_lets_a_call_run(key in any_key()) {
        let mut bench = Bench::new();
        bench.ask(1);
        bench.armed();
        let intents = bench.key_event(key);
        let allows = intents.iter().any(|intent| {
            matches!(
                intent,
                Intent::Send(Op::Answer { answer: Answer::Once | Answer::Session | Answer::Always | Answer::Edit(_), .. })
            )
        });
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
            || key.modifiers == KeyModifiers::CONTROL | KeyModifiers::ALT;
        let approving = matches!(key.code, KeyCode::Char('y' | 's')) && plain;
        prop_assert!(!allows || approving, "{key:?} {intents:?}");
    }
}
