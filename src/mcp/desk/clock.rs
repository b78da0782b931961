//! Clocks that stand still while a person is asked.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::Desk;
use crate::domain::CallId;

/// Longer than anything lives.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Desk {
    /// Whether the user is being asked something that may be what this call waits for.
    pub(in crate::mcp) fn asks_for(&self, call: CallId) -> bool {
        self.asks(Some(call))
    }

    /// The same for what may be no call at all.
    fn asks(&self, call: Option<CallId>) -> bool {
        self.table().asking.values().any(|owner| owner.is_none() || *owner == call)
    }

    /// Does `work`, but bears no more than `silence` from `since` on; `None` when that has passed.
    pub(in crate::mcp) async fn patiently<T>(
        &self,
        call: Option<CallId>,
        since: Instant,
        silence: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::pin!(work);
        let mut since = since;
        let mut changes = self.changes.subscribe();
        loop {
            let asked = call.is_some_and(|call| self.asks_for(call));
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                _ = changes.changed(), if call.is_some() => {}
                () = sleep_until(after(since, silence)), if !asked => return None,
            }
            if asked {
                since = Instant::now();
            }
        }
    }

    /// Ends when `limit` has passed without counting the time in which a person was asked.
    pub(in crate::mcp) async fn run_out(&self, call: Option<CallId>, limit: Duration) {
        let mut left = limit;
        let mut changes = self.changes.subscribe();
        loop {
            let asked = self.asks(call);
            let begun = Instant::now();
            tokio::select! {
                biased;
                _ = changes.changed() => {}
                () = sleep(left), if !asked => return,
            }
            if !asked {
                left = left.saturating_sub(begun.elapsed());
            }
        }
    }
}

/// A time that may be configured to be beyond all reckoning.
pub(in crate::mcp) fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + FAR)
}
