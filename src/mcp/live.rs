//! What is on its way at a server, so that news of it find it on whichever stream they come: calls
//! by the token of their progress, tasks by their id.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use crate::domain::{CallId, Progress};
use crate::jsonrpc;

/// Calls on their way, by the id of the request that carries each: it is the token too.
#[derive(Debug, Default)]
pub(super) struct Live {
    calls: Mutex<HashMap<u64, (CallId, Progress)>>,
}

/// What a report of progress came to.
#[derive(Debug, PartialEq)]
pub(super) struct Reported {
    /// Whose it is.
    pub(super) call: CallId,
    /// How far it is now.
    pub(super) progress: Progress,
    /// It said less than it had said before.
    pub(super) went_back: bool,
}

impl Live {
    fn calls(&self) -> MutexGuard<'_, HashMap<u64, (CallId, Progress)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is on its way with this request until what is returned is dropped.
    pub(super) fn begin(&self, id: u64, call: CallId) -> Underway<'_> {
        self.calls().insert(id, (call, Progress::default()));
        Underway { live: self, id }
    }

    /// Takes in a report; `None` where the token is no live one. Values must rise: one that does not
    /// counts as the last.
    pub(super) fn report(&self, params: &Value, note: Option<&str>) -> Option<Reported> {
        let token = params.get("progressToken")?;
        let mut calls = self.calls();
        let (_, (call, progress)) =
            calls.iter_mut().find(|(id, _)| jsonrpc::answers(token, **id))?;
        let done = params.get("progress").and_then(Value::as_f64).unwrap_or_default();
        let went_back = done < progress.done;
        progress.done = done.max(progress.done);
        if let Some(total) = params.get("total").and_then(Value::as_f64) {
            progress.total = Some(total);
        }
        if let Some(note) = note {
            note.clone_into(&mut progress.note);
        }
        Some(Reported { call: *call, progress: progress.clone(), went_back })
    }

    /// Takes in a line of a log that came on the stream of this request.
    pub(super) fn note(&self, id: u64, note: &str) -> Option<(CallId, Progress)> {
        let mut calls = self.calls();
        let (call, progress) = calls.get_mut(&id)?;
        note.clone_into(&mut progress.note);
        Some((*call, progress.clone()))
    }
}

/// A call that is on its way.
#[derive(Debug)]
pub(super) struct Underway<'a> {
    live: &'a Live,
    id: u64,
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.live.calls().remove(&self.id);
    }
}

/// News of one task: the latest one counts, since each holds the whole task.
pub(super) type News = watch::Receiver<Option<Value>>;

/// Tasks that are followed.
#[derive(Debug, Default)]
pub(super) struct Push {
    tasks: Mutex<HashMap<String, watch::Sender<Option<Value>>>>,
}

impl Push {
    fn tasks(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Option<Value>>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task is followed until what is returned is dropped.
    pub(super) fn follow(&self, id: &str) -> (Followed<'_>, News) {
        let (sender, news) = watch::channel(None);
        self.tasks().insert(id.to_owned(), sender);
        (Followed { push: self, id: id.to_owned() }, news)
    }

    /// Takes in what is told of a task. One that nobody follows is passed over.
    pub(super) fn tell(&self, task: Value) {
        let id = task.get("taskId").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(to) = self.tasks().get(&id) {
            to.send_replace(Some(task));
        }
    }
}

/// A task that is followed.
#[derive(Debug)]
pub(super) struct Followed<'a> {
    push: &'a Push,
    id: String,
}

impl Drop for Followed<'_> {
    fn drop(&mut self) {
        self.push.tasks().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn progress_finds_its_call_by_the_token_and_never_falls() {
        let live = Live::default();
        let underway = live.begin(7, CallId(1));
        let report = |done: i32, token: Value| {
            live.report(&json!({"progressToken": token, "progress": done}), None)
        };
        let done = |progress: &Progress| progress.done.to_string();
        assert_eq!(done(&report(2, json!(7)).unwrap().progress), "2");
        let back = report(1, json!(7)).unwrap();
        assert_eq!((done(&back.progress).as_str(), back.went_back), ("2", true));
        assert_eq!(report(3, json!(8)), None);
        drop(underway);
        assert_eq!(report(3, json!(7)), None);
    }

    #[test]
    fn news_of_a_task_reach_only_whoever_follows_it() {
        let push = Push::default();
        let (followed, news) = push.follow("t");
        push.tell(json!({"taskId": "other"}));
        assert_eq!(*news.borrow(), None);
        push.tell(json!({"taskId": "t", "status": "working"}));
        assert!(news.borrow().is_some());
        drop(followed);
        assert!(push.tasks().is_empty());
    }
}
