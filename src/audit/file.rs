//! The log on disk: appended under a lock, so that two instances make one chain.
//!
//! Before lines are written the head says what is coming, afterwards that it is there: a program
//! that is killed in between leaves nothing that looks like a forgery. What does not fit when the
//! next line is appended is healed by a line that says so.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::chain::{self, Head, Kind, Link, Report};
use super::line::AuditLine;
use crate::store::{StoreError, lock, open_append, replace_quickly};

/// The file beside a log that says how it ends.
pub fn head_file(log: &Path) -> PathBuf {
    log.with_extension("head")
}

/// Appends lines, each a JSON object without its place in the chain. `when` is the time for lines
/// about the log itself.
///
/// # Errors
/// The log or its head cannot be read, locked or written.
pub fn append(path: &Path, bodies: &[String], when: &str) -> Result<(), StoreError> {
    let fault = |action| move |source| StoreError { action, path: path.to_path_buf(), source };
    let mut log = open_append(path)?;
    let _lock = lock(path)?;
    let head = read_head(path).map_err(fault("read the head of"))?;
    let size = log.metadata().map_err(fault("read"))?.len();
    let joint = match &head {
        // As it was left: nothing has to be looked for.
        Some(head) if head.bytes == size && head.writing.is_none() => {
            Joint::plain(head.last.clone())
        }
        _ => {
            let bytes = bytes_of(path).map_err(fault("read"))?;
            Joint::find(&bytes, head.as_ref(), when)
        }
    };
    let Joint { mut link, mut text, notes } = joint;
    let before = link.clone();
    for body in notes.iter().chain(bodies) {
        text.extend([chain::sealed(body, &mut link).as_str(), "\n"]);
    }
    let announced = Head { last: before, bytes: size, writing: Some(link.clone()) };
    write_head(path, &announced)?;
    log.write_all(text.as_bytes()).map_err(fault("write"))?;
    let bytes = size + u64::try_from(text.len()).unwrap_or_default();
    write_head(path, &Head { last: link, bytes, writing: None })
}

/// Where the next line goes on.
struct Joint {
    link: Link,
    /// What closes a torn line.
    text: String,
    /// Lines about what was found.
    notes: Vec<String>,
}

impl Joint {
    fn plain(link: Link) -> Self {
        Self { link, text: String::new(), notes: Vec::new() }
    }

    fn find(log: &[u8], head: Option<&Head>, when: &str) -> Self {
        let end = chain::end(log);
        let torn = (!end.torn.is_empty()).then_some(end.torn);
        let text = if torn.is_some() { "\n".to_owned() } else { String::new() };
        let Some(last) = end.last else { return Self::without_chain(log, text, head, when) };
        let mut notes = Vec::new();
        if let Some(torn) = torn {
            let said = "the line before was cut off: the program was stopped while it wrote";
            notes.push(chain::note(when, said, Some(torn), None));
        }
        let (link, said) = match head {
            None => {
                let said = "the head of the log was missing: lines before this may be too";
                (last, Some((said, Some(Kind::HeadMissing))))
            }
            Some(head) if head.allows(&last) => (last, None),
            // The gap in the numbers says the same to whoever checks the log.
            Some(head) if last.count < head.last.count => (
                head.last.clone(),
                Some(("lines before this one are missing: the log was cut or moved away", None)),
            ),
            Some(_) => {
                let said = "lines before this one were added or changed by somebody else";
                (last, Some((said, Some(Kind::Inserted))))
            }
        };
        notes.extend(said.map(|(said, broken)| chain::note(when, said, None, broken)));
        Self { link, text, notes }
    }

    /// No line of the chain is there: it begins here, or what it began with is gone.
    fn without_chain(log: &[u8], text: String, head: Option<&Head>, when: &str) -> Self {
        let Some(head) = head.filter(|head| head.last.count > 0) else {
            let prefix = [log, text.as_bytes()].concat();
            return Self { link: Link::before(&prefix), text, notes: Vec::new() };
        };
        let said = "lines before this one are missing: the log was emptied or moved away";
        Self { link: head.last.clone(), text, notes: vec![chain::note(when, said, None, None)] }
    }
}

/// Checks the log and its head. No file is an empty log.
pub fn check(path: &Path) -> io::Result<Report> {
    // Two instances may be at work: never a moment between a line and its head.
    let _lock = if path.exists() { lock(path).ok() } else { None };
    Ok(chain::verify(&bytes_of(path)?, read_head(path)?.as_ref()))
}

/// All lines, oldest first. Lines that cannot be read are left out; no file is no lines.
pub fn read(path: &Path) -> io::Result<Vec<AuditLine>> {
    let bytes = bytes_of(path)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// The head; `None` if there is none that can be understood.
fn read_head(log: &Path) -> io::Result<Option<Head>> {
    let mut text = String::new();
    match File::open(head_file(log)) {
        Ok(file) => drop(file.take(64 * 1024).read_to_string(&mut text)),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault),
    }
    Ok(serde_json::from_str(&text).ok())
}

fn write_head(log: &Path, head: &Head) -> Result<(), StoreError> {
    let path = head_file(log);
    let mut text = serde_json::to_string(head).map_err(|error| StoreError {
        action: "write",
        path: path.clone(),
        source: error.into(),
    })?;
    text.push('\n');
    replace_quickly(&path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(n: usize) -> String {
        format!("{{\"v\":1,\"when\":\"{n}\",\"call\":{n}}}")
    }

    fn write(path: &Path, from: usize, to: usize) {
        let bodies: Vec<String> = (from..to).map(body).collect();
        append(path, &bodies, "now").unwrap();
    }

    fn kinds(path: &Path) -> Vec<Kind> {
        check(path).unwrap().problems.iter().map(|problem| problem.kind).collect()
    }

    #[test]
    fn what_is_appended_piece_by_piece_is_one_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        write(&path, 2, 3);
        assert_eq!(kinds(&path), []);
        let lines = read(&path).unwrap();
        assert_eq!(
            lines.iter().map(|line| line.seq).collect::<Vec<_>>(),
            [Some(1), Some(2), Some(3)]
        );
    }

    #[test]
    fn instances_that_append_at_once_make_one_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..25).for_each(|n| write(&path, n, n + 1)));
            }
        });
        let report = check(&path).unwrap();
        assert_eq!((report.chained, report.problems), (100, Vec::new()));
    }

    #[test]
    fn old_lines_stay_and_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        fs::write(&path, "{\"when\":\"a\"}\n{\"when\":\"b\"}").unwrap();
        write(&path, 0, 1);
        let report = check(&path).unwrap();
        assert_eq!((report.unchained, report.chained, report.problems.len()), (2, 1, 0));
        assert_eq!(read(&path).unwrap().len(), 3);
    }

    #[test]
    fn a_torn_line_is_healed_by_a_line_that_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        let mut log = fs::read(&path).unwrap();
        log.extend_from_slice(b"{\"v\":1,\"wh");
        fs::write(&path, log).unwrap();
        assert_eq!(check(&path).unwrap().remarks.len(), 1);
        write(&path, 2, 3);
        let report = check(&path).unwrap();
        assert_eq!((report.chained, report.problems, report.remarks.len()), (4, Vec::new(), 1));
        assert!(read(&path).unwrap()[2].note.is_some());
    }

    #[test]
    fn a_cut_stays_visible_after_further_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 5);
        let log = fs::read_to_string(&path).unwrap();
        let three: Vec<&str> = log.lines().take(3).collect();
        fs::write(&path, format!("{}\n", three.join("\n"))).unwrap();
        assert_eq!(kinds(&path), [Kind::Truncated]);
        write(&path, 5, 6);
        assert_eq!(kinds(&path), [Kind::Deleted]);
        // Moved away as a whole.
        fs::remove_file(&path).unwrap();
        assert_eq!(kinds(&path), [Kind::Truncated]);
        write(&path, 6, 7);
        assert_eq!(kinds(&path), [Kind::BeginningMissing]);
    }

    #[test]
    fn a_head_that_is_taken_away_stays_visible() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        fs::remove_file(head_file(&path)).unwrap();
        assert_eq!(kinds(&path), [Kind::HeadMissing]);
        write(&path, 2, 3);
        assert_eq!(kinds(&path), [Kind::HeadMissing]);
        write(&path, 3, 4);
        assert_eq!(kinds(&path), [Kind::HeadMissing]);
    }

    #[test]
    fn a_last_line_that_is_written_anew_stays_visible_after_further_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        let log = fs::read_to_string(&path).unwrap();
        let first = log.lines().next().unwrap();
        let mut link = chain::end(format!("{first}\n").as_bytes()).last.unwrap();
        let forged = chain::sealed(&body(77), &mut link);
        fs::write(&path, format!("{first}\n{forged}\n")).unwrap();
        assert_eq!(kinds(&path), [Kind::Edited]);
        write(&path, 2, 3);
        assert_eq!(kinds(&path), [Kind::Inserted]);
    }

    #[test]
    fn lines_of_which_only_some_reached_a_full_disk_are_no_forgery() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        let before = read_head(&path).unwrap().unwrap();
        write(&path, 2, 5);
        let after = read_head(&path).unwrap().unwrap();
        let log = fs::read_to_string(&path).unwrap();
        let three: Vec<&str> = log.lines().take(3).collect();
        fs::write(&path, format!("{}\n{{\"v\":1,", three.join("\n"))).unwrap();
        write_head(&path, &Head { writing: Some(after.last), ..before }).unwrap();
        assert_eq!(kinds(&path), []);
        write(&path, 5, 6);
        assert_eq!(kinds(&path), []);
    }

    #[test]
    fn a_program_that_was_killed_between_line_and_head_forged_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        write(&path, 0, 2);
        let before = fs::read(head_file(&path)).unwrap();
        write(&path, 2, 3);
        let after: Head = serde_json::from_slice(&fs::read(head_file(&path)).unwrap()).unwrap();
        let before: Head = serde_json::from_slice(&before).unwrap();
        write_head(&path, &Head { writing: Some(after.last), ..before }).unwrap();
        assert_eq!(kinds(&path), []);
        write(&path, 3, 4);
        let report = check(&path).unwrap();
        assert_eq!((report.chained, report.problems, report.remarks), (4, Vec::new(), Vec::new()));
    }
}
