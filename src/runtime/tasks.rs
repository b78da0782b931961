//! The only place that spawns: names, tracks, cancels, reports faults.
//!
//! A panic of a task ends that task alone and is reported as a fault; the conductor turns it into
//! a warning. Tokens form a tree (quit → turn → call, quit → server): a task ends when any
//! token above it is cancelled.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Room for reports of faults: more at once say nothing new.
const FAULTS: usize = 16;

/// A task that panicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What the task was for.
    pub task: &'static str,
    /// What the panic said.
    pub message: String,
}

/// Spawns and tracks every task of the runtime. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tasks {
    tracker: TaskTracker,
    quit: CancellationToken,
    faults: mpsc::Sender<Fault>,
}

impl Tasks {
    /// An empty set of tasks and where their faults arrive.
    pub fn new() -> (Self, mpsc::Receiver<Fault>) {
        let (faults, reports) = mpsc::channel(FAULTS);
        let quit = CancellationToken::new();
        (Self { tracker: TaskTracker::new(), quit, faults }, reports)
    }

    /// The root of the tree of tokens.
    pub fn quit(&self) -> &CancellationToken {
        &self.quit
    }

    /// Runs `future` in the background, under this name.
    pub fn spawn<F>(&self, task: &'static str, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let faults = self.faults.clone();
        self.tracker.spawn(async move {
            if let Err(payload) = AssertUnwindSafe(future).catch_unwind().await {
                let message = panic_text(payload.as_ref());
                tracing::error!(task, message, "a task panicked");
                // A full queue of faults says nothing new; a closed one has nobody to tell.
                drop(faults.try_send(Fault { task, message }));
            }
        });
    }

    /// Waits for all tasks, at most this long. Says whether all have ended.
    pub async fn wait(&self, at_most: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(at_most, self.tracker.wait()).await.is_ok()
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_panic_ends_one_task_and_is_reported() {
        let (tasks, mut faults) = Tasks::new();
        tasks.spawn("fragile", async { panic!("glass") });
        tasks.spawn("sound", async {});
        assert!(tasks.wait(Duration::from_secs(1)).await);
        let fault = faults.try_recv().unwrap();
        assert_eq!(fault, Fault { task: "fragile", message: "glass".to_owned() });
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_task_that_hangs_is_bounded() {
        let (tasks, _faults) = Tasks::new();
        tasks.spawn("hanging", std::future::pending());
        assert!(!tasks.wait(Duration::from_secs(1)).await);
    }
}
