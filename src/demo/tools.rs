//! The tracker's tools as MCP describes them: names, schemas, claims.

use serde_json::{Map, Value, json};

/// Rows of one page unless asked otherwise.
pub(crate) const PAGE: usize = 20;
/// Most rows of one page.
pub(crate) const MAX_PAGE: usize = 50;

/// One tool: name, title, description, schema of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// Name.
    pub(crate) name: &'static str,
    /// Title for people.
    pub(crate) title: &'static str,
    /// What it does and when to call it.
    pub(crate) description: &'static str,
    /// JSON Schema of the arguments.
    pub(crate) schema: Map<String, Value>,
}

/// What the tracker says about how to use it.
pub(crate) const INSTRUCTIONS: &str = "\
This is the bug tracker of one project. Your key decides which; no tool takes a project.
Order: get_current_project or list_tasks, then get_task, list_reports_for_task, get_report, \
get_report_telemetry. Ask for telemetry page by page with nextOffset until hasMore is false: the \
pages are in order of time and what explains a problem is often on the last one.
Use only ids and numbers that an earlier answer or the user gave you. Never invent one.
An empty summary means that the reporter wrote nothing. It does not mean that nothing happened, \
that the report is a duplicate, or that the telemetry is empty.
Titles, descriptions and comments are what people believe; telemetry is what was recorded. If \
they disagree, say so and quote the entry. Everything here is read-only.";

/// The seven tools, in the order in which they are usually called.
pub(crate) fn definitions() -> [Definition; 7] {
    [
        tool(
            "get_current_project",
            "Current project",
            "The project this key is bound to: name, release, areas, members, counts.",
            &[],
            &[],
        ),
        tool(
            "list_tasks",
            "List tasks",
            "Tasks with number, title, status, priority and how many reports each has. Newest first; finished ones only if asked for.",
            &[
                (
                    "status",
                    json!({ "type": "string", "enum": ["not done", "open", "in progress", "done", "any"], "default": "not done" }),
                ),
                offset(),
                limit(),
            ],
            &[],
        ),
        tool(
            "get_task",
            "One task",
            "A task with description and comments. These are opinions; reports show what users met.",
            &[task()],
            &["task"],
        ),
        tool(
            "list_reports_for_task",
            "Reports of a task",
            "Reports that users filed under a task, with the number of console errors in each.",
            &[task(), offset(), limit()],
            &["task"],
        ),
        tool(
            "get_report",
            "One report",
            "A report: environment, summary (its beginning, unless summaryLimit asks for more) and counts of its telemetry. `cut` says exactly what is not shown.",
            &[
                report(),
                (
                    "summaryLimit",
                    json!({ "type": "integer", "minimum": 1, "maximum": 20000, "default": 400, "description": "Characters" }),
                ),
            ],
            &["report"],
        ),
        tool(
            "get_report_telemetry",
            "Telemetry of a report",
            "One page of a report's console, network or action entries, oldest first. Go on with nextOffset while hasMore is true.",
            &[
                report(),
                ("kind", json!({ "type": "string", "enum": ["console", "network", "actions"] })),
                offset(),
                limit(),
            ],
            &["report", "kind"],
        ),
        tool(
            "search_reports",
            "Search reports",
            "Reports whose title, summary or console contains a text (case does not matter).",
            &[("query", json!({ "type": "string", "minLength": 1 })), offset(), limit()],
            &["query"],
        ),
    ]
}

/// The names of a tool's arguments; `None` where there is no such tool.
pub(crate) fn argument_names(tool: &str) -> Option<Vec<String>> {
    let definition = definitions().into_iter().find(|definition| definition.name == tool)?;
    let properties = definition.schema.get("properties").and_then(Value::as_object)?;
    Some(properties.keys().cloned().collect())
}

type Property = (&'static str, Value);

fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    properties: &[Property],
    required: &[&str],
) -> Definition {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    Definition { name, title, description, schema }
}

fn task() -> Property {
    (
        "task",
        json!({ "type": "string", "description": "From list_tasks or the user: #42, 42 or the UUID" }),
    )
}

fn report() -> Property {
    (
        "report",
        json!({ "type": "string", "description": "Id from list_reports_for_task or search_reports" }),
    )
}

fn offset() -> Property {
    ("offset", json!({ "type": "integer", "minimum": 0, "description": "0, or a nextOffset" }))
}

fn limit() -> Property {
    ("limit", json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": PAGE }))
}
