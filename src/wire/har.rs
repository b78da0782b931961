//! Exchanges as an HTTP archive (HAR 1.2), for browsers and other tools.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use time::UtcDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use super::events::events;
use crate::domain::exchange::{Ending, Exchange, Header, HeaderValue, Kept, Side};

const STAMP: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// The archive, one entry a line. Secrets are not in it: their variables are.
pub fn har<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> String {
    let creator = json!({ "name": "mini-me-tui", "version": env!("CARGO_PKG_VERSION") });
    let mut out = format!(r#"{{"log":{{"version":"1.2","creator":{creator},"entries":["#);
    for (at, exchange) in exchanges.into_iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&entry(exchange).to_string());
    }
    out.push_str("\n]}}\n");
    out
}

/// A time as archives and file names have it: `2026-07-28T12:00:00.000Z`.
pub fn stamp(at: SystemTime) -> String {
    UtcDateTime::from(at).format(STAMP).unwrap_or_default()
}

fn entry(exchange: &Exchange) -> Value {
    let head = exchange.head.as_ref();
    let wait = head.map_or(exchange.took, |head| head.after);
    let mut entry = json!({
        "startedDateTime": stamp(exchange.at),
        "time": ms(exchange.took),
        "request": request(exchange),
        "response": response(exchange),
        "cache": {},
        "timings": {
            "blocked": -1, "dns": -1, "connect": -1, "ssl": -1,
            "send": 0, "wait": ms(wait), "receive": ms(exchange.took.saturating_sub(wait)),
        },
    });
    let (ending, why) = match &exchange.ending {
        Ending::Open => ("open", None),
        Ending::Complete => ("complete", None),
        Ending::Left => ("left", None),
        Ending::Failed(why) => ("failed", Some(why)),
    };
    let kind = match exchange.side {
        Side::Server(_) => "_server",
        Side::Model(_) => "_model",
    };
    let extra = [
        (kind, json!(exchange.side.name())),
        ("_rpcMethod", json!(exchange.about.method)),
        ("_subject", json!(exchange.about.subject)),
        ("_call", json!(exchange.about.call)),
        ("_ending", json!(ending)),
        ("_error", json!(why)),
    ];
    if let Value::Object(entry) = &mut entry {
        let said = extra.into_iter().filter(|(_, value)| !value.is_null() && value != "");
        entry.extend(said.map(|(name, value)| (name.to_owned(), value)));
    }
    entry
}

fn request(exchange: &Exchange) -> Value {
    let version = exchange.head.as_ref().map_or("HTTP/1.1", |head| head.version);
    let pairs = exchange.query.iter();
    let query: Vec<Value> =
        pairs.map(|(name, value)| json!({ "name": name, "value": value.shown() })).collect();
    let mut request = json!({
        "method": exchange.verb,
        "url": url(exchange),
        "httpVersion": version,
        "cookies": [],
        "headers": headers(&exchange.headers),
        "queryString": query,
        "headersSize": -1,
        "bodySize": exchange.sent.total,
    });
    if exchange.sent.total > 0
        && let Value::Object(request) = &mut request
    {
        let mut data = content(&exchange.sent);
        data.insert("mimeType".to_owned(), json!(exchange.media()));
        request.insert("postData".to_owned(), Value::Object(data));
    }
    request
}

fn response(exchange: &Exchange) -> Value {
    let head = exchange.head.as_ref();
    let mut data = content(&exchange.received);
    data.insert("size".to_owned(), json!(exchange.received.total));
    let media = head.map(crate::domain::exchange::Head::media).unwrap_or_default();
    data.insert("mimeType".to_owned(), json!(if media.is_empty() { "x-unknown" } else { &media }));
    let mut response = json!({
        "status": head.map_or(0, |head| head.status),
        "statusText": "",
        "httpVersion": head.map_or("", |head| head.version),
        "cookies": [],
        "headers": head.map_or_else(Vec::new, |head| headers(&head.headers)),
        "content": data,
        "redirectURL": head.and_then(|head| head.header("location")).unwrap_or_default(),
        "headersSize": -1,
        "bodySize": exchange.received.total,
    });
    if exchange.is_stream()
        && let Value::Object(response) = &mut response
    {
        let all = events(&exchange.received).into_iter().map(|event| {
            json!({ "offset": ms(event.at), "event": event.event, "id": event.id,
                "data": event.data, "finished": event.finished })
        });
        response.insert("_events".to_owned(), all.collect());
    }
    response
}

fn headers(headers: &[Header]) -> Vec<Value> {
    let one = |header: &Header| json!({ "name": header.name, "value": header.value.shown() });
    headers.iter().map(one).collect()
}

fn url(exchange: &Exchange) -> String {
    let mut out = exchange.url.clone();
    for (at, (name, value)) in exchange.query.iter().enumerate() {
        let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        let value = match value {
            HeaderValue::Plain(text) => text.clone(),
            HeaderValue::Secret { variable, .. } => format!("${variable}"),
        };
        out.extend([if at == 0 { "?" } else { "&" }, &name, "=", &value]);
    }
    out
}

/// A body as text where it is text, else in Base64; what was cut is said.
fn content(body: &Kept) -> serde_json::Map<String, Value> {
    let mut content = serde_json::Map::new();
    if let Ok(text) = std::str::from_utf8(&body.bytes) {
        content.insert("text".to_owned(), json!(text));
    } else {
        content.insert("text".to_owned(), json!(STANDARD.encode(&body.bytes)));
        content.insert("encoding".to_owned(), json!("base64"));
    }
    if body.cut > 0 {
        let (kept, total) = (body.bytes.len(), body.total);
        let comment = format!("cut: the first {kept} bytes of {total} were kept");
        content.insert("comment".to_owned(), json!(comment));
    }
    content
}

/// Milliseconds with what is below them.
fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::exchange;
    use super::*;

    fn only(exchange: &Exchange) -> Value {
        let har: Value = serde_json::from_str(&har([exchange])).unwrap();
        har["log"]["entries"][0].clone()
    }

    #[test]
    fn an_archive_has_every_member_that_the_format_asks_for() {
        let har: Value = serde_json::from_str(&har([&exchange(), &exchange()])).unwrap();
        let log = &har["log"];
        assert_eq!(log["version"], "1.2");
        assert_eq!(log["creator"]["name"], "mini-me-tui");
        assert_eq!(log["entries"].as_array().unwrap().len(), 2);
        let entry = &log["entries"][1];
        for (part, members) in [
            ("", "startedDateTime time request response cache timings"),
            ("/request", "method url httpVersion cookies headers queryString headersSize bodySize"),
            ("/request/postData", "mimeType text"),
            (
                "/response",
                "status statusText httpVersion cookies headers content redirectURL headersSize bodySize",
            ),
            ("/response/content", "size mimeType text"),
            ("/timings", "send wait receive"),
        ] {
            for member in members.split(' ') {
                let found = entry.pointer(part).and_then(|part| part.get(member));
                assert!(found.is_some(), "{part}/{member} is missing in {entry:#}");
            }
        }
        assert_eq!(entry["startedDateTime"], "1970-01-01T00:01:00.250Z");
        let timings = &entry["timings"];
        let sum = timings["send"].as_f64().unwrap()
            + timings["wait"].as_f64().unwrap()
            + timings["receive"].as_f64().unwrap();
        assert!((sum - entry["time"].as_f64().unwrap()).abs() < 0.01);
        assert_eq!(entry["request"]["headers"][0]["value"], "Bearer $DOCS_TOKEN");
        assert_eq!(entry["request"]["url"], "https://docs.test/mcp?key=$KEY");
    }

    #[test]
    fn bytes_that_are_no_text_are_in_base64_and_what_was_cut_is_said() {
        let mut exchange = exchange();
        exchange.received = Kept { bytes: vec![0xff, 0], total: 9, cut: 7, ..Kept::default() };
        let content = &only(&exchange)["response"]["content"];
        assert_eq!((&content["text"], &content["encoding"]), (&json!("/wA="), &json!("base64")));
        assert_eq!(content["comment"], "cut: the first 2 bytes of 9 were kept");
        assert_eq!(content["size"], 9);
    }

    #[test]
    fn a_request_without_a_response_is_an_entry_too() {
        let mut exchange = exchange();
        (exchange.head, exchange.ending) = (None, Ending::Failed("no route".to_owned()));
        let entry = only(&exchange);
        assert_eq!(entry["response"]["status"], 0);
        assert_eq!((&entry["_ending"], &entry["_error"]), (&json!("failed"), &json!("no route")));
    }

    #[test]
    fn events_of_a_stream_come_with_their_times() {
        let mut exchange = exchange();
        let head = exchange.head.as_mut().unwrap();
        head.headers[0].value = HeaderValue::Plain("text/event-stream".to_owned());
        exchange.received.bytes = b"data: {}\n\n".to_vec();
        exchange.received.arrivals = vec![(10, Duration::from_micros(30_500))];
        let events = &only(&exchange)["response"]["_events"];
        assert_eq!((&events[0]["offset"], &events[0]["data"]), (&json!(30.5), &json!("{}")));
    }
}
