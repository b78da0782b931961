//! `audit`: the decision log.

use serde_json::json;

use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json, launch};
use crate::audit::{self, AuditLine};
use crate::paths::Paths;
use crate::text;

/// Runs the command.
pub fn run(as_json: bool) -> Result<Exit, Stop> {
    let paths = Paths::discover(&launch::variable).ok_or_else(|| {
        Stop::usage("there is no home directory, so there is no log: set HOME or MINI_ME_HOME.")
    })?;
    let file = paths.audit_file();
    let lines = audit::read(&file).map_err(|error| {
        Stop::new(Exit::Failed, format!("cannot read {}: {error}", file.display()))
    })?;
    let shown = if as_json {
        json::line(&json!({ "entries": lines }))
    } else {
        render(&lines, Paint::for_stdout())
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn render(lines: &[AuditLine], paint: Paint) -> String {
    if lines.is_empty() {
        return "No decisions yet.\n".to_owned();
    }
    let rows: Vec<Vec<Cell>> = lines.iter().map(row).collect();
    output::table(paint, &["WHEN (UTC)", "TOOL", "WHAT", "TIME", "BY"], &rows)
}

fn row(line: &AuditLine) -> Vec<Cell> {
    let (what, mark) = match (&line.decision, &line.outcome) {
        (Some(decision), _) if decision == "denied" => (decision.as_str(), Mark::Bad),
        (Some(decision), _) => (decision.as_str(), Mark::Good),
        (None, Some(outcome)) => (outcome.as_str(), Mark::Plain),
        (None, None) => ("", Mark::Plain),
    };
    vec![
        text::strict_line(line.when.get(..19).unwrap_or(&line.when)).into(),
        text::strict_line(&format!("{}/{}", line.server, line.tool)).into(),
        Cell::new(text::line(what).into_string(), mark),
        Cell::number(line.duration_ms.map(|ms| format!("{ms} ms")).unwrap_or_default()),
        text::line(line.by.as_deref().unwrap_or_default()).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_and_outcome_each_have_a_row() {
        let decision = AuditLine {
            when: "2026-11-30T18:15:12.5Z".to_owned(),
            session: "s".to_owned(),
            turn: Some(1),
            call: 1,
            server: "bugs".to_owned(),
            tool: "get_task".to_owned(),
            pin: "0f".to_owned(),
            arguments_hash: "ab".to_owned(),
            decision: Some("allowed".to_owned()),
            by: Some("user: once".to_owned()),
            outcome: None,
            duration_ms: None,
        };
        let outcome = AuditLine {
            decision: None,
            by: None,
            outcome: Some("ok".to_owned()),
            duration_ms: Some(12),
            ..decision.clone()
        };
        insta::assert_snapshot!(render(&[decision, outcome], Paint::Plain), @r"
        WHEN (UTC)           TOOL           WHAT      TIME  BY
        2026-11-30T18:15:12  bugs/get_task  allowed         user: once
        2026-11-30T18:15:12  bugs/get_task  ok       12 ms
        ");
    }
}
