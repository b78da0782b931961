//! Going on with another conversation in the same run.

use std::sync::Arc;

use serde_json::json;

use super::rig::*;
use crate::agent::{Event, Grants, Past, PastResult};
use crate::domain::model::Finish;
use crate::domain::{Answer, CallId, Content, Message, ToolId};

/// A conversation in which call 40 gave more than the model saw.
fn earlier() -> Past {
    let text = "row\n".repeat(20_000);
    let result = PastResult {
        call: CallId(40),
        tool: ToolId::new("asks", "one"),
        outcome: Arc::new(crate::domain::Outcome::Ok(output(vec![Content::Text(text)]))),
        told: Some("a part".into()),
    };
    let messages = vec![
        Message::User { text: "earlier".into() },
        Message::Assistant {
            text: String::new(),
            reasoning: None,
            calls: vec![wants("k", "asks_one", json!({}))],
            incomplete: false,
        },
    ];
    Past { messages, results: vec![result], ..Past::default() }
}

fn resumed(grants: Grants) -> Event {
    Event::Resumed { past: Box::new(earlier()), grants }
}

#[test]
fn what_was_allowed_for_the_session_is_asked_again_in_another_one() {
    for (grants, expected) in [
        (Grants::Ended, ["41 asking", "asked 41"].as_slice()),
        (Grants::Kept, ["41 running", "run 41 {}"].as_slice()),
    ] {
        let mut rig = rig();
        rig.model_calls(vec![wants("k1", "asks_one", json!({}))]);
        rig.does(answer(1, Answer::Session));
        rig.does(done(1, ok("x")));
        rig.does(finish(1, Finish::Stop));
        rig.does(resumed(grants));
        rig.does(submit("again"));
        let effects = rig.model_calls_again(2, vec![wants("k2", "asks_one", json!({}))]);
        assert_eq!(effects, expected, "{grants:?}");
    }
}

#[test]
fn the_other_conversation_takes_the_place_of_this_one_and_is_valid() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k1", "free_one", json!({}))]);
    rig.does(resumed(Grants::Ended));
    // What ran meanwhile belongs to no conversation any more.
    rig.does(done(1, ok("late")));
    let request = rig.request(submit("now"));
    assert_eq!(roles(&request), ["user earlier", "assistant [\"k\"]", "error k", "user now"]);
    assert!(
        request.tools.iter().any(|tool| tool.name.as_str() == "mini_me_read_result"),
        "a cut result can be read on"
    );
}
