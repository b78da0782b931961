//! Questions of servers, and the form for calling a tool.

use super::*;
use crate::domain::{
    Elicitation, ElicitationId, ElicitationKind, ElicitationReply, FieldKind, FormField,
};
use crate::ui::state::approval::Mode;
use crate::ui::state::form::Form;
use serde_json::Value;

fn asked(id: u64, kind: ElicitationKind) -> Notice {
    let elicitation = Elicitation {
        id: ElicitationId(id),
        server: "forms".into(),
        host: "forms.example:443".to_owned(),
        call: None,
        message: "Who are you?".to_owned(),
        kind,
    };
    Notice::Elicited { elicitation: Arc::new(elicitation) }
}

fn field(name: &str, kind: FieldKind, required: bool, default: Option<Value>) -> FormField {
    let label = name.to_owned();
    FormField { name: name.to_owned(), label, description: String::new(), kind, required, default }
}

fn text() -> FieldKind {
    FieldKind::Text { min: None, max: Some(20), format: None, pattern: None }
}

fn form(id: u64) -> Notice {
    let options = ["red", "green"].map(|word| (word.to_owned(), word.to_owned())).to_vec();
    let fields = vec![
        field("name", text(), true, None),
        field("colour", FieldKind::Choice(options), false, Some(json!("red"))),
        field("sure", FieldKind::Bool, false, None),
    ];
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string", "pattern": "^[^x]*$"}}});
    asked(id, ElicitationKind::Form { schema: Arc::new(schema), fields, fault: None })
}

fn page(url: &str) -> Notice {
    let host = url.split('/').nth(2).unwrap_or_default().to_owned();
    asked(1, ElicitationKind::Url { url: url.to_owned(), host })
}

fn replied(id: u64, reply: ElicitationReply) -> Vec<Intent> {
    vec![Intent::Send(Op::Reply { elicitation: ElicitationId(id), reply })]
}

fn accepted(content: &Value) -> ElicitationReply {
    ElicitationReply::Accept(Some(Arc::new(content.as_object().unwrap().clone())))
}

fn values(bench: &Bench) -> Value {
    let Mode::Fill(form) = &bench.ui.state.decisions.mode else { return Value::Null };
    Value::Object(Form::sound(form))
}

fn of_server(intents: &[Intent]) -> Vec<&Intent> {
    let answers = |intent: &&Intent| {
        matches!(intent, Intent::Send(Op::Reply { .. }) | Intent::OpenUrl { .. })
    };
    intents.iter().filter(answers).collect()
}

#[test]
fn a_form_is_filled_in_and_sent_by_a_key_of_its_own() {
    let mut bench = Bench::new();
    bench.tell(form(3));
    bench.armed();
    bench.kinds("Ana y n l");
    assert_eq!(bench.key("enter"), []);
    bench.key("tab");
    bench.kinds("y");
    let content = json!({"name": "Ana y n l", "colour": "red", "sure": true});
    assert_eq!(bench.key("ctrl-s"), replied(3, accepted(&content)));
    assert!(!bench.ui.state.decisions.visible());
    assert_eq!(bench.draft(), "");
}

#[test]
fn letters_answer_only_once_the_fields_are_left() {
    for (key, reply) in [("n", ElicitationReply::Decline), ("c", ElicitationReply::Cancel)] {
        let mut bench = Bench::new();
        bench.tell(form(1));
        bench.armed();
        assert_eq!(bench.key(key), []);
        bench.key("esc");
        assert_eq!(bench.key("enter"), []);
        assert_eq!(bench.key("space"), []);
        assert_eq!(bench.key(key), replied(1, reply));
    }
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_sent() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.key("tab");
    assert_eq!(bench.key("ctrl-s"), []);
    assert!(bench.frame().contains("This has to be filled in."));
    bench.kinds("this is a name that is too long");
    assert!(bench.frame().contains("It must have at most 20 characters."));
    bench.key("ctrl-u");
    bench.kinds("x");
    // The schema forbids what no field knows of.
    assert_eq!(bench.key("ctrl-s"), []);
    assert!(bench.ui.state.decisions.visible());
    bench.key("backspace");
    bench.kinds("a");
    assert_eq!(bench.key("ctrl-s").len(), 1);
}

#[test]
fn choices_are_made_with_space_and_letters_never_with_enter() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.kinds("a");
    bench.key("tab");
    bench.key("down");
    bench.key("enter");
    assert_eq!(values(&bench), json!({"name": "a", "colour": "red"}));
    bench.key("shift-tab");
    bench.kinds("g");
    bench.key("tab");
    bench.key("space");
    assert_eq!(values(&bench), json!({"name": "a", "colour": "green", "sure": true}));
}

#[test]
fn an_opening_form_leaves_the_draft_to_whoever_types() {
    let mut bench = Bench::new();
    bench.kinds("see ");
    bench.tell(form(1));
    let mut intents = Vec::new();
    for (gap, key) in [(300, "t"), (500, "h"), (599, "e"), (10, "enter"), (10, "ctrl-s"), (10, "y")]
    {
        bench.wait(gap);
        intents.extend(bench.key(key));
    }
    assert_eq!(intents, submitted("see the"));
    assert_eq!(bench.draft(), "y");
    assert_eq!(values(&bench), json!({"colour": "red"}));
}

#[test]
fn later_keeps_what_was_filled_in_and_coming_back_arms_anew() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.kinds("Ana");
    bench.key("esc");
    bench.key("esc");
    assert!(bench.frame().contains("1 decision waits: F3"));
    bench.kinds("hello");
    assert_eq!(bench.key("enter"), submitted("hello"));
    bench.key("f3");
    bench.kinds("x");
    assert_eq!(bench.draft(), "x");
    bench.armed();
    // The fields were left before; back to the last one.
    bench.key("shift-tab");
    bench.kinds("y");
    let content = json!({"name": "Ana", "colour": "red", "sure": true});
    assert_eq!(bench.key("ctrl-s"), replied(1, accepted(&content)));
}

#[test]
fn a_paste_goes_into_the_field_that_has_the_keys_and_presses_nothing() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.event(Event::Paste("for the draft".to_owned()));
    assert_eq!(bench.draft(), "for the draft");
    bench.armed();
    assert_eq!(bench.event(Event::Paste("Ana".to_owned())), []);
    assert_eq!(bench.key("enter"), []);
    assert_eq!(bench.draft(), "for the draft");
    assert_eq!(values(&bench), json!({"name": "Ana\n", "colour": "red"}));
}

#[test]
fn a_paste_at_the_answers_is_no_answer() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.key("esc");
    assert_eq!(bench.event(Event::Paste("y".to_owned())), []);
    bench.wait(60);
    assert_eq!(bench.key("n"), []);
    assert_eq!(bench.draft(), "yn");
}

#[test]
fn a_held_key_moves_and_types_but_never_answers() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.kinds("a");
    let held = |code, modifiers| KeyEvent::new_with_kind(code, modifiers, KeyEventKind::Repeat);
    assert_eq!(bench.key_event(held(KeyCode::Char('s'), KeyModifiers::CONTROL)), []);
    bench.key("esc");
    for c in ['y', 'n', 'c', 'l'] {
        assert_eq!(bench.key_event(held(KeyCode::Char(c), KeyModifiers::NONE)), []);
    }
    assert!(bench.ui.state.decisions.visible());
}

#[test]
fn a_page_is_opened_only_by_its_key_and_together_with_the_consent() {
    let url = "https://login.example/authorize?client=1";
    for key in ["enter", "space", "tab", "o", "ctrl-t"] {
        let mut bench = Bench::new();
        bench.tell(page(url));
        bench.armed();
        assert_eq!(bench.key(key), [], "{key}");
    }
    let mut bench = Bench::new();
    bench.tell(page(url));
    assert!(bench.frame().contains("login.example") && bench.frame().contains(url));
    bench.armed();
    let mut intents = replied(1, ElicitationReply::Accept(None));
    intents.push(Intent::OpenUrl { url: url.to_owned() });
    assert_eq!(bench.key("y"), intents);
}

#[test]
fn nothing_is_agreed_to_before_the_whole_address_was_shown() {
    let url = format!("https://login.example/{}", "a".repeat(3_000));
    let mut bench = Bench::new();
    bench.tell(page(&url));
    bench.armed();
    for key in ["y", "u", "ctrl-s"] {
        assert_eq!(bench.key(key), []);
    }
    assert!(bench.frame().contains("all of the address first"));
    bench.key("end");
    assert_eq!(bench.key("y").len(), 2);
}

#[test]
fn an_address_can_be_copied_instead() {
    let url = "https://login.example/";
    let mut bench = Bench::new();
    bench.tell(page(url));
    bench.armed();
    let mut intents = replied(1, ElicitationReply::Accept(None));
    intents.push(Intent::Copy { text: url.to_owned() });
    assert_eq!(bench.key("u"), intents);
}

#[test]
fn what_is_no_page_cannot_be_agreed_to() {
    for url in ["file:///etc/passwd", "javascript:alert(1)", "https://a.example/\u{1b}[2J", "x"] {
        let mut bench = Bench::new();
        bench.tell(page(url));
        bench.armed();
        for key in ["y", "u", "ctrl-s"] {
            assert_eq!(bench.key(key), [], "{url}");
        }
        assert_eq!(bench.key("n"), replied(1, ElicitationReply::Decline));
    }
}

#[test]
fn a_form_that_cannot_be_shown_can_only_be_refused() {
    let mut bench = Bench::new();
    let schema = Arc::new(json!({"type": "object", "properties": {"x": {"type": "object"}}}));
    let fault = Some("`x` is nested".to_owned());
    bench.tell(asked(1, ElicitationKind::Form { schema, fields: Vec::new(), fault }));
    bench.armed();
    assert!(bench.frame().contains("`x` is nested"));
    for key in ["y", "u", "ctrl-s", "enter"] {
        assert_eq!(bench.key(key), [], "{key}");
    }
    assert_eq!(bench.key("n"), replied(1, ElicitationReply::Decline));
}

#[test]
fn a_question_that_is_withdrawn_takes_no_answer() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.armed();
    bench.kinds("Ana");
    let why = "withdrawn".to_owned();
    bench.tell(Notice::ElicitationClosed { elicitation: ElicitationId(1), why });
    assert!(bench.frame().contains("closed: withdrawn"));
    assert_eq!(bench.key("ctrl-s"), []);
    bench.kinds("x");
    assert_eq!(bench.draft(), "x");
}

#[test]
fn questions_of_servers_and_approvals_wait_in_one_queue() {
    let mut bench = Bench::new();
    bench.ask(1);
    bench.tell(form(2));
    assert!(bench.frame().contains("1 of 2"));
    bench.armed();
    assert_eq!(bench.key("y"), answered(1, Answer::Once));
    assert!(bench.frame().contains("A server asks you") && bench.frame().contains("forms.example"));
    // The next one is armed anew.
    bench.kinds("y");
    assert_eq!(bench.draft(), "y");
    assert_eq!(values(&bench), json!({"colour": "red"}));
}

#[test]
fn ctrl_c_dismisses_what_servers_ask() {
    let mut bench = Bench::new();
    bench.tell(form(1));
    bench.tell(form(2));
    let intents = bench.key("ctrl-c");
    for id in [1, 2] {
        assert!(intents.contains(&replied(id, ElicitationReply::Cancel)[0]), "{intents:?}");
    }
    assert!(!bench.ui.state.decisions.visible());
}

#[test]
fn a_form_that_asks_for_a_password_is_warned_of() {
    let mut bench = Bench::new();
    let fields = vec![field("userPassword", text(), true, None)];
    let schema = Arc::new(json!({}));
    bench.tell(asked(1, ElicitationKind::Form { schema, fields, fault: None }));
    assert!(bench.frame().contains("seems to ask for a secret"));
}

#[test]
fn doubtful_pages_are_warned_of() {
    for (url, host, word) in [
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "looks like apple.com"),
        ("http://forms.example/", "forms.example", "not encrypted"),
        ("https://forms.example@evil.example/", "evil.example", "before the @"),
        ("https://evil.example/", "evil.example", "not on the server's own host"),
    ] {
        let mut bench = Bench::new();
        let kind = ElicitationKind::Url { url: url.to_owned(), host: host.to_owned() };
        bench.tell(asked(1, kind));
        assert!(bench.frame().contains(word), "{url}: {}", bench.frame());
    }
}

/// A catalog with one tool of these parameters.
fn with_schema(schema: Value) -> Bench {
    let mut catalog = catalog();
    let mut tool = (*catalog.servers[0].tools[0]).clone();
    let mut definition = (*tool.definition).clone();
    definition.input_schema = Arc::new(schema);
    tool.definition = Arc::new(definition);
    catalog.servers[0].tools = vec![Arc::new(tool)];
    let mut bench = Bench::of(Catalog::new(catalog.servers, Vec::new(), 9));
    bench.key("shift-tab");
    bench.key("down");
    bench.key("ctrl-t");
    bench
}

fn called(arguments: &Value) -> Vec<Intent> {
    let arguments = Arc::new(arguments.as_object().unwrap().clone());
    let tool = ToolId::new("sh", "run");
    vec![Intent::Send(Op::CallDirect { tool, arguments, consent: false })]
}

#[test]
fn a_tool_is_called_with_what_its_form_says() {
    let mut bench = with_schema(json!({
        "properties": {
            "command": {"type": "string"},
            "times": {"type": "integer", "minimum": 1},
            "env": {"type": "object"},
            "dry": {"type": "boolean", "default": false},
        },
        "required": ["command"],
    }));
    assert_eq!(bench.key("ctrl-s"), []);
    assert!(bench.frame().contains("This has to be filled in."));
    bench.kinds("ls");
    bench.key("tab");
    bench.kinds("0");
    assert!(bench.frame().contains("It must be at least 1."));
    assert_eq!(bench.key("ctrl-s"), []);
    bench.key("backspace");
    bench.kinds("2");
    bench.key("tab");
    bench.kinds("{\"A\": \"b\"}");
    let arguments = json!({"command": "ls", "times": 2, "env": {"A": "b"}, "dry": false});
    assert_eq!(bench.key("ctrl-s"), called(&arguments));
}

#[test]
fn arguments_go_from_the_form_to_json_and_back() {
    let schema = json!({"properties": {"command": {"type": "string"}}, "required": ["command"]});
    let mut bench = with_schema(schema);
    bench.kinds("ls");
    bench.key("ctrl-t");
    assert!(bench.frame().contains("\"command\": \"ls\""));
    bench.key("ctrl-t");
    bench.kinds(" -l");
    assert_eq!(bench.key("ctrl-s"), called(&json!({"command": "ls -l"})));
}

#[test]
fn escape_closes_the_form_of_a_tool_and_the_draft_is_as_it_was() {
    let mut bench = with_schema(json!({"properties": {"a": {"type": "string"}}}));
    bench.kinds("text");
    assert_eq!(bench.key("esc"), []);
    assert!(bench.ui.state.overlay.is_none());
    assert_eq!(bench.draft(), "");
}

#[test]
fn an_approval_whose_server_is_gone_says_so() {
    let mut failing = catalog();
    let mut bench = Bench::of(failing.clone());
    bench.ask(1);
    assert!(!bench.frame().contains("is not sent"));
    let reason = "connection refused".to_owned();
    failing.servers[0].state = ServerState::Failed { stage: crate::domain::Stage::Tcp, reason };
    let now = Catalog::new(failing.servers.clone(), Vec::new(), 5);
    bench.tell(Notice::CatalogChanged { catalog: Arc::new(now) });
    assert!(bench.frame().contains("the server is failed now"), "{}", bench.frame());
    let gone = Catalog::new(Vec::new(), Vec::new(), 6);
    bench.tell(Notice::CatalogChanged { catalog: Arc::new(gone) });
    assert!(bench.frame().contains("no longer there"), "{}", bench.frame());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_pressed_without_a_pause_changes_or_answers_a_form(
        keys in proptest::collection::vec((any_key(), 0_u64..600, any::<bool>()), 1..40),
    ) {
        for notice in [form(1), page("https://login.example/")] {
            let mut bench = Bench::new();
            bench.tell(notice);
            let before = values(&bench);
            for (key, gap, paste) in &keys {
                bench.wait(*gap);
                let intents = if *paste {
                    bench.event(Event::Paste("y\r\n".to_owned()))
                } else {
                    bench.key_event(*key)
                };
                // Ctrl-C is no answer: it cancels the turn, and with it what is asked.
                if intents.contains(&Intent::Send(Op::Interrupt)) {
                    break;
                }
                prop_assert!(of_server(&intents).is_empty(), "{:?} {:?}", key, intents);
                prop_assert_eq!(values(&bench), before.clone(), "{:?}", key);
            }
        }
    }

    #[test]
    fn no_key_but_its_own_agrees(key in any_key(), at_answers in any::<bool>()) {
        for notice in [form(1), page("https://login.example/")] {
            let mut bench = Bench::new();
            bench.tell(notice);
            bench.armed();
            if at_answers && bench.ui.state.decisions.elicitation().is_some_and(|asked| {
                matches!(asked.kind, ElicitationKind::Form { .. })
            }) {
                bench.kinds("a");
                bench.key("esc");
            }
            let intents = bench.key_event(key);
            let agrees = intents.iter().any(|intent| matches!(
                intent,
                Intent::OpenUrl { .. }
                    | Intent::Send(Op::Reply { reply: ElicitationReply::Accept(_), .. })
            ));
            let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
                || key.modifiers == KeyModifiers::CONTROL | KeyModifiers::ALT;
            let own = matches!(key.code, KeyCode::Char('y' | 'u')) && plain
                || matches!(key.code, KeyCode::Char('s' | 'S'))
                    && key.modifiers.contains(KeyModifiers::CONTROL);
            prop_assert!(!agrees || own, "{:?} {:?}", key, intents);
        }
    }
}
