use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::domain::turn::BadArguments;
use crate::domain::{RequestedCall, TurnEnd};
use crate::session::transcript::{json as export_json, markdown};

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn header(id: &SessionId) -> String {
    let header = Header::new(id.clone(), "2026-11-30T18:15:12Z".into(), Some("m".into()));
    serde_json::to_string(&header).unwrap()
}

fn line(event: SessionEvent) -> String {
    serde_json::to_string(&Line { at: "2026-11-30T18:15:13Z".into(), event }).unwrap()
}

fn said(text: &str) -> SessionEvent {
    SessionEvent::Message { message: Message::User { text: text.into() } }
}

fn answered() -> SessionEvent {
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

fn called() -> SessionEvent {
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
    }
}

fn write(directory: &Path, id: &SessionId, events: Vec<SessionEvent>) {
    let lines: Vec<String> = events.into_iter().map(line).collect();
    append_lines(&file(directory, id), Some(&header(id)), &lines).unwrap();
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
    assert_eq!(read(home.path(), &session).unwrap().messages().len(), 1);

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
    let begun = |id: &SessionId, created: &str, lines: Vec<String>| {
        let header = Header::new(id.clone(), created.to_owned(), None);
        let header = serde_json::to_string(&header).unwrap();
        append_lines(&file(home.path(), id), Some(&header), &lines).unwrap();
    };
    let line = |text| line(said(text));
    let (first, second) = (id("20261130-181512-ffffff"), id("20261130-181512-000000"));
    begun(&first, "2026-11-30T18:15:12.1Z", vec![line("first")]);
    begun(&second, "2026-11-30T18:15:12.15Z", vec![line("second")]);
    begun(&id("20261130-181513-000000"), "2026-11-30T18:15:13Z", Vec::new());
    assert_eq!(latest(home.path()).unwrap(), Some(second.clone()));
    let listed: Vec<SessionId> =
        list(home.path()).unwrap().into_iter().map(|summary| summary.id).collect();
    assert_eq!(listed.get(1..), Some([second, first].as_slice()));
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
fn a_call_that_was_made_without_the_model_is_in_the_transcript() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![called()]);
    let page = markdown(&read(home.path(), &session).unwrap());
    assert!(page.contains("### Your call of `s/t`: ok\n") && page.contains("\nfound\n"), "{page}");
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

#[test]
fn exports_hold_the_whole_conversation() {
    let home = tempfile::tempdir().unwrap();
    let session = id("20261130-181512-ab12cd");
    write(home.path(), &session, vec![said("hello"), answered()]);
    let transcript = read(home.path(), &session).unwrap();
    let page = markdown(&transcript);
    assert!(page.contains("## You\n\nhello\n"), "{page}");
    assert!(page.contains("\"a\": \"x\""), "{page}");
    let events = export_json(&transcript);
    assert_eq!(events["events"].as_array().unwrap().len(), 2);
    assert_eq!(events["events"][0]["type"], "message");
}
