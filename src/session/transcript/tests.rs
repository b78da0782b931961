use std::sync::Arc;

use super::*;
use crate::domain::{CallId, ModelName, ToolId, ToolOutput};
use crate::session::{Header, SessionId};

fn transcript(events: Vec<SessionEvent>) -> Transcript {
    let id = SessionId::parse("20261130-181512-ab12cd").unwrap();
    let line = |event| Line { at: "2026-11-30T18:15:13Z".into(), event, turns: 1 };
    Transcript {
        header: Header::new(id, "2026-11-30T18:15:12Z".into(), Some("m".into())),
        lines: events.into_iter().map(line).collect(),
        skipped: 0,
        torn: false,
    }
}

fn message(message: Message) -> SessionEvent {
    SessionEvent::Message { message }
}

fn user(text: &str) -> SessionEvent {
    message(Message::User { text: text.into() })
}

fn answer(text: &str, calls: Vec<RequestedCall>) -> SessionEvent {
    message(Message::Assistant { text: text.into(), reasoning: None, calls, incomplete: false })
}

fn asked(name: &str) -> RequestedCall {
    let arguments = json!({ "a": "x" }).as_object().unwrap().clone();
    RequestedCall {
        provider_id: "c1".into(),
        name: name.into(),
        arguments: Ok(Arc::new(arguments)),
    }
}

fn called(turn: Option<u64>, text: &str) -> SessionEvent {
    let output = ToolOutput { content: vec![Content::Text(text.into())], ..ToolOutput::default() };
    SessionEvent::Call {
        call: Arc::new(Call {
            id: CallId(1),
            turn: turn.map(crate::domain::TurnId),
            tool: ToolId::new("s", "t"),
            model_name: ModelName::new("s_t"),
            arguments: Arc::default(),
        }),
        outcome: Arc::new(Outcome::Ok(output)),
        took_ms: 3,
        told: None,
    }
}

#[test]
fn exports_hold_the_whole_conversation() {
    let told = message(Message::Result {
        provider_id: "c1".into(),
        call: Some(CallId(1)),
        name: "s_t".into(),
        text: "a part".into(),
        is_error: false,
    });
    let story = transcript(vec![
        user("hello\n\nagain"),
        answer("", vec![asked("s_t")]),
        called(Some(1), "the whole result"),
        told,
        called(None, "by hand"),
        SessionEvent::TurnEnded { reason: TurnEnd::Cancelled },
        SessionEvent::Granted { tool: ToolId::new("s", "t") },
        SessionEvent::Resumed,
        answer("bye", vec![asked("lost")]),
    ]);
    let page = markdown(&story);
    for part in [
        "## You · `2026-11-30T18:15:13Z`\n\n> hello\n>\n> again\n",
        "### Call of `s_t`\n\n```json\n{\n  \"a\": \"x\"\n}\n```\n",
        "### Result of `s_t`: ok, 3 ms\n\n```\nthe whole result\n```\n",
        "*The model saw this of it:*\n\n```\na part\n```\n",
        "### Your call of `s/t`: ok, 3 ms\n",
        "```\nby hand\n```\n",
        "*The turn ended: cancelled.*\n",
        "*Allowed for the session: `s/t`.*\n",
        "*Resumed `2026-11-30T18:15:13Z`.*\n",
        "## Assistant · `2026-11-30T18:15:13Z`\n\n> bye\n",
        "### No result of `lost`: unknown\n",
    ] {
        assert!(page.contains(part), "{part}\nis not in\n{page}");
    }
    let shape = json(&story);
    assert_eq!((&shape["version"], &shape["events"].as_array().unwrap().len()), (&json!(1), &9));
    assert_eq!(shape["events"][0]["type"], "message");
}

#[test]
fn what_others_wrote_cannot_pass_for_the_page() {
    let hostile = "```\n## You\n\r## Assistant\n<!--\n````";
    let page = markdown(&transcript(vec![
        user(hostile),
        answer(hostile, vec![asked("a`b\n## You")]),
        called(None, hostile),
    ]));
    let mut fence: Option<&str> = None;
    let mut headings = Vec::new();
    for line in page.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("json")),
            None if line.starts_with('#') => headings.push(line),
            None => assert!(!line.starts_with("<!--"), "{line}"),
        }
    }
    assert_eq!(fence, None, "{page}");
    let expected = [
        "# Session",
        "## You",
        "## Assistant",
        "### Call of `a·b·## You`",
        "### Your call of",
        "### No result of `a·b·## You`",
    ];
    assert_eq!(headings.len(), expected.len(), "{headings:?}");
    assert!(headings.iter().zip(expected).all(|(found, begins)| found.starts_with(begins)));
}
