//! Throughput of the event-stream decoder beside two others, printed as figures.
//!
//! `cargo bench --bench sse`. The same bytes in the same pieces go through this program's decoder,
//! `sse-stream` and `eventsource-stream`; every event is taken out and dropped. A cell goes on for
//! [`BUDGET`], whether that is many times the stream or a part of it, and counts the processor's time
//! where the system tells it: other work on the machine does not show. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::cell::Cell;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use mini_me_tui::sse::Decoder;

/// Bytes of one stream.
const SIZE: usize = 1 << 20;
/// Time for one cell.
const BUDGET: Duration = Duration::from_millis(400);
/// Pieces between two looks at the clock.
const STRIDE: usize = 64;
const PIECES: [usize; 5] = [1, 7, 1 << 10, 16 << 10, 64 << 10];

fn main() {
    println!("GB/s; our decoder / sse-stream 0.3 / eventsource-stream 0.2, by size of the pieces");
    let snow = format!("data: {{\"text\":\"{}\"}}\n\n", "❄ Schnee fällt 雪が降る ".repeat(60));
    let large = format!("data: {{\"text\":\"{}\"}}\n\n", "lorem ipsum dolor ".repeat(3600));
    let page = format!("id: 12\nevent: message\ndata: {{\"page\":\"{}\"}}\n\n", "x".repeat(1900));
    row("50-byte events", "data: {\"choices\":[{\"delta\":{\"content\":\" word\"}}]}\n\n");
    row("2 KB events with an id", &page);
    row("64 KB events", &large);
    row("2 KB events, half non-ASCII", &snow);
    row("keep-alive comments", ": keep-alive\n\n");
}

fn row(name: &str, event: &str) {
    let bytes = event.repeat(SIZE / event.len()).into_bytes();
    print!("{name:<28}");
    for piece in PIECES {
        let [a, b, c] =
            [ours(&bytes, piece), sse_stream(&bytes, piece), eventsource(&bytes, piece)];
        print!("  {:>6}: {a:.3} / {b:.3} / {c:.3}", label(piece));
    }
    println!();
}

fn label(piece: usize) -> String {
    if piece < 1024 { format!("{piece} B") } else { format!("{} KiB", piece >> 10) }
}

/// The pieces of a stream until the time is up, and how many bytes they had.
struct Feed<'a> {
    bytes: &'a [u8],
    piece: usize,
    begun: Instant,
    worked: Duration,
    fed: Cell<usize>,
}

impl<'a> Feed<'a> {
    fn new(bytes: &'a [u8], piece: usize) -> Self {
        Self { bytes, piece, begun: Instant::now(), worked: worked(), fed: Cell::new(0) }
    }

    fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes
            .chunks(self.piece)
            .cycle()
            .enumerate()
            .take_while(|(n, _)| n % STRIDE != 0 || self.begun.elapsed() < BUDGET)
            .map(|(_, piece)| {
                self.fed.set(self.fed.get() + piece.len());
                piece
            })
    }

    fn stream(&self) -> impl Stream<Item = Result<&'a [u8], Infallible>> {
        stream::iter(self.pieces().map(Ok))
    }

    fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let bytes = self.fed.get() as f64;
        let worked = worked().saturating_sub(self.worked);
        let time = if worked.is_zero() { self.begun.elapsed() } else { worked };
        bytes / time.as_secs_f64() / 1e9
    }
}

/// Time this thread has had on a processor; zero where the system does not say.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

fn ours(bytes: &[u8], piece: usize) -> f64 {
    let feed = Feed::new(bytes, piece);
    let mut decoder = Decoder::default();
    for piece in feed.pieces() {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            black_box(event.unwrap());
        }
    }
    feed.rate()
}

fn sse_stream(bytes: &[u8], piece: usize) -> f64 {
    let feed = Feed::new(bytes, piece);
    let mut events = sse_stream::SseByteStream::new(feed.stream());
    // The last piece may end inside a character, which is an error there.
    while let Some(Some(Ok(event))) = events.next().now_or_never() {
        black_box(event);
    }
    feed.rate()
}

fn eventsource(bytes: &[u8], piece: usize) -> f64 {
    let feed = Feed::new(bytes, piece);
    let mut events = eventsource_stream::EventStream::new(feed.stream());
    while let Some(Some(Ok(event))) = events.next().now_or_never() {
        black_box(event);
    }
    feed.rate()
}
