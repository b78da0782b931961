//! A scripted HTTP/1.1 server on a raw socket: it can be slow, cut answers short, reset, lie about
//! its body, and say nothing at all. It keeps every request, and a panic in its script fails the
//! test.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// One request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded {
    pub(crate) method: String,
    /// Path with query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Which connection it came on, from 1.
    pub(crate) connection: usize,
}

impl Recorded {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The JSON-RPC method, empty if there is none.
    pub(crate) fn rpc(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// What the server does, in order. The connection is closed afterwards.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    Wait(Duration),
    /// Waits until something has happened.
    Until(CancellationToken),
    /// Says nothing more until the client is gone.
    Hang,
    /// Closes with a reset instead of an end.
    Reset,
    /// Keeps the connection for another request.
    Again,
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) acts: Vec<Act>,
}

impl Reply {
    /// A head with these headers and the connection's end as the end of the body.
    pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Self {
        let mut text = format!("HTTP/1.1 {status} X\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        Self { acts: vec![Act::Send(text.into_bytes())] }
    }

    /// A whole body with its length.
    pub(crate) fn whole(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let length = body.len().to_string();
        let mut all = headers.to_vec();
        all.push(("Content-Length", &length));
        Self::head(status, &all).bytes(body)
    }

    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let headers = [("Content-Type", "application/json")];
        Self::whole(status, &headers, value.to_string().as_bytes())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::whole(status, &[], b"")
    }

    /// The head of an event stream.
    pub(crate) fn stream() -> Self {
        Self::head(200, &[("Content-Type", "text/event-stream")])
    }

    /// Nothing at all: the connection ends without an answer.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        self.act(Act::Send(bytes.to_vec()))
    }

    /// One event with this message.
    pub(crate) fn event(self, message: &Value) -> Self {
        self.bytes(format!("data: {message}\n\n").as_bytes())
    }

    pub(crate) fn wait(self, millis: u64) -> Self {
        self.act(Act::Wait(Duration::from_millis(millis)))
    }

    /// Goes on once this is cancelled.
    pub(crate) fn until(self, happened: &CancellationToken) -> Self {
        self.act(Act::Until(happened.clone()))
    }

    pub(crate) fn hang(self) -> Self {
        self.act(Act::Hang)
    }

    /// An event stream with this message that ends properly and leaves the connection usable.
    pub(crate) fn kept_stream(message: &Value) -> Self {
        let event = format!("data: {message}\n\n");
        let head =
            "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";
        let text = format!("{head}\r\n{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
        Self { acts: vec![Act::Send(text.into_bytes()), Act::Again] }
    }

    pub(crate) fn reset(self) -> Self {
        self.act(Act::Reset)
    }

    fn act(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}

/// The answer to a request that succeeded.
pub(crate) fn result(request: &Recorded, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.json()["id"], "result": result })
}

/// The answer to a request that failed.
pub(crate) fn error(request: &Recorded, code: i64, message: &str) -> Value {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": error })
}

type Script = dyn Fn(&Recorded) -> Reply + Send + Sync;

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Recorded>>,
    /// RPC methods of the requests whose client went away while the server said nothing.
    left: Mutex<Vec<String>>,
    faults: Mutex<Vec<String>>,
}

/// A running server; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    stop: CancellationToken,
}

impl Server {
    /// Starts one on a free port of the loopback interface.
    pub(crate) async fn start(script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, script)
    }

    /// Starts one on this listener.
    pub(crate) fn on(
        listener: TcpListener,
        script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let stop = CancellationToken::new();
        let serving = serve(listener, Arc::new(script), Arc::clone(&seen));
        let stopped = stop.clone();
        super::client::spawn(async move {
            stopped.run_until_cancelled(serving).await;
        });
        Self { address, seen, stop }
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// The requests with this JSON-RPC method so far.
    pub(crate) fn asked(&self, rpc: &str) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.rpc() == rpc).collect()
    }

    /// How many requests used this HTTP method.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.requests().iter().filter(|request| request.method == method).count()
    }

    /// RPC methods whose client went away while the server said nothing.
    pub(crate) fn left(&self) -> Vec<String> {
        self.seen.left.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        let faults = std::mem::take(&mut *self.seen.faults.lock().unwrap());
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "the server's script failed: {faults:?}");
        }
    }
}

async fn serve(listener: TcpListener, script: Arc<Script>, seen: Arc<Seen>) {
    let mut connections = JoinSet::new();
    let mut count = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                count += 1;
                let conversing = converse(stream, count, Arc::clone(&script), Arc::clone(&seen));
                connections.spawn(conversing);
            }
            Some(ended) = connections.join_next() => {
                if let Err(fault) = ended {
                    seen.faults.lock().unwrap().push(fault.to_string());
                }
            }
        }
    }
}

async fn converse(mut stream: TcpStream, nth: usize, script: Arc<Script>, seen: Arc<Seen>) {
    while exchange(&mut stream, nth, &*script, &seen).await {}
}

/// One request and its answer; whether another may follow on the connection.
async fn exchange(stream: &mut TcpStream, nth: usize, script: &Script, seen: &Seen) -> bool {
    let Some(request) = read(stream).await else { return false };
    let request = Recorded { connection: nth, ..request };
    seen.requests.lock().unwrap().push(request.clone());
    let reply = script(&request);
    for act in reply.acts {
        match act {
            Act::Again => return true,
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return false;
                }
            }
            Act::Wait(time) => tokio::time::sleep(time).await,
            Act::Until(happened) => happened.cancelled().await,
            Act::Hang => {
                let mut rest = [0; 64];
                while matches!(stream.read(&mut rest).await, Ok(read) if read > 0) {}
                seen.left.lock().unwrap().push(request.rpc());
                return false;
            }
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return false;
            }
        }
    }
    if stream.shutdown().await.is_ok() {
        // A socket closed with unread bytes would reset the answer on its way.
        let mut rest = [0; 64];
        let draining =
            async { while matches!(stream.read(&mut rest).await, Ok(read) if read > 0) {} };
        tokio::time::timeout(Duration::from_secs(1), draining).await.ok();
    }
    false
}

async fn read(stream: &mut TcpStream) -> Option<Recorded> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        // A handshake of TLS is nothing for this server.
        if bytes.first() == Some(&0x16) {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let mut request = Recorded {
        method: first.next()?.to_owned(),
        target: first.next()?.to_owned(),
        ..Recorded::default()
    };
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length: usize = request.header("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    request.body = body;
    Some(request)
}
