use super::super::tests::{answered, called, id, said, write};
use super::*;
use crate::session::SessionEvent;
use crate::session::store::list;

fn session() -> SessionId {
    id("20261130-181512-ab12cd")
}

fn granted(tool: &str) -> SessionEvent {
    SessionEvent::Granted { tool: ToolId::new("s", tool) }
}

#[test]
fn who_comes_second_goes_on_in_a_copy_and_is_told() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &session(), vec![said("one"), answered(), called()]);
    let first = open(home.path(), &session()).unwrap();
    assert!(first.remarks.is_empty() && first.id == session());
    let second = open(home.path(), &session()).unwrap();
    assert_ne!(second.id, session());
    assert!(second.remarks[0].contains("open in another window"), "{:?}", second.remarks);
    assert_eq!(second.transcript.lines, first.transcript.lines);
    let parent = second.transcript.header.parent.as_ref().unwrap();
    assert_eq!((&parent.id, parent.before), (&session(), None));

    first.file.as_ref().unwrap().append("{}\n").unwrap();
    let copied = read(home.path(), &second.id).unwrap();
    assert_eq!((copied.lines, copied.skipped), (second.transcript.lines.clone(), 0));
    drop(first);
    assert_eq!(open(home.path(), &session()).unwrap().id, session());
}

#[test]
fn a_fork_ends_before_the_message_and_gives_it_back() {
    let home = tempfile::tempdir().unwrap();
    let story = vec![said("one"), answered(), called(), said("two"), answered(), said("three")];
    write(home.path(), &session(), story);
    let before = std::fs::read(file(home.path(), &session())).unwrap();
    let forked = fork(home.path(), &session(), Some(2)).unwrap();
    assert_eq!(forked.draft.as_deref(), Some("two"));
    let read = read(home.path(), &forked.id).unwrap();
    assert_eq!((read.lines.len(), read.turns()), (3, 1));
    let parent = read.header.parent.unwrap();
    assert_eq!((parent.id, parent.before), (session(), Some(2)));
    assert_eq!(std::fs::read(file(home.path(), &session())).unwrap(), before);
    for wanted in [0, 4] {
        let missing = fork(home.path(), &session(), Some(wanted));
        assert!(matches!(missing, Err(SessionError::NoSuchMessage { turns: 3, .. })));
    }
    assert_eq!(list(home.path()).unwrap().len(), 2);
}

#[test]
fn a_fork_before_the_first_message_is_an_empty_conversation() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &session(), vec![said("one"), answered()]);
    let forked = fork(home.path(), &session(), Some(1)).unwrap();
    assert!(forked.transcript.lines.is_empty());
    assert_eq!(forked.draft.as_deref(), Some("one"));
}

#[test]
fn what_was_allowed_for_the_session_is_said_to_be_asked_again() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &session(), vec![said("one"), granted("a"), granted("b")]);
    let opened = open(home.path(), &session()).unwrap();
    assert_eq!(
        opened.remarks,
        ["2 tools allowed for the session last time are asked again: s/a, s/b."]
    );
}

#[test]
fn a_session_of_a_later_version_is_not_written_to() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &session(), vec![said("one")]);
    let path = file(home.path(), &session());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"version\":1", "\"version\":9")).unwrap();
    let opened = open(home.path(), &session()).unwrap();
    assert_ne!(opened.id, session());
    assert!(opened.remarks[0].contains("later version"), "{:?}", opened.remarks);
}

#[test]
fn where_nothing_can_be_written_the_conversation_is_had_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    let blocked = home.path().join("in-the-way");
    std::fs::write(&blocked, "x").unwrap();
    let transcript = Transcript {
        header: Header::new(session(), String::new(), None),
        lines: Vec::new(),
        skipped: 0,
        torn: false,
    };
    let copied = copy(&blocked, transcript, None);
    assert!(copied.file.is_none());
    assert!(copied.remarks[0].starts_with("The copy cannot be kept: "), "{:?}", copied.remarks);
}
