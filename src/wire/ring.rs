//! The exchanges that are kept: so many, so many bytes, the oldest go first.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::domain::exchange::{Ending, Exchange, ExchangeId, Exchanges, Header};

/// What an exchange weighs besides its texts.
const FRAME: usize = 512;
/// What a header weighs besides its text.
const HEADER: usize = 96;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Exchanges.
    pub exchanges: usize,
    /// Bytes of all exchanges together.
    pub bytes: usize,
    /// Bytes of one body; what comes after them is counted and let go of.
    pub body: usize,
}

impl Limits {
    /// For looking at what goes on.
    pub const VIEW: Self =
        Self { exchanges: 1_000, bytes: 16 * 1024 * 1024, body: 2 * 1024 * 1024 };
    /// For a file of the whole run.
    pub const RUN: Self =
        Self { exchanges: 100_000, bytes: 1024 * 1024 * 1024, body: 64 * 1024 * 1024 };
}

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    limits: Limits,
    kept: VecDeque<Arc<Exchange>>,
    bytes: usize,
    next: u64,
    dropped: u64,
}

impl Ring {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, kept: VecDeque::new(), bytes: 0, next: 1, dropped: 0 }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes a new exchange in and gives it its id.
    pub(super) fn add(&mut self, mut exchange: Exchange) -> ExchangeId {
        let id = ExchangeId(self.next);
        self.next += 1;
        exchange.id = id;
        self.bytes += weight(&exchange);
        self.kept.push_back(Arc::new(exchange));
        self.make_room();
        id
    }

    /// Changes an exchange that is still kept.
    pub(super) fn change(&mut self, id: ExchangeId, change: impl FnOnce(&mut Exchange, Limits)) {
        let Ok(place) = self.kept.binary_search_by_key(&id, |exchange| exchange.id) else { return };
        let Some(exchange) = self.kept.get_mut(place) else { return };
        let exchange = Arc::make_mut(exchange);
        let before = weight(exchange);
        change(exchange, self.limits);
        self.bytes = (self.bytes + weight(exchange)).saturating_sub(before);
        self.make_room();
    }

    pub(super) fn snapshot(&self) -> Exchanges {
        Exchanges { kept: self.kept.iter().map(Arc::clone).collect(), dropped: self.dropped }
    }

    /// Lets go of the oldest that have ended; of open ones only where there is nothing else. The
    /// newest stays in any case.
    fn make_room(&mut self) {
        while self.kept.len() > 1
            && (self.kept.len() > self.limits.exchanges || self.bytes > self.limits.bytes)
        {
            let older = self.kept.iter().take(self.kept.len() - 1);
            let ended = older.enumerate().find(|(_, one)| one.ending != Ending::Open);
            let place = ended.map_or(0, |(place, _)| place);
            if let Some(gone) = self.kept.remove(place) {
                self.bytes = self.bytes.saturating_sub(weight(&gone));
                self.dropped += 1;
            }
        }
    }
}

fn weight(exchange: &Exchange) -> usize {
    let texts =
        |headers: &[Header]| headers.iter().map(|header| HEADER + header.name.len()).sum::<usize>();
    let head = exchange.head.as_ref().map_or(0, |head| texts(&head.headers));
    let arrivals = exchange.received.arrivals.capacity() * 24;
    let bodies = exchange.sent.bytes.capacity() + exchange.received.bytes.capacity();
    FRAME + exchange.url.len() + texts(&exchange.headers) + head + arrivals + bodies
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::exchange;
    use super::*;

    fn ring(exchanges: usize, bytes: usize) -> Ring {
        Ring::new(Limits { exchanges, bytes, body: 1_000 })
    }

    fn ids(ring: &Ring) -> Vec<u64> {
        ring.snapshot().kept.iter().map(|exchange| exchange.id.0).collect()
    }

    #[test]
    fn the_oldest_go_first_and_are_counted() {
        let mut ring = ring(2, 1_000_000);
        for _ in 0..5 {
            ring.add(exchange());
        }
        assert_eq!(ids(&ring), [4, 5]);
        assert_eq!(ring.snapshot().dropped, 3);
    }

    #[test]
    fn a_stream_that_is_open_stays_while_others_go() {
        let mut ring = ring(2, 1_000_000);
        let mut open = exchange();
        open.ending = Ending::Open;
        ring.add(open);
        ring.add(exchange());
        ring.add(exchange());
        assert_eq!(ids(&ring), [1, 3]);
    }

    #[test]
    fn bytes_are_bounded_also_by_what_grows_later() {
        let mut ring = ring(100, 20_000);
        let first = ring.add(exchange());
        let second = ring.add(exchange());
        ring.change(second, |exchange, _| exchange.received.bytes = vec![0; 40_000]);
        assert_eq!(ids(&ring), [second.0]);
        // What is gone is not brought back by what still comes.
        ring.change(first, |exchange, _| exchange.received.bytes.push(1));
        assert_eq!(ids(&ring), [second.0]);
        ring.add(exchange());
        assert_eq!(ids(&ring), [3]);
        assert_eq!(ring.bytes, weight(&ring.snapshot().kept[0]));
    }

    #[test]
    fn a_snapshot_does_not_change_afterwards() {
        let mut ring = ring(10, 1_000_000);
        let id = ring.add(exchange());
        let before = ring.snapshot();
        ring.change(id, |exchange, _| exchange.received.total = 77);
        assert_ne!(before.kept[0].received.total, 77);
        assert_eq!(ring.snapshot().kept[0].received.total, 77);
    }
}
