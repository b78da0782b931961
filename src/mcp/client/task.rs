//! A call that became a task (Y4–Y6): looked at no faster than the server asks for, until it is
//! over. It is cancelled by a request of its own, which the server may or may not heed.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::call::{Flight, Flying};
use super::shared::{Conn, Shared};
use crate::domain::{CallId, Outcome, Progress};
use crate::jsonrpc::code;
use crate::mcp::ServerEventKind;
use crate::mcp::era::is_passing;
use crate::mcp::exchange::{Ask, Upcall};
use crate::mcp::fault::{Fault, may_have_run};
use crate::mcp::model::result;
use crate::mcp::model::task::{Status, Task};
use crate::mcp::retry;

/// Looks in a row that bring nothing before the task is given up.
const IN_VAIN: u32 = 5;

/// A request about a task; `Mcp-Name` carries its id (Y5).
pub(super) fn about(shared: &Shared, task: &Task, method: &'static str) -> Ask {
    Ask {
        name: Some(task.id.clone()),
        silence: shared.limits.silence,
        ..Ask::new(shared.peer.next_id(), method, task.params())
    }
}

/// Follows the task that a call was answered with to its end.
pub(super) async fn follow(
    shared: &Shared,
    conn: &Conn,
    call: CallId,
    flight: &Flight,
    created: &Value,
) -> Outcome {
    let Some(mut task) = Task::created(created) else {
        return result::unusable("with a task that has no id");
    };
    let mut said = String::new();
    loop {
        flight.set(Flying::Task(Box::new(task.clone()), conn.dialect.clone()));
        say(shared, call, &task, &mut said).await;
        sleep(task.interval).await;
        match look(shared, conn, &task).await {
            Ok(seen) if seen.id == task.id => task = seen,
            Ok(_) => return result::unusable("about another task than it was asked about"),
            Err(reason) => return Outcome::Unknown { reason },
        }
        match std::mem::replace(&mut task.status, Status::Working("working".to_owned())) {
            Status::Over(outcome) => {
                flight.landed();
                return outcome;
            }
            Status::InputRequired(_) => {
                super::call::withdraw(shared, flight, "").await;
                return result::tool_error(
                    "The task asks for input that this program did not offer to give; it was cancelled."
                        .to_owned(),
                );
            }
            working @ Status::Working(_) => task.status = working,
        }
    }
}

/// Shows how the task stands as the progress of its call, once for each change.
async fn say(shared: &Shared, call: CallId, task: &Task, said: &mut String) {
    let note = task.note();
    if note == *said {
        return;
    }
    said.clone_from(&note);
    let progress = Progress { note, ..Progress::default() };
    shared.peer.tell(ServerEventKind::Progress { call, progress }).await;
}

/// Looks once; again where what went wrong may pass. `Err` says why it was given up.
async fn look(shared: &Shared, conn: &Conn, task: &Task) -> Result<Task, String> {
    let mut in_vain = 0;
    loop {
        let answer = shared.peer.ask(&conn.dialect, about(shared, task, "tasks/get")).await;
        let met = match answer {
            Ok(answered) => {
                return Task::looked_at(answered.result)
                    .map_err(|what| may_have_run(&format!("The server answered, but {what}")));
            }
            Err(met) => met,
        };
        let hint = match &met {
            Fault::Lost { .. } | Fault::Silent(_) | Fault::NotSent { retry: true, .. } => None,
            Fault::Status { status, after, .. } if is_passing(*status) || *status >= 500 => *after,
            Fault::Rpc { error, .. } if error.code == code::INVALID_PARAMS => {
                return Err(may_have_run(&format!(
                    "The server does not know the task any more: {error}"
                )));
            }
            Fault::Auth { status: 401, reason } => {
                shared.peer.up(Upcall::Unauthorized(conn.generation, reason.clone())).await;
                return Err(may_have_run(&met.to_string()));
            }
            _ => return Err(may_have_run(&met.to_string())),
        };
        in_vain += 1;
        if in_vain >= IN_VAIN {
            let times = format!("The task could not be looked at {IN_VAIN} times in a row: {met}");
            return Err(may_have_run(&times));
        }
        let wait: Duration = retry::backoff(in_vain, hint, fastrand::f64());
        sleep(wait.max(task.interval)).await;
    }
}
