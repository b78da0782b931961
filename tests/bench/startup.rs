//! Launch, memory and idleness of the built program, printed as figures.
//!
//! `cargo bench --bench startup`, or with `PROGRAM=$PWD/target/release/mini-me-tui` for the binary as it is
//! shipped. Each launch runs on a pseudo-terminal of 120×40 with a config of
//! twenty servers that nobody answers for, side by side with the smallest process this machine can
//! start (`true`), so that the figure can be read as "so much above the floor". Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, NativePtySystem, PtySize, PtySystem as _};

/// A frame is complete when the synchronized update round it ends.
const FRAME_END: &[u8] = b"\x1b[?2026l";
const RUNS: usize = 15;
const IDLE: Duration = Duration::from_secs(3);

struct Launch {
    first_frame: Duration,
    rss_mib: f64,
    idle_bytes: usize,
    idle_ticks: u64,
    idle_wakeups: u64,
}

fn main() {
    let home = tempfile::tempdir().expect("a directory");
    write_config(home.path());
    let floor = median((0..RUNS).map(|_| floor()).collect());
    let launches: Vec<Launch> = (0..RUNS).map(|run| launch(home.path(), run == RUNS - 1)).collect();
    let frame = median(launches.iter().map(|l| l.first_frame).collect());
    let last = launches.last().expect("a launch");
    println!("floor: start and end of `true`      {:>8.2} ms (median of {RUNS})", ms(floor));
    println!(
        "launch to first full frame          {:>8.2} ms (median of {RUNS}; budget 10 ms)",
        ms(frame)
    );
    println!(
        "resident after {} s                  {:>8.1} MiB (budget 20 MiB)",
        IDLE.as_secs(),
        last.rss_mib
    );
    println!("idle {} s: bytes to the terminal     {:>8}", IDLE.as_secs(), last.idle_bytes);
    println!("idle {} s: processor ticks           {:>8}", IDLE.as_secs(), last.idle_ticks);
    println!("idle {} s: voluntary context switches{:>8}", IDLE.as_secs(), last.idle_wakeups);
}

/// Twenty servers that are switched off: what is measured is this program, not its neighbours.
fn write_config(home: &Path) {
    let mut text = String::from(
        "model: { provider: openai, baseUrl: \"http://127.0.0.1:9/v1\", name: none, contextWindow: 32768 }\nservers:\n",
    );
    for n in 0..20 {
        writeln!(
            text,
            "  - {{ name: server{n}, url: \"http://127.0.0.1:9/mcp\", enabled: false }}"
        )
        .expect("text");
    }
    std::fs::write(home.join("config.yaml"), text).expect("a config");
}

/// The program to measure: `PROGRAM`, or the one built with this measurement.
fn program() -> String {
    std::env::var("PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_mini-me-tui").to_owned())
}

fn floor() -> Duration {
    let begin = Instant::now();
    std::process::Command::new("true").status().expect("true");
    begin.elapsed()
}

fn launch(home: &Path, idle: bool) -> Launch {
    let pty = NativePtySystem::default()
        .openpty(PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 })
        .expect("a pseudo-terminal");
    let mut command = CommandBuilder::new(program());
    command.env("MINI_ME_HOME", home);
    command.env("TERM", "xterm-256color");
    let mut reader = pty.master.try_clone_reader().expect("a reader");
    let mut writer = pty.master.take_writer().expect("a writer");
    let (chunks, arrived) = mpsc::channel::<(Instant, Vec<u8>)>();
    let begin = Instant::now();
    let mut child = pty.slave.spawn_command(command).expect("the program");
    std::thread::spawn(move || {
        let mut buffer = vec![0_u8; 65536];
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            if chunks.send((Instant::now(), buffer[..n].to_vec())).is_err() {
                break;
            }
        }
    });
    let mut seen = Vec::new();
    let first_frame = loop {
        let (at, bytes) = arrived.recv_timeout(Duration::from_secs(20)).expect("a frame");
        seen.extend(bytes);
        if seen.windows(FRAME_END.len()).any(|window| window == FRAME_END) {
            break at - begin;
        }
    };
    let pid = child.process_id().expect("a process");
    let (mut idle_bytes, mut idle_ticks, mut idle_wakeups) = (0, 0, 0);
    if idle {
        drain(&arrived, Duration::from_secs(2));
        let (ticks, wakeups) = (ticks(pid), wakeups(pid));
        idle_bytes = drain(&arrived, IDLE);
        idle_ticks = self::ticks(pid) - ticks;
        idle_wakeups = self::wakeups(pid) - wakeups;
    }
    let rss_mib = rss_mib(pid);
    writer.write_all(b"\x03\x03").expect("two Ctrl-C");
    drop(writer);
    child.wait().expect("an end");
    Launch { first_frame, rss_mib, idle_bytes, idle_ticks, idle_wakeups }
}

/// Counts what arrives in the given time.
fn drain(arrived: &mpsc::Receiver<(Instant, Vec<u8>)>, during: Duration) -> usize {
    let until = Instant::now() + during;
    let mut bytes = 0;
    while let Ok((_, chunk)) = arrived.recv_timeout(until.saturating_duration_since(Instant::now()))
    {
        bytes += chunk.len();
    }
    bytes
}

fn status(pid: u32, path: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/{path}")).unwrap_or_default()
}

fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

fn rss_mib(pid: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let kib = field(&status(pid, "status"), "VmRSS:") as f64;
    kib / 1024.0
}

fn ticks(pid: u32) -> u64 {
    let stat = status(pid, "stat");
    let after = stat.rsplit(')').next().unwrap_or("");
    after.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum()
}

fn wakeups(pid: u32) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    threads
        .flatten()
        .filter_map(|thread| thread.file_name().into_string().ok())
        .map(|thread| {
            field(&status(pid, &format!("task/{thread}/status")), "voluntary_ctxt_switches:")
        })
        .sum()
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort();
    durations[durations.len() / 2]
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
