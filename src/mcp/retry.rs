//! How long to wait before trying again. Pure: chance comes in as a value.

use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// The wait before attempt `attempt` (from 1): doubling from one second to five minutes, spread by
/// `chance` (0 to 1) over ±25 %, and never shorter than what the server asks for.
pub fn backoff(attempt: u32, hint: Option<Duration>, chance: f64) -> Duration {
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
    let spread = doubled.min(LONGEST).mul_f64(0.75 + chance.clamp(0.0, 1.0) / 2.0);
    spread.max(hint.unwrap_or_default().min(LONGEST))
}

/// Reads a `Retry-After` value: seconds or an HTTP date.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = OffsetDateTime::parse(value, &Rfc2822).ok()?;
    let wait = date - OffsetDateTime::from(now);
    Some(wait.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_stays_bounded() {
        assert_eq!(backoff(1, None, 0.5), Duration::from_secs(1));
        assert_eq!(backoff(4, None, 0.5), Duration::from_secs(8));
        assert_eq!(backoff(u32::MAX, None, 0.5), LONGEST);
        assert!(backoff(3, None, 0.0) < backoff(3, None, 1.0));
    }

    #[test]
    fn a_server_may_ask_for_a_longer_wait_but_not_for_ever() {
        assert_eq!(backoff(1, Some(Duration::from_secs(30)), 0.5), Duration::from_secs(30));
        assert_eq!(backoff(1, Some(Duration::from_secs(1 << 30)), 0.5), LONGEST);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH;
        assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
        let date = "Thu, 01 Jan 1970 00:01:00 GMT";
        assert_eq!(retry_after(date, now), Some(Duration::from_mins(1)));
        let later = now + Duration::from_hours(1);
        assert_eq!(retry_after(date, later), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
