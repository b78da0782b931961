//! What is said to each notice and each typed line, and what is done. Pure.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::ask::{Asking, Taken};
use super::words;
use crate::bridge::{Notice, Op};
use crate::domain::{Call, CallId, CallState, Catalog, ServerName, TurnId};
use crate::text;

/// Results that can be said again.
const RESULTS: usize = 50;
/// Bytes of an answer's line that are held back till it ends.
const LINE: usize = 4096;

const HELP: &str = "\
Type a message and press Enter to send it. A line that ends in a backslash goes on in the next one.
Commands:
  /servers          servers and their states
  /tools [TEXT]     tools, or those whose name holds TEXT
  /warnings         all warnings
  /result [N]       the latest result as the model got it, or the one N calls before
  /decide           come back to decisions that were put off
  /cancel           cancel the turn; Ctrl-C does the same
  /model [NAME]     the models there are, or the one that answers from here on
  /reconnect [NAME] connect a server again, or all that failed
  /new              begin a new conversation
  /quit             leave
";

/// What follows from something that happened.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// What is said. Clean.
    pub(super) said: String,
    /// What the runtime is asked to do.
    pub(super) ops: Vec<Op>,
    /// Whether the program ends.
    pub(super) leave: bool,
}

impl Step {
    fn said(said: impl Into<String>) -> Self {
        Self { said: said.into(), ..Self::default() }
    }

    fn op(op: Op) -> Self {
        Self { ops: vec![op], ..Self::default() }
    }
}

impl From<Taken> for Step {
    fn from(taken: Taken) -> Self {
        Self { said: taken.said, ops: taken.ops, leave: false }
    }
}

/// A conversation in lines.
#[derive(Debug)]
pub(super) struct Talk {
    catalog: Arc<Catalog>,
    model: String,
    turn: Option<TurnId>,
    /// The answer from its last line break on.
    rest: String,
    started: HashSet<CallId>,
    results: VecDeque<(String, Arc<str>)>,
    asking: Asking,
    /// Lines of a message that goes on.
    draft: String,
    /// Sent once discovery has settled.
    prompt: Option<String>,
    announced: bool,
    transcript: Option<PathBuf>,
}

impl Talk {
    pub(super) fn new(catalog: Arc<Catalog>, model: String) -> Self {
        Self {
            catalog,
            model,
            turn: None,
            rest: String::new(),
            started: HashSet::new(),
            results: VecDeque::new(),
            asking: Asking::new(),
            draft: String::new(),
            prompt: None,
            announced: false,
            transcript: None,
        }
    }

    /// Where the transcript is, once there is one.
    pub(super) fn transcript(&self) -> Option<&PathBuf> {
        self.transcript.as_ref()
    }

    /// What is said first.
    pub(super) fn opening(&mut self, prompt: Option<String>) -> String {
        let mut said = String::from("mini-me-tui in plain lines. /help says what can be typed.\n");
        self.prompt = prompt.filter(|text| !text.trim().is_empty());
        if self.catalog.settled() {
            said.push_str(&self.settled());
        } else {
            said.push_str("Asking the servers for their tools.\n");
        }
        said
    }

    /// Of an earlier conversation only the last turn is said again.
    fn resumed(&mut self, history: &[Notice], remarks: &[String], now: Instant) -> String {
        let begins = |notice: &Notice| matches!(notice, Notice::TurnStarted { .. });
        let turns = history.iter().filter(|notice| begins(notice)).count();
        let mut said = format!("This conversation goes on; it has {turns} earlier turns.\n");
        let last = history.iter().rposition(begins).unwrap_or(history.len());
        for notice in history.iter().skip(last) {
            if let Notice::TurnStarted { text, .. } = notice {
                said.extend([format!("The last one. You: {}\n", text::block(text))]);
            }
            said.push_str(&self.hear(notice, now).said);
        }
        self.turn = None;
        said.extend(remarks.iter().map(|remark| format!("{}\n", text::line(remark))));
        said
    }

    fn settled(&mut self) -> String {
        self.announced = true;
        format!("{}Your message:\n", words::banner(&self.catalog, &self.model))
    }

    /// Takes in a notice.
    pub(super) fn hear(&mut self, notice: &Notice, now: Instant) -> Step {
        match notice {
            Notice::TurnStarted { turn, .. } => {
                self.turn = Some(*turn);
                Step::default()
            }
            Notice::Text { chunk, .. } => Step::said(self.text(chunk)),
            Notice::CallChanged { call, state } => Step::said(self.call(call, state)),
            Notice::CallRefused { name, outcome, .. } => Step::said(format!(
                "{}{}: {}.\n",
                self.flush(),
                text::strict_line(name),
                outcome.word()
            )),
            Notice::Retrying { attempt, reason, .. } => Step::said(format!(
                "{}Model: {} Attempt {attempt} follows.\n",
                self.flush(),
                text::line(reason)
            )),
            Notice::Queued { texts } => Step::said(match texts.len() {
                0 => String::new(),
                1 => "1 message waits to be sent.\n".to_owned(),
                count => format!("{count} messages wait to be sent.\n"),
            }),
            Notice::Asked { approval } => {
                let before = self.flush();
                Step::said(before + &self.asking.approval(approval, now))
            }
            Notice::AskClosed { call, .. } => Step::said(self.asking.call_closed(*call, now)),
            Notice::Questioned { question } => {
                let before = self.flush();
                Step::said(before + &self.asking.question(question, now))
            }
            Notice::QuestionClosed { question } => {
                Step::said(self.asking.question_closed(*question, now))
            }
            Notice::Elicited { elicitation } => {
                let before = self.flush();
                Step::said(before + &self.asking.elicitation(elicitation, now))
            }
            Notice::ElicitationClosed { elicitation, .. } => {
                Step::said(self.asking.elicitation_closed(*elicitation, now))
            }
            Notice::CatalogChanged { catalog } => self.catalog(catalog),
            Notice::Warned { warning } => {
                Step::said(format!("{}{}", self.flush(), words::caution(warning)))
            }
            Notice::TurnEnded { reason, .. } => {
                self.turn = None;
                self.started.clear();
                let mut said = self.flush();
                if let Some(reason) = words::turn_end(reason) {
                    said.push_str(&reason);
                    said.push('\n');
                }
                said.push_str("Your message:\n");
                Step::said(said)
            }
            Notice::SessionStarted { path, .. } => {
                self.transcript.clone_from(path);
                Step::default()
            }
            Notice::Resumed { history, remarks, .. } => {
                Step::said(self.resumed(history, remarks, now))
            }
            Notice::TakenBack { texts } => Step::said(words::taken_back(texts)),
            Notice::Refused { reason } => Step::said(format!("{}\n", text::line(reason))),
            Notice::ModelsListed { models } => Step::said(match models.as_ref() {
                Ok(models) => words::models(models, &self.model),
                Err(why) => format!("{}\n", text::line(why)),
            }),
            Notice::ModelChanged { model, switched } => {
                self.model.clone_from(&model.name);
                let name = text::strict_line(&model.name);
                Step::said(if *switched {
                    format!("{name} answers from here on.\n")
                } else {
                    String::new()
                })
            }
            Notice::ModelWaits { name } => {
                let name = text::strict_line(name);
                Step::said(format!("{name} answers from the next message on.\n"))
            }
            Notice::Reasoning { .. }
            | Notice::Inquired { .. }
            | Notice::OffersChanged { .. }
            | Notice::Wire { .. }
            | Notice::WireExported { .. }
            | Notice::Sessions { .. }
            | Notice::ContextChanged { .. } => Step::default(),
        }
    }

    /// Whole lines only: a screen reader reads half a line twice.
    fn text(&mut self, chunk: &str) -> String {
        self.rest.push_str(chunk);
        let end = match self.rest.rfind('\n') {
            Some(end) => end + 1,
            None if self.rest.len() > LINE => self.rest.len(),
            None => return String::new(),
        };
        let rest = self.rest.split_off(end);
        let lines = std::mem::replace(&mut self.rest, rest);
        text::block(&lines).into_string()
    }

    /// What is left of the answer's last line.
    fn flush(&mut self) -> String {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() { rest } else { format!("{}\n", text::block(&rest)) }
    }

    fn call(&mut self, call: &Call, state: &CallState) -> String {
        match state {
            CallState::Asking => String::new(),
            CallState::Running { progress } if self.started.insert(call.id) => {
                let note = progress.as_ref().map(|progress| progress.note.as_str());
                let note = note.filter(|note| !note.is_empty());
                let mut said = self.flush() + &words::calling(call);
                said.extend(note.map(|note| words::progress(call, note)));
                said
            }
            CallState::Running { progress } => {
                let note = progress.as_ref().map_or("", |progress| progress.note.as_str());
                if note.is_empty() { String::new() } else { words::progress(call, note) }
            }
            CallState::Done { outcome, took, for_model } => {
                let name = text::strict_line(&call.tool.to_string()).into_string();
                self.results.push_front((name, Arc::clone(for_model)));
                self.results.truncate(RESULTS);
                self.flush() + &words::ended(call, outcome, *took)
            }
        }
    }

    fn catalog(&mut self, catalog: &Arc<Catalog>) -> Step {
        let before = std::mem::replace(&mut self.catalog, Arc::clone(catalog));
        if !self.announced {
            if !catalog.settled() {
                return Step::default();
            }
            let said = self.settled();
            let prompt = self.prompt.take().map(|text| Op::Submit { text });
            return Step { said, ops: prompt.into_iter().collect(), leave: false };
        }
        let changed = catalog.servers.iter().filter(|server| {
            let old = before.server(&server.name);
            server.state.settled() && old.is_none_or(|old| old.state.word() != server.state.word())
        });
        Step::said(changed.map(words::state).collect::<String>())
    }

    /// Ctrl-C: cancels the turn, or leaves where there is none.
    pub(super) fn interrupted(&mut self) -> Step {
        if self.turn.is_none() {
            return Step { leave: true, ..Step::default() };
        }
        Step {
            said: format!("{}Cancelling.\n", self.flush()),
            ops: vec![Op::Interrupt],
            leave: false,
        }
    }

    /// Takes in a typed line; `None` is the end of the input.
    pub(super) fn take(&mut self, line: Option<&str>, now: Instant) -> Step {
        let Some(line) = line else {
            return Step { leave: true, ..Step::default() };
        };
        if let Some(command) = line.trim_start().strip_prefix('/').filter(|_| self.draft.is_empty())
        {
            return self.command(command, now);
        }
        if self.asking.open() {
            return match line.trim_start().strip_prefix("say ") {
                Some(text) => submit(text),
                None => self.asking.take(Some(line), now).into(),
            };
        }
        if let Some(part) = line.strip_suffix('\\') {
            self.draft.push_str(part);
            self.draft.push('\n');
            return Step::default();
        }
        let text = std::mem::take(&mut self.draft) + line;
        if text.trim().is_empty() { Step::default() } else { submit(&text) }
    }

    fn command(&mut self, command: &str, now: Instant) -> Step {
        let (word, rest) = words::word(command);
        let rest = rest.trim();
        match word {
            "help" | "?" => Step::said(HELP),
            "servers" => {
                Step::said(self.catalog.servers.iter().map(words::state).collect::<String>())
            }
            "tools" => Step::said(words::tools(&self.catalog, rest)),
            "warnings" => {
                let all: String = self.catalog.all_warnings().map(words::caution).collect();
                Step::said(if all.is_empty() { "No warnings.\n".to_owned() } else { all })
            }
            "result" => {
                let before: usize = rest.parse().unwrap_or_default();
                Step::said(match self.results.get(before) {
                    Some((name, text)) => words::result(name, text),
                    None => "There is no such result.\n".to_owned(),
                })
            }
            "decide" if self.asking.open() => Step::from(self.asking.take(Some("repeat"), now)),
            "decide" => Step::said(self.asking.come_back(now)),
            "cancel" if self.turn.is_none() => Step::said("No turn is running.\n"),
            "cancel" => self.interrupted(),
            "model" if rest.is_empty() => Step::op(Op::ListModels),
            "model" => Step::op(Op::SwitchModel { name: rest.to_owned() }),
            "reconnect" => self.reconnect(rest),
            "new" if self.turn.is_some() => Step::said("A turn is running; /cancel it first.\n"),
            "new" => Step { said: "A new conversation.\n".to_owned(), ..Step::op(Op::NewSession) },
            "quit" | "exit" => Step { leave: true, ..Step::default() },
            other => Step::said(format!(
                "There is no command /{}. /help says which there are.\n",
                text::line(other)
            )),
        }
    }

    fn reconnect(&self, name: &str) -> Step {
        if name.is_empty() {
            return Step {
                said: "Connecting every server that is not usable.\n".to_owned(),
                ..Step::op(Op::Reconnect { server: None })
            };
        }
        let server = ServerName::from(name);
        if self.catalog.server(&server).is_none() {
            return Step::said(format!("There is no server {}.\n", text::strict_line(name)));
        }
        Step::op(Op::Reconnect { server: Some(server) })
    }
}

fn submit(text: &str) -> Step {
    Step::op(Op::Submit { text: text.to_owned() })
}
