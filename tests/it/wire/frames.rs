//! Frames of the wire view: list, one exchange, events of a stream, nothing yet.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crossterm::event::KeyCode;
use mini_me_tui::bridge::Notice;
use mini_me_tui::domain::exchange::{
    About, Ending, Exchange, ExchangeId, Exchanges, Head, Header, HeaderValue, Kept, Side,
};
use mini_me_tui::domain::{CallId, Catalog};
use mini_me_tui::ui::{Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::press;

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (50, 15)];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn plain(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: HeaderValue::Plain(value.to_owned()) }
}

fn kept(text: &str, arrivals: &[(usize, u64)]) -> Kept {
    let arrivals = arrivals.iter().map(|(end, at)| (*end, ms(*at))).collect();
    let (bytes, total) = (text.as_bytes().to_vec(), text.len() as u64);
    Kept { bytes, total, arrivals, ..Kept::default() }
}

/// An exchange that was answered in JSON.
fn answered(id: u64, method: &str, subject: Option<&str>, status: u16, body: &str) -> Exchange {
    let value = HeaderValue::Secret { before: "Bearer ".into(), variable: "DOCS_TOKEN".into() };
    let params = subject.map_or_else(String::new, |name| {
        format!(r#","params":{{"name":"{name}","arguments":{{"q":"it's","page":2}}}}"#)
    });
    Exchange {
        id: ExchangeId(id),
        at: SystemTime::UNIX_EPOCH + ms(1_785_240_000_123 + id * 1_211),
        side: Side::Server("docs".into()),
        about: About {
            method: method.to_owned(),
            subject: subject.map(str::to_owned),
            call: subject.map(|_| CallId(id)),
        },
        verb: "POST",
        url: "https://docs.test/mcp".to_owned(),
        query: Vec::new(),
        headers: vec![
            Header { name: "authorization".into(), value },
            plain("mcp-method", method),
            plain("content-type", "application/json"),
        ],
        sent: kept(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#), &[]),
        head: Some(Head {
            status,
            version: "HTTP/1.1",
            headers: vec![plain("content-type", "application/json")],
            after: ms(31),
        }),
        received: kept(body, &[(body.len(), 38)]),
        took: ms(38),
        ending: Ending::Complete,
    }
}

/// Whatever there can be.
pub(super) fn all() -> Vec<Exchange> {
    let result = r##"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"# Found\n\n1. A page\u202e\n2. Another"}],"isError":false}}"##;
    let progress = |at: u64| {
        format!(
            "event: message\nid: {at}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":4,\"progress\":{at}}}}}\n\n"
        )
    };
    let (one, two) = (progress(1), progress(2));
    let events = format!("{one}{two}data: {result}\n\n");
    let mut stream = answered(4, "tools/call", Some("search"), 200, "");
    stream.head.as_mut().unwrap().headers = vec![plain("content-type", "text/event-stream")];
    let ends = [(one.len(), 45), (one.len() + two.len(), 1_300), (events.len(), 2_604)];
    stream.received = kept(&events, &ends);
    stream.took = ms(2_610);
    let mut standing = answered(2, "", None, 200, "");
    (standing.verb, standing.ending, standing.took) = ("GET", Ending::Open, ms(95_000));
    standing.sent = Kept::default();
    let mut lost = answered(6, "tools/call", Some("delete_page"), 200, "");
    (lost.head, lost.took) = (None, ms(8_003));
    lost.ending = Ending::Failed("No connection to docs.test:443 within 8 s.".to_owned());
    let mut model = answered(7, "", None, 200, "");
    model.side = Side::Model("ai/qwen3".to_owned());
    "http://localhost:12434/engines/v1/chat/completions".clone_into(&mut model.url);
    (model.ending, model.took) = (Ending::Open, ms(410));
    let mut waits = answered(8, "tools/call", Some("resolve-library-id"), 200, "");
    (waits.head, waits.ending, waits.took) = (None, Ending::Open, ms(0));
    vec![
        answered(1, "initialize", None, 200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        standing,
        answered(3, "tools/call", Some("search"), 200, result),
        stream,
        answered(5, "tools/list", None, 401, "no"),
        lost,
        model,
        waits,
    ]
}

pub(super) fn wire(exchanges: Vec<Exchange>, dropped: u64) -> Notice {
    let kept = exchanges.into_iter().map(Arc::new).collect();
    Notice::Wire { exchanges: Arc::new(Exchanges { kept, dropped }) }
}

pub(super) fn ui() -> Ui {
    let options = UiOptions { model: "ai/qwen3".to_owned(), ..UiOptions::default() };
    Ui::new(options, Arc::new(Catalog::new(Vec::new(), Vec::new(), 1)))
}

pub(super) fn tell(ui: &mut Ui, notice: Notice) {
    drop(ui.update(Msg::Notice { notice, at: Instant::now() }));
}

pub(super) fn draw(ui: &mut Ui, size: (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| ui.draw(frame, Instant::now())).unwrap();
    terminal.backend().to_string()
}

/// One snapshot for each size, after these keys. A frame is drawn between them.
fn snap(name: &str, exchanges: &[Exchange], keys: &[KeyCode]) {
    for size in SIZES {
        let mut ui = ui();
        drop(press(&mut ui, KeyCode::F(6)));
        tell(&mut ui, wire(exchanges.to_vec(), 0));
        for key in keys {
            draw(&mut ui, size);
            drop(press(&mut ui, *key));
        }
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), draw(&mut ui, size));
    }
}

#[test]
fn nothing_yet_says_what_will_stand_here() {
    snap("wire_empty", &[], &[]);
}

#[test]
fn the_list_shows_what_became_of_each_exchange() {
    snap("wire_list", &all(), &[]);
}

#[test]
fn what_matches_the_filter_is_listed_and_counted() {
    snap("wire_filtered", &all(), &"search".chars().map(KeyCode::Char).collect::<Vec<_>>());
}

#[test]
fn an_exchange_is_shown_in_full() {
    let keys = [KeyCode::Home, KeyCode::Down, KeyCode::Down, KeyCode::Enter];
    snap("wire_exchange", &all(), &keys);
}

#[test]
fn events_are_shown_one_by_one() {
    let keys = [KeyCode::Home, KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Enter];
    let parts = [KeyCode::Tab; 3];
    snap("wire_events", &all(), &[keys.as_slice(), &parts].concat());
}

#[test]
fn what_failed_says_why() {
    let mut keys = vec![KeyCode::Home];
    keys.extend([KeyCode::Down; 5]);
    keys.push(KeyCode::Enter);
    snap("wire_failed", &all(), &keys);
}

#[test]
fn what_a_server_sends_never_reaches_the_terminal_as_it_is() {
    let mut evil =
        answered(9, "tools/call", Some("a\u{1b}[2J\u{202e}b"), 200, "\u{1b}]0;x\u{7}\r\u{8}");
    evil.head.as_mut().unwrap().headers.push(plain("x-\u{1b}[31m", "\u{1b}[31m\u{1f}red"));
    evil.ending = Ending::Failed("\u{1b}c\u{1f}gone".to_owned());
    evil.url = "https://docs.test/\u{1b}[5m".to_owned();
    let mut ui = ui();
    drop(press(&mut ui, KeyCode::F(6)));
    tell(&mut ui, wire(vec![evil], 3));
    let list = draw(&mut ui, (120, 40));
    drop(press(&mut ui, KeyCode::Enter));
    let shown = list + &draw(&mut ui, (120, 40));
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(!shown.contains('\u{202e}'));
    assert!(shown.contains("3 older let go"));
}
