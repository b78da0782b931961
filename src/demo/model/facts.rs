//! Reading the tracker's answers: members, moments, and what the console says went wrong.

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An object of an answer.
pub(super) type Members = Map<String, Value>;

/// A text member, empty where there is none.
pub(super) fn text<'a>(from: &'a Members, name: &str) -> &'a str {
    from.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A number member.
pub(super) fn number(from: &Members, name: &str) -> Option<u64> {
    from.get(name).and_then(Value::as_u64)
}

/// The objects of a list member.
pub(super) fn list<'a>(from: &'a Members, name: &str) -> impl Iterator<Item = &'a Members> {
    from.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// Where the next page begins, if there is one.
pub(super) fn next_page(page: &Members) -> Option<u64> {
    let more = page.get("hasMore").and_then(Value::as_bool) == Some(true);
    number(page, "nextOffset").filter(|_| more)
}

/// The time of day of an entry.
pub(super) fn clock(entry: &Members) -> &str {
    let at = text(entry, "at");
    at.split_once('T').map_or(at, |(_, clock)| clock.trim_end_matches('Z'))
}

/// Seconds from one entry to a later one.
pub(super) fn seconds_between(earlier: &Members, later: &Members) -> Option<f64> {
    let moment = |entry: &Members| OffsetDateTime::parse(text(entry, "at"), &Rfc3339).ok();
    Some((moment(later)? - moment(earlier)?).as_seconds_f64())
}

/// The console of one report, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Console<'a> {
    /// The entries, oldest first.
    pub(super) entries: Vec<&'a Members>,
    /// How many there are altogether.
    pub(super) total: u64,
    /// How many entries had been read before each page.
    pub(super) starts: Vec<usize>,
    /// Where the next page begins.
    pub(super) next: Option<u64>,
}

impl<'a> Console<'a> {
    /// Puts pages together.
    pub(super) fn of(pages: impl Iterator<Item = &'a Members>) -> Self {
        let mut console = Self::default();
        for page in pages {
            console.starts.push(console.entries.len());
            console.total = number(page, "total").unwrap_or_default();
            console.next = next_page(page);
            console.entries.extend(list(page, "entries"));
        }
        console
    }

    /// How many entries are marked as errors.
    pub(super) fn errors(&self) -> usize {
        self.entries.iter().filter(|entry| text(entry, "level") == "error").count()
    }

    /// The first error, one with a stack before others: its place and the entry.
    pub(super) fn first_error(&self) -> Option<(usize, &'a Members)> {
        let mut errors =
            self.entries.iter().enumerate().filter(|(_, entry)| text(entry, "level") == "error");
        let first = errors.next()?;
        let with_stack =
            std::iter::once(first).chain(errors).find(|(_, entry)| entry.contains_key("stack"));
        let (at, entry) = with_stack.unwrap_or(first);
        Some((at, entry))
    }

    /// The page on which an entry stands, from 1.
    pub(super) fn page_of(&self, at: usize) -> usize {
        self.starts.iter().filter(|start| **start <= at).count()
    }

    /// The first later warning or error that shares two words with the task's title: what the
    /// title was probably made from.
    pub(super) fn echo(&self, after: usize, title: &str) -> Option<&'a Members> {
        let wanted = stems(title);
        self.entries.iter().skip(after + 1).copied().find(|entry| {
            matches!(text(entry, "level"), "warn" | "error")
                && stems(text(entry, "text")).iter().filter(|stem| wanted.contains(stem)).count()
                    >= 2
        })
    }
}

/// The beginnings of the longer words of a text: `time-outs` and `timed` have the same.
fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut stems: Vec<String> = words
        .map(|word| word.to_lowercase().chars().take(4).collect::<String>())
        .filter(|stem| stem.chars().count() == 4)
        .collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// The first frame of a stack, without the `at`.
pub(super) fn first_frame(stack: &str) -> Option<&str> {
    stack.lines().map(str::trim).find_map(|line| line.strip_prefix("at "))
}
