//! The tracker's answers. Every list says where it begins, how much there is and how to go on;
//! everything that was cut says exactly how much of what.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Page};
use super::{Answer, KINDS, Report, Task, Tracker};

/// Characters of a report's summary that are shown unless more are asked for.
pub(super) const SUMMARY: usize = 400;

/// Task states, and `any`.
const STATUSES: [&str; 5] = ["not done", "open", "in progress", "done", "any"];

impl Tracker {
    pub(super) fn list_tasks(&self, given: &Arguments<'_>) -> Answer {
        let status = given.one_of("status", &STATUSES)?.unwrap_or_else(|| "not done".to_owned());
        let rows: Vec<Value> = self
            .tasks
            .iter()
            .filter(|task| match status.as_str() {
                "any" => true,
                "not done" => task.status != "done",
                wanted => task.status == wanted,
            })
            .map(|task| self.task_row(task))
            .collect();
        let mut answer = paged("tasks", &rows, given.page()?);
        answer.insert("status".to_owned(), status.into());
        Ok(answer.into())
    }

    fn task_row(&self, task: &Task) -> Value {
        json!({
            "task": format!("#{}", task.number),
            "id": task.id,
            "title": task.title,
            "status": task.status,
            "priority": task.priority,
            "area": task.area,
            "updatedAt": task.updated_at,
            "reports": self.reports_of(task.number).count(),
        })
    }

    pub(super) fn get_task(&self, given: &Arguments<'_>) -> Answer {
        let task = self.task(&given.required("task")?)?;
        let mut answer = object(serde_json::to_value(task));
        answer.insert("task".to_owned(), format!("#{}", task.number).into());
        let reports = self.reports_of(task.number).count();
        answer.insert("reports".to_owned(), reports.into());
        answer.insert("next".to_owned(), match reports {
            0 => "No user has reported this: description and comments are all there is.".into(),
            _ => "Title, description and comments are opinions. Call list_reports_for_task for what users met.".into(),
        });
        Ok(answer.into())
    }

    pub(super) fn list_reports(&self, given: &Arguments<'_>) -> Answer {
        let task = self.task(&given.required("task")?)?;
        let rows: Vec<Value> =
            self.reports_of(task.number).map(|report| self.report_row(report)).collect();
        let mut answer = paged("reports", &rows, given.page()?);
        answer.insert("task".to_owned(), format!("#{}", task.number).into());
        Ok(answer.into())
    }

    fn report_row(&self, report: &Report) -> Value {
        json!({
            "id": report.id,
            "title": report.title,
            "reporter": report.reporter,
            "createdAt": report.created_at,
            "locale": report.environment.get("locale"),
            "release": report.environment.get("release"),
            "summary": if report.summary.is_empty() { "empty" } else { "written" },
            "entries": self.counts(report),
            "errors": self.errors(report),
        })
    }

    fn counts(&self, report: &Report) -> Value {
        KINDS
            .iter()
            .map(|kind| ((*kind).to_owned(), self.entries(report, kind).len().into()))
            .collect::<Map<_, _>>()
            .into()
    }

    fn errors(&self, report: &Report) -> usize {
        self.entries(report, "console")
            .iter()
            .filter(|entry| text(entry, "level") == "error")
            .count()
    }

    pub(super) fn get_report(&self, given: &Arguments<'_>) -> Answer {
        let report = self.report(&given.required("report")?)?;
        let limit = given.number("summaryLimit", SUMMARY, 1..=20_000)?;
        let total = report.summary.chars().count();
        let shown: String = report.summary.chars().take(limit).collect();
        let mut cut = Vec::new();
        if total > limit {
            cut.push(format!(
                "summary: {limit} of {total} characters shown; the rest with summaryLimit {total}"
            ));
        }
        for kind in KINDS {
            let entries = self.entries(report, kind).len();
            if entries > 0 {
                cut.push(format!(
                    "{kind}: 0 of {entries} entries shown; read them with get_report_telemetry"
                ));
            }
        }
        let mut summary =
            json!({ "text": shown, "shownCharacters": total.min(limit), "totalCharacters": total });
        if let (true, Some(members)) = (total == 0, summary.as_object_mut()) {
            members.insert(
                "note".to_owned(),
                "The reporter wrote nothing. It does not mean that nothing went wrong.".into(),
            );
        }
        Ok(json!({
            "id": report.id,
            "task": format!("#{}", report.task_number),
            "title": report.title,
            "reporter": report.reporter,
            "createdAt": report.created_at,
            "environment": report.environment,
            "summary": summary,
            "telemetry": {
                "entries": self.counts(report),
                "consoleErrors": self.errors(report),
                "requestsByHost": self.hosts(report),
                "failedRequests": self.failed_requests(report),
            },
            "cut": cut,
        }))
    }

    fn hosts(&self, report: &Report) -> BTreeMap<String, usize> {
        let mut hosts = BTreeMap::new();
        for entry in self.entries(report, "network") {
            let host = text(entry, "url").split('/').nth(2).unwrap_or_default();
            *hosts.entry(host.to_owned()).or_default() += 1;
        }
        hosts
    }

    fn failed_requests(&self, report: &Report) -> usize {
        self.entries(report, "network")
            .iter()
            .filter(|entry| {
                entry.get("status").and_then(Value::as_u64).is_none_or(|code| code >= 400)
            })
            .count()
    }

    pub(super) fn get_telemetry(&self, given: &Arguments<'_>) -> Answer {
        let report = self.report(&given.required("report")?)?;
        let kind = given.one_of("kind", &KINDS)?.ok_or_else(|| {
            format!("get_report_telemetry needs `kind`: one of {}.", KINDS.join(", "))
        })?;
        let rows: Vec<Value> =
            self.entries(report, &kind).iter().cloned().map(Value::Object).collect();
        let page = given.page()?;
        if page.offset > rows.len() {
            return Err(format!(
                "offset {} is past the end: this report has {} {kind} entries. Start at 0, or go on from a nextOffset you were given.",
                page.offset,
                rows.len()
            ));
        }
        let mut answer = Map::new();
        answer.insert("report".to_owned(), report.id.clone().into());
        answer.insert("kind".to_owned(), kind.into());
        answer.append(&mut paged("entries", &rows, page));
        Ok(answer.into())
    }

    pub(super) fn search_reports(&self, given: &Arguments<'_>) -> Answer {
        let query = given.required("query")?.to_lowercase();
        let rows: Vec<Value> =
            self.reports.iter().filter_map(|report| self.hit(report, &query)).collect();
        let mut answer = paged("matches", &rows, given.page()?);
        if rows.is_empty() {
            answer.insert("note".to_owned(), "No title, summary or console entry contains this. Try one word of an error message, or list_tasks.".into());
        }
        Ok(answer.into())
    }

    fn hit(&self, report: &Report, query: &str) -> Option<Value> {
        let own = [("title", report.title.as_str()), ("summary", report.summary.as_str())];
        let console = self.entries(report, "console").iter().flat_map(|entry| {
            [("console", text(entry, "text")), ("console", text(entry, "stack"))]
        });
        let (place, found) =
            own.into_iter().chain(console).find(|(_, raw)| raw.to_lowercase().contains(query))?;
        let line = found.lines().find(|line| line.to_lowercase().contains(query)).unwrap_or(found);
        Some(json!({
            "id": report.id,
            "task": format!("#{}", report.task_number),
            "title": report.title,
            "foundIn": place,
            "line": line.trim().chars().take(200).collect::<String>(),
        }))
    }
}

fn text<'a>(entry: &'a Map<String, Value>, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn object(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// A page of rows with its place in the whole.
fn paged(name: &str, rows: &[Value], page: Page) -> Map<String, Value> {
    let shown: Vec<Value> = rows.iter().skip(page.offset).take(page.limit).cloned().collect();
    let end = page.offset + shown.len();
    let more = end < rows.len();
    let mut answer = Map::new();
    answer.insert("total".to_owned(), rows.len().into());
    answer.insert("offset".to_owned(), page.offset.into());
    answer.insert("nextOffset".to_owned(), if more { end.into() } else { Value::Null });
    answer.insert("hasMore".to_owned(), more.into());
    answer.insert(name.to_owned(), shown.into());
    answer
}
