//! The conversation pane: the rig, and the tests by subject.

mod answers;
mod banner;
mod cards;
mod copying;
mod random;
mod scrolling;

use super::*;
use crate::config::ThemeName;
use crate::domain::{
    Annotations, Content, DeniedBy, Era, FilteredTool, Mode, ModelName, Outcome, PinState,
    Progress, Server, ServerConnection, ServerState, Source, Stage, Tool, ToolDefinition, ToolId,
    ToolOutput,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const TURN: TurnId = TurnId(1);

/// A conversation with a clock and a screen.
struct Scene {
    conversation: Conversation,
    now: Instant,
}

impl Scene {
    fn new() -> Self {
        Self { conversation: Conversation::default(), now: Instant::now() }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "the notices are made where they are applied"
    )]
    fn apply(&mut self, notice: Notice) -> &mut Self {
        self.conversation.apply(&notice, self.now);
        self
    }

    fn after(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self
    }

    fn ask(&mut self, text: &str) -> &mut Self {
        self.apply(Notice::TurnStarted { turn: TURN, text: text.into() })
    }

    fn text(&mut self, chunk: &str) -> &mut Self {
        self.apply(Notice::Text { turn: TURN, chunk: chunk.into() })
    }

    fn end(&mut self, reason: TurnEnd) -> &mut Self {
        let usage = Usage { input: Some(5_231), output: Some(312), cached: None };
        self.apply(Notice::TurnEnded {
            turn: TURN,
            reason,
            usage,
            took: Duration::from_millis(8_400),
        })
    }

    fn call(&mut self, id: u64, state: CallState) -> &mut Self {
        let call = Arc::new(call(id));
        self.apply(Notice::CallChanged { call, state })
    }

    fn go(&mut self, to: Move) -> &mut Self {
        self.conversation.go(to);
        self
    }

    fn buffer(&mut self, width: u16, height: u16) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::of(ThemeName::Dark, false);
        self.conversation.draw(area, &mut buffer, &theme, self.now);
        buffer
    }

    fn screen(&mut self, width: u16, height: u16) -> String {
        let buffer = self.buffer(width, height);
        let mut out = String::new();
        for y in 0..height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    row.push_str(symbol);
                    skip = text::width(symbol).max(1);
                }
                skip -= 1;
            }
            out.push_str(row.trim_end());
            out.push('\n');
        }
        out
    }
}

fn call(id: u64) -> Call {
    let arguments = json!({"owner": "my-org", "query": "is:open label:bug", "page": 2});
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    Call {
        id: CallId(id),
        turn: Some(TURN),
        tool: ToolId::new("github", "search_issues"),
        model_name: ModelName::new("github_search_issues"),
        arguments: Arc::new(arguments),
    }
}

fn done(outcome: Outcome, for_model: &str) -> CallState {
    CallState::Done {
        outcome: Arc::new(outcome),
        took: Duration::from_millis(1_240),
        for_model: for_model.into(),
    }
}

fn said(text: &str) -> ToolOutput {
    ToolOutput { content: vec![Content::Text(text.into())], ..ToolOutput::default() }
}

fn tool(server: &str, name: &str, permission: Mode, tokens: u32) -> Arc<Tool> {
    let schema = Arc::new(json!({"type": "object"}));
    Arc::new(Tool {
        id: ToolId::new(server, name),
        model_name: ModelName::new(format!("{server}_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::clone(&schema),
            output_schema: None,
            annotations: Annotations::default(),
            raw: schema,
        }),
        pin: String::new(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission,
        disabled: false,
        tokens,
    })
}

fn server(name: &str, state: ServerState, tools: usize) -> Server {
    let connected = state.usable();
    Server {
        name: name.into(),
        url: format!("https://{name}.example.com/mcp"),
        host: format!("{name}.example.com"),
        state,
        connection: connected.then(|| ServerConnection {
            era: if tools > 3 { Era::Modern } else { Era::Legacy },
            protocol_version: if tools > 3 { "2026-07-28" } else { "2025-11-25" }.into(),
            session: false,
            capabilities: vec![],
            identity: String::new(),
            instructions: None,
        }),
        permission: if tools > 3 { Mode::Ask } else { Mode::Auto },
        tools: (0..tools)
            .map(|n| {
                let mode = if tools > 3 { Mode::Ask } else { Mode::Auto };
                tool(name, &format!("tool{n}"), mode, 180)
            })
            .collect(),
        filtered: vec![],
        warnings: vec![],
        latency: vec![],
    }
}

fn catalog() -> Catalog {
    let mut github = server("github", ServerState::Ready, 12);
    github.warnings.push(Warning::new(
        Source::Server("github".into()),
        "`tools` names get_mee, which the server does not have",
        "Did you mean get_me?",
    ));
    let servers = vec![
        github,
        server("context7", ServerState::Ready, 2),
        server(
            "jira",
            ServerState::Failed {
                stage: Stage::Tls,
                reason: "the certificate expired on 2026-01-31".into(),
            },
            0,
        ),
        server("linear", ServerState::Connecting, 0),
        server(
            "sentry",
            ServerState::NeedsAuth { reason: "the token in SENTRY_TOKEN was refused (401)".into() },
            0,
        ),
    ];
    Catalog::new(servers, vec![], 1)
}

const ANSWER: &str = "## Findings

There are **two** open bugs, see `search_issues` and [the board](https://github.com/my-org/board).

1. Crash on start
   - only on *Linux*
   - since ~~0.9~~ 1.0
2. Slow search

- [x] reproduced
- [ ] fixed

| id | title | age |
|---:|:------|:---:|
| 41 | Crash on start | 2 d |
| 7 | 検索が遅い | 40 d |

```rust
// the cause
fn main() { let n: u32 = 42; println!(\"{n}\"); }
```

> It was never tested.
";

fn scene_with_banner() -> Scene {
    let mut scene = Scene::new();
    scene.apply(Notice::CatalogChanged { catalog: Arc::new(catalog()) });
    scene
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("row {n:03}\n\n")).collect::<Vec<_>>().concat()
}
