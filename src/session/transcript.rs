//! A conversation as something to read or to process elsewhere: Markdown and JSON.
//!
//! The text in it is raw; whoever prints it to a terminal cleans it first.

use serde_json::{Value, json};

use super::{SessionEvent, Transcript};
use crate::domain::{Message, RequestedCall};

/// The conversation as Markdown.
pub fn markdown(transcript: &Transcript) -> String {
    let header = &transcript.header;
    let mut page = format!("# Session {}\n\nBegun {}", header.id, header.created);
    if let Some(model) = &header.model {
        page.push_str(&format!(" with {model}"));
    }
    page.push_str(".\n");
    for line in &transcript.lines {
        if let SessionEvent::Message { message } = &line.event {
            add_message(&mut page, message);
        }
    }
    page
}

fn add_message(page: &mut String, message: &Message) {
    match message {
        Message::User { text } => {
            page.push_str(&format!("\n## You\n\n{text}\n"));
        }
        Message::Assistant { text, calls, incomplete, .. } => {
            let mark = if *incomplete { " (incomplete)" } else { "" };
            page.push_str(&format!("\n## Assistant{mark}\n\n{text}\n"));
            calls.iter().for_each(|call| add_call(page, call));
        }
        Message::Result { name, text, is_error, .. } => {
            let kind = if *is_error { "Error" } else { "Result" };
            let fence = fence_for(text);
            page.push_str(&format!("\n### {kind} of `{name}`\n\n{fence}\n{text}\n{fence}\n"));
        }
    }
}

fn add_call(page: &mut String, call: &RequestedCall) {
    let arguments = match &call.arguments {
        Ok(arguments) => serde_json::to_string_pretty(arguments.as_ref()).unwrap_or_default(),
        Err(bad) => bad.raw.clone(),
    };
    let fence = fence_for(&arguments);
    page.push_str(&format!("\n### Call of `{}`\n\n{fence}json\n{arguments}\n{fence}\n", call.name));
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
