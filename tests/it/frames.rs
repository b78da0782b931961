//! Snapshots of frames: the main states of the screen at three sizes.

mod lists;
mod questions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::Notice;
use mini_me_tui::domain::catalog::ServerConnection;
use mini_me_tui::domain::model::{ModelInfo, OfferedModel, WindowOrigin};
use mini_me_tui::domain::{
    Annotations, Approval, Call, CallId, CallState, Catalog, ContextParts, Elicitation,
    ElicitationId, ElicitationKind, Era, FieldKind, FilteredTool, FormField, Grounds, Mode,
    ModelName, PinState, Question, QuestionId, QuestionKind, Server, ServerName, ServerState,
    Source, Stage, Tool, ToolDefinition, ToolId, ToolSearch, TurnId, Warning,
};
use mini_me_tui::ui::{Intent, Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use questions::{elicited, form};

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// A screen with a clock of its own.
pub(crate) struct Screen {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    pub(crate) fn new(size: (u16, u16), catalog: Catalog) -> Self {
        let options = UiOptions { model: "ai/qwen3".to_owned(), ..UiOptions::default() };
        Self {
            ui: Ui::new(options, Arc::new(catalog)),
            now: Instant::now(),
            terminal: Terminal::new(TestBackend::new(size.0, size.1)).unwrap(),
        }
    }

    pub(crate) fn tell(&mut self, notice: Notice) {
        let _ = self.ui.update(Msg::Notice { notice, at: self.now });
    }

    pub(crate) fn press(&mut self, code: KeyCode) {
        self.key(code, KeyModifiers::NONE);
    }

    pub(crate) fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.keyed(code, modifiers);
    }

    /// What a key makes the screen ask for.
    pub(crate) fn keyed(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Intent> {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        self.ui.update(Msg::Input { event, at: self.now })
    }

    pub(crate) fn kinds(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(KeyCode::Char(c)));
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        let _ = self.ui.update(Msg::Tick { now: self.now });
    }

    pub(crate) fn frame(&mut self) -> String {
        let (ui, now) = (&mut self.ui, self.now);
        self.terminal.draw(|frame| ui.draw(frame, now)).unwrap();
        let screen = self.terminal.backend().buffer().area;
        if screen.is_empty() { String::new() } else { self.terminal.backend().to_string() }
    }
}

fn tool(
    server: &str,
    name: &str,
    permission: Mode,
    annotations: Annotations,
    pin: PinState,
) -> Arc<Tool> {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Short and plain."},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title"],
    });
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{}", name.replace('-', "_"))),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: "Creates an issue in a repository.".to_owned(),
            input_schema: Arc::new(schema.clone()),
            output_schema: None,
            annotations,
            raw: Arc::new(schema),
        }),
        pin: "3f9a1b22c44d5e6677889900aabbccddeeff00112233445566778899aabbccdd".to_owned(),
        pin_state: pin,
        changes: Vec::new(),
        permission,
        disabled: false,
        tokens: 310,
    })
}

fn server(name: &str, state: ServerState, tools: Vec<Arc<Tool>>) -> Server {
    let usable = state.usable();
    Server {
        name: ServerName::from(name),
        url: format!("https://{name}.example/mcp"),
        host: format!("{name}.example:443"),
        state,
        connection: usable.then(|| ServerConnection {
            era: Era::Modern,
            protocol_version: "2026-07-28".to_owned(),
            session: false,
            capabilities: vec!["tools".to_owned()],
            identity: format!("{name} 1.2.0"),
            instructions: Some("List before you get.".to_owned()),
        }),
        permission: Mode::Ask,
        tools,
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: if usable {
            [40, 42, 90, 61, 38, 44, 120, 43].map(Duration::from_millis).to_vec()
        } else {
            Vec::new()
        },
    }
}

pub(crate) fn catalog() -> Catalog {
    let reads = Annotations { read_only_hint: Some(true), ..Annotations::default() };
    let mut github = server(
        "github",
        ServerState::Ready,
        vec![
            tool("github", "get_me", Mode::Auto, reads, PinState::Known),
            tool("github", "create_issue", Mode::Ask, Annotations::default(), PinState::Changed),
            tool(
                "github",
                "delete_repository",
                Mode::Deny,
                Annotations::default(),
                PinState::Known,
            ),
        ],
    );
    github.filtered.push(FilteredTool {
        name: "upload_image".into(),
        reason: "asks for binary data".to_owned(),
    });
    let docs = server(
        "context7",
        ServerState::Ready,
        vec![tool("context7", "resolve-library-id", Mode::Ask, reads, PinState::New)],
    );
    let reason = "connection refused by 127.0.0.1:9; is the server running?".to_owned();
    let broken = server("local", ServerState::Failed { stage: Stage::Tcp, reason }, Vec::new());
    let warning = Warning::new(
        Source::Server("local".into()),
        "the server does not answer",
        "Start it, or set `enabled: false`.",
    );
    Catalog::new(vec![github, docs, broken], vec![warning], 1)
}

fn approval(id: u64, arguments: &serde_json::Value) -> Arc<Approval> {
    let tool = tool("github", "create_issue", Mode::Ask, Annotations::default(), PinState::Changed);
    Arc::new(Approval {
        call: Call {
            id: CallId(id),
            turn: Some(TurnId(1)),
            tool: tool.id.clone(),
            model_name: tool.model_name.clone(),
            arguments: Arc::new(arguments.as_object().unwrap().clone()),
        },
        tool,
        host: "api.githubcopilot.com:443".to_owned(),
        why: "mode `ask` of server github (config.yaml:14)".to_owned(),
        grounds: Grounds::default(),
        carried: Vec::new(),
    })
}

fn issue() -> serde_json::Value {
    json!({
        "owner": "my-org",
        "repo": "mini-me",
        "title": "Login fails after the session expires",
        "body": "Steps:\n1. log in\n2. wait for an hour\n3. open a task",
        "labels": ["bug", "login"],
    })
}

pub(crate) fn asked(screen: &mut Screen) {
    screen.tell(Notice::TurnStarted { turn: TurnId(1), text: "File an issue about it".to_owned() });
    screen.wait(2_000);
    screen.tell(Notice::Asked { approval: approval(1, &issue()) });
    screen.tell(Notice::Asked { approval: approval(2, &json!({})) });
}

/// One snapshot for each size.
fn snap(name: &str, scene: impl Fn(&mut Screen)) {
    for size in SIZES {
        let mut screen = Screen::new(size, catalog());
        screen.frame();
        scene(&mut screen);
        let frame = screen.frame();
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), frame);
    }
}

#[test]
fn first_frame_shows_servers_tools_and_an_empty_draft() {
    snap("first", |_| {});
}

#[test]
fn decision_box_says_that_keys_go_to_the_draft_until_a_pause() {
    snap("decision_unarmed", |screen| {
        screen.kinds("please also ");
        asked(screen);
    });
}

#[test]
fn armed_decision_box_looks_different_and_has_deny_in_focus() {
    snap("decision_armed", |screen| {
        asked(screen);
        screen.frame();
        screen.wait(600);
    });
}

#[test]
fn always_shows_the_rule_before_it_is_written() {
    snap("decision_always", |screen| {
        asked(screen);
        screen.frame();
        screen.wait(600);
        screen.kinds("a");
    });
}

#[test]
fn minimised_decision_leaves_a_badge_with_the_key_to_come_back() {
    snap("decision_later", |screen| {
        asked(screen);
        screen.frame();
        screen.wait(600);
        screen.kinds("l");
    });
}

#[test]
fn question_about_going_on_uses_the_same_box() {
    snap("question", |screen| {
        let kind = QuestionKind::Rounds { rounds: 50 };
        screen.tell(Notice::Questioned { question: Question { id: QuestionId(1), kind } });
        screen.frame();
        screen.wait(600);
    });
}

#[test]
fn tool_is_called_by_a_form_made_from_its_schema() {
    snap("form_call", |screen| {
        screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
        screen.frame();
        screen.press(KeyCode::Down);
        screen.key(KeyCode::Char('t'), KeyModifiers::CONTROL);
        screen.key(KeyCode::Char('s'), KeyModifiers::CONTROL);
    });
}

#[test]
fn help_lists_the_keys_of_every_place() {
    snap("help", |screen| screen.press(KeyCode::F(1)));
}

#[test]
fn panel_can_be_reached_and_filtered_at_every_size() {
    snap("panel_filtered", |screen| {
        screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
        screen.frame();
        screen.kinds("issue");
        screen.press(KeyCode::Down);
    });
}

#[test]
fn details_of_a_tool_show_claims_pin_and_parameters() {
    snap("tool", |screen| {
        screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
        screen.frame();
        screen.press(KeyCode::Down);
        screen.press(KeyCode::Down);
        screen.press(KeyCode::Enter);
    });
}

#[test]
fn palette_finds_commands() {
    snap("palette", |screen| {
        screen.key(KeyCode::Char('p'), KeyModifiers::CONTROL);
        screen.kinds("re");
    });
}

#[test]
fn slash_offers_commands() {
    snap("commands", |screen| screen.kinds("/re"));
}

#[test]
fn running_turn_shows_time_context_and_what_is_queued() {
    snap("working", |screen| {
        screen.tell(Notice::TurnStarted { turn: TurnId(1), text: "Hello".to_owned() });
        screen.tell(Notice::Queued { texts: vec!["and then the next one".to_owned()] });
        screen.tell(Notice::ContextChanged {
            parts: ContextParts {
                system: 800,
                tools: 2_300,
                messages: 9_200,
                results: 14_000,
                window: Some(32_768),
                ..ContextParts::default()
            },
        });
        screen.wait(8_000);
    });
}

#[test]
fn quitting_is_asked_once() {
    snap("quit", |screen| screen.key(KeyCode::Char('c'), KeyModifiers::CONTROL));
}

#[test]
fn too_small_a_screen_says_what_it_needs() {
    for size in [(39, 12), (40, 11), (10, 3)] {
        let mut screen = Screen::new(size, catalog());
        insta::assert_snapshot!(format!("small_{}x{}", size.0, size.1), screen.frame());
    }
}

#[test]
fn every_view_can_be_drawn_at_every_size() {
    let scenes: [fn(&mut Screen); 8] = [
        |_| {},
        |screen| screen.key(KeyCode::Tab, KeyModifiers::SHIFT),
        asked,
        |screen| elicited(screen, form()),
        |screen| screen.press(KeyCode::F(1)),
        |screen| screen.key(KeyCode::Char('p'), KeyModifiers::CONTROL),
        |screen| screen.kinds("/"),
        |screen| {
            screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
            screen.frame();
            screen.press(KeyCode::Down);
            screen.key(KeyCode::Char('t'), KeyModifiers::CONTROL);
        },
    ];
    let widths = [0, 1, 2, 3, 5, 10, 20, 39, 40, 41, 60, 99, 100];
    let heights = [0, 1, 2, 3, 5, 8, 11, 12, 15];
    for scene in scenes {
        for width in widths {
            for height in heights {
                let mut screen = Screen::new((width, height), catalog());
                screen.frame();
                scene(&mut screen);
                screen.frame();
                screen.wait(700);
                screen.frame();
                screen.kinds("aner");
                screen.frame();
            }
        }
    }
}

/// The right edges of the frames stand one above the other, whatever is inside.
fn straight(frame: &str, columns: usize) {
    for row in frame.lines() {
        // The backend adds what stands under wide characters.
        let row = row.split("\" Hidden").next().unwrap_or(row).trim_matches('"');
        let mut cells = 0;
        let mut last = ' ';
        for c in row.chars() {
            cells += mini_me_tui::text::width(&c.to_string());
            last = c;
        }
        let framed = row.starts_with(['│', '┃', '╭', '╰', '┏', '┗']);
        assert!(!framed || "│┃╮╯┓┛".contains(last), "{row}");
        // A variation selector has no cell of its own.
        assert!(cells >= columns - 4, "{cells} cells: {row}");
    }
}

#[test]
fn wide_characters_keep_the_frames_straight_and_leave_nothing_behind() {
    for text in
        ["日本".repeat(12), "♻️ ❄️ done".to_owned(), "👨‍👩‍👧‍👦 family".to_owned(), "क्ष क्षेत्र".to_owned()]
    {
        let mut screen = Screen::new((80, 24), Catalog::default());
        let before = screen.frame();
        screen.kinds(&text);
        straight(&screen.frame(), 80);
        screen.key(KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(screen.frame(), before);
    }
}

#[test]
fn names_of_a_hostile_server_stay_in_their_row() {
    let name = "evil\u{1b}]0;x\u{7}\nname\u{202e}";
    let mut hostile = catalog();
    hostile.servers[0].name = ServerName::from(name);
    hostile.servers[0].tools =
        vec![tool(name, "run\u{1b}[2Jall\r\n", Mode::Ask, Annotations::default(), PinState::New)];
    let hostile = Catalog::new(hostile.servers, Vec::new(), 2);
    for keys in [vec![], vec![KeyCode::Enter], vec![KeyCode::Down, KeyCode::Enter]] {
        let mut screen = Screen::new((120, 40), hostile.clone());
        screen.frame();
        screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
        for key in keys {
            screen.press(key);
        }
        let frame = screen.frame();
        assert!(!frame.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{frame}");
        straight(&frame, 120);
    }
}

#[test]
fn welcome_offers_ways_on() {
    use mini_me_tui::ui::Theme;
    use mini_me_tui::ui::welcome::{Choice, Welcome};
    let choices = vec![
        Choice::Demo,
        Choice::StarterConfig,
        Choice::Local {
            name: "Ollama".to_owned(),
            url: "http://localhost:11434/v1".to_owned(),
            model: "qwen3".to_owned(),
        },
        Choice::Key { provider: "Anthropic".to_owned(), variable: "ANTHROPIC_API_KEY".to_owned() },
    ];
    let why = "There is no config yet, and so no model and no server to work with.";
    let theme = Theme::of(mini_me_tui::config::ThemeName::None, true);
    for size in SIZES {
        let welcome = Welcome::new(why, choices.clone());
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        terminal.draw(|frame| welcome.draw(frame, &theme)).unwrap();
        let frame = terminal.backend().to_string();
        insta::assert_snapshot!(format!("welcome_{}x{}", size.0, size.1), frame);
    }
}
