//! The demo's bug tracker: sample data and the seven questions it answers. Pure: no I/O.
//!
//! It belongs to one project, so no question takes a project. An `Err` is what a model is told as
//! a tool error: what was wrong and what to do next.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

mod answers;
pub(crate) mod arguments;
#[cfg(test)]
mod tests;

use arguments::Arguments;

/// Answer to a question, or what to tell whoever asked it wrongly.
pub(crate) type Answer = Result<Value, String>;

/// The project the tracker's key is bound to. Shown as it is written in the data.
type Project = Map<String, Value>;

/// A task: something that has to be looked into.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Task {
    /// UUID.
    pub(crate) id: String,
    /// The number people say, as in `#42`.
    pub(crate) number: u32,
    /// Title, as a person wrote it; it may be wrong about the cause.
    pub(crate) title: String,
    status: String,
    priority: String,
    area: String,
    created_at: String,
    updated_at: String,
    created_by: String,
    assignee: Option<String>,
    labels: Vec<String>,
    description: String,
    comments: Vec<Comment>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Comment {
    author: String,
    at: String,
    text: String,
}

/// A report: what one user met, with the telemetry of that visit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Report {
    /// UUID.
    pub(crate) id: String,
    /// The task it was filed under.
    pub(crate) task_number: u32,
    /// Title in the reporter's words.
    pub(crate) title: String,
    reporter: String,
    created_at: String,
    environment: Map<String, Value>,
    summary: String,
}

/// What a visit left behind, each kind in order of time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Telemetry {
    console: Vec<Map<String, Value>>,
    network: Vec<Map<String, Value>>,
    actions: Vec<Map<String, Value>>,
}

/// The kinds of telemetry, in the words of the tool's schema.
pub(crate) const KINDS: [&str; 3] = ["console", "network", "actions"];

impl Telemetry {
    fn kind(&self, kind: &str) -> Option<&[Map<String, Value>]> {
        match kind {
            "console" => Some(&self.console),
            "network" => Some(&self.network),
            "actions" => Some(&self.actions),
            _ => None,
        }
    }
}

/// Tasks, reports and telemetry of one project.
#[derive(Debug)]
pub(crate) struct Tracker {
    project: Project,
    tasks: Vec<Task>,
    reports: Vec<Report>,
    telemetry: BTreeMap<String, Telemetry>,
}

impl Tracker {
    /// Reads the sample data that is part of the program.
    pub(crate) fn load() -> io::Result<Self> {
        Ok(Self {
            project: serde_json::from_str(include_str!("../../assets/demo/project.json"))?,
            tasks: serde_json::from_str(include_str!("../../assets/demo/tasks.json"))?,
            reports: serde_json::from_str(include_str!("../../assets/demo/reports.json"))?,
            telemetry: serde_json::from_str(include_str!("../../assets/demo/telemetry.json"))?,
        })
    }

    /// Answers a tool call; `None` where there is no such tool.
    pub(crate) fn ask(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer> {
        let known = super::tools::argument_names(tool)?;
        let answer = Arguments::new(tool, arguments, &known).and_then(|given| match tool {
            "get_current_project" => Ok(self.current_project()),
            "list_tasks" => self.list_tasks(&given),
            "get_task" => self.get_task(&given),
            "list_reports_for_task" => self.list_reports(&given),
            "get_report" => self.get_report(&given),
            "get_report_telemetry" => self.get_telemetry(&given),
            "search_reports" => self.search_reports(&given),
            _ => Err(format!("there is no tool {tool}")),
        });
        Some(answer)
    }

    /// All reports, oldest task last.
    pub(crate) fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The task that `text` names: `#42`, `42` or its UUID.
    pub(crate) fn task(&self, text: &str) -> Result<&Task, String> {
        let word = text.trim();
        let number = word.strip_prefix('#').unwrap_or(word).parse::<u32>().ok();
        self.tasks
            .iter()
            .find(|task| Some(task.number) == number || task.id.eq_ignore_ascii_case(word))
            .ok_or_else(|| {
                format!(
                    "There is no task `{word}` in this project. Call list_tasks and use a number or \
                     id from its answer; do not guess one."
                )
            })
    }

    /// The report with that id.
    pub(crate) fn report(&self, text: &str) -> Result<&Report, String> {
        let word = text.trim();
        self.reports.iter().find(|report| report.id.eq_ignore_ascii_case(word)).ok_or_else(|| {
            format!(
                "There is no report `{word}` in this project. Call list_reports_for_task with a \
                 task, or search_reports, and use an id from its answer; do not make one up."
            )
        })
    }

    fn reports_of(&self, number: u32) -> impl Iterator<Item = &Report> {
        self.reports.iter().filter(move |report| report.task_number == number)
    }

    fn entries(&self, report: &Report, kind: &str) -> &[Map<String, Value>] {
        self.telemetry.get(&report.id).and_then(|all| all.kind(kind)).unwrap_or_default()
    }

    fn current_project(&self) -> Value {
        let open = self.tasks.iter().filter(|task| task.status != "done").count();
        let mut project = self.project.clone();
        project.insert(
            "counts".to_owned(),
            json!({ "tasks": self.tasks.len(), "notDone": open, "reports": self.reports.len() }),
        );
        Value::Object(project)
    }
}
