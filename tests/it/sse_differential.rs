//! The same bytes through this program's event-stream decoder and through two others: equal where
//! they follow the standard, and every difference known by name.
//!
//! `sse-stream` gives raw blocks; what a browser makes of them (the id that stays, blocks without
//! data that are none) is added here, so that the decoders are compared and not their tasks.

use std::convert::Infallible;

use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use mini_me_tui::sse::Decoder;
use proptest::prelude::*;

/// An event as `type|data|id|retry`; the last entry may be `error` or `panic`.
type Seen = Vec<String>;

fn event(kind: &str, data: &str, id: &str, retry: Option<u128>) -> String {
    let kind = if kind.is_empty() { "message" } else { kind };
    let retry = retry.map_or_else(|| "-".to_owned(), |millis| millis.to_string());
    format!("{kind}|{data}|{id}|{retry}")
}

fn ours(pieces: &[&[u8]]) -> Seen {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(next) = decoder.next() {
            let next = next.expect("within the limit");
            let retry = next.retry.map(|retry| retry.as_millis());
            seen.push(event(&next.event, &next.data, &next.id, retry));
        }
    }
    seen
}

fn feed(pieces: &[&[u8]]) -> impl Stream<Item = Result<Vec<u8>, Infallible>> + Unpin {
    stream::iter(pieces.iter().map(|piece| Ok(piece.to_vec())).collect::<Vec<_>>())
}

fn sse_stream(pieces: &[&[u8]]) -> Seen {
    let bytes = feed(pieces).map(|piece| piece.map(bytes::Bytes::from));
    let mut blocks = sse_stream::SseByteStream::new(bytes);
    let (mut seen, mut id, mut retry) = (Vec::new(), String::new(), None);
    while let Some(Some(block)) = blocks.next().now_or_never() {
        let Ok(block) = block else {
            seen.push("error".to_owned());
            break;
        };
        id = block.id.unwrap_or(id);
        retry = block.retry.map(u128::from).or(retry);
        if let Some(data) = block.data {
            seen.push(event(block.event.as_deref().unwrap_or_default(), &data, &id, retry));
        }
    }
    seen
}

fn eventsource_stream(pieces: &[&[u8]]) -> Seen {
    let read = std::panic::catch_unwind(|| eventsource_stream_to_its_end(pieces));
    read.unwrap_or_else(|_| vec!["panic".to_owned()])
}

fn eventsource_stream_to_its_end(pieces: &[&[u8]]) -> Seen {
    let mut events = eventsource_stream::EventStream::new(feed(pieces));
    let (mut seen, mut retry) = (Vec::new(), None);
    while let Some(Some(next)) = events.next().now_or_never() {
        let Ok(next) = next else {
            seen.push("error".to_owned());
            break;
        };
        retry = next.retry.map(|retry| retry.as_millis()).or(retry);
        seen.push(event(&next.event, &next.data, &next.id, retry));
    }
    seen
}

/// One stream, what the standard makes of it, and who sees it otherwise.
struct Case {
    name: &'static str,
    bytes: &'static [u8],
    standard: &'static [&'static str],
    /// What `sse-stream` makes of it instead.
    sse_stream: Option<&'static [&'static str]>,
    /// What `eventsource-stream` makes of it instead.
    eventsource: Option<&'static [&'static str]>,
}

impl Case {
    const fn agreed(
        name: &'static str,
        bytes: &'static [u8],
        standard: &'static [&'static str],
    ) -> Self {
        Self { name, bytes, standard, sse_stream: None, eventsource: None }
    }
}

const CASES: &[Case] = &[
    Case::agreed("one line", b"data: a\n\n", &["message|a||-"]),
    Case::agreed("data lines are joined", b"data: a\ndata: b\ndata\n\n", &["message|a\nb\n||-"]),
    Case::agreed("empty data is an event", b"data:\n\n", &["message|||-"]),
    Case::agreed("a type without data is forgotten", b"event: x\n\ndata: a\n\n", &["message|a||-"]),
    Case::agreed("an empty type is none", b"event: x\nevent:\ndata: a\n\n", &["message|a||-"]),
    Case::agreed("the last type counts", b"event: x\nevent: y\ndata: a\n\n", &["y|a||-"]),
    Case::agreed(
        "an id stays",
        b"id: 1\n\ndata: a\n\ndata: b\n\n",
        &["message|a|1|-", "message|b|1|-"],
    ),
    Case::agreed(
        "an empty id resets",
        b"id: 1\ndata: a\n\nid\ndata: b\n\n",
        &["message|a|1|-", "message|b||-"],
    ),
    Case::agreed(
        "an id with NUL is passed over",
        b"id: 1\nid: 2\0\ndata: a\n\n",
        &["message|a|1|-"],
    ),
    Case::agreed(
        "one space is dropped",
        b"data:  a\n\ndata:b\n\n",
        &["message| a||-", "message|b||-"],
    ),
    Case::agreed("comments are passed over", b":\n: x\ndata: a\n:y\n\n", &["message|a||-"]),
    Case::agreed(
        "unknown and misspelt fields",
        b"Data: x\nfoo: y\n data: z\ndata: a\n\n",
        &["message|a||-"],
    ),
    Case::agreed("no mark later", b"data: a\n\n\xEF\xBB\xBFdata: b\n\n", &["message|a||-"]),
    Case::agreed("CR LF", b"data: a\r\n\r\ndata: b\r\n\r\n", &["message|a||-", "message|b||-"]),
    Case::agreed(
        "CR within a stream",
        b"data: a\r\rdata: b\n\n",
        &["message|a||-", "message|b||-"],
    ),
    Case::agreed("an unfinished event is none", b"data: a\n\ndata: b\n", &["message|a||-"]),
    Case::agreed("retry", b"retry: 250\ndata: a\n\n", &["message|a||250"]),
    Case::agreed(
        "retry that is no number",
        b"retry: 2s\nretry: -1\nretry:\ndata: a\n\n",
        &["message|a||-"],
    ),
    // The byte-order mark at the very beginning is dropped. eventsource-stream cuts one byte off the
    // text, where the mark has three, and panics.
    Case {
        eventsource: Some(&["panic"]),
        ..Case::agreed("one mark at the beginning", b"\xEF\xBB\xBFdata: a\n\n", &["message|a||-"])
    },
    Case {
        eventsource: Some(&["panic"]),
        ..Case::agreed("a second mark is text", b"\xEF\xBB\xBF\xEF\xBB\xBFdata: b\n\n", &[])
    },
    // A CR ends a line by itself, whatever follows. eventsource-stream waits for the next byte to
    // know whether it is an LF, and so never gives the last event of a stream of CRs.
    Case {
        eventsource: Some(&[]),
        ..Case::agreed("CR at the end", b"data: a\r\r", &["message|a||-"])
    },
    // Only digits count. eventsource-stream takes whatever Rust reads as a number, a plus included.
    Case {
        eventsource: Some(&["message|a||5"]),
        ..Case::agreed("retry with a sign", b"retry: +5\ndata: a\n\n", &["message|a||-"])
    },
    // The reconnection time is set as soon as the line is read. eventsource-stream ties it to the
    // event, and forgets it with an event that has no data.
    Case {
        eventsource: Some(&["message|a||-"]),
        ..Case::agreed("retry without data", b"retry: 9\n\ndata: a\n\n", &["message|a||9"])
    },
    // The standard sets no limit: here it becomes the longest time that there is. Both others drop
    // the line and stay with what they had.
    Case {
        sse_stream: Some(&["message|a||-"]),
        eventsource: Some(&["message|a||-"]),
        ..Case::agreed(
            "retry beyond 64 bits",
            b"retry: 99999999999999999999\ndata: a\n\n",
            &["message|a||18446744073709551615"],
        )
    },
    // Decoding UTF-8 never fails: U+FFFD stands for what is none. sse-stream ends with an error;
    // eventsource-stream waits with everything that follows, and gives the error at the end.
    Case {
        sse_stream: Some(&["error"]),
        eventsource: Some(&["error"]),
        ..Case::agreed(
            "a byte that is no UTF-8",
            b"data: a\xFFb\n\ndata: c\n\n",
            &["message|a\u{FFFD}b||-", "message|c||-"],
        )
    },
    Case {
        sse_stream: Some(&["error"]),
        eventsource: Some(&["error"]),
        ..Case::agreed(
            "a character cut by the end of its line",
            b"data: a\xE2\x9D\ndata: b\n\n",
            &["message|a\u{FFFD}\nb||-"],
        )
    },
    // Where no field is touched by it, only eventsource-stream minds.
    Case {
        eventsource: Some(&["error"]),
        ..Case::agreed("a comment that is no UTF-8", b": \xFF\ndata: a\n\n", &["message|a||-"])
    },
];

#[test]
fn decoders_agree_but_for_the_differences_listed() {
    for case in CASES {
        let single: Vec<&[u8]> = case.bytes.chunks(1).collect();
        for (way, pieces) in [("whole", &[case.bytes][..]), ("in single bytes", &single)] {
            let (name, standard) = (case.name, case.standard);
            assert_eq!(ours(pieces), standard, "ours, {name}, {way}");
            let other = case.sse_stream.unwrap_or(standard);
            assert_eq!(sse_stream(pieces), other, "sse-stream, {name}, {way}");
            let other = case.eventsource.unwrap_or(standard);
            assert_eq!(eventsource_stream(pieces), other, "eventsource-stream, {name}, {way}");
        }
    }
}

#[test]
fn a_difference_is_listed_only_where_there_is_one() {
    for case in CASES {
        for other in [case.sse_stream, case.eventsource].into_iter().flatten() {
            assert_ne!(other, case.standard, "{}", case.name);
        }
    }
}

/// A line of the subset in which all three follow the standard: UTF-8, and a retry that is a
/// number of at most 64 bits and belongs to an event with data.
fn line() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        4 => "[a-z ❄é🏔\u{0}\u{FEFF}:]{0,12}".prop_map(|text| format!("data: {text}")),
        1 => "[ -~]{0,12}".prop_map(|text| format!("data:{text}")),
        1 => Just("data".to_owned()),
        1 => "[a-zé]{0,6}".prop_map(|text| format!("event: {text}")),
        1 => "[0-9\u{0}❄]{0,3}".prop_map(|text| format!("id: {text}")),
        1 => (0_u64..).prop_map(|millis| format!("data: x\nretry: {millis}")),
        1 => "[^\r\n]{0,12}".prop_map(|text| format!(":{text}")),
        1 => "[a-z]{1,5}(: [^\r\n]{0,4})?"
            .prop_filter("retry belongs to an event", |text| !text.starts_with("retry")),
        4 => Just(String::new()),
    ];
    let ending = prop_oneof![3 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    (field, ending).prop_map(|(field, ending)| field + ending)
}

proptest! {
    #[test]
    fn all_three_agree_on_streams_that_none_of_them_minds(
        mark in any::<bool>(),
        lines in proptest::collection::vec(line(), 0..40),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..20),
    ) {
        // The last line end is an LF: eventsource-stream would wait for it.
        let stream = format!("{}{}\n", if mark { "\u{FEFF}" } else { "" }, lines.concat());
        let stream = stream.into_bytes();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for end in at.into_iter().chain([stream.len()]) {
            pieces.push(&stream[start..end]);
            start = end;
        }
        let seen = ours(&pieces);
        prop_assert_eq!(&seen, &sse_stream(&pieces));
        if !mark {
            prop_assert_eq!(&seen, &eventsource_stream(&pieces));
        }
    }
}
