//! A conversation as something to read or to process elsewhere: Markdown and JSON.
//!
//! Nothing is left out: Markdown has every message, call, whole result and end of a turn, JSON the
//! bytes of binary parts too. What somebody else wrote stands in quotes or fences that it cannot
//! close. The text is raw; whoever prints it to a terminal cleans it first.

use serde_json::{Value, json};

use super::mend::{self, Ended, Step};
use super::{Line, SessionEvent, Transcript};
use crate::agent::whole;
use crate::domain::{Call, Content, DeniedBy, Message, Outcome, RequestedCall, TurnEnd};

/// The version of the shape of [`json()`].
const VERSION: u32 = 1;

/// The conversation as Markdown.
pub fn markdown(transcript: &Transcript) -> String {
    let mut page = Page { out: String::new(), binary: false };
    page.head(transcript);
    for step in mend::steps(&transcript.lines) {
        match step {
            Step::Line(line) => page.line(line),
            Step::Result { result, ended } => page.result(&result, ended),
            Step::Lost { asked, .. } => {
                page.heading(3, &format!("No result of {}: unknown", code(asked.name.as_str())));
                page.quote(mend::LOST);
            }
        }
    }
    if page.binary {
        page.remark("Binary parts are not on this page; an export as JSON has them.");
    }
    page.out
}

/// The conversation as one JSON value: the header and every event.
pub fn json(transcript: &Transcript) -> Value {
    json!({
        "version": VERSION,
        "session": transcript.header,
        "events": transcript.lines,
        "skippedLines": transcript.skipped,
        "torn": transcript.torn,
    })
}

struct Page {
    out: String,
    /// Something binary was met.
    binary: bool,
}

impl Page {
    fn head(&mut self, transcript: &Transcript) {
        let header = &transcript.header;
        self.heading(1, &format!("Session {}", header.id));
        let mut facts = vec![format!("begun {}", code(&header.created))];
        facts.extend(header.model.as_ref().map(|model| format!("model {}", code(model))));
        if !header.servers.is_empty() {
            let names: Vec<String> = header.servers.iter().map(|name| code(name)).collect();
            facts.push(format!("servers {}", names.join(", ")));
        }
        facts.extend(header.parent.as_ref().map(|parent| match parent.before {
            Some(before) => format!("forked from {} before message {before}", parent.id),
            None => format!("a copy of {}", parent.id),
        }));
        self.block(&facts.join(" · "));
        for warning in transcript.warnings() {
            self.remark(&warning.message);
        }
    }

    fn line(&mut self, line: &Line) {
        match &line.event {
            SessionEvent::Message { message } => self.message(message, &line.at),
            SessionEvent::Call { call, outcome, took_ms, .. } => {
                self.direct(call, outcome, *took_ms);
            }
            SessionEvent::TurnEnded { reason } => self.end(reason),
            SessionEvent::Granted { tool } => {
                self.remark(&format!("Allowed for the session: {}.", code(&tool.to_string())));
            }
            SessionEvent::ModelChanged { model } => {
                self.remark(&format!("From here on: {}.", code(model)));
            }
            SessionEvent::Summarised { text } => {
                self.remark(
                    "From here on the model has this in the place of what was said before:",
                );
                self.quote(text);
            }
            SessionEvent::Resumed => {
                self.block("---");
                self.remark(&format!("Resumed {}.", code(&line.at)));
            }
        }
    }

    fn message(&mut self, message: &Message, at: &str) {
        match message {
            Message::User { text } => {
                self.heading(2, &format!("You · {}", code(at)));
                self.quote(text);
            }
            Message::Assistant { text, reasoning, calls, incomplete } => {
                let mark = if *incomplete { " (incomplete)" } else { "" };
                self.heading(2, &format!("Assistant{mark} · {}", code(at)));
                if let Some(reasoning) = reasoning.as_ref().filter(|said| !said.text.is_empty()) {
                    self.heading(3, "Reasoning");
                    self.quote(&reasoning.text);
                    if !text.is_empty() {
                        self.heading(3, "Answer");
                    }
                }
                if !text.is_empty() {
                    self.quote(text);
                }
                for call in calls {
                    self.asked(call);
                }
            }
            // Those of calls come as steps of their own.
            Message::Result { .. } => {}
        }
    }

    fn asked(&mut self, call: &RequestedCall) {
        self.heading(3, &format!("Call of {}", code(call.name.as_str())));
        match &call.arguments {
            Ok(arguments) => self.fence("json", &pretty(arguments.as_ref())),
            Err(bad) => {
                self.fence("", &bad.raw);
                self.remark(&format!("These arguments cannot be read: {}.", code(&bad.fault)));
            }
        }
    }

    fn result(&mut self, result: &Message, ended: Option<Ended<'_>>) {
        let Message::Result { name, text, is_error, .. } = result else { return };
        let how = match (&ended, is_error) {
            (Some(ended), _) => format!("{}, {} ms", ended.outcome.word(), ended.took_ms),
            (None, true) => "error".to_owned(),
            (None, false) => "ok".to_owned(),
        };
        self.heading(3, &format!("Result of {}: {how}", code(name.as_str())));
        let given = ended.and_then(|ended| {
            self.binary |= is_binary(ended.outcome);
            whole(ended.outcome)
        });
        match given.filter(|whole| !text.contains(whole.as_str())) {
            None => self.fence("", text),
            Some(whole) => {
                self.fence("", &whole);
                self.remark("The model saw this of it:");
                self.fence("", text);
            }
        }
    }

    /// A call that the user made without the model.
    fn direct(&mut self, call: &Call, outcome: &Outcome, took_ms: u64) {
        let how = format!("{}, {took_ms} ms", outcome.word());
        self.heading(3, &format!("Your call of {}: {how}", code(&call.tool.to_string())));
        self.fence("json", &pretty(call.arguments.as_ref()));
        self.binary |= is_binary(outcome);
        match whole(outcome) {
            Some(text) => self.fence("", &text),
            None => self.quote(&reason(outcome)),
        }
    }

    fn end(&mut self, reason: &TurnEnd) {
        let (word, why) = match reason {
            TurnEnd::Done => return,
            TurnEnd::Length => ("the model's output limit was reached", ""),
            TurnEnd::ContentFilter => ("the provider withheld the answer", ""),
            TurnEnd::Refused => ("the model refused", ""),
            TurnEnd::Empty => ("the model answered with nothing", ""),
            TurnEnd::Incomplete { reason } => ("the answer broke off", reason.as_str()),
            TurnEnd::Cancelled => ("cancelled", ""),
            TurnEnd::Stopped => ("stopped", ""),
            TurnEnd::Failed { reason, .. } => ("failed", reason.as_str()),
        };
        self.remark(&format!("The turn ended: {word}."));
        if !why.is_empty() {
            self.quote(why);
        }
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.block(&format!("{} {text}", "#".repeat(level)));
    }

    /// Words of this program.
    fn remark(&mut self, text: &str) {
        self.block(&format!("*{text}*"));
    }

    fn block(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Somebody else's Markdown: nothing in a quote reaches beyond it.
    fn quote(&mut self, text: &str) {
        let mut quoted = String::with_capacity(text.len() + 16);
        for line in text.split(['\n', '\r']) {
            let space = if line.is_empty() { "" } else { " " };
            quoted.extend([">", space, line, "\n"]);
        }
        self.block(quoted.trim_end_matches('\n'));
    }

    /// Somebody else's text, as it is.
    fn fence(&mut self, language: &str, text: &str) {
        let fence = fence_for(text);
        self.block(&format!("{fence}{language}\n{text}\n{fence}"));
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn is_binary(outcome: &Outcome) -> bool {
    let (Outcome::Ok(output) | Outcome::ToolError(output)) = outcome else { return false };
    output.content.iter().any(|content| matches!(content, Content::Binary { .. }))
}

/// Why there is no answer.
fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(_) | Outcome::ToolError(_) => String::new(),
        Outcome::InvalidArguments { message } => message.clone(),
        Outcome::Denied(DeniedBy::User { note }) if note.is_empty() => "denied by you".to_owned(),
        Outcome::Denied(DeniedBy::User { note }) => format!("denied by you: {note}"),
        Outcome::Denied(DeniedBy::Rule { rule } | DeniedBy::Headless { rule, .. }) => rule.clone(),
        Outcome::NotSent { reason } | Outcome::Unknown { reason } => reason.clone(),
        Outcome::Cancelled { sent: true } => "cancelled after it was sent".to_owned(),
        Outcome::Cancelled { sent: false } => "cancelled before it was sent".to_owned(),
    }
}

/// A name in a line: it ends where it should.
fn code(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_control() || c == '`' { '·' } else { c }).collect();
    format!("`{name}`")
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

#[cfg(test)]
mod tests;
