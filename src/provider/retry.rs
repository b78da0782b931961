//! When a failed request is sent again. Pure: the attempt, what the endpoint asks for and a chance
//! go in, a delay or the reason to give up comes out.

use std::time::Duration;

/// Most repetitions of one request.
pub(super) const RETRIES: u32 = 4;
/// The longest wait that an endpoint may ask for.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_secs(8);
/// Spread over those who were told the same time.
const HINT_SPREAD: Duration = Duration::from_millis(250);

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Wait, then send it again.
    Wait(Duration),
    /// All repetitions are used up.
    UsedUp,
    /// The endpoint asks for a longer wait than is sensible.
    TooLong(Duration),
}

/// Decides after the failure of `attempt` (from 1), of which `retries` may be repeated. `hint` is
/// what the endpoint asks for, `chance` a random value from 0 to 1.
pub(super) fn decide(attempt: u32, retries: u32, hint: Option<Duration>, chance: f64) -> Decision {
    if attempt > retries.min(RETRIES) {
        return Decision::UsedUp;
    }
    let chance = if chance.is_finite() { chance.clamp(0.0, 1.0) } else { 0.0 };
    let own = backoff(attempt).mul_f64(0.75 + chance / 2.0);
    match hint {
        Some(hint) if hint > LONGEST_WAIT => Decision::TooLong(hint),
        Some(hint) => Decision::Wait(own.max(hint + HINT_SPREAD.mul_f64(chance))),
        None => Decision::Wait(own),
    }
}

fn backoff(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    FIRST_DELAY.saturating_mul(1 << doublings).min(LONGEST_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(attempt: u32, hint: Option<u64>, chance: f64) -> Decision {
        decide(attempt, RETRIES, hint.map(Duration::from_secs), chance)
    }

    #[test]
    fn four_repetitions_and_no_more() {
        assert!((1..=4).all(|attempt| matches!(wait(attempt, None, 0.5), Decision::Wait(_))));
        assert_eq!(wait(5, None, 0.5), Decision::UsedUp);
        assert_eq!(decide(1, 0, None, 0.5), Decision::UsedUp);
        assert_eq!(decide(5, 9, None, 0.5), Decision::UsedUp);
    }

    #[test]
    fn waits_double_and_chance_spreads_them() {
        let middle: Vec<_> = (1..=4).map(|attempt| wait(attempt, None, 0.5)).collect();
        let expected = [500, 1000, 2000, 4000].map(|ms| Decision::Wait(Duration::from_millis(ms)));
        assert_eq!(middle, expected);
        assert_eq!(wait(1, None, 0.0), Decision::Wait(Duration::from_millis(375)));
        assert_eq!(wait(1, None, 1.0), Decision::Wait(Duration::from_millis(625)));
        assert_eq!(wait(1, None, f64::NAN), Decision::Wait(Duration::from_millis(375)));
    }

    #[test]
    fn the_endpoints_wish_is_never_undercut() {
        assert_eq!(wait(1, Some(3), 0.0), Decision::Wait(Duration::from_secs(3)));
        assert_eq!(wait(3, Some(0), 0.0), Decision::Wait(Duration::from_millis(1500)));
        assert_eq!(wait(1, Some(60), 0.0), Decision::Wait(LONGEST_WAIT));
    }

    #[test]
    fn a_wish_beyond_the_longest_wait_ends_it() {
        assert_eq!(wait(1, Some(3600), 0.0), Decision::TooLong(Duration::from_secs(3600)));
    }
}
