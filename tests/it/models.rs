//! Which model answers: the list, the switch in mid-conversation, the window and its origin.

use std::sync::Arc;

use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::config::{AuditConfig, Config, McpConfig, ModelConfig, ProviderKind, UiConfig};
use mini_me_tui::domain::model::{ModelInfo, OfferedModel, WindowOrigin};
use mini_me_tui::domain::{Interaction, Message};
use mini_me_tui::paths::Paths;
use mini_me_tui::runtime::{self, Handle, Setup};
use mini_me_tui::session::{SessionEvent, SessionId, replay, store};
use serde_json::{Value, json};

use crate::support::client::PATIENCE;
use crate::support::run::Home;
use crate::support::scripted::{is_chat, says, streamed};
use crate::support::server::{Recorded, Reply, Server};

/// An endpoint with two models; what is asked of it beside chats is answered as vLLM does.
fn endpoint(request: &Recorded) -> Reply {
    if request.target.ends_with("/v1/models") {
        let list = json!({"data": [{"id": "small", "max_model_len": 4096},
            {"id": "large", "max_model_len": 131_072}]});
        return Reply::json(200, &list);
    }
    if !is_chat(request) {
        return Reply::status(404);
    }
    let model = request.json()["model"].as_str().unwrap().to_owned();
    streamed(
        &[json!({"reasoning_content": "thought"}), json!({"content": format!("I am {model}.")})],
        "stop",
    )
}

fn config(server: &Server, window: Option<u64>) -> Config {
    Config {
        file: None,
        model: Some(ModelConfig {
            context_window: window,
            ..ModelConfig::new(
                ProviderKind::OpenAi,
                server.url("/v1").parse().unwrap(),
                "small".to_owned(),
            )
        }),
        mcp: McpConfig::default(),
        audit: AuditConfig::default(),
        ui: UiConfig::default(),
        keys: std::collections::BTreeMap::default(),
    }
}

struct Face(Handle);

impl Face {
    fn start(setup: Setup) -> Self {
        Self(runtime::start(setup))
    }

    async fn does(&self, op: Op) {
        self.0.ops.send(op).await.unwrap();
    }

    async fn until<T>(&mut self, pick: impl Fn(&Notice) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let notice = self.0.notices.recv().await.expect("the runtime runs");
                if let Some(picked) = pick(&notice) {
                    return picked;
                }
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("in time")
    }

    async fn model(&mut self, holds: impl Fn(&ModelInfo) -> bool) -> ModelInfo {
        self.until(|notice| match notice {
            Notice::ModelChanged { model, .. } if holds(model) => Some(model.clone()),
            _ => None,
        })
        .await
    }

    async fn turn(&mut self, text: &str) {
        self.does(Op::Submit { text: text.to_owned() }).await;
        self.until(|notice| matches!(notice, Notice::TurnEnded { .. }).then_some(())).await;
    }

    async fn quit(mut self) {
        self.does(Op::Quit).await;
        while self.0.notices.recv().await.is_some() {}
        self.0.join().await;
    }
}

fn asked(server: &Server) -> Vec<Value> {
    server.requests().iter().filter(|it| is_chat(it)).map(Recorded::json).collect()
}

#[tokio::test]
async fn the_window_is_assumed_until_the_endpoint_tells_it() {
    let server = Server::start(endpoint).await;
    let mut face = Face::start(Setup::new(config(&server, None), Interaction::Interactive));
    let first = face.model(|_| true).await;
    assert_eq!((first.name.as_str(), first.origin), ("small", WindowOrigin::Assumed));
    let told = face.model(|model| model.origin == WindowOrigin::Asked).await;
    assert_eq!(told.window, 4096);
    face.until(|notice| match notice {
        Notice::ContextChanged { parts } => (parts.window == Some(4096)).then_some(()),
        _ => None,
    })
    .await;
    face.quit().await;

    let mut face = Face::start(Setup::new(config(&server, Some(2048)), Interaction::Interactive));
    let configured = face.model(|_| true).await;
    assert_eq!((configured.window, configured.origin), (2048, WindowOrigin::Configured));
    face.quit().await;
}

#[tokio::test]
async fn models_are_listed_with_their_windows_or_with_the_reason_why_not() {
    let server = Server::start(endpoint).await;
    let mut face = Face::start(Setup::new(config(&server, None), Interaction::Interactive));
    face.does(Op::ListModels).await;
    let listed = |notice: &Notice| match notice {
        Notice::ModelsListed { models } => Some(Arc::clone(models)),
        _ => None,
    };
    let models = face.until(listed).await;
    let large = OfferedModel { name: "large".to_owned(), window: Some(131_072) };
    assert_eq!(models.as_ref().as_ref().unwrap()[1], large);
    face.quit().await;

    let refusing = Server::start(|_| Reply::status(401)).await;
    let mut face = Face::start(Setup::new(config(&refusing, None), Interaction::Interactive));
    face.does(Op::ListModels).await;
    assert!(face.until(listed).await.as_ref().as_ref().is_err_and(|why| why.contains("401")));
    face.quit().await;

    let none = Config { model: None, ..config(&refusing, None) };
    let mut face = Face::start(Setup::new(none, Interaction::Interactive));
    face.does(Op::ListModels).await;
    assert!(face.until(listed).await.as_ref().as_ref().is_err_and(|why| why.contains("model:")));
    face.quit().await;
}

#[tokio::test]
async fn another_model_answers_with_the_whole_conversation_and_it_is_on_record() {
    let server = Server::start(endpoint).await;
    let home = tempfile::tempdir().unwrap();
    let at = home.path().to_owned();
    let paths = Paths { config: at.clone(), state: at.clone(), data: at };
    let mut setup = Setup::new(config(&server, Some(2048)), Interaction::Interactive);
    setup.paths = Some(paths.clone());
    let mut face = Face::start(setup);
    // Before a word is said nothing is on record.
    face.does(Op::SwitchModel { name: "large".to_owned() }).await;
    face.does(Op::SwitchModel { name: "small".to_owned() }).await;
    let session = face
        .until(|notice| match notice {
            Notice::SessionStarted { id, .. } => Some(id.clone()),
            _ => None,
        })
        .await;
    face.turn("who are you").await;
    face.does(Op::SwitchModel { name: "large".to_owned() }).await;
    let switched = face.model(|model| model.name == "large").await;
    assert_eq!(switched.origin, WindowOrigin::Assumed, "what was configured is of the other");
    assert_eq!(face.model(|model| model.origin == WindowOrigin::Asked).await.window, 131_072);
    face.turn("and now").await;
    // Back to the first: what the file says of it holds again.
    face.does(Op::SwitchModel { name: "small".to_owned() }).await;
    let back = face.model(|model| model.name == "small").await;
    assert_eq!((back.window, back.origin), (2048, WindowOrigin::Configured));
    face.quit().await;

    let requests = asked(&server);
    let models: Vec<&Value> = requests.iter().map(|request| &request["model"]).collect();
    assert_eq!(models, ["small", "large"]);
    assert_eq!(requests.len(), 2);
    let roles: Vec<&Value> =
        requests[1]["messages"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles[roles.len() - 3..], ["user", "assistant", "user"]);
    assert!(!requests[1].to_string().contains("thought"), "{}", requests[1]);

    let id = SessionId::parse(&session).unwrap();
    let read = store::read(&paths.sessions_dir(), &id).unwrap();
    let named = |line: &mini_me_tui::session::Line| match &line.event {
        SessionEvent::ModelChanged { model } => Some(model.clone()),
        _ => None,
    };
    assert_eq!(read.lines.iter().filter_map(named).collect::<Vec<_>>(), ["large", "small"]);
    assert_eq!(read.messages().len(), 4);
    assert_eq!(read.header.model.as_deref(), Some("small"));
    let shown = replay::notices(&read);
    let switched = |notice: &Notice| matches!(notice, Notice::ModelChanged { switched: true, .. });
    assert_eq!(shown.iter().filter(|notice| switched(notice)).count(), 2);
}

#[tokio::test]
async fn a_turn_keeps_its_model_to_the_end_and_the_next_has_the_new_one() {
    let release = tokio_util::sync::CancellationToken::new();
    let gate = release.clone();
    let server = Server::start(move |request| {
        if !is_chat(request) {
            return Reply::status(404);
        }
        let first = request.json()["messages"].as_array().unwrap().len() < 3;
        let answer = says("Done.");
        if first {
            let mut acts = Reply::default().until(&gate);
            acts.acts.extend(answer.acts);
            return acts;
        }
        answer
    })
    .await;
    let mut face = Face::start(Setup::new(config(&server, Some(2048)), Interaction::Interactive));
    face.does(Op::Submit { text: "one".to_owned() }).await;
    face.until(|notice| matches!(notice, Notice::TurnStarted { .. }).then_some(())).await;
    face.does(Op::Submit { text: "two".to_owned() }).await;
    face.does(Op::SwitchModel { name: "large".to_owned() }).await;
    let waits = face.until(|notice| match notice {
        Notice::ModelWaits { name } => Some(name.clone()),
        _ => None,
    });
    assert_eq!(waits.await, "large");
    release.cancel();
    // The queued message is the next turn.
    face.model(|model| model.name == "large").await;
    face.until(|notice| matches!(notice, Notice::TurnEnded { .. }).then_some(())).await;
    face.quit().await;
    let models: Vec<Value> =
        asked(&server).into_iter().map(|request| request["model"].clone()).collect();
    assert_eq!(models, ["small", "large"]);
}

#[tokio::test]
async fn a_conversation_of_another_provider_goes_on_without_its_reasoning() {
    let anthropic = r#"{"from":"api.anthropic.com:443 claude","blocks":[{"type":"thinking","thinking":"secret thought","signature":"s"}]}"#;
    let history = vec![
        Message::User { text: "hello".to_owned() },
        Message::Assistant {
            text: "Hi.".to_owned(),
            reasoning: Some(mini_me_tui::domain::turn::Reasoning {
                text: "secret thought".to_owned(),
                field: "thinking".to_owned(),
                signature: Some(anthropic.to_owned()),
            }),
            calls: Vec::new(),
            incomplete: false,
        },
    ];
    let server = Server::start(endpoint).await;
    let mut setup = Setup::new(config(&server, Some(2048)), Interaction::Interactive);
    setup.resume = Some(history.into());
    let mut face = Face::start(setup);
    face.turn("go on").await;
    face.quit().await;
    let request = asked(&server)[0].to_string();
    assert!(request.contains("Hi.") && !request.contains("secret thought"), "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_lists_models_and_says_where_the_window_is_known_from() {
    let server = Server::start(endpoint).await;
    let home = Home::with(&server.url("/v1"), &[]);
    let shape =
        home.run(&["models", "--json", "--model", "large"]).await.ends(0).events().remove(0);
    assert_eq!(
        shape["models"][1],
        json!({"name": "large", "contextWindow": 131_072, "current": true})
    );
    let current = json!({"name": "large", "contextWindow": 131_072, "origin": "asked"});
    assert_eq!(shape["current"], current);
    let shown = home.run(&["models"]).await;
    assert!(shown.ends(0).out.contains("100000 tokens (configured)"), "{}", shown.out);
    assert!(shown.out.contains("131072"), "{}", shown.out);
    let demo = Home::new().run(&["--demo", "models", "--json"]).await.ends(0).events().remove(0);
    assert_eq!(demo["models"][0]["current"], true, "{demo}");
    Home::new().run(&["models"]).await.ends(3);
}
