use std::time::Duration;

use super::*;

async fn ended(tasks: &Tasks) {
    assert!(tasks.wait(Duration::from_secs(20)).await);
}

fn new(path: &Path) -> Place {
    Place::New { path: path.to_owned(), header: "header".to_owned() }
}

fn shared(path: &Path) -> Place {
    Place::Shared(path.into())
}

async fn warned(warnings: &mut mpsc::Receiver<Inside>) -> Option<String> {
    match warnings.recv().await? {
        Inside::Warned(warning) => Some(warning.message),
        _ => panic!("something else"),
    }
}

#[tokio::test]
async fn lines_come_after_the_header_in_their_order() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("made").join("a.jsonl");
    let (tasks, _faults) = Tasks::new();
    let (inside, _warnings) = mpsc::channel(1);
    let mut journal = Journal::open(&tasks, new(&path), inside);
    for line in ["one", "two", "three"] {
        assert_eq!(journal.add(line.into()), None);
    }
    journal.written().cancelled().await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "header\none\ntwo\nthree\n");
    drop(journal);
    ended(&tasks).await;
}

#[tokio::test]
async fn without_a_line_there_is_no_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.jsonl");
    let (tasks, _faults) = Tasks::new();
    let (inside, _warnings) = mpsc::channel(1);
    let journal = Journal::open(&tasks, new(&path), inside);
    let closed = journal.ended().clone();
    drop(journal);
    closed.cancelled().await;
    ended(&tasks).await;
    assert!(!path.exists());
}

#[tokio::test]
async fn a_shared_file_that_refuses_costs_one_warning() {
    let home = tempfile::tempdir().unwrap();
    let blocked = home.path().join("file");
    std::fs::write(&blocked, "in the way").unwrap();
    let (tasks, _faults) = Tasks::new();
    let (inside, mut warnings) = mpsc::channel(8);
    let mut journal = Journal::open(&tasks, shared(&blocked.join("a.jsonl")), inside);
    journal.add("one".into());
    let told = warned(&mut warnings).await.unwrap();
    assert!(told.contains("not written any further"), "{told}");
    journal.add("two".into());
    drop(journal);
    ended(&tasks).await;
    assert_eq!(warned(&mut warnings).await, None);
}

#[tokio::test]
async fn lines_that_a_disk_refuses_wait_until_it_takes_them() {
    let home = tempfile::tempdir().unwrap();
    let blocked = home.path().join("file");
    std::fs::write(&blocked, "in the way").unwrap();
    let path = blocked.join("a.jsonl");
    let (tasks, _faults) = Tasks::new();
    let (inside, mut warnings) = mpsc::channel(8);
    let mut journal = Journal::open(&tasks, new(&path), inside);
    journal.add("one".into());
    let told = warned(&mut warnings).await.unwrap();
    assert!(told.starts_with("The session is not kept: "), "{told}");
    journal.add("two".into());
    journal.written().cancelled().await;
    std::fs::remove_file(&blocked).unwrap();
    journal.add("three".into());
    let told = warned(&mut warnings).await.unwrap();
    assert!(told.contains("nothing of it is missing"), "{told}");
    drop(journal);
    ended(&tasks).await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "header\none\ntwo\nthree\n");
    assert_eq!(warned(&mut warnings).await, None);
}

#[test]
fn what_waits_for_the_disk_is_bounded() {
    let home = tempfile::tempdir().unwrap();
    let blocked = home.path().join("file");
    std::fs::write(&blocked, "in the way").unwrap();
    let mut writer = Writer::new(new(&blocked.join("a.jsonl")));
    assert!(writer.write(vec!["x".to_owned()]).is_some());
    let told = writer.write(vec!["x".repeat(WAITING)]).unwrap();
    assert!(told.message.contains("not written any further"), "{told:?}");
    assert_eq!((writer.waiting.len(), writer.state), (0, State::GivenUp));
    assert_eq!(writer.write(vec!["x".to_owned()]), None);
}
