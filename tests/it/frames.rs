//! Snapshots of frames: the main states of the screen at three sizes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::Notice;
use mini_me_tui::domain::catalog::ServerConnection;
use mini_me_tui::domain::{
    Annotations, Approval, Call, CallId, CallState, Catalog, ContextParts, Elicitation,
    ElicitationId, ElicitationKind, Era, FieldKind, FilteredTool, FormField, Grounds, Mode,
    ModelName, PinState, Question, QuestionId, QuestionKind, Server, ServerName, ServerState,
    Source, Stage, Tool, ToolDefinition, ToolId, ToolSearch, TurnId, Warning,
};
use mini_me_tui::ui::{Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// A screen with a clock of its own.
struct Screen {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
}

impl Screen {
    fn new(size: (u16, u16), catalog: Catalog) -> Self {
        let options = UiOptions { model: "ai/qwen3".to_owned(), ..UiOptions::default() };
        Self {
            ui: Ui::new(options, Arc::new(catalog)),
            now: Instant::now(),
            terminal: Terminal::new(TestBackend::new(size.0, size.1)).unwrap(),
        }
    }

    fn tell(&mut self, notice: Notice) {
        let _ = self.ui.update(Msg::Notice { notice, at: self.now });
    }

    fn press(&mut self, code: KeyCode) {
        self.key(code, KeyModifiers::NONE);
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        let _ = self.ui.update(Msg::Input { event, at: self.now });
    }

    fn kinds(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(KeyCode::Char(c)));
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        let _ = self.ui.update(Msg::Tick { now: self.now });
    }

    fn frame(&mut self) -> String {
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

fn catalog() -> Catalog {
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

fn asked(screen: &mut Screen) {
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

fn field(name: &str, label: &str, about: &str, kind: FieldKind, required: bool) -> FormField {
    FormField {
        name: name.to_owned(),
        label: label.to_owned(),
        description: about.to_owned(),
        kind,
        required,
        default: None,
    }
}

/// A question in the course of a call, with a field of every kind.
fn elicited(screen: &mut Screen, kind: ElicitationKind) {
    let approval = approval(7, &issue());
    let call = Arc::new(approval.call.clone());
    screen.tell(Notice::TurnStarted { turn: TurnId(1), text: "File an issue about it".to_owned() });
    screen.tell(Notice::CallChanged { call, state: CallState::Running { progress: None } });
    screen.tell(Notice::Elicited {
        elicitation: Arc::new(Elicitation {
            id: ElicitationId(1),
            server: "github".into(),
            host: "api.githubcopilot.com:443".to_owned(),
            call: Some(CallId(7)),
            message: "The repository wants to know more before the issue is filed.".to_owned(),
            kind,
        }),
    });
}

fn form() -> ElicitationKind {
    let options = |words: &[(&str, &str)]| {
        words.iter().map(|(value, label)| ((*value).to_owned(), (*label).to_owned())).collect()
    };
    let text = |min, max| FieldKind::Text { min, max, format: None, pattern: None };
    let severity = options(&[("s1", "Nothing works"), ("s2", "Hinders"), ("s3", "Cosmetic")]);
    let areas = options(&[("api", "API"), ("ui", "Screen"), ("docs", "Documentation")]);
    let mut severity = field("severity", "Severity", "", FieldKind::Choice(severity), true);
    severity.default = Some(json!("s2"));
    let fields = vec![
        field(
            "summary",
            "Summary",
            "One sentence, as it is shown in lists.",
            text(Some(3), Some(80)),
            true,
        ),
        severity,
        field(
            "users",
            "Users hit",
            "",
            FieldKind::Number { integer: true, min: Some(0.0), max: None },
            false,
        ),
        field(
            "areas",
            "Areas",
            "",
            FieldKind::Many { options: areas, min: None, max: Some(2) },
            false,
        ),
        field("public", "Make it public", "", FieldKind::Bool, false),
    ];
    ElicitationKind::Form { schema: Arc::new(json!({"type": "object"})), fields, fault: None }
}

#[test]
fn form_of_a_server_names_it_and_leaves_keys_to_the_draft_until_a_pause() {
    snap("form_unarmed", |screen| {
        screen.kinds("please also ");
        elicited(screen, form());
    });
}

#[test]
fn form_shows_fields_limits_and_what_is_wrong() {
    snap("form_filled", |screen| {
        elicited(screen, form());
        screen.frame();
        screen.wait(600);
        screen.kinds("ab");
        screen.key(KeyCode::Char('s'), KeyModifiers::CONTROL);
    });
}

#[test]
fn form_lists_the_options_of_the_field_that_has_the_keys() {
    snap("form_options", |screen| {
        elicited(screen, form());
        screen.frame();
        screen.wait(600);
        screen.kinds("Login fails");
        (0..3).for_each(|_| screen.press(KeyCode::Tab));
        screen.frame();
        screen.kinds(" ");
        screen.press(KeyCode::Down);
    });
}

#[test]
fn form_is_answered_by_letters_once_its_fields_are_left() {
    snap("form_answers", |screen| {
        elicited(screen, form());
        screen.frame();
        screen.wait(600);
        screen.kinds("Login fails");
        screen.press(KeyCode::Esc);
    });
}

#[test]
fn page_that_a_server_wants_opened_is_shown_with_its_host_and_whole_address() {
    snap("form_page", |screen| {
        let url = "https://login.xn--gthub-cta.example/authorize?client=mini-me&state=8f2a0c41d9e7b35566aa0f&scope=repo%20issues";
        let host = "login.xn--gthub-cta.example".to_owned();
        elicited(screen, ElicitationKind::Url { url: url.to_owned(), host });
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
fn hostile_words_of_a_question_stay_in_their_rows() {
    let evil = "a\u{1b}]0;x\u{7}\r\nb\u{202e}c\u{200b}";
    let mut field =
        field(evil, evil, evil, FieldKind::Choice(vec![(evil.into(), evil.into())]), true);
    field.default = Some(json!(evil));
    let mut text = field.clone();
    text.kind = FieldKind::Text {
        min: None,
        max: None,
        format: Some(evil.into()),
        pattern: Some(evil.into()),
    };
    let schema = Arc::new(json!({"x": evil}));
    let fields = vec![text, field];
    for kind in [
        ElicitationKind::Form { schema: schema.clone(), fields: fields.clone(), fault: None },
        ElicitationKind::Form { schema, fields, fault: Some(evil.into()) },
        ElicitationKind::Url { url: format!("https://{evil}/"), host: evil.into() },
    ] {
        let mut screen = Screen::new((80, 24), catalog());
        screen.tell(Notice::Elicited {
            elicitation: Arc::new(Elicitation {
                id: ElicitationId(1),
                server: evil.into(),
                host: evil.to_owned(),
                call: None,
                message: evil.to_owned(),
                kind,
            }),
        });
        screen.frame();
        screen.wait(600);
        for _ in 0..4 {
            let frame = screen.frame();
            assert!(!frame.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}', '\r']), "{frame}");
            straight(&frame, 80);
            screen.press(KeyCode::Tab);
        }
    }
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

#[test]
fn a_page_shows_what_the_next_request_is_made_of() {
    snap("context", |screen| {
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
        screen.kinds("/context");
        screen.press(KeyCode::Enter);
    });
}

#[test]
fn tool_search_is_visible_as_a_mode() {
    snap("tool_search", |screen| {
        screen.tell(Notice::ContextChanged {
            parts: ContextParts {
                system: 800,
                tools: 240,
                messages: 1_200,
                window: Some(8_192),
                tool_search: Some(ToolSearch { tools: 200, handed: 2, tokens: 31_000 }),
                ..ContextParts::default()
            },
        });
    });
}
