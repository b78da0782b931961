use std::future::pending;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, advance, timeout};

use super::*;
use crate::config::Protocol;
use crate::mcp::Limits;
use crate::mcp::model::question;

fn desk() -> Desk {
    let second = Duration::from_secs(1);
    Desk::new(&ServerSpec {
        name: "demo".into(),
        url: "http://127.0.0.1:7/mcp".parse().unwrap(),
        headers: Vec::new(),
        has_credential: false,
        protocol: Protocol::Auto,
        ca_pem: None,
        answering: Answering::Everything,
        limits: Limits { discovery: second, silence: second, call: second },
        remembered: None,
        wire: None,
    })
}

fn asked(message: &str) -> Asked {
    let params = json!({"message": message, "requestedSchema": {"type": "object",
        "properties": {"n": {"type": "integer", "default": 3}}}});
    question::read(&params, Answering::Everything).unwrap()
}

fn never() -> impl Future<Output = ((), &'static str)> {
    pending()
}

fn told(desk: &Desk) -> Vec<String> {
    std::iter::from_fn(|| desk.take_news())
        .map(|kind| match kind {
            ServerEventKind::Elicit(elicitation) => elicitation.message.clone(),
            ServerEventKind::ElicitClosed { why, .. } => format!("({why})"),
            other => format!("{other:?}"),
        })
        .collect()
}

fn open(desk: &Desk) -> Vec<ElicitationId> {
    let mut open: Vec<_> = desk.table().open.keys().copied().collect();
    open.sort();
    open
}

/// Polls once, so that what can happen now happens.
async fn settle<T>(work: impl Future<Output = T> + Unpin) -> Option<T> {
    timeout(Duration::ZERO, work).await.ok()
}

#[tokio::test(start_paused = true)]
async fn answer_is_filled_with_defaults_and_told_to_be_over() {
    let desk = desk();
    let mut asking = Box::pin(desk.ask(asked("n?"), Some(CallId(1)), never()));
    assert!(settle(&mut asking).await.is_none());
    assert_eq!(told(&desk), ["n?"]);
    desk.reply(open(&desk)[0], ElicitationReply::Accept(None));
    let reply = asking.await.unwrap();
    let ElicitationReply::Accept(Some(content)) = reply else { panic!("{reply:?}") };
    assert_eq!(Value::Object(Map::clone(&content)), json!({"n": 3}));
    assert_eq!(told(&desk), ["(answered)"]);
}

use serde_json::{Map, Value};

#[tokio::test(start_paused = true)]
async fn default_that_was_taken_out_is_not_put_back() {
    let kind = asked("n?").kind;
    let empty = ElicitationReply::Accept(Some(Arc::new(Map::new())));
    assert_eq!(settled(&kind, empty.clone()), empty);
}

#[tokio::test(start_paused = true)]
async fn answer_that_does_not_fit_is_no_answer() {
    let content = Arc::new(json!({"n": "three"}).as_object().unwrap().clone());
    let kind = asked("n?").kind;
    let accept = ElicitationReply::Accept(Some(content));
    assert_eq!(settled(&kind, accept.clone()), ElicitationReply::Cancel);
    let broken = ElicitationKind::Form {
        schema: Arc::default(),
        fields: Vec::new(),
        fault: Some("x".into()),
    };
    assert_eq!(settled(&broken, accept), ElicitationReply::Decline);
}

#[tokio::test(start_paused = true)]
async fn further_questions_wait_until_one_is_answered() {
    let desk = desk();
    let mut all: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .map(|message| Box::pin(desk.ask(asked(message), None, never())))
        .collect();
    for asking in &mut all {
        assert!(settle(asking).await.is_none());
    }
    assert_eq!(told(&desk), ["a", "b", "c"]);
    desk.reply(open(&desk)[0], ElicitationReply::Decline);
    assert_eq!(all.remove(0).await, Ok(ElicitationReply::Decline));
    assert!(settle(&mut all[2]).await.is_none());
    assert_eq!(told(&desk), ["(answered)", "d"]);
}

#[tokio::test(start_paused = true)]
async fn question_that_is_dropped_is_closed_and_one_that_was_never_told_is_not_told_at_all() {
    let desk = desk();
    let mut asking = Box::pin(desk.ask(asked("a"), None, never()));
    assert!(settle(&mut asking).await.is_none());
    drop(asking);
    assert_eq!(told(&desk), Vec::<String>::new());
    let mut asking = Box::pin(desk.ask(asked("b"), None, never()));
    assert!(settle(&mut asking).await.is_none());
    assert_eq!(told(&desk), ["b"]);
    drop(asking);
    assert_eq!(told(&desk), ["(cancelled)"]);
    // Late answers are passed over.
    desk.reply(ElicitationId(u64::MAX), ElicitationReply::Decline);
}

#[tokio::test(start_paused = true)]
async fn clocks_stand_still_while_a_person_is_asked() {
    let desk = desk();
    let (mine, other) = (CallId(1), CallId(2));
    let limit = Duration::from_secs(10);
    let mut clock = Box::pin(desk.run_out(Some(mine), limit));
    let mut others = Box::pin(desk.run_out(Some(other), limit));
    let begun = Instant::now();
    let mut silence = Box::pin(desk.patiently(Some(mine), begun, limit, pending::<()>()));
    assert!(settle(&mut clock).await.is_none());
    assert!(settle(&mut others).await.is_none());
    assert!(settle(&mut silence).await.is_none());
    advance(Duration::from_secs(6)).await;
    let mut asking = Box::pin(desk.ask(asked("a"), Some(mine), never()));
    assert!(settle(&mut asking).await.is_none());
    assert!(settle(&mut clock).await.is_none());
    assert!(settle(&mut silence).await.is_none());
    advance(Duration::from_hours(1)).await;
    assert!(settle(&mut others).await.is_some());
    assert!(settle(&mut clock).await.is_none());
    assert!(settle(&mut silence).await.is_none());
    drop(asking);
    // Four seconds are left of the one, the whole of the other.
    assert!(settle(&mut clock).await.is_none());
    assert!(settle(&mut silence).await.is_none());
    advance(Duration::from_secs(5)).await;
    assert!(settle(&mut clock).await.is_some());
    assert!(settle(&mut silence).await.is_none());
    advance(Duration::from_secs(6)).await;
    assert_eq!(settle(&mut silence).await, Some(None));
}

#[tokio::test]
async fn request_is_admitted_once_and_again_after_its_answer() {
    let desk = desk();
    let id = |value: Value| match crate::jsonrpc::decode(
        json!({"jsonrpc": "2.0", "id": value, "method": "m"}).to_string().as_bytes(),
    )
    .unwrap()
    .remove(0)
    {
        crate::jsonrpc::Message::Request { id, .. } => id,
        other => panic!("{other:?}"),
    };
    let _calling = desk.calling(CallId(7));
    let Admission::Welcome(call, mut stopped) = desk.admit(1, &id(json!(1)), None) else {
        panic!()
    };
    assert_eq!(call, Some(CallId(7)));
    assert!(matches!(desk.admit(1, &id(json!(1)), None), Admission::Repeated));
    assert!(matches!(desk.admit(1, &id(json!("1")), None), Admission::Welcome(..)));
    desk.withdraw(1, &json!(1));
    assert_eq!(stopped.try_recv(), Ok(Stop::Withdrawn));
    let Admission::Welcome(_, mut stopped) = desk.admit(1, &id(json!(1)), None) else { panic!() };
    desk.cancel_for(CallId(7));
    assert_eq!(stopped.try_recv(), Ok(Stop::CallOver));
}
