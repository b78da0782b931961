use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::*;
use crate::bridge::{Notice, Op};
use crate::domain::{
    Annotations, Answer, Approval, Call, CallId, CallState, Catalog, Grounds, Mode as Permission,
    ModelName, Outcome, PinState, Question, QuestionId, QuestionKind, Server, ServerState, Source,
    Stage, Tool, ToolDefinition, ToolId, TurnEnd, TurnId, Usage, Warning,
};
use crate::ui::{Ui, UiOptions};

/// The screen with a clock of its own; every step draws a frame, as the program does.
struct Bench {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
}

impl Bench {
    fn new() -> Self {
        Self::of(Catalog::default())
    }

    fn of(catalog: Catalog) -> Self {
        let ui = Ui::new(UiOptions::default(), Arc::new(catalog));
        let terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut bench = Self { ui, now: Instant::now(), terminal };
        bench.frame();
        bench
    }

    fn frame(&mut self) -> String {
        let (ui, now) = (&mut self.ui, self.now);
        self.terminal.draw(|frame| ui.draw(frame, now)).unwrap();
        self.terminal.backend().to_string()
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        let _ = self.ui.update(Msg::Tick { now: self.now });
        self.frame();
    }

    fn event(&mut self, event: Event) -> Vec<Intent> {
        let intents = self.ui.update(Msg::Input { event, at: self.now });
        self.frame();
        intents
    }

    fn key_event(&mut self, event: KeyEvent) -> Vec<Intent> {
        self.event(Event::Key(event))
    }

    fn key(&mut self, word: &str) -> Vec<Intent> {
        let key = Key::parse(word).unwrap();
        self.key_event(KeyEvent::new(key.code, key.modifiers))
    }

    fn kinds(&mut self, text: &str) -> Vec<Intent> {
        text.chars().flat_map(|c| self.key_event(KeyEvent::from(KeyCode::Char(c)))).collect()
    }

    fn tell(&mut self, notice: Notice) -> Vec<Intent> {
        let intents = self.ui.update(Msg::Notice { notice, at: self.now });
        self.frame();
        intents
    }

    fn turn(&mut self) {
        self.tell(Notice::TurnStarted { turn: TurnId(1), text: "go".to_owned() });
    }

    fn ask(&mut self, id: u64) {
        self.tell(Notice::Asked { approval: approval(id) });
    }

    fn armed(&mut self) {
        self.wait(600);
    }

    fn draft(&self) -> String {
        self.ui.state.input.text()
    }
}

fn tool(name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        id: ToolId::new("sh", name),
        model_name: ModelName::new(format!("sh_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(json!({})),
        }),
        pin: "abc".to_owned(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Permission::Ask,
        disabled: false,
        tokens: 0,
    })
}

fn approval(id: u64) -> Arc<Approval> {
    let tool = tool("run");
    let arguments = json!({"command": "rm -r build"});
    Arc::new(Approval {
        call: Call {
            id: CallId(id),
            turn: Some(TurnId(1)),
            tool: tool.id.clone(),
            model_name: tool.model_name.clone(),
            arguments: Arc::new(arguments.as_object().unwrap().clone()),
        },
        tool,
        host: "sh.example:443".to_owned(),
        why: "mode ask".to_owned(),
        grounds: Grounds::default(),
        carried: Vec::new(),
    })
}

fn catalog() -> Catalog {
    let server = Server {
        name: "sh".into(),
        url: String::new(),
        host: String::new(),
        state: ServerState::Ready,
        connection: None,
        permission: Permission::Ask,
        tools: vec![tool("run"), tool("stop")],
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    };
    Catalog::new(vec![server], Vec::new(), 1)
}

fn answered(call: u64, answer: Answer) -> Vec<Intent> {
    vec![Intent::Send(Op::Answer { call: CallId(call), answer })]
}

fn denied() -> Answer {
    Answer::Deny { note: String::new() }
}

fn submitted(text: &str) -> Vec<Intent> {
    vec![Intent::Send(Op::Submit { text: text.to_owned() })]
}

fn decisions(intents: &[Intent]) -> usize {
    let decides =
        |intent: &&Intent| matches!(intent, Intent::Send(Op::Answer { .. } | Op::Decide { .. }));
    intents.iter().filter(decides).count()
}

#[test]
fn type_ahead_never_decides_and_is_not_lost() {
    let mut bench = Bench::new();
    bench.turn();
    bench.kinds("please also ");
    bench.ask(1);
    let mut intents = Vec::new();
    for (gap, key) in [(10, "c"), (20, "h"), (20, "space"), (30, "enter"), (20, "y")] {
        bench.wait(gap);
        intents.extend(bench.key(key));
    }
    assert_eq!(intents, submitted("please also ch "));
    assert_eq!(bench.draft(), "y");
    assert!(bench.ui.state.decisions.visible());
}

#[test]
fn letters_before_the_pause_go_into_the_draft_with_its_cursor() {
    let mut bench = Bench::new();
    bench.kinds("ac");
    bench.key("left");
    bench.ask(1);
    bench.wait(599);
    assert_eq!(bench.kinds("y"), []);
    assert_eq!(bench.draft(), "ayc");
}

#[test]
fn each_answer_has_its_key() {
    for (key, answer) in [("y", Answer::Once), ("s", Answer::Session), ("n", denied())] {
        let mut bench = Bench::new();
        bench.ask(7);
        bench.armed();
        assert_eq!(bench.key(key), answered(7, answer));
        assert!(!bench.ui.state.decisions.visible());
    }
}

#[test]
fn always_wants_the_key_twice_and_anything_else_goes_back() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.key("a"), []);
    assert!(bench.frame().contains("permissions: auto"));
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("a"), []);
    assert_eq!(bench.key("a"), answered(1, Answer::Always));
}

#[test]
fn the_whole_rule_is_shown_before_it_is_written() {
    let mut bench = Bench::new();
    bench.terminal.backend_mut().resize(46, 20);
    bench.ask(1);
    bench.armed();
    bench.key("a");
    let shown = bench.frame();
    for part in ["rules.yaml", "tool: run", "permissions:", "abc… }"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn a_word_that_begins_like_an_answer_decides_nothing_more() {
    for word in ["also yes", "what is this? say", "use another, yes"] {
        let mut bench = Bench::new();
        bench.ask(1);
        bench.armed();
        let mut intents = Vec::new();
        for c in word.chars() {
            intents.extend(bench.key_event(KeyEvent::from(KeyCode::Char(c))));
            bench.wait(80);
        }
        assert_eq!(intents, [], "{word}");
        assert!(bench.ui.state.decisions.visible(), "{word}");
    }
}

#[test]
fn a_letter_that_is_no_answer_begins_a_message() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.kinds("who says so?");
    assert_eq!(bench.draft(), "who says so?");
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn keys_that_come_as_one_are_a_paste_and_never_decide() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let _ = bench.ui.update(Msg::Hurried { at: bench.now });
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
}

#[test]
fn keys_that_come_as_one_stay_in_the_note_being_written() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("r");
    let _ = bench.ui.update(Msg::Hurried { at: bench.now });
    bench.kinds("not now");
    assert_eq!(bench.draft(), "");
    let note = Answer::Deny { note: "not now".to_owned() };
    assert_eq!(bench.key("enter"), answered(1, note));
}

#[test]
fn a_box_that_cannot_be_seen_takes_no_answer() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.terminal.backend_mut().resize(30, 10);
    bench.wait(5_000);
    assert_eq!(bench.kinds("yss"), []);
    bench.terminal.backend_mut().resize(80, 24);
    bench.wait(0);
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn keys_in_the_side_panel_decide_nothing() {
    for open in ["f2", "shift-tab"] {
        let mut bench = Bench::of(catalog());
        bench.ask(1);
        bench.armed();
        bench.key(open);
        bench.wait(5_000);
        assert_eq!(bench.kinds("yes"), [], "{open}");
        assert_eq!(bench.ui.state.panel.filter, "yes");
        bench.key("f3");
        assert_eq!(bench.key("y"), []);
        bench.armed();
        assert_eq!(bench.key("y"), answered(1, Answer::Once));
    }
}

#[test]
fn leaving_the_side_panel_arms_the_box_anew() {
    let mut bench = Bench::of(catalog());
    bench.key("shift-tab");
    bench.ask(1);
    bench.armed();
    bench.key("shift-tab");
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn a_call_by_hand_from_the_side_panel_is_answered_at_once() {
    let mut bench = Bench::of(catalog());
    bench.key("shift-tab");
    let mut approval = (*approval(1)).clone();
    approval.call.turn = None;
    bench.tell(Notice::Asked { approval: Arc::new(approval) });
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn a_click_into_the_draft_goes_there() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let input = bench.ui.state.drawn.input;
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: input.x + 4,
        row: input.y,
        modifiers: KeyModifiers::NONE,
    };
    bench.event(Event::Mouse(click));
    bench.wait(5_000);
    assert_eq!(bench.kinds("yes"), []);
    assert_eq!(bench.draft(), "yes");
}

#[test]
fn enter_is_deny_space_is_nothing_and_neither_ever_approves() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.key("space"), []);
    assert_eq!(bench.key("enter"), answered(1, denied()));
}

#[test]
fn paste_and_click_never_decide_and_a_paste_disarms() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.event(Event::Paste("y".to_owned())), []);
    bench.wait(100);
    assert_eq!(bench.key("y"), []);
    assert_eq!(bench.draft(), "yy");
    for row in 0..24 {
        let click = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: 4,
            row,
            modifiers: KeyModifiers::NONE,
        };
        assert_eq!(bench.event(Event::Mouse(click)), []);
    }
}

#[test]
fn a_held_key_scrolls_but_never_decides() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    let held =
        |c| KeyEvent::new_with_kind(KeyCode::Char(c), KeyModifiers::NONE, KeyEventKind::Repeat);
    for c in ['y', 's', 'n', 'a', 'a', 'N'] {
        assert_eq!(bench.key_event(held(c)), []);
    }
    assert!(bench.ui.state.decisions.visible());
}

#[test]
fn a_held_escape_or_ctrl_c_does_not_run_through_everything() {
    let mut bench = Bench::new();
    let held =
        KeyEvent::new_with_kind(KeyCode::Char('c'), KeyModifiers::CONTROL, KeyEventKind::Repeat);
    bench.key("ctrl-c");
    assert_eq!(bench.key_event(held), []);
}

#[test]
fn the_next_decision_is_armed_anew() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.ask(2);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
    assert_eq!(bench.key("y"), []);
    assert_eq!(bench.draft(), "y");
    bench.armed();
    assert_eq!(bench.key("s"), answered(2, Answer::Session));
}

#[test]
fn the_same_call_asked_again_is_armed_anew() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.ask(1);
    assert_eq!(bench.key("y"), []);
}

#[test]
fn withdrawn_decision_takes_no_answer() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.tell(Notice::AskClosed { call: CallId(1), why: "cancelled".to_owned() });
    assert_eq!(bench.key("y"), []);
    assert_eq!(bench.draft(), "y");
}

#[test]
fn a_note_is_sent_with_the_denial() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("r");
    assert_eq!(bench.kinds("yes, but use rm -ri"), []);
    let note = "yes, but use rm -ri".to_owned();
    assert_eq!(bench.key("enter"), answered(1, Answer::Deny { note }));
    assert_eq!(bench.draft(), "");
}

#[test]
fn edited_arguments_are_read_before_they_are_sent() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("e");
    bench.kinds("x");
    assert_eq!(bench.key("ctrl-s"), []);
    assert!(bench.frame().contains("not JSON"));
    bench.key("backspace");
    let intents = bench.key("ctrl-s");
    let arguments = json!({"command": "rm -r build"}).as_object().unwrap().clone();
    assert_eq!(intents, answered(1, Answer::Edit(Arc::new(arguments))));
}

#[test]
fn deny_all_answers_every_call_and_leaves_questions() {
    let mut bench = Bench::new();
    bench.ask(1);
    let kind = QuestionKind::Rounds { rounds: 50 };
    bench.tell(Notice::Questioned { question: Question { id: QuestionId(1), kind } });
    bench.ask(2);
    bench.armed();
    assert_eq!(bench.key("N"), [answered(1, denied()), answered(2, denied())].concat());
    bench.armed();
    let decided = Op::Decide { question: QuestionId(1), go_on: true };
    assert_eq!(bench.key("y"), [Intent::Send(decided)]);
}

#[test]
fn later_leaves_a_badge_and_coming_back_arms_anew() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("esc");
    assert!(bench.frame().contains("1 decision waits: F3"));
    bench.kinds("hello");
    assert_eq!(bench.key("enter"), submitted("hello"));
    bench.key("f3");
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn tab_goes_to_the_draft_and_back() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("tab");
    bench.wait(2_000);
    bench.kinds("yes");
    assert_eq!(bench.draft(), "yes");
    bench.key("tab");
    assert_eq!(bench.kinds("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn a_page_over_the_box_keeps_keys_from_it() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("f1");
    bench.wait(5_000);
    assert_eq!(bench.kinds("yyy"), []);
    bench.key("esc");
    assert_eq!(bench.key("y"), []);
}

#[test]
fn hostile_arguments_are_shown_as_they_are_sent() {
    let mut bench = Bench::new();
    let mut hostile = (*approval(1)).clone();
    let arguments = json!({"command": "rm build/\u{202e}gol", "path": "docs/\u{200b}x"});
    hostile.call.arguments = Arc::new(arguments.as_object().unwrap().clone());
    bench.tell(Notice::Asked { approval: Arc::new(hostile) });
    let frame = bench.frame();
    assert!(!frame.contains('\u{202e}') && !frame.contains('\u{200b}'));
    assert!(frame.to_lowercase().contains("202e"), "{frame}");
    assert!(frame.contains('⚠'), "{frame}");
}

#[test]
fn ctrl_c_cancels_then_clears_then_asks_then_quits() {
    let mut bench = Bench::new();
    bench.turn();
    bench.ask(1);
    bench.kinds("draft");
    assert_eq!(bench.key("ctrl-c"), [Intent::Send(Op::Interrupt)]);
    assert!(!bench.ui.state.decisions.visible());
    bench.tell(Notice::TurnEnded {
        turn: TurnId(1),
        reason: TurnEnd::Cancelled,
        usage: Usage::default(),
        took: Duration::ZERO,
    });
    assert_eq!(bench.key("ctrl-c"), []);
    assert_eq!(bench.draft(), "");
    bench.key("up");
    assert_eq!(bench.draft(), "draft");
    bench.key("ctrl-c");
    assert_eq!(bench.key("ctrl-c"), []);
    assert!(bench.frame().contains("again to quit"));
    assert_eq!(bench.key("ctrl-c"), [Intent::Exit]);
}

#[test]
fn the_question_whether_to_quit_runs_out() {
    let mut bench = Bench::new();
    bench.key("ctrl-c");
    bench.wait(2_000);
    assert_eq!(bench.key("ctrl-c"), []);
    bench.kinds("x");
    bench.key("backspace");
    assert_eq!(bench.key("ctrl-c"), []);
}

#[test]
fn ctrl_c_denies_a_call_that_belongs_to_no_turn() {
    let mut bench = Bench::new();
    let mut direct = (*approval(3)).clone();
    direct.call.turn = None;
    bench.tell(Notice::Asked { approval: Arc::new(direct) });
    let intents = bench.key("ctrl-c");
    assert!(intents.contains(&Intent::Send(Op::Answer { call: CallId(3), answer: denied() })));
}

#[test]
fn a_paste_that_goes_on_after_its_end_mark_presses_nothing() {
    let mut bench = Bench::new();
    bench.event(Event::Paste("hello".to_owned()));
    let mut intents = bench.key("enter");
    intents.extend(bench.key("ctrl-c"));
    intents.extend(bench.key("y"));
    assert_eq!(intents, []);
    assert!(bench.draft().starts_with("hello"));
    bench.wait(60);
    assert_eq!(bench.key("enter").len(), 1);
}

#[test]
fn pressing_and_releasing_types_once() {
    let mut bench = Bench::new();
    let mut sent = Vec::new();
    for code in [KeyCode::Char('h'), KeyCode::Char('i'), KeyCode::Enter] {
        for kind in [KeyEventKind::Press, KeyEventKind::Release] {
            sent.extend(bench.key_event(KeyEvent::new_with_kind(code, KeyModifiers::NONE, kind)));
        }
    }
    assert_eq!(sent, submitted("hi"));
}

#[test]
fn characters_typed_with_altgr_are_text() {
    let mut bench = Bench::new();
    let altgr = KeyModifiers::CONTROL | KeyModifiers::ALT;
    for c in "@[{\\|~€".chars() {
        assert_eq!(bench.key_event(KeyEvent::new(KeyCode::Char(c), altgr)), []);
    }
    bench.key_event(KeyEvent::new(KeyCode::Char('ê'), KeyModifiers::NONE));
    bench.key_event(KeyEvent::new(KeyCode::Char('Ø'), KeyModifiers::SHIFT));
    assert_eq!(bench.draft(), "@[{\\|~€êØ");
}

#[test]
fn a_message_of_several_lines_is_sent_whole() {
    let mut bench = Bench::new();
    bench.kinds("one");
    bench.key("alt-enter");
    bench.kinds("two");
    bench.key("ctrl-j");
    bench.kinds("three");
    assert_eq!(bench.key("enter"), submitted("one\ntwo\nthree"));
}

#[test]
fn blank_drafts_are_not_sent() {
    let mut bench = Bench::new();
    bench.kinds("  ");
    assert_eq!(bench.key("enter"), []);
}

#[test]
fn unknown_command_is_said_and_the_draft_stays() {
    let mut bench = Bench::new();
    bench.kinds("/hlep me");
    assert_eq!(bench.key("enter"), []);
    assert_eq!(bench.draft(), "/hlep me");
    assert!(bench.frame().contains("/help"));
}

#[test]
fn a_command_is_completed_and_carried_out() {
    let mut bench = Bench::of(catalog());
    bench.kinds("/rec");
    assert_eq!(bench.key("enter"), []);
    bench.kinds("sh");
    let reconnect = Op::Reconnect { server: Some("sh".into()) };
    assert_eq!(bench.key("enter"), [Intent::Send(reconnect)]);
    assert_eq!(bench.draft(), "");
    bench.kinds("/qu");
    assert_eq!(bench.key("enter"), [Intent::Exit]);
}

#[test]
fn tools_are_switched_by_any_of_their_names() {
    use crate::bridge::Target;
    for word in ["sh_run", "sh/run", "run"] {
        let mut bench = Bench::of(catalog());
        bench.kinds(&format!("/disable {word}"));
        let target = Target::Tool(ToolId::new("sh", "run"));
        assert_eq!(bench.key("enter"), [Intent::Send(Op::SetEnabled { target, on: false })]);
    }
}

#[test]
fn typing_in_the_panel_filters_and_space_switches() {
    use crate::bridge::Target;
    let mut bench = Bench::of(catalog());
    bench.key("shift-tab");
    bench.kinds("/stop");
    let target = Target::Tool(ToolId::new("sh", "stop"));
    assert_eq!(bench.key("space"), [Intent::Send(Op::SetEnabled { target, on: false })]);
    assert_eq!(bench.draft(), "");
}

#[test]
fn a_tool_called_by_hand_is_asked_about_like_any_other() {
    let mut bench = Bench::of(catalog());
    bench.key("shift-tab");
    bench.key("down");
    bench.key("ctrl-t");
    let call = Op::CallDirect {
        tool: ToolId::new("sh", "run"),
        arguments: Arc::default(),
        consent: false,
    };
    assert_eq!(bench.key("ctrl-s"), [Intent::Send(call)]);
}

#[test]
fn a_prompt_waits_until_discovery_has_settled() {
    let mut connecting = catalog();
    connecting.servers[0].state = ServerState::Connecting;
    let mut bench = Bench::of(connecting.clone());
    bench.ui.state.waiting_prompt = Some("hello".to_owned());
    let changed = Notice::CatalogChanged { catalog: Arc::new(connecting) };
    assert_eq!(bench.tell(changed), []);
    let settled = Notice::CatalogChanged { catalog: Arc::new(catalog()) };
    assert_eq!(bench.tell(settled.clone()), submitted("hello"));
    assert_eq!(bench.tell(settled), []);
}

#[test]
fn a_decision_is_made_known_only_when_nobody_looks() {
    let mut bench = Bench::new();
    assert_eq!(bench.tell(Notice::Asked { approval: approval(1) }), []);
    bench.event(Event::FocusLost);
    let intents = bench.tell(Notice::Asked { approval: approval(2) });
    assert!(matches!(intents.as_slice(), [Intent::Notify { .. }]), "{intents:?}");
}

#[test]
fn what_was_said_before_is_shown_and_stays_apart_from_what_follows() {
    let mut bench = Bench::new();
    let call = Arc::new(approval(1).call.clone());
    let done = |text: &str| CallState::Done {
        outcome: Arc::new(Outcome::NotSent { reason: text.to_owned() }),
        took: Duration::from_millis(3),
        for_model: "".into(),
    };
    let history = vec![
        Notice::TurnStarted { turn: TurnId(1), text: "an old question".to_owned() },
        Notice::CallChanged { call: Arc::clone(&call), state: done("in those days") },
        Notice::Text { turn: TurnId(1), chunk: "an old answer".to_owned() },
    ];
    bench.tell(Notice::SessionStarted { id: "x".to_owned(), path: None });
    let history = history.into();
    bench.tell(Notice::Resumed { history, remarks: Vec::new(), draft: None });
    bench.turn();
    bench.tell(Notice::CallChanged { call, state: done("today") });
    bench.tell(Notice::Text { turn: TurnId(1), chunk: "a new answer".to_owned() });
    let shown = bench.ui.state.conversation.transcript();
    for part in ["an old question", "in those days", "an old answer", "today", "a new answer"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("an old answera new"), "{shown}");
}

#[test]
fn a_warning_told_twice_is_one_warning() {
    let warning = Warning::new(Source::Program, "the disk is full", "Free some space.");
    let mut bench = Bench::new();
    bench.tell(Notice::Warned { warning: warning.clone() });
    let mut catalog = catalog();
    catalog.warnings = vec![warning];
    bench.tell(Notice::CatalogChanged { catalog: Arc::new(catalog) });
    assert_eq!(bench.ui.state.all_warnings().count(), 1);
}

#[test]
fn a_server_that_failed_is_a_warning_with_its_reason() {
    let mut bench = Bench::new();
    let mut catalog = catalog();
    catalog.servers[0].state =
        ServerState::Failed { stage: Stage::Tcp, reason: "nobody listens".to_owned() };
    bench.tell(Notice::CatalogChanged { catalog: Arc::new(catalog) });
    let found: Vec<String> =
        bench.ui.state.all_warnings().map(|warning| warning.message.clone()).collect();
    assert_eq!(found, ["failed at TCP: nobody listens"]);
    bench.key("f4");
    assert!(bench.frame().contains("nobody listens"));
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut bench = Bench::of(catalog());
    bench.wait(1);
    assert_eq!(bench.ui.state.next_wake(bench.now), None);
    bench.ask(1);
    assert!(bench.ui.state.next_wake(bench.now).is_some());
    bench.armed();
    assert_eq!(bench.ui.state.next_wake(bench.now), None);
}

mod elicitation;

/// Any key that a terminal can report.
fn any_key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        proptest::char::range(' ', '~').prop_map(KeyCode::Char),
        Just(KeyCode::Enter),
        Just(KeyCode::Esc),
        Just(KeyCode::Tab),
        Just(KeyCode::BackTab),
        Just(KeyCode::Backspace),
        Just(KeyCode::Up),
        Just(KeyCode::PageDown),
        (1_u8..=12).prop_map(KeyCode::F),
    ];
    let modifiers = (0_u8..8).prop_map(KeyModifiers::from_bits_truncate);
    (code, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn keys_pressed_without_a_pause_never_decide(
        keys in proptest::collection::vec((any_key(), 0_u64..600), 1..40),
    ) {
        let mut bench = Bench::new();
        bench.ask(1);
        for (key, gap) in keys {
            bench.wait(gap);
            let intents = bench.key_event(key);
            // Ctrl-C is no answer: it cancels the turn, and with it what is asked.
            let cancelled = intents.contains(&Intent::Send(Op::Interrupt));
            prop_assert!(cancelled || decisions(&intents) == 0, "{key:?} {intents:?}");
            if cancelled {
                break;
            }
        }
    }

    #[test]
    fn no_key_but_y_s_and_a_lets_a_call_run(key in any_key()) {
        let mut bench = Bench::new();
        bench.ask(1);
        bench.armed();
        let intents = bench.key_event(key);
        let allows = intents.iter().any(|intent| {
            matches!(
                intent,
                Intent::Send(Op::Answer { answer: Answer::Once | Answer::Session | Answer::Always | Answer::Edit(_), .. })
            )
        });
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
            || key.modifiers == KeyModifiers::CONTROL | KeyModifiers::ALT;
        let approving = matches!(key.code, KeyCode::Char('y' | 's')) && plain;
        prop_assert!(!allows || approving, "{key:?} {intents:?}");
    }
}
