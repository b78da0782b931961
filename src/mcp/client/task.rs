//! A call that became a task (Y4–Y6): looked at no faster than the server asks for, until it is
//! over. What it asks for is put to the user, each question once. It is cancelled by a request of
//! its own, which the server may or may not heed.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tokio::time::sleep;

use super::call::{self, Flight, Flying, ROUNDS};
use super::questions;
use super::shared::{Conn, Shared};
use crate::domain::{CallId, Outcome, Progress};
use crate::jsonrpc::code;
use crate::mcp::ServerEventKind;
use crate::mcp::era::is_passing;
use crate::mcp::exchange::{Ask, Upcall};
use crate::mcp::fault::{Fault, may_have_run};
use crate::mcp::model::task::{Status, Task};
use crate::mcp::model::{question, result};
use crate::mcp::retry;

/// Requests in a row that bring nothing before the task is given up.
const IN_VAIN: u32 = 5;

/// A request about a task; `Mcp-Name` carries its id (Y5).
pub(super) fn about(shared: &Shared, task: &Task, method: &'static str) -> Ask {
    Ask {
        name: Some(task.id.clone()),
        silence: shared.limits.silence,
        ..Ask::new(shared.peer.next_id(), method, task.params())
    }
}

/// A task that is followed.
struct Following<'a> {
    shared: &'a Shared,
    conn: &'a Conn,
    call: CallId,
    task: Task,
    /// What was last said of it.
    said: String,
    /// Keys of questions that were answered: each is answered once (Y6).
    answered: HashSet<String>,
    rounds: u32,
}

/// Follows the task that a call was answered with to its end.
pub(super) async fn follow(
    shared: &Shared,
    conn: &Conn,
    call: CallId,
    flight: &Flight,
    created: &Value,
) -> Outcome {
    let Some(task) = Task::created(created) else {
        return result::unusable("with a task that has no id");
    };
    let (said, answered) = (String::new(), HashSet::new());
    let mut following = Following { shared, conn, call, task, said, answered, rounds: 0 };
    loop {
        let task = following.task.clone();
        flight.set(Flying::Task(Box::new(task), conn.dialect.clone()));
        match following.step().await {
            Ok(()) => {}
            Err(Given::Outcome(outcome)) => {
                flight.landed();
                return outcome;
            }
            Err(Given::Up(why)) => {
                call::withdraw(shared, flight, "").await;
                return result::unfinished(&why);
            }
        }
    }
}

/// Why it is not followed any further.
enum Given {
    /// It is over, or nothing more can be learnt of it.
    Outcome(Outcome),
    /// It cannot be given what it asks for; what the server does, in words.
    Up(String),
}

impl Given {
    fn lost(reason: &str) -> Self {
        Self::Outcome(Outcome::Unknown { reason: may_have_run(reason) })
    }
}

impl Following<'_> {
    /// Waits, looks, and answers what is asked.
    async fn step(&mut self) -> Result<(), Given> {
        self.say().await;
        sleep(self.task.interval).await;
        let seen = self.request(about(self.shared, &self.task, "tasks/get")).await?;
        let mut seen = Task::looked_at(seen)
            .map_err(|what| Given::lost(&format!("The server answered, but {what}")))?;
        if seen.id != self.task.id {
            return Err(Given::lost("The server answered, but about another task"));
        }
        let status = std::mem::replace(&mut seen.status, Status::Working("working".to_owned()));
        self.task = seen;
        match status {
            Status::Over(outcome) => Err(Given::Outcome(outcome)),
            Status::InputRequired(requests) => self.answer(requests).await,
            working @ Status::Working(_) => {
                self.task.status = working;
                Ok(())
            }
        }
    }

    /// Shows how the task stands as the progress of its call, once for each change.
    async fn say(&mut self) {
        let note = self.task.note();
        if note == self.said {
            return;
        }
        self.said.clone_from(&note);
        let progress = Progress { note, ..Progress::default() };
        self.shared.peer.tell(ServerEventKind::Progress { call: self.call, progress }).await;
    }

    /// Puts to the user what was not answered before, and sends the answers.
    async fn answer(&mut self, mut requests: Map<String, Value>) -> Result<(), Given> {
        requests.retain(|key, _| !self.answered.contains(key));
        if requests.is_empty() {
            return Ok(());
        }
        self.rounds += 1;
        if self.rounds > ROUNDS {
            let limit = format!(
                "asked for more after {ROUNDS} rounds, which is the limit (rounds of one call)"
            );
            return Err(Given::Up(limit));
        }
        let requests = Value::Object(requests);
        let answering = self.shared.peer.desk.answering;
        let asked = question::questions(&requests, answering).map_err(Given::Up)?;
        self.task.status = Status::InputRequired(Map::new());
        self.say().await;
        let answers = questions::round(self.shared, Some(self.call), asked).await;
        self.answered.extend(answers.keys().cloned());
        let mut update = about(self.shared, &self.task, "tasks/update");
        update.params.insert("inputResponses".to_owned(), Value::Object(answers));
        self.request(update).await?;
        self.task.status = Status::Working("working".to_owned());
        Ok(())
    }

    /// Makes one request; again where what went wrong may pass. All requests about tasks may be
    /// made twice: answers to what is answered already are passed over by the server.
    async fn request(&self, ask: Ask) -> Result<Value, Given> {
        let Ask { method, params, .. } = ask;
        let mut in_vain = 0;
        loop {
            let ask = Ask { params: params.clone(), ..about(self.shared, &self.task, method) };
            let met = match self.shared.peer.ask(&self.conn.dialect, ask).await {
                Ok(answered) => return Ok(answered.result),
                Err(met) => met,
            };
            let hint = match &met {
                Fault::Lost { .. } | Fault::Silent(_) | Fault::NotSent { retry: true, .. } => None,
                Fault::Status { status, after, .. } if is_passing(*status) || *status >= 500 => {
                    *after
                }
                Fault::Rpc { error, .. } if error.code == code::INVALID_PARAMS => {
                    let gone = format!("The server does not know the task any more: {error}");
                    return Err(Given::lost(&gone));
                }
                Fault::Auth { status: 401, reason } => {
                    let told = Upcall::Unauthorized(self.conn.generation, reason.clone());
                    self.shared.peer.up(told).await;
                    return Err(Given::lost(&met.to_string()));
                }
                _ => return Err(Given::lost(&met.to_string())),
            };
            in_vain += 1;
            if in_vain >= IN_VAIN {
                let met = format!("The task could not be reached {IN_VAIN} times in a row: {met}");
                return Err(Given::lost(&met));
            }
            let wait = retry::backoff(in_vain, hint, fastrand::f64());
            sleep(wait.max(self.task.interval)).await;
        }
    }
}
