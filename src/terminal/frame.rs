//! How often may a frame be drawn? Pure: time comes in.

use std::time::{Duration, Instant};

/// Shortest time between two frames: 60 a second and a little more.
pub const MIN_FRAME: Duration = Duration::from_millis(16);

/// Knows when the last frame was drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameClock {
    last: Option<Instant>,
}

impl FrameClock {
    /// A frame was drawn.
    pub fn drew(&mut self, now: Instant) {
        self.last = Some(now);
    }

    /// The earliest time for the next frame; `now` when it may be drawn at once.
    pub fn next(&self, now: Instant) -> Instant {
        self.last.map_or(now, |last| now.max(last + MIN_FRAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_is_drawn_at_once() {
        let now = Instant::now();
        assert_eq!(FrameClock::default().next(now), now);
    }

    #[test]
    fn two_frames_are_never_closer_than_the_shortest_time() {
        let start = Instant::now();
        let mut clock = FrameClock::default();
        clock.drew(start);
        let soon = start + Duration::from_millis(3);
        assert_eq!(clock.next(soon), start + MIN_FRAME);
        let late = start + Duration::from_secs(1);
        assert_eq!(clock.next(late), late);
    }

    #[test]
    fn a_thousand_changes_in_a_second_are_at_most_63_frames() {
        let start = Instant::now();
        let mut clock = FrameClock::default();
        let drawn = (0..1_000).map(|ms| start + Duration::from_millis(ms)).filter(|now| {
            let due = clock.next(*now) <= *now;
            if due {
                clock.drew(*now);
            }
            due
        });
        assert_eq!(drawn.count(), 63);
    }
}
