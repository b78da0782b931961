//! A face over the runtime: operations in, notices out, everything kept.

use std::path::Path;
use std::sync::Arc;

use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::config::{
    AuditConfig, Config, McpConfig, ModelConfig, PinMode, ProviderKind, ServerConfig, UiConfig,
};
use mini_me_tui::domain::{
    Answer, Approval, CallId, CallState, Catalog, Mode, Outcome, Tool, ToolId, TurnEnd, Warning,
};
use mini_me_tui::paths::Paths;
use mini_me_tui::permission::{Pattern, Rule};
use mini_me_tui::runtime::{self, Handle, Interaction, Setup};
use serde_json::Value;

use super::client::PATIENCE;

/// It takes every notice and remembers it.
pub(crate) struct Face {
    handle: Handle,
    pub(crate) seen: Vec<Notice>,
    pub(crate) catalog: Arc<Catalog>,
}

impl Face {
    /// A face whose servers have settled.
    pub(crate) async fn settled(setup: Setup) -> Self {
        let handle = runtime::start(setup);
        let catalog = Arc::clone(&handle.catalog);
        let mut face = Self { handle, seen: Vec::new(), catalog };
        face.until_catalog("settled servers", Catalog::settled).await;
        face
    }

    pub(crate) async fn does(&self, op: Op) {
        self.handle.ops.send(op).await.unwrap();
    }

    /// The next notice.
    pub(crate) async fn next(&mut self) -> Notice {
        let notice = tokio::time::timeout(PATIENCE, self.handle.notices.recv()).await;
        let notice = notice.unwrap_or_else(|_| panic!("nothing more; seen: {:#?}", self.seen));
        let notice = notice.expect("the runtime has ended");
        if let Notice::CatalogChanged { catalog } = &notice {
            self.catalog = Arc::clone(catalog);
        }
        self.seen.push(notice.clone());
        notice
    }

    pub(crate) async fn until_catalog(&mut self, what: &str, holds: impl Fn(&Catalog) -> bool) {
        let waiting = async {
            while !holds(&self.catalog) {
                self.next().await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(came.is_ok(), "never: {what}: {:#?}", self.catalog);
    }

    /// Calls a tool as a form on the screen does, and waits for the question or the end.
    pub(crate) async fn calls(&mut self, tool: &str, arguments: Value, consent: bool) -> Came {
        let (server, tool) = tool.split_once('/').unwrap();
        let arguments = Arc::new(arguments.as_object().unwrap().clone());
        let tool = ToolId::new(server, tool);
        self.does(Op::CallDirect { tool: tool.clone(), arguments, consent }).await;
        self.comes_of(&tool).await
    }

    /// What comes of a call of this tool.
    pub(crate) async fn comes_of(&mut self, tool: &ToolId) -> Came {
        loop {
            match self.next().await {
                Notice::Asked { approval } if approval.call.tool == *tool => {
                    return Came::Asked(approval);
                }
                Notice::CallChanged { call, state: CallState::Done { outcome, .. } }
                    if call.tool == *tool =>
                {
                    return Came::Ended(outcome);
                }
                _ => {}
            }
        }
    }

    pub(crate) async fn answers(&mut self, call: CallId, answer: Answer) {
        self.does(Op::Answer { call, answer }).await;
    }

    pub(crate) async fn turn_ends(&mut self) -> TurnEnd {
        loop {
            if let Notice::TurnEnded { reason, .. } = self.next().await {
                return reason;
            }
        }
    }

    pub(crate) fn tool(&self, tool: &str) -> Option<&Arc<Tool>> {
        let (server, tool) = tool.split_once('/').unwrap();
        self.catalog.tool(&ToolId::new(server, tool))
    }

    /// All warnings of the catalog, as text.
    pub(crate) fn warned(&self) -> String {
        let told = |warning: &Warning| format!("{} {}", warning.message, warning.advice);
        self.catalog.all_warnings().map(told).collect::<Vec<_>>().join("\n")
    }

    /// Quits and waits for the end.
    pub(crate) async fn quits(mut self) {
        self.does(Op::Quit).await;
        let ending = async {
            while self.handle.notices.recv().await.is_some() {}
            self.handle.join().await;
        };
        assert!(tokio::time::timeout(PATIENCE, ending).await.is_ok(), "the runtime does not end");
    }
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) enum Came {
    Asked(Arc<Approval>),
    Ended(Arc<Outcome>),
}

impl Came {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Asked(_) => "asked",
            Self::Ended(outcome) => outcome.word(),
        }
    }
}

/// A server at this URL.
pub(crate) fn server(name: &str, url: &str, mode: Mode, rules: Vec<Rule>) -> ServerConfig {
    ServerConfig {
        permissions: Some(mode),
        rules,
        ..ServerConfig::new(name.into(), url.parse().unwrap())
    }
}

/// A rule without conditions.
pub(crate) fn rule(tool: &str, mode: Mode) -> Rule {
    Rule::new(Pattern(tool.to_owned()), mode)
}

/// A setup of these servers, with files under `home` where there is one.
pub(crate) fn setup(
    servers: Vec<ServerConfig>,
    model: Option<&str>,
    pins: PinMode,
    home: Option<&Path>,
) -> Setup {
    let model = model.map(|url| ModelConfig {
        context_window: Some(100_000),
        ..ModelConfig::new(ProviderKind::OpenAi, url.parse().unwrap(), "m")
    });
    let config = Config {
        file: None,
        model,
        mcp: McpConfig { servers, pins, ..McpConfig::default() },
        audit: AuditConfig::default(),
        ui: UiConfig::default(),
        keys: std::collections::BTreeMap::default(),
    };
    let mut setup = Setup::new(config, Interaction::Interactive);
    setup.paths = home.map(|home| Paths {
        config: home.to_owned(),
        state: home.join("state"),
        data: home.join("data"),
    });
    setup
}
