//! Bytes in, events out: each case in every way of handing over the bytes that it lists, and in
//! pieces of every size.

use mini_me_tui::jsonrpc;
use mini_me_tui::sse::{Decoder, SseEvent};
use serde_json::{Value, json};

use super::{Case, of_kind, report};

#[test]
fn every_stream_gives_the_events_it_should() {
    let cases = of_kind("sse-decode");
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case.id)))
        .collect();
    report("sse-decode", cases.len(), &failed);
}

fn check(case: &Case) -> Result<(), String> {
    let bytes = std::fs::read(&case.input).unwrap();
    for feed in case.expected["feed"].as_array().unwrap() {
        compare(&case.expected, &pieces(&bytes, feed)).map_err(|why| format!("{feed}: {why}"))?;
    }
    for size in 1..=bytes.len() {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        compare(&case.expected, &pieces).map_err(|why| format!("every {size} bytes: {why}"))?;
    }
    Ok(())
}

fn pieces<'a>(bytes: &'a [u8], feed: &Value) -> Vec<&'a [u8]> {
    match feed["mode"].as_str() {
        Some("whole") => vec![bytes],
        Some("every") => {
            bytes.chunks(usize::try_from(feed["bytes"].as_u64().unwrap()).unwrap()).collect()
        }
        Some("split_at") => {
            let offsets = feed["offsets"].as_array().unwrap().iter();
            let mut cuts: Vec<usize> =
                offsets.map(|offset| usize::try_from(offset.as_u64().unwrap()).unwrap()).collect();
            cuts.push(bytes.len());
            let mut start = 0;
            cuts.into_iter()
                .map(|cut| {
                    let piece = &bytes[start..cut];
                    start = cut;
                    piece
                })
                .collect()
        }
        other => panic!("an unknown way to feed: {other:?}"),
    }
}

fn compare(expected: &Value, pieces: &[&[u8]]) -> Result<(), String> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            events.push(event.map_err(|fault| fault.to_string())?);
        }
    }
    if let Some(id) = expected["last_event_id"].as_str() {
        same("last_event_id", id, decoder.last_id())?;
    }
    if let Some(retry) = expected["retry_ms"].as_u64() {
        same("retry_ms", &Some(u128::from(retry)), &decoder.retry().map(|r| r.as_millis()))?;
    }
    compare_events(expected["events"].as_array().unwrap(), &events)?;
    let messages: Vec<Value> = events.iter().filter_map(message).collect();
    same("messages", &expected["messages"], &json!(messages))?;
    // What is left unfinished is what the waiting call does not get.
    let outcome = if decoder.finish().is_some() { "error" } else { "ok" };
    same("outcome", expected["outcome"].as_str().unwrap(), outcome)
}

fn compare_events(expected: &[Value], events: &[SseEvent]) -> Result<(), String> {
    same("number of events", &expected.len(), &events.len())?;
    for (expected, event) in expected.iter().zip(events) {
        same("event", expected["event"].as_str().unwrap(), &*event.event)?;
        same("data", expected["data"].as_str().unwrap(), event.data.as_str())?;
        if let Some(id) = expected["id"].as_str() {
            same("id", id, event.id.as_str())?;
        }
        if let Some(retry) = expected["retry"].as_u64() {
            same("retry", &Some(u128::from(retry)), &event.retry.map(|r| r.as_millis()))?;
        }
    }
    Ok(())
}

/// The message that reaches the session; it has to be one that is understood.
fn message(event: &SseEvent) -> Option<Value> {
    if event.event != "message" || event.data.is_empty() {
        return None;
    }
    let messages = jsonrpc::decode(event.data.as_bytes()).ok()?;
    let understood = |one: &jsonrpc::Message| !matches!(one, jsonrpc::Message::Invalid { .. });
    messages.iter().all(understood).then(|| serde_json::from_str(&event.data).ok())?
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, found {found:?}"))
}
