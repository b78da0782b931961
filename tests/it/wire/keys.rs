//! Keys of the wire view, at the screen's own edge: messages in, intents out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::domain::exchange::ExchangeId;
use mini_me_tui::domain::{Call, CallId, CallState, Question, QuestionId, QuestionKind, ToolId};
use mini_me_tui::ui::{Intent, Msg, Ui};
use serde_json::Map;

use super::frames::{all, draw, tell, ui, wire};
use super::press;

const SIZE: (u16, u16) = (120, 40);

fn watch(on: bool) -> Vec<Intent> {
    vec![Intent::Send(Op::WatchWire { on })]
}

fn control(ui: &mut Ui, c: char) -> Vec<Intent> {
    let event = Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
    ui.update(Msg::Input { event, at: Instant::now() })
}

fn kinds(ui: &mut Ui, text: &str) {
    text.chars().for_each(|c| drop(press(ui, KeyCode::Char(c))));
}

/// The view with everything in it, drawn once.
fn open() -> Ui {
    let mut ui = ui();
    assert_eq!(press(&mut ui, KeyCode::F(6)), watch(true));
    tell(&mut ui, wire(all(), 0));
    draw(&mut ui, SIZE);
    ui
}

fn copied(intents: Vec<Intent>) -> String {
    match <[Intent; 1]>::try_from(intents) {
        Ok([Intent::Copy { text }]) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_runtime_is_asked_to_tell_only_while_the_view_is_open() {
    let mut ui = open();
    assert_eq!(press(&mut ui, KeyCode::Esc), watch(false));
    kinds(&mut ui, "/wire");
    assert_eq!(press(&mut ui, KeyCode::Enter), watch(true));
    assert_eq!(press(&mut ui, KeyCode::F(6)), watch(false));
    // However it goes away.
    assert_eq!(press(&mut ui, KeyCode::F(6)), watch(true));
    assert_eq!(control(&mut ui, 'c'), watch(false));
    // What comes too late opens nothing.
    tell(&mut ui, wire(all(), 0));
    assert!(!draw(&mut ui, SIZE).contains("TIME UTC"));
}

#[test]
fn escape_goes_one_step_back_at_a_time() {
    let mut ui = open();
    kinds(&mut ui, "tools/list");
    drop(press(&mut ui, KeyCode::Enter));
    assert!(draw(&mut ui, SIZE).contains("wire · docs tools/list"));
    assert_eq!(press(&mut ui, KeyCode::Char('q')), []);
    assert!(draw(&mut ui, SIZE).contains("› tools/list"));
    assert_eq!(press(&mut ui, KeyCode::Esc), []);
    assert!(draw(&mut ui, SIZE).contains("type to filter"));
    assert_eq!(press(&mut ui, KeyCode::Esc), watch(false));
}

#[test]
fn a_request_is_copied_as_curl_and_a_call_as_a_command() {
    let mut ui = open();
    kinds(&mut ui, "call search");
    let curl = copied(control(&mut ui, 'y'));
    assert!(curl.contains("-H 'authorization: Bearer '\"$DOCS_TOKEN\""), "{curl}");
    let command = copied(control(&mut ui, 't'));
    assert_eq!(command, r#"mini-me-tui call docs/search --args '{"q":"it'\''s","page":2}'"#);
    assert!(copied(control(&mut ui, 'r')).contains("data: "));
    assert_eq!(press(&mut ui, KeyCode::Esc), []);
    kinds(&mut ui, "initialize");
    assert_eq!(control(&mut ui, 't'), []);
    assert!(draw(&mut ui, SIZE).contains("no command: this is no call of a tool"));
}

#[test]
fn what_is_listed_is_what_is_exported() {
    let mut ui = open();
    let export = |only| vec![Intent::Send(Op::ExportWire { only })];
    assert_eq!(control(&mut ui, 'e'), export(None));
    kinds(&mut ui, "error");
    assert_eq!(control(&mut ui, 'e'), export(Some(vec![ExchangeId(5), ExchangeId(6)])));
    tell(&mut ui, Notice::WireExported { written: Ok((2, "/data/wire/x.har".into())) });
    assert!(draw(&mut ui, SIZE).contains("2 exchanges in /data/wire/x.har"));
    tell(&mut ui, Notice::WireExported { written: Err("disk full".to_owned()) });
    assert!(draw(&mut ui, SIZE).contains("not exported: disk full"));
}

#[test]
fn a_card_leads_straight_to_its_exchange() {
    let mut ui = ui();
    drop(press(&mut ui, KeyCode::F(7)));
    assert!(draw(&mut ui, SIZE).contains("no call has been made yet"));
    for id in [3, 6, 77] {
        let tool = ToolId::new("docs", "search");
        let call = Call {
            id: CallId(id),
            turn: None,
            tool,
            model_name: "docs_search".into(),
            arguments: Arc::new(Map::new()),
        };
        let state = CallState::Running { progress: None };
        tell(&mut ui, Notice::CallChanged { call: Arc::new(call), state });
    }
    draw(&mut ui, SIZE);
    // The latest one was never sent.
    assert_eq!(press(&mut ui, KeyCode::F(7)), watch(true));
    tell(&mut ui, wire(all(), 0));
    assert!(draw(&mut ui, SIZE).contains("no exchange of this call is kept"));
    assert_eq!(press(&mut ui, KeyCode::Esc), watch(false));
    let up = Event::Key(KeyEvent::new(KeyCode::Up, KeyModifiers::ALT));
    for _ in 0..3 {
        drop(ui.update(Msg::Input { event: up.clone(), at: Instant::now() }));
    }
    drop(press(&mut ui, KeyCode::F(7)));
    tell(&mut ui, wire(all(), 0));
    let shown = draw(&mut ui, SIZE);
    assert!(shown.contains("wire · docs tools/call search") && shown.contains("call 3"), "{shown}");
    // Back is the list, at that exchange; the neighbours are a key away.
    drop(press(&mut ui, KeyCode::Right));
    assert!(draw(&mut ui, SIZE).contains("call 4"));
}

#[test]
fn a_decision_can_be_gone_to_from_here_and_no_key_of_the_view_answers_it() {
    let mut ui = open();
    let kind = QuestionKind::Rounds { rounds: 50 };
    tell(&mut ui, Notice::Questioned { question: Question { id: QuestionId(1), kind } });
    let later = Instant::now() + Duration::from_secs(5);
    drop(ui.update(Msg::Tick { now: later }));
    for key in ['y', 'n', 'a'] {
        let event = Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
        assert_eq!(ui.update(Msg::Input { event, at: later }), []);
    }
    assert!(draw(&mut ui, SIZE).contains("waiting for you"));
    assert_eq!(press(&mut ui, KeyCode::F(3)), watch(false));
    assert!(draw(&mut ui, SIZE).contains("50"));
}

#[test]
fn a_body_of_a_megabyte_scrolls_from_one_end_to_the_other() {
    let mut ui = ui();
    drop(press(&mut ui, KeyCode::F(6)));
    let mut large = all().remove(0);
    let items: Vec<String> = (0..20_000)
        .map(|at| format!("{{\"number\":{at},\"name\":\"entry number {at}\"}}"))
        .collect();
    large.received.bytes = format!("[{}]", items.join(",")).into_bytes();
    large.received.total = large.received.bytes.len() as u64;
    tell(&mut ui, wire(vec![large], 0));
    draw(&mut ui, SIZE);
    drop(press(&mut ui, KeyCode::Enter));
    draw(&mut ui, SIZE);
    drop(press(&mut ui, KeyCode::End));
    assert!(draw(&mut ui, SIZE).contains("entry number 19999"));
    drop(press(&mut ui, KeyCode::PageUp));
    assert!(draw(&mut ui, SIZE).contains("entry number 19985"));
    drop(press(&mut ui, KeyCode::Home));
    assert!(draw(&mut ui, SIZE).contains("with      docs"));
}
