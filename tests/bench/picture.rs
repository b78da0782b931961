//! Draws `assets/screen.svg` from the program itself: `cargo bench --bench picture`.
//!
//! The demo runs on a pseudo-terminal of 120×36; the first calls are approved by key; what the
//! screen shows when the next approval waits becomes the picture.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a picture that cannot be taken must fail loudly"
)]

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, NativePtySystem, PtySize, PtySystem as _};

const ROWS: u16 = 36;
const COLUMNS: u16 = 120;
/// Calls to approve before the picture is taken.
const APPROVED: usize = 3;
const CELL: (f32, f32) = (8.4, 18.0);

fn main() {
    let home = tempfile::tempdir().expect("a directory");
    let pty = NativePtySystem::default()
        .openpty(PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 })
        .expect("a pseudo-terminal");
    let mut command = CommandBuilder::new(
        std::env::var("PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_mini-me-tui").to_owned()),
    );
    command.args(["--demo", "Look at task #42 and explain it"]);
    command.env("MINI_ME_HOME", home.path());
    command.env("TERM", "xterm-256color");
    let mut reader = pty.master.try_clone_reader().expect("a reader");
    let mut writer = pty.master.take_writer().expect("a writer");
    let mut child = pty.slave.spawn_command(command).expect("the program");
    let (chunks, arrived) = mpsc::sync_channel::<Vec<u8>>(1024);
    std::thread::spawn(move || {
        let mut buffer = vec![0_u8; 65536];
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            if chunks.send(buffer[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut screen =
        vt100::Parser::new(ROWS.try_into().expect("rows"), COLUMNS.try_into().expect("columns"), 0);
    for _ in 0..APPROVED {
        settle(&mut screen, &arrived);
        writer.write_all(b"y").expect("a key");
    }
    settle(&mut screen, &arrived);
    std::fs::write("assets/screen.svg", svg(screen.screen())).expect("the picture");
    println!("assets/screen.svg: {COLUMNS}×{ROWS}");
    writer.write_all(b"\x03").expect("Ctrl-C");
    drop(writer);
    child.kill().expect("an end");
}

/// Takes in what the program draws until nothing has changed for longer than the approval's quiet
/// time.
fn settle(screen: &mut vt100::Parser, arrived: &mpsc::Receiver<Vec<u8>>) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut quiet_since = Instant::now();
    while quiet_since.elapsed() < Duration::from_millis(1500) {
        assert!(Instant::now() < deadline, "the screen does not come to rest");
        if let Ok(chunk) = arrived.recv_timeout(Duration::from_millis(100)) {
            let before = screen.screen().contents();
            screen.process(&chunk);
            if screen.screen().contents() != before {
                quiet_since = Instant::now();
            }
        }
    }
}

fn svg(screen: &vt100::Screen) -> String {
    let (width, height) = (f32::from(COLUMNS) * CELL.0 + 24.0, f32::from(ROWS) * CELL.1 + 24.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" xml:space=\"preserve\">\n"
    );
    for row in 0..ROWS {
        row_svg(screen, row, &mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// One row: runs of cells of the same look become one text each, placed by its column.
fn row_svg(screen: &vt100::Screen, row: u16, out: &mut String) {
    let y = 12.0 + f32::from(row) * CELL.1;
    let mut column = 0;
    while column < COLUMNS {
        let Some(cell) = screen.cell(row, column) else { break };
        let look = Look::of(cell);
        let start = column;
        let mut text = String::new();
        while let Some(cell) = screen.cell(row, column).filter(|cell| Look::of(cell) == look) {
            if !cell.is_wide_continuation() {
                text.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            column += 1;
        }
        let x = 12.0 + f32::from(start) * CELL.0;
        let width = f32::from(column - start) * CELL.0;
        if let Some(back) = look.back {
            writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{back}\"/>", CELL.1)
                .expect("text");
        }
        if text.trim().is_empty() {
            continue;
        }
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"{weight}>{escaped}</text>",
            y + 13.5,
            look.fore
        )
        .expect("text");
    }
}

#[derive(PartialEq)]
struct Look {
    fore: &'static str,
    back: Option<&'static str>,
    bold: bool,
}

impl Look {
    fn of(cell: &vt100::Cell) -> Self {
        let fore = if cell.dim() { "#7f848e" } else { colour(cell.fgcolor()).unwrap_or("#d7dae0") };
        let back = colour(cell.bgcolor());
        if cell.inverse() {
            return Self { fore: back.unwrap_or("#16181d"), back: Some(fore), bold: cell.bold() };
        }
        Self { fore, back, bold: cell.bold() }
    }
}

fn colour(colour: vt100::Color) -> Option<&'static str> {
    let vt100::Color::Idx(index) = colour else { return None };
    let palette = [
        "#3a3f4b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
        "#7f848e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff",
    ];
    palette.get(usize::from(index)).copied()
}
