//! A model that calls tools, and a person at the screen who answers: the program in process, with
//! the approval drawn and its keys pressed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::bridge::{Notice, Op};
use mini_me_tui::config;
use mini_me_tui::domain::exchange::Exchanges;
use mini_me_tui::domain::{
    Answer, Approval, CallState, Catalog, DeniedBy, Interaction, Mode, Outcome, Tool, TurnEnd,
};
use mini_me_tui::paths::Paths;
use mini_me_tui::runtime::{self, Handle, Setup, assemble};
use mini_me_tui::ui::{Intent, Msg, Ui, UiOptions};
use mini_me_tui::wire::Recorder;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::checks::any_of;
use super::world::{World, edited};
use crate::support::client::PATIENCE;
use crate::support::fake::Request;

/// Plays all steps.
pub(super) async fn play(world: &World, steps: &[Value]) -> Result<(), String> {
    if steps.is_empty() {
        return Err("there are no steps".to_owned());
    }
    let mut program = Program::start(world).await?;
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        let played = program.step(world, step).await;
        played.map_err(|why| format!("step {number}: {why}"))?;
        if let Some(added) = step.get("restart_with_added_rule") {
            program.quit().await;
            add_rule(world, added)?;
            program = Program::start(world).await?;
        }
    }
    program.quit().await;
    Ok(())
}

/// The screen's picture of a world whose servers have settled, in two sizes.
pub(super) async fn picture(world: &World) -> Result<String, String> {
    let program = Program::start(world).await?;
    let mut ui = Ui::new(UiOptions::default(), Arc::clone(&program.catalog));
    let pictures = [(200, 120), (90, 60)].map(|size| draw(&mut ui, size, Instant::now()));
    program.quit().await;
    Ok(pictures.concat())
}

/// What is recorded of a run with one message to the model, if there is one.
pub(super) async fn exchanges(world: &World) -> Result<Exchanges, String> {
    let mut program = Program::start(world).await?;
    if world.has_model {
        program.turn(&json!({})).await?;
    }
    let recorded = program.wire.snapshot();
    program.quit().await;
    Ok(recorded)
}

fn add_rule(world: &World, added: &Value) -> Result<(), String> {
    let yaml = std::fs::read(world.config_file()).unwrap();
    let mut found = false;
    let yaml = edited(&yaml, |config| {
        let lists = if config["mcp"]["servers"].is_array() {
            &mut config["mcp"]["servers"]
        } else {
            &mut config["servers"]
        };
        for server in lists.as_array_mut().into_iter().flatten() {
            if server["name"] == added["server"] {
                let mut rules = server["rules"].as_array().cloned().unwrap_or_default();
                rules.push(added["rule"].clone());
                server["rules"] = rules.into();
                found = true;
            }
        }
    });
    world.write_config(&yaml);
    if found { Ok(()) } else { Err("there is no such server".to_owned()) }
}

/// A running program and its face.
struct Program {
    handle: Handle,
    catalog: Arc<Catalog>,
    policy: mini_me_tui::permission::Policy,
    options: UiOptions,
    wire: Arc<Recorder>,
}

/// How a call of the model went.
#[derive(Debug, Default)]
struct Went {
    asked: bool,
    answer: Option<Answer>,
    outcome: Option<Arc<Outcome>>,
    told: Option<Arc<str>>,
    end: Option<TurnEnd>,
}

impl Program {
    async fn start(world: &World) -> Result<Self, String> {
        let env = |name: &str| world.variable(name);
        let paths = Paths::discover(&env);
        let loaded = config::load(None, &env, paths.as_ref()).map_err(|error| error.to_string())?;
        let mut options = UiOptions::new(&loaded.config.ui);
        options.keys.clone_from(&loaded.config.keys);
        options.rules_file = paths.as_ref().map(Paths::rules_file);
        let policy = assemble::policy(&loaded.config.mcp, &[], &[]);
        let mut setup = Setup::new(loaded.config, Interaction::Interactive);
        setup.paths = paths;
        setup.warnings = loaded.warnings;
        setup.refused = loaded.refused;
        let wire = Arc::clone(&setup.wire);
        let handle = runtime::start(setup);
        let catalog = Arc::clone(&handle.catalog);
        let mut program = Self { handle, catalog, policy, options, wire };
        while !program.catalog.settled() {
            program.next().await?;
        }
        Ok(program)
    }

    async fn next(&mut self) -> Result<Notice, String> {
        let notice = tokio::time::timeout(PATIENCE, self.handle.notices.recv()).await;
        let notice = notice.map_err(|late| format!("nothing happens any more: {late}"))?;
        let notice = notice.ok_or("the runtime has ended")?;
        if let Notice::CatalogChanged { catalog } = &notice {
            self.catalog = Arc::clone(catalog);
        }
        Ok(notice)
    }

    async fn does(&self, op: Op) {
        self.handle.ops.send(op).await.unwrap();
    }

    async fn quit(mut self) {
        self.does(Op::Quit).await;
        let ending = async { while self.handle.notices.recv().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ending).await.expect("the runtime ends");
    }

    fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.catalog.servers.iter().flat_map(|server| &server.tools)
    }

    async fn step(&mut self, world: &World, step: &Value) -> Result<(), String> {
        let known = [
            "model_calls",
            "approval",
            "user",
            "dialog_shows_rule",
            "session_grant",
            "restart_with_added_rule",
            "reaches",
            "tool_message",
            "notes",
        ];
        let keys = step.as_object().ok_or("this is no map")?.keys();
        if let Some(key) = keys.clone().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("the driver does not know what {key} means"));
        }
        if let Some(granted) = step.get("session_grant") {
            self.grant(world, granted).await?;
        }
        match step.get("model_calls") {
            Some(call) => self.call(world, call, step).await,
            None if keys.clone().all(|key| !key.starts_with("approval")) => Ok(()),
            None => Err("an approval of nothing".to_owned()),
        }
    }

    /// Answers *this session* to a call of the tool. One that a rule denies is never asked about,
    /// so there the policy itself is asked what a grant would mean.
    async fn grant(&mut self, world: &World, granted: &Value) -> Result<(), String> {
        let tool = self.tools().find(|tool| {
            tool.id.server.as_str() == granted["server"] && tool.id.tool.as_str() == granted["tool"]
        });
        let tool = Arc::clone(tool.ok_or("there is no such tool")?);
        let (arguments, now) = (serde_json::Map::new(), Instant::now());
        match self.policy.decide(&tool, &arguments, now).verdict {
            Mode::Auto => Ok(()),
            Mode::Ask => {
                let granted = json!({ "model_calls": granted, "user": "s" });
                self.call(world, &granted["model_calls"], &granted).await
            }
            Mode::Deny => {
                let mut policy = self.policy.clone();
                policy.grant(&tool);
                match policy.decide(&tool, &arguments, now).verdict {
                    Mode::Deny => Ok(()),
                    other => Err(format!("with a grant, *deny* becomes {other:?}")),
                }
            }
        }
    }

    async fn call(&mut self, world: &World, call: &Value, step: &Value) -> Result<(), String> {
        let known = ["server", "tool", "name", "arguments"];
        let keys = call.as_object().ok_or("this is no map")?.keys();
        if let Some(key) = keys.into_iter().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("the driver does not know what {key} means"));
        }
        let (name, known) = self.model_name(call);
        let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        world.answers.calls.lock().unwrap().push_back((name, arguments));
        let before = calls(world);
        let went = self.turn(step).await?;
        if went.end != Some(TurnEnd::Done) {
            return Err(format!("the turn ended with {:?}", went.end));
        }
        let mut is = approval(&went);
        if is.contains(&"refused") && !known && !self.usable(call) {
            is.push("server skipped");
        }
        let allowed: Vec<&Value> = any_of(&step["approval"]);
        if step.get("approval").is_some()
            && !is.iter().any(|is| allowed.iter().any(|one| one == is))
        {
            return Err(format!("{is:?}, not {allowed:?}: {went:?}"));
        }
        let reached = reached(world, &before);
        arrives(&went, &reached)?;
        if let Some(server) = step["reaches"].as_str()
            && reached != [server]
        {
            return Err(format!("it reaches {reached:?}"));
        }
        step.get("tool_message").map_or(Ok(()), |wanted| message(wanted, &went, world))
    }

    /// The name that the model uses, and whether there is such a tool.
    fn model_name(&self, call: &Value) -> (String, bool) {
        if let Some(name) = call["name"].as_str() {
            return (name.to_owned(), self.tools().any(|tool| tool.model_name.as_str() == name));
        }
        let (server, name) = (&call["server"], call["tool"].as_str().unwrap_or("any"));
        let own = || self.tools().filter(|tool| tool.id.server.as_str() == server);
        let exact = own().find(|tool| tool.id.tool.as_str() == name);
        let tool = exact.or_else(|| own().next().filter(|_| name == "any"));
        let made_up = || format!("{}_{name}", server.as_str().unwrap_or_default());
        let known = tool.map(|tool| tool.model_name.to_string());
        (known.clone().unwrap_or_else(made_up), known.is_some())
    }

    fn usable(&self, call: &Value) -> bool {
        let mut servers = self.catalog.servers.iter();
        servers.any(|server| server.name.as_str() == call["server"] && server.state.usable())
    }

    /// One message of the user, to the end of the turn.
    async fn turn(&mut self, step: &Value) -> Result<Went, String> {
        let mut went = Went::default();
        self.does(Op::Submit { text: "Do it.".to_owned() }).await;
        while went.end.is_none() {
            match self.next().await? {
                Notice::Asked { approval } => {
                    let (intents, answer) = self.answer(&approval, step)?;
                    went.asked = true;
                    went.answer = Some(answer);
                    for op in intents {
                        self.does(op).await;
                    }
                }
                Notice::Questioned { question } => {
                    self.does(Op::Decide { question: question.id, go_on: true }).await;
                }
                Notice::CallChanged {
                    state: CallState::Done { outcome, for_model, .. }, ..
                }
                | Notice::CallRefused { outcome, for_model, .. } => {
                    went.outcome = Some(outcome);
                    went.told = Some(for_model);
                }
                Notice::TurnEnded { reason, .. } => went.end = Some(reason),
                _ => {}
            }
        }
        Ok(went)
    }

    /// Shows the approval and presses the user's key once it is armed; where the case names none,
    /// *deny*.
    fn answer(&self, approval: &Arc<Approval>, step: &Value) -> Result<(Vec<Op>, Answer), String> {
        // What is said to reach a server was allowed.
        let unnamed = if step.get("reaches").is_some() { "y" } else { "n" };
        let key = step["user"].as_str().unwrap_or(unnamed);
        let mut ui = Ui::new(self.options.clone(), Arc::clone(&self.catalog));
        let mut now = Instant::now();
        let notice = Notice::Asked { approval: Arc::clone(approval) };
        drop(ui.update(Msg::Notice { notice, at: now }));
        let shown = draw(&mut ui, (140, 50), now);
        let id = &approval.call.tool;
        for part in [id.server.as_str(), id.tool.as_str(), approval.host.as_str()] {
            if !shown.contains(part) {
                return Err(format!("the dialog does not show {part}:\n{shown}"));
            }
        }
        now += Duration::from_secs(1);
        drop(ui.update(Msg::Tick { now }));
        let mut presses: Vec<KeyCode> = key.chars().map(KeyCode::Char).collect();
        if key == "r" {
            presses.extend([KeyCode::Char('x'), KeyCode::Enter]);
        }
        let mut intents = Vec::new();
        for code in presses {
            intents.extend(press(&mut ui, code, now));
        }
        if key == "a" {
            let rule = draw(&mut ui, (140, 50), now);
            let parts = [id.server.as_str(), id.tool.as_str(), "auto", "pin", "rules.yaml"];
            let missing = parts.into_iter().find(|part| !rule.contains(part));
            let pin: String = approval.tool.pin.chars().take(8).collect();
            if step["dialog_shows_rule"] == true && (missing.is_some() || !rule.contains(&pin)) {
                return Err(format!("the rule is not shown, {missing:?} is missing:\n{rule}"));
            }
            if !intents.is_empty() {
                return Err("one press writes a rule that nobody has seen".to_owned());
            }
            intents = press(&mut ui, KeyCode::Char('a'), now);
        } else if step.get("dialog_shows_rule").is_some() {
            return Err("`dialog_shows_rule` without the key that writes one".to_owned());
        }
        let ops = intents.into_iter().filter_map(|intent| match intent {
            Intent::Send(op) => Some(op),
            _ => None,
        });
        let mut ops: Vec<Op> = ops.collect();
        if ops.is_empty() && matches!(key, "l" | "later") {
            // Put off, and denied in the end.
            let answer = Answer::Deny { note: String::new() };
            ops.push(Op::Answer { call: approval.call.id, answer });
        }
        match ops.as_slice() {
            [Op::Answer { answer, .. }] => Ok((ops.clone(), answer.clone())),
            _ => Err(format!("the key {key} answers with {ops:?}")),
        }
    }
}

fn press(ui: &mut Ui, code: KeyCode, now: Instant) -> Vec<Intent> {
    let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    ui.update(Msg::Input { event, at: now })
}

fn draw(ui: &mut Ui, size: (u16, u16), now: Instant) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| ui.draw(frame, now)).unwrap();
    terminal.backend().to_string()
}

/// The words for how permission was settled.
fn approval(went: &Went) -> Vec<&'static str> {
    match went.outcome.as_deref() {
        Some(Outcome::InvalidArguments { .. }) => vec!["invalid arguments"],
        _ if went.asked => vec!["dialog"],
        Some(Outcome::Denied(DeniedBy::Rule { .. }) | Outcome::NotSent { .. }) => vec!["refused"],
        Some(Outcome::Ok(_) | Outcome::ToolError(_)) => vec!["none"],
        _ => vec!["unknown"],
    }
}

/// How many calls each server got.
fn calls(world: &World) -> Vec<(String, usize)> {
    let seen = world.fakes.seen();
    let of_server = |port: Option<u16>| {
        seen.iter()
            .filter(|request| Some(request.port) == port && request.rpc() == "tools/call")
            .count()
    };
    world.servers.iter().map(|(name, port)| (name.clone(), of_server(*port))).collect()
}

/// The servers that got a call since, once for each call.
fn reached(world: &World, before: &[(String, usize)]) -> Vec<String> {
    let after = calls(world).into_iter().zip(before);
    after
        .flat_map(|((name, after), (_, before))| std::iter::repeat_n(name, after - before))
        .collect()
}

/// What was allowed arrives once, and nothing else does.
fn arrives(went: &Went, reached: &[String]) -> Result<(), String> {
    let allows =
        |answer: &Answer| matches!(answer, Answer::Once | Answer::Session | Answer::Always);
    let ran = matches!(went.outcome.as_deref(), Some(Outcome::Ok(_) | Outcome::ToolError(_)));
    let allowed = if went.asked { went.answer.as_ref().is_some_and(allows) } else { ran };
    if allowed == ran && reached.len() == usize::from(allowed) {
        return Ok(());
    }
    Err(format!("calls arrived at {reached:?} after {went:?}"))
}

/// What the model was told.
fn message(wanted: &Value, went: &Went, world: &World) -> Result<(), String> {
    let requests = world.fakes.seen();
    // The endpoint is asked about itself too.
    let is_chat = |request: &&Request| {
        Some(request.port) == world.model && request.json()["messages"].is_array()
    };
    let last = requests.iter().rfind(is_chat);
    let last = last.map(|request| request.json()["messages"].clone());
    let last = last.and_then(|messages| messages.as_array()?.last().cloned()).unwrap_or_default();
    let (told, wanted) = (last.to_string(), wanted.as_str().ok_or("this is no text")?);
    let text = went.told.as_deref().unwrap_or_default();
    let failed = !matches!(went.outcome.as_deref(), None | Some(Outcome::Ok(_)));
    let holds = match wanted {
        // Any message that says that it failed, and reached the model.
        "error" => failed && !text.trim().is_empty() && told.contains("tool"),
        "*" => !text.trim().is_empty(),
        words => text.to_lowercase().contains(&words.to_lowercase()),
    };
    if holds { Ok(()) } else { Err(format!("the model is told {told}")) }
}
