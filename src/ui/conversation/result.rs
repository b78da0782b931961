//! What a call came to, as text: for its card, for copying, for the transcript.

use crate::domain::call::is_wrapped;
use crate::domain::{Content, DeniedBy, Outcome, ToolOutput};
use crate::text::human;

/// Texts longer than this are not compared with the structured result.
const COMPARED: usize = 256 * 1024;

/// The whole result as the tool gave it, or the sentence that stands for it.
pub(super) fn text_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => output_text(output),
        Outcome::InvalidArguments { message } => message.clone(),
        Outcome::Denied(by) => denied(by),
        Outcome::NotSent { reason } => format!("It was not sent: {reason}"),
        // Whoever lost the answer may have said so in full.
        Outcome::Unknown { reason } if reason.contains("may have run") => reason.clone(),
        Outcome::Unknown { reason } => {
            format!("It was sent and its answer was lost: it may have run. {reason}")
        }
        Outcome::Cancelled { sent: true } => {
            "Cancelled after it had been sent: it may have run.".to_owned()
        }
        Outcome::Cancelled { sent: false } => "Cancelled before it was sent.".to_owned(),
    }
}

/// Remarks of the client about a result.
pub(super) fn remarks(outcome: &Outcome) -> &[String] {
    match outcome {
        Outcome::Ok(output) | Outcome::ToolError(output) => &output.remarks,
        _ => &[],
    }
}

fn denied(by: &DeniedBy) -> String {
    match by {
        DeniedBy::User { note } if note.is_empty() => "You denied it.".to_owned(),
        DeniedBy::User { note } => format!("You denied it, with a note to the model: {note}"),
        DeniedBy::Rule { rule } => format!("Denied: {rule}"),
        DeniedBy::Headless { rule, .. } => {
            let rule = crate::wire::quote(rule);
            format!("Nobody was there to ask. This would allow it: --allow {rule}")
        }
    }
}

fn output_text(output: &ToolOutput) -> String {
    let mut parts: Vec<String> = output.content.iter().map(content_text).collect();
    if let Some(structured) = &output.structured
        && !told_already(output, structured)
    {
        parts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    parts.join("\n")
}

/// Servers are asked to say a structured result in a text part as well.
fn told_already(output: &ToolOutput, structured: &serde_json::Value) -> bool {
    output.content.iter().any(|part| match part {
        Content::Text(text) if is_wrapped(text, structured) => true,
        Content::Text(text)
            if text.len() < COMPARED && text.trim_start().starts_with(['{', '[']) =>
        {
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|said| said == *structured)
        }
        _ => false,
    })
}

fn content_text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Binary { kind, mime, uri, size, .. } => {
            let gap = if uri.is_empty() { "" } else { " " };
            format!("[{kind}, {mime}, {}: not shown]{gap}{uri}", human::bytes(*size as u64))
        }
        Content::Resource { uri, text } => format!("[resource {uri}]\n{text}"),
        Content::Link { uri, name } if name.is_empty() => format!("[link] {uri}"),
        Content::Link { uri, name } => format!("[link] {name}: {uri}"),
        Content::Unknown(value) => value.to_string(),
    }
}
