//! Any bytes in any pieces: the decoder gives what a plain reading of the standard gives, whatever
//! the pieces, and keeps to its limit. The first byte chooses the pieces, the rest is the stream.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mini_me_tui_fuzz::sse::decoder::{Decoder, SseEvent};

fuzz_target!(|input: &[u8]| {
    let Some((seed, stream)) = input.split_first() else { return };
    let expected = plainly(stream);
    let whole = decode(&[stream], 1 << 30);
    assert_eq!(whole, expected);
    let pieces = pieces(stream, *seed);
    assert_eq!(decode(&pieces, 1 << 30), expected);

    let limit = usize::from(*seed);
    let mut decoder = Decoder::new(limit);
    let mut told = 0;
    for piece in pieces {
        decoder.push(piece);
        while let Some(next) = decoder.next() {
            assert_eq!(told, 0, "nothing comes after the error");
            match next {
                Ok(event) => assert!(event.data.len() <= limit),
                Err(_) => told += 1,
            }
        }
    }
});

/// Pieces of lengths that come and go with the seed.
fn pieces(stream: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = stream;
    let mut state = u32::from(seed) + 1;
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let most = if seed < 64 { 1 } else { usize::from(seed) };
        let (piece, after) = rest.split_at((state as usize >> 8) % most % rest.len() + 1);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn decode(pieces: &[&[u8]], limit: usize) -> Vec<SseEvent> {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            events.push(event.expect("within the limit"));
        }
    }
    events
}

/// The standard, step by step and without a thought of speed: decode, split into lines, interpret.
fn plainly(stream: &[u8]) -> Vec<SseEvent> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    // What follows the last line end is no line.
    lines.pop();
    let (mut data, mut kind, mut id, mut retry) =
        (String::new(), String::new(), String::new(), None);
    let mut events = Vec::new();
    for line in lines {
        if line.is_empty() {
            let kind = std::mem::take(&mut kind);
            let mut data = std::mem::take(&mut data);
            if data.pop().is_some() {
                let event = if kind.is_empty() { "message".into() } else { kind.into() };
                events.push(SseEvent { event, data, id: id.clone(), retry });
            }
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => data.extend([value, "\n"]),
            "event" => value.clone_into(&mut kind),
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                retry = Some(Duration::from_millis(value.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    events
}
