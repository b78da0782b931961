use serde_json::json;

use super::*;
use crate::domain::turn::BadArguments;
use crate::domain::{Content, ToolOutput, TurnEnd, TurnId};

fn line(event: SessionEvent) -> Line {
    Line { at: "2026-11-30T18:15:13Z".to_owned(), event, turns: 0 }
}

fn message(message: Message) -> Line {
    line(SessionEvent::Message { message })
}

fn user(text: &str) -> Line {
    message(Message::User { text: text.to_owned() })
}

fn asked(ids: &[&str]) -> Line {
    let call = |id: &&str| RequestedCall {
        provider_id: (*id).to_owned(),
        name: "rig_add".into(),
        arguments: Ok(Arc::new(json!({ "of": id }).as_object().unwrap().clone())),
    };
    let calls = ids.iter().map(call).collect();
    message(Message::Assistant { text: String::new(), reasoning: None, calls, incomplete: false })
}

fn told(id: &str, text: &str) -> Line {
    message(Message::Result {
        provider_id: id.to_owned(),
        call: None,
        name: "rig_add".into(),
        text: text.into(),
        is_error: false,
    })
}

/// The line of a call that gave this; `told` is what the model gets, where the line says so.
fn ended(number: u64, id: &str, gave: &str, told: Option<&str>) -> Line {
    let output = ToolOutput { content: vec![Content::Text(gave.into())], ..ToolOutput::default() };
    line(SessionEvent::Call {
        call: Arc::new(Call {
            id: CallId(number),
            turn: Some(TurnId(1)),
            tool: ToolId::new("rig", "add"),
            model_name: "rig_add".into(),
            arguments: Arc::new(json!({ "of": id }).as_object().unwrap().clone()),
        }),
        outcome: Arc::new(Outcome::Ok(output)),
        took_ms: 1,
        told: told.map(|text| Told { provider_id: id.to_owned(), text: text.into() }),
    })
}

/// What the results say, in order, after the provider's ids.
fn texts(lines: &[Line]) -> Vec<(String, String)> {
    let text = |message: Message| match message {
        Message::Result { provider_id, text, .. } => Some((provider_id, text.to_string())),
        _ => None,
    };
    messages(lines).into_iter().filter_map(text).collect()
}

fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}

#[test]
fn results_of_a_round_that_was_cut_off_come_from_the_lines_of_the_calls() {
    let lines = [
        user("go"),
        asked(&["a", "b", "c"]),
        ended(2, "b", "two", Some("told two")),
        ended(1, "a", "one", None),
    ];
    let found = texts(&lines);
    assert_eq!(found.len(), 3);
    assert!(found[0].0 == "a" && found[0].1.contains("one"), "{found:?}");
    assert_eq!(found[1], pair("b", "told two"));
    assert_eq!(found[2], pair("c", LOST_FOR_MODEL));
}

#[test]
fn what_was_handed_back_counts_more_than_the_line_of_the_call() {
    let lines = [asked(&["a"]), ended(1, "a", "x", Some("early")), told("a", "handed back")];
    assert_eq!(texts(&lines), [pair("a", "handed back")]);
}

#[test]
fn every_call_has_one_result_whatever_comes_twice_or_belongs_to_none() {
    let lines = [
        told("stray", "x"),
        asked(&["a", "a"]),
        told("a", "first"),
        told("a", "second"),
        told("stray", "x"),
        user("next"),
        asked(&["a"]),
    ];
    assert_eq!(texts(&lines), [pair("a", "first"), pair("a", LOST_FOR_MODEL)]);
}

#[test]
fn calls_without_readable_arguments_are_found_by_what_their_lines_say() {
    let bad = BadArguments { raw: "{".into(), fault: "ends early".into() };
    let call =
        RequestedCall { provider_id: "a".into(), name: "rig_add".into(), arguments: Err(bad) };
    let asked = message(Message::Assistant {
        text: String::new(),
        reasoning: None,
        calls: vec![call],
        incomplete: false,
    });
    assert_eq!(texts(std::slice::from_ref(&asked)), [pair("a", LOST_FOR_MODEL)]);
    assert_eq!(texts(&[asked, ended(1, "a", "x", Some("told"))]), [pair("a", "told")]);
}

#[test]
fn only_what_was_allowed_in_the_last_run_is_asked_again() {
    let grant = |tool: &str| line(SessionEvent::Granted { tool: ToolId::new("rig", tool) });
    let lines = [grant("old"), line(SessionEvent::Resumed), grant("new"), grant("new")];
    assert_eq!(granted(&lines), [ToolId::new("rig", "new")]);
}

#[test]
fn whole_results_are_found_with_what_the_model_saw_of_them() {
    let lines = [
        user("go"),
        asked(&["a"]),
        ended(7, "a", "whole", None),
        message(Message::Result {
            provider_id: "a".into(),
            call: Some(CallId(7)),
            name: "rig_add".into(),
            text: "a part".into(),
            is_error: false,
        }),
        line(SessionEvent::TurnEnded { reason: TurnEnd::Done }),
    ];
    let found = results(&lines);
    assert_eq!((found.len(), found[0].call), (1, CallId(7)));
    assert_eq!(found[0].told.as_deref(), Some("a part"));
}

#[test]
fn a_summary_stands_after_the_results_of_the_round_that_it_leaves() {
    let lines = [
        user("go"),
        asked(&["a", "b"]),
        told("b", "two"),
        line(SessionEvent::Summarised { text: "in short".to_owned() }),
        asked(&["c"]),
    ];
    assert_eq!(summaries(&lines), [(4, "in short".to_owned())]);
    assert_eq!(texts(&lines).len(), 3);
}
