//! A scripted model endpoint on the loopback interface: a closure from request to reply, over plain
//! sockets, so that answers can be cut, held back and dropped at any byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use url::Url;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Method and path with its query, such as `POST /v1/chat/completions`.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body; null if it is no JSON.
    pub(crate) body: Value,
}

impl Seen {
    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// In order.
    Complete,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is closed without a byte.
    Drop,
    /// Silence until the client hangs up, which is reported by [`ModelServer::hung_up`].
    Hang,
}

/// A scripted reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Vec<u8>>,
    end: End,
}

impl Reply {
    /// A status with a JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// A stream of these bytes.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream", body)
    }

    /// A status with a body of any type.
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self { status, headers, parts: vec![body.into()], end: End::Complete }
    }

    /// A streamed answer that says `text` and stops.
    pub(crate) fn text(text: &str) -> Self {
        Self::chunks(&[
            json!({"delta": {"role": "assistant", "content": text}}),
            json!({"delta": {}, "finish_reason": "stop"}),
        ])
    }

    /// A streamed answer of these choices, with its end mark.
    pub(crate) fn chunks(choices: &[Value]) -> Self {
        let mut body: String = choices.iter().map(chunk).collect::<Vec<_>>().concat();
        body.push_str("data: [DONE]\n\n");
        Self::stream(body)
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Ends in another way.
    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// One event of a streamed answer.
pub(crate) fn chunk(choice: &Value) -> String {
    format!(
        "data: {}\n\n",
        json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
    )
}

/// The endpoint. It ends with the test, and fails it if its script panicked.
pub(crate) struct ModelServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Mutex<Receiver<()>>,
    stop: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

type Script = dyn Fn(usize, &Seen) -> Reply + Send + Sync;

struct Shared {
    script: Box<Script>,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Sender<()>,
}

impl ModelServer {
    /// Answers every request by `script`, which gets the number of the request from 0.
    pub(crate) fn start(script: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", script)
    }

    /// The same on a given address.
    pub(crate) fn start_at(
        address: &str,
        script: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, hung_up) = channel();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let shared =
            Arc::new(Shared { script: Box::new(script), seen: seen.clone(), hung_up: sender });
        let flag = stop.clone();
        let listening = std::thread::spawn(move || listen(&listener, &flag, &shared));
        Self { address, seen, hung_up: Mutex::new(hung_up), stop, listening: Some(listening) }
    }

    /// Its base URL, ending in `/v1`.
    pub(crate) fn url(&self) -> Url {
        Url::parse(&format!("http://{}/v1", self.address)).unwrap()
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until a client has hung up on a reply that hangs; `false` after ten seconds.
    pub(crate) fn hung_up(&self) -> bool {
        self.hung_up.lock().unwrap().recv_timeout(std::time::Duration::from_secs(10)).is_ok()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, which may be gone already.
        drop(TcpStream::connect(self.address));
        let panicked = self.listening.take().is_some_and(|thread| thread.join().is_err());
        assert!(!panicked || std::thread::panicking(), "the script of a model server panicked");
    }
}

fn listen(listener: &TcpListener, stop: &AtomicBool, shared: &Arc<Shared>) {
    let mut open: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let shared = shared.clone();
        open.push(std::thread::spawn(move || drop(serve(&stream.unwrap(), &shared))));
    }
    // Connections that a client keeps open end with the client.
    for thread in open.into_iter().filter(JoinHandle::is_finished) {
        thread.join().expect("the script panicked");
    }
}

/// Serves one connection until either side closes it.
fn serve(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let number = {
            let mut seen = shared.seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        let reply = (shared.script)(number, &request);
        match reply.end {
            End::Drop => return Ok(()),
            End::Complete => write(stream, &reply, true)?,
            End::Cut => return write(stream, &reply, false),
            End::Hang => {
                write(stream, &reply, false)?;
                let ended = reader.read(&mut [0; 64]);
                // The test may be over.
                shared.hung_up.send(()).ok();
                return ended.map(drop);
            }
        }
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let target = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Seen { target, headers, body }))
}

/// Writes with chunk framing, so that a cut can be told from an end.
fn write(mut stream: &TcpStream, reply: &Reply, complete: bool) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\nTransfer-Encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    for part in reply.parts.iter().filter(|part| !part.is_empty()) {
        stream.write_all(format!("{:x}\r\n", part.len()).as_bytes())?;
        stream.write_all(part)?;
        stream.write_all(b"\r\n")?;
    }
    if complete {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}
