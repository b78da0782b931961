//! `call`: one tool, called directly. The command line is the consent.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::headless::{Headless, interrupted};
use super::launch::{self, Launch};
use super::questions::{self, Answerer};
use super::{Exit, Stop, json, output, resolve};
use crate::bridge::{Notice, Op};
use crate::cli::{self, Common};
use crate::domain::{CallState, Catalog, Content, Interaction, Outcome, ServerName, Tool};
use crate::schema::form;
use crate::text;

/// Largest file of arguments.
const ARGUMENTS: u64 = 16 * 1024 * 1024;

/// Runs the command.
pub async fn run(common: &Common, options: &cli::Call) -> Result<Exit, Stop> {
    let given = options.args.as_deref().map(whole).transpose()?;
    let mut answerer = Answerer::new(questions::given(&options.answer, options.accept_defaults)?);
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    launch.setup.answering = answerer.answering();
    let only = named_server(&launch, &options.tool);
    launch.setup.only = only.clone().map(|name| vec![name]);
    launch.setup.conversation = false;
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut program = Headless::start(&launch);
        let called = tokio::select! {
            () = program.settle(only.as_ref()) => {
                one_call(&mut program, &mut answerer, options, given.unwrap_or_default()).await
            }
            () = interrupted() => Ok(Exit::Interrupted),
        };
        program.end().await;
        called
    })
    .await
}

/// The server in `server/tool`, if there is one of that name: no other is connected then.
fn named_server(launch: &Launch, word: &str) -> Option<ServerName> {
    let servers = &launch.setup.config.mcp.servers;
    servers
        .iter()
        .find(|server| {
            word.strip_prefix(server.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
        .map(|server| server.name.clone())
}

async fn one_call(
    program: &mut Headless,
    answerer: &mut Answerer,
    options: &cli::Call,
    given: Map<String, Value>,
) -> Result<Exit, Stop> {
    let tool = resolve::resolve(&program.catalog, &options.tool)?;
    usable(&program.catalog, &tool)?;
    let arguments = arguments(&tool, given, options)?;
    let arguments = Arc::new(arguments);
    let op = if options.unchecked {
        Op::CallUnchecked { tool: tool.id.clone(), arguments }
    } else {
        Op::CallDirect { tool: tool.id.clone(), arguments, consent: true }
    };
    program.send(op).await?;
    let (outcome, duration) = tokio::select! {
        settled = settled(program, answerer, &tool) => settled?,
        () = interrupted() => {
            program.send(Op::Interrupt).await?;
            tokio::select! {
                settled = settled(program, answerer, &tool) => settled?,
                () = interrupted() => return Ok(Exit::Interrupted),
            }
        }
    };
    answerer.complain();
    if options.json {
        output::print(&json::line(&json::call(&outcome, duration)))?;
    } else {
        output::print(&shown(&outcome))?;
        complain(&tool, &outcome);
    }
    Ok(exit(&outcome))
}

fn usable(catalog: &Catalog, tool: &Tool) -> Result<(), Stop> {
    match catalog.server(&tool.id.server) {
        Some(server) if !server.state.usable() => Err(resolve::unavailable(server)),
        _ => Ok(()),
    }
}

/// `--args` first, single values over it.
fn arguments(
    tool: &Tool,
    mut given: Map<String, Value>,
    options: &cli::Call,
) -> Result<Map<String, Value>, Stop> {
    let read = if options.unchecked { form::loose_arguments } else { form::arguments };
    let mut single = read(&tool.definition.input_schema, &options.arguments)
        .map_err(|why| Stop::usage(format!("{}: {why}", tool.id)))?;
    given.append(&mut single);
    Ok(given)
}

/// Arguments as a whole: the text itself, `@FILE`, or `-`.
pub fn whole(text: &str) -> Result<Map<String, Value>, Stop> {
    let (text, origin) = match text.strip_prefix('@') {
        Some(file) => (read(file)?, file),
        None if text == "-" => (launch::standard_input()?, "standard input"),
        None => (text.to_owned(), "--args"),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => {
            Err(Stop::usage(format!("the arguments in {origin} are JSON, but no object {{…}}.")))
        }
        Err(why) => Err(Stop::usage(format!("the arguments in {origin} are not JSON: {why}."))),
    }
}

fn read(file: &str) -> Result<String, Stop> {
    let unreadable = |why: std::io::Error| Stop::usage(format!("cannot read {file}: {why}."));
    let size = std::fs::metadata(file).map_err(unreadable)?.len();
    if size > ARGUMENTS {
        return Err(Stop::usage(format!("{file} is larger than {ARGUMENTS} bytes.")));
    }
    std::fs::read_to_string(file).map_err(unreadable)
}

/// Waits for the call's end. Progress and what the server asks go to standard error.
async fn settled(
    program: &mut Headless,
    answerer: &mut Answerer,
    tool: &Tool,
) -> Result<(Arc<Outcome>, Duration), Stop> {
    loop {
        let notice = tokio::select! {
            notice = program.next() => notice,
            answer = answerer.typed() => {
                program.send(answer).await?;
                continue;
            }
        };
        let Some(notice) = notice else { break };
        if let Some(answer) = answerer.hear(&notice) {
            program.send(answer).await?;
        }
        match notice {
            Notice::CallChanged { call, state } if call.tool == tool.id => match state {
                CallState::Done { outcome, took, .. } => return Ok((outcome, took)),
                CallState::Running { progress } => {
                    if let Some(words) = progress.and_then(|progress| progress.words()) {
                        output::note(&format!("… {}", text::line(&words)));
                    }
                }
                CallState::Asking => {}
            },
            Notice::CallRefused { outcome, .. } => return Ok((outcome, Duration::ZERO)),
            _ => {}
        }
    }
    Err(Stop::new(Exit::Failed, "the program's own runtime has ended before the call"))
}

/// The text of an answer for people; empty where there was no answer.
fn shown(outcome: &Outcome) -> String {
    let (Outcome::Ok(answer) | Outcome::ToolError(answer)) = outcome else { return String::new() };
    let mut parts: Vec<String> = answer.content.iter().map(part).collect();
    if let (true, Some(structured)) = (parts.is_empty(), &answer.structured) {
        parts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    if parts.is_empty() {
        parts.push("(the result is empty)".to_owned());
    }
    let mut shown = text::block(&parts.join("\n")).into_string();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// A part of an answer for people; raw.
pub(super) fn part(content: &Content) -> String {
    match content {
        Content::Text(text) | Content::Resource { text, .. } => text.clone(),
        Content::Binary { kind, mime, size, .. } => {
            format!("[{kind} left out: {mime}, {size} bytes; --json has it whole]")
        }
        Content::Link { uri, name } => format!("[{name}: {uri}]"),
        Content::Unknown(value) => format!("[content of an unknown type: {value}]"),
    }
}

/// Says on standard error what went wrong or was odd.
fn complain(tool: &Tool, outcome: &Outcome) {
    match outcome {
        Outcome::Ok(answer) => {
            for remark in &answer.remarks {
                output::note(&format!("note: {}", text::line(remark)));
            }
        }
        Outcome::ToolError(_) => output::complain(&format!("{} reported an error", tool.id)),
        other => {
            output::complain(&format!("{}: {}: {}", tool.id, other.word(), json::reason(other)));
        }
    }
}

fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Ok(_) => Exit::Done,
        Outcome::ToolError(_) => Exit::ToolError,
        Outcome::InvalidArguments { .. } => Exit::Usage,
        Outcome::Denied(_) => Exit::Denied,
        Outcome::NotSent { .. } => Exit::NoServer,
        Outcome::Unknown { .. } => Exit::Failed,
        Outcome::Cancelled { .. } => Exit::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ToolOutput;

    fn answer(content: Vec<Content>, structured: Option<Value>) -> Outcome {
        Outcome::Ok(ToolOutput { content, structured, remarks: Vec::new() })
    }

    #[test]
    fn answer_is_printed_clean_and_ends_in_a_line_end() {
        let parts = vec![
            Content::Text("a\u{1b}[31m\nb".to_owned()),
            Content::Binary {
                kind: "image".into(),
                mime: "image/png".into(),
                uri: String::new(),
                size: 9,
                data: "x".into(),
            },
        ];
        let out = shown(&answer(parts, None));
        assert!(!out.contains('\u{1b}'));
        assert!(
            out.ends_with("[image left out: image/png, 9 bytes; --json has it whole]\n"),
            "{out}"
        );
    }

    #[test]
    fn structured_answer_without_text_is_printed_as_json() {
        assert_eq!(
            shown(&answer(Vec::new(), Some(serde_json::json!({ "a": 1 })))),
            "{\n  \"a\": 1\n}\n"
        );
        assert_eq!(shown(&answer(Vec::new(), None)), "(the result is empty)\n");
    }

    #[test]
    fn arguments_that_are_no_object_are_wrong_usage_and_say_where() {
        for text in ["[1]", "{", "@/no/such/file"] {
            let stop = whole(text).unwrap_err();
            assert_eq!(stop.exit, Exit::Usage);
        }
        assert!(whole("{").unwrap_err().message.contains("--args"));
        assert_eq!(whole(r#"{"a":1}"#).unwrap()["a"], 1);
    }

    #[test]
    fn each_outcome_has_the_exit_code_that_scripts_rely_on() {
        let codes = [
            answer(Vec::new(), None),
            Outcome::ToolError(ToolOutput::default()),
            Outcome::InvalidArguments { message: String::new() },
            Outcome::Denied(crate::domain::DeniedBy::Rule { rule: String::new() }),
            Outcome::NotSent { reason: String::new() },
            Outcome::Unknown { reason: String::new() },
            Outcome::Cancelled { sent: true },
        ]
        .map(|outcome| exit(&outcome).code());
        assert_eq!(codes, [0, 6, 2, 5, 4, 1, 130]);
    }
}
