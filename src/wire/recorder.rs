//! Where all exchanges of a run come together.
//!
//! Recording costs a lock, a copy of what is kept and a search for secrets; whoever looks takes a
//! snapshot. While nobody watches, nothing is told to anybody.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use super::ring::{Limits, Ring};
use crate::domain::exchange::{Exchange, ExchangeId, Exchanges};

/// Where the time comes from.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// For spans of time.
    pub now: fn() -> Instant,
    /// The time of day.
    pub wall: fn() -> SystemTime,
}

type Waker = Box<dyn Fn() + Send + Sync>;

/// Keeps exchanges. Shared by everything that speaks HTTP.
pub struct Recorder {
    clock: Clock,
    inner: Mutex<Inner>,
}

struct Inner {
    ring: Ring,
    /// Told of every change.
    waker: Option<Waker>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Keeps nothing yet.
    pub fn new(limits: Limits, clock: Clock) -> Self {
        Self { clock, inner: Mutex::new(Inner { ring: Ring::new(limits), waker: None }) }
    }

    /// All exchanges as they stand now. Cheap: nothing is copied but references.
    pub fn snapshot(&self) -> Exchanges {
        self.inner().ring.snapshot()
    }

    /// From now on `waker` is called at every change; `None` ends that. It must not wait, and must
    /// not ask the recorder for anything.
    pub fn watch(&self, waker: Option<Waker>) {
        self.inner().waker = waker;
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    pub(super) fn add(&self, exchange: Exchange) -> ExchangeId {
        let mut inner = self.inner();
        let id = inner.ring.add(exchange);
        inner.changed();
        id
    }

    pub(super) fn change(&self, id: ExchangeId, change: impl FnOnce(&mut Exchange, Limits)) {
        let mut inner = self.inner();
        inner.ring.change(id, change);
        inner.changed();
    }

    pub(super) fn limits(&self) -> Limits {
        self.inner().ring.limits()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn changed(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }
}
