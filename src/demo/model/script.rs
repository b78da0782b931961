//! From what was asked to the next step. The words are data (`assets/demo/script.json`).

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::conversation::{Conversation, Done, Found, READ_ON, plain};
use super::explain;
use super::facts::{self, Members};
use super::{Step, Wanted};

/// What the script says; `{name}` is filled in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Words {
    hello: String,
    help: String,
    unknown: String,
    no_tools: String,
    missing_tool: String,
    find_tool: String,
    denied: String,
    failed: String,
    nothing_known: String,
    some_known: String,
    pub(super) list_first: String,
    pub(super) list_more: String,
    pub(super) list_denied: String,
    pub(super) task: String,
    pub(super) task_not_listed: String,
    pub(super) reports: String,
    pub(super) report: String,
    pub(super) telemetry: String,
    pub(super) telemetry_more: String,
    pub(super) report_denied: String,
    read_on: String,
    compare: String,
    compare_reports: String,
    search: String,
    search_what: String,
    project: String,
    pub(super) network_first: String,
    pub(super) network: String,
    which_task: String,
    markdown: String,
}

/// What a message asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Explain(String),
    Compare(String, String),
    Entries { task: String, kind: &'static str },
    List,
    Search(String),
    Project,
    Markdown,
    Help,
    Hello,
    WhichTask,
    SearchWhat,
    Unknown,
}

/// The script.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) words: Words,
}

impl Script {
    pub(super) fn load() -> io::Result<Self> {
        let words = serde_json::from_str(include_str!("../../../assets/demo/script.json"))?;
        Ok(Self { words })
    }

    /// The next step of a conversation.
    pub(super) fn next(&self, chat: &Conversation) -> Step {
        if let Some(step) = self.read_on(chat) {
            return step;
        }
        let words = &self.words;
        match wish(chat) {
            Wish::Hello => Step::Say(words.hello.clone()),
            Wish::Help => Step::Say(words.help.clone()),
            Wish::Markdown => Step::Say(words.markdown.clone()),
            Wish::WhichTask => Step::Say(words.which_task.clone()),
            Wish::SearchWhat => Step::Say(words.search_what.clone()),
            Wish::Unknown => Step::Say(fill(&words.unknown, &[("help", &words.help)])),
            _ if chat.offered.is_empty() => Step::Say(words.no_tools.clone()),
            Wish::Explain(task) => explain::next(self, chat, &task),
            Wish::Entries { task, kind } => explain::entries(self, chat, &task, kind),
            Wish::Compare(one, other) => self.compare(chat, &one, &other),
            Wish::List => self.list(chat),
            Wish::Search(query) => self.search(chat, &query),
            Wish::Project => self.project(chat),
        }
    }

    /// A result that was cut is read to its end before anything else.
    fn read_on(&self, chat: &Conversation) -> Option<Step> {
        let cut = chat.done.iter().find_map(|done| match &done.found {
            Found::Cut(cut) => Some(cut),
            _ => None,
        })?;
        let name = chat.offered(READ_ON)?.to_owned();
        let id = cut.id.parse::<u64>().map_or_else(|_| cut.id.clone().into(), Value::from);
        let arguments = json!({ "id": id, "offset": cut.next });
        Some(Step::Call {
            text: self.words.read_on.clone(),
            calls: vec![Wanted { name, arguments }],
        })
    }

    /// Asks for one tool, or says that it is not on offer.
    pub(super) fn call(
        &self,
        chat: &Conversation,
        text: String,
        tool: &str,
        arguments: Value,
    ) -> Step {
        match chat.offered(tool) {
            Some(name) => {
                Step::Call { text, calls: vec![Wanted { name: name.to_owned(), arguments }] }
            }
            None => self.missing(chat, tool),
        }
    }

    /// Looks for a tool that is not on offer, or says that there is none.
    fn missing(&self, chat: &Conversation, tool: &str) -> Step {
        if let Some((name, query)) = chat.search_for(tool) {
            let text = fill(&self.words.find_tool, &[("tool", tool)]);
            let arguments = json!({ "query": query });
            let calls = vec![Wanted { name: name.to_owned(), arguments }];
            return Step::Call { text, calls };
        }
        let offered = match chat.offered.as_slice() {
            [] => "none".to_owned(),
            names => {
                names.iter().take(12).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
        };
        Step::Say(fill(&self.words.missing_tool, &[("tool", tool), ("offered", &offered)]))
    }

    /// Ends honestly after a call that gave nothing.
    pub(super) fn stopped(&self, chat: &Conversation, done: &Done) -> Step {
        let steps: Vec<String> = chat
            .done
            .iter()
            .filter(|done| matches!(done.found, Found::Data(_)))
            .map(|done| format!("`{}`", done.name))
            .collect();
        let known = match steps.as_slice() {
            [] => self.words.nothing_known.clone(),
            steps => fill(&self.words.some_known, &[("steps", &steps.join(", "))]),
        };
        let (template, why) = match &done.found {
            Found::Denied(why) => (&self.words.denied, why.as_str()),
            Found::Failed(why) => (&self.words.failed, why.as_str()),
            Found::Cut(_) | Found::Data(_) => {
                (&self.words.failed, "it was not readable as a whole")
            }
        };
        let why = one_line(why);
        Step::Say(fill(template, &[("tool", &done.name), ("why", &why), ("known", &known)]))
    }

    fn list(&self, chat: &Conversation) -> Step {
        let Some(done) = chat.calls("list_tasks").next() else {
            return self.call(chat, self.words.list_first.clone(), "list_tasks", json!({}));
        };
        let Found::Data(answer) = &done.found else { return self.stopped(chat, done) };
        let mut lines = vec![
            "| task | title | priority | status | reports |".to_owned(),
            "| ---: | --- | --- | --- | ---: |".to_owned(),
        ];
        lines.extend(facts::list(answer, "tasks").map(|task| {
            format!(
                "| {} | {} | {} | {} | {} |",
                facts::text(task, "task"),
                facts::text(task, "title"),
                facts::text(task, "priority"),
                facts::text(task, "status"),
                facts::number(task, "reports").unwrap_or_default(),
            )
        }));
        let total = facts::number(answer, "total").unwrap_or_default();
        lines.push(format!(
            "\n{total} tasks that are {}. Name one, and I look at it.",
            facts::text(answer, "status")
        ));
        Step::Say(lines.join("\n"))
    }

    fn search(&self, chat: &Conversation, query: &str) -> Step {
        let Some(done) = chat.calls("search_reports").next() else {
            let text = fill(&self.words.search, &[("query", query)]);
            return self.call(chat, text, "search_reports", json!({ "query": query }));
        };
        let Found::Data(answer) = &done.found else { return self.stopped(chat, done) };
        let hits: Vec<String> = facts::list(answer, "matches")
            .map(|hit| {
                format!(
                    "- **{}** (task {}, found in {}): `{}`\n  report `{}`",
                    facts::text(hit, "title"),
                    facts::text(hit, "task"),
                    facts::text(hit, "foundIn"),
                    facts::text(hit, "line").replace('`', "'"),
                    facts::text(hit, "id"),
                )
            })
            .collect();
        if hits.is_empty() {
            return Step::Say(format!(
                "No report contains “{query}”. {}",
                facts::text(answer, "note")
            ));
        }
        let total = facts::number(answer, "total").unwrap_or_default();
        Step::Say(format!("{total} reports contain “{query}”:\n\n{}", hits.join("\n")))
    }

    fn project(&self, chat: &Conversation) -> Step {
        let Some(done) = chat.calls("get_current_project").next() else {
            return self.call(chat, self.words.project.clone(), "get_current_project", json!({}));
        };
        let Found::Data(answer) = &done.found else { return self.stopped(chat, done) };
        let count = |name: &str| {
            answer
                .get("counts")
                .and_then(Value::as_object)
                .and_then(|counts| facts::number(counts, name))
                .unwrap_or_default()
        };
        Step::Say(format!(
            "**{}**: {}\n\nCurrent release {}. {} tasks, {} of them not done, and {} reports. The key decides which project it is; I cannot name another.",
            facts::text(answer, "name"),
            facts::text(answer, "description"),
            facts::text(answer, "currentRelease"),
            count("tasks"),
            count("notDone"),
            count("reports"),
        ))
    }

    fn compare(&self, chat: &Conversation, one: &str, other: &str) -> Step {
        for (tool, text) in [
            ("get_task", &self.words.compare),
            ("list_reports_for_task", &self.words.compare_reports),
        ] {
            if chat.calls(tool).next().is_none() {
                let Some(name) = chat.offered(tool) else { return self.missing(chat, tool) };
                let calls = [one, other].map(|task| Wanted {
                    name: name.to_owned(),
                    arguments: json!({ "task": task }),
                });
                return Step::Call { text: text.clone(), calls: calls.to_vec() };
            }
            let bad = chat.calls(tool).find(|done| !matches!(done.found, Found::Data(_)));
            if let Some(done) = bad {
                return self.stopped(chat, done);
            }
        }
        Step::Say(comparison(chat, one, other))
    }
}

fn comparison(chat: &Conversation, one: &str, other: &str) -> String {
    let empty = Members::new();
    let answer =
        |tool: &str, task: &str| match chat.call_with(tool, "task", task).map(|done| &done.found) {
            Some(Found::Data(members)) => members.clone(),
            _ => empty.clone(),
        };
    let (left, right) = (answer("get_task", one), answer("get_task", other));
    let mut lines = vec![format!("| | {one} | {other} |"), "| --- | --- | --- |".to_owned()];
    for name in ["title", "status", "priority", "area", "assignee", "createdAt", "updatedAt"] {
        let cell = |task: &Members| {
            task.get(name).map_or_else(String::new, |value| match value {
                Value::Null => "nobody".to_owned(),
                value => plain(value),
            })
        };
        lines.push(format!("| {name} | {} | {} |", cell(&left), cell(&right)));
    }
    let summary = |task: &str| {
        let reports = answer("list_reports_for_task", task);
        let errors: u64 =
            facts::list(&reports, "reports").filter_map(|row| facts::number(row, "errors")).sum();
        (facts::number(&reports, "total").unwrap_or_default(), errors)
    };
    let (a, b) = (summary(one), summary(other));
    lines.push(format!("| reports | {} | {} |", a.0, b.0));
    lines.push(format!("| console errors in them | {} | {} |", a.1, b.1));
    lines.push(format!("\nThat is all from four answers; I read no telemetry. Say “Look at task {one} and explain it” for that."));
    lines.join("\n")
}

/// What the latest message asks for.
pub(super) fn wish(chat: &Conversation) -> Wish {
    let question = chat.question();
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let says = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let mut tasks = tasks_in(question);
    if let Some(query) = query_in(question) {
        return if query.is_empty() { Wish::SearchWhat } else { Wish::Search(query) };
    }
    if says(&["compare", "difference", "versus"]) && tasks.len() >= 2 {
        let other = tasks.swap_remove(1);
        return Wish::Compare(tasks.swap_remove(0), other);
    }
    let kind = if says(&["network", "requests"]) {
        Some("network")
    } else if says(&["actions", "clicks"]) {
        Some("actions")
    } else {
        None
    };
    if let Some(kind) = kind {
        let earlier =
            || chat.asked.iter().rev().find_map(|message| tasks_in(message).into_iter().next());
        let task = tasks.into_iter().next().or_else(earlier);
        return task.map_or(Wish::WhichTask, |task| Wish::Entries { task, kind });
    }
    match tasks.into_iter().next() {
        Some(task) => Wish::Explain(task),
        None if says(&["tasks", "list"]) => Wish::List,
        None if says(&["project"]) => Wish::Project,
        None if says(&["markdown"]) => Wish::Markdown,
        None if says(&["help", "what", "how", "can"]) => Wish::Help,
        None if says(&["hello", "hi", "hey", "hallo", "moin", "servus"]) => Wish::Hello,
        None => Wish::Unknown,
    }
}

/// Tasks a message names: `#42`, `task 42`, or a UUID.
fn tasks_in(message: &str) -> Vec<String> {
    let mut tasks = Vec::new();
    let mut before = String::new();
    for raw in message.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        let digits = word.strip_prefix('#').unwrap_or(word);
        let is_number =
            !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit());
        let named = word.starts_with('#')
            || matches!(
                before.as_str(),
                "task" | "tasks" | "ticket" | "bug" | "issue" | "and" | "with"
            );
        if is_number && named {
            tasks.push(format!("#{digits}"));
        } else if is_uuid(word) {
            tasks.push(word.to_owned());
        }
        before = word.to_lowercase();
    }
    tasks.dedup();
    tasks
}

fn is_uuid(word: &str) -> bool {
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// What to search for, if the message is a search; empty if it does not say.
fn query_in(message: &str) -> Option<String> {
    let mut words = message.split_whitespace();
    let first = words.next()?.to_lowercase();
    if !matches!(first.as_str(), "search" | "find" | "grep") {
        return None;
    }
    let rest: Vec<&str> = words
        .skip_while(|word| matches!(word.to_lowercase().as_str(), "for" | "reports" | "the" | "in"))
        .collect();
    Some(rest.join(" ").trim_matches(|c| matches!(c, '"' | '\'' | '“' | '”' | '`')).to_owned())
}

/// Fills `{name}` places of a template.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

/// The beginning of a text, on one line.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 300 {
        return line;
    }
    let mut cut: String = line.chars().take(299).collect();
    cut.push('…');
    cut
}
