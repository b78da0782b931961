//! The course of a turn without anybody being asked about calls.

use serde_json::json;

use super::rig::*;
use crate::agent::{AgentConfig, Effect, Event, SessionEvent};
use crate::domain::model::{Finish, ModelEvent, ProviderErrorKind};
use crate::domain::{Interaction, Message, Outcome, TurnEnd, Usage};

#[test]
fn a_message_goes_to_the_model_and_its_answer_ends_the_turn() {
    let mut rig = rig();
    assert_eq!(rig.does(submit("hello")), ["turn 1 starts: hello", "ask model 1"]);
    assert_eq!(rig.does(text(1, "hi")), ["text hi"]);
    assert_eq!(rig.does(finish(1, Finish::Stop)), ["ended Done"]);
}

#[test]
fn calls_of_one_round_run_side_by_side_and_results_go_back_in_order() {
    let mut rig = rig();
    let calls = vec![wants("k1", "free_one", json!({"a": 1})), wants("k2", "free_two", json!({}))];
    let effects = rig.model_calls(calls);
    assert_eq!(effects, ["1 running", "run 1 {\"a\":1}", "2 running", "run 2 {}"]);
    assert_eq!(rig.does(done(2, ok("second"))), ["2 ok"]);
    let request = rig.request(done(1, ok("first")));
    assert_eq!(
        roles(&request),
        ["user go", "assistant [\"k1\", \"k2\"]", "result k1", "result k2"]
    );
}

#[test]
fn the_presence_of_calls_decides_and_not_the_reason_given() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(says(1, ModelEvent::Call(wants("k1", "free_one", json!({})))));
    assert_eq!(rig.does(finish(1, Finish::Stop)), ["1 running", "run 1 {}"]);
}

#[test]
fn an_unknown_tool_is_refused_with_the_nearest_name() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(says(1, ModelEvent::Call(wants("k1", "free_oen", json!({})))));
    let effects = rig.all(finish(1, Finish::ToolCalls));
    let short: Vec<String> = effects.iter().filter_map(in_short).collect();
    assert_eq!(short, ["refused free_oen: not sent", "ask model 1"]);
    let Some(Effect::AskModel { request, .. }) =
        effects.iter().find(|effect| matches!(effect, Effect::AskModel { .. }))
    else {
        panic!("the model is not asked")
    };
    let Some(Message::Result { text, is_error: true, .. }) = request.messages.last() else {
        panic!("no error result: {request:?}")
    };
    assert!(text.contains("free_one"), "{text}");
}

#[test]
fn unreadable_arguments_are_not_asked_about_and_not_run() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(says(1, ModelEvent::Call(wants_broken("k1", "asks_picky"))));
    let request = rig.request(finish(1, Finish::ToolCalls));
    assert_eq!(roles(&request), ["user go", "assistant [\"k1\"]", "error k1"]);
    let Some(Message::Result { text, .. }) = request.messages.last() else { panic!() };
    assert!(text.contains("JSON") && text.contains("never en"), "{text}");
    assert!(text.len() < 2000);
}

#[test]
fn arguments_that_do_not_fit_the_schema_are_not_asked_about_and_not_run() {
    let mut rig = rig();
    let effects = rig.model_calls(vec![wants("k1", "asks_picky", json!({"q": 7}))]);
    assert_eq!(effects, ["1 invalid arguments", "ask model 1"]);
}

#[test]
fn two_calls_with_the_same_id_get_different_ones() {
    let mut rig = rig();
    let calls = vec![wants("k", "nope", json!({})), wants("k", "nope", json!({}))];
    rig.does(submit("go"));
    for call in calls {
        rig.does(says(1, ModelEvent::Call(call)));
    }
    let request = rig.request(finish(1, Finish::ToolCalls));
    assert_eq!(roles(&request), ["user go", "assistant [\"k\", \"k_1\"]", "error k", "error k_1"]);
}

#[test]
fn a_stream_that_ends_in_the_middle_runs_nothing_and_keeps_the_text() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(text(1, "I will"));
    rig.does(says(1, ModelEvent::Call(wants("k1", "free_one", json!({})))));
    assert_eq!(rig.does(finish(1, Finish::Incomplete)), ["ended Incomplete"]);
    let request = rig.request(submit("again"));
    assert_eq!(roles(&request), ["user go", "assistant I will[] (incomplete)", "user again"]);
}

#[test]
fn a_model_that_fails_ends_the_turn_and_drops_nothing_the_user_typed() {
    let mut rig = rig();
    rig.does(submit("go"));
    let effects = rig.does(fails(1, ProviderErrorKind::Unreachable));
    assert_eq!(effects, ["ended Failed unreachable=true"]);
    assert_eq!(roles(&rig.request(submit("again"))), ["user go", "user again"]);
}

#[test]
fn a_stream_that_breaks_after_it_began_is_incomplete() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(text(1, "I"));
    assert_eq!(rig.does(fails(1, ProviderErrorKind::Broken)), ["ended Incomplete"]);
}

#[test]
fn an_answer_with_nothing_in_it_is_empty() {
    let mut rig = rig();
    rig.does(submit("go"));
    assert_eq!(rig.does(finish(1, Finish::Stop)), ["ended Empty"]);
}

#[test]
fn events_of_a_finished_turn_are_ignored() {
    let mut rig = rig();
    rig.does(submit("one"));
    rig.does(text(1, "x"));
    rig.does(finish(1, Finish::Stop));
    rig.does(submit("two"));
    assert_eq!(rig.does(text(1, "late")), [""; 0]);
    assert_eq!(rig.does(fails(1, ProviderErrorKind::Server)), [""; 0]);
    assert_eq!(rig.does(done(9, ok("stray"))), [""; 0]);
}

fn one_round(rig: &mut Rig, call: u64, result: &str) -> Vec<String> {
    rig.model_calls_again(1, vec![wants("k", "free_one", json!({"n": call}))]);
    rig.does(done(call, ok(result)))
}

#[test]
fn after_the_limit_of_rounds_the_user_is_asked_whether_to_go_on() {
    let mut rig = Rig::new(AgentConfig { rounds: 2, ..AgentConfig::new(Interaction::Interactive) });
    rig.does(submit("go"));
    assert_eq!(one_round(&mut rig, 1, "a"), ["1 ok", "ask model 1"]);
    assert_eq!(one_round(&mut rig, 2, "b"), ["2 ok", "question 1: Rounds { rounds: 2 }"]);
    assert_eq!(rig.does(decide(7, true)), [""; 0]);
    assert_eq!(rig.does(decide(1, true)), ["question 1 closed", "ask model 1"]);
    assert_eq!(rig.does(decide(1, false)), [""; 0]);
    one_round(&mut rig, 3, "c");
    one_round(&mut rig, 4, "d");
    assert_eq!(rig.does(decide(2, false)), ["question 2 closed", "ended Stopped"]);
    let request = rig.request(submit("more"));
    assert_eq!(roles(&request).len(), 1 + 4 * 2 + 1);
}

#[test]
fn without_anybody_to_ask_the_limit_of_rounds_ends_the_turn() {
    let mut rig = Rig::new(AgentConfig { rounds: 1, ..AgentConfig::new(Interaction::Headless) });
    rig.does(submit("go"));
    assert_eq!(one_round(&mut rig, 1, "a"), ["1 ok", "warned", "ended Stopped"]);
}

fn same_again(rig: &mut Rig, call: u64, result: &str) -> Vec<String> {
    rig.model_calls_again(1, vec![wants("k", "free_one", json!({}))]);
    rig.does(done(call, ok(result)))
}

#[test]
fn the_same_call_with_the_same_result_three_times_in_a_row_is_asked_about() {
    let mut rig = rig();
    rig.does(submit("go"));
    same_again(&mut rig, 1, "a");
    same_again(&mut rig, 2, "a");
    let effects = same_again(&mut rig, 3, "a");
    assert_eq!(effects, ["3 ok", "question 1: Repeated { tool: \"free/one\", times: 3 }"]);
    assert_eq!(rig.does(decide(1, true)), ["question 1 closed", "ask model 1"]);
    assert_eq!(same_again(&mut rig, 4, "a"), ["4 ok", "ask model 1"]);
}

#[test]
fn a_result_that_changes_is_no_repetition() {
    let mut rig = rig();
    rig.does(submit("go"));
    for (call, result) in [(1, "a"), (2, "a"), (3, "b"), (4, "a"), (5, "a")] {
        assert_eq!(same_again(&mut rig, call, result).last().unwrap(), "ask model 1");
    }
}

#[test]
fn a_call_that_only_fails_to_be_sent_over_and_over_is_a_repetition_too() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.model_calls_again(1, vec![wants("k", "nope", json!({}))]);
    rig.model_calls_again(1, vec![wants("k", "nope", json!({}))]);
    let effects = rig.model_calls_again(1, vec![wants("k", "nope", json!({}))]);
    assert_eq!(effects.last().unwrap(), "question 1: Repeated { tool: \"nope\", times: 3 }");
}

#[test]
fn every_message_call_and_end_is_saved() {
    let mut rig = rig();
    let saved = |effects: Vec<Effect>| -> Vec<String> {
        let name = |effect: Effect| match effect {
            Effect::Save(SessionEvent::Message { message }) => Some(match message {
                Message::User { .. } => "user".to_owned(),
                Message::Assistant { .. } => "assistant".to_owned(),
                Message::Result { .. } => "result".to_owned(),
            }),
            Effect::Save(SessionEvent::Call { .. }) => Some("call".to_owned()),
            Effect::Save(SessionEvent::TurnEnded { reason }) => Some(format!("{reason:?}")),
            _ => None,
        };
        effects.into_iter().filter_map(name).collect()
    };
    assert_eq!(saved(rig.all(submit("go"))), ["user"]);
    rig.does(says(1, ModelEvent::Call(wants("k", "free_one", json!({})))));
    assert_eq!(saved(rig.all(finish(1, Finish::Stop))), ["assistant"]);
    assert_eq!(saved(rig.all(done(1, ok("x")))), ["call", "result"]);
    rig.does(text(1, "done"));
    assert_eq!(saved(rig.all(finish(1, Finish::Stop))), ["assistant", "Done"]);
}

#[test]
fn the_tokens_of_all_requests_of_a_turn_are_counted() {
    let mut rig = rig();
    rig.does(submit("go"));
    let usage = |input, output| {
        says(1, ModelEvent::Usage(Usage { input: Some(input), output: Some(output), cached: None }))
    };
    rig.does(usage(100, 1));
    rig.does(usage(100, 7));
    rig.does(says(1, ModelEvent::Call(wants("k", "nope", json!({})))));
    rig.does(finish(1, Finish::ToolCalls));
    rig.does(usage(150, 5));
    rig.does(text(1, "x"));
    let effects = rig.all(finish(1, Finish::Stop));
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Tell(crate::bridge::Notice::TurnEnded { usage, .. }) => Some(*usage),
        _ => None,
    });
    assert_eq!(found, Some(Usage { input: Some(250), output: Some(12), cached: None }));
}

#[test]
fn a_new_session_starts_empty() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k", "free_one", json!({}))]);
    rig.does(submit("waiting"));
    let effects = rig.does(Event::NewSession);
    let expected = ["stop 1", "1 cancelled", "ended Cancelled", "queued []", "back [\"waiting\"]"];
    assert_eq!(effects, expected);
    assert_eq!(roles(&rig.request(submit("fresh"))), ["user fresh"]);
}

#[test]
fn a_request_offers_what_is_usable_and_says_whose_instructions_they_are() {
    let mut rig = rig();
    rig.does(Event::CatalogChanged { catalog: catalog_without_asks() });
    let request = rig.request(submit("go"));
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["free_one", "free_two", "free_picky"]);
    assert!(request.system.contains("the server \"free\""), "{}", request.system);
    assert!(request.system.contains("List before you get."), "{}", request.system);
}

#[test]
fn a_conversation_that_was_cut_off_is_mended_when_it_is_resumed() {
    let history = vec![
        Message::User { text: "do both".into() },
        Message::Assistant {
            text: String::new(),
            reasoning: None,
            calls: vec![wants("k1", "a", json!({})), wants("k2", "b", json!({}))],
            incomplete: false,
        },
        Message::Result {
            provider_id: "k1".into(),
            call: None,
            name: "a".into(),
            text: "done".into(),
            is_error: false,
        },
    ];
    let mut rig = rig();
    rig.agent = rig.agent.resume(history);
    let request = rig.request(submit("never mind, say hi"));
    assert_eq!(
        roles(&request),
        [
            "user do both",
            "assistant [\"k1\", \"k2\"]",
            "result k1",
            "error k2",
            "user never mind, say hi"
        ]
    );
}

#[test]
fn a_request_that_is_too_long_is_sent_once_more_with_old_results_shortened() {
    let mut rig = rig();
    rig.does(submit("go"));
    for call in 1..=6 {
        rig.model_calls_again(1, vec![wants("k", "free_one", json!({"n": call}))]);
        rig.does(done(call, ok(&"word ".repeat(1000))));
    }
    let effects = rig.all(fails(1, ProviderErrorKind::TooLong));
    let short: Vec<String> = effects.iter().filter_map(in_short).collect();
    assert_eq!(short, ["warned", "ask model 1"]);
    let request = effects.into_iter().find_map(|effect| match effect {
        Effect::AskModel { request, .. } => Some(request),
        _ => None,
    });
    let request = request.unwrap();
    let lengths: Vec<usize> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result { text, .. } => Some(text.len()),
            _ => None,
        })
        .collect();
    assert!(lengths[..2].iter().all(|length| *length < 700), "{lengths:?}");
    assert!(lengths[2..].iter().all(|length| *length > 5000), "{lengths:?}");
    assert!(request.tools.iter().any(|tool| tool.name.as_str() == "mini_me_read_result"));
    // Then the earlier rounds are summarised, and after that it is over.
    let effects = rig.all(fails(1, ProviderErrorKind::TooLong));
    let summary = effects.into_iter().find_map(|effect| match effect {
        Effect::AskModel { request, .. } => Some(request),
        _ => None,
    });
    assert!(summary.unwrap().system.starts_with("Summarise"));
    rig.does(fails(1, ProviderErrorKind::Server));
    for _ in 0..3 {
        rig.does(fails(1, ProviderErrorKind::TooLong));
    }
    assert_eq!(rig.does(submit("again"))[0], "turn 2 starts: again");
}

#[test]
fn near_the_window_old_results_are_shortened_before_the_request() {
    let mut rig = Rig::new(AgentConfig {
        window: Some(8000),
        max_output_tokens: Some(500),
        ..AgentConfig::new(Interaction::Interactive)
    });
    rig.does(submit("go"));
    let mut warned = 0;
    for call in 1..=8 {
        rig.model_calls_again(1, vec![wants("k", "free_one", json!({"n": call}))]);
        let effects = rig.does(done(call, ok(&"word ".repeat(1000))));
        warned += usize::from(effects.contains(&"warned".to_owned()));
    }
    assert!(warned > 0);
}

#[test]
fn an_outcome_that_arrives_twice_counts_once() {
    let mut rig = rig();
    rig.model_calls(vec![wants("k", "free_one", json!({}))]);
    assert_eq!(rig.does(done(1, ok("x"))), ["1 ok", "ask model 1"]);
    assert_eq!(rig.does(done(1, Outcome::Cancelled { sent: true })), [""; 0]);
}

#[test]
fn a_refusal_is_kept_as_text_and_ends_the_turn() {
    let mut rig = rig();
    rig.does(submit("go"));
    rig.does(text(1, "I will not"));
    assert_eq!(rig.does(finish(1, Finish::Refused)), [format!("ended {:?}", TurnEnd::Refused)]);
}

#[test]
fn an_answer_that_never_ends_is_stopped() {
    let mut rig = rig();
    rig.does(submit("go"));
    let piece = "x".repeat(1024 * 1024);
    for _ in 0..8 {
        rig.all(text(1, &piece));
    }
    let effects = rig.all(text(1, "y"));
    let short: Vec<String> = effects.iter().filter_map(in_short).collect();
    assert_eq!(short, ["text y", "stop model 1", "ended Incomplete"]);
}

/// Calls `free_one` and `free_two` in turn; the effects of the last outcome.
fn in_turn(rig: &mut Rig, calls: std::ops::RangeInclusive<u64>) -> Vec<Vec<String>> {
    let call = |n: u64| {
        let name = if n % 2 == 1 { "free_one" } else { "free_two" };
        rig.model_calls_again(1, vec![wants("k", name, json!({}))]);
        rig.does(done(n, ok("same")))
    };
    calls.map(call).collect()
}

#[test]
fn two_calls_that_follow_each_other_in_circles_are_asked_about() {
    let mut rig = rig();
    rig.does(submit("go"));
    let effects = in_turn(&mut rig, 1..=6);
    assert!(effects[..5].iter().all(|effects| effects[1] == "ask model 1"), "{effects:?}");
    let asked =
        "question 1: Repeated { tool: \"the circle of free/one, free/two\", times: 3 }".to_owned();
    assert_eq!(effects[5][1], asked);
    rig.does(decide(1, true));
    let effects = in_turn(&mut rig, 7..=11);
    assert!(effects.iter().all(|effects| effects[1] == "ask model 1"), "counting starts anew");
}

#[test]
fn a_circle_in_which_one_result_changes_is_none() {
    let mut rig = rig();
    rig.does(submit("go"));
    for call in 1..=12 {
        let name = if call % 2 == 1 { "free_one" } else { "free_two" };
        rig.model_calls_again(1, vec![wants("k", name, json!({}))]);
        let result = if call % 2 == 1 { "same".to_owned() } else { format!("result {call}") };
        assert_eq!(rig.does(done(call, ok(&result)))[1], "ask model 1");
    }
}

#[test]
fn the_same_round_of_two_calls_three_times_is_a_circle_too() {
    let mut rig = rig();
    rig.does(submit("go"));
    let mut last = Vec::new();
    for round in 0..3 {
        let calls = ["free_one", "free_two"].map(|name| wants(name, name, json!({})));
        rig.model_calls_again(1, calls.into());
        rig.does(done(round * 2 + 1, ok("a")));
        last = rig.does(done(round * 2 + 2, ok("b")));
    }
    assert!(last[1].starts_with("question 1: Repeated"), "{last:?}");
}
