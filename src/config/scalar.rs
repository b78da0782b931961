//! Single values: durations, rates, numbers, switches, permission words.

use std::time::Duration;

use super::context::{Problem, describe};
use super::nearest::distance;
use super::node::{Node, Value};
use crate::domain::Mode;
use crate::permission::Rate;

const DURATION: &str = "a number and a unit, such as `500ms`, `10s`, `2m` or `1h`";
/// Letters that may be wrong in a word that still means *deny*.
const NEAR_DENY: usize = 2;
/// Longest time that a setting may name: a week.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// `10s`, `2m`, `500ms`, `1h`; a blank before the unit is accepted, a bare number is not.
pub(super) fn duration(node: &Node, field: &str) -> Result<Duration, Problem> {
    if let Value::Int(number) = node.value {
        let meant = if number >= 1000 { format!("{number}ms") } else { format!("{number}s") };
        return Err(Problem::new(
            node.at,
            field,
            format!("found the bare number `{number}`, but a duration needs a unit"),
            format!("`{meant}` was probably meant. Allowed: {DURATION}."),
        ));
    }
    let Value::Text(text) = &node.value else {
        return Err(Problem::found(node.at, field, node, DURATION));
    };
    match parse_duration(text) {
        Some(time) if time.is_zero() => Err(Problem::found(
            node.at,
            field,
            node,
            "a duration longer than nothing, such as `10s`",
        )),
        Some(time) if time > MAX_DURATION => {
            Err(Problem::found(node.at, field, node, "at most `168h` (a week)"))
        }
        Some(time) => Ok(time),
        None => Err(Problem::found(node.at, field, node, DURATION)),
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let number: u64 = number.parse().ok()?;
    let seconds = |each: u64| number.checked_mul(each).map(Duration::from_secs);
    match unit.trim_start() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(60 * 60),
        _ => None,
    }
}

/// A duration in the largest unit that shows it exactly, as the file would write it.
pub fn show_duration(time: Duration) -> String {
    const UNITS: [(u128, u128, &str); 3] = [(3_600_000, 1, "h"), (60_000, 2, "m"), (1000, 1, "s")];
    let millis = time.as_millis();
    // One minute is shown as `60s`, as people write it.
    let fits = |(unit, least, _): &&(u128, u128, &str)| {
        millis.is_multiple_of(*unit) && millis / unit >= *least
    };
    UNITS
        .iter()
        .find(fits)
        .map_or_else(|| format!("{millis}ms"), |(unit, _, word)| format!("{}{word}", millis / unit))
}

/// `5/min`: how many calls in how long.
pub(super) fn rate(node: &Node, field: &str) -> Result<Rate, Problem> {
    let allowed = "a number and a time, such as `5/min`, `1/s`, `20/h` or `100/day`";
    let bad = || Problem::found(node.at, field, node, allowed);
    let Value::Text(text) = &node.value else { return Err(bad()) };
    let (calls, per) = text.split_once('/').ok_or_else(bad)?;
    let calls: u32 = calls.trim().parse().ok().filter(|calls| *calls > 0).ok_or_else(bad)?;
    let seconds = match per.trim() {
        "s" | "sec" | "second" => 1,
        "m" | "min" | "minute" => 60,
        "h" | "hour" => 60 * 60,
        "d" | "day" => 24 * 60 * 60,
        _ => return Err(bad()),
    };
    Ok(Rate { calls, per: Duration::from_secs(seconds) })
}

/// A rate as the file would write it.
pub fn show_rate(rate: Rate) -> String {
    let per = match rate.per.as_secs() {
        1 => "s".to_owned(),
        60 => "min".to_owned(),
        3600 => "h".to_owned(),
        86_400 => "day".to_owned(),
        other => format!("{other}s"),
    };
    format!("{}/{per}", rate.calls)
}

/// `true` or `false`, nothing else.
pub(super) fn switch(node: &Node, field: &str) -> Result<bool, Problem> {
    match node.value {
        Value::Bool(value) => Ok(value),
        _ => Err(Problem::found(node.at, field, node, "`true` or `false`, without quotes")),
    }
}

/// A whole number between two bounds.
pub(super) fn whole(node: &Node, field: &str, least: u64, most: u64) -> Result<u64, Problem> {
    let allowed = format!("a whole number from {least} to {most}");
    match node.value {
        Value::Int(number) => u64::try_from(number)
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| Problem::found(node.at, field, node, &allowed)),
        _ => Err(Problem::found(node.at, field, node, &allowed)),
    }
}

/// A finite number between two bounds.
pub(super) fn number(node: &Node, field: &str, least: f64, most: f64) -> Result<f64, Problem> {
    let value = match node.value {
        Value::Float(value) => Some(value),
        Value::Int(value) => i32::try_from(value).ok().map(f64::from),
        _ => None,
    };
    value.filter(|value| value.is_finite() && (least..=most).contains(value)).ok_or_else(|| {
        Problem::found(node.at, field, node, &format!("a number from {least} to {most}"))
    })
}

/// A text that is not empty and holds no control character.
pub(super) fn text<'n>(node: &'n Node, field: &str, allowed: &str) -> Result<&'n str, Problem> {
    match &node.value {
        Value::Text(text) if !text.trim().is_empty() && !text.chars().any(char::is_control) => {
            Ok(text.trim())
        }
        _ => Err(Problem::found(node.at, field, node, allowed)),
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(node: &Node, field: &str, words: &[(&str, T)]) -> Result<T, Problem> {
    let found = match &node.value {
        Value::Text(text) => words.iter().find(|(word, _)| word == text),
        _ => None,
    };
    found.map(|(_, value)| *value).ok_or_else(|| {
        let allowed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        Problem::found(node.at, field, node, &allowed.join(", "))
    })
}

/// A permission word; anything else counts as [`meant_mode`], and the problem says so.
pub(super) fn mode(node: &Node, field: &str) -> Result<Mode, Problem> {
    let words = [("ask", Mode::Ask), ("auto", Mode::Auto), ("deny", Mode::Deny)];
    choice(node, field, &words).map_err(|problem| {
        Problem::new(
            node.at,
            field,
            format!(
                "found {}, which is no permission and counts as `{}`",
                describe(node),
                meant_mode(node).word()
            ),
            problem.advice,
        )
    })
}

/// The mode that a permission word says, or counts as.
pub(super) fn mode_or_meant(node: &Node) -> Mode {
    mode(node, "").unwrap_or_else(|_unknown| meant_mode(node))
}

/// What a permission word that is not known counts as: *ask*, unless *deny* was probably meant.
pub(super) fn meant_mode(node: &Node) -> Mode {
    match &node.value {
        Value::Text(text) if distance(text, Mode::Deny.word()) <= NEAR_DENY => Mode::Deny,
        _ => Mode::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::parse;
    use super::*;

    fn node(text: &str) -> Node {
        parse(text).unwrap()
    }

    #[test]
    fn durations_carry_a_unit() {
        for (text, millis) in [
            ("10s", 10_000),
            ("\"10 s\"", 10_000),
            ("2m", 120_000),
            ("500ms", 500),
            ("1h", 3_600_000),
        ] {
            let time = duration(&node(text), "x").unwrap();
            assert_eq!(time, Duration::from_millis(millis), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_what_was_probably_meant() {
        let problem = duration(&node("60"), "mcp.callTimeout").unwrap_err();
        assert!(problem.advice.contains("`60s`"), "{problem:?}");
        let problem = duration(&node("60000"), "mcp.callTimeout").unwrap_err();
        assert!(problem.advice.contains("`60000ms`"), "{problem:?}");
    }

    #[test]
    fn broken_durations_are_refused_and_none_overflows() {
        for text in [
            "0s",
            "-5s",
            "10",
            "10x",
            "s",
            "1.5s",
            "99999999999999999999s",
            "18446744073709551615h",
            "200h",
            "1e3s",
            "[10s]",
            "\"60\"",
            "10S",
            "10 sec",
            "~",
            ".inf",
        ] {
            assert!(duration(&node(text), "x").is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_shown_as_they_are_written() {
        for text in ["60s", "10s", "15m", "500ms", "1h", "90s", "2m"] {
            let time = duration(&node(text), "x").unwrap();
            assert_eq!(show_duration(time), text);
        }
    }

    #[test]
    fn numbers_have_bounds() {
        assert!(whole(&node("0"), "x", 1, 9).is_err());
        assert!(whole(&node("-1"), "x", 0, 9).is_err());
        assert!(whole(&node("99999999999999999999999999999999"), "x", 0, u64::MAX).is_err());
        assert_eq!(whole(&node("9"), "x", 1, 9).ok(), Some(9));
        for text in [".nan", ".inf", "-.inf", "-0.1", "2.5", "hot", "99999999999"] {
            assert!(number(&node(text), "x", 0.0, 2.0).is_err(), "{text}");
        }
        assert_eq!(number(&node("1"), "x", 0.0, 2.0).ok(), Some(1.0));
    }

    #[test]
    fn only_the_exact_words_are_permissions() {
        assert_eq!(mode(&node("auto"), "x").ok(), Some(Mode::Auto));
        for text in ["AUTO", "Auto", "aks", "[ask]", "\"auto \"", "true", "~", "{auto: 1}"] {
            let problem = mode(&node(text), "x").unwrap_err();
            assert!(problem.advice.contains("`ask`, `auto`, `deny`"), "{problem:?}");
        }
    }

    #[test]
    fn rates_name_calls_and_time() {
        let minute = Rate { calls: 5, per: Duration::from_secs(60) };
        assert_eq!(rate(&node("5/min"), "x").ok(), Some(minute));
        assert_eq!(show_rate(minute), "5/min");
        for text in ["5", "0/min", "-1/min", "5/fortnight", "/min", "99999999999/min"] {
            assert!(rate(&node(text), "x").is_err(), "{text}");
        }
    }
}
