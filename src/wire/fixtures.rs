//! An exchange for tests.

use std::time::{Duration, SystemTime};

use crate::domain::CallId;
use crate::domain::exchange::{
    About, Ending, Exchange, ExchangeId, Head, Header, HeaderValue, Kept, Side,
};

fn plain(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: HeaderValue::Plain(value.to_owned()) }
}

fn secret(name: &str, before: &str, variable: &str) -> Header {
    let value = HeaderValue::Secret { before: before.to_owned(), variable: variable.to_owned() };
    Header { name: name.to_owned(), value }
}

fn kept(text: &str) -> Kept {
    let (bytes, total) = (text.as_bytes().to_vec(), text.len() as u64);
    Kept { bytes, total, ..Kept::default() }
}

/// A call that was answered.
pub(super) fn exchange() -> Exchange {
    let key = secret("key", "", "KEY");
    Exchange {
        id: ExchangeId(1),
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(60_250),
        side: Side::Server("docs".into()),
        about: About {
            method: "tools/call".to_owned(),
            subject: Some("search".to_owned()),
            call: Some(CallId(4)),
        },
        verb: "POST",
        url: "https://docs.test/mcp".to_owned(),
        query: vec![(key.name, key.value)],
        headers: vec![
            secret("authorization", "Bearer ", "DOCS_TOKEN"),
            secret("mcp-session-id", "", "MCP_SESSION_ID"),
            plain("content-type", "application/json"),
        ],
        sent: kept(
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"q":"it's"}}}"#,
        ),
        head: Some(Head {
            status: 200,
            version: "HTTP/1.1",
            headers: vec![plain("content-type", "application/json")],
            after: Duration::from_millis(20),
        }),
        received: kept(r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#),
        took: Duration::from_millis(34),
        ending: Ending::Complete,
    }
}
