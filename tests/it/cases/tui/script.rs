//! Steps of a case, played on the built binary.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mini_me_tui::domain::Message;
use mini_me_tui::session::{Header, Line, SessionEvent, SessionId};
use serde_json::{Value, json};

use super::checks::judge;
use super::seen::Seen;
use super::{Faults, size, texts};
use crate::support::fake::Answer;
use crate::support::pty::{PATIENCE, Start, Tty};
use crate::support::stage::{Actor, Stage};

/// What the user says where a case only tells what the model does.
const PROMPT: &str = "go";
/// The tool whose results are shown without a question.
const OUT: &str = "out";

/// A run and what was found out in it.
pub(super) struct Run {
    pub(super) stage: Stage,
    pub(super) tty: Tty,
    pub(super) seen: BTreeMap<String, Seen>,
    /// Arguments that the model asked for.
    pub(super) proposed: Vec<Value>,
    /// The modes of the line before the program.
    pub(super) line: String,
    /// Whether the modes were those before whenever it was stopped.
    pub(super) restored_while_stopped: Option<bool>,
    /// The code it ended with.
    pub(super) exit: Option<u32>,
    pub(super) measured: Measured,
    /// Bytes that were there when the screen was last looked at.
    looked: usize,
    prompted: bool,
    /// Something was said in this turn.
    said: bool,
}

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Frames drawn while idle, for ten seconds of it.
    pub(super) idle_frames: Option<f64>,
    /// Time of the processor while idle, in percent.
    pub(super) idle_percent: Option<f64>,
    /// Most bytes written for 95 keys of a hundred, and cells of the screen.
    pub(super) bytes_a_key: Option<(usize, usize)>,
    /// Frames a second while text streams in.
    pub(super) frames_a_second: Option<f64>,
}

pub(super) fn play(input: &Value, checks: &[Value]) -> Faults {
    let steps = input["steps"].as_array().unwrap();
    let mut run = Run::begin(input, steps);
    let wanted = Wanted::of(checks);
    let mut faults = Faults::new();
    for step in steps {
        faults.extend(run.step(step, wanted));
    }
    run.end(wanted);
    faults.extend(judge(&run, checks));
    faults
}

/// The same text in one place after the other.
pub(super) fn in_places(input: &Value, checks: &[Value]) -> Faults {
    let mut faults = Faults::new();
    for place in texts(&input["places"]) {
        let step = json!({ place.clone(): input["text"] });
        let mut run = Run::begin(input, std::slice::from_ref(&step));
        let wanted = Wanted { pages: true, ..Wanted::of(checks) };
        faults.extend(run.step(&step, wanted));
        run.end(wanted);
        faults.extend(judge(&run, checks).into_iter().map(|fault| format!("{place}: {fault}")));
    }
    faults
}

/// What has to be looked at besides the screen.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    /// All of the conversation.
    pages: bool,
    /// All of the decision box.
    dialog: bool,
}

impl Wanted {
    fn of(checks: &[Value]) -> Self {
        let any = |words: &[&str]| {
            checks.iter().any(|check| words.iter().any(|word| check.get(word).is_some()))
        };
        Self {
            pages: any(&["line_contains"]),
            dialog: any(&["dialog_contains_any", "dialog_raw_absent"]),
        }
    }
}

/// Steps that are about what the model does.
fn is_of_model(step: &Value) -> bool {
    let keys: Vec<&String> = step.as_object().unwrap().keys().collect();
    keys.iter().any(|key| {
        (key.starts_with("assistant") && *key != "assistant_messages")
            || ["tool_call", "tool_output", "tool_error", "reasoning", "llm_error"]
                .contains(&key.as_str())
    })
}

fn actors(input: &Value, steps: &[Value]) -> Vec<Actor> {
    if let Some(server) = input.get("server") {
        let mut actor = Actor::new("hostile", &[]);
        actor.info = server["serverInfo"].clone();
        actor.tools.clone_from(server["tools"].as_array().unwrap());
        return vec![actor];
    }
    let mut tools: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for call in steps.iter().filter_map(|step| step.get("tool_call")) {
        let word = |key: &str| call[key].as_str().unwrap().to_owned();
        tools.entry(word("server")).or_default().push(word("tool"));
    }
    let mut out = Actor::new("shows", &[OUT]);
    out.config = json!({"permissions": "auto"});
    let asked = tools.iter().map(|(server, tools)| {
        let mut tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        tools.dedup();
        Actor::new(server, &tools)
    });
    std::iter::once(out).chain(asked).collect()
}

impl Run {
    fn begin(input: &Value, steps: &[Value]) -> Self {
        let actors = actors(input, steps);
        let model = input["model_id"].as_str().unwrap_or("model");
        let stage = Stage::new(&actors, model, &json!({}));
        let mut arguments: Vec<&str> = Vec::new();
        let id = "20260101-000000-abcdef";
        let messages = steps.iter().find_map(|step| step["assistant_messages"].as_u64());
        if let Some(count) = messages {
            remember(&stage, id, count);
            arguments.extend(["--resume", id]);
        }
        let prompted = steps.iter().any(is_of_model);
        if prompted && messages.is_none() {
            arguments.push(PROMPT);
        }
        let mut start = Start::new(&arguments, size(input), stage.home());
        match input["terminal"].as_str() {
            None => {}
            Some("supports links") => start.env.push(("TERM_PROGRAM", "WezTerm".to_owned())),
            Some(other) => panic!("what is a terminal that {other}?"),
        }
        let tty = Tty::run(&start);
        let line = tty.line_modes();
        let mut run = Self {
            stage,
            tty,
            seen: BTreeMap::new(),
            proposed: Vec::new(),
            line,
            restored_while_stopped: None,
            exit: None,
            measured: Measured::default(),
            looked: 0,
            prompted: prompted && messages.is_none(),
            said: false,
        };
        run.tty.until_text("/ for commands");
        if run.prompted {
            run.stage.asked();
        }
        if input.get("server").is_some() {
            run.meets_server();
        }
        run
    }

    /// Calls the first tool of the first server by its form, allows it, and opens the side panel.
    /// No model is needed for that: what it is called may not be a name at all.
    fn meets_server(&mut self) {
        self.tty.until_text("1 of 1 server ready");
        self.tty.types("\u{1b}[Z");
        self.tty.until_text("servers and tools");
        self.tty.types("\u{1b}[B");
        self.tty.settles();
        self.tty.types("\u{14}");
        self.tty.until_text("call hostile/");
        self.tty.types("\u{13}");
        self.allow();
        self.stage.until_received(1);
        self.tty.settles();
        self.tty.types("\u{1b}OQ");
        self.tty.until_text("servers and tools");
        self.tty.settles();
    }

    fn allow(&self) {
        self.tty.until_text("your answer?");
        self.tty.types("y");
    }

    /// The model may say something: where it is nobody's turn, the user says something first.
    fn turn(&mut self) {
        if self.stage.is_saying() {
            return;
        }
        if !self.prompted {
            self.tty.types(PROMPT);
            self.tty.until_text(&format!("› {PROMPT}"));
            self.tty.types("\r");
        }
        self.stage.asked();
        self.prompted = true;
        self.said = false;
    }

    fn step(&mut self, step: &Value, wanted: Wanted) -> Faults {
        let step = step.as_object().unwrap();
        let (word, value) = step.iter().next().unwrap();
        let more: Vec<&String> = step.keys().skip(1).collect();
        match (word.as_str(), more.as_slice()) {
            ("type_text", []) => {
                let text = value.as_str().unwrap();
                self.tty.types(text);
                self.tty.settles();
            }
            ("assistant", []) => self.assistant(value.as_str().unwrap()),
            ("assistant_streaming", []) => self.assistant("It begins to say something"),
            ("assistant_lines", [pattern]) if *pattern == "pattern" => {
                let count = value.as_u64().unwrap();
                self.lines(count, step["pattern"].as_str().unwrap());
            }
            ("assistant_deltas_generate", []) => self.deltas(value),
            ("assistant_messages", []) => self.tty.settles(),
            ("reasoning", []) => {
                self.turn();
                self.stage.reasons(value.as_str().unwrap());
                self.stage.says("so much for that.");
                self.stage.stops("stop");
                self.settled_turn();
                // The reasoning is above the answer.
                self.tty.types("\u{1b}[1;3A\u{1b}[1;3A");
                self.tty.types("\u{f}");
                self.tty.settles();
            }
            ("tool_output" | "tool_error", []) => {
                self.output(value.as_str().unwrap(), word == "tool_error");
            }
            ("llm_error", []) => self.model_fails(value.as_str().unwrap()),
            ("tool_call", [] | [_]) => {
                assert!(more.iter().all(|key| *key == "at_ms"), "{more:?}");
                self.tool_call(value);
            }
            ("keys", []) => texts(value).iter().for_each(|key| self.key(key)),
            ("keys_timed", []) => self.keys_timed(value),
            ("keys_timed_repeat", []) => self.keys_repeated(value),
            ("key_events", []) => self.key_events(value),
            ("char_events", []) => self.char_events(value),
            ("raw_input", []) => {
                self.tty.types(value.as_str().unwrap());
                if value != "\u{1a}" {
                    self.tty.settles();
                }
            }
            ("command", []) if value == "copy last" => {
                self.tty.types("\u{19}");
                self.tty.until_text("copied");
            }
            ("scroll_up", []) => {
                let wheel = "\u{1b}[<64;5;5M";
                let turns = value.as_u64().unwrap().div_ceil(3);
                (0..turns).for_each(|_| self.tty.types(wheel));
                self.tty.settles();
            }
            ("clear_transcript", []) => self.clear(),
            ("resize", []) => {
                let number = |at: usize| u16::try_from(value[at].as_u64().unwrap()).unwrap();
                self.tty.resize(number(0), number(1));
                if self.tty.is_stopped() {
                    return Faults::new();
                }
                self.tty.settles();
            }
            ("signal", []) => {
                let name = value.as_str().unwrap().trim_start_matches("SIG");
                if name == "CONT" {
                    self.tty.blank();
                }
                self.tty.signal(name);
                if name == "CONT" {
                    self.tty.until("the screen", vt100::Screen::alternate_screen);
                    self.tty.settles();
                }
            }
            ("expect_stopped", []) => self.expect_stopped(),
            ("idle_seconds", []) => self.idle(value.as_f64().unwrap()),
            ("snapshot", []) => {
                let seen = self.look(wanted);
                self.seen.insert(value.as_str().unwrap().to_owned(), seen);
            }
            ("hangup", []) => {
                self.tty.hang_up();
                self.exit = Some(self.tty.ends());
            }
            _ => return vec![format!("the driver does not know the step {word} with {more:?}")],
        }
        Faults::new()
    }

    fn assistant(&mut self, text: &str) {
        self.turn();
        let apart = if std::mem::replace(&mut self.said, true) { "\n\n" } else { "" };
        self.stage.says(&format!("{apart}{text}"));
        self.tty.settles();
    }

    fn lines(&mut self, count: u64, pattern: &str) {
        self.turn();
        let (before, after) = pattern.split_once('%').unwrap();
        let (digits, after) = after.split_once('d').unwrap();
        let digits: usize = digits.parse().unwrap();
        // Lines that stay lines in Markdown.
        let line = |n: u64| format!("{before}{n:0digits$}{after}  \n");
        let text: String = (1..=count).map(line).collect();
        self.stage.says(&format!("{text}\n"));
        self.said = true;
        self.tty.until_text(line(count).trim_end());
        self.tty.settles();
    }

    fn deltas(&mut self, value: &Value) {
        self.turn();
        let (count, text) = (value["count"].as_u64().unwrap(), value["text"].as_str().unwrap());
        let (begun, before) = (Instant::now(), self.frames());
        (0..count).for_each(|_| self.stage.says(text));
        self.tty.settles();
        let frames = self.frames() - before;
        self.measured.frames_a_second = Some(f64::from(frames) / begun.elapsed().as_secs_f64());
    }

    fn output(&mut self, text: &str, failed: bool) {
        self.turn();
        let result = json!({"content": [{"type": "text", "text": text}], "isError": failed});
        self.stage.result(result);
        self.stage.calls(&[(&format!("shows_{OUT}"), "{}".to_owned())]);
        self.stage.asked();
        self.stage.says("that was all.");
        self.stage.stops("stop");
        self.settled_turn();
        // The card is above the answer.
        self.tty.types("\u{1b}[1;3A\u{1b}[1;3A");
        self.tty.types("\u{f}");
        self.tty.settles();
    }

    fn model_fails(&mut self, text: &str) {
        // An answer of nothing would be a fault of its own.
        self.stage.says("first.");
        self.stage.stops("stop");
        self.settled_turn();
        let body = json!({"error": {"message": text, "type": "invalid_request_error"}});
        self.stage.instead(Answer::json(400, &body));
        self.tty.types("again\r");
        self.stage.until_submitted(2);
        self.settled_turn();
    }

    fn settled_turn(&mut self) {
        self.tty.until_text(" ready ");
        self.prompted = false;
        self.tty.settles();
    }

    fn tool_call(&mut self, call: &Value) {
        self.turn();
        let word = |key: &str| call[key].as_str().unwrap();
        let name = format!("{}_{}", word("server"), word("tool"));
        self.proposed.push(call["arguments"].clone());
        self.stage.calls(&[(&name, call["arguments"].to_string())]);
        self.tty.until_text("Allow this call?");
    }

    fn key(&mut self, key: &str) {
        let before = self.stage.received().len();
        match key {
            "approve" => {
                self.allow();
                self.stage.until_received(before + 1);
            }
            "Ctrl-C" => {
                self.tty.types("\u{3}");
                self.stage.is_cancelled();
                self.prompted = false;
            }
            key => self.tty.types(named(key)),
        }
        if self.tty.is_alive() {
            self.tty.settles();
        }
    }

    fn keys_timed(&mut self, keys: &Value) {
        let begun = Instant::now();
        for key in keys.as_array().unwrap() {
            let at = Duration::from_millis(key[0].as_u64().unwrap());
            while begun.elapsed() < at {
                std::thread::yield_now();
            }
            self.tty.types(named(key[1].as_str().unwrap()));
        }
        self.tty.settles();
    }

    /// A key many times over; what each of them makes the program write.
    fn keys_repeated(&mut self, keys: &Value) {
        let count = usize::try_from(keys[1].as_u64().unwrap()).unwrap();
        let screen = self.tty.screen(|screen| {
            let (rows, cols) = screen.size();
            usize::from(u16::from(rows)) * usize::from(u16::from(cols))
        });
        let mut costs = Vec::new();
        for _ in 0..count {
            let before = self.tty.bytes().len();
            self.tty.types(named(keys[0].as_str().unwrap()));
            let end = Instant::now() + PATIENCE;
            while self.tty.bytes().len() == before && Instant::now() < end {
                self.tty.pause();
            }
            costs.push(self.tty.bytes().len() - before);
        }
        costs.sort_unstable();
        let most = costs[costs.len() * 95 / 100];
        self.measured.bytes_a_key = Some((most, screen));
        (0..count).for_each(|_| self.tty.types("\u{7f}"));
        self.tty.settles();
    }

    /// Keys as a terminal reports them that tells press, repeat and release apart.
    fn key_events(&mut self, events: &Value) {
        for event in events.as_array().unwrap() {
            let kind = match event[1].as_str().unwrap() {
                "press" => 1,
                "repeat" => 2,
                "release" => 3,
                other => panic!("what is {other}?"),
            };
            let sequence = match event[0].as_str().unwrap() {
                "Enter" => format!("\u{1b}[13;1:{kind}u"),
                "Down" => format!("\u{1b}[1;1:{kind}B"),
                key => format!("\u{1b}[{};1:{kind}u", u32::from(key.chars().next().unwrap())),
            };
            self.tty.types(&sequence);
            self.tty.settles();
        }
    }

    fn char_events(&mut self, events: &Value) {
        for event in events.as_array().unwrap() {
            let held = texts(&event[1]).into_iter().map(|word| match word.as_str() {
                "shift" => 1,
                "alt" => 2,
                "ctrl" => 4,
                other => panic!("what is {other}?"),
            });
            let held = 1 + held.sum::<u32>();
            let c = u32::from(event[0].as_str().unwrap().chars().next().unwrap());
            self.tty.types(&format!("\u{1b}[{c};{held}u"));
            self.tty.settles();
        }
    }

    fn clear(&mut self) {
        self.stage.stops("stop");
        self.settled_turn();
        self.tty.types("\u{15}/new\r");
        self.tty.settles();
    }

    fn expect_stopped(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self.tty.is_stopped() {
            assert!(Instant::now() < end, "it does not stop:\n{}", self.tty.contents());
            self.tty.pause();
        }
        self.tty.restored();
        let restored = self.tty.line_modes() == self.line;
        self.restored_while_stopped = Some(restored && self.restored_while_stopped != Some(false));
    }

    /// As long as it takes to see: a part of the time is as good as all of it.
    fn idle(&mut self, seconds: f64) {
        let seconds = seconds.min(3.0);
        self.tty.settles();
        let (frames, ticks) = (self.frames(), ticks(self.tty.pid()));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < seconds {
            self.tty.pause();
        }
        let frames = f64::from(self.frames() - frames);
        self.measured.idle_frames = Some(frames * 10.0 / seconds);
        // A tick is a hundredth of a second.
        let spent = f64::from(self::ticks(self.tty.pid()) - ticks);
        self.measured.idle_percent = Some(spent / begun.elapsed().as_secs_f64());
    }

    /// Frames drawn so far: each is one synchronized update.
    fn frames(&self) -> u32 {
        let written = self.tty.bytes();
        let frames = String::from_utf8_lossy(&written).matches("\u{1b}[?2026h").count();
        u32::try_from(frames).unwrap()
    }

    fn look(&mut self, wanted: Wanted) -> Seen {
        let mut seen = Seen::of(&self.tty);
        let bytes = self.tty.bytes();
        let new = String::from_utf8_lossy(&bytes[self.looked..]).into_owned();
        seen.redrawn = new.contains("\u{1b}[2J");
        self.looked = bytes.len();
        seen.alive = self.tty.is_alive();
        seen.submitted = self.submitted();
        if wanted.pages && seen.alive {
            seen.pages = self.pages();
        }
        if wanted.dialog && seen.asks() {
            seen.dialog = Some(self.dialog());
        }
        seen
    }

    /// What the user sent, without what the driver said for the user.
    pub(super) fn submitted(&self) -> Vec<String> {
        let said = self.stage.submitted();
        said.into_iter().filter(|text| text != PROMPT && text != "again").collect()
    }

    /// The whole conversation, page by page.
    fn pages(&self) -> String {
        self.tty.types("\u{1b}[1;5H");
        self.tty.settles();
        let mut all = String::new();
        for _ in 0..200 {
            let page = Seen::of(&self.tty).text();
            all.push_str(&page);
            self.tty.types("\u{1b}[6~");
            self.tty.settles();
            if Seen::of(&self.tty).text() == page {
                break;
            }
        }
        all
    }

    /// The whole decision box, page by page.
    fn dialog(&self) -> String {
        self.tty.until_text("your answer?");
        self.tty.types("\u{1b}[H");
        self.tty.settles();
        let mut all = String::new();
        for _ in 0..200 {
            let page = Seen::of(&self.tty).boxed().unwrap_or_default();
            all.push_str(&page);
            self.tty.types("\u{1b}[6~");
            self.tty.settles();
            if Seen::of(&self.tty).boxed().unwrap_or_default() == page {
                break;
            }
        }
        all
    }

    fn end(&mut self, wanted: Wanted) {
        if self.tty.is_alive() {
            let seen = self.look(wanted);
            self.seen.insert(String::new(), seen);
        } else {
            self.exit = Some(self.exit.unwrap_or_else(|| self.tty.ends()));
            self.tty.drained();
        }
    }
}

/// A conversation on disk with so many messages of the model.
fn remember(stage: &Stage, id: &str, count: u64) {
    let id = SessionId::parse(id).unwrap();
    let at = "2026-01-01T00:00:00Z".to_owned();
    let header = Header::new(id.clone(), at.clone(), Some("model".to_owned()));
    let mut text = serde_json::to_string(&header).unwrap() + "\n";
    for number in 0..count {
        let user = Message::User { text: format!("question {number}") };
        let assistant = Message::Assistant {
            text: format!("Answer **{number}** with `code` and a few words more."),
            reasoning: None,
            calls: Vec::new(),
            incomplete: false,
        };
        for message in [user, assistant] {
            let turns = usize::try_from(number).unwrap() + 1;
            let event = SessionEvent::Message { message };
            let line = Line { at: at.clone(), event, turns };
            text.push_str(&(serde_json::to_string(&line).unwrap() + "\n"));
        }
    }
    let folder = stage.home().join("sessions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
}

/// Ticks of the processor that a process has used.
fn ticks(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let field = |at: usize| rest.split(' ').nth(at).unwrap().parse::<u32>().unwrap();
    field(11) + field(12)
}

/// The bytes of a key.
fn named(key: &str) -> &str {
    match key {
        "Enter" => "\r",
        "Space" => " ",
        "Home" => "\u{1b}[H",
        "End" => "\u{1b}[F",
        "Esc" => "\u{1b}",
        "Up" => "\u{1b}[A",
        "Down" => "\u{1b}[B",
        "Tab" => "\t",
        key if key.chars().count() == 1 => key,
        other => panic!("the driver does not know the key {other}"),
    }
}
