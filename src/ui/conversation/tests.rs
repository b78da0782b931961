use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::config::ThemeName;
use crate::domain::{
    Annotations, Content, DeniedBy, Era, Mode, ModelName, Outcome, PinState, Progress, Server,
    ServerConnection, ServerState, Source, Stage, Tool, ToolDefinition, ToolId, ToolOutput,
};

const TURN: TurnId = TurnId(1);

/// A conversation with a clock and a screen.
struct Scene {
    conversation: Conversation,
    now: Instant,
}

impl Scene {
    fn new() -> Self {
        Self { conversation: Conversation::default(), now: Instant::now() }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "the notices are made where they are applied"
    )]
    fn apply(&mut self, notice: Notice) -> &mut Self {
        self.conversation.apply(&notice, self.now);
        self
    }

    fn after(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self
    }

    fn ask(&mut self, text: &str) -> &mut Self {
        self.apply(Notice::TurnStarted { turn: TURN, text: text.into() })
    }

    fn text(&mut self, chunk: &str) -> &mut Self {
        self.apply(Notice::Text { turn: TURN, chunk: chunk.into() })
    }

    fn end(&mut self, reason: TurnEnd) -> &mut Self {
        let usage = Usage { input: Some(5_231), output: Some(312), cached: None };
        self.apply(Notice::TurnEnded {
            turn: TURN,
            reason,
            usage,
            took: Duration::from_millis(8_400),
        })
    }

    fn call(&mut self, id: u64, state: CallState) -> &mut Self {
        let call = Arc::new(call(id));
        self.apply(Notice::CallChanged { call, state })
    }

    fn go(&mut self, to: Move) -> &mut Self {
        self.conversation.go(to);
        self
    }

    fn buffer(&mut self, width: u16, height: u16) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::of(ThemeName::Dark, false);
        self.conversation.draw(area, &mut buffer, &theme, self.now);
        buffer
    }

    fn screen(&mut self, width: u16, height: u16) -> String {
        let buffer = self.buffer(width, height);
        let mut out = String::new();
        for y in 0..height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    row.push_str(symbol);
                    skip = text::width(symbol).max(1);
                }
                skip -= 1;
            }
            out.push_str(row.trim_end());
            out.push('\n');
        }
        out
    }
}

fn call(id: u64) -> Call {
    let arguments = json!({"owner": "my-org", "query": "is:open label:bug", "page": 2});
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    Call {
        id: CallId(id),
        turn: Some(TURN),
        tool: ToolId::new("github", "search_issues"),
        model_name: ModelName::new("github_search_issues"),
        arguments: Arc::new(arguments),
    }
}

fn done(outcome: Outcome, for_model: &str) -> CallState {
    CallState::Done {
        outcome: Arc::new(outcome),
        took: Duration::from_millis(1_240),
        for_model: for_model.into(),
    }
}

fn said(text: &str) -> ToolOutput {
    ToolOutput { content: vec![Content::Text(text.into())], ..ToolOutput::default() }
}

fn tool(server: &str, name: &str, permission: Mode, tokens: u32) -> Arc<Tool> {
    let schema = Arc::new(json!({"type": "object"}));
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::clone(&schema),
            output_schema: None,
            annotations: Annotations::default(),
            raw: schema,
        }),
        pin: String::new(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission,
        disabled: false,
        tokens,
    })
}

fn server(name: &str, state: ServerState, tools: usize) -> Server {
    let connected = state.usable();
    Server {
        name: name.into(),
        url: format!("https://{name}.example.com/mcp"),
        host: format!("{name}.example.com"),
        state,
        connection: connected.then(|| ServerConnection {
            era: if tools > 3 { Era::Modern } else { Era::Legacy },
            protocol_version: if tools > 3 { "2026-07-28" } else { "2025-11-25" }.into(),
            session: false,
            capabilities: vec![],
            identity: String::new(),
            instructions: None,
        }),
        permission: if tools > 3 { Mode::Ask } else { Mode::Auto },
        tools: (0..tools)
            .map(|n| {
                let mode = if tools > 3 { Mode::Ask } else { Mode::Auto };
                tool(name, &format!("tool{n}"), mode, 180)
            })
            .collect(),
        filtered: vec![],
        warnings: vec![],
        latency: vec![],
    }
}

fn catalog() -> Catalog {
    let mut github = server("github", ServerState::Ready, 12);
    github.warnings.push(Warning::new(
        Source::Server("github".into()),
        "`tools` names get_mee, which the server does not have",
        "Did you mean get_me?",
    ));
    let servers = vec![
        github,
        server("context7", ServerState::Ready, 2),
        server(
            "jira",
            ServerState::Failed {
                stage: Stage::Tls,
                reason: "the certificate expired on 2026-01-31".into(),
            },
            0,
        ),
        server("linear", ServerState::Connecting, 0),
        server(
            "sentry",
            ServerState::NeedsAuth { reason: "the token in SENTRY_TOKEN was refused (401)".into() },
            0,
        ),
    ];
    Catalog::new(servers, vec![], 1)
}

const ANSWER: &str = "## Findings

There are **two** open bugs, see `search_issues` and [the board](https://github.com/my-org/board).

1. Crash on start
   - only on *Linux*
   - since ~~0.9~~ 1.0
2. Slow search

- [x] reproduced
- [ ] fixed

| id | title | age |
|---:|:------|:---:|
| 41 | Crash on start | 2 d |
| 7 | 検索が遅い | 40 d |

```rust
// the cause
fn main() { let n: u32 = 42; println!(\"{n}\"); }
```

> It was never tested.
";

fn scene_with_banner() -> Scene {
    let mut scene = Scene::new();
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog()) });
    scene
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("row {n:03}\n\n")).collect::<Vec<_>>().concat()
}

#[test]
fn banner_tells_servers_tools_permissions_and_warnings() {
    let mut scene = scene_with_banner();
    insta::assert_snapshot!("banner_80", scene.screen(80, 18));
    insta::assert_snapshot!("banner_50", scene.screen(50, 22));
}

#[test]
fn banner_tells_a_first_user_what_to_do() {
    let mut scene = Scene::new();
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(Catalog::new(vec![], vec![], 1)) });
    insta::assert_snapshot!("banner_without_servers", scene.screen(80, 8));
}

#[test]
fn long_banner_lists_what_is_not_well_and_opens() {
    let mut servers: Vec<Server> =
        (0..20).map(|n| server(&format!("server{n:02}"), ServerState::Ready, 2)).collect();
    servers[17].state = ServerState::Degraded { reason: "the list is 5 min old".into() };
    let mut scene = Scene::new();
    let catalog = Catalog::new(servers, vec![], 1);
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog) });
    let closed = scene.screen(80, 30);
    insta::assert_snapshot!("banner_long", closed);
    scene.go(Move::Previous).go(Move::Toggle);
    let open = scene.screen(80, 30);
    assert!(open.contains("server16"), "{open}");
    assert!(!closed.contains("server16"), "{closed}");
}

#[test]
fn banner_is_refreshed_in_place() {
    let mut scene = scene_with_banner();
    scene.ask("hello");
    let mut servers = catalog().servers;
    servers[3].state = ServerState::Ready;
    let catalog = Arc::new(Catalog::new(servers, vec![], 2));
    scene.apply(Notice::CatalogChanged { catalog });
    let screen = scene.screen(80, 30);
    assert!(screen.contains("3 of 5 servers ready"), "{screen}");
    assert_eq!(screen.matches("mini-me").count(), 1);
    let (banner, message) = (screen.find("mini-me"), screen.find("hello"));
    assert!(banner < message);
}

#[test]
fn warning_that_the_banner_tells_is_not_told_twice() {
    let mut scene = scene_with_banner();
    let told = catalog().all_warnings().next().unwrap().clone();
    assert!(!scene.conversation.apply(&Notice::Warned { warning: told }, scene.now));
    let other = Warning::new(Source::Model, "no tool support", "Choose another model.");
    assert!(scene.conversation.apply(&Notice::Warned { warning: other }, scene.now));
}

#[test]
fn streaming_answer_shows_tables_code_and_lists() {
    let mut scene = Scene::new();
    scene.ask("Which bugs are open?\nPlease be short.");
    for chunk in ANSWER.chars().collect::<Vec<_>>().chunks(7) {
        scene.text(&chunk.iter().collect::<String>());
    }
    scene.after(2_000);
    insta::assert_snapshot!("answer_80", scene.screen(80, 34));
    insta::assert_snapshot!("answer_50", scene.screen(50, 36));
}

#[test]
fn unfinished_markdown_is_drawn_at_every_prefix_and_size() {
    for width in [1, 4, 5, 9, 20, 50] {
        let mut scene = Scene::new();
        scene.ask("q");
        for c in ANSWER.chars() {
            scene.text(&c.to_string());
            scene.screen(width, 8);
        }
    }
}

fn cards() -> Scene {
    let mut scene = Scene::new();
    scene.ask("Look");
    scene.call(1, CallState::Asking);
    scene.call(2, CallState::Running { progress: None });
    scene.after(4_200);
    let progress = Progress { done: 40.0, total: Some(100.0), note: "fetching page 2".into() };
    scene.call(3, CallState::Running { progress: Some(progress) });
    let long = "{\"total\": 2}\ntwo\nthree\nfour\nfive\nsix\nseven\neight";
    scene.call(4, done(Outcome::Ok(said(long)), long));
    scene.call(5, done(Outcome::ToolError(said("rate limited until 12:00")), "x"));
    let note = "use the archive".to_owned();
    scene.call(6, done(Outcome::Denied(DeniedBy::User { note }), "denied"));
    let reason = "The connection closed after 31 s.".to_owned();
    scene.call(7, done(Outcome::Unknown { reason }, "unknown"));
    scene.call(8, done(Outcome::Cancelled { sent: true }, "cancelled"));
    scene.call(9, done(Outcome::Ok(ToolOutput::default()), "The result is empty."));
    scene.apply(Notice::CallRefused {
        turn: TURN,
        name: "github_serch".into(),
        arguments: "{\"q\": \"a".into(),
        outcome: Arc::new(Outcome::InvalidArguments { message: "no such tool".into() }),
        for_model: "no such tool".into(),
    });
    scene
}

#[test]
fn cards_show_every_state() {
    let mut scene = cards();
    insta::assert_snapshot!("cards_80", scene.screen(80, 40));
    insta::assert_snapshot!("cards_50", scene.screen(50, 44));
}

#[test]
fn open_card_shows_arguments_result_and_what_the_model_saw() {
    let mut scene = Scene::new();
    scene.ask("Look");
    let output = ToolOutput {
        content: vec![
            Content::Text("two issues".into()),
            Content::Binary {
                kind: "image".into(),
                mime: "image/png".into(),
                uri: String::new(),
                size: 2_345,
                data: "".into(),
            },
            Content::Link { uri: "file:///a.log".into(), name: "log".into() },
        ],
        structured: Some(json!({"total": 2})),
        remarks: vec!["structuredContent does not fit the schema".into()],
    };
    scene.call(1, done(Outcome::Ok(output), "two issues\n[cut]"));
    scene.screen(80, 30);
    scene.go(Move::Toggle);
    insta::assert_snapshot!("card_open", scene.screen(80, 30));
    assert!(scene.conversation.copy_text().is_none(), "no answer yet and nothing selected");
    scene.go(Move::Previous);
    let copied = scene.conversation.copy_text().unwrap();
    assert!(copied.starts_with("two issues\n[image, image/png, 2.3 kB: not shown]"), "{copied}");
}

#[test]
fn result_that_the_model_saw_whole_is_not_shown_twice() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.call(1, done(Outcome::Ok(said("fine")), "[Result of a server]\nfine"));
    scene.screen(80, 20);
    scene.go(Move::Toggle);
    let screen = scene.screen(80, 20);
    assert_eq!(screen.matches("fine").count(), 1, "{screen}");
    assert!(screen.contains("[Result of a server]"), "{screen}");
}

#[test]
fn structured_result_that_the_text_says_already_is_not_repeated() {
    let output = ToolOutput {
        content: vec![Content::Text("{\"total\":2}".into())],
        structured: Some(json!({"total": 2})),
        remarks: vec![],
    };
    assert_eq!(result::text_of(&Outcome::Ok(output)), "{\"total\":2}");
}

#[test]
fn json_in_one_line_is_indented_on_an_open_card_and_copied_as_it_came() {
    let mut scene = Scene::new();
    let json = r#"{"total":2,"ids":[41,7]}"#;
    scene.ask("q").call(1, done(Outcome::Ok(said(json)), json));
    scene.screen(80, 24);
    scene.go(Move::Previous).go(Move::Toggle);
    insta::assert_snapshot!("card_open_json", scene.screen(80, 24));
    assert_eq!(scene.conversation.copy_text().as_deref(), Some(json));
}

#[test]
fn edited_arguments_are_shown_as_they_are_sent() {
    let mut scene = Scene::new();
    scene.ask("q").call(1, CallState::Asking);
    let Value::Object(arguments) = json!({"owner": "somebody else"}) else { return };
    let edited = Call { arguments: Arc::new(arguments), ..call(1) };
    let state = CallState::Running { progress: None };
    scene.apply(Notice::CallChanged { call: Arc::new(edited), state });
    let screen = scene.screen(80, 10);
    assert!(screen.contains("somebody else") && !screen.contains("my-org"), "{screen}");
}

#[test]
fn running_call_counts_seconds_and_a_settled_one_rests() {
    let mut scene = Scene::new();
    scene.ask("q");
    assert!(scene.conversation.animating(), "the model is awaited");
    scene.call(1, CallState::Asking);
    assert!(!scene.conversation.animating(), "a person is awaited");
    scene.call(1, CallState::Running { progress: None });
    assert!(scene.conversation.animating());
    scene.after(65_000);
    assert!(scene.screen(80, 10).contains("running 1 min 5 s"));
    scene.call(1, done(Outcome::Ok(said("x")), "x"));
    scene.after(2_000);
    assert!(scene.screen(80, 10).contains("thinking… 2 s"));
    scene.end(TurnEnd::Done);
    assert!(!scene.conversation.animating());
}

#[test]
fn view_holds_its_rows_while_text_streams_in_and_says_how_much_is_new() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(200));
    scene.screen(80, 24);
    scene.go(Move::Rows(-10));
    let before = scene.screen(80, 24);
    for _ in 0..500 {
        scene.text("more text\n\n");
    }
    let held = scene.screen(80, 24);
    assert_eq!(
        before.lines().take(22).collect::<Vec<_>>(),
        held.lines().take(22).collect::<Vec<_>>()
    );
    insta::assert_snapshot!("scrolled_up", held);
    scene.go(Move::Bottom).text("LAST");
    assert!(scene.screen(80, 24).contains("LAST"));
    scene.text("\n\nEVEN LATER");
    assert!(scene.screen(80, 24).contains("EVEN LATER"));
}

#[test]
fn view_holds_inside_a_line_that_grows_past_every_bound() {
    let words = |from: u32| (from..from + 2_500).map(|n| n.to_string() + " ").collect::<String>();
    let mut scene = Scene::new();
    scene.ask("q").text(&words(10_000));
    scene.screen(80, 12);
    scene.go(Move::Rows(-2));
    let held = scene.screen(80, 12);
    scene.text(&words(12_500)).text(&words(15_000));
    let rows = |screen: &str| screen.lines().take(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&held), rows(&scene.screen(80, 12)));
}

#[test]
fn nobody_is_thinking_while_the_user_is_asked_whether_to_go_on() {
    use crate::domain::{Question, QuestionId, QuestionKind};
    let mut scene = Scene::new();
    scene.ask("q");
    assert!(scene.screen(60, 12).contains("thinking"));
    let kind = QuestionKind::Rounds { rounds: 50 };
    let question = Question { id: QuestionId(4), kind };
    scene.apply(Notice::Questioned { question });
    assert!(!scene.screen(60, 12).contains("thinking"));
    scene.apply(Notice::QuestionClosed { question: QuestionId(4) });
    assert!(scene.screen(60, 12).contains("thinking"));
}

#[test]
fn scrolling_down_to_the_end_follows_again() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(50));
    scene.screen(80, 10);
    scene.go(Move::Pages(-2)).screen(80, 10);
    scene.go(Move::Pages(5)).screen(80, 10);
    scene.text("NEW\n");
    let screen = scene.screen(80, 10);
    assert!(screen.contains("NEW") && !screen.contains("End"), "{screen}");
}

#[test]
fn sending_a_message_follows_again() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(50)).end(TurnEnd::Done);
    scene.screen(80, 10);
    scene.go(Move::Top).screen(80, 10);
    scene.ask("the next question");
    assert!(scene.screen(80, 10).contains("the next question"));
}

#[test]
fn seventy_thousand_rows_can_be_seen_from_the_first_to_the_last() {
    let mut scene = Scene::new();
    let text = (1..=70_000).map(|n| format!("line {n:06}\\\n")).collect::<Vec<_>>().concat();
    scene.ask("q").text(&text);
    assert!(scene.screen(80, 24).contains("line 070000"));
    scene.go(Move::Top);
    assert!(scene.screen(80, 24).contains("line 000001"));
    scene.go(Move::Bottom);
    assert!(scene.screen(80, 24).contains("line 070000"));
}

#[test]
fn frame_over_ten_megabytes_lays_out_only_what_is_visible() {
    let mut scene = Scene::new();
    let answer = format!("{}\n\n", "Some words of an answer. ".repeat(40)).repeat(1_000);
    for _ in 0..10 {
        scene.ask("q").text(&answer).end(TurnEnd::Done);
    }
    scene.ask("q").text("The last one");
    scene.screen(80, 24);
    let first = scene.conversation.pane.layouts;
    assert!(first < 16, "{first} layouts");
    scene.text(" goes on");
    scene.screen(80, 24);
    let more = scene.conversation.pane.layouts - first;
    assert!(more <= 8, "{more} layouts for one delta");
    scene.go(Move::Rows(-300)).screen(80, 24);
    scene.screen(61, 24);
    let all = scene.conversation.pane.layouts;
    assert!(all < 120, "{all} layouts after scrolling and a new width");
}

#[test]
fn huge_result_is_laid_out_piece_by_piece() {
    let mut scene = Scene::new();
    scene.ask("q");
    let huge = "0123456789 abcdef\n".repeat(300_000);
    scene.call(1, done(Outcome::Ok(said(&huge)), "cut"));
    scene.screen(80, 24);
    scene.go(Move::Toggle);
    scene.screen(80, 24);
    assert!(scene.conversation.pane.layouts < 30, "{}", scene.conversation.pane.layouts);
    scene.go(Move::Bottom);
    assert!(scene.screen(80, 24).contains("the model saw"));
}

#[test]
fn opening_a_card_keeps_its_head_in_place() {
    let mut scene = Scene::new();
    scene.ask("q").text(&numbered(30));
    scene.call(1, done(Outcome::Ok(said(&numbered(60))), "x"));
    let closed = scene.screen(80, 20);
    let row = |screen: &str| screen.lines().position(|row| row.contains("search_issues"));
    scene.go(Move::Toggle);
    assert_eq!(row(&scene.screen(80, 20)), row(&closed));
    scene.go(Move::Toggle);
    assert_eq!(scene.screen(80, 20), closed);
}

#[test]
fn click_selects_and_opens() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.call(1, done(Outcome::Ok(said("fine")), "fine"));
    let row = scene.screen(80, 20).lines().position(|row| row.contains("search_issues")).unwrap();
    scene.conversation.click(u16::try_from(row).unwrap());
    let open = scene.screen(80, 20);
    assert!(open.contains("┃◆") && open.contains("arguments"), "{open}");
    scene.conversation.click(u16::try_from(row).unwrap());
    assert!(!scene.screen(80, 20).contains("arguments"));
    scene.conversation.click(19);
    scene.conversation.click(200);
}

#[test]
fn selection_moves_over_what_can_be_copied() {
    let mut scene = Scene::new();
    scene.ask("my question").text("the answer").end(TurnEnd::Done);
    scene.conversation.note("copied");
    scene.screen(80, 20);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("the answer"));
    scene.go(Move::Previous).go(Move::Previous);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("my question"));
    scene.go(Move::Previous);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("my question"));
    scene.go(Move::Next);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("the answer"));
    scene.go(Move::Unselect);
    assert!(!scene.screen(80, 20).contains('┃'));
}

#[test]
fn copied_text_keeps_joiners() {
    let text = "می\u{200c}روم 👨\u{200d}👩\u{200d}👧 pass\u{200b}word";
    let mut scene = Scene::new();
    scene.ask("q").text(text);
    assert_eq!(scene.conversation.copy_text().as_deref(), Some(text));
}

#[test]
fn escapes_reach_neither_screen_nor_clipboard_nor_transcript() {
    let hostile = "A\u{1b}]52;c;ZXZpbA==\u{7}B\u{1b}]0;owned\u{1b}\\C\u{1b}[2JD\u{1b}cE\u{1b}[31mF";
    let mut scene = Scene::new();
    scene.ask(hostile);
    scene.apply(Notice::Reasoning { turn: TURN, chunk: hostile.into() });
    scene.text(hostile);
    scene.call(1, done(Outcome::ToolError(said(hostile)), hostile));
    scene.apply(Notice::Warned { warning: Warning::new(Source::Model, hostile, hostile) });
    scene.end(TurnEnd::Failed { reason: hostile.into(), unreachable: false });
    for screen in [scene.screen(80, 30), scene.conversation.transcript()] {
        assert_eq!(screen.matches("ABCDEF").count(), 7, "{screen}");
        assert!(!screen.contains("owned") && !screen.contains('\u{1b}'), "{screen}");
    }
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("ABCDEF"));
}

#[test]
fn names_and_arguments_stay_in_one_line_and_hide_nothing() {
    let mut scene = Scene::new();
    scene.ask("q");
    let mut evil = call(1);
    evil.tool = ToolId::new("srv", "go\n\u{1b}[31m\u{202e}x");
    let Value::Object(arguments) = json!({"a\u{200b}b": "line\nbreak \u{202e}"}) else { return };
    evil.arguments = Arc::new(arguments);
    let notice = Notice::CallChanged { call: Arc::new(evil), state: CallState::Asking };
    scene.apply(notice);
    let screen = scene.screen(160, 6);
    let row = screen.lines().find(|row| row.contains("srv/")).unwrap();
    assert!(row.contains("\\u{202e}x") && row.contains("a\\u{200b}b="), "{screen}");
    assert!(row.ends_with("waiting for your decision"), "{screen}");
}

#[test]
fn tabs_and_carriage_returns_of_a_result_move_nothing() {
    let mut scene = Scene::new();
    scene.ask("q");
    let text = "a\tb\n\tindent\n10%\r50%\r100%\nend\u{7f}";
    scene.call(1, done(Outcome::Ok(said(text)), text));
    let screen = scene.screen(60, 12);
    for words in ["   a       b\n", "           indent\n", "   100%\n"] {
        assert!(screen.contains(words), "{screen}");
    }
}

#[test]
fn broken_answer_is_marked_and_the_end_says_why() {
    let mut scene = Scene::new();
    scene.ask("q").text("Half an ans");
    scene.end(TurnEnd::Failed {
        reason: "The model at localhost:12434 closed the connection. Ask again.".into(),
        unreachable: false,
    });
    insta::assert_snapshot!("failed", scene.screen(80, 10));
}

#[test]
fn plain_end_of_a_turn_adds_nothing() {
    let mut scene = Scene::new();
    scene.ask("q").text("Answer.").end(TurnEnd::Done);
    insta::assert_snapshot!("done", scene.screen(50, 5));
}

#[test]
fn note_in_the_middle_of_an_answer_does_not_tear_it() {
    let mut scene = Scene::new();
    scene.ask("q").text("A **bo");
    scene.conversation.note("copied");
    scene.text("ld** word");
    let screen = scene.screen(80, 10);
    assert!(screen.contains("A bold word"), "{screen}");
    assert_eq!(scene.conversation.copy_text().as_deref(), Some("A **bold** word"));
}

#[test]
fn text_of_another_turn_is_ignored() {
    let mut scene = Scene::new();
    scene.ask("q").end(TurnEnd::Done);
    let late = Notice::Text { turn: TURN, chunk: "late".into() };
    assert!(!scene.conversation.apply(&late, scene.now));
    assert!(!scene.conversation.transcript().contains("late"));
}

#[test]
fn reasoning_is_one_line_until_it_is_opened() {
    let mut scene = Scene::new();
    scene.ask("q");
    for chunk in ["First I look.\n\n", "Then I think."] {
        scene.apply(Notice::Reasoning { turn: TURN, chunk: chunk.into() });
    }
    scene.text("Answer.");
    let closed = scene.screen(80, 12);
    assert!(closed.contains("reasoning · about 8 tokens · First I look."), "{closed}");
    assert!(!closed.contains("Then I think"));
    scene.go(Move::Toggle);
    assert!(scene.screen(80, 12).contains("Then I think."));
}

#[test]
fn long_message_of_the_user_is_folded() {
    let mut scene = Scene::new();
    scene.ask(&"a line\n".repeat(40));
    let closed = scene.screen(80, 60);
    assert!(closed.contains("… 24 more lines"), "{closed}");
    scene.go(Move::Toggle);
    assert_eq!(scene.screen(80, 60).matches("a line").count(), 40);
}

#[test]
fn queued_messages_and_retries_are_shown() {
    let mut scene = Scene::new();
    scene.ask("q");
    scene.apply(Notice::Retrying {
        turn: TURN,
        attempt: 2,
        after: Duration::from_secs(3),
        reason: "429 from api.example.com".into(),
    });
    scene.apply(Notice::Queued { texts: vec!["and then\nthis".into()] });
    insta::assert_snapshot!("retry_and_queue", scene.screen(80, 9));
}

#[test]
fn new_session_keeps_only_the_banner() {
    let mut scene = scene_with_banner();
    scene.ask("q").text("Answer.").end(TurnEnd::Done);
    scene.call(1, done(Outcome::Ok(said("x")), "x"));
    scene.apply(Notice::SessionStarted { id: "2".into(), path: None });
    let screen = scene.screen(80, 30);
    assert!(screen.contains("mini-me") && !screen.contains("Answer."), "{screen}");
}

#[test]
fn transcript_holds_everything_closed_or_not() {
    let mut scene = cards();
    scene.text("The **answer**.").end(TurnEnd::Cancelled);
    let transcript = scene.conversation.transcript();
    for words in [
        "> Look",
        "[github/search_issues] {\"owner\":\"my-org\"",
        "eight",
        "use the archive",
        "The **answer**.",
        "(incomplete)",
        "Cancelled.",
    ] {
        assert!(transcript.contains(words), "{words} is missing in\n{transcript}");
    }
}

#[test]
fn meaning_does_not_hang_on_colour() {
    let mut scene = cards();
    let area = Rect::new(0, 0, 80, 44);
    let mut buffer = Buffer::empty(area);
    let theme = Theme::of(ThemeName::None, true);
    scene.conversation.draw(area, &mut buffer, &theme, scene.now);
    assert!(buffer.content.iter().all(|cell| cell.fg == ratatui::style::Color::Reset));
}

#[test]
fn every_size_is_drawn_without_leaving_the_area() {
    let mut scene = cards();
    scene.text(ANSWER);
    for width in 0..60 {
        for height in [0, 1, 2, 15] {
            let outer = Rect::new(0, 0, width + 4, height + 4);
            let mut buffer = Buffer::empty(outer);
            let area = Rect::new(2, 2, width, height);
            let theme = Theme::of(ThemeName::Dark, false);
            scene.conversation.draw(area, &mut buffer, &theme, scene.now);
            for position in outer.positions().filter(|at| !area.contains(*at)) {
                assert_eq!(buffer[position].symbol(), " ", "{position} at {width}x{height}");
            }
        }
    }
}

/// One thing that can happen to a conversation.
#[derive(Debug, Clone)]
enum Step {
    Ask,
    Text(String),
    Reasoning(String),
    Call(u64, bool),
    Note,
    End,
    Go(Move),
    Click(u16),
    Size(u16, u16),
}

fn step() -> impl Strategy<Value = Step> {
    let moves = vec![
        Move::Rows(-3),
        Move::Rows(2),
        Move::Rows(i32::MIN),
        Move::Rows(i32::MAX),
        Move::Pages(-1),
        Move::Pages(1),
        Move::Top,
        Move::Bottom,
        Move::Previous,
        Move::Next,
        Move::Toggle,
        Move::Unselect,
    ];
    prop_oneof![
        1 => Just(Step::Ask),
        4 => "[a-z #|`\n-]{0,200}".prop_map(Step::Text),
        1 => "[a-z\n]{1,60}".prop_map(Step::Reasoning),
        2 => (0u64..4, any::<bool>()).prop_map(|(id, done)| Step::Call(id, done)),
        1 => Just(Step::Note),
        1 => Just(Step::End),
        6 => prop::sample::select(moves).prop_map(Step::Go),
        1 => (0u16..40).prop_map(Step::Click),
        1 => (0u16..70, 0u16..20).prop_map(|(width, height)| Step::Size(width, height)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_happens_the_end_can_be_reached_and_a_held_view_stays(
        steps in prop::collection::vec(step(), 0..60)
    ) {
        let mut scene = scene_with_banner();
        let mut size = (60, 12);
        for step in steps {
            match step {
                Step::Ask => scene.ask("a question"),
                Step::Text(text) => scene.text(&text),
                Step::Reasoning(chunk) => scene.apply(Notice::Reasoning { turn: TURN, chunk }),
                Step::Call(id, false) => scene.call(id, CallState::Running { progress: None }),
                Step::Call(id, true) => {
                    scene.call(id, done(Outcome::Ok(said(&numbered(20))), "x"))
                }
                Step::Note => { scene.conversation.note("a note"); &mut scene }
                Step::End => scene.end(TurnEnd::Cancelled),
                Step::Go(to) => scene.go(to),
                Step::Click(row) => { scene.conversation.click(row); &mut scene }
                Step::Size(width, height) => { size = (width, height); &mut scene }
            };
            scene.screen(size.0, size.1);
        }
        scene.ask("q").text(&numbered(30));
        scene.screen(60, 12);
        scene.go(Move::Pages(-2));
        let held = scene.screen(60, 12);
        scene.text("more\n\nand more\n\n");
        let rows = |screen: &str| screen.lines().take(11).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(rows(&held), rows(&scene.screen(60, 12)));
        scene.go(Move::Bottom).text("THE END");
        prop_assert!(scene.screen(60, 12).contains("THE END"));
    }
}
