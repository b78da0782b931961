use std::sync::Arc;

use serde_json::json;

use super::ask::ARMING;
use super::*;
use crate::domain::{
    Answer, Approval, Call, CallId, CallState, Catalog, Outcome as CallOutcome, Question,
    QuestionId, QuestionKind, ToolOutput, TurnEnd, TurnId, Usage,
};

const TURN: TurnId = TurnId(1);

/// A conversation with a clock.
struct Scene {
    talk: Talk,
    now: Instant,
}

impl Scene {
    fn new() -> Self {
        let now = Instant::now();
        let mut talk = Talk::new(catalog(), "m".to_owned());
        drop(talk.opening(None));
        Self { talk, now }
    }

    fn hear(&mut self, notice: &Notice) -> String {
        self.talk.hear(notice, self.now).said
    }

    fn ask(&mut self, id: u64) -> String {
        self.hear(&Notice::Asked { approval: Arc::new(approval(id)) })
    }

    /// Types a line after a while in which nothing was typed.
    fn types(&mut self, line: &str) -> Step {
        self.now += ARMING;
        self.talk.take(Some(line), self.now)
    }

    /// Types a line that comes at once.
    fn hurries(&mut self, line: &str) -> Step {
        self.talk.take(Some(line), self.now)
    }
}

fn catalog() -> Arc<Catalog> {
    Arc::new(Catalog::new(vec![crate::cmd::fixtures::server("s", &["t"])], Vec::new(), 1))
}

fn approval(id: u64) -> Approval {
    let catalog = catalog();
    let tool = Arc::clone(catalog.servers.first().unwrap().tools.first().unwrap());
    Approval {
        call: call(id),
        tool,
        host: "host.example:443".to_owned(),
        why: "ask: the server's own mode".to_owned(),
        grounds: crate::domain::Grounds::default(),
        carried: Vec::new(),
    }
}

fn call(id: u64) -> Call {
    let arguments = json!({"path": "a\u{202e}b"}).as_object().unwrap().clone();
    Call {
        id: CallId(id),
        turn: Some(TURN),
        tool: crate::domain::ToolId::new("s", "t"),
        model_name: "s_t".into(),
        arguments: Arc::new(arguments),
    }
}

fn answers(step: &Step) -> Vec<Answer> {
    let answer = |op: &Op| match op {
        Op::Answer { answer, .. } => Some(answer.clone()),
        _ => None,
    };
    step.ops.iter().filter_map(answer).collect()
}

fn deny(note: &str) -> Answer {
    Answer::Deny { note: note.to_owned() }
}

#[test]
fn a_line_that_was_on_its_way_when_the_question_came_decides_nothing() {
    for word in ["allow", "session", "always", "y", "1", "", "go on"] {
        let mut scene = Scene::new();
        scene.ask(1);
        let step = scene.hurries(word);
        assert!(step.ops.is_empty(), "{word}: {step:?}");
        assert!(step.said.contains("too soon"), "{}", step.said);
        scene.now += ARMING / 2;
        assert!(scene.hurries("allow").ops.is_empty(), "each such line begins the wait anew");
    }
}

#[test]
fn only_whole_words_allow() {
    for word in ["", " ", "y", "yes", "ok", "a", "al", "allow it", "ALLOW NOW", "sure", "5"] {
        let mut scene = Scene::new();
        scene.ask(1);
        assert!(answers(&scene.types(word)).is_empty(), "{word}");
    }
    for (word, answer) in [
        ("allow", Answer::Once),
        (" Allow ", Answer::Once),
        ("session", Answer::Session),
        ("1", deny("")),
        ("n", deny("")),
        ("deny", deny("")),
        ("deny use the other one", deny("use the other one")),
    ] {
        let mut scene = Scene::new();
        scene.ask(1);
        assert_eq!(answers(&scene.types(word)), [answer], "{word}");
        assert!(answers(&scene.types("allow")).is_empty(), "nothing waits any more");
    }
}

#[test]
fn always_says_the_rule_first_and_anything_else_goes_back() {
    let mut scene = Scene::new();
    scene.ask(1);
    let step = scene.types("always");
    assert!(answers(&step).is_empty() && step.said.contains("\"pin\":"), "{}", step.said);
    assert!(answers(&scene.types("hm")).is_empty());
    assert!(answers(&scene.types("always")).is_empty(), "that was the first time again");
    assert_eq!(answers(&scene.types("always")), [Answer::Always]);
}

#[test]
fn a_note_is_a_line_of_its_own_and_an_empty_one_goes_back() {
    let mut scene = Scene::new();
    scene.ask(1);
    assert!(answers(&scene.types("2")).is_empty());
    assert!(answers(&scene.types("")).is_empty());
    scene.types("note");
    assert_eq!(answers(&scene.types("allow")), [deny("allow")]);
}

#[test]
fn edited_arguments_are_an_object_or_nothing() {
    let mut scene = Scene::new();
    scene.ask(1);
    assert!(answers(&scene.types("edit [1]")).is_empty());
    let step = scene.types(r#"edit {"path": "c"}"#);
    let edited = json!({"path": "c"}).as_object().unwrap().clone();
    assert_eq!(answers(&step), [Answer::Edit(Arc::new(edited))]);
}

#[test]
fn decisions_come_one_after_the_other_and_can_be_put_off_or_denied_together() {
    let mut scene = Scene::new();
    scene.ask(1);
    assert!(scene.ask(2).contains("waits behind"));
    assert!(scene.types("later").said.contains("DECISION"));
    scene.ask(3);
    let step = scene.types("4");
    assert_eq!(answers(&step), [deny(""), deny(""), deny("")]);
    assert!(scene.types("/decide").said.contains("No decision waits"));
}

#[test]
fn what_was_put_off_comes_back() {
    let mut scene = Scene::new();
    scene.ask(1);
    scene.types("3");
    assert!(scene.types("/decide").said.contains("allow this call?"));
    assert_eq!(answers(&scene.types("allow")), [Answer::Once]);
}

#[test]
fn an_answer_never_reaches_a_question_that_took_the_place_of_another() {
    let mut scene = Scene::new();
    scene.ask(1);
    scene.ask(2);
    scene.now += ARMING;
    let why = "cancelled".to_owned();
    scene.hear(&Notice::AskClosed { call: CallId(1), why });
    assert!(answers(&scene.hurries("allow")).is_empty());
}

#[test]
fn going_on_takes_the_words_and_the_end_of_the_input_leaves() {
    let mut scene = Scene::new();
    let id = QuestionId(4);
    let question = Question { id, kind: QuestionKind::Rounds { rounds: 50 } };
    scene.hear(&Notice::Questioned { question });
    assert!(scene.types("go").ops.is_empty());
    assert_eq!(scene.types("go on").ops, [Op::Decide { question: id, go_on: true }]);
    assert!(scene.talk.take(None, scene.now).leave);
}

#[test]
fn while_a_decision_waits_say_writes_to_the_model() {
    let mut scene = Scene::new();
    scene.ask(1);
    assert_eq!(scene.types("say and hurry").ops, [Op::Submit { text: "and hurry".to_owned() }]);
    assert_eq!(answers(&scene.types("allow")), [Answer::Once]);
}

#[test]
fn everything_of_a_decision_is_said_and_what_cannot_be_seen_is_written_out() {
    let said = Scene::new().ask(1);
    for part in ["host.example:443", "s_t", "read-only", "open world (not said)", "why it asks"] {
        assert!(said.to_lowercase().contains(part), "{part}:\n{said}");
    }
    assert!(!said.contains('\u{202e}') && said.contains("CAUTION"), "{said}");
}

#[test]
fn an_answer_is_said_in_whole_lines() {
    let mut scene = Scene::new();
    let mut text = |chunk: &str| scene.hear(&Notice::Text { turn: TURN, chunk: chunk.to_owned() });
    assert_eq!(text("Hel"), "");
    assert_eq!(text("lo\nyou"), "Hello\n");
    assert_eq!(text("\u{1b}[2J!"), "");
    let (reason, usage, took) = (TurnEnd::Done, Usage::default(), Duration::ZERO);
    let end = scene.hear(&Notice::TurnEnded { turn: TURN, reason, usage, took });
    assert_eq!(end, "you!\nYour message:\n");
}

#[test]
fn a_call_is_said_once_when_it_is_sent_and_once_when_it_ended() {
    let mut scene = Scene::new();
    let call = Arc::new(call(1));
    let mut state = |state| scene.hear(&Notice::CallChanged { call: Arc::clone(&call), state });
    assert!(state(CallState::Running { progress: None }).starts_with("Calling s/t with"));
    assert_eq!(state(CallState::Running { progress: None }), "");
    let outcome = Arc::new(CallOutcome::Ok(ToolOutput::default()));
    let done = CallState::Done { outcome, took: Duration::from_millis(3), for_model: "r1".into() };
    assert!(state(done).starts_with("s/t: ok after"));
    assert!(scene.types("/result").said.ends_with("as the model got it:\nr1\n"));
    assert!(scene.types("/result 1").said.contains("no such result"));
}

#[test]
fn a_message_goes_on_after_a_backslash_and_commands_are_not_sent() {
    let mut scene = Scene::new();
    assert!(scene.types("one\\").ops.is_empty());
    assert_eq!(scene.types("/two").ops, [Op::Submit { text: "one\n/two".to_owned() }]);
    assert!(scene.types("/nothing").said.contains("no command /nothing"));
    assert!(scene.types("").ops.is_empty());
    assert!(scene.types("/quit").leave);
}

#[test]
fn interrupting_cancels_the_turn_and_leaves_where_there_is_none() {
    let mut scene = Scene::new();
    scene.hear(&Notice::TurnStarted { turn: TURN, text: "x".to_owned() });
    assert_eq!(scene.talk.interrupted().ops, [Op::Interrupt]);
    let (reason, usage, took) = (TurnEnd::Cancelled, Usage::default(), Duration::ZERO);
    scene.hear(&Notice::TurnEnded { turn: TURN, reason, usage, took });
    assert!(scene.talk.interrupted().leave);
}
