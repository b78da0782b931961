//! Tasks of the extension `io.modelcontextprotocol/tasks` (Y4–Y6): what a call became, and how it
//! stands. Pure.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::other_type;
use super::result::{self, text};
use crate::domain::{Era, Outcome};
use crate::jsonrpc;

/// Wait between two looks at a task where the server names none.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// Shortest wait, whatever the server names: it must not be asked without a pause.
pub const LEAST: Duration = Duration::from_millis(50);

/// How a task stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It goes on; the word is the server's, which may be one that is not known (J8).
    Working(String),
    /// It waits for input: the requests by their keys.
    InputRequired(Map<String, Value>),
    /// It is over.
    Over(Outcome),
}

/// A task as the server last described it.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id: opaque.
    pub id: String,
    /// How it stands.
    pub status: Status,
    /// What the server says about it; may be empty.
    pub message: String,
    /// The wait before the next look (Y5).
    pub interval: Duration,
    /// To be sent back as it came with the next request about it; absent where there was none.
    state: Option<String>,
}

/// Whether a result of `tools/call` stands for a task.
pub fn is_task(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("task")
}

impl Task {
    /// Reads what a call was answered with. Only a later look tells of results: those that stand
    /// here already are not to be used.
    pub fn created(result: &Value) -> Option<Self> {
        let status = text(result, "status").unwrap_or_default();
        Self::read(result, Status::Working(status))
    }

    /// Reads the answer to `tasks/get`. `Err` says what is wrong with it.
    pub fn looked_at(mut result: Value) -> Result<Self, String> {
        // P6; §25: some of the extension's own examples say `task` here.
        if let Some(kind) = other_type(&result, Era::Modern).filter(|kind| *kind != "task") {
            return Err(format!("with a result of an unknown type ({kind})"));
        }
        let word = text(&result, "status").unwrap_or_default();
        let mut part = |key| result.as_object_mut().and_then(|members| members.remove(key));
        let status = match word.as_str() {
            "completed" => match part("result") {
                Some(of_call) => Status::Over(result::outcome(of_call, Era::Modern)),
                None => return Err("a completed task has no result".to_owned()),
            },
            "failed" => match part("error") {
                Some(Value::Object(error)) => {
                    Status::Over(result::error_outcome(&jsonrpc::error_object(error)))
                }
                _ => Status::Over(ended(&result, "The task failed at the server")),
            },
            "cancelled" => Status::Over(ended(&result, "The server cancelled the task")),
            "input_required" => match part("inputRequests") {
                Some(Value::Object(requests)) => Status::InputRequired(requests),
                _ => Status::Working(word),
            },
            "" => return Err("a task has no status".to_owned()),
            _ => Status::Working(word),
        };
        Self::read(&result, status).ok_or_else(|| "a task has no id".to_owned())
    }

    fn read(result: &Value, status: Status) -> Option<Self> {
        // An older draft spelt the unit out.
        let interval = ["pollIntervalMs", "pollIntervalMilliseconds"]
            .iter()
            .find_map(|key| result.get(key)?.as_f64())
            .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        Some(Self {
            id: text(result, "taskId").filter(|id| !id.is_empty())?,
            status,
            message: text(result, "statusMessage").unwrap_or_default(),
            interval: interval.unwrap_or(INTERVAL).max(LEAST),
            state: text(result, "requestState"),
        })
    }

    /// How it stands, in a line for the user.
    pub fn note(&self) -> String {
        let word = match &self.status {
            Status::Working(word) => word.as_str(),
            Status::InputRequired(_) => "input_required",
            Status::Over(_) => "over",
        };
        match self.message.as_str() {
            "" => format!("task {word}"),
            message => format!("task {word}: {}", super::cut(message, 2000)),
        }
    }

    /// Parameters of a request about it.
    pub fn params(&self) -> Map<String, Value> {
        let mut params = Map::new();
        params.insert("taskId".to_owned(), json!(self.id));
        if let Some(state) = &self.state {
            params.insert("requestState".to_owned(), json!(state));
        }
        params
    }
}

/// The outcome of a task that ended without a result of the tool.
fn ended(task: &Value, what: &str) -> Outcome {
    let why = text(task, "statusMessage").unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!(": {}", super::cut(&why, 2000)) };
    result::tool_error(format!("{what}{why}. Parts of it may have been done."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(result: Value) -> Task {
        Task::looked_at(result).unwrap()
    }

    #[test]
    fn a_result_that_stands_in_the_creation_already_is_not_used() {
        let created = json!({"resultType": "task", "taskId": "t", "status": "completed",
            "result": {"content": []}, "pollIntervalMs": 250});
        assert!(is_task(&created));
        let task = Task::created(&created).unwrap();
        assert_eq!(task.status, Status::Working("completed".to_owned()));
        assert_eq!(task.interval, Duration::from_millis(250));
        assert_eq!(Task::created(&json!({"status": "working"})), None);
    }

    #[test]
    fn the_wait_has_a_default_and_a_least() {
        let of = |interval: Value| {
            look(json!({"taskId": "t", "status": "working", "pollIntervalMs": interval})).interval
        };
        assert_eq!(of(Value::Null), INTERVAL);
        assert_eq!(of(json!(0)), LEAST);
        assert_eq!(of(json!(-5)), INTERVAL);
        assert_eq!(of(json!(1e300)), INTERVAL);
        assert_eq!(of(json!(2500)), Duration::from_millis(2500));
    }

    #[test]
    fn each_end_has_its_outcome() {
        let word = |result: Value| match look(result).status {
            Status::Over(outcome) => outcome.word(),
            other => panic!("{other:?}"),
        };
        let ended = |status: &str, key: &str, value: Value| {
            let mut task = json!({"taskId": "t", "status": status});
            task[key] = value;
            word(task)
        };
        assert_eq!(ended("completed", "result", json!({"content": []})), "ok");
        assert_eq!(ended("completed", "result", json!({"isError": true})), "tool error");
        assert_eq!(ended("failed", "error", json!({"code": -32603, "message": "m"})), "tool error");
        assert_eq!(ended("failed", "x", json!(1)), "tool error");
        assert_eq!(ended("cancelled", "statusMessage", json!("too late")), "tool error");
    }

    #[test]
    fn a_status_that_is_not_known_goes_on_and_what_is_no_task_is_an_error() {
        let task = look(json!({"taskId": "t", "status": "pondering", "statusMessage": "hm"}));
        assert_eq!(task.note(), "task pondering: hm");
        for odd in [
            json!({"status": "working"}),
            json!({"taskId": "t"}),
            json!([]),
            json!({"taskId": "t", "status": "completed"}),
        ] {
            assert!(Task::looked_at(odd).is_err());
        }
    }

    #[test]
    fn the_servers_state_is_sent_back_as_it_came_and_only_if_it_came() {
        let with = look(json!({"taskId": "t", "status": "working", "requestState": " x "}));
        assert_eq!(Value::Object(with.params()), json!({"taskId": "t", "requestState": " x "}));
        let without = look(json!({"taskId": "t", "status": "working"}));
        assert_eq!(Value::Object(without.params()), json!({"taskId": "t"}));
    }
}
