//! Writing, sending, commands.

use super::*;

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
