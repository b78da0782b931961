use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;
use crate::domain::exchange::{About, Head, Header, HeaderValue, Kept, Side};

fn kept(bytes: &[u8]) -> Kept {
    let arrivals = vec![(bytes.len(), Duration::from_millis(4))];
    Kept { bytes: bytes.to_vec(), total: bytes.len() as u64, arrivals, ..Kept::default() }
}

fn exchange(id: u64, method: &str, media: &str, body: &[u8]) -> Exchange {
    let plain = |value: &str| HeaderValue::Plain(value.to_owned());
    Exchange {
        id: ExchangeId(id),
        at: SystemTime::UNIX_EPOCH,
        side: Side::Server("docs".into()),
        about: About::method(method),
        verb: "POST",
        url: "https://docs.test/mcp".to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        sent: kept(b"{\"a\":1}"),
        head: Some(Head {
            status: 200,
            version: "HTTP/1.1",
            headers: vec![Header { name: "content-type".into(), value: plain(media) }],
            after: Duration::from_millis(3),
        }),
        received: kept(body),
        took: Duration::from_millis(5),
        ending: Ending::Complete,
    }
}

fn listing(exchanges: Vec<Exchange>) -> Arc<Exchanges> {
    Arc::new(Exchanges { kept: exchanges.into_iter().map(Arc::new).collect(), dropped: 0 })
}

fn some(count: u64) -> Vec<Exchange> {
    (1..=count).map(|id| exchange(id, "tools/list", "application/json", b"{}")).collect()
}

fn view(exchanges: Vec<Exchange>) -> WireView {
    let mut view = WireView { area: Rect::new(0, 0, 80, 4), ..WireView::default() };
    view.arrived(listing(exchanges));
    view
}

fn lines(sheet: &Sheet) -> Vec<String> {
    let text = |line: Shown<'_>| line.text.replace(Sheet::DIVIDER, "  ");
    sheet.from_row(0).map(text).collect()
}

#[test]
fn the_list_follows_the_newest_until_another_one_is_selected() {
    let mut view = view(some(6));
    assert_eq!((view.selected(), view.scroll), (5, 2));
    view.arrived(listing(some(9)));
    assert_eq!((view.selected(), view.scroll), (8, 5));
    view.go(-3);
    view.arrived(listing(some(20)));
    assert_eq!(view.current().unwrap().id, ExchangeId(6));
    view.go(100);
    view.arrived(listing(some(30)));
    assert_eq!(view.selected(), 29);
}

#[test]
fn what_is_selected_stays_so_when_older_ones_are_let_go_of() {
    let mut view = view(some(9));
    view.go(-4);
    assert_eq!(view.current().unwrap().id, ExchangeId(5));
    view.arrived(listing(some(9).split_off(2)));
    assert_eq!(view.current().unwrap().id, ExchangeId(5));
    view.arrived(listing(some(9).split_off(7)));
    assert_eq!(view.current().unwrap().id, ExchangeId(8), "the next one that is still there");
}

#[test]
fn every_typed_word_has_to_be_there() {
    let mut all = some(3);
    all[1].about = About { subject: Some("Search".into()), ..About::method("tools/call") };
    all[2].ending = Ending::Failed("no route".to_owned());
    let mut view = view(all);
    for (filter, ids) in
        [("docs", vec![1, 2, 3]), ("call sea", vec![2]), ("ERROR", vec![3]), ("nope", vec![])]
    {
        view.filter = filter.to_owned();
        view.refresh();
        let listed: Vec<u64> = view.listed().unwrap().iter().map(|id| id.0).collect();
        assert_eq!(listed, ids, "{filter}");
    }
    view.filter.clear();
    view.refresh();
    assert_eq!(view.listed(), None, "all");
}

#[test]
fn a_call_leads_to_its_request_and_not_to_what_else_belongs_to_it() {
    let mut all = some(4);
    all[1].about = About { call: Some(CallId(7)), ..About::method("tools/call") };
    all[2].about = About { call: Some(CallId(7)), ..About::default() };
    let mut view = WireView::new(Some(CallId(7)));
    assert_eq!(view.arrived(listing(all.clone())), Wish::Granted);
    assert_eq!(view.detail.as_ref().unwrap().exchange.id, ExchangeId(2));
    let mut view = WireView::new(Some(CallId(8)));
    assert_eq!(view.arrived(listing(all)), Wish::Gone);
    assert!(view.detail.is_none());
}

#[test]
fn an_open_stream_is_read_on_at_its_end_and_held_still_elsewhere() {
    let stream = |events: usize| {
        let text = "data: {\"n\":1}\n\n".repeat(events);
        let mut one = exchange(1, "tools/call", "text/event-stream", text.as_bytes());
        one.ending = Ending::Open;
        one
    };
    let mut view = view(vec![stream(20)]);
    view.open_selected();
    let detail = view.detail.as_mut().unwrap();
    detail.sheet.lay(80);
    detail.height = 10;
    detail.go(10);
    view.arrived(listing(vec![stream(30)]));
    assert_eq!(view.detail.as_ref().unwrap().scroll, 10);
    view.go(isize::MAX);
    let before = view.detail.as_ref().unwrap().scroll;
    view.arrived(listing(vec![stream(40)]));
    let detail = view.detail.as_ref().unwrap();
    assert!(detail.scroll > before);
    assert_eq!(detail.scroll, detail.last());
}

#[test]
fn bodies_are_laid_out_by_what_they_are() {
    let json =
        Sheet::of(&exchange(1, "x", "application/json", br#"{"a":["long\ntext"],"b":1.50}"#));
    let shown = lines(&json);
    assert!(shown.iter().any(|line| line == "  \"b\": 1.50"), "{shown:#?}");
    assert!(shown.iter().any(|line| line == "    \"long\\n"), "{shown:#?}");
    let text = Sheet::of(&exchange(1, "x", "text/html", b"<p>\r\n\x1b[31mred</p>\n"));
    assert_eq!(lines(&text).pop().unwrap(), "\u{1b}[31mred</p>");
    let bytes = Sheet::of(&exchange(1, "x", "image/png", b"\x89PNG\x00\xff and so on, 20"));
    let shown = lines(&bytes);
    assert!(shown.contains(&"20 bytes that are no text (image/png)".to_owned()), "{shown:#?}");
    assert_eq!(
        shown[shown.len() - 2],
        "00000000  89 50 4e 47 00 ff 20 61 6e 64 20 73 6f 20 6f 6e  .PNG.. and so on"
    );
    assert!(shown.last().unwrap().ends_with("  , 20"));
}

#[test]
fn events_stand_one_by_one_with_their_times() {
    let body = b"data: {\"n\":1}\n\nevent: note\nid: 4\ndata: two\n\ndata: thr";
    let sheet = Sheet::of(&exchange(1, "x", "text/event-stream", body));
    let shown = lines(&sheet);
    let at = shown.iter().position(|line| line.starts_with("event 1")).unwrap();
    assert_eq!(shown[at], "event 1  +4.0 ms  message  7 B");
    assert!(shown.contains(&"event 2  +4.0 ms  note  id 4  3 B".to_owned()), "{shown:#?}");
    assert!(shown.contains(&"event 3  +4.0 ms  message  id 4  3 B  unfinished".to_owned()));
}

#[test]
fn what_was_cut_and_what_was_replaced_is_said() {
    let mut one = exchange(1, "x", "text/plain", b"abc");
    (one.received.total, one.received.cut, one.received.redacted) = (5_000_003, 5_000_000, 2);
    let shown = lines(&Sheet::of(&one));
    assert!(shown.contains(&"The first 3 of 5,000,003 bytes were kept.".to_owned()));
    assert!(shown.contains(&"Secrets that were replaced: 2.".to_owned()));
}

#[test]
fn a_body_of_a_megabyte_on_one_line_costs_what_is_seen() {
    let long = format!("{{\"a\":\"{}\"}}", "x\\\\y".repeat(256 * 1024));
    let mut sheet = Sheet::of(&exchange(1, "x", "application/json", long.as_bytes()));
    sheet.lay(100);
    assert!(sheet.rows() > 10_000);
    // Whatever the row, only a bounded piece has to be looked at.
    for row in [0, 5_000, sheet.rows() - 1] {
        let line = sheet.from_row(row).next().unwrap();
        assert!(line.text.len() <= 8_000 && line.skip < 100);
    }
}

proptest! {
    /// The rows that are counted are the rows that are drawn.
    #[test]
    fn rows_are_counted_as_they_are_drawn(
        body in prop::collection::vec(
            prop_oneof!["[ -~]{0,40}", "\\PC{0,20}", Just("\u{202e}\t\u{1f}é漢字".to_owned())], 0..12),
        width in 1_usize..60,
    ) {
        let text = body.join("\\n\n");
        let mut sheet = Sheet::of(&exchange(1, "x", "application/json", text.as_bytes()));
        sheet.lay(width);
        let mark = crate::ui::flow::Piece::new(MARK, ratatui::style::Style::new());
        let drawn: usize = sheet
            .from_row(0)
            .map(|line| {
                let shown = crate::text::strict_line(&line.text.replace(Sheet::DIVIDER, "  "));
                let shown = if line.goes_on { format!("{MARK}{shown}") } else { shown.into_string() };
                let piece = crate::ui::flow::Piece::new(shown, ratatui::style::Style::new());
                crate::ui::flow::fold(&[piece], width, &mark).len()
            })
            .sum();
        prop_assert_eq!(sheet.rows(), drawn);
        // From every row on, the rows above it are the ones that are skipped.
        for row in 0..sheet.rows() {
            prop_assert!(sheet.from_row(row).next().is_some());
        }
    }
}
