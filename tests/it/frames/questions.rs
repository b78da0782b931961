//! Questions of servers: forms and pages.

use super::*;

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
pub(super) fn elicited(screen: &mut Screen, kind: ElicitationKind) {
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

pub(super) fn form() -> ElicitationKind {
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
