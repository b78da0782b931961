use std::sync::Arc;

use crossterm::event::{Event, KeyCode, KeyEvent};

use super::*;
use crate::bridge::Notice;
use crate::domain::{Catalog, TurnId};
use crate::ui::{Msg, Ui, UiOptions};

struct Screen {
    ui: Ui,
    now: Instant,
}

impl Screen {
    /// A turn goes on and these messages wait.
    fn waiting(texts: &[&str]) -> Self {
        let ui = Ui::new(UiOptions::default(), Arc::new(Catalog::default()));
        let mut screen = Self { ui, now: Instant::now() };
        screen.tell(Notice::TurnStarted { turn: TurnId(1), text: "go".into() });
        screen.queued(texts);
        screen
    }

    fn queued(&mut self, texts: &[&str]) {
        self.tell(Notice::Queued { texts: texts.iter().map(|text| (*text).to_owned()).collect() });
    }

    fn back(&mut self, texts: &[&str]) {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        self.tell(Notice::TakenBack { texts });
    }

    fn tell(&mut self, notice: Notice) {
        assert_eq!(self.ui.update(Msg::Notice { notice, at: self.now }), []);
    }

    fn press(&mut self, code: KeyCode) -> Vec<Intent> {
        let event = Event::Key(KeyEvent::from(code));
        self.ui.update(Msg::Input { event, at: self.now })
    }

    fn types(&mut self, text: &str) -> Vec<Intent> {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
        }
        self.press(KeyCode::Enter)
    }

    fn draft(&self) -> String {
        self.ui.state.input.text()
    }

    fn said(&self) -> String {
        self.ui.state.status.said.as_ref().map_or_else(String::new, |(said, _)| said.clone())
    }
}

fn takes(at: usize, text: &str) -> Intent {
    Intent::Send(Op::TakeBack { at, text: text.to_owned() })
}

#[test]
fn up_in_an_empty_draft_takes_the_latest_back_and_only_when_it_was_given_back() {
    let mut screen = Screen::waiting(&["one", "two"]);
    assert_eq!(screen.press(KeyCode::Up), [takes(1, "two")]);
    assert_eq!(screen.draft(), "", "it may have been sent in the meantime");
    screen.queued(&["one"]);
    screen.back(&["two"]);
    assert_eq!(screen.draft(), "two");
    // With a draft, the key is for the history again.
    assert_eq!(screen.press(KeyCode::Up), []);
}

#[test]
fn what_comes_back_stands_before_the_draft() {
    let mut screen = Screen::waiting(&["one", "two"]);
    screen.press(KeyCode::Char('x'));
    screen.queued(&[]);
    screen.back(&["one", "two"]);
    assert_eq!(screen.draft(), "one\n\ntwo\n\nx");
    assert_eq!(screen.said(), "the 2 messages that waited are back in your draft");
}

#[test]
fn a_command_edits_drops_and_clears() {
    let mut screen = Screen::waiting(&["one", "two", "three"]);
    assert_eq!(screen.types("/queue edit 1"), [takes(0, "one")]);
    assert_eq!(screen.types("/queue drop 2"), [takes(1, "two")]);
    screen.queued(&["one", "three"]);
    screen.back(&["two"]);
    assert_eq!(
        (screen.draft().as_str(), screen.said().as_str()),
        ("", "dropped; ↑ brings it back")
    );
    assert_eq!(screen.types("/queue clear"), [takes(1, "three"), takes(0, "one")]);
    screen.queued(&[]);
    screen.back(&["three"]);
    screen.back(&["one"]);
    assert_eq!(screen.draft(), "");
}

#[test]
fn a_place_that_is_none_is_said_and_the_command_stays() {
    let mut screen = Screen::waiting(&["one", "two"]);
    assert_eq!(screen.types("/queue drop 3"), []);
    assert!(screen.said().contains("which of the 2 messages"), "{}", screen.said());
    assert_eq!(screen.draft(), "/queue drop 3");
}

#[test]
fn with_nothing_waiting_the_command_says_so() {
    let mut screen = Screen::waiting(&[]);
    assert_eq!(screen.types("/queue "), []);
    assert_eq!(screen.said(), "no message waits");
    assert_eq!(screen.draft(), "", "nothing is left to mend");
}
