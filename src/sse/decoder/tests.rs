use proptest::prelude::*;

use super::*;

fn decode(pieces: &[&[u8]]) -> (Vec<SseEvent>, Option<String>) {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            events.push(event.expect("within the limit"));
        }
    }
    (events, decoder.finish())
}

fn data_of(bytes: &[u8]) -> Vec<String> {
    decode(&[bytes]).0.into_iter().map(|event| event.data).collect()
}

#[test]
fn cr_lf_and_crlf_all_end_a_line() {
    assert_eq!(data_of(b"data: a\n\ndata: b\r\rdata: c\r\n\r\n"), ["a", "b", "c"]);
}

#[test]
fn a_line_end_cut_between_cr_and_lf_is_one_line_end() {
    let (events, rest) = decode(&[b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data, "a\nb");
    assert_eq!(rest, None);
}

#[test]
fn a_line_that_ends_in_cr_is_handled_without_waiting_for_lf() {
    assert_eq!(data_of(b"data: a\r\n\r"), ["a"]);
}

#[test]
fn only_one_leading_byte_order_mark_is_dropped() {
    assert_eq!(data_of("\u{feff}data: a\n\n\u{feff}data: b\n\n".as_bytes()), ["a"]);
    assert_eq!(data_of("\u{feff}\u{feff}data: a\n\n".as_bytes()), Vec::<String>::new());
}

#[test]
fn one_space_after_the_colon_is_dropped_and_no_more() {
    assert_eq!(data_of(b"data:  a\n\ndata:b\n\ndata\n\n"), [" a", "b", ""]);
}

#[test]
fn comments_and_unknown_fields_are_passed_over() {
    assert_eq!(data_of(b": hello\nfoo: bar\nDATA: no\ndata: yes\n\n"), ["yes"]);
}

#[test]
fn an_event_without_a_data_line_is_none_and_forgets_its_type() {
    let (events, _) = decode(&[b"event: odd\n\ndata: x\n\n"]);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].event, "message");
}

#[test]
fn an_empty_data_line_is_an_event_and_carries_id_and_retry() {
    let (events, _) = decode(&[b"id: s1\nretry: 1500\ndata:\n\n"]);
    assert_eq!(
        events,
        [SseEvent {
            event: "message".into(),
            data: String::new(),
            id: "s1".to_owned(),
            retry: Some(Duration::from_millis(1500)),
        }]
    );
}

#[test]
fn an_id_stays_until_another_comes_and_an_empty_one_resets_it() {
    let (events, _) = decode(&[b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"]);
    let ids: Vec<_> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, ["1", "1", ""]);
}

#[test]
fn an_id_with_nul_is_ignored() {
    let (events, _) = decode(&[b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n"]);
    assert_eq!(events[1].id, "1");
}

#[test]
fn an_id_counts_once_its_event_is_dispatched_even_without_data() {
    let mut decoder = Decoder::default();
    decoder.push(b"id: 7\n");
    assert_eq!(decoder.last_id(), "");
    decoder.push(b"\n");
    assert_eq!(decoder.last_id(), "7");
}

#[test]
fn retry_takes_digits_only() {
    let mut decoder = Decoder::default();
    decoder.push(b"retry: 10\nretry: 1s\nretry:\nretry: -5\n\n");
    assert_eq!(decoder.retry(), Some(Duration::from_millis(10)));
}

#[test]
fn bytes_that_are_not_utf8_become_replacement_characters() {
    assert_eq!(data_of(b"data: a\xFFb\xE2\x82\n\n"), ["a\u{fffd}b\u{fffd}"]);
}

#[test]
fn an_unfinished_event_is_no_event_but_is_handed_back() {
    assert_eq!(decode(&[b"data: a\ndata: b"]), (Vec::new(), Some("a\nb".to_owned())));
    assert_eq!(decode(&[b"data: a\n"]), (Vec::new(), Some("a".to_owned())));
    assert_eq!(decode(&[b"data: a\n\nid: 4"]).1, None);
}

#[test]
fn an_event_over_the_limit_is_an_error_that_names_it_and_the_last_thing_said() {
    for piece in [1, 7, 100_000] {
        let mut decoder = Decoder::new(100);
        let stream = [b"data: ok\n\ndata: ".to_vec(), vec![b'x'; 200], b"\n\ndata: z\n\n".to_vec()];
        for bytes in stream.concat().chunks(piece) {
            decoder.push(bytes);
        }
        assert_eq!(decoder.next().unwrap().unwrap().data, "ok");
        let fault = decoder.next().unwrap().unwrap_err();
        assert!(fault.to_string().contains("100 bytes (SSE event)"), "{fault}");
        assert_eq!(decoder.next(), None);
    }
}

#[test]
fn many_small_lines_of_one_event_count_together() {
    let mut decoder = Decoder::new(100);
    decoder.push("data:\n".repeat(200).as_bytes());
    assert!(decoder.next().unwrap().is_err());
}

#[test]
fn a_cut_character_at_the_end_of_a_line_counts_as_what_becomes_of_it() {
    for piece in [1, 100] {
        let mut decoder = Decoder::new(10);
        for bytes in b"data: 12345678\xE2\n\n".chunks(piece) {
            decoder.push(bytes);
        }
        assert!(decoder.next().unwrap().is_err());
    }
}

#[test]
fn a_comment_may_be_longer_than_the_limit() {
    let mut decoder = Decoder::new(100);
    decoder.push(b"data: a\n\n:");
    for _ in 0..100 {
        decoder.push(&[b'x'; 64]);
    }
    decoder.push(b"\ndata: b\n\n");
    assert_eq!(decoder.next().unwrap().unwrap().data, "a");
    assert_eq!(decoder.next().unwrap().unwrap().data, "b");
}

#[test]
fn a_large_event_in_single_bytes_is_decoded_in_one_pass() {
    let text = "0123456789abcdef".repeat(1 << 16);
    let mut decoder = Decoder::default();
    for byte in format!("data: {text}\n\n").as_bytes() {
        decoder.push(&[*byte]);
    }
    assert_eq!(decoder.next().unwrap().unwrap().data, text);
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        Just(b"data: {\"a\":1}".to_vec()),
        Just(b"data:".to_vec()),
        Just("data: ❄ é 🏔".as_bytes().to_vec()),
        Just(b"event: ping".to_vec()),
        Just(b"id: 12".to_vec()),
        Just(b"id: 1\0".to_vec()),
        Just(b"retry: 250".to_vec()),
        Just(b": comment".to_vec()),
        Just(b"\xEF\xBB\xBFdata: b".to_vec()),
        Just(Vec::new()),
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    let ending = prop_oneof![Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec())];
    (field, ending).prop_map(|(field, ending)| [field, ending].concat())
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_events(
        lines in proptest::collection::vec(line(), 0..30),
        tail in proptest::collection::vec(any::<u8>(), 0..20),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
    ) {
        let stream = [lines.concat(), tail].concat();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in at {
            pieces.push(&stream[start..cut]);
            start = cut;
        }
        pieces.push(&stream[start..]);
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        let whole = decode(&[&stream]);
        prop_assert_eq!(&decode(&pieces), &whole);
        prop_assert_eq!(&decode(&single), &whole);
    }
}
