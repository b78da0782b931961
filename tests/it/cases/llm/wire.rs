//! What real endpoints said, byte for byte as it was recorded, framing and all: the same answer
//! comes out however the bytes arrive.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use mini_me_tui::config::model::ProviderKind;
use mini_me_tui::provider::http::Provider;
use mini_me_tui::provider::openai;
use mini_me_tui::provider::{Finish, ModelEvent, ProviderError, Renames};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{config, request};

/// Pieces of chance are tried this often.
const ROUNDS: u64 = 50;

/// An answer as the agent gets it, whatever the pieces of its text.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    text: String,
    reasoning: String,
    calls: Vec<(String, Value)>,
    counted: bool,
    finish: Option<Finish>,
    failed: bool,
}

fn heard(events: Vec<ModelEvent>, result: &Result<(), ProviderError>) -> Heard {
    let mut heard = Heard { failed: result.is_err(), ..Heard::default() };
    for event in events {
        match event {
            ModelEvent::Text(piece) => heard.text.push_str(&piece),
            ModelEvent::Reasoning(piece) => heard.reasoning.push_str(&piece),
            ModelEvent::Call(call) => {
                let arguments = Value::Object((**call.arguments.as_ref().unwrap()).clone());
                heard.calls.push((call.name.to_string(), arguments));
            }
            ModelEvent::Usage(usage) => heard.counted = usage.input.is_some(),
            ModelEvent::Finished(finish) => heard.finish = Some(finish),
            ModelEvent::ReasoningDone(_) | ModelEvent::Retrying { .. } | ModelEvent::Warned(_) => {}
        }
    }
    heard
}

fn recordings() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let mut all: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    let folders = entries(&root).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| entries(&folder));
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().with_extension("");
        (name.to_str().unwrap().to_owned(), std::fs::read(&path).unwrap())
    };
    files.map(named).collect()
}

/// The body without the framing of its chunks; what of a chunk is there, where it was cut.
fn body(response: &[u8]) -> Vec<u8> {
    let head = response.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let (head, mut rest) = response.split_at(head);
    if !String::from_utf8_lossy(head).to_lowercase().contains("transfer-encoding: chunked") {
        return rest.to_vec();
    }
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
    body
}

fn decoded<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Heard {
    let config = config(ProviderKind::OpenAi, "http://localhost:1/v1", "m");
    let mut decoder = openai::decoder(&config, Renames::default(), 1);
    let mut events = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.push(piece, &mut events));
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    heard(events, &result)
}

/// Cuts at places of chance, empty pieces included.
fn by_chance(bytes: &[u8], chance: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(chance.usize(0..=rest.len().min(300)));
        pieces.push(piece.to_vec());
        rest = after;
    }
    pieces
}

#[test]
fn every_recorded_answer_is_read_the_same_in_one_piece_by_bytes_and_by_chance() {
    let recordings = recordings();
    assert_eq!(recordings.len(), 13);
    for (name, response) in recordings {
        let body = body(&response);
        let whole = decoded(std::iter::once(&body[..]));
        assert_eq!(decoded(body.chunks(1)), whole, "{name} by bytes");
        for seed in 0..ROUNDS {
            let pieces = by_chance(&body, &mut fastrand::Rng::with_seed(seed));
            let cut = decoded(pieces.iter().map(Vec::as_slice));
            assert_eq!(cut, whole, "{name} with the seed {seed}");
        }
    }
}

#[test]
fn what_the_endpoints_said_is_understood() {
    let answers: std::collections::BTreeMap<String, Heard> = recordings()
        .into_iter()
        .map(|(name, response)| (name, decoded(std::iter::once(&body(&response)[..]))))
        .collect();
    let finishes = |name: &str, finish: Finish| {
        assert_eq!(answers[name].finish, Some(finish), "{name}: {:?}", answers[name]);
    };
    for name in ["sim/02-text", "sim/05-after-tool-result", "sim/07-think-first"] {
        finishes(name, Finish::Stop);
        assert!(!answers[name].text.is_empty() && answers[name].calls.is_empty(), "{name}");
    }
    for name in [
        "sim/03-tool-call",
        "sim/04-tool-call-no-stream",
        "smollm/03-tool-call",
        "smollm/04-tool-call-no-stream",
    ] {
        finishes(name, Finish::ToolCalls);
        let [(tool, arguments)] = &answers[name].calls[..] else { panic!("{:?}", answers[name]) };
        assert!(!tool.is_empty() && arguments.is_object(), "{name}");
    }
    assert_eq!(answers["sim/06-two-at-once"].calls.len(), 2);
    assert!(answers["sim/07-think-first"].reasoning.starts_with("The user wants me to"));
    finishes("sim/08-stop-short", Finish::Length);
    finishes("smollm/02-text", Finish::Length);
    finishes("sim/09-cut-the-stream", Finish::Incomplete);
    assert!(!answers["sim/09-cut-the-stream"].text.is_empty());
    assert!(answers["smollm-plain/01-tool-call"].calls.is_empty());
    assert!(answers["smollm/02-text"].counted && answers["sim/02-text"].counted);
}

/// Serves one response in these pieces, each in a packet of its own where the system allows it.
fn serve(pieces: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = Vec::new();
        // The body of the request ends with the last member that is sent.
        while !request.ends_with(b"}}") {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "no request");
            request.extend_from_slice(&bytes[..read]);
        }
        for piece in pieces {
            // A client that has all it needs hangs up.
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
    });
    base
}

#[tokio::test]
async fn every_recorded_answer_is_read_the_same_over_a_socket() {
    for (name, response) in recordings() {
        let whole = decoded(std::iter::once(&body(&response)[..]));
        let bytes = response.iter().map(|byte| vec![*byte]).collect();
        let chance = by_chance(&response, &mut fastrand::Rng::with_seed(4711));
        for pieces in [vec![response.clone()], bytes, chance] {
            let provider = Provider::new(config(ProviderKind::OpenAi, &serve(pieces), "m"), None);
            let (sender, mut events) = mpsc::channel(4096);
            let asked = request(Vec::new());
            let result = provider.ask(&asked, &sender, &CancellationToken::new()).await;
            drop(sender);
            let mut all = Vec::new();
            while let Some(event) = events.recv().await {
                all.push(event);
            }
            let mut over = heard(all, &result);
            if whole.finish == Some(Finish::Incomplete) {
                // A connection that breaks is told as that.
                assert!(over.failed, "{name}");
                (over.failed, over.finish) = (false, whole.finish);
            }
            assert_eq!(over, whole, "{name}");
        }
    }
}
