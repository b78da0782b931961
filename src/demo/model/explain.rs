//! “Look at task #42 and explain it”: list, task, reports, report, console page by page, answer.
//!
//! Each step uses only what earlier answers of the conversation gave. The answer quotes them and
//! says what was not looked at.

use serde_json::{Value, json};

use super::Step;
use super::conversation::{Conversation, Done, Found};
use super::facts::{self, Console, Members};
use super::script::{Script, fill, one_line};

/// Pages of one list that are read at most.
const MAX_PAGES: usize = 6;

/// What was gathered for the answer.
#[derive(Debug, Default)]
struct Findings<'a> {
    task: Option<&'a Members>,
    reports: Option<&'a Members>,
    report: Option<&'a Members>,
    chosen: Option<&'a Members>,
    console: Console<'a>,
    /// Calls that gave nothing.
    gaps: Vec<String>,
}

/// The next step towards the explanation of a task.
pub(super) fn next(script: &Script, chat: &Conversation, task: &str) -> Step {
    let words = &script.words;
    let mut task_text = words.task.clone();
    if chat.within_reach("list_tasks") {
        match listed(script, chat, task) {
            Listed::Step(step) => return step,
            Listed::Yes => {}
            Listed::No => task_text.clone_from(&words.task_not_listed),
            Listed::Denied(why) => task_text = fill(&words.list_denied, &[("why", &one_line(why))]),
        }
    }
    let mut found = Findings::default();
    let Some(done) = chat.calls("get_task").next() else {
        return script.call(chat, task_text, "get_task", json!({ "task": task }));
    };
    let Found::Data(answer) = &done.found else { return script.stopped(chat, done) };
    found.task = Some(answer);
    let Some(done) = chat.calls("list_reports_for_task").next() else {
        return script.call(
            chat,
            words.reports.clone(),
            "list_reports_for_task",
            json!({ "task": task }),
        );
    };
    let Found::Data(reports) = &done.found else {
        found.gaps.push(gap(done));
        return Step::Say(answer_of(&found));
    };
    found.reports = Some(reports);
    found.chosen = most_telling(reports);
    let Some(chosen) = found.chosen else { return Step::Say(answer_of(&found)) };
    match about_report(script, chat, reports, chosen, &mut found) {
        Some(step) => step,
        None => Step::Say(answer_of(&found)),
    }
}

/// Whether the list of tasks names the task.
enum Listed<'a> {
    Yes,
    No,
    Denied(&'a str),
    Step(Step),
}

fn listed<'a>(script: &Script, chat: &'a Conversation, task: &str) -> Listed<'a> {
    let mut last = None;
    for done in chat.calls("list_tasks") {
        let page = match &done.found {
            Found::Data(page) => page,
            Found::Denied(why) | Found::Failed(why) => return Listed::Denied(why),
            Found::Cut(_) => return Listed::No,
        };
        let named =
            |row: &Members| facts::text(row, "task") == task || facts::text(row, "id") == task;
        if facts::list(page, "tasks").any(named) {
            return Listed::Yes;
        }
        last = facts::next_page(page);
    }
    let pages = chat.calls("list_tasks").count();
    match (pages, last) {
        (0, _) => Listed::Step(script.call(
            chat,
            script.words.list_first.clone(),
            "list_tasks",
            json!({}),
        )),
        (pages, Some(offset)) if pages < MAX_PAGES => Listed::Step(script.call(
            chat,
            script.words.list_more.clone(),
            "list_tasks",
            json!({ "offset": offset }),
        )),
        _ => Listed::No,
    }
}

/// The report with the most console errors, then the most entries.
fn most_telling(reports: &Members) -> Option<&Members> {
    facts::list(reports, "reports").max_by_key(|row| {
        let entries = row.get("entries").and_then(Value::as_object);
        let console = entries.and_then(|entries| facts::number(entries, "console"));
        (facts::number(row, "errors"), console, facts::text(row, "summary") == "written")
    })
}

/// The next step on the chosen report; `None` once its console is read as far as it can be.
fn about_report<'a>(
    script: &Script,
    chat: &'a Conversation,
    reports: &Members,
    chosen: &Members,
    found: &mut Findings<'a>,
) -> Option<Step> {
    let words = &script.words;
    let id = facts::text(chosen, "id");
    let mut telemetry_text = words.telemetry.clone();
    match chat.calls("get_report").next() {
        None => {
            let text = fill(
                &words.report,
                &[
                    ("count", &facts::number(reports, "total").unwrap_or_default().to_string()),
                    ("id", id),
                    ("errors", &facts::number(chosen, "errors").unwrap_or_default().to_string()),
                    ("entries", &console_entries(chosen).to_string()),
                ],
            );
            return Some(script.call(chat, text, "get_report", json!({ "report": id })));
        }
        Some(Done { found: Found::Data(report), .. }) => found.report = Some(report),
        Some(done) => {
            telemetry_text = fill(&words.report_denied, &[("why", &one_line(&why(done)))]);
            found.gaps.push(gap(done));
        }
    }
    let pages: Vec<&Done> = chat.calls("get_report_telemetry").collect();
    found.console = Console::of(pages.iter().filter_map(|done| match &done.found {
        Found::Data(page) => Some(page),
        _ => None,
    }));
    if let Some(done) = pages.iter().find(|done| !matches!(done.found, Found::Data(_))) {
        found.gaps.push(gap(done));
        return None;
    }
    let (text, offset) = match (pages.len(), found.console.next) {
        (0, _) => (telemetry_text, None),
        (read, Some(next)) if read < MAX_PAGES => (more(script, &found.console, next), Some(next)),
        _ => return None,
    };
    let mut arguments = json!({ "report": id, "kind": "console" });
    if let (Some(offset), Some(members)) = (offset, arguments.as_object_mut()) {
        members.insert("offset".to_owned(), offset.into());
    }
    Some(script.call(chat, text, "get_report_telemetry", arguments))
}

fn more(script: &Script, console: &Console<'_>, next: u64) -> String {
    fill(
        &script.words.telemetry_more,
        &[
            ("seen", &console.entries.len().to_string()),
            ("total", &console.total.to_string()),
            ("errors", &console.errors().to_string()),
            ("next", &next.to_string()),
        ],
    )
}

fn console_entries(row: &Members) -> u64 {
    row.get("entries")
        .and_then(Value::as_object)
        .and_then(|entries| facts::number(entries, "console"))
        .unwrap_or_default()
}

fn why(done: &Done) -> String {
    match &done.found {
        Found::Denied(why) | Found::Failed(why) => one_line(why),
        Found::Cut(_) | Found::Data(_) => "it was not readable as a whole".to_owned(),
    }
}

fn gap(done: &Done) -> String {
    let what = if matches!(done.found, Found::Denied(_)) { "was not allowed" } else { "failed" };
    format!("`{}` {what}: “{}”", done.name, why(done))
}

fn answer_of(found: &Findings<'_>) -> String {
    let empty = Members::new();
    let task = found.task.unwrap_or(&empty);
    let mut parts =
        vec![format!("## Task {}: {}", facts::text(task, "task"), facts::text(task, "title"))];
    parts.push(in_short(found, task));
    parts.push(said(task));
    parts.extend(recorded(found));
    parts.extend(disagreement(found, task));
    parts.push(not_looked_at(found));
    parts.join("\n\n")
}

fn in_short(found: &Findings<'_>, task: &Members) -> String {
    if let Some((_, error)) = found.console.first_error() {
        let place = facts::first_frame(facts::text(error, "stack"))
            .map(|frame| format!(", thrown in `{frame}`"))
            .unwrap_or_default();
        return format!(
            "**In short:** the title says “{}”. What was recorded is `{}`{place}.",
            facts::text(task, "title"),
            facts::text(error, "text")
        );
    }
    match found.reports.and_then(|reports| facts::number(reports, "total")) {
        Some(0) => "**In short:** no user has reported this. There is only what people wrote, and nothing recorded to hold it against.".to_owned(),
        Some(_) if !found.console.entries.is_empty() => "**In short:** no entry that I read in the console is marked as an error. What follows is what there is.".to_owned(),
        Some(_) => "**In short:** there are reports, but I could not read what was recorded.".to_owned(),
        None => "**In short:** I know only what people wrote; I could not read the reports.".to_owned(),
    }
}

fn said(task: &Members) -> String {
    let mut lines = vec![
        "### What people say".to_owned(),
        String::new(),
        format!(
            "Status {}, priority {}, area {}. {}",
            facts::text(task, "status"),
            facts::text(task, "priority"),
            facts::text(task, "area"),
            facts::text(task, "description")
        ),
    ];
    if let Some(comment) = facts::list(task, "comments").last() {
        lines.push(String::new());
        lines.push(format!(
            "> {}\n>\n> {}, {}",
            one_line(facts::text(comment, "text")),
            facts::text(comment, "author"),
            facts::text(comment, "at")
        ));
    }
    lines.join("\n")
}

fn recorded(found: &Findings<'_>) -> Option<String> {
    let chosen = found.chosen?;
    let mut parts = vec!["### What was recorded".to_owned(), about(found, chosen)];
    let console = &found.console;
    if let Some((at, error)) = console.first_error() {
        parts.push(format!(
            "The first error is on page {} of the console, at {}:",
            console.page_of(at),
            facts::clock(error)
        ));
        let stack = facts::text(error, "stack");
        let quoted = if stack.is_empty() { facts::text(error, "text") } else { stack };
        parts.push(format!("```text\n{quoted}\n```"));
        parts.push(around(console, at));
    } else {
        let odd: Vec<&Members> = console
            .entries
            .iter()
            .copied()
            .filter(|entry| facts::text(entry, "level") == "warn")
            .collect();
        if !odd.is_empty() {
            parts.push(format!("Warnings in the console:\n\n{}", table(odd.into_iter().take(8))));
        }
    }
    if let Some(hosts) = found.report.and_then(hosts) {
        parts.push(hosts);
    }
    Some(parts.join("\n\n"))
}

fn about(found: &Findings<'_>, chosen: &Members) -> String {
    let (id, reporter) = (facts::text(chosen, "id"), facts::text(chosen, "reporter"));
    let console = &found.console;
    let (read, total) = (console.entries.len(), console.total.max(console_entries(chosen)));
    let place = found.report.map(place).unwrap_or_default();
    let summary = found.report.map(summary).unwrap_or_default();
    format!(
        "Report `{id}` by {reporter}{place}: I read {read} of {total} console entries.{summary}"
    )
}

/// Where the report comes from: browser, system, locale, release.
fn place(report: &Members) -> String {
    let Some(environment) = report.get("environment").and_then(Value::as_object) else {
        return String::new();
    };
    let part = |name: &str| facts::text(environment, name);
    let (browser, system) = (part("browser"), part("os"));
    format!(" ({browser} on {system}, locale {}, release {})", part("locale"), part("release"))
}

/// What there is of the reporter's own summary.
fn summary(report: &Members) -> String {
    let Some(summary) = report.get("summary").and_then(Value::as_object) else {
        return String::new();
    };
    let shown = facts::number(summary, "shownCharacters").unwrap_or_default();
    match facts::number(summary, "totalCharacters") {
        Some(0) => " The reporter wrote no summary, which says nothing either way.".to_owned(),
        Some(total) => format!(" Of the summary I saw {shown} of {total} characters."),
        None => String::new(),
    }
}

/// The entries round the error, as a table.
fn around(console: &Console<'_>, at: usize) -> String {
    table(console.entries.iter().copied().skip(at.saturating_sub(2)).take(5))
}

fn table<'a>(entries: impl Iterator<Item = &'a Members>) -> String {
    let mut lines = vec!["| time | level | entry |".to_owned(), "| --- | --- | --- |".to_owned()];
    lines.extend(entries.map(|entry| {
        format!(
            "| {} | {} | {} |",
            facts::clock(entry),
            facts::text(entry, "level"),
            one_line(facts::text(entry, "text")).replace('|', "\\|")
        )
    }));
    lines.join("\n")
}

fn hosts(report: &Members) -> Option<String> {
    let telemetry = report.get("telemetry")?.as_object()?;
    let hosts = telemetry.get("requestsByHost")?.as_object()?;
    let listed: Vec<String> =
        hosts.iter().map(|(host, count)| format!("`{host}` {count}")).collect();
    Some(format!(
        "Requests of the whole visit by host: {}. Failed: {}.",
        listed.join(", "),
        facts::number(telemetry, "failedRequests").unwrap_or_default()
    ))
}

/// What speaks against the title, from the order of the entries alone.
fn disagreement(found: &Findings<'_>, task: &Members) -> Option<String> {
    let (at, error) = found.console.first_error()?;
    let echo = found.console.echo(at, facts::text(task, "title"))?;
    let gap = facts::seconds_between(error, echo)?;
    Some(format!(
        "### Where the two disagree\n\nThe entry that sounds like the title, “{}” at {}, comes **{gap:.1} s after** the error. The error stopped the work; the message only reports that nothing came of it. So it is a consequence, not the cause, and a longer time-out would make people wait longer for the same failure.",
        facts::text(echo, "text"),
        facts::clock(echo)
    ))
}

fn not_looked_at(found: &Findings<'_>) -> String {
    let mut lines = vec!["### What I did not look at".to_owned(), String::new()];
    lines.extend(found.gaps.iter().map(|gap| format!("- {gap}")));
    if let (Some(reports), Some(chosen)) = (found.reports, found.chosen) {
        lines.extend(
            facts::list(reports, "reports")
                .filter(|row| facts::text(row, "id") != facts::text(chosen, "id"))
                .map(|row| {
                    let empty =
                        if facts::text(row, "summary") == "empty" { ", no summary" } else { "" };
                    format!(
                        "- report `{}` by {} (locale {}, console errors {}{empty})",
                        facts::text(row, "id"),
                        facts::text(row, "reporter"),
                        facts::text(row, "locale"),
                        facts::number(row, "errors").unwrap_or_default()
                    )
                }),
        );
        lines.push(format!(
            "- the network and action entries: ask “Check the network of {}”",
            found.task.map_or("it", |task| facts::text(task, "task"))
        ));
    }
    if lines.len() == 2 {
        lines.push("- nothing that the tools offer for this task".to_owned());
    }
    lines.push("\nI am a script: the quotes are from the tools' answers, the order of the steps is written down.".to_owned());
    lines.join("\n")
}

/// Network or action entries of a task's most telling report.
pub(super) fn entries(script: &Script, chat: &Conversation, task: &str, kind: &str) -> Step {
    let Some(done) = chat.calls("list_reports_for_task").next() else {
        return script.call(
            chat,
            script.words.network_first.clone(),
            "list_reports_for_task",
            json!({ "task": task }),
        );
    };
    let Found::Data(reports) = &done.found else { return script.stopped(chat, done) };
    let Some(chosen) = most_telling(reports) else {
        return Step::Say(format!("Task {task} has no report, so there are no {kind} entries."));
    };
    let id = facts::text(chosen, "id");
    let pages: Vec<&Done> = chat.calls("get_report_telemetry").collect();
    if let Some(done) = pages.iter().find(|done| !matches!(done.found, Found::Data(_))) {
        return script.stopped(chat, done);
    }
    let read = Console::of(pages.iter().filter_map(|done| match &done.found {
        Found::Data(page) => Some(page),
        _ => None,
    }));
    let text = fill(&script.words.network, &[("kind", kind), ("id", id)]);
    let mut arguments = json!({ "report": id, "kind": kind });
    match (pages.len(), read.next) {
        (0, _) => script.call(chat, text, "get_report_telemetry", arguments),
        (count, Some(next)) if count < MAX_PAGES => {
            if let Some(members) = arguments.as_object_mut() {
                members.insert("offset".to_owned(), next.into());
            }
            script.call(chat, more(script, &read, next), "get_report_telemetry", arguments)
        }
        _ => Step::Say(entries_answer(task, kind, id, &read)),
    }
}

fn entries_answer(task: &str, kind: &str, id: &str, read: &Console<'_>) -> String {
    let mut lines =
        vec![format!("## {} {kind} entries of report `{id}` (task {task})\n", read.entries.len())];
    if kind == "network" {
        lines.push("| time | request | status | ms |\n| --- | --- | ---: | ---: |".to_owned());
        lines.extend(read.entries.iter().map(|entry| {
            format!(
                "| {} | {} {} | {} | {} |",
                facts::clock(entry),
                facts::text(entry, "method"),
                facts::text(entry, "url"),
                facts::number(entry, "status").unwrap_or_default(),
                facts::number(entry, "durationMs").unwrap_or_default()
            )
        }));
        lines.push(format!("\nThese are all {} requests that were recorded. A request that is not in this table was not made, or not recorded.", read.entries.len()));
    } else {
        lines.push("| time | action | target |\n| --- | --- | --- |".to_owned());
        lines.extend(read.entries.iter().map(|entry| {
            format!(
                "| {} | {} | {} |",
                facts::clock(entry),
                facts::text(entry, "action"),
                facts::text(entry, "target")
            )
        }));
    }
    lines.join("\n")
}
