//! Keys that were meant for something else: typed ahead at every pace while decisions come up and go
//! away, pasted, clicked, held down. None of them may let a call run, and what tells is how many
//! calls the server got.
//!
//! `MINI_ME_TYPE_AHEAD=1000` plays that many rounds instead of a few; the rule itself is played a
//! thousand times in virtual time by the tests of the screen.
#![cfg(unix)]

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::pty::{PATIENCE, Start, Tty};
use crate::support::stage::{Actor, Stage};

/// Rounds where nothing else is asked for.
const ROUNDS: u64 = 60;
/// Terminals side by side: a round is mostly waiting.
const LANES: u64 = 6;
/// Time from key to key, and keys of a round.
const PACES: [(u64, usize); 4] = [(5, 24), (50, 14), (200, 6), (550, 4)];
/// With a pause as long as this one a person may have decided.
const PAUSE: Duration = Duration::from_millis(590);

/// Chance that is the same in every run.
struct Dice(fastrand::Rng);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }
}

struct Round<'a> {
    stage: &'a mut Stage,
    tty: &'a mut Tty,
    dice: Dice,
    last: Instant,
}

#[test]
fn nothing_typed_pasted_clicked_or_held_lets_a_call_run() {
    let wanted = std::env::var("MINI_ME_TYPE_AHEAD").ok();
    let rounds = wanted.map_or(ROUNDS, |count| count.parse().unwrap());
    let lane = |lane: u64| {
        let mut stage = Stage::new(&[Actor::new("sh", &["run"])], "model", &json!({}));
        let mut tty = Tty::run(&Start::new(&[], (80, 24), stage.home()));
        tty.until_text("1 of 1 server ready");
        for round in (lane..rounds).step_by(usize::try_from(LANES).unwrap()) {
            let dice = Dice(fastrand::Rng::with_seed(round));
            let (stage, tty) = (&mut stage, &mut tty);
            Round { stage, tty, dice, last: Instant::now() }.play(round);
            let received = stage.received();
            assert!(received.is_empty(), "round {round}: {received:?}\n{}", tty.contents());
        }
        meant(&mut stage, &tty);
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|number| scope.spawn(move || lane(number))).collect();
        for lane in lanes {
            lane.join().unwrap();
        }
    });
}

/// The one that is meant: that nothing ran before was not for want of a server.
fn meant(stage: &mut Stage, tty: &Tty) {
    tty.types("go\r");
    stage.calls(&[("sh_run", "{}".to_owned())]);
    tty.until_text("your answer?");
    tty.types("y");
    stage.until_received(1);
}

/// Time that goes by between keys.
fn waits(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}

impl Round<'_> {
    fn play(&mut self, number: u64) {
        self.tty.types("go\r");
        self.stage.asked();
        match number % 5 {
            4 => self.armed(number / 5),
            pace => self.typed(PACES[usize::try_from(pace).unwrap()]),
        }
        self.ends();
    }

    /// Keys at a steady pace; somewhere among them the box comes up.
    fn typed(&mut self, (gap, keys): (u64, usize)) {
        let opens = self.dice.below(keys);
        // Sometimes the server takes it back, sometimes there are several.
        let several = self.dice.below(3) + 1;
        for at in 0..keys {
            if at == opens {
                let calls =
                    vec![("sh_run", json!({"command": "rm -r build"}).to_string()); several];
                self.stage.calls(&calls);
            }
            let key = ["y", "y", "s", "a", "\r", " ", "h", "yes"][self.dice.below(8)];
            self.presses(key);
            waits(Duration::from_millis(gap));
        }
        self.tty.until_text("Allow this call?");
    }

    /// The box is there and takes answers: what is no answer.
    fn armed(&mut self, kind: u64) {
        self.stage.calls(&[("sh_run", json!({"command": "rm -r build"}).to_string())]);
        self.tty.until_text("your answer?");
        match kind % 5 {
            0 => self.tty.types("\u{1b}[200~y\u{1b}[201~"),
            1 => self.tty.types("\u{1b}[200~y\u{1b}[201~y"),
            2 => {
                // Focus comes back with a click, anywhere in the box.
                let row = 8 + self.dice.below(12);
                let column = 2 + self.dice.below(70);
                self.tty.types("\u{1b}[O\u{1b}[I");
                self.tty.types(&format!("\u{1b}[<0;{column};{row}M\u{1b}[<0;{column};{row}m"));
            }
            3 => self.held(" "),
            _ => self.held("\r"),
        }
        waits(Duration::from_millis(100));
    }

    fn held(&mut self, key: &str) {
        for _ in 0..40 {
            self.tty.types(key);
            waits(Duration::from_millis(15));
        }
    }

    /// Presses a key, unless so much time went by that it would be an answer like any other: the
    /// machine may have been busy.
    fn presses(&mut self, key: &str) {
        if self.last.elapsed() > PAUSE {
            // No answer, and the quiet begins anew.
            self.tty.types("h");
        }
        self.tty.types(key);
        self.last = Instant::now();
    }

    /// Cancels everything, until nothing runs and nothing is written.
    fn ends(&mut self) {
        let end = Instant::now() + PATIENCE;
        let idle = |screen: &vt100::Screen| {
            let shown = screen.contents();
            let ready = shown.contains(" ready ") || shown.contains("draft cleared");
            ready && !shown.contains("Allow this call?") && shown.contains("/ for commands")
        };
        while !self.tty.screen(idle) {
            assert!(Instant::now() < end, "it does not come to rest:\n{}", self.tty.contents());
            let shown = self.tty.contents();
            if shown.contains("again to quit") {
                // A draft of nothing but spaces: not worth clearing, but in the way here.
                self.tty.types("x");
            } else if !shown.contains("cancelling") {
                self.tty.types("\u{3}");
            }
            waits(Duration::from_millis(60));
            self.stage.drops_all();
        }
        self.stage.drops_all();
    }
}
