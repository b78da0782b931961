//! A conversation that outgrows the model's window.

use super::rig::*;
use crate::agent::{AgentConfig, Effect, Event, Grants, Past, SessionEvent};
use crate::domain::model::{Finish, ModelRequest, ProviderErrorKind};
use crate::domain::{Interaction, Message};

const NOTHING: [&str; 0] = [];

/// A rig whose second message does not fit the window any more.
fn full() -> (Rig, ModelRequest) {
    let mut rig = Rig::new(AgentConfig {
        window: Some(3000),
        max_output_tokens: Some(500),
        ..AgentConfig::new(Interaction::Interactive)
    });
    rig.does(submit("remember project 42"));
    rig.does(text(1, &"word ".repeat(2500)));
    rig.does(finish(1, Finish::Stop));
    let request = rig.request(submit("and now?"));
    (rig, request)
}

fn request_of(effects: Vec<Effect>) -> ModelRequest {
    let request = effects.into_iter().find_map(|effect| match effect {
        Effect::AskModel { request, .. } => Some(request),
        _ => None,
    });
    request.expect("the model is asked")
}

#[test]
fn the_earlier_part_is_summarised_and_a_line_says_so() {
    let (mut rig, asked) = full();
    assert!(asked.system.starts_with("Summarise") && asked.tools.is_empty());
    assert_eq!(rig.does(text(2, "It is about project 42.")), NOTHING);
    let effects = rig.all(finish(2, Finish::Stop));
    let short: Vec<String> = effects.iter().filter_map(in_short).collect();
    assert_eq!(short, ["warned", "ask model 2"]);
    let kept = effects.iter().find_map(|effect| match effect {
        Effect::Save(SessionEvent::Summarised { text }) => Some(text.clone()),
        _ => None,
    });
    let said = roles(&request_of(effects));
    assert_eq!(said[0], format!("user {}", kept.expect("it is kept")));
    assert_eq!(said.len(), 2);
    assert!(said[0].ends_with("It is about project 42."), "{said:?}");
    assert_eq!(said[1], "user and now?");
    assert_eq!(rig.does(text(2, "Now this.")), ["text Now this."]);
    assert_eq!(rig.does(finish(2, Finish::Stop)), ["ended Done"]);
}

#[test]
fn a_summary_holds_when_the_conversation_is_gone_on_with() {
    let says = |text: &str| Message::Assistant {
        text: text.to_owned(),
        reasoning: None,
        calls: Vec::new(),
        incomplete: false,
    };
    let user = |text: &str| Message::User { text: text.to_owned() };
    let messages = vec![user("remember"), says("much"), user("and now?"), says("Now this.")];
    let summaries = vec![(3, "in short".to_owned())];
    let past = Box::new(Past { messages, summaries, ..Past::default() });
    let mut rig = Rig::new(AgentConfig::new(Interaction::Interactive));
    rig.does(Event::Resumed { past, grants: Grants::Ended });
    let said = roles(&rig.request(submit("go on")));
    assert_eq!(said, ["user in short", "user and now?", "assistant Now this.[]", "user go on"]);
}

#[test]
fn without_a_summary_the_request_goes_out_as_it_is() {
    let (mut rig, _) = full();
    let effects = rig.all(fails(2, ProviderErrorKind::TooLong));
    let short: Vec<String> = effects.iter().filter_map(in_short).collect();
    assert_eq!(short, ["warned", "ask model 2"]);
    assert_eq!(roles(&request_of(effects)).len(), 3);
    let effects = rig.does(fails(2, ProviderErrorKind::TooLong));
    assert_eq!(effects, ["ended Failed unreachable=false"]);
}

#[test]
fn cancelling_a_summary_changes_nothing() {
    let (mut rig, _) = full();
    rig.does(text(2, "It is"));
    assert_eq!(rig.does(Event::Interrupted), ["stop model 2", "ended Cancelled"]);
    assert_eq!(rig.does(finish(2, Finish::Stop)), NOTHING);
}

#[test]
fn a_first_message_has_nothing_to_summarise() {
    let mut rig =
        Rig::new(AgentConfig { window: Some(100), ..AgentConfig::new(Interaction::Interactive) });
    let request = rig.request(submit(&"word ".repeat(500)));
    assert!(!request.system.starts_with("Summarise"));
}
