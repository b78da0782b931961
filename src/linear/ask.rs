//! Decisions in plain lines: what waits, what is said of it, which typed word is which answer. Pure.
//!
//! Nothing that was typed before the question could be heard answers it: a line that comes within
//! [`ARMING`] of the question, or of another such line, decides nothing. An empty line never
//! decides. What allows a call is a whole word; denying is a number.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::words;
use crate::bridge::Op;
use crate::cmd::questions::Dialog;
use crate::domain::{Answer, Approval, CallId, Elicitation, ElicitationId, Question, QuestionId};
use crate::permission::Rule;
use crate::text;

/// How long after a question a line cannot be meant for it.
pub(super) const ARMING: Duration = Duration::from_millis(600);

const CALL: &str = "\
Answers: 1 deny. 2 deny with a note to the model. 3 later. 4 deny all that wait.
To allow it, type the whole word:
  allow     this once
  session   this tool until the program ends
  always    write a rule for it; the rule is said first
Also: edit {JSON} for other arguments, arguments for all of them, repeat.
Your answer: ";
const GO_ON: &str = "Answers: 1 stop. 2 later. To go on, type: go on
Your answer: ";
const NOTHING: &str = "That is no answer, and nothing was decided. Type repeat to hear the question, or say and a text to write to the model.\nYour answer: ";
const EARLY: &str = "That line came too soon after the question to be an answer to it. Nothing was decided; type it again.\nYour answer: ";

/// Something that waits for the user.
#[derive(Debug)]
enum Waiting {
    Approval(Arc<Approval>),
    Question(Question),
    Elicitation(Box<Dialog>),
}

/// What the next line is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Choose,
    /// `always` was said once, and the rule was shown.
    Always,
    /// The line is a note to the model.
    Note,
}

/// What became of a line.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What is said.
    pub(super) said: String,
    /// What is done.
    pub(super) ops: Vec<Op>,
}

impl Taken {
    fn said(said: impl Into<String>) -> Self {
        Self { said: said.into(), ops: Vec::new() }
    }
}

/// Everything that waits, oldest first.
#[derive(Debug)]
pub(super) struct Asking {
    queue: VecDeque<Waiting>,
    /// Put off by the user, till they come back to it.
    later: VecDeque<Waiting>,
    step: Step,
    since: Option<Instant>,
}

impl Asking {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::new(), later: VecDeque::new(), step: Step::Choose, since: None }
    }

    /// Whether the next line is an answer.
    pub(super) fn open(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn approval(&mut self, approval: &Arc<Approval>, now: Instant) -> String {
        self.push(Waiting::Approval(Arc::clone(approval)), now)
    }

    pub(super) fn question(&mut self, question: &Question, now: Instant) -> String {
        self.push(Waiting::Question(question.clone()), now)
    }

    pub(super) fn elicitation(&mut self, asked: &Arc<Elicitation>, now: Instant) -> String {
        self.push(Waiting::Elicitation(Box::new(Dialog::new(asked, Map::new()))), now)
    }

    fn push(&mut self, waiting: Waiting, now: Instant) -> String {
        self.queue.push_back(waiting);
        if self.queue.len() == 1 {
            return self.ask(now);
        }
        "One more decision waits behind this one.\n".to_owned()
    }

    /// Says the question that is first.
    fn ask(&mut self, now: Instant) -> String {
        self.step = Step::Choose;
        self.since = Some(now);
        self.heard(false)
    }

    fn heard(&self, whole: bool) -> String {
        let of = self.queue.len();
        let place = if of > 1 { format!(" 1 of {of}") } else { String::new() };
        match self.queue.front() {
            None => String::new(),
            Some(Waiting::Approval(approval)) => format!(
                "\nDECISION{place}: allow this call?\n{}{CALL}",
                words::approval(approval, whole)
            ),
            Some(Waiting::Question(question)) => {
                format!("\nDECISION{place}: go on?\n  {}{GO_ON}", words::question(question))
            }
            Some(Waiting::Elicitation(dialog)) => {
                format!("\nQUESTION{place}.{}\n{}", dialog.opening(), dialog.prompt())
            }
        }
    }

    /// The next one, or that there is none.
    fn next(&mut self, now: Instant) -> String {
        self.queue.pop_front();
        self.ask(now)
    }

    /// Comes back to what was put off.
    pub(super) fn come_back(&mut self, now: Instant) -> String {
        if self.later.is_empty() {
            return "No decision waits.\n".to_owned();
        }
        self.queue.append(&mut self.later);
        self.ask(now)
    }

    /// A call is no longer asked about.
    pub(super) fn call_closed(&mut self, call: CallId, now: Instant) -> String {
        self.close(|one| matches!(one, Waiting::Approval(one) if one.call.id == call), now)
    }

    /// A question is no longer open.
    pub(super) fn question_closed(&mut self, id: QuestionId, now: Instant) -> String {
        self.close(|one| matches!(one, Waiting::Question(one) if one.id == id), now)
    }

    /// A server's question is no longer open.
    pub(super) fn elicitation_closed(&mut self, id: ElicitationId, now: Instant) -> String {
        self.close(|one| matches!(one, Waiting::Elicitation(one) if one.id() == id), now)
    }

    fn close(&mut self, is: impl Fn(&Waiting) -> bool, now: Instant) -> String {
        self.later.retain(|one| !is(one));
        let current = self.queue.front().is_some_and(&is);
        self.queue.retain(|one| !is(one));
        if !current {
            return String::new();
        }
        format!("\nThat decision is no longer wanted.\n{}", self.ask(now))
    }

    /// Takes a line, or the end of the input, for the question that is first.
    pub(super) fn take(&mut self, line: Option<&str>, now: Instant) -> Taken {
        let early = self.since.is_some_and(|since| now.saturating_duration_since(since) < ARMING);
        if early && line.is_some() {
            self.since = Some(now);
            return Taken::said(EARLY);
        }
        self.since = None;
        match self.queue.front_mut() {
            None => Taken::default(),
            Some(Waiting::Approval(approval)) => {
                let approval = Arc::clone(approval);
                self.call(&approval, line.unwrap_or("deny"), now)
            }
            Some(Waiting::Question(question)) => {
                let id = question.id;
                self.decide(id, line.unwrap_or("stop"), now)
            }
            Some(Waiting::Elicitation(dialog)) => {
                let (said, reply) = dialog.take(line);
                let elicitation = dialog.id();
                let said = if said.is_empty() { said } else { said + "\n" };
                let Some(reply) = reply else {
                    return Taken::said(format!("{said}{}", dialog.prompt()));
                };
                let op = Op::Reply { elicitation, reply };
                Taken { said: said + &self.next(now), ops: vec![op] }
            }
        }
    }

    fn decide(&mut self, question: QuestionId, line: &str, now: Instant) -> Taken {
        let go_on = match line.trim().to_lowercase().as_str() {
            "1" | "stop" | "no" | "n" => false,
            "go on" => true,
            "2" | "later" => return self.put_off_first(now),
            "repeat" => return Taken::said(self.heard(false)),
            _ => return self.nothing(now),
        };
        Taken { said: self.next(now), ops: vec![Op::Decide { question, go_on }] }
    }

    fn call(&mut self, approval: &Approval, line: &str, now: Instant) -> Taken {
        let call = approval.call.id;
        let step = std::mem::replace(&mut self.step, Step::Choose);
        if step == Step::Note {
            return match line.trim() {
                "" => Taken::said(format!("No note, and nothing was decided.\n{CALL}")),
                note => self.answer(call, Answer::Deny { note: note.to_owned() }, now),
            };
        }
        let deny = Answer::Deny { note: String::new() };
        let (word, rest) = words::word(line);
        match (word.to_lowercase().as_str(), rest.trim()) {
            ("1" | "deny" | "n" | "no", "") => self.answer(call, deny, now),
            ("deny", "all") | ("4", "") => self.deny_all(now),
            ("2" | "note", "") => {
                self.step = Step::Note;
                Taken::said("Your note to the model; an empty line goes back: ")
            }
            ("2" | "note" | "deny", note) => {
                self.answer(call, Answer::Deny { note: note.to_owned() }, now)
            }
            ("3" | "later", "") => self.put_off_first(now),
            ("allow", "") => self.answer(call, Answer::Once, now),
            ("session", "") => self.answer(call, Answer::Session, now),
            ("always", "") if step == Step::Always => self.answer(call, Answer::Always, now),
            ("always", "") => {
                self.step = Step::Always;
                self.since = Some(now);
                let server = &approval.call.tool.server;
                let rule = Rule::always(&approval.tool).to_yaml_value(Some(server)).to_string();
                Taken::said(format!(
                    "This will be written to your rules file:\n  {}\nType always again to write it and allow the call; anything else goes back.\nYour answer: ",
                    text::strict_line(&rule)
                ))
            }
            ("edit", json) => match serde_json::from_str::<Map<String, Value>>(json) {
                Ok(arguments) => self.answer(call, Answer::Edit(Arc::new(arguments)), now),
                Err(fault) => Taken::said(format!(
                    "These arguments cannot be read ({fault}). Type edit and a JSON object on one line.\nYour answer: "
                )),
            },
            ("arguments", "") => Taken::said(format!(
                "{}Your answer: ",
                words::arguments(&approval.call.arguments, true)
            )),
            ("repeat", "") => Taken::said(self.heard(false)),
            _ => self.nothing(now),
        }
    }

    /// A line that is no answer; the next one has to be typed after that was heard.
    fn nothing(&mut self, now: Instant) -> Taken {
        self.since = Some(now);
        Taken::said(NOTHING)
    }

    fn answer(&mut self, call: CallId, answer: Answer, now: Instant) -> Taken {
        let said = match &answer {
            Answer::Once => "Allowed once.",
            Answer::Session => "Allowed until the program ends.",
            Answer::Always => "Allowed, and the rule is written.",
            Answer::Edit(_) => "The arguments are changed.",
            Answer::Deny { .. } => "Denied.",
        };
        let said = format!("{said}\n{}", self.next(now));
        Taken { said, ops: vec![Op::Answer { call, answer }] }
    }

    fn deny_all(&mut self, now: Instant) -> Taken {
        let calls = |one: &Waiting| match one {
            Waiting::Approval(approval) => Some(approval.call.id),
            Waiting::Question(_) | Waiting::Elicitation(_) => None,
        };
        let waiting: Vec<CallId> = self.queue.iter().chain(&self.later).filter_map(calls).collect();
        self.queue.retain(|one| calls(one).is_none());
        self.later.retain(|one| calls(one).is_none());
        let mut said = String::new();
        let _infallible = writeln!(said, "Denied: {}.", waiting.len());
        said.push_str(&self.ask(now));
        let deny = |call| Op::Answer { call, answer: Answer::Deny { note: String::new() } };
        Taken { said, ops: waiting.into_iter().map(deny).collect() }
    }

    fn put_off_first(&mut self, now: Instant) -> Taken {
        self.later.extend(self.queue.pop_front());
        let said = format!("Put off; the turn waits. /decide comes back to it.\n{}", self.ask(now));
        Taken::said(said)
    }
}
