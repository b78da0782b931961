//! Everything round the program on a terminal: a home with a config, MCP servers, and a model whose
//! answers are said piece by piece while the test looks on.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fake::{Answer, Fakes, Request, bind};
use super::pty::PATIENCE;

/// A server of the stage.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) name: String,
    pub(crate) info: Value,
    pub(crate) tools: Vec<Value>,
    /// Lines of its entry in the config.
    pub(crate) config: Value,
}

impl Actor {
    /// A server with these tools, which take any object.
    pub(crate) fn new(name: &str, tools: &[&str]) -> Self {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        Self {
            name: name.to_owned(),
            info: json!({"name": name, "version": "1"}),
            tools: tools.iter().map(tool).collect(),
            config: json!({}),
        }
    }
}

/// What was asked and what is to be answered.
#[derive(Default)]
struct Play {
    /// Requests to the model that nobody answers yet, with where to send the answer.
    waiting: VecDeque<(Value, Sender<Vec<u8>>)>,
    /// Bodies of all requests to the model.
    asked: Vec<Value>,
    /// What the next request to the model gets instead of a stream.
    instead: VecDeque<Answer>,
    /// Results of calls, in order; afterwards every call is answered `ok`.
    results: VecDeque<Value>,
    /// Calls as they came: the parameters, and the bytes of the request.
    calls: Vec<(Value, String)>,
}

type Shared = Arc<(Mutex<Play>, Condvar)>;

pub(crate) struct Stage {
    home: TempDir,
    _fakes: Fakes,
    play: Shared,
    /// Where the answer being said goes.
    says: Option<Sender<Vec<u8>>>,
    /// Answers that were never finished: nobody listens, but they did not break off by themselves.
    left: Vec<Sender<Vec<u8>>>,
    calls: usize,
}

impl Stage {
    /// A stage with these servers. `config` is laid over the config of the stage.
    pub(crate) fn new(actors: &[Actor], model: &str, config: &Value) -> Self {
        let home = TempDir::new().unwrap();
        let play: Shared = Arc::default();
        let local = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let (port, listeners) = bind(&local);
        let known: BTreeMap<String, Actor> =
            actors.iter().map(|actor| (format!("/{}", actor.name), actor.clone())).collect();
        let shared = Arc::clone(&play);
        let mut fakes = Fakes::new(move |request| answer(request, &known, &shared));
        fakes.serve(listeners, None);
        let servers: Vec<Value> = actors
            .iter()
            .map(|actor| {
                let mut entry = json!({"name": actor.name, "protocol": "2025-06-18",
                    "url": format!("http://127.0.0.1:{port}/{}", actor.name)});
                let more = actor.config.as_object().unwrap();
                entry.as_object_mut().unwrap().extend(more.clone());
                entry
            })
            .collect();
        let mut whole = json!({
            "model": {"provider": "openai", "name": model, "contextWindow": 1_000_000,
                "baseUrl": format!("http://127.0.0.1:{port}/v1")},
            "mcp": {"servers": servers},
        });
        whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        // JSON is YAML.
        std::fs::write(home.path().join("config.yaml"), whole.to_string()).unwrap();
        Self { home, _fakes: fakes, play, says: None, left: Vec::new(), calls: 0 }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    fn play(&self) -> std::sync::MutexGuard<'_, Play> {
        self.play.0.lock().unwrap()
    }

    /// Waits until the play is as wanted.
    fn until<T>(&self, what: &str, wanted: impl Fn(&mut Play) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        let mut play = self.play();
        loop {
            if let Some(found) = wanted(&mut play) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never: {what}");
            play = self.play.1.wait_timeout(play, left).unwrap().0;
        }
    }

    /// Waits until the model is asked, if it is not being answered already.
    pub(crate) fn asked(&mut self) {
        if self.says.is_none() {
            let next = |play: &mut Play| play.waiting.pop_front();
            self.says = Some(self.until("a request to the model", next).1);
        }
    }

    /// Whether an answer of the model is not finished.
    pub(crate) fn is_saying(&self) -> bool {
        self.says.is_some()
    }

    fn send(&mut self, choice: &Value) {
        self.asked();
        let event = json!({"id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [choice]});
        let part = format!("data: {event}\n\n").into_bytes();
        // Nobody listens where the turn was cancelled.
        drop(self.says.as_ref().unwrap().send(part));
    }

    /// The model says something more.
    pub(crate) fn says(&mut self, text: &str) {
        // As large as events are, and not larger.
        let mut rest = text;
        while !rest.is_empty() {
            let end = (0..=rest.len().min(8_000)).rev().find(|at| rest.is_char_boundary(*at));
            let (piece, more) = rest.split_at(end.unwrap());
            self.send(&json!({"index": 0, "delta": {"content": piece}}));
            rest = more;
        }
    }

    pub(crate) fn reasons(&mut self, text: &str) {
        self.send(&json!({"index": 0, "delta": {"reasoning_content": text}}));
    }

    /// The model calls tools, by the names it was given, and stops.
    pub(crate) fn calls(&mut self, calls: &[(&str, String)]) {
        let calls: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(index, (name, arguments))| {
                self.calls += 1;
                json!({"index": index, "id": format!("call_{}", self.calls), "type": "function",
                    "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        self.send(&json!({"index": 0, "delta": {"tool_calls": calls}}));
        self.stops("tool_calls");
    }

    /// The model has said everything.
    pub(crate) fn stops(&mut self, why: &str) {
        self.send(&json!({"index": 0, "delta": {}, "finish_reason": why}));
        if let Some(to) = self.says.take() {
            drop(to.send(b"data: [DONE]\n\n".to_vec()));
        }
    }

    /// The answer being said is nobody's any more.
    pub(crate) fn is_cancelled(&mut self) {
        self.left.extend(self.says.take());
    }

    /// No request to the model is being answered or waits.
    pub(crate) fn drops_all(&mut self) {
        self.is_cancelled();
        self.left.clear();
        self.play().waiting.clear();
    }

    /// The next request to the model gets this.
    pub(crate) fn instead(&self, answer: Answer) {
        self.play().instead.push_back(answer);
    }

    /// The result of the next call.
    pub(crate) fn result(&self, result: Value) {
        self.play().results.push_back(result);
    }

    /// The calls that servers got, as they came.
    pub(crate) fn received(&self) -> Vec<(Value, String)> {
        self.play().calls.clone()
    }

    /// Waits until servers got so many calls.
    pub(crate) fn until_received(&self, count: usize) {
        self.until("the call", |play| (play.calls.len() >= count).then_some(()));
    }

    /// The messages of the user, as the model got them.
    pub(crate) fn submitted(&self) -> Vec<String> {
        let play = self.play();
        let Some(messages) = play.asked.last().and_then(|request| request["messages"].as_array())
        else {
            return Vec::new();
        };
        let users = messages.iter().filter(|message| message["role"] == "user");
        users.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits until the model got so many messages of the user.
    pub(crate) fn until_submitted(&self, count: usize) {
        let users = |play: &mut Play| {
            let messages = play.asked.last()?["messages"].as_array()?.clone();
            let users = messages.iter().filter(|message| message["role"] == "user").count();
            (users >= count).then_some(())
        };
        self.until("the message", users);
    }
}

fn answer(request: &Request, actors: &BTreeMap<String, Actor>, shared: &Shared) -> Answer {
    let (play, bell) = &**shared;
    if request.target.ends_with("/chat/completions") {
        let mut play = play.lock().unwrap();
        play.asked.push(request.json());
        bell.notify_all();
        if let Some(instead) = play.instead.pop_front() {
            return instead;
        }
        let (sender, receiver) = channel();
        play.waiting.push_back((request.json(), sender));
        return Answer::Stream(Arc::new(Mutex::new(receiver)));
    }
    let Some(actor) = actors.get(&request.target).filter(|_| request.method == "POST") else {
        return Answer::status(405);
    };
    let asked = request.json();
    if asked.get("id").is_none() {
        return Answer::status(202);
    }
    let result = match request.rpc().as_str() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": actor.info}),
        "tools/list" => json!({"tools": actor.tools}),
        "tools/call" => {
            let mut play = play.lock().unwrap();
            let body = String::from_utf8_lossy(&request.body).into_owned();
            play.calls.push((asked["params"].clone(), body));
            bell.notify_all();
            let ok = || json!({"content": [{"type": "text", "text": "ok"}]});
            play.results.pop_front().unwrap_or_else(ok)
        }
        _ => json!({}),
    };
    Answer::json(200, &json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
}
