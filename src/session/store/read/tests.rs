use std::ops::Range;

use proptest::prelude::*;

use super::super::tests::{answered, called, header, id, lines, said};
use super::*;
use crate::domain::{Message, TurnEnd};

fn session() -> SessionId {
    id("20261130-181512-ab12cd")
}

/// A valid file, and where each of its events stands in it, without the line's end.
fn file_of(events: Vec<SessionEvent>) -> (Vec<u8>, Vec<Range<usize>>) {
    let mut bytes = header(&session()).into_bytes();
    bytes.push(b'\n');
    let mut places = Vec::new();
    for line in lines(events) {
        places.push(bytes.len()..bytes.len() + line.len());
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    (bytes, places)
}

fn story() -> Vec<SessionEvent> {
    let result = Message::Result {
        provider_id: "c1".into(),
        call: None,
        name: "s_t".into(),
        text: "größer: ✓ \u{1f600}".into(),
        is_error: false,
    };
    vec![
        said("hello \"you\" \\ \n two lines"),
        answered(),
        called(),
        SessionEvent::Message { message: result },
        SessionEvent::TurnEnded { reason: TurnEnd::Cancelled },
        said("again"),
    ]
}

fn events(bytes: &[u8]) -> Vec<SessionEvent> {
    let read = decode(bytes, &session()).unwrap();
    read.lines.into_iter().map(|line| line.event).collect()
}

/// Every call of the model has exactly one result, right after the message that asked.
fn is_sound(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Result { provider_id, .. } => {
                if open.is_empty() || open.remove(0) != provider_id {
                    return false;
                }
            }
            _ if !open.is_empty() => return false,
            Message::Assistant { calls, .. } => {
                open = calls.iter().map(|call| call.provider_id.as_str()).collect();
            }
            Message::User { .. } => {}
        }
    }
    open.is_empty()
}

#[test]
fn every_cut_of_a_file_gives_all_that_was_finished_before_it() {
    let story = story();
    let (bytes, places) = file_of(story.clone());
    for cut in 0..=bytes.len() {
        let finished = places.iter().take_while(|place| place.end <= cut).count();
        let read = decode(&bytes[..cut], &session()).unwrap();
        let found: Vec<SessionEvent> = read.lines.iter().map(|line| line.event.clone()).collect();
        assert_eq!(found, story[..finished], "cut at {cut}");
        assert!(is_sound(&read.messages()), "cut at {cut}");
        assert_eq!(read.skipped, 0, "cut at {cut}");
    }
}

#[test]
fn what_is_written_after_a_torn_line_is_read() {
    let (mut bytes, _) = file_of(vec![said("one")]);
    bytes.extend_from_slice(b"{\"at\":\"2026-11-30T18:15:14Z\",\"type\":\"mess");
    let after = lines(vec![said("two")]).remove(0);
    for glue in ["", "\n", "\0\0\0", "\0\0\0\n"] {
        let mut bytes = bytes.clone();
        bytes.extend_from_slice(glue.as_bytes());
        bytes.extend_from_slice(after.as_bytes());
        bytes.push(b'\n');
        assert_eq!(events(&bytes), [said("one"), said("two")], "{glue:?}");
    }
}

#[test]
fn blocks_of_zeros_cost_nothing_but_themselves() {
    let (bytes, places) = file_of(vec![said("one"), said("two")]);
    let second = places[1].start;
    let mut damaged = bytes[..second].to_vec();
    damaged.extend_from_slice(&[0; 4096]);
    damaged.extend_from_slice(&bytes[second..]);
    assert_eq!(events(&damaged), [said("one"), said("two")]);
    damaged.extend_from_slice(&[0; 4096]);
    let read = decode(damaged.as_slice(), &session()).unwrap();
    assert_eq!((read.lines.len(), read.skipped), (2, 1));
}

#[test]
fn bytes_that_are_no_text_cost_their_line() {
    let (mut bytes, places) = file_of(vec![said("one"), said("two"), said("three")]);
    bytes[places[1].start + 60] = 0xff;
    let read = decode(bytes.as_slice(), &session()).unwrap();
    assert_eq!((read.messages().len(), read.skipped, read.torn), (2, 1, false));
    assert_eq!(read.warnings().len(), 1);
}

#[test]
fn a_line_beyond_the_limit_costs_itself_alone() {
    let (bytes, _) = file_of(vec![said("one"), said(&"x".repeat(5000)), said("two")]);
    for chunk in [1, 7, 64 * 1024] {
        let from = BufReader::with_capacity(chunk, bytes.as_slice());
        let read = decode_within(from, &session(), 1000).unwrap().transcript;
        let found: Vec<SessionEvent> = read.lines.into_iter().map(|line| line.event).collect();
        assert_eq!((found, read.skipped), (vec![said("one"), said("two")], 1));
    }
}

#[test]
fn a_lost_first_line_costs_what_it_told() {
    let (bytes, places) = file_of(vec![said("one")]);
    let read = decode(&bytes[places[0].start - 20..], &session()).unwrap();
    assert_eq!(read.header.created, "2026-11-30T18:15:12Z");
    assert_eq!((read.lines.len(), read.skipped), (1, 1));
}

#[test]
fn a_later_version_is_read_as_far_as_it_is_understood() {
    let later = header(&session()).replace("\"version\":1", "\"version\":9");
    let mut text = format!("{later}\n{}\n", lines(vec![said("one")]).remove(0));
    text.push_str("{\"at\":\"x\",\"type\":\"unheardOf\"}\n");
    let read = decode(text.as_bytes(), &session()).unwrap();
    assert_eq!((read.lines.len(), read.skipped, read.warnings().len()), (1, 1, 2));
}

#[test]
fn a_file_of_something_else_is_no_session() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(file(home.path(), &session()), "# Notes\n\nnothing\n").unwrap();
    let found = read(home.path(), &session());
    assert!(matches!(found, Err(SessionError::Unreadable { .. })), "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn damage_costs_only_the_lines_it_touches(
        at in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 1..200),
        cut in any::<prop::sample::Index>(),
    ) {
        let story = story();
        let (mut bytes, places) = file_of(story.clone());
        let start = at.index(bytes.len());
        let end = (start + garbage.len()).min(bytes.len());
        bytes[start..end].copy_from_slice(&garbage[..end - start]);
        bytes.truncate(end.max(cut.index(bytes.len() + 1)));
        let read = decode(bytes.as_slice(), &session()).unwrap();
        prop_assert!(is_sound(&read.messages()));
        // A line counts as touched where its end or the end of the line before it is.
        let whole = |place: &Range<usize>| {
            (end < place.start || start > place.end) && place.end <= bytes.len()
        };
        let expected: Vec<SessionEvent> = places
            .iter()
            .zip(&story)
            .filter(|(place, _)| whole(place))
            .map(|(_, event)| event.clone())
            .collect();
        let found: Vec<SessionEvent> = read.lines.into_iter().map(|line| line.event).collect();
        let mut rest = found.iter();
        for event in &expected {
            prop_assert!(rest.any(|found| found == event), "{event:?} is lost");
        }
    }

    #[test]
    fn anything_at_all_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let read = decode(bytes.as_slice(), &session()).unwrap();
        prop_assert!(is_sound(&read.messages()));
    }
}
