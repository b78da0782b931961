//! What a client records through: one tap a server or model, one track an exchange.

use std::sync::Arc;
use std::time::Instant;

use url::Url;

use super::guard::Guard;
use super::recorder::Recorder;
use super::ring::Limits;
use crate::domain::exchange::{About, Ending, Exchange, ExchangeId, Head, Kept, Side};
use crate::redact;

/// Pieces of one body whose arrival is remembered; further ones count to the last.
const ARRIVALS: usize = 4_096;
/// The header whose value is a secret that no config knows.
const SESSION: &str = "mcp-session-id";

/// Records the exchanges with one server or model.
#[derive(Debug, Clone)]
pub struct Tap {
    recorder: Arc<Recorder>,
    side: Side,
    guard: Arc<Guard>,
}

/// A request as it is about to be sent.
#[derive(Debug)]
pub struct Request<'a, H> {
    /// The HTTP method.
    pub verb: &'static str,
    /// Where it goes.
    pub url: &'a Url,
    /// Names and values of its headers.
    pub headers: H,
    /// Its body.
    pub body: &'a [u8],
    /// What it is for.
    pub about: About,
}

impl Tap {
    /// Records into `recorder` what goes to and comes from `side`, without what `guard` knows.
    pub fn new(recorder: Arc<Recorder>, side: Side, guard: Guard) -> Self {
        Self { recorder, side, guard: Arc::new(guard) }
    }

    /// A request is being sent.
    pub fn begin<'a>(
        &self,
        request: Request<'_, impl IntoIterator<Item = (&'a str, &'a [u8])>>,
    ) -> Track {
        let clock = self.recorder.clock();
        let limits = self.recorder.limits();
        let mut session = Vec::new();
        let headers = request
            .headers
            .into_iter()
            .map(|(name, value)| {
                if name.eq_ignore_ascii_case(SESSION) {
                    session = value.to_vec();
                }
                self.guard.keep_header(name, value)
            })
            .collect();
        let mut sent = Kept::default();
        self.guard.append(&mut sent, request.body, limits.body, &session);
        Guard::finish(&mut sent, limits.body);
        let id = self.recorder.add(Exchange {
            id: ExchangeId(0),
            at: (clock.wall)(),
            side: self.side.clone(),
            about: request.about,
            verb: request.verb,
            url: redact::url(request.url),
            query: Guard::keep_query(request.url),
            headers,
            sent,
            head: None,
            received: Kept::default(),
            took: std::time::Duration::ZERO,
            ending: Ending::Open,
        });
        let begun = (clock.now)();
        Track {
            recorder: Arc::clone(&self.recorder),
            guard: Arc::clone(&self.guard),
            session,
            id,
            begun,
            open: true,
        }
    }
}

/// One exchange that is under way. Dropped before its end it says that this side left it.
#[derive(Debug)]
pub struct Track {
    recorder: Arc<Recorder>,
    guard: Arc<Guard>,
    /// The MCP session the request names; empty if none.
    session: Vec<u8>,
    id: ExchangeId,
    begun: Instant,
    open: bool,
}

impl Track {
    /// The head of the response is there.
    pub fn head<'a>(
        &self,
        status: u16,
        version: &'static str,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) {
        let headers =
            headers.into_iter().map(|(name, value)| self.guard.keep_header(name, value)).collect();
        self.change(|exchange, _| {
            exchange.head = Some(Head { status, version, headers, after: exchange.took });
        });
    }

    /// A piece of the response's body came.
    pub fn piece(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.change(|exchange, limits| {
            let (body, took) = (&mut exchange.received, exchange.took);
            self.guard.append(body, bytes, limits.body, &self.session);
            let end = body.bytes.len();
            let full = body.arrivals.len() >= ARRIVALS;
            match body.arrivals.last_mut() {
                // Nothing of it was kept, or nothing more is told apart.
                Some(last) if last.0 == end || full => last.0 = end,
                _ => body.arrivals.push((end, took)),
            }
        });
    }

    /// It ended.
    pub fn end(mut self, ending: Ending) {
        self.close(ending);
    }

    fn close(&mut self, ending: Ending) {
        if !std::mem::replace(&mut self.open, false) {
            return;
        }
        let ending = match ending {
            Ending::Failed(why) => Ending::Failed(self.guard.text(&why)),
            other => other,
        };
        self.change(|exchange, limits| {
            Guard::finish(&mut exchange.received, limits.body);
            exchange.received.arrivals.shrink_to_fit();
            exchange.ending = ending;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Exchange, Limits)) {
        let took = (self.recorder.clock().now)().saturating_duration_since(self.begun);
        self.recorder.change(self.id, |exchange, limits| {
            exchange.took = took;
            change(exchange, limits);
        });
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        self.close(Ending::Left);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::super::guard::Needles;
    use super::super::recorder::Clock;
    use super::*;

    thread_local! {
        static NOW: std::cell::Cell<(Instant, u64)> = std::cell::Cell::new((Instant::now(), 0));
    }

    fn now() -> Instant {
        let (zero, ms) = NOW.get();
        zero + Duration::from_millis(ms)
    }

    fn wait(ms: u64) {
        let (zero, before) = NOW.get();
        NOW.set((zero, before + ms));
    }

    fn recorder(limits: Limits) -> Arc<Recorder> {
        Arc::new(Recorder::new(limits, Clock { now, wall: || SystemTime::UNIX_EPOCH }))
    }

    fn tap(recorder: &Arc<Recorder>) -> Tap {
        let token = "tok-EXAMPLE".to_owned().into();
        let guard =
            Guard::new(Needles::new([token], [])).header("Authorization", "Bearer ", "TOKEN");
        Tap::new(Arc::clone(recorder), Side::Server("docs".into()), guard)
    }

    fn begin(tap: &Tap, body: &[u8]) -> Track {
        tap.begin(Request {
            verb: "POST",
            url: &Url::parse("https://docs.test/mcp").unwrap(),
            headers: [
                ("authorization", b"Bearer tok-EXAMPLE".as_slice()),
                ("mcp-session-id", b"session-1"),
            ],
            body,
            about: About::method("tools/list"),
        })
    }

    fn only(recorder: &Recorder) -> Exchange {
        let [one] = recorder.snapshot().kept.try_into().unwrap();
        Exchange::clone(&one)
    }

    #[test]
    fn an_exchange_can_be_seen_while_it_is_under_way() {
        let recorder = recorder(Limits::VIEW);
        let track = begin(&tap(&recorder), b"{}");
        assert_eq!(only(&recorder).ending, Ending::Open);
        wait(20);
        track.head(200, "HTTP/1.1", [("Content-Type", b"text/event-stream; x=1".as_slice())]);
        wait(5);
        track.piece(b"data: 1\n\n");
        wait(7);
        track.piece(b"data: 2\n\n");
        let seen = only(&recorder);
        assert!(seen.is_stream());
        assert_eq!(seen.head.unwrap().after, Duration::from_millis(20));
        let ms = Duration::from_millis;
        assert_eq!(seen.received.arrivals, [(9, ms(25)), (18, ms(32))]);
        assert_eq!(seen.took, ms(32));
        track.end(Ending::Complete);
        assert_eq!(only(&recorder).ending, Ending::Complete);
    }

    #[test]
    fn what_is_dropped_was_left() {
        let recorder = recorder(Limits::VIEW);
        drop(begin(&tap(&recorder), b""));
        assert_eq!(only(&recorder).ending, Ending::Left);
    }

    #[test]
    fn secrets_and_the_session_are_nowhere_in_the_record() {
        let recorder = recorder(Limits::VIEW);
        let track = begin(&tap(&recorder), b"{\"echo\":\"tok-EXAMPLE\"}");
        track.head(
            400,
            "HTTP/1.1",
            [("Mcp-Session-Id", b"session-2".as_slice()), ("X", b"tok-EXAMPLE")],
        );
        track.piece(b"no session session-");
        track.piece(b"1 for tok-EXAMPLE");
        track.end(Ending::Failed("tok-EXAMPLE is wrong".to_owned()));
        let told = format!("{:?}", only(&recorder))
            + &String::from_utf8_lossy(&only(&recorder).received.bytes);
        for secret in ["tok-EXAMPLE", "session-1", "session-2"] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
        assert_eq!(only(&recorder).received.bytes, b"no session [redacted] for [redacted]");
    }

    #[test]
    fn many_small_pieces_do_not_take_room_without_end() {
        let recorder = recorder(Limits::VIEW);
        let track = begin(&tap(&recorder), b"");
        for _ in 0..ARRIVALS + 1_000 {
            track.piece(b"x");
        }
        let body = only(&recorder).received;
        assert_eq!(body.arrivals.len(), ARRIVALS);
        assert_eq!(body.arrivals.last().unwrap().0, ARRIVALS + 1_000);
    }

    #[test]
    fn who_watches_is_told_of_changes_until_it_does_no_more() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let recorder = recorder(Limits::VIEW);
        let told = Arc::new(AtomicU32::new(0));
        let counting = Arc::clone(&told);
        recorder.watch(Some(Box::new(move || {
            counting.fetch_add(1, Ordering::Relaxed);
        })));
        let track = begin(&tap(&recorder), b"");
        track.piece(b"x");
        recorder.watch(None);
        drop(track);
        assert_eq!(told.load(Ordering::Relaxed), 2);
    }
}
