//! The events of a stream, one by one, out of the bytes that were kept of it.

use std::time::Duration;

use crate::domain::exchange::Kept;
use crate::sse::Decoder;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// When its last byte came, since the request began.
    pub at: Duration,
    /// Its type; `message` when the stream names none.
    pub event: String,
    /// The stream's last event id at that time; empty if none.
    pub id: String,
    /// Its data.
    pub data: String,
    /// Whether it ended as an event does; the last one of a stream may not have.
    pub finished: bool,
}

/// Decodes what was kept of a stream.
pub fn events(body: &Kept) -> Vec<StreamEvent> {
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    let mut from = 0;
    let rest = (body.bytes.len(), body.arrivals.last().map(|(_, at)| *at).unwrap_or_default());
    for (end, at) in body.arrivals.iter().chain([&rest]) {
        decoder.push(body.bytes.get(from..*end).unwrap_or_default());
        from = from.max(*end);
        while let Some(Ok(event)) = decoder.next() {
            let (event, id, data) = (event.event.into_owned(), event.id, event.data);
            found.push(StreamEvent { at: *at, event, id, data, finished: true });
        }
    }
    let id = decoder.last_id().to_owned();
    if let Some(data) = decoder.finish().filter(|data| !data.is_empty()) {
        let event = "message".to_owned();
        found.push(StreamEvent { at: rest.1, event, id, data, finished: false });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_with_the_time_of_its_last_byte() {
        let ms = Duration::from_millis;
        let text = "event: a\nid: 7\ndata: 1\n\ndata: 2\n\ndata: hal";
        let body = Kept {
            bytes: text.into(),
            arrivals: vec![(10, ms(1)), (30, ms(4)), (text.len(), ms(9))],
            ..Kept::default()
        };
        let seen: Vec<_> = events(&body)
            .into_iter()
            .map(|event| (event.at, event.event, event.id, event.data, event.finished))
            .collect();
        let row = |at, event: &str, data: &str, finished| {
            (ms(at), event.to_owned(), "7".to_owned(), data.to_owned(), finished)
        };
        assert_eq!(
            seen,
            [row(4, "a", "1", true), row(9, "message", "2", true), row(9, "message", "hal", false)]
        );
    }
}
