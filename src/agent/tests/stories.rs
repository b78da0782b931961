//! Whatever happens, in whatever order: what goes to the model is valid.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::rig::*;
use crate::agent::{Effect, Event};
use crate::bridge::Notice;
use crate::domain::model::{Finish, ModelEvent, ModelRequest, ProviderErrorKind};
use crate::domain::{Answer, Message, Outcome, RequestedCall, ToolId};

fn calls() -> impl Strategy<Value = RequestedCall> {
    let names = prop::sample::select(vec![
        "free_one",
        "free_two",
        "free_picky",
        "asks_one",
        "asks_two",
        "closed_one",
        "nope",
        "mini_me_read_result",
    ]);
    let ids = prop::sample::select(vec!["k", "l", ""]);
    (ids, names, any::<bool>()).prop_map(|(id, name, broken)| {
        if broken { wants_broken(id, name) } else { wants(id, name, json!({"q": "x", "id": 1})) }
    })
}

fn finishes() -> impl Strategy<Value = Finish> {
    prop::sample::select(vec![
        Finish::Stop,
        Finish::ToolCalls,
        Finish::Length,
        Finish::ContentFilter,
        Finish::Refused,
        Finish::Incomplete,
        Finish::Empty,
    ])
}

fn answers() -> impl Strategy<Value = Answer> {
    prop::sample::select(vec![
        Answer::Once,
        Answer::Session,
        Answer::Always,
        Answer::Edit(Arc::new(object(json!({"q": "y"})))),
        Answer::Deny { note: "no".into() },
    ])
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        ok("fine"),
        ok(&"long ".repeat(10_000)),
        Outcome::Unknown { reason: "lost".into() },
        Outcome::Cancelled { sent: true },
    ])
}

fn events() -> impl Strategy<Value = Event> {
    let turn = 1..6_u64;
    let call = 1..12_u64;
    prop_oneof![
        3 => Just(submit("go")),
        2 => turn.clone().prop_map(|turn| text(turn, "x")),
        5 => (turn.clone(), calls()).prop_map(|(turn, call)| says(turn, ModelEvent::Call(call))),
        5 => (turn.clone(), finishes()).prop_map(|(turn, how)| finish(turn, how)),
        1 => turn.prop_map(|turn| fails(turn, ProviderErrorKind::Broken)),
        5 => (call.clone(), answers()).prop_map(|(call, how)| answer(call, how)),
        5 => (call, outcomes()).prop_map(|(call, outcome)| done(call, outcome)),
        2 => (1..4_u64, any::<bool>()).prop_map(|(question, go_on)| decide(question, go_on)),
        1 => Just(Event::Interrupted),
        1 => Just(Event::CatalogChanged { catalog: catalog("pin") }),
        1 => Just(Event::CatalogChanged { catalog: catalog("other") }),
        1 => Just(Event::CatalogChanged { catalog: catalog_without_asks() }),
        1 => Just(Event::CallDirect {
            tool: ToolId::new("asks", "one"),
            arguments: Arc::default(),
            consent: false,
        }),
    ]
}

/// Every call has exactly one result right after its message, in order, and no result stands alone.
fn assert_valid(request: &ModelRequest) {
    let mut due: Vec<&str> = Vec::new();
    for message in request.messages.iter() {
        match message {
            Message::Result { provider_id, .. } => {
                assert!(!due.is_empty(), "a result without a call: {request:?}");
                assert_eq!(due.remove(0), provider_id, "{request:?}");
            }
            Message::User { .. } => assert!(due.is_empty(), "calls without results: {request:?}"),
            Message::Assistant { calls, .. } => {
                assert!(due.is_empty(), "calls without results: {request:?}");
                due = calls.iter().map(|call| call.provider_id.as_str()).collect();
                let distinct: HashSet<&&str> = due.iter().collect();
                assert_eq!(distinct.len(), due.len(), "{request:?}");
            }
        }
    }
    assert!(due.is_empty(), "calls without results: {request:?}");
}

proptest! {
    #[test]
    fn every_request_is_valid_and_nothing_runs_unasked(story in prop::collection::vec(events(), 1..80)) {
        let mut rig = rig();
        let mut allowed = HashSet::new();
        let mut asked = HashSet::new();
        for event in story {
            if let Event::Answered { call, answer: Answer::Once | Answer::Session | Answer::Always } = &event
                && asked.contains(call)
            {
                allowed.insert(*call);
            }
            for effect in rig.all(event) {
                match effect {
                    Effect::AskModel { request, .. } => assert_valid(&request),
                    Effect::Tell(Notice::Asked { approval }) => {
                        asked.insert(approval.call.id);
                    }
                    Effect::RunCall { call } => {
                        prop_assert!(call.tool.server.as_str() != "closed");
                        if asked.contains(&call.id) && !allowed.contains(&call.id) {
                            // Only the grant of another answer opens it.
                            prop_assert!(!allowed.is_empty());
                        }
                    }
                    _ => {}
                }
            }
        }
        // However it stands: after two interrupts the next message makes a valid request.
        rig.all(Event::Interrupted);
        rig.all(Event::Interrupted);
        for effect in rig.all(submit("last")) {
            if let Effect::AskModel { request, .. } = effect {
                assert_valid(&request);
            }
        }
    }
}
