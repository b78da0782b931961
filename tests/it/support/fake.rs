//! Listeners on chosen ports that keep every request: HTTP/1.1 over plain sockets or TLS, answered
//! by one closure. Blocking, each connection on a thread of its own; all end with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// The port it came to.
    pub(crate) port: u16,
    pub(crate) method: String,
    /// As on the request line: a path, or what a proxy is asked for.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
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

    /// What a proxy is asked for; `None` if this is no request to a proxy.
    pub(crate) fn proxied(&self) -> Option<&str> {
        (self.method == "CONNECT" || self.target.contains("://")).then_some(self.target.as_str())
    }

    /// Everything of it as one text.
    pub(crate) fn whole(&self) -> String {
        let headers: String =
            self.headers.iter().flat_map(|(name, value)| [name, ": ", value, "\n"]).collect();
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {}\n{headers}\n{body}", self.method, self.target)
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A whole response.
    Whole { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// A stream of events that are handed over while it runs; it ends with its sender.
    Stream(Arc<Mutex<Receiver<Vec<u8>>>>),
    /// Nothing, until the client is gone.
    Hang,
    /// Nothing, and the connection is closed.
    Close,
}

impl Answer {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self::Whole { status, headers, body: body.into() }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Whole { status, headers: Vec::new(), body: Vec::new() }
    }
}

type Script = dyn Fn(&Request) -> Answer + Send + Sync;

/// All listeners of a test and what they saw.
pub(crate) struct Fakes {
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    addresses: Vec<SocketAddr>,
}

impl Fakes {
    pub(crate) fn new(script: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            seen: Arc::default(),
            stop: Arc::default(),
            addresses: Vec::new(),
        }
    }

    /// Serves what comes to these listeners, through TLS where there is a config for it.
    pub(crate) fn serve(&mut self, listeners: Vec<TcpListener>, tls: Option<&Arc<ServerConfig>>) {
        for listener in listeners {
            self.addresses.push(listener.local_addr().unwrap());
            let (script, seen) = (Arc::clone(&self.script), Arc::clone(&self.seen));
            let (stop, tls) = (Arc::clone(&self.stop), tls.cloned());
            std::thread::spawn(move || accept(&listener, &stop, &script, &seen, tls.as_ref()));
        }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Fakes {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for address in &self.addresses {
            // Wakes the listener.
            drop(TcpStream::connect(address));
        }
    }
}

/// Takes one free port on all these addresses.
pub(crate) fn bind(addresses: &[IpAddr]) -> (u16, Vec<TcpListener>) {
    for _ in 0..100 {
        let first = TcpListener::bind((addresses[0], 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let rest = addresses[1..].iter().map(|address| TcpListener::bind((*address, port)));
        if let Ok(rest) = rest.collect::<Result<Vec<_>, _>>() {
            return (port, std::iter::once(first).chain(rest).collect());
        }
    }
    panic!("no port is free on all of {addresses:?}")
}

fn accept(
    listener: &TcpListener,
    stop: &Arc<AtomicBool>,
    script: &Arc<Script>,
    seen: &Arc<Mutex<Vec<Request>>>,
    tls: Option<&Arc<ServerConfig>>,
) {
    let port = listener.local_addr().unwrap().port();
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let (script, seen, tls) = (Arc::clone(script), Arc::clone(seen), tls.cloned());
        std::thread::spawn(move || match tls {
            None => converse(stream, port, &script, &seen),
            Some(tls) => {
                let connection = ServerConnection::new(tls).unwrap();
                converse(StreamOwned::new(connection, stream), port, &script, &seen);
            }
        });
    }
}

/// Serves a connection until either side ends it. What a client does wrong ends it too.
fn converse(
    stream: impl Read + Write,
    port: u16,
    script: &Arc<Script>,
    seen: &Arc<Mutex<Vec<Request>>>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream, port) {
        seen.lock().unwrap().push(request.clone());
        match script(&request) {
            Answer::Close => return,
            Answer::Hang => {
                while matches!(stream.get_mut().read(&mut [0; 64]), Ok(read) if read > 0) {}
                return;
            }
            Answer::Stream(parts) => {
                let out = stream.get_mut();
                if forward(out, &parts.lock().unwrap()).is_err() {
                    return;
                }
            }
            Answer::Whole { status, headers, body } => {
                let mut head =
                    format!("HTTP/1.1 {status} Fake\r\nContent-Length: {}\r\n", body.len());
                for (name, value) in &headers {
                    head.extend([name, ": ", value, "\r\n"]);
                }
                head.push_str("\r\n");
                let all = [head.as_bytes(), &body].concat();
                let out = stream.get_mut();
                if out.write_all(&all).and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        }
    }
}

/// Hands on what comes, each part as a chunk of its own.
fn forward(out: &mut impl Write, parts: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 Fake\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()?;
    while let Ok(part) = parts.recv() {
        write!(out, "{:x}\r\n", part.len())?;
        out.write_all(&part)?;
        out.write_all(b"\r\n")?;
        out.flush()?;
    }
    out.write_all(b"0\r\n\r\n")?;
    out.flush()
}

fn read(stream: &mut impl BufRead, port: u16) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = Request { port, method, target, ..Request::default() };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|text| text.parse().ok());
    request.body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut request.body).ok()?;
    Some(request)
}
