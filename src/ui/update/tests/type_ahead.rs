//! A thousand rounds of keys typed ahead, in virtual time.

use super::*;

/// Rounds in all, and time from key to key.
const ROUNDS: u64 = 1_000;
const PACES: [u64; 4] = [5, 50, 200, 550];

/// What happens beside the keys.
fn happens(bench: &mut Bench, chance: &mut fastrand::Rng, open: &mut Vec<u64>, next: &mut u64) {
    match chance.u8(..10) {
        0..3 => {
            *next += 1;
            open.push(*next);
            bench.ask(*next);
        }
        3 if !open.is_empty() => {
            let call = CallId(open.swap_remove(chance.usize(..open.len())));
            bench.tell(Notice::AskClosed { call, why: "cancelled".to_owned() });
        }
        4 => drop(bench.event(Event::Paste("y".to_owned()))),
        5 => {
            let kind = MouseEventKind::Down(MouseButton::Left);
            let (column, row) = (chance.u16(..80), chance.u16(..24));
            let modifiers = KeyModifiers::NONE;
            bench.event(Event::FocusLost);
            bench.event(Event::FocusGained);
            bench.event(Event::Mouse(MouseEvent { kind, column, row, modifiers }));
        }
        _ => {}
    }
}

fn lets_run(intents: &[Intent]) -> bool {
    let allows = |intent: &Intent| match intent {
        Intent::Send(Op::Answer { answer, .. }) => !matches!(answer, Answer::Deny { .. }),
        _ => false,
    };
    intents.iter().any(allows)
}

#[test]
fn a_thousand_rounds_of_typing_ahead_let_nothing_run() {
    let mut opened = 0;
    for round in 0..ROUNDS {
        let mut chance = fastrand::Rng::with_seed(round);
        let pace = PACES[usize::try_from(round).unwrap() % PACES.len()];
        let mut bench = Bench::new();
        // A small screen is drawn faster.
        bench.terminal.backend_mut().resize(40, 12);
        bench.turn();
        let (mut open, mut next) = (Vec::new(), 0);
        for _ in 0..12 {
            happens(&mut bench, &mut chance, &mut open, &mut next);
            // The program is busy now and then: time passes, and it hears of it late.
            if chance.u8(..6) == 0 {
                bench.now += Duration::from_millis(pace + chance.u64(..900));
            } else {
                bench.now += Duration::from_millis(pace);
                let _ = bench.ui.update(Msg::Tick { now: bench.now });
            }
            let key = ["y", "s", "a", "enter", "space", "h"][chance.usize(..6)];
            let key = Key::parse(key).unwrap();
            let event = Event::Key(KeyEvent::new(key.code, key.modifiers));
            let intents = bench.ui.update(Msg::Input { event, at: bench.now });
            assert!(!lets_run(&intents), "round {round}: {key:?} {intents:?}");
        }
        opened += next;
    }
    assert!(opened > ROUNDS, "{opened} decisions came up");
}

#[test]
fn enter_and_space_held_down_let_nothing_run() {
    for word in ["enter", "space", "esc", "tab"] {
        let mut bench = Bench::new();
        (1..=5).for_each(|call| bench.ask(call));
        for _ in 0..200 {
            bench.wait(30);
            assert!(!lets_run(&bench.key(word)), "{word}");
        }
    }
}
