//! Text from outside on its way to a terminal: no way around the cleaner, and nothing that commands,
//! hides or disguises comes through where servers and models fill every text they have with it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::Notice;
use mini_me_tui::domain::catalog::ServerConnection;
use mini_me_tui::domain::{
    Annotations, Approval, Call, CallId, CallState, Carried, Catalog, Change, ChangeKind, Content,
    Elicitation, ElicitationId, ElicitationKind, Era, FieldKind, FilteredTool, FormField, Grounds,
    Mode, Outcome, PinState, Progress, Question, QuestionId, QuestionKind, Server, ServerState,
    Source, Stage, Tool, ToolDefinition, ToolId, ToolOutput, TurnEnd, TurnId, Usage, Warning,
};
use mini_me_tui::text;
use mini_me_tui::ui::{Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use crate::support::fake::{Answer, Fakes, Request, bind};

/// Escapes, titles, the clipboard, a hyperlink, the end of a paste; direction, zero width, tags; a
/// flood of marks.
fn hostile() -> String {
    let flood = "\u{301}".repeat(300);
    format!(
        "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}]8;;http://evil.test\u{1b}\\link\u{9b}31m\
         \u{1b}[201~\u{1b}P$q\u{1b}\\\u{8}\u{7f}\u{202e}txt.exe\u{2066}\u{200b}\u{feff}\u{e0041}\u{e0042}\u{ad}a{flood}\r\nend"
    )
}

// No way around.

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The files, without tests and comments, whose code has this in it.
fn files_with(what: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    let has = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(what))
    };
    let mut found: Vec<String> = all
        .iter()
        .filter(|path| {
            !path.ends_with("tests.rs")
                && !path.components().any(|part| part.as_os_str() == "tests")
        })
        .filter(|path| has(path))
        .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    found.sort();
    found
}

#[test]
fn there_is_one_door_to_the_terminal_and_it_cleans() {
    // Who writes there at all: the screen, commands, and whoever asks whether it is a terminal.
    let doors: [(&str, &[&str]); 9] = [
        ("io::stdout()", &["cmd/output.rs", "cmd/screen.rs", "terminal.rs"]),
        ("io::stderr()", &["cmd/output.rs", "cmd/questions.rs"]),
        ("println!", &[]),
        ("print!(", &[]),
        ("dbg!(", &[]),
        ("execute!(", &["terminal.rs"]),
        ("queue!(", &["terminal.rs"]),
        ("SetTitle(", &["terminal.rs"]),
        // Programs that get the terminal or its environment.
        ("process::Command::new(", &[]),
    ];
    for (what, allowed) in doors {
        let found = files_with(what);
        let strays: Vec<&String> =
            found.iter().filter(|file| !allowed.contains(&file.as_str())).collect();
        assert!(strays.is_empty(), "{what} in {strays:?}: only {allowed:?} may");
    }
    let source = |file: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        fs::read_to_string(root.join(file)).unwrap()
    };
    // Those that only ask do not write.
    for file in ["cmd/screen.rs", "cmd/questions.rs"] {
        for line in source(file).lines().filter(|line| line.contains("io::std")) {
            let asks = line.contains("is_terminal()") || line.contains("stdin");
            assert!(asks, "{file} writes by itself: {line}");
        }
    }
    // Frames are swept, and drawn nowhere else.
    let terminal = source("terminal.rs");
    assert_eq!(terminal.matches(".draw(").count(), 1);
    assert!(terminal.contains("sweep::sweep(frame.buffer_mut(), loose)"));
    assert!(terminal.contains("self.terminal.draw(swept)"));
    // Lines are looked at, sequences and shown texts have one maker each.
    assert_eq!(source("cmd/output.rs").matches("text::console(").count(), 3);
    assert_eq!(files_with("Shown("), ["text.rs"]);
    assert_eq!(files_with("Sequence("), ["terminal/out.rs"]);
    assert_eq!(files_with("Command::new("), ["app/child.rs"]);
}

// Screens.

fn tool(server: &str) -> Arc<Tool> {
    let bad = hostile();
    let schema = json!({
        "type": "object", "description": bad, "required": ["title"],
        "properties": {
            "title": { "type": "string", "description": bad, "default": bad, "enum": [bad, "b"] },
            (bad.clone()): { "type": "array", "items": { "type": "string" } },
        },
    });
    Arc::new(Tool {
        id: ToolId::new(server, bad.as_str()),
        model_name: bad.as_str().into(),
        definition: Arc::new(ToolDefinition {
            name: bad.as_str().into(),
            title: Some(bad.clone()),
            description: format!("{bad} # head\n- [{bad}](http://{bad})\n```\n{bad}\n```"),
            input_schema: Arc::new(schema.clone()),
            output_schema: Some(Arc::new(schema.clone())),
            annotations: Annotations::default(),
            raw: Arc::new(schema),
        }),
        pin: bad.clone(),
        pin_state: PinState::Changed,
        changes: vec![Change {
            path: bad.clone(),
            subject: bad.clone(),
            kind: ChangeKind::Added { new: bad.clone() },
            sentence: bad,
        }],
        permission: Mode::Ask,
        disabled: false,
        tokens: 1,
    })
}

fn warning() -> Warning {
    Warning::new(Source::Server(hostile().as_str().into()), hostile(), hostile())
}

fn catalog() -> Catalog {
    let bad = hostile();
    let server = |name: String, state: ServerState| Server {
        name: name.as_str().into(),
        url: format!("https://{bad}/"),
        host: bad.clone(),
        tools: if state.usable() { vec![tool(&name)] } else { Vec::new() },
        state,
        connection: Some(ServerConnection {
            era: Era::Legacy,
            protocol_version: bad.clone(),
            session: true,
            capabilities: vec![bad.clone()],
            identity: bad.clone(),
            instructions: Some(bad.clone()),
        }),
        permission: Mode::Ask,
        filtered: vec![FilteredTool { name: bad.as_str().into(), reason: bad.clone() }],
        warnings: vec![warning()],
        latency: vec![Duration::from_millis(5)],
    };
    let states = [
        ServerState::Ready,
        ServerState::Degraded { reason: bad.clone() },
        ServerState::NeedsAuth { reason: bad.clone() },
        ServerState::Failed { stage: Stage::Http, reason: bad.clone() },
        ServerState::Disabled { reason: bad.clone() },
    ];
    let servers =
        states.into_iter().enumerate().map(|(n, state)| server(format!("{n}{bad}"), state));
    Catalog::new(servers.collect(), vec![warning()], 1)
}

fn call() -> Call {
    Call {
        id: CallId(1),
        turn: Some(TurnId(1)),
        tool: tool(&format!("0{}", hostile())).id.clone(),
        model_name: hostile().as_str().into(),
        arguments: Arc::new(json!({ (hostile()): hostile() }).as_object().unwrap().clone()),
    }
}

fn output() -> ToolOutput {
    let bad = hostile();
    ToolOutput {
        content: vec![
            Content::Text(format!("{bad}\n# {bad}\n| a | b |\n|---|---|\n| {bad} | c |")),
            Content::Resource { uri: bad.clone(), text: bad.clone() },
            Content::Link { uri: bad.clone(), name: bad.clone() },
            Content::Binary {
                kind: "image".into(),
                mime: bad.clone(),
                uri: bad.clone(),
                size: 3,
                data: "eA==".into(),
            },
            Content::Unknown(json!({ (bad.clone()): bad })),
        ],
        structured: Some(json!({ (bad.clone()): [bad] })),
        remarks: vec![bad],
    }
}

struct Screen {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
    faults: Vec<String>,
}

impl Screen {
    fn new(size: (u16, u16)) -> Self {
        let options = UiOptions { model: hostile(), ..UiOptions::default() };
        Self {
            ui: Ui::new(options, Arc::new(catalog())),
            now: Instant::now(),
            terminal: Terminal::new(TestBackend::new(size.0, size.1)).unwrap(),
            faults: Vec::new(),
        }
    }

    fn tell(&mut self, notice: Notice) {
        drop(self.ui.update(Msg::Notice { notice, at: self.now }));
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        drop(self.ui.update(Msg::Input { event, at: self.now }));
    }

    /// Draws, and looks at every cell before it is swept.
    fn look(&mut self, what: &str) {
        self.now += Duration::from_millis(700);
        drop(self.ui.update(Msg::Tick { now: self.now }));
        let (ui, now) = (&mut self.ui, self.now);
        self.terminal.draw(|frame| ui.draw(frame, now)).unwrap();
        let cells = &self.terminal.backend().buffer().content;
        let bad = cells
            .iter()
            .map(ratatui::buffer::Cell::symbol)
            .find(|symbol| text::cell(symbol).is_some());
        if let Some(symbol) = bad {
            self.faults.push(format!("{what}: {symbol:?}"));
        }
        // Direction and tags never stand in a cell, even behind something.
        let all: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        for hidden in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}', '\u{ad}'] {
            if all.contains(hidden) {
                self.faults.push(format!("{what}: {hidden:?}"));
            }
        }
    }
}

fn approval() -> Arc<Approval> {
    let carried = Carried {
        from: ToolId::new(hostile().as_str(), hostile().as_str()),
        call: Some(CallId(1)),
        piece: hostile(),
        characters: 500,
    };
    let call = call();
    let tool = tool(call.tool.server.as_str());
    let grounds = Grounds {
        rule: Some(hostile()),
        file: Some(hostile().into()),
        what_if: vec![(hostile(), Mode::Auto)],
        ..Grounds::default()
    };
    let (host, why) = (hostile(), hostile());
    Arc::new(Approval { call, tool, host, why, grounds, carried: vec![carried] })
}

fn elicitation(id: u64, kind: ElicitationKind) -> Arc<Elicitation> {
    Arc::new(Elicitation {
        id: ElicitationId(id),
        server: hostile().as_str().into(),
        host: hostile(),
        call: None,
        message: hostile(),
        kind,
    })
}

fn form() -> ElicitationKind {
    let bad = hostile();
    let field = |kind: FieldKind| FormField {
        name: bad.clone(),
        label: bad.clone(),
        description: bad.clone(),
        kind,
        required: true,
        default: Some(Value::from(bad.as_str())),
    };
    let text = FieldKind::Text { min: None, max: None, format: Some(bad.clone()), pattern: None };
    let options = vec![(bad.clone(), bad.clone()), ("b".to_owned(), bad.clone())];
    ElicitationKind::Form {
        schema: Arc::new(json!({ "type": "object" })),
        fields: vec![
            field(text),
            field(FieldKind::Choice(options.clone())),
            field(FieldKind::Many { options, min: None, max: None }),
        ],
        fault: None,
    }
}

#[test]
fn every_view_cleans_what_it_draws_before_it_is_swept() {
    for size in [(120, 40), (80, 24), (50, 15)] {
        let mut screen = Screen::new(size);
        screen.look("the first frame");
        for key in [KeyCode::F(1), KeyCode::F(4)] {
            screen.press(key, KeyModifiers::NONE);
            screen.look("a page");
            screen.press(KeyCode::PageDown, KeyModifiers::NONE);
            screen.look("the rest of a page");
            screen.press(KeyCode::Esc, KeyModifiers::NONE);
        }
        screen.press(KeyCode::BackTab, KeyModifiers::NONE);
        screen.look("the panel");
        for _ in 0..6 {
            screen.press(KeyCode::Enter, KeyModifiers::NONE);
            screen.look("details");
            screen.press(KeyCode::PageDown, KeyModifiers::NONE);
            screen.look("more details");
            screen.press(KeyCode::Esc, KeyModifiers::NONE);
            screen.press(KeyCode::Down, KeyModifiers::NONE);
        }
        screen.press(KeyCode::Char('t'), KeyModifiers::CONTROL);
        screen.look("the form of a call");
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        screen.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
        screen.look("the palette");
        screen.press(KeyCode::Esc, KeyModifiers::NONE);
        conversation(&mut screen);
        decisions(&mut screen);
        assert!(screen.faults.is_empty(), "{size:?}: {:#?}", screen.faults);
    }
}

fn conversation(screen: &mut Screen) {
    let turn = TurnId(1);
    let bad = hostile();
    screen.tell(Notice::TurnStarted { turn, text: bad.clone() });
    screen.tell(Notice::Reasoning { turn, chunk: bad.clone() });
    screen.tell(Notice::Text { turn, chunk: format!("# {bad}\n\n[{bad}](http://{bad}) `{bad}`\n\n```sh\n{bad}\n```\n\n> {bad}\n\n| a |\n|---|\n| {bad} |\n") });
    screen.look("a streamed answer");
    screen.tell(Notice::Retrying {
        turn,
        attempt: 2,
        after: Duration::from_secs(1),
        reason: bad.clone(),
    });
    screen.look("a retry");
    let progress = Progress { done: 1.0, total: Some(2.0), note: bad.clone() };
    let running = CallState::Running { progress: Some(progress) };
    screen.tell(Notice::CallChanged { call: Arc::new(call()), state: running });
    screen.look("a running call");
    for outcome in [
        Outcome::Ok(output()),
        Outcome::ToolError(output()),
        Outcome::Unknown { reason: bad.clone() },
        Outcome::InvalidArguments { message: bad.clone() },
    ] {
        let (outcome, for_model) = (Arc::new(outcome), bad.as_str().into());
        let done = CallState::Done { outcome, took: Duration::from_secs(1), for_model };
        screen.tell(Notice::CallChanged { call: Arc::new(call()), state: done });
        screen.look("a call that ended");
    }
    screen.press(KeyCode::Up, KeyModifiers::ALT);
    screen.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
    screen.look("an open card");
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    screen.tell(Notice::CallRefused {
        turn,
        name: bad.clone(),
        arguments: bad.clone(),
        outcome: Arc::new(Outcome::NotSent { reason: bad.clone() }),
        for_model: bad.as_str().into(),
    });
    screen.tell(Notice::Warned { warning: warning() });
    screen.tell(Notice::Queued { texts: vec![bad.clone()] });
    let failed = TurnEnd::Failed { reason: bad, unreachable: false };
    screen.tell(Notice::TurnEnded {
        turn,
        reason: failed,
        usage: Usage::default(),
        took: Duration::from_secs(1),
    });
    screen.look("the end of a turn");
}

fn decisions(screen: &mut Screen) {
    screen.tell(Notice::Asked { approval: approval() });
    screen.look("an approval");
    for key in [KeyCode::PageDown, KeyCode::Char('a'), KeyCode::Esc, KeyCode::Char('e')] {
        screen.press(key, KeyModifiers::NONE);
        screen.look("an approval and its parts");
    }
    screen.press(KeyCode::Esc, KeyModifiers::NONE);
    screen.tell(Notice::AskClosed { call: CallId(1), why: hostile() });
    screen.look("a closed approval");
    let kind = QuestionKind::Repeated { tool: hostile(), times: 3 };
    screen.tell(Notice::Questioned { question: Question { id: QuestionId(1), kind } });
    screen.look("a question");
    screen.tell(Notice::QuestionClosed { question: QuestionId(1) });
    let page = ElicitationKind::Url { url: format!("https://{}", hostile()), host: hostile() };
    for (id, kind) in [(1, form()), (2, page)] {
        screen.tell(Notice::Elicited { elicitation: elicitation(id, kind) });
        screen.look("a server's question");
        for key in [KeyCode::Tab, KeyCode::Down, KeyCode::PageDown] {
            screen.press(key, KeyModifiers::NONE);
            screen.look("a server's question and its parts");
        }
        screen.tell(Notice::ElicitationClosed { elicitation: ElicitationId(id), why: hostile() });
        screen.look("a closed question");
    }
}

// Commands.

fn server(request: &Request) -> Answer {
    let bad = hostile();
    let message = request.json();
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string", "description": bad } } });
    let tool = |name: &str| json!({ "name": name, "title": bad, "description": bad, "inputSchema": schema });
    let result = match request.rpc().as_str() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            "serverInfo": { "name": bad, "version": bad },
            "instructions": bad,
        }),
        "tools/list" => json!({ "tools": [tool("plain"), tool(&bad), { "name": bad }] }),
        "tools/call" => json!({
            "content": [
                { "type": "text", "text": bad },
                { "type": "resource_link", "uri": bad, "name": bad },
                { "type": bad, "x": bad },
            ],
            "structuredContent": { (bad.clone()): bad },
            "isError": message["params"]["arguments"]["q"] == "fail",
        }),
        "prompts/list" => json!({ "prompts": [{ "name": bad, "title": bad, "description": bad,
            "arguments": [{ "name": bad, "description": bad }] }] }),
        "resources/list" => {
            json!({ "resources": [{ "uri": bad, "name": bad, "description": bad, "mimeType": bad }] })
        }
        "resources/templates/list" => {
            json!({ "resourceTemplates": [{ "uriTemplate": bad, "name": bad }] })
        }
        method if method.starts_with("notifications/") => return Answer::status(202),
        "" => return Answer::new(405, "text/plain", bad),
        _ => {
            let error = json!({ "code": -32601, "message": bad, "data": bad });
            return Answer::json(
                200,
                &json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }),
            );
        }
    };
    Answer::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn model(request: &Request) -> Answer {
    let bad = hostile();
    if !request.target.ends_with("/chat/completions") {
        return Answer::new(404, "text/plain", bad);
    }
    let body = request.json();
    if body["messages"].to_string().contains("be refused") {
        return Answer::json(400, &json!({ "error": { "message": bad } }));
    }
    let chunk = |choice: Value| format!("data: {}\n\n", json!({ "id": "x", "choices": [choice] }));
    let answered = body["messages"].to_string().contains("\"tool\"");
    let call = json!({ "index": 0, "id": "c", "type": "function",
        "function": { "name": "odd_plain", "arguments": json!({ "q": bad }).to_string() } });
    let (delta, reason) = if answered {
        (json!({ "content": bad, "reasoning_content": bad }), "stop")
    } else {
        (json!({ "content": bad, "tool_calls": [call] }), "tool_calls")
    };
    let stream =
        chunk(json!({ "delta": delta })) + &chunk(json!({ "delta": {}, "finish_reason": reason }));
    Answer::new(200, "text/event-stream", stream + "data: [DONE]\n\n")
}

#[test]
fn no_command_prints_what_commands_hides_or_disguises() {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ((mcp, served), (at, modelled), (bad, broken)) =
        (bind(&[here]), bind(&[here]), bind(&[here]));
    let mut fakes = Fakes::new(move |request| match request.port {
        port if port == mcp => server(request),
        port if port == at => model(request),
        _ => Answer::new(500, "text/html", hostile()),
    });
    fakes.serve(served.into_iter().chain(modelled).chain(broken).collect(), None);
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "model: {{ baseUrl: 'http://127.0.0.1:{at}/v1', name: m }}
mcp:
  permissions: auto
  servers:
    - {{ name: odd, protocol: 2025-06-18, url: 'http://127.0.0.1:{mcp}/mcp' }}
    - {{ name: broken, url: 'http://127.0.0.1:{bad}/mcp' }}
"
    );
    fs::write(home.path().join("config.yaml"), config).unwrap();
    let mut faults = Vec::new();
    for words in [
        ["tools"].as_slice(),
        &["tools", "--json", "--schemas"],
        &["tools", "--explain", "odd/plain"],
        &["servers"],
        &["servers", "--json"],
        &["check"],
        &["check", "--json"],
        &["call", "odd/plain", "q=1"],
        &["call", "odd/plain", "q=fail"],
        &["call", "odd/plain", "q=1", "--json"],
        &["prompts", "list"],
        &["resources", "list"],
        &["resources", "list", "--json"],
        &["exec", "go"],
        &["exec", "go", "--json"],
        &["exec", "be refused"],
        &["audit"],
        &["audit", "--json"],
        &["audit", "stats"],
        &["sessions", "list"],
        &["config", "show"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_mini-me-tui"))
            .args(["--log-level", "trace"])
            .args(words)
            .env("MINI_ME_HOME", home.path())
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        for (way, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            let name = format!("{way} of {}", words.join(" "));
            faults.extend(unclean(&name, &String::from_utf8_lossy(&bytes)));
        }
    }
    let log = home.path().join("log");
    for entry in fs::read_dir(log).unwrap() {
        let path = entry.unwrap().path();
        faults.extend(unclean("the log", &String::from_utf8_lossy(&fs::read(path).unwrap())));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn unclean(place: &str, text: &str) -> Option<String> {
    let hides = |c: char| {
        matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e0fff}')
            || (c.is_control() && c != '\n' && c != '\t')
    };
    let at = text.char_indices().find(|(_, c)| hides(*c));
    // JSON is exact; on a terminal floods are cut from it as well.
    let flood = !place.contains("json") && text.contains(&"\u{301}".repeat(70));
    let flood = flood.then_some((0, '\u{301}'));
    let (at, c) = at.or(flood)?;
    let around: String = text.get(at..).unwrap_or_default().chars().take(40).collect();
    Some(format!("{place}: {c:?} before {around:?}"))
}
