//! From when on lines are wanted: a span before now, or a date. Pure.

use std::time::Duration;

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcDateTime};

/// Reads `90s`, `30m`, `2h`, `7d`, `2w`, `2026-11-30`, `2026-11-30T18:00` or RFC 3339. Without an
/// offset it is UTC, as the log is.
///
/// # Errors
/// It is none of these, in a sentence.
pub fn parse(text: &str, now: UtcDateTime) -> Result<UtcDateTime, String> {
    let text = text.trim();
    let span = span(text).and_then(|span| now.checked_sub(span.try_into().ok()?));
    span.or_else(|| date(text)).ok_or_else(|| {
        format!("“{text}” is no time: write a span such as 90s, 30m, 2h, 7d, or a date such as 2026-11-30 or 2026-11-30T18:00 (UTC).")
    })
}

fn span(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

fn date(text: &str) -> Option<UtcDateTime> {
    if let Ok(whole) = OffsetDateTime::parse(text, &Rfc3339) {
        return Some(whole.into());
    }
    let seconds = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
    let minutes = format_description!("[year]-[month]-[day]T[hour]:[minute]");
    let time = PrimitiveDateTime::parse(text, seconds)
        .or_else(|_| PrimitiveDateTime::parse(text, minutes));
    if let Ok(time) = time {
        return Some(time.as_utc());
    }
    let day = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
    Some(day.midnight().as_utc())
}

/// Whether a line's time is that or later. A time that cannot be read counts as later: nothing is
/// left out by mistake.
pub fn includes(since: Option<UtcDateTime>, when: &str) -> bool {
    let Some(since) = since else { return true };
    OffsetDateTime::parse(when, &Rfc3339).map_or(true, |when| UtcDateTime::from(when) >= since)
}

#[cfg(test)]
mod tests {
    use time::macros::utc_datetime;

    use super::*;

    #[test]
    fn spans_and_dates_are_read() {
        let now = utc_datetime!(2026-11-30 18:00);
        for (text, expected) in [
            ("2h", utc_datetime!(2026-11-30 16:00)),
            ("90s", utc_datetime!(2026-11-30 17:58:30)),
            ("7d", utc_datetime!(2026-11-23 18:00)),
            ("2026-11-30", utc_datetime!(2026-11-30 0:00)),
            ("2026-11-30T18:05", utc_datetime!(2026-11-30 18:05)),
            ("2026-11-30T18:05:07+02:00", utc_datetime!(2026-11-30 16:05:07)),
        ] {
            assert_eq!(parse(text, now).unwrap(), expected, "{text}");
        }
        for wrong in ["", "2", "h", "yesterday", "2x", "99999999999999999999d", "2026-13-01"] {
            assert!(parse(wrong, now).is_err(), "{wrong}");
        }
        assert!(parse("9999999999999d", now).is_err());
    }

    #[test]
    fn a_line_without_a_readable_time_is_kept() {
        let since = Some(utc_datetime!(2026-11-30 18:00));
        assert!(includes(since, "2026-11-30T18:00:00.5Z"));
        assert!(!includes(since, "2026-11-30T17:59:59Z"));
        assert!(includes(since, "?") && includes(None, "?"));
    }
}
