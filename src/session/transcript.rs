//! A conversation as something to read or to process elsewhere: Markdown and JSON.
//!
//! The text in it is raw; whoever prints it to a terminal cleans it first.

use serde_json::{Value, json};

use super::{SessionEvent, Transcript};
use crate::domain::{Call, Content, Message, Outcome, RequestedCall};

/// The conversation as Markdown.
pub fn markdown(transcript: &Transcript) -> String {
    let header = &transcript.header;
    let model = header.model.as_ref().map(|model| format!(" with {model}")).unwrap_or_default();
    let mut parts = vec![format!("# Session {}\n\nBegun {}{model}.\n", header.id, header.created)];
    for line in &transcript.lines {
        match &line.event {
            SessionEvent::Message { message } => parts.extend(sections(message)),
            SessionEvent::Call { call, outcome, .. } if call.turn.is_none() => {
                parts.push(direct(call, outcome));
            }
            SessionEvent::ModelChanged { model } => {
                parts.push(format!("*From here on: {model}.*\n"));
            }
            SessionEvent::Call { .. } | SessionEvent::TurnEnded { .. } => {}
        }
    }
    parts.join("\n")
}

fn sections(message: &Message) -> Vec<String> {
    match message {
        Message::User { text } => vec![format!("## You\n\n{text}\n")],
        Message::Assistant { text, calls, incomplete, .. } => {
            let mark = if *incomplete { " (incomplete)" } else { "" };
            let said = format!("## Assistant{mark}\n\n{text}\n");
            std::iter::once(said).chain(calls.iter().map(call)).collect()
        }
        Message::Result { name, text, is_error, .. } => {
            let kind = if *is_error { "Error" } else { "Result" };
            let fence = fence_for(text);
            vec![format!("### {kind} of `{name}`\n\n{fence}\n{text}\n{fence}\n")]
        }
    }
}

fn call(call: &RequestedCall) -> String {
    let arguments = match &call.arguments {
        Ok(arguments) => serde_json::to_string_pretty(arguments.as_ref()).unwrap_or_default(),
        Err(bad) => bad.raw.clone(),
    };
    let fence = fence_for(&arguments);
    format!("### Call of `{}`\n\n{fence}json\n{arguments}\n{fence}\n", call.name)
}

/// A call that the user made without the model.
fn direct(call: &Call, outcome: &Outcome) -> String {
    let arguments = serde_json::to_string_pretty(call.arguments.as_ref()).unwrap_or_default();
    let fence = fence_for(&arguments);
    let text = match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => {
            let texts = output.content.iter().filter_map(|content| match content {
                Content::Text(text) | Content::Resource { text, .. } => Some(text.as_str()),
                Content::Binary { .. } | Content::Link { .. } | Content::Unknown(_) => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Outcome::InvalidArguments { .. }
        | Outcome::Denied(_)
        | Outcome::NotSent { .. }
        | Outcome::Unknown { .. }
        | Outcome::Cancelled { .. } => String::new(),
    };
    let below = fence_for(&text);
    format!(
        "### Your call of `{}`: {}\n\n{fence}json\n{arguments}\n{fence}\n\n{below}\n{text}\n{below}\n",
        call.tool,
        outcome.word()
    )
}

/// A fence that the text cannot close.
fn fence_for(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

/// The conversation as one JSON value: the header and every event.
pub fn json(transcript: &Transcript) -> Value {
    json!({
        "session": transcript.header,
        "events": transcript.lines,
        "skippedLines": transcript.skipped,
    })
}
