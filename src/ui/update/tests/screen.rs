//! Ctrl-C and its order, the side panel, warnings, waking.

use super::*;

#[test]
fn a_held_escape_or_ctrl_c_does_not_run_through_everything() {
    let mut bench = Bench::new();
    let held =
        KeyEvent::new_with_kind(KeyCode::Char('c'), KeyModifiers::CONTROL, KeyEventKind::Repeat);
    bench.key("ctrl-c");
    assert_eq!(bench.key_event(held), []);
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
fn what_was_warned_of_one_conversation_ends_with_it() {
    let mut bench = Bench::new();
    let of = |source, text: &str| Notice::Warned { warning: Warning::new(source, text, "") };
    bench.tell(of(Source::Model, "no model is configured"));
    bench.tell(Notice::TurnStarted { turn: TurnId(1), text: "go".to_owned() });
    bench.tell(of(Source::Model, "the conversation is too long"));
    bench.tell(of(Source::Program, "the disk is full"));
    bench.tell(Notice::SessionStarted { id: "2".to_owned(), path: None });
    let left: Vec<String> =
        bench.ui.state.all_warnings().map(|warning| warning.message.clone()).collect();
    assert_eq!(left, ["no model is configured", "the disk is full"]);
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

#[test]
fn nothing_wakes_a_screen_that_waits_for_its_user() {
    let mut bench = Bench::of(catalog());
    bench.turn();
    let call = Arc::new(approval(1).call.clone());
    bench.tell(Notice::CallChanged { call, state: CallState::Asking });
    bench.ask(1);
    bench.armed();
    assert_eq!(bench.ui.state.next_wake(bench.now), None);
}

#[test]
fn a_new_turn_takes_the_word_about_the_last_one_away() {
    let mut bench = Bench::new();
    bench.turn();
    bench.key("ctrl-c");
    bench.tell(Notice::TurnEnded {
        turn: TurnId(1),
        reason: TurnEnd::Cancelled,
        usage: Usage::default(),
        took: Duration::ZERO,
    });
    assert!(bench.frame().contains("cancelled"));
    bench.tell(Notice::TurnStarted { turn: TurnId(2), text: "again".to_owned() });
    assert!(bench.frame().contains("working"), "{}", bench.frame());
}
