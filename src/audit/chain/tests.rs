use proptest::prelude::*;

use super::*;

/// A log of so many lines after a prefix, and its head.
fn log(prefix: &str, lines: u64) -> (Vec<String>, Head) {
    let mut link = Link::before(prefix.as_bytes());
    let sealed: Vec<String> =
        (1..=lines).map(|n| sealed(&format!("{{\"when\":\"{n}\"}}"), &mut link)).collect();
    let bytes = (prefix.len() + sealed.iter().map(|line| line.len() + 1).sum::<usize>()) as u64;
    (sealed, Head { last: link, bytes, writing: None })
}

fn bytes(prefix: &str, lines: &[String]) -> Vec<u8> {
    let mut text = prefix.to_owned();
    for line in lines {
        text.extend([line, "\n"]);
    }
    text.into_bytes()
}

fn found(lines: &[String], head: &Head) -> Vec<(u64, Kind)> {
    let report = verify(&bytes("", lines), Some(head));
    report.problems.iter().map(|problem| (problem.line, problem.kind)).collect()
}

#[test]
fn an_untouched_log_holds() {
    let (lines, head) = log("", 5);
    let report = verify(&bytes("", &lines), Some(&head));
    assert_eq!((report.chained, report.unchained), (5, 0));
    assert_eq!((report.problems, report.hash), (Vec::new(), Some(head.last.hash)));
    assert_eq!(verify(b"", None), Report::default());
}

#[test]
fn every_change_is_found_and_its_line_is_named() {
    let (lines, head) = log("", 6);
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        found(&lines, &head)
    };
    assert_eq!(with(&|lines| drop(lines.remove(2))), [(3, Kind::Deleted)]);
    assert_eq!(with(&|lines| drop(lines.drain(1..4))), [(2, Kind::Deleted)]);
    assert_eq!(with(&|lines| lines[3] = lines[3].replace("\"4\"", "\"9\"")), [(4, Kind::Edited)]);
    assert_eq!(with(&|lines| lines.swap(2, 3)), [(4, Kind::Reordered)]);
    assert_eq!(with(&|lines| lines.insert(4, lines[1].clone())), [(5, Kind::Inserted)]);
    assert_eq!(with(&|lines| lines.insert(2, "{\"when\":\"x\"}".into())), [(3, Kind::Inserted)]);
    assert_eq!(with(&|lines| lines.truncate(4)), [(4, Kind::Truncated)]);
    assert_eq!(with(&|lines| drop(lines.remove(0))), [(1, Kind::BeginningMissing)]);
    assert_eq!(with(&|lines| lines.clear()), [(1, Kind::Truncated)]);
    assert_eq!(with(&|lines| lines[5] = lines[5].replace("\"6\"", "\"9\"")), [(6, Kind::Edited)]);
}

#[test]
fn a_line_that_was_sealed_anew_does_not_fit_the_next() {
    let (mut lines, head) = log("", 4);
    let mut link = Link { count: 1, hash: Place::read(lines[0].as_bytes()).unwrap().hash };
    lines[1] = sealed("{\"when\":\"forged\"}", &mut link);
    assert_eq!(found(&lines, &head), [(2, Kind::Edited)]);
    // The last one has no next: the head tells.
    let (mut lines, head) = log("", 2);
    let mut link = Link { count: 1, hash: Place::read(lines[0].as_bytes()).unwrap().hash };
    lines[1] = sealed("{\"when\":\"forged\"}", &mut link.clone());
    assert_eq!(found(&lines, &head), [(2, Kind::Edited)]);
    let (mut lines, head) = log("", 1);
    link = head.last.clone();
    lines.push(sealed("{\"when\":\"forged\"}", &mut link));
    assert_eq!(found(&lines, &head), [(2, Kind::Inserted)]);
}

#[test]
fn without_its_head_the_end_is_doubtful() {
    let (lines, _) = log("", 3);
    let report = verify(&bytes("", &lines), None);
    assert_eq!(report.problems[0].kind, Kind::HeadMissing);
}

#[test]
fn lines_from_before_the_chain_are_a_prefix_that_it_guards() {
    let old = "{\"when\":\"a\"}\n{\"when\":\"b\"}\n";
    let (lines, head) = log(old, 2);
    let report = verify(&bytes(old, &lines), Some(&head));
    assert_eq!((report.unchained, report.chained, report.problems.len()), (2, 2, 0));
    let changed = old.replace("\"a\"", "\"c\"");
    let report = verify(&bytes(&changed, &lines), Some(&head));
    assert_eq!(report.problems[0].kind, Kind::OldLinesChanged);
    let report = verify(old.as_bytes(), None);
    assert_eq!((report.unchained, report.problems.len()), (2, 0));
}

#[test]
fn a_torn_line_is_a_remark_where_it_is_explained() {
    let (mut lines, head) = log("", 2);
    let torn = "{\"when\":\"3\",\"ses";
    let mut whole = bytes("", &lines);
    whole.extend_from_slice(torn.as_bytes());
    let report = verify(&whole, Some(&head));
    assert_eq!((report.problems.len(), report.remarks.len()), (0, 1));
    let mut link = head.last.clone();
    lines.push(torn.to_owned());
    lines.push(sealed(&note("t", "a line was torn", Some(torn.as_bytes()), None), &mut link));
    let head = Head { last: link, bytes: 0, writing: None };
    assert_eq!(found(&lines, &head), []);
    // Nobody can hide another line behind it.
    lines[2] = "{\"when\":\"other\"}".to_owned();
    assert_eq!(found(&lines, &head), [(3, Kind::Inserted)]);
}

#[test]
fn what_was_just_being_written_may_be_there_or_not() {
    let (lines, head) = log("", 3);
    let (_, two) = log("", 2);
    let writing = Head { writing: Some(head.last), ..two };
    assert_eq!(found(&lines, &writing), []);
    assert_eq!(found(&lines[..2], &writing), []);
    assert_eq!(found(&lines[..1], &writing), [(1, Kind::Truncated)]);
}

proptest! {
    #[test]
    fn no_bytes_panic(log in prop::collection::vec(any::<u8>(), 0..200), count in any::<u64>()) {
        let head = Head { last: Link { count, hash: String::new() }, bytes: 0, writing: None };
        let _report = verify(&log, Some(&head));
        let _end = end(&log);
    }

    #[test]
    fn any_changed_byte_of_the_chain_is_found(at in 0_usize..2000, to in any::<u8>()) {
        let (lines, head) = log("", 8);
        let mut log = bytes("", &lines);
        let at = at % log.len();
        prop_assume!(log[at] != to);
        log[at] = to;
        prop_assert!(!verify(&log, Some(&head)).problems.is_empty());
    }
}
