//! A call that became a task (Y4–Y7): looked at no faster than the server asks for, until it is
//! over; seldom, while the server tells of it by itself. What it asks for is put to the user, each question once. It is cancelled by a request of
//! its own, which the server may or may not heed.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::call::{self, Flight, Flying, ROUNDS};
use super::questions;
use super::shared::{Conn, Shared};
use crate::domain::{CallId, Outcome, Progress};
use crate::jsonrpc::code;
use crate::mcp::ServerEventKind;
use crate::mcp::era::is_passing;
use crate::mcp::exchange::{Ask, Cursor, Hearing, Upcall, is_stream, listen};
use crate::mcp::fault::{Fault, may_have_run};
use crate::mcp::live::News;
use crate::mcp::model::task::{Status, Task};
use crate::mcp::model::{question, result};
use crate::mcp::retry;

/// Wait between two looks while the server tells of the task by itself (Y7): news may be lost.
const TOLD: Duration = Duration::from_secs(30);
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
    /// What the server tells of it by itself.
    news: News,
    /// Whether it does.
    told: watch::Receiver<bool>,
    /// Whether a look was taken since it does: what came before it is not told.
    looked: bool,
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
    let (_followed, news) = shared.peer.pushed.follow(&task.id);
    let (tells, told) = watch::channel(false);
    let telling = tell(shared, conn, task.id.clone(), tells);
    let following = Following {
        shared,
        conn,
        call,
        task,
        news,
        told,
        looked: false,
        said: String::new(),
        answered: HashSet::new(),
        rounds: 0,
    };
    let mut following = pin!(following.followed(flight));
    tokio::select! {
        biased;
        outcome = &mut following => return outcome,
        () = telling => {}
    }
    following.await
}

/// Y7: has the server tell of the task, for as long as it does. One that refuses is not asked again
/// on this connection.
async fn tell(shared: &Shared, conn: &Conn, task: String, tells: watch::Sender<bool>) {
    if conn.silent_on_tasks.load(Ordering::Relaxed) {
        return;
    }
    let mut wanted = Map::new();
    wanted.insert("taskIds".to_owned(), json!([task]));
    let id = shared.peer.next_id();
    let opened = shared.peer.subscribe(&conn.dialect, id, &wanted).await;
    match opened {
        Ok(response) if is_stream(&response) => {
            tells.send_replace(true);
            let mut hearing = Hearing::to_changes(id, conn.dialect.clone(), wanted);
            listen(&shared.peer, &mut hearing, response, &mut Cursor::default()).await;
            tells.send_replace(false);
        }
        Ok(response) if response.status() < 500 => {
            conn.silent_on_tasks.store(true, Ordering::Relaxed);
        }
        Ok(_) | Err(_) => {}
    }
}

impl Following<'_> {
    async fn followed(mut self, flight: &Flight) -> Outcome {
        loop {
            let task = Box::new(self.task.clone());
            flight.set(Flying::Task(task, self.conn.dialect.clone()));
            match self.step().await {
                Ok(()) => {}
                Err(Given::Outcome(outcome)) => {
                    flight.landed();
                    return outcome;
                }
                Err(Given::Up(why)) => {
                    call::withdraw(self.shared, flight, "").await;
                    return result::unfinished(&why);
                }
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
        let mut seen = if let Some(told) = self.news().await {
            told
        } else {
            let seen = self.request(about(self.shared, &self.task, "tasks/get")).await?;
            Task::looked_at(seen)
                .map_err(|what| Given::lost(&format!("The server answered, but {what}")))?
        };
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

    /// What the server tells of the task by itself; `None` when it is time for a look.
    async fn news(&mut self) -> Option<Task> {
        let least = self.task.interval;
        if let Ok(told) = timeout(least, told(&mut self.news)).await {
            return Some(told);
        }
        // Y5 says how soon a look may be taken, not how soon it has to be.
        let tells = *self.told.borrow();
        if !tells || !std::mem::replace(&mut self.looked, tells) {
            return None;
        }
        tokio::select! {
            biased;
            told = told(&mut self.news) => Some(told),
            () = sleep(TOLD.saturating_sub(least)) => None,
            // Ended, or the one who could say so is gone.
            _ = self.told.wait_for(|tells| !tells) => None,
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

/// The next news that make sense.
async fn told(news: &mut News) -> Task {
    loop {
        if news.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        let told = news.borrow_and_update().clone();
        match told.map(Task::looked_at) {
            Some(Ok(task)) => return task,
            Some(Err(what)) => tracing::debug!(what, "news of a task that make no sense"),
            None => {}
        }
    }
}
