//! The chain of hashes through the lines, and what of it no longer holds. Pure: bytes in.
//!
//! A line of the chain ends in `,"seq":N,"prev":"…","hash":"…"}`. `hash` is the SHA-256 of all
//! bytes of the line before `,"hash"`; `prev` is the `hash` of the line before. The first line's
//! `prev` is the SHA-256 of everything that stands before it: nothing, or lines from before the
//! chain. A line that was torn when the program was killed is declared by the line after it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The hash of some bytes, as the chain writes it.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Lines so far.
    pub count: u64,
    /// Hash of the last one.
    pub hash: String,
}

impl Link {
    /// Before the first line, where `prefix` is all there is.
    pub(super) fn before(prefix: &[u8]) -> Self {
        Self { count: 0, hash: digest(prefix) }
    }
}

/// What `audit.head` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The last line that is known to be written.
    #[serde(flatten)]
    pub last: Link,
    /// Size of the log then, in bytes.
    pub bytes: u64,
    /// What is just being written: a program that is killed meanwhile leaves this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub writing: Option<Link>,
}

impl Head {
    /// Whether the log may end here: with the last line, or with what came of those that were being
    /// written when the program was killed or the disk was full.
    pub(super) fn allows(&self, end: &Link) -> bool {
        let within = |writing: &Link| {
            writing == end || (self.last.count..writing.count).contains(&end.count)
        };
        match &self.writing {
            Some(writing) if end.count > self.last.count => within(writing),
            _ => *end == self.last,
        }
    }
}

/// A line with its place in the chain, without a line break. `body` is a JSON object with members.
pub(super) fn sealed(body: &str, after: &mut Link) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    after.count += 1;
    let line = format!("{open},\"seq\":{},\"prev\":\"{}\"", after.count, after.hash);
    after.hash = digest(line.as_bytes());
    format!("{line},\"hash\":\"{}\"}}", after.hash)
}

/// A line about the log itself; `torn` are the bytes of the line before, where those are a torn one.
/// `broken` says what does not fit: whoever checks the log later is told as well.
pub(super) fn note(when: &str, text: &str, torn: Option<&[u8]>, broken: Option<Kind>) -> String {
    let mut body = serde_json::json!({ "v": super::VERSION, "when": when, "note": text });
    if let (Some(torn), Some(members)) = (torn, body.as_object_mut()) {
        members.insert("torn".to_owned(), digest(torn).into());
    }
    if let (Some(broken), Some(members)) = (broken, body.as_object_mut()) {
        let broken = serde_json::to_value(broken).unwrap_or_default();
        members.insert("broken".to_owned(), broken);
    }
    body.to_string()
}

/// What is wrong with a place of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A line does not have its own hash any more.
    Edited,
    /// Lines are missing between two others.
    Deleted,
    /// A line stands where it does not belong.
    Reordered,
    /// A line that the program did not write there.
    Inserted,
    /// Lines are missing at the end.
    Truncated,
    /// Lines are missing at the beginning: cut, or moved away as a whole.
    BeginningMissing,
    /// The lines from before the chain are not those that the chain began with.
    OldLinesChanged,
    /// The file that says how the log ends is missing or cannot be read.
    HeadMissing,
}

/// Something that no longer holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line of the file, from 1: where to look.
    pub line: u64,
    /// What.
    pub kind: Kind,
    /// The same in a sentence.
    pub message: String,
}

/// What a check of the log found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Lines of the chain.
    pub chained: u64,
    /// Lines from before the chain, at the beginning.
    pub unchained: u64,
    /// The hash of the last line: kept elsewhere, it proves the log later.
    pub hash: Option<String>,
    /// What no longer holds, from the top. Empty: the chain is whole.
    pub problems: Vec<Problem>,
    /// What the program itself noted, such as a torn line.
    pub remarks: Vec<String>,
}

/// A line as far as the chain is concerned.
#[derive(Debug, Deserialize)]
struct Place {
    seq: u64,
    prev: String,
    hash: String,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    torn: Option<String>,
    #[serde(default)]
    broken: Option<Kind>,
}

impl Place {
    /// `None` for what is no line of the chain.
    fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Whether the line is as it was written.
    fn is_whole(&self, line: &[u8]) -> bool {
        let end = format!(",\"hash\":\"{}\"}}", self.hash);
        line.strip_suffix(end.as_bytes()).is_some_and(|sealed| digest(sealed) == self.hash)
    }
}

/// Where a log ends, as far as its bytes say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End<'a> {
    /// The last line of the chain; `None` if there is no chain yet.
    pub(super) last: Option<Link>,
    /// What stands after the last line break.
    pub(super) torn: &'a [u8],
}

/// Looks for the end of a log.
pub(super) fn end(log: &[u8]) -> End<'_> {
    let after = log.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (whole, torn) = log.split_at(after);
    let last = whole.rsplit(|byte| *byte == b'\n').find_map(Place::read);
    End { last: last.map(|place| Link { count: place.seq, hash: place.hash }), torn }
}

/// Checks a whole log against itself and against its head.
pub fn verify(log: &[u8], head: Option<&Head>) -> Report {
    let mut check = Check::default();
    let mut start = 0;
    let mut number = 0;
    while let Some(rest) = log.get(start..).filter(|rest| !rest.is_empty()) {
        let (line, whole) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => (rest.get(..end).unwrap_or_default(), true),
            None => (rest, false),
        };
        number += 1;
        let place = if whole { Place::read(line) } else { None };
        match place {
            Some(place) => check.chained(number, line, place, log.get(..start).unwrap_or_default()),
            None => check.other(number, line, whole),
        }
        start += line.len() + 1;
    }
    check.finish(head)
}

/// A line that is no line of the chain and was not explained yet.
struct Stray {
    line: u64,
    digest: String,
    whole: bool,
}

#[derive(Default)]
struct Check {
    report: Report,
    /// Lines so far.
    lines: u64,
    /// Where each number of the chain stands.
    seen: HashMap<u64, u64>,
    /// The line before, if it is one of the chain and as it was written.
    before: Option<(u64, String)>,
    highest: u64,
    last: Option<Link>,
    /// Numbers that were passed over: where the gap is.
    gaps: BTreeMap<u64, (u64, u64)>,
    stray: Option<Stray>,
}

impl Check {
    fn problem(&mut self, line: u64, kind: Kind, message: String) {
        self.report.problems.push(Problem { line, kind, message });
    }

    fn other(&mut self, line: u64, bytes: &[u8], whole: bool) {
        self.lines = line;
        if self.report.chained == 0 {
            self.report.unchained += 1;
            return;
        }
        self.unexplained();
        self.stray = Some(Stray { line, digest: digest(bytes), whole });
    }

    /// A stray line that the line after it does not explain.
    fn unexplained(&mut self) {
        if let Some(stray) = self.stray.take() {
            let what = "is no line that this program wrote, or was changed beyond recognition";
            self.problem(stray.line, Kind::Inserted, format!("line {} {what}", stray.line));
            // It stands for whatever stood here before.
            self.before = None;
        }
    }

    fn chained(&mut self, line: u64, bytes: &[u8], place: Place, before: &[u8]) {
        self.lines = line;
        let first = self.report.chained == 0;
        self.report.chained += 1;
        if let Some(stray) = self.stray.take() {
            if place.torn.as_ref() == Some(&stray.digest) {
                self.report.remarks.push(format!(
                    "line {}: cut off when the program was stopped; noted by the line after it",
                    stray.line
                ));
            } else {
                self.stray = Some(stray);
                self.unexplained();
            }
        }
        let whole = place.is_whole(bytes);
        if !whole {
            let text = format!("line {line} (entry {}) was changed", place.seq);
            self.problem(line, Kind::Edited, text);
        }
        if first {
            self.beginning(line, &place, before);
        } else {
            self.order(line, &place, whole);
        }
        if let Some(note) = place.note.as_ref().filter(|_| place.torn.is_none()) {
            let text = format!("line {line}: {note}");
            match place.broken {
                Some(kind) => self.problem(line, kind, text),
                None => self.report.remarks.push(text),
            }
        }
        self.seen.entry(place.seq).or_insert(line);
        self.highest = self.highest.max(place.seq);
        self.before = whole.then(|| (place.seq, place.hash.clone()));
        self.last = Some(Link { count: place.seq, hash: place.hash });
    }

    fn beginning(&mut self, line: u64, place: &Place, before: &[u8]) {
        if place.seq > 1 {
            let text = format!(
                "line {line}: the log begins with entry {}; {} before it were cut off or moved away",
                place.seq,
                entries(1, place.seq - 1)
            );
            self.problem(line, Kind::BeginningMissing, text);
        } else if place.prev != digest(before) {
            let text = if self.report.unchained == 0 {
                format!("line {line}: what stood before the chain is missing")
            } else {
                format!(
                    "lines 1 to {}, from before the chain, are not as they were when it began",
                    self.report.unchained
                )
            };
            self.problem(line, Kind::OldLinesChanged, text);
        }
    }

    fn order(&mut self, line: u64, place: &Place, whole: bool) {
        let seq = place.seq;
        if let Some(earlier) = self.seen.get(&seq) {
            let text = format!("line {line} has the number of line {earlier} (entry {seq})");
            return self.problem(line, Kind::Inserted, text);
        }
        if seq < self.highest {
            let text =
                format!("line {line} (entry {seq}) stands after entry {}: reordered", self.highest);
            return self.problem(line, Kind::Reordered, text);
        }
        if seq > self.highest + 1 {
            self.gaps.insert(self.highest + 1, (seq - 1, line));
            return;
        }
        // Where the line before was changed that has been said.
        let follows = self
            .before
            .as_ref()
            .is_none_or(|(before, hash)| *before + 1 != seq || *hash == place.prev);
        if whole && !follows {
            let text = format!(
                "line {} (entry {}) is not the one that entry {seq} was written after",
                line - 1,
                seq - 1
            );
            self.problem(line - 1, Kind::Edited, text);
        }
    }

    /// Numbers that were passed over and stand nowhere else.
    fn missing(&mut self) {
        for (from, (to, line)) in std::mem::take(&mut self.gaps) {
            let mut run: Option<(u64, u64)> = None;
            // A gap as wide as a forged number is not walked through.
            let present = self.seen.keys().filter(|seq| (from..=to).contains(*seq)).count() as u64;
            if present == 0 {
                run = Some((from, to));
            } else if to - from < 1_000_000 {
                for seq in (from..=to).filter(|seq| !self.seen.contains_key(seq)) {
                    run = Some(run.map_or((seq, seq), |(first, _)| (first, seq)));
                }
            }
            if let Some((first, last)) = run {
                let text = format!("before line {line}: {} missing", entries_are(first, last));
                self.problem(line, Kind::Deleted, text);
            }
        }
    }

    fn ending(&mut self, head: Option<&Head>) {
        let line = self.lines.max(1);
        let Some(head) = head else {
            if self.report.chained > 0 {
                let text = "the file audit.head beside the log is missing or damaged: whether lines at the end were cut off cannot be said";
                self.problem(line, Kind::HeadMissing, text.to_owned());
            }
            return;
        };
        let Some(last) = self.last.clone() else {
            if head.last.count > 0 {
                let text = format!(
                    "{} missing: the log was emptied or moved away",
                    entries_are(1, head.last.count)
                );
                self.problem(line, Kind::Truncated, text);
            }
            return;
        };
        if head.allows(&last) {
            return;
        }
        if self.highest < head.last.count {
            let text = format!(
                "after line {line}: {} missing",
                entries_are(self.highest + 1, head.last.count)
            );
            self.problem(line, Kind::Truncated, text);
        } else if last.count == head.last.count {
            let text = format!("line {line} is not the one that was written last");
            if !self.report.problems.iter().any(|problem| problem.line == line) {
                self.problem(line, Kind::Edited, text);
            }
        } else if self.highest > head.last.count {
            let text = format!("line {line}: added after the last line that this program wrote");
            self.problem(line, Kind::Inserted, text);
        }
    }

    fn finish(mut self, head: Option<&Head>) -> Report {
        match self.stray.take() {
            // Killed while it wrote: the next line will say so.
            Some(stray) if !stray.whole => self
                .report
                .remarks
                .push(format!("line {}: cut off when the program was stopped", stray.line)),
            stray => {
                self.stray = stray;
                self.unexplained();
            }
        }
        self.missing();
        self.ending(head);
        self.report.hash = self.last.map(|last| last.hash);
        self.report.problems.sort_by_key(|problem| problem.line);
        self.report
    }
}

fn entries(from: u64, to: u64) -> String {
    if from == to { format!("entry {from}") } else { format!("entries {from} to {to}") }
}

fn entries_are(from: u64, to: u64) -> String {
    format!("{} {}", entries(from, to), if from == to { "is" } else { "are" })
}

#[cfg(test)]
mod tests;
