//! What each answer does, and what is shown before it.

use super::*;

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
    for part in ["rules.yaml", "tool: run", "permissions:", "pin: abc }"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
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

fn edited(bench: &mut Bench, text: &str) -> Vec<Intent> {
    bench.key("e");
    (0..8).for_each(|_| drop(bench.key("ctrl-k")));
    bench.event(Event::Paste(text.to_owned()));
    bench.wait(60);
    bench.key("ctrl-s")
}

fn edit(arguments: &serde_json::Value) -> Answer {
    Answer::Edit(Arc::new(arguments.as_object().unwrap().clone()))
}

/// The call with other arguments.
fn with(arguments: &serde_json::Value) -> Arc<Approval> {
    let mut changed = (*approval(1)).clone();
    changed.call.arguments = Arc::new(arguments.as_object().unwrap().clone());
    Arc::new(changed)
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
    assert_eq!(bench.key("ctrl-s"), []);
    assert!(bench.frame().contains("as they were"));
    let arguments = json!({"command": "ls"});
    assert_eq!(edited(&mut bench, &arguments.to_string()), answered(1, edit(&arguments)));
}

#[test]
fn edited_arguments_that_do_not_fit_stay_to_be_mended() {
    let mut bench = Bench::new();
    let mut strict = (*approval(1)).clone();
    let mut tool = (*strict.tool).clone();
    let mut definition = (*tool.definition).clone();
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    definition.input_schema = Arc::new(schema);
    tool.definition = Arc::new(definition);
    strict.tool = Arc::new(tool);
    bench.tell(Notice::Asked { approval: Arc::new(strict) });
    bench.armed();
    assert_eq!(edited(&mut bench, r#"{"command": 7}"#), []);
    let frame = bench.frame();
    assert!(frame.contains("/command") && frame.contains("string"), "{frame}");
    assert!(frame.contains(r#"{"command": 7}"#), "{frame}");
    bench.key("esc");
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
}

#[test]
fn edited_arguments_are_asked_about_next_with_what_was_changed() {
    let mut bench = Bench::new();
    bench.terminal.backend_mut().resize(80, 40);
    bench.frame();
    bench.ask(1);
    bench.ask(2);
    bench.armed();
    let arguments = json!({"command": "rm -r build/tmp", "force": 1.0});
    assert_eq!(edited(&mut bench, &arguments.to_string()), answered(1, edit(&arguments)));
    bench.tell(Notice::AskClosed { call: CallId(1), why: "edited".to_owned() });
    bench.tell(Notice::Asked { approval: with(&arguments) });
    let frame = bench.frame();
    for part in
        ["1 of 2", "/command", "− \"rm -r build\"", "+ \"rm -r build/tmp\"", "/force", "+ 1.0"]
    {
        assert!(frame.contains(part), "{part}\n{frame}");
    }
    assert_eq!(bench.key("y"), []);
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
    bench.armed();
    assert_eq!(bench.key("n"), answered(2, denied()));
}

#[test]
fn arguments_go_to_the_editor_of_the_user_and_back() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.armed();
    bench.key("e");
    let lent = bench.key("ctrl-g");
    let text = "{\n  \"command\": \"rm -r build\"\n}".to_owned();
    assert_eq!(lent, [Intent::Edit { text, ending: "json" }]);
    let back = |bench: &mut Bench, text: &str| {
        bench.ui.update(Msg::Edited { text: Some(text.to_owned()), at: bench.now })
    };
    assert_eq!(back(&mut bench, "{"), []);
    assert!(bench.frame().contains("not JSON"));
    assert_eq!(bench.draft(), "");
    bench.armed();
    bench.key("ctrl-g");
    let arguments = json!({"command": "ls"});
    assert_eq!(back(&mut bench, &arguments.to_string()), answered(1, edit(&arguments)));
    // A question that went away in the meantime: nothing is sent, nothing lands in the draft.
    bench.ui.state.lent = Lent::Arguments(CallId(1));
    assert_eq!(back(&mut bench, "{}"), []);
    assert_eq!(bench.draft(), "");
}

#[test]
fn arguments_too_large_for_the_box_go_to_the_editor_at_once_and_faults_lose_nothing() {
    let mut bench = Bench::new();
    let large = json!({"command": "x".repeat(100_000)});
    bench.tell(Notice::Asked { approval: with(&large) });
    bench.armed();
    assert!(matches!(bench.key("e").as_slice(), [Intent::Edit { ending: "json", .. }]));
    let broken = format!("{{\"command\": \"{}\"", "y".repeat(100_000));
    let text = Some(broken.clone());
    assert_eq!(bench.ui.update(Msg::Edited { text, at: bench.now }), []);
    assert!(bench.frame().contains("not taken"));
    bench.armed();
    assert_eq!(bench.key("e"), [Intent::Edit { text: broken, ending: "json" }]);
}

#[test]
fn large_arguments_are_laid_out_once_and_cost_the_rows_that_are_seen() {
    let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}")).collect();
    for arguments in [json!({"lines": lines}), json!({"line": "word ".repeat(1 << 18)})] {
        let mut bench = Bench::new();
        bench.tell(Notice::Asked { approval: with(&arguments) });
        bench.armed();
        let laid = bench.ui.state.decisions.laid.key;
        let rows = bench.ui.state.decisions.laid.count;
        assert!(rows > 10_000, "{rows}");
        bench.key("end");
        assert!(bench.frame().contains(&format!("/{rows}")));
        for key in ["up", "pgup", "home", "pgdn", "down", "end"] {
            bench.key(key);
        }
        assert_eq!(bench.ui.state.decisions.laid.key, laid);
        assert_eq!(bench.ui.state.decisions.laid.head.len(), 7);
    }
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
fn a_decision_is_made_known_only_when_nobody_looks() {
    let mut bench = Bench::new();
    assert_eq!(bench.tell(Notice::Asked { approval: approval(1) }), []);
    bench.event(Event::FocusLost);
    let intents = bench.tell(Notice::Asked { approval: approval(2) });
    assert!(matches!(intents.as_slice(), [Intent::Notify { .. }]), "{intents:?}");
}
