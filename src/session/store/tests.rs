use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::domain::turn::BadArguments;
use crate::domain::{Message, RequestedCall, TurnEnd};
use crate::session::transcript::json as export_json;
use crate::session::{Header, Line, SessionEvent};

pub(super) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(super) fn header(id: &SessionId) -> String {
    let header = Header::new(id.clone(), "2026-11-30T18:15:12Z".into(), Some("m".into()));
    serde_json::to_string(&header).unwrap()
}

pub(super) fn lines(events: Vec<SessionEvent>) -> Vec<String> {
    let mut turns = 0;
    let line = |event: SessionEvent| {
        let user = matches!(event, SessionEvent::Message { message: Message::User { .. } });
        turns += usize::from(user);
        serde_json::to_string(&Line { at: "2026-11-30T18:15:13Z".into(), event, turns }).unwrap()
    };
    events.into_iter().map(line).collect()
}

pub(super) fn said(text: &str) -> SessionEvent {
    SessionEvent::Message { message: Message::User { text: text.into() } }
}

pub(super) fn answered() -> SessionEvent {
    let arguments = json!({ "b": 1, "a": "x" }).as_object().unwrap().clone();
    let sound = RequestedCall {
        provider_id: "c1".into(),
        name: "s_t".into(),
        arguments: Ok(Arc::new(arguments)),
    };
    let bad = BadArguments { raw: "{".into(), fault: "ends early".into() };
    let broken =
        RequestedCall { provider_id: "c2".into(), name: "s_t".into(), arguments: Err(bad) };
    SessionEvent::Message {
        message: Message::Assistant {
            text: "Let me look. ```".into(),
            reasoning: None,
            calls: vec![sound, broken],
            incomplete: false,
        },
    }
}

pub(super) fn called() -> SessionEvent {
    use crate::domain::{Call, CallId, Content, Outcome, ToolId, ToolOutput};
    let output = ToolOutput {
        content: vec![Content::Text("found".into())],
        structured: None,
        remarks: Vec::new(),
    };
    SessionEvent::Call {
        call: Arc::new(Call {
            id: CallId(1),
            turn: None,
            tool: ToolId::new("s", "t"),
            model_name: "s_t".into(),
            arguments: Arc::default(),
        }),
        outcome: Arc::new(Outcome::Ok(output)),
        took_ms: 3,
        told: None,
    }
}

pub(super) fn write(directory: &Path, id: &SessionId, events: Vec<SessionEvent>) {
    write_lines_of(directory, id, &header(id), &lines(events));
}

fn write_lines_of(directory: &Path, id: &SessionId, header: &str, lines: &[String]) {
    let path = file(directory, id);
    let opened = if path.exists() {
        let Claim::Mine(opened) = SessionFile::claim(&path).unwrap() else { panic!("taken") };
        opened
    } else {
        SessionFile::create(&path, header).unwrap()
    };
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    opened.append(&text).unwrap();
}

#[test]
fn what_is_written_is_read_back() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    let events =
        vec![said("hello"), answered(), SessionEvent::TurnEnded { reason: TurnEnd::Cancelled }];
    write(home.path(), &session, events.clone());
    let transcript = read(home.path(), &session).unwrap();
    let found: Vec<SessionEvent> = transcript.lines.into_iter().map(|line| line.event).collect();
    assert_eq!((found, transcript.skipped), (events, 0));
}

#[test]
fn torn_last_line_is_ignored_and_appending_goes_on_after_it() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![said("one")]);
    let path = file(home.path(), &session);
    let mut torn = fs::OpenOptions::new().append(true).open(&path).unwrap();
    torn.write_all(b"{\"at\":\"2026-11-30T18:15:14Z\",\"type\":\"mess").unwrap();
    let cut = read(home.path(), &session).unwrap();
    assert_eq!((cut.messages().len(), cut.skipped, cut.torn), (1, 0, true));

    write(home.path(), &session, vec![said("two")]);
    let transcript = read(home.path(), &session).unwrap();
    let user = |text: &str| Message::User { text: text.into() };
    assert_eq!(transcript.messages(), [user("one"), user("two")]);
    assert_eq!(transcript.skipped, 1);
}

#[cfg(unix)]
#[test]
fn files_are_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("sessions");
    let session = id("20261130-181512-ab12cd");
    write(&directory, &session, vec![said("one")]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&file(&directory, &session))), (0o700, 0o600));
}

#[test]
fn list_has_the_latest_first_and_no_strangers() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (id("20261129-000000-000001"), id("20261130-000000-000000"));
    write(home.path(), &old, vec![said("older"), said("again")]);
    write(home.path(), &new, vec![said("newer")]);
    fs::write(home.path().join("notes.txt"), "x").unwrap();
    fs::write(home.path().join("broken.jsonl"), "x").unwrap();
    let found: Vec<(SessionId, String, usize)> = list(home.path())
        .unwrap()
        .into_iter()
        .map(|summary| (summary.id, summary.title, summary.turns))
        .collect();
    assert_eq!(found, [(new, "newer".to_owned(), 1), (old, "older".to_owned(), 2)]);
}

#[test]
fn a_session_is_found_by_the_start_of_its_id() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (id("20261129-000000-000001"), id("20261130-000000-000000"));
    write(home.path(), &old, vec![said("x")]);
    write(home.path(), &new, vec![said("x")]);
    assert_eq!(find(home.path(), "20261130").unwrap(), new);
    assert!(matches!(find(home.path(), "2026"), Err(SessionError::Ambiguous { count: 2, .. })));
    assert!(matches!(find(home.path(), "2027"), Err(SessionError::Missing { .. })));
    assert_eq!(latest(home.path()).unwrap(), Some(new));
}

#[test]
fn the_latest_has_words_in_it_and_within_a_second_the_file_says_which_it_is() {
    let home = tempfile::tempdir().unwrap();
    let now = std::time::SystemTime::now();
    let begun = |id: &SessionId, created: &str, lines: Vec<String>| {
        let header = Header::new(id.clone(), created.to_owned(), None);
        let header = serde_json::to_string(&header).unwrap();
        write_lines_of(home.path(), id, &header, &lines);
        File::options()
            .append(true)
            .open(file(home.path(), id))
            .unwrap()
            .set_modified(now)
            .unwrap();
    };
    let line = |text| lines(vec![said(text)]);
    let (first, second) = (id("20261130-181512-ffffff"), id("20261130-181512-000000"));
    begun(&first, "2026-11-30T18:15:12.1Z", line("first"));
    begun(&second, "2026-11-30T18:15:12.15Z", line("second"));
    begun(&id("20261130-181513-000000"), "2026-11-30T18:15:13Z", Vec::new());
    assert_eq!(latest(home.path()).unwrap(), Some(second.clone()));
    let listed: Vec<SessionId> =
        list(home.path()).unwrap().into_iter().map(|summary| summary.id).collect();
    assert_eq!(listed.get(1..), Some([second, first].as_slice()));
}

#[test]
fn the_one_that_was_written_to_last_is_the_latest_whenever_it_was_begun() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (id("20261129-000000-000001"), id("20261130-000000-000000"));
    write(home.path(), &old, vec![said("older")]);
    write(home.path(), &new, vec![said("newer")]);
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let newer = File::options().append(true).open(file(home.path(), &new)).unwrap();
    newer.set_modified(before).unwrap();
    assert_eq!(latest(home.path()).unwrap(), Some(old.clone()));
    assert_eq!(list(home.path()).unwrap()[0].id, old);
}

#[test]
fn an_id_that_is_none_gives_the_nearest_ones() {
    let home = tempfile::tempdir().unwrap();
    let ids = ["20261129-000000-000001", "20261130-000000-00000a", "20251130-000000-00000b"];
    for (at, session) in ids.iter().enumerate() {
        write(home.path(), &id(session), vec![said(&format!("about subject {at}"))]);
    }
    let near = |wanted: &str| match find(home.path(), wanted) {
        Err(SessionError::Missing { near, .. }) => {
            near.into_iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(near("20261130-000000-00000b").first().map(String::as_str), Some(ids[1]));
    assert_eq!(near("subject 2"), [ids[2]]);
    assert_eq!(near("zzz").len(), 3);
    let told = find(home.path(), "subject 2").unwrap_err().to_string();
    assert!(told.contains("(about subject 2)"), "{told}");
}

#[test]
fn what_another_instance_writes_to_is_not_deleted() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![said("one")]);
    let held = SessionFile::claim(&file(home.path(), &session)).unwrap();
    assert!(matches!(delete(home.path(), &session), Err(SessionError::Open { .. })));
    drop(held);
    delete(home.path(), &session).unwrap();
}

#[test]
fn a_file_that_was_removed_takes_nothing_more() {
    let home = tempfile::tempdir().unwrap();
    let path = file(home.path(), &id("20261130-181512-ab12cd"));
    let opened = SessionFile::create(&path, "{}").unwrap();
    fs::remove_file(&path).unwrap();
    if cfg!(unix) {
        assert_eq!(opened.append("x\n").unwrap_err().source.kind(), io::ErrorKind::NotFound);
    }
    assert!(!path.exists());
}

#[test]
fn files_and_exports_have_camel_case_keys_throughout() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![answered(), called()]);
    let page = export_json(&read(home.path(), &session).unwrap());
    let mut keys = Vec::new();
    collect_keys(&page, &mut keys);
    assert!(keys.iter().any(|key| key == "tookMs"), "{keys:?}");
    let odd = |key: &&String| key.contains('_') || key.starts_with(char::is_uppercase);
    assert_eq!(keys.iter().find(odd), None);
}

fn collect_keys(value: &serde_json::Value, keys: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                keys.push(key.clone());
                collect_keys(member, keys);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

#[test]
fn a_path_is_no_id() {
    assert_eq!(SessionId::parse("../../etc/passwd"), None);
    assert_eq!(SessionId::parse(""), None);
}

#[test]
fn deleted_sessions_are_gone() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![said("one")]);
    delete(home.path(), &session).unwrap();
    assert!(matches!(delete(home.path(), &session), Err(SessionError::Missing { .. })));
}

#[test]
fn ids_sort_by_time() {
    let at = |second| time::UtcDateTime::from_unix_timestamp(second).unwrap();
    let earlier = SessionId::new(at(1_796_062_511), 0x00ff_ffff);
    let later = SessionId::new(at(1_796_062_512), 0);
    assert!(earlier < later);
    assert_eq!(later.as_str(), "20261130-181512-000000");
}
