//! What `exec` says about each notice: text and progress for people, or one event per line. Pure.

use serde_json::{Map, Value, json};

use super::VERSION;
use super::ending::Ending;
use crate::bridge::Notice;
use crate::cmd::{Exit, json, output, servers};
use crate::domain::{
    Call, CallState, Catalog, DeniedBy, Outcome, Progress, ServerState, TurnEnd, Usage, Warning,
};
use crate::text;

/// Columns of a call's arguments that progress shows.
const ARGUMENTS: usize = 100;

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One event per line.
    Json,
}

/// Something to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// To standard output.
    pub(super) out: String,
    /// To standard error, in lines.
    pub(super) err: String,
}

/// Where the text of the answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// There is none yet.
    None,
    /// Its last line goes on.
    Open,
    /// Its last line is at an end.
    Closed,
    /// Its last line is at an end, and something else was said since.
    Broken,
}

/// Follows a turn and says what happens.
#[derive(Debug)]
pub(super) struct Teller {
    form: Form,
    model: String,
    session: Option<String>,
    answer: Answer,
    started: std::collections::HashSet<crate::domain::CallId>,
    ending: Ending,
    stopped: Option<Exit>,
    ended: Option<Exit>,
}

impl Teller {
    pub(super) fn new(form: Form, model: &str) -> Self {
        Self {
            form,
            model: model.to_owned(),
            session: None,
            answer: Answer::None,
            started: std::collections::HashSet::new(),
            ending: Ending::default(),
            stopped: None,
            ended: None,
        }
    }

    /// A signal ends the turn: the command ends with it, whatever comes of the turn.
    pub(super) fn stopped(&mut self, exit: Exit) {
        self.stopped = Some(exit);
    }

    /// How the command ends, once the turn has ended.
    pub(super) fn ended(&self) -> Option<Exit> {
        self.ended
    }

    /// What is said before the turn: servers that cannot be used, and warnings.
    pub(super) fn opening(&mut self, catalog: &Catalog, session: Option<&str>) -> Said {
        // With nothing to wait for it is told only afterwards.
        self.session = session.map(str::to_owned).or_else(|| self.session.take());
        let mut said = Said::default();
        if self.form == Form::Text {
            let down = catalog.servers.iter().filter(|server| {
                !server.state.usable() && !matches!(server.state, ServerState::Disabled { .. })
            });
            for server in down {
                let stands = output::stands(server);
                said.err.extend([format!("warning: {}\n", text::line(&stands))]);
            }
        }
        for warning in catalog.all_warnings() {
            self.warn(warning, &mut said);
        }
        said
    }

    /// What is said about a notice.
    pub(super) fn hear(&mut self, notice: &Notice) -> Said {
        let mut said = Said::default();
        match notice {
            Notice::TurnStarted { turn, text } => {
                let event = json!({
                    "version": VERSION, "turn": turn, "text": text, "model": self.model,
                    "session": self.session,
                });
                self.event(&mut said, "turnStarted", event);
            }
            Notice::Text { turn, chunk } => {
                self.event(&mut said, "text", json!({ "turn": turn, "text": chunk }));
                self.text(chunk, &mut said);
            }
            Notice::Reasoning { turn, chunk } => {
                self.event(&mut said, "reasoning", json!({ "turn": turn, "text": chunk }));
            }
            Notice::CallChanged { call, state } => self.call(call, state, &mut said),
            Notice::CallRefused { turn, name, arguments, outcome, .. } => {
                let event = json!({
                    "turn": turn, "modelName": name, "arguments": arguments, "state": "done",
                    "outcome": outcome.word(), "reason": json::reason(outcome),
                });
                self.event(&mut said, "call", event);
                let line = text::strict_line(&format!(
                    "{name}: {}: {}",
                    outcome.word(),
                    json::reason(outcome)
                ));
                self.progress(&format!("✗ {line}"), &mut said);
            }
            Notice::Retrying { turn, attempt, after, reason } => {
                let event = json!({
                    "turn": turn, "attempt": attempt, "afterMs": json::millis(after),
                    "reason": reason,
                });
                self.event(&mut said, "retrying", event);
                let reason = text::line(reason.trim_end_matches('.'));
                let line =
                    format!("model: {reason}. Attempt {attempt} in {}", servers::time(*after));
                self.progress(&line, &mut said);
            }
            Notice::Warned { warning } => self.warn(warning, &mut said),
            Notice::TurnEnded { turn, reason, usage, took } => {
                let exit = self.end(reason, &mut said);
                let mut event = end_event(reason, usage);
                event.insert("turn".to_owned(), json!(turn));
                event.insert("durationMs".to_owned(), json::millis(took).into());
                event.insert("exitCode".to_owned(), exit.code().into());
                self.event(&mut said, "turnEnded", event.into());
            }
            Notice::Queued { .. }
            | Notice::TakenBack { .. }
            | Notice::Asked { .. }
            | Notice::AskClosed { .. }
            | Notice::Questioned { .. }
            | Notice::QuestionClosed { .. }
            | Notice::Elicited { .. }
            | Notice::ElicitationClosed { .. }
            | Notice::CatalogChanged { .. }
            | Notice::Inquired { .. }
            | Notice::Wire { .. }
            | Notice::WireExported { .. }
            | Notice::OffersChanged { .. }
            | Notice::ContextChanged { .. }
            | Notice::ModelsListed { .. }
            | Notice::ModelChanged { .. }
            | Notice::ModelWaits { .. }
            | Notice::Resumed { .. }
            | Notice::Sessions { .. }
            | Notice::Refused { .. } => {}
            Notice::SessionStarted { id, path } => {
                self.session = path.as_ref().map(|_| id.clone());
            }
        }
        said
    }

    fn event(&self, said: &mut Said, kind: &str, members: Value) {
        if self.form != Form::Json {
            return;
        }
        let mut event = Map::new();
        event.insert("type".to_owned(), kind.into());
        if let Value::Object(mut members) = members {
            event.append(&mut members);
        }
        said.out.push_str(&json::line(&event.into()));
    }

    fn text(&mut self, chunk: &str, said: &mut Said) {
        if self.form != Form::Text || chunk.is_empty() {
            return;
        }
        if self.answer == Answer::Broken {
            said.out.push('\n');
        }
        let shown = text::block(chunk);
        said.out.push_str(shown.as_str());
        let closed = shown.as_str().ends_with('\n');
        self.answer = if closed { Answer::Closed } else { Answer::Open };
    }

    /// A line of progress. It must not stand in the middle of a line of the answer.
    fn progress(&mut self, line: &str, said: &mut Said) {
        if self.form != Form::Text {
            return;
        }
        self.close_line(said);
        if self.answer == Answer::Closed {
            self.answer = Answer::Broken;
        }
        said.err.push_str(line);
        said.err.push('\n');
    }

    fn close_line(&mut self, said: &mut Said) {
        if self.answer == Answer::Open {
            said.out.push('\n');
            self.answer = Answer::Closed;
        }
    }

    fn warn(&mut self, warning: &Warning, said: &mut Said) {
        self.event(said, "warning", json::warning(warning));
        if self.form == Form::Text {
            self.progress(output::warning(output::Paint::Plain, warning).trim_end(), said);
        }
    }

    fn call(&mut self, call: &Call, state: &CallState, said: &mut Said) {
        let name = text::strict_line(&call.tool.to_string());
        match state {
            CallState::Asking => {}
            CallState::Running { progress } => {
                if self.started.insert(call.id) {
                    self.event(said, "call", with_state(call, "running"));
                    let arguments = serde_json::to_string(&*call.arguments).unwrap_or_default();
                    let arguments = text::cut(text::strict_line(&arguments).as_str(), ARGUMENTS);
                    self.progress(&format!("→ {name} {arguments}"), said);
                } else if let Some(progress) = progress {
                    self.call_progress(call, progress, said);
                }
            }
            CallState::Done { outcome, took, for_model } => {
                self.ending.call(call, outcome);
                if let Outcome::Denied(by) = &**outcome {
                    self.denied_call(call, by, outcome, said);
                    return;
                }
                let mut event = with_state(call, "done");
                if let Some(members) = event.as_object_mut() {
                    members.insert("outcome".to_owned(), outcome.word().into());
                    members.insert("durationMs".to_owned(), json::millis(took).into());
                    members.insert("result".to_owned(), (**for_model).into());
                }
                self.event(said, "call", event);
                let sign = if matches!(**outcome, Outcome::Ok(_)) { "✓" } else { "✗" };
                let reason = json::reason(outcome);
                let because = if reason.is_empty() {
                    String::new()
                } else {
                    format!(": {}", text::line(&reason))
                };
                self.progress(
                    &format!("{sign} {name} {}{because}, {}", outcome.word(), servers::time(*took)),
                    said,
                );
            }
        }
    }

    fn call_progress(&mut self, call: &Call, progress: &Progress, said: &mut Said) {
        let event = json!({
            "turn": call.turn, "id": call.id, "done": progress.done, "total": progress.total,
            "note": progress.note,
        });
        self.event(said, "progress", event);
        if let Some(words) = progress.words() {
            let name = text::strict_line(&call.tool.to_string());
            let note = text::line(&words);
            self.progress(&format!("… {name} {note}"), said);
        }
    }

    fn denied_call(&mut self, call: &Call, by: &DeniedBy, outcome: &Outcome, said: &mut Said) {
        let (who, rule, why) = match by {
            DeniedBy::User { .. } => ("user", "", ""),
            DeniedBy::Rule { rule } => ("rule", rule.as_str(), ""),
            DeniedBy::Headless { rule, why } => ("headless", rule.as_str(), why.as_str()),
        };
        let mut event = with_state(call, "done");
        if let Some(members) = event.as_object_mut() {
            members.insert("by".to_owned(), who.into());
            members.insert("rule".to_owned(), rule.into());
            members.insert("why".to_owned(), why.into());
            members.insert("reason".to_owned(), json::reason(outcome).into());
        }
        self.event(said, "denied", event);
        let name = text::strict_line(&call.tool.to_string());
        let reason = text::strict_line(&json::reason(outcome));
        self.progress(&format!("✗ {name} denied: {reason}"), said);
    }

    fn end(&mut self, reason: &TurnEnd, said: &mut Said) -> Exit {
        if self.form == Form::Text {
            self.close_line(said);
        }
        let why = why(reason);
        if !why.is_empty() {
            let why = text::block(&why);
            self.progress(&format!("mini-me-tui: {why}"), said);
        }
        let (exit, because) = self.ending.of(reason);
        if !because.is_empty() {
            let because = text::line(&because);
            self.progress(&format!("mini-me-tui: exit code {}: {because}", exit.code()), said);
        }
        let exit = self.stopped.unwrap_or(exit);
        self.ended = Some(exit);
        exit
    }
}

fn with_state(call: &Call, state: &str) -> Value {
    let mut event = json::call_head(call);
    if let Some(members) = event.as_object_mut() {
        members.insert("turn".to_owned(), json!(call.turn));
        members.insert("state".to_owned(), state.into());
    }
    event
}

/// Why a turn ended, in a sentence; empty where it came to its natural end.
fn why(reason: &TurnEnd) -> String {
    match reason {
        TurnEnd::Done => String::new(),
        TurnEnd::Length => {
            "the answer ran into the model's output limit (`maxOutputTokens`)".to_owned()
        }
        TurnEnd::ContentFilter => "the provider withheld the answer".to_owned(),
        TurnEnd::Refused => "the model refused".to_owned(),
        TurnEnd::Empty => "the model answered with nothing".to_owned(),
        TurnEnd::Incomplete { reason } => format!("the model's stream ended early: {reason}"),
        TurnEnd::Cancelled => "interrupted".to_owned(),
        TurnEnd::Stopped => {
            "stopped: the turn went on for too long, and nobody is here to be asked".to_owned()
        }
        TurnEnd::Failed { reason, .. } => reason.clone(),
    }
}

fn end_event(reason: &TurnEnd, usage: &Usage) -> Map<String, Value> {
    let word = match reason {
        TurnEnd::Done => "done",
        TurnEnd::Length => "length",
        TurnEnd::ContentFilter => "contentFilter",
        TurnEnd::Refused => "refused",
        TurnEnd::Empty => "empty",
        TurnEnd::Incomplete { .. } => "incomplete",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Failed { .. } => "failed",
    };
    let mut event = Map::new();
    event.insert("reason".to_owned(), word.into());
    event.insert("message".to_owned(), why(reason).into());
    event.insert("usage".to_owned(), json::usage(usage));
    event
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::domain::{CallId, ToolId, ToolOutput, TurnId};

    const TURN: TurnId = TurnId(1);

    fn call() -> Arc<Call> {
        Arc::new(Call {
            id: CallId(7),
            turn: Some(TURN),
            tool: ToolId::new("bugs", "get_task"),
            model_name: "bugs_get_task".into(),
            arguments: Arc::new(serde_json::from_str(r##"{"task":"#42"}"##).unwrap()),
        })
    }

    fn done(outcome: Outcome) -> Notice {
        let state = CallState::Done {
            outcome: Arc::new(outcome),
            took: Duration::from_millis(12),
            for_model: "{}".into(),
        };
        Notice::CallChanged { call: call(), state }
    }

    fn text(chunk: &str) -> Notice {
        Notice::Text { turn: TURN, chunk: chunk.to_owned() }
    }

    fn end(reason: TurnEnd) -> Notice {
        Notice::TurnEnded {
            turn: TURN,
            reason,
            usage: Usage::default(),
            took: Duration::from_millis(5),
        }
    }

    fn tell(form: Form, notices: &[Notice]) -> (String, String, Option<Exit>) {
        let mut teller = Teller::new(form, "m");
        let (mut out, mut err) = (String::new(), String::new());
        for notice in notices {
            let said = teller.hear(notice);
            out += &said.out;
            err += &said.err;
        }
        (out, err, teller.ended())
    }

    #[test]
    fn progress_stands_on_lines_of_its_own_and_the_answer_ends_in_a_line_end() {
        let running =
            Notice::CallChanged { call: call(), state: CallState::Running { progress: None } };
        let notices = [
            text("I look."),
            running,
            done(Outcome::Ok(ToolOutput::default())),
            text("Found "),
            text("it."),
            end(TurnEnd::Done),
        ];
        let (out, err, ended) = tell(Form::Text, &notices);
        assert_eq!(out, "I look.\n\nFound it.\n");
        assert_eq!(err, "→ bugs/get_task {\"task\":\"#42\"}\n✓ bugs/get_task ok, 12 ms\n");
        assert_eq!(ended, Some(Exit::Done));
    }

    #[test]
    fn progress_without_a_note_is_told_in_numbers() {
        let progress = Progress { done: 2.0, total: Some(3.0), note: String::new() };
        let state = CallState::Running { progress: Some(progress) };
        let start = CallState::Running { progress: None };
        let notices = [start, state].map(|state| Notice::CallChanged { call: call(), state });
        let (_, err, _) = tell(Form::Text, &notices);
        assert_eq!(err, "→ bugs/get_task {\"task\":\"#42\"}\n… bugs/get_task 2 of 3\n");
    }

    #[test]
    fn denied_call_names_the_rule_and_is_exit_code_5() {
        let denied = Outcome::Denied(DeniedBy::Headless {
            rule: "bugs/get_task".to_owned(),
            why: "the mode for all servers".to_owned(),
        });
        let (_, err, ended) = tell(Form::Text, &[done(denied.clone()), end(TurnEnd::Done)]);
        assert!(err.contains("--allow 'bugs/get_task'"), "{err}");
        assert!(err.contains("it would ask (the mode for all servers)"), "{err}");
        assert_eq!(ended, Some(Exit::Denied));
        let (out, err, _) = tell(Form::Json, &[done(denied), end(TurnEnd::Done)]);
        let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!((&first["type"], &first["rule"]), (&json!("denied"), &json!("bugs/get_task")));
        assert_eq!(err, "");
    }

    #[test]
    fn every_event_is_one_line_of_json_with_a_type() {
        let notices = [
            Notice::TurnStarted { turn: TURN, text: "a\nb".to_owned() },
            text("x\n"),
            Notice::Reasoning { turn: TURN, chunk: "hm".to_owned() },
            done(Outcome::Ok(ToolOutput::default())),
            Notice::Warned { warning: Warning::new(crate::domain::Source::Model, "odd", "") },
            end(TurnEnd::Done),
        ];
        let (out, _, _) = tell(Form::Json, &notices);
        let types: Vec<String> = out
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(types, ["turnStarted", "text", "reasoning", "call", "warning", "turnEnded"]);
    }

    #[test]
    fn unreachable_model_is_exit_code_3_with_the_reason() {
        let failed = TurnEnd::Failed {
            reason: "nothing listens at localhost:1".to_owned(),
            unreachable: true,
        };
        let (_, err, ended) = tell(Form::Text, &[end(failed)]);
        assert_eq!(ended, Some(Exit::NoModel));
        assert!(err.contains("nothing listens"));
    }

    #[test]
    fn escape_sequences_of_the_model_do_not_reach_the_terminal() {
        let (out, _, _) = tell(Form::Text, &[text("a\u{1b}[31mb"), text("\u{9b}2J")]);
        assert!(!out.contains('\u{1b}') && !out.contains('\u{9b}'), "{out:?}");
    }
}
