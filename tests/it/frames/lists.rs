//! The next request by part, models and conversations to choose from.

use super::*;

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

fn the_model(origin: WindowOrigin, switched: bool) -> Notice {
    let model = ModelInfo {
        name: "ai/qwen3".to_owned(),
        endpoint: "http://localhost:12434/engines/v1".to_owned(),
        window: 32_768,
        origin,
    };
    Notice::ModelChanged { model, switched }
}

#[test]
fn models_are_chosen_from_a_list_that_says_which_one_answers() {
    snap("models", |screen| {
        screen.tell(the_model(WindowOrigin::Asked, true));
        screen.kinds("/model");
        screen.press(KeyCode::Enter);
        let model = |name: &str, window| OfferedModel { name: name.to_owned(), window };
        let models = vec![
            model("ai/gemma3", Some(131_072)),
            model("ai/qwen3", Some(32_768)),
            model("ai/smollm2", Some(8192)),
            model(
                "ai/a-model-with-a-name-that-is-much-longer-than-any-list-has-room-for-it-to-be",
                None,
            ),
        ];
        screen.tell(Notice::ModelsListed { models: Arc::new(Ok(models)) });
    });
}

#[test]
fn a_list_of_models_that_cannot_be_had_says_why_and_takes_a_name() {
    snap("models_failed", |screen| {
        screen.kinds("/model");
        screen.press(KeyCode::Enter);
        let why = "Nothing answers at localhost:12434 (tried 127.0.0.1:12434): connection refused. Start the model's server, or check model.baseUrl.";
        screen.tell(Notice::ModelsListed { models: Arc::new(Err(why.to_owned())) });
        screen.kinds("ai/qwen3");
    });
}

#[test]
fn a_window_that_is_assumed_is_marked_so() {
    let mut screen = Screen::new((120, 40), catalog());
    screen.tell(the_model(WindowOrigin::Assumed, false));
    let parts = ContextParts { system: 800, window: Some(32_768), ..ContextParts::default() };
    screen.tell(Notice::ContextChanged { parts });
    let frame = screen.frame();
    assert!(frame.contains("800 of ~32k tok"), "{frame}");
    screen.tell(the_model(WindowOrigin::Asked, false));
    assert!(screen.frame().contains("800 of 32k tok"));
}

#[test]
fn sessions_are_listed_with_what_tells_them_apart() {
    use mini_me_tui::domain::session::{Parent, SessionId, SessionSummary};
    let id = |number: usize| SessionId::parse(&format!("20261130-181512-{number:06x}")).unwrap();
    let summary = |number: usize, title: &str, age: u64| SessionSummary {
        id: id(number),
        path: format!("/sessions/{number}").into(),
        created: "2026-11-30T18:15:12Z".to_owned(),
        changed: "2026-11-30T18:20:12Z".to_owned(),
        age: Duration::from_secs(age),
        model: Some("ai/qwen3".to_owned()),
        servers: vec!["github".to_owned(), "tracker".to_owned()],
        title: title.to_owned(),
        turns: number,
        bytes: 15_300,
        parent: (number == 2).then(|| Parent { id: id(3), before: Some(4) }),
    };
    let long = "Explain why the checkout hangs, from the reports of this week alone, and say which of them are of the same cause.\nQuote what you find.";
    let found = vec![
        summary(1, "Look at task #42 and explain it", 20),
        summary(2, long, 400),
        summary(12, "検索 of wide titles \u{1b}[2J", 90_000),
    ];
    snap("sessions", |screen| {
        screen.kinds("/resume");
        screen.press(KeyCode::Enter);
        screen.tell(Notice::Sessions { found: Arc::new(Ok(found.clone())) });
        screen.press(KeyCode::Down);
    });
    snap("sessions_none", |screen| {
        screen.kinds("/resume");
        screen.press(KeyCode::Enter);
        screen.tell(Notice::Sessions { found: Arc::new(Ok(Vec::new())) });
    });
    snap("fork", |screen| {
        for (turn, text) in [(1, "Look at task #42"), (2, long)] {
            screen.tell(Notice::TurnStarted { turn: TurnId(turn), text: text.to_owned() });
        }
        screen.kinds("/fork");
        screen.press(KeyCode::Enter);
    });
}
