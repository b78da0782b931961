//! The list of 1,000 sessions, as `sessions list` and the picker make it, against its floor: reading
//! the directory and the first 4 KiB of each file. Resuming a long conversation beside it.
//!
//! `cargo bench --bench sessions`. Both are taken in turns in the same run, so that their ratio holds
//! on a busy machine too. The files are in the system's cache. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mini_me_tui::domain::{Call, CallId, Content, Message, Outcome, ToolId, ToolOutput, TurnEnd};
use mini_me_tui::session::store::{self, SessionFile};
use mini_me_tui::session::{Header, Line, SessionEvent, SessionId};

const SESSIONS: usize = 1000;
/// One of so many is long.
const LONG: usize = 100;
/// Bytes of a long one.
const LONG_BYTES: usize = 4 << 20;
const ROUNDS: usize = 30;
/// Bytes of each file that the floor reads.
const HEAD: u64 = 4096;
/// What the list may take.
const BUDGET: Duration = Duration::from_millis(50);

fn main() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("sessions");
    for number in 0..SESSIONS {
        let bytes = if number % LONG == 0 { LONG_BYTES } else { 10_000 + number * 40 };
        make(&directory, number, bytes);
    }
    let (mut floors, mut lists) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floors.push(timed(|| floor(&directory)));
        lists.push(timed(|| {
            let found = store::list(&directory).unwrap();
            assert_eq!(found.len(), SESSIONS);
            found.len()
        }));
    }
    let (floor, list) = (median(&mut floors), median(&mut lists));
    let ratio = list.as_secs_f64() / floor.as_secs_f64();
    let kept = if list <= BUDGET { "within" } else { "OVER" };
    println!("list of {SESSIONS} sessions   {list:>9.1?}   {kept} the budget of {BUDGET:?}");
    println!("floor: names and 4 KiB    {floor:>9.1?}   the list takes {ratio:.2} times that");

    let id = id(0);
    let mut reads: Vec<Duration> =
        (0..ROUNDS).map(|_| timed(|| store::read(&directory, &id).unwrap().lines.len())).collect();
    let read = median(&mut reads);
    let size = fs::metadata(store::file(&directory, &id)).unwrap().len();
    let rate = size as f64 / read.as_secs_f64() / 1e6;
    println!("one of {} MB read back     {read:>9.1?}   {rate:.0} MB/s", size / 1_000_000);
}

/// Reads the names and the beginning of each file, and nothing more.
fn floor(directory: &Path) -> usize {
    let mut read = 0;
    let mut head = Vec::with_capacity(4096);
    for entry in fs::read_dir(directory).unwrap() {
        head.clear();
        let file = File::open(entry.unwrap().path()).unwrap();
        read += file.take(HEAD).read_to_end(&mut head).unwrap();
    }
    read
}

fn timed(work: impl FnOnce() -> usize) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn median(all: &mut [Duration]) -> Duration {
    all.sort();
    all[all.len() / 2]
}

fn id(number: usize) -> SessionId {
    SessionId::parse(&format!("20261130-181512-{number:06x}")).unwrap()
}

/// A conversation of about this size.
fn make(directory: &Path, number: usize, bytes: usize) {
    let id = id(number);
    let header = Header::new(id.clone(), "2026-11-30T18:15:12Z".into(), Some("qwen3".into()));
    let header = Header { servers: vec!["github".into(), "tracker".into()], ..header };
    let path = store::file(directory, &id);
    let file = SessionFile::create(&path, &serde_json::to_string(&header).unwrap()).unwrap();
    let mut text = String::new();
    let mut turns = 0;
    while text.len() < bytes {
        turns += 1;
        for event in turn(turns) {
            let line = Line { at: "2026-11-30T18:15:13.123456789Z".into(), event, turns };
            text.push_str(&serde_json::to_string(&line).unwrap());
            text.push('\n');
        }
    }
    file.append(&text).unwrap();
}

fn turn(number: usize) -> [SessionEvent; 4] {
    let user =
        Message::User { text: format!("Look at \"task #{number}\" and explain it, please.") };
    let answer = Message::Assistant {
        text: "The checkout hangs because the payment provider times out.\n".repeat(20),
        reasoning: None,
        calls: Vec::new(),
        incomplete: false,
    };
    let content = vec![Content::Text("row of a result with some words in it\n".repeat(60))];
    let output = ToolOutput { content, ..ToolOutput::default() };
    let call = Call {
        id: CallId(number as u64),
        turn: None,
        tool: ToolId::new("tracker", "get_task"),
        model_name: "tracker_get_task".into(),
        arguments: Arc::default(),
    };
    [
        SessionEvent::Message { message: user },
        SessionEvent::Call {
            call: Arc::new(call),
            outcome: Arc::new(Outcome::Ok(output)),
            took_ms: 12,
            told: None,
        },
        SessionEvent::Message { message: answer },
        SessionEvent::TurnEnded { reason: TurnEnd::Done },
    ]
}
