//! Numbers as people read them.

use std::time::Duration;

/// A size in bytes: `0 B`, `999 B`, `1.2 kB`, `15 MB`. Powers of ten.
pub fn bytes(size: u64) -> String {
    scaled(size, &[" B", " kB", " MB", " GB", " TB", " PB", " EB"])
}

/// A count: `999`, `12.3k`, `4M`.
pub fn count(count: u64) -> String {
    scaled(count, &["", "k", "M", "G", "T", "P", "E"])
}

/// A span of time: `0 ms`, `340 ms`, `1.2 s`, `48 s`, `2 min 5 s`, `3 h 4 min`.
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.subsec_millis()),
        1..10 => format!("{}.{} s", seconds, span.subsec_millis() / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => pair(seconds / 60, "min", seconds % 60, "s"),
        3600..86400 => pair(seconds / 3600, "h", seconds / 60 % 60, "min"),
        _ => pair(seconds / 86400, "d", seconds / 3600 % 24, "h"),
    }
}

fn pair(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

/// One decimal below a hundred, none where it would be a zero; rounded down, so that nothing looks
/// larger than it is.
fn scaled(number: u64, units: &[&str]) -> String {
    let mut scale = 1;
    let mut rest = units;
    while let [_, further @ ..] = rest
        && !further.is_empty()
        && number / scale >= 1000
    {
        scale *= 1000;
        rest = further;
    }
    let unit = rest.first().copied().unwrap_or_default();
    let whole = number / scale;
    let tenth = number % scale * 10 / scale;
    if scale == 1 || whole >= 100 || tenth == 0 {
        format!("{whole}{unit}")
    } else {
        format!("{whole}.{tenth}{unit}")
    }
}
