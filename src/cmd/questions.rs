//! Questions of servers to whoever runs a command: answered from the command line where that says
//! enough, else asked on the terminal, one after the other, on standard error.

mod dialog;
mod given;
mod lines;

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use super::{Stop, output};
use crate::bridge::{Notice, Op};
use crate::domain::{Answering, Elicitation, ElicitationId, ElicitationReply};
use crate::text;

pub(crate) use dialog::Dialog;
pub use given::Given;
use given::Said;
pub(crate) use lines::Lines;

/// Whoever answers.
#[derive(Debug)]
pub struct Answerer {
    given: Given,
    terminal: bool,
    lines: Option<Lines>,
    now: Option<Dialog>,
    waiting: VecDeque<Arc<Elicitation>>,
}

impl Answerer {
    /// Answers with what was given, and asks where there is a terminal.
    pub fn new(given: Given) -> Self {
        let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { given, terminal, lines: None, now: None, waiting: VecDeque::new() }
    }

    /// Which questions can be answered: nothing else is offered to servers.
    pub fn answering(&self) -> Answering {
        match (self.terminal, self.given.is_empty()) {
            (true, _) => Answering::Everything,
            (false, false) => Answering::Forms,
            (false, true) => Answering::Nobody,
        }
    }

    /// Takes in a notice; some have an answer at once.
    pub fn hear(&mut self, notice: &Notice) -> Option<Op> {
        match notice {
            Notice::Elicited { elicitation } => self.elicited(elicitation),
            Notice::ElicitationClosed { elicitation, why } => {
                self.closed(*elicitation, why);
                None
            }
            _ => None,
        }
    }

    fn elicited(&mut self, elicitation: &Arc<Elicitation>) -> Option<Op> {
        let said = self.given.answer(elicitation);
        let who = format!("{} asks “{}”", elicitation.server, text::line(&elicitation.message));
        let reply = match said {
            Said::Accept(content) => {
                let content = Arc::new(content);
                let shown = serde_json::to_string(&*content).unwrap_or_default();
                output::note(&format!("{who}: {}", text::strict_line(&shown)));
                ElicitationReply::Accept(Some(content))
            }
            Said::Wanting(why) if self.terminal => {
                if let Some(why) = why.filter(|_| !self.given.is_empty()) {
                    output::note(&format!("note: {why}"));
                }
                self.waiting.push_back(Arc::clone(elicitation));
                self.ask_next();
                return None;
            }
            Said::Wanting(why) => {
                let why = why.unwrap_or_else(|| "nothing was given for it".to_owned());
                output::note(&format!("{who}: cancelled, because {why}"));
                // Nobody has decided: that is no refusal (I5).
                ElicitationReply::Cancel
            }
        };
        Some(Op::Reply { elicitation: elicitation.id, reply })
    }

    fn ask_next(&mut self) {
        if self.now.is_some() {
            return;
        }
        let Some(elicitation) = self.waiting.pop_front() else { return };
        self.lines.get_or_insert_with(Lines::start);
        let dialog = Dialog::new(&elicitation, self.given.fitting(&elicitation));
        output::note(&dialog.opening());
        output::ask(&dialog.prompt());
        self.now = Some(dialog);
    }

    fn closed(&mut self, id: ElicitationId, why: &str) {
        self.waiting.retain(|waiting| waiting.id != id);
        if self.now.take_if(|dialog| dialog.id() == id).is_some() {
            output::note(&format!("\n(no answer is wanted any more: {})", text::line(why)));
            self.ask_next();
        }
    }

    /// The next answer that is typed. Ends never while nothing is asked; may be dropped and called
    /// again.
    pub async fn typed(&mut self) -> Op {
        loop {
            let (Some(lines), true) = (&mut self.lines, self.now.is_some()) else {
                return std::future::pending().await;
            };
            let line = lines.next().await;
            let Some(dialog) = &mut self.now else { continue };
            let (said, reply) = dialog.take(line.as_deref());
            if !said.is_empty() {
                output::note(&said);
            }
            match reply {
                None => output::ask(&dialog.prompt()),
                Some(reply) => {
                    let elicitation = dialog.id();
                    self.now = None;
                    self.ask_next();
                    return Op::Reply { elicitation, reply };
                }
            }
        }
    }

    /// Says which of what was given nobody asked for.
    pub fn complain(&self) {
        for key in self.given.unused() {
            output::note(&format!("note: --answer {}: nobody asked for it", text::line(key)));
        }
    }
}

/// Reads `--answer` and `--accept-defaults`.
pub fn given(answers: &[String], defaults: bool) -> Result<Given, Stop> {
    Given::new(answers, defaults).map_err(Stop::usage)
}
