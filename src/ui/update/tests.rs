//! Keys and notices in, intents out: the rig, and the tests by subject.

mod answers;
mod arming;
mod draft;
mod elicitation;
mod random;
mod screen;
mod type_ahead;

use super::*;
use crate::bridge::{Notice, Op};
use crate::domain::{
    Annotations, Answer, Approval, Call, CallId, CallState, Catalog, Grounds, Mode as Permission,
    ModelName, Outcome, PinState, Question, QuestionId, QuestionKind, Server, ServerState, Source,
    Stage, Tool, ToolDefinition, ToolId, TurnEnd, TurnId, Usage, Warning,
};
use crate::ui::{Ui, UiOptions};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The screen with a clock of its own; every step draws a frame, as the program does.
struct Bench {
    ui: Ui,
    now: Instant,
    terminal: Terminal<TestBackend>,
}

impl Bench {
    fn new() -> Self {
        Self::of(Catalog::default())
    }

    fn of(catalog: Catalog) -> Self {
        let ui = Ui::new(UiOptions::default(), Arc::new(catalog));
        let terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let mut bench = Self { ui, now: Instant::now(), terminal };
        bench.frame();
        bench
    }

    fn frame(&mut self) -> String {
        let (ui, now) = (&mut self.ui, self.now);
        self.terminal.draw(|frame| ui.draw(frame, now)).unwrap();
        self.terminal.backend().to_string()
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        let _ = self.ui.update(Msg::Tick { now: self.now });
        self.frame();
    }

    fn event(&mut self, event: Event) -> Vec<Intent> {
        let intents = self.ui.update(Msg::Input { event, at: self.now });
        self.frame();
        intents
    }

    fn key_event(&mut self, event: KeyEvent) -> Vec<Intent> {
        self.event(Event::Key(event))
    }

    fn key(&mut self, word: &str) -> Vec<Intent> {
        let key = Key::parse(word).unwrap();
        self.key_event(KeyEvent::new(key.code, key.modifiers))
    }

    fn kinds(&mut self, text: &str) -> Vec<Intent> {
        text.chars().flat_map(|c| self.key_event(KeyEvent::from(KeyCode::Char(c)))).collect()
    }

    fn tell(&mut self, notice: Notice) -> Vec<Intent> {
        let intents = self.ui.update(Msg::Notice { notice, at: self.now });
        self.frame();
        intents
    }

    fn turn(&mut self) {
        self.tell(Notice::TurnStarted { turn: TurnId(1), text: "go".to_owned() });
    }

    fn ask(&mut self, id: u64) {
        self.tell(Notice::Asked { approval: approval(id) });
    }

    fn armed(&mut self) {
        self.wait(600);
    }

    fn draft(&self) -> String {
        self.ui.state.input.text()
    }
}

fn tool(name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        id: ToolId::new("sh", name),
        model_name: ModelName::new(format!("sh_{name}")),
        definition: Arc::new(ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({})),
            output_schema: None,
            annotations: Annotations::default(),
            raw: Arc::new(json!({})),
        }),
        pin: "abc".to_owned(),
        pin_state: PinState::Known,
        changes: Vec::new(),
        permission: Permission::Ask,
        disabled: false,
        tokens: 0,
    })
}

fn approval(id: u64) -> Arc<Approval> {
    let tool = tool("run");
    let arguments = json!({"command": "rm -r build"});
    Arc::new(Approval {
        call: Call {
            id: CallId(id),
            turn: Some(TurnId(1)),
            tool: tool.id.clone(),
            model_name: tool.model_name.clone(),
            arguments: Arc::new(arguments.as_object().unwrap().clone()),
        },
        tool,
        host: "sh.example:443".to_owned(),
        why: "mode ask".to_owned(),
        grounds: Grounds::default(),
        carried: Vec::new(),
    })
}

fn catalog() -> Catalog {
    let server = Server {
        name: "sh".into(),
        url: String::new(),
        host: String::new(),
        state: ServerState::Ready,
        connection: None,
        permission: Permission::Ask,
        tools: vec![tool("run"), tool("stop")],
        filtered: Vec::new(),
        warnings: Vec::new(),
        latency: Vec::new(),
    };
    Catalog::new(vec![server], Vec::new(), 1)
}

fn answered(call: u64, answer: Answer) -> Vec<Intent> {
    vec![Intent::Send(Op::Answer { call: CallId(call), answer })]
}

fn denied() -> Answer {
    Answer::Deny { note: String::new() }
}

fn submitted(text: &str) -> Vec<Intent> {
    vec![Intent::Send(Op::Submit { text: text.to_owned() })]
}

fn decisions(intents: &[Intent]) -> usize {
    let decides =
        |intent: &&Intent| matches!(intent, Intent::Send(Op::Answer { .. } | Op::Decide { .. }));
    intents.iter().filter(decides).count()
}
