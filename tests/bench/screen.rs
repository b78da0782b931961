//! Key to frame on a terminal of 120×40: while a model streams into a long conversation, and while
//! the filter of a side panel with ten thousand tools is typed.
//!
//! `cargo bench --bench screen`. The terminal is ratatui's test backend: what is measured is this
//! program's own work from the key's arrival to the finished frame, without the wait for the next
//! frame and without the terminal's drawing. Nothing is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a measurement that cannot be taken must fail loudly, and its figures go to standard output"
)]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::Notice;
use mini_me_tui::domain::{
    Annotations, Catalog, Mode, ModelName, PinState, Server, ServerName, ServerState, Tool,
    ToolDefinition, ToolId, TurnEnd, TurnId, Usage,
};
use mini_me_tui::ui::{Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

/// Bytes of the conversation before the measurement.
const HISTORY: usize = 10 << 20;
const FRAMES: usize = 1000;
/// Time from frame to frame, and tokens that come in between at 2,000 a second.
const FRAME: Duration = Duration::from_millis(16);
const TOKENS: usize = 32;

fn main() {
    streaming("10 MB conversation, 2,000 tokens/s", HISTORY, 0);
    streaming("the same, read further up", HISTORY, 20);
    streaming("2,000 tokens/s on top of a 1 MB answer", 0, 0);
    filtering();
}

struct Screen {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new(catalog: Catalog) -> Self {
        Self {
            ui: Ui::new(UiOptions::default(), Arc::new(catalog)),
            now: Instant::now(),
            terminal: Terminal::new(TestBackend::new(120, 40)).unwrap(),
        }
    }

    fn tell(&mut self, notice: Notice) {
        drop(self.ui.update(Msg::Notice { notice, at: self.now }));
    }

    fn press(&mut self, code: KeyCode) {
        let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        drop(self.ui.update(Msg::Input { event, at: self.now }));
    }

    fn draw(&mut self) {
        let (ui, now) = (&mut self.ui, self.now);
        self.terminal.draw(|frame| ui.draw(frame, now)).unwrap();
    }

    /// From the key to the frame that shows it.
    fn key_to_frame(&mut self, code: KeyCode) -> Duration {
        let begun = Instant::now();
        self.press(code);
        self.draw();
        begun.elapsed()
    }
}

fn streaming(name: &str, history: usize, pages_up: usize) {
    let mut screen = Screen::new(Catalog::new(Vec::new(), Vec::new(), 1));
    let answer = answer();
    let mut turn = 0;
    let mut size = 0;
    while size < history {
        turn += 1;
        size += answer.len();
        screen.tell(Notice::TurnStarted { turn: TurnId(turn), text: "Explain it.".to_owned() });
        screen.tell(Notice::Text { turn: TurnId(turn), chunk: answer.clone() });
        let (reason, usage) = (TurnEnd::Done, Usage::default());
        screen.tell(Notice::TurnEnded { turn: TurnId(turn), reason, usage, took: FRAME });
    }
    let turn = TurnId(turn + 1);
    screen.tell(Notice::TurnStarted { turn, text: "And this?".to_owned() });
    if history == 0 {
        let chunk = answer.repeat((1 << 20) / answer.len());
        screen.tell(Notice::Text { turn, chunk });
    }
    let first = Instant::now();
    screen.draw();
    let first = first.elapsed();
    for _ in 0..pages_up {
        screen.press(KeyCode::PageUp);
        screen.draw();
    }
    let mut tokens = answer.split_inclusive(' ').cycle();
    let mut all = Vec::new();
    for frame in 0..FRAMES {
        screen.now += FRAME;
        // The tokens that came since the last frame stand before the key.
        let begun = Instant::now();
        for token in tokens.by_ref().take(TOKENS) {
            screen.tell(Notice::Text { turn, chunk: token.to_owned() });
        }
        let before = begun.elapsed();
        let code = if frame % 20 == 19 { KeyCode::Backspace } else { KeyCode::Char('x') };
        all.push(before + screen.key_to_frame(code));
    }
    report(name, all, 16.0);
    println!("{:<42} {:.2} ms", "    first frame of it", ms(first));
}

fn filtering() {
    let begun = Instant::now();
    let mut screen = Screen::new(catalog());
    screen.draw();
    println!("{:<42} {:.2} ms", "100 × 100 tools: first frame", ms(begun.elapsed()));
    screen.press(KeyCode::Tab);
    let mut all = Vec::new();
    for _ in 0..FRAMES / 16 {
        for c in "issue_7".chars() {
            screen.now += FRAME;
            all.push(screen.key_to_frame(KeyCode::Char(c)));
        }
        for _ in 0..7 {
            screen.now += FRAME;
            all.push(screen.key_to_frame(KeyCode::Backspace));
        }
    }
    report("100 × 100 tools: a key of the filter", all, 8.0);
}

fn report(name: &str, mut all: Vec<Duration>, budget: f64) {
    all.sort();
    let [p50, p99, most] = [all.len() / 2, all.len() * 99 / 100, all.len() - 1].map(|n| ms(all[n]));
    println!("{name:<42} p50 {p50:.2} ms, p99 {p99:.2} ms, most {most:.2} ms (budget {budget} ms)");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// An answer of 5 KB with everything that a model writes.
fn answer() -> String {
    let mut text = String::from("## What it does\n\n");
    for n in 0..12 {
        writeln!(
            text,
            "{n}. The *parser* reads `input.rs` line by line; see **section {n}** for the reasons, \
             which are older than the program itself.\n"
        )
        .unwrap();
        if n % 4 == 0 {
            writeln!(
                text,
                "```rust\nfn step_{n}(state: &mut State) -> Result<(), Error> {{\n    \
                 let next = state.take(\"{n}\")?; // one at a time\n    state.push(next)\n}}\n```\n\n\
                 | name | value |\n|---|---|\n| step | {n} |\n| é ❄ | 雪 |\n"
            )
            .unwrap();
        }
    }
    let paragraph = "It is read once, checked once and copied once, whatever the pieces. ";
    while text.len() < 5000 {
        text.push_str(paragraph);
    }
    text.push_str("\n\n");
    text
}

fn catalog() -> Catalog {
    let servers = (0..100).map(|n| server(&format!("server{n}"))).collect();
    Catalog::new(servers, Vec::new(), 1)
}

fn server(name: &str) -> Server {
    Server {
        name: ServerName::from(name),
        url: format!("https://{name}.example/mcp"),
        host: format!("{name}.example:443"),
        state: ServerState::Ready,
        connection: None,
        permission: Mode::Ask,
        tools: (0..100).map(|n| tool(name, &format!("handle_issue_{n}"))).collect(),
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    }
}

fn tool(server: &str, name: &str) -> Arc<Tool> {
    let schema = Arc::new(json!({"type": "object", "properties": {"id": {"type": "integer"}}}));
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: "Handles one issue.".to_owned(),
            input_schema: Arc::clone(&schema),
            output_schema: None,
            annotations: Annotations::default(),
            raw: schema,
        }),
        pin: "0".repeat(64),
        pin_state: PinState::Known,
        permission: Mode::Ask,
        disabled: false,
        tokens: 120,
    })
}
