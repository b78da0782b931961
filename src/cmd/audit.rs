//! `audit`, `audit verify`, `audit stats`: the decision log.

use std::path::PathBuf;

use serde_json::json;
use time::UtcDateTime;

use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json, launch};
use crate::audit::chain::Report;
use crate::audit::stats::{self, Figures};
use crate::audit::{self, AuditLine, VERSION, since};
use crate::cli;
use crate::paths::Paths;
use crate::text;

/// Runs the command.
pub fn run(what: &cli::Audit) -> Result<Exit, Stop> {
    match &what.what {
        None => show(&what.lines),
        Some(cli::AuditWhat::Stats(lines)) => count(lines),
        Some(cli::AuditWhat::Verify(form)) => verify(form.json),
    }
}

fn file() -> Result<PathBuf, Stop> {
    let paths = Paths::discover(&launch::variable).ok_or_else(|| {
        Stop::usage("there is no home directory, so there is no log: set HOME or MINI_ME_HOME.")
    })?;
    Ok(paths.audit_file())
}

/// The lines that are asked for.
fn lines(which: &cli::AuditLines) -> Result<Vec<AuditLine>, Stop> {
    let since = which.since.as_deref().map(|text| since::parse(text, UtcDateTime::now()));
    let since = since.transpose().map_err(|why| Stop::usage(format!("--since: {why}")))?;
    let file = file()?;
    let mut lines = audit::read(&file).map_err(|error| {
        Stop::new(Exit::Failed, format!("cannot read {}: {error}", file.display()))
    })?;
    lines.retain(|line| since::includes(since, &line.when));
    if let Some(server) = &which.server {
        lines.retain(|line| line.server == *server);
    }
    Ok(lines)
}

fn show(which: &cli::AuditLines) -> Result<Exit, Stop> {
    let lines = lines(which)?;
    let shown = if which.json {
        json::line(&json!({ "version": VERSION, "entries": lines }))
    } else {
        render(&lines, Paint::for_stdout())
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn count(which: &cli::AuditLines) -> Result<Exit, Stop> {
    let lines = lines(which)?;
    let (servers, tools) = stats::figures(&lines);
    let shown = if which.json {
        json::line(&json!({ "version": VERSION, "servers": servers, "tools": tools }))
    } else {
        figures(&servers, &tools, Paint::for_stdout())
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn verify(as_json: bool) -> Result<Exit, Stop> {
    let file = file()?;
    let report = audit::check(&file).map_err(|error| {
        Stop::new(Exit::Failed, format!("cannot read {}: {error}", file.display()))
    })?;
    let holds = report.problems.is_empty();
    let shown = if as_json {
        let mut shape = json!({ "version": VERSION, "file": file, "ok": holds });
        let found = serde_json::to_value(&report).unwrap_or_default();
        if let (Some(shape), Some(found)) = (shape.as_object_mut(), found.as_object()) {
            shape.extend(found.clone());
        }
        json::line(&shape)
    } else {
        verdict(&report, &file.display().to_string(), Paint::for_stdout())
    };
    output::print(&shown)?;
    Ok(if holds { Exit::Done } else { Exit::Failed })
}

fn verdict(report: &Report, file: &str, paint: Paint) -> String {
    let mut out = String::new();
    for problem in &report.problems {
        let message = text::strict_line(&problem.message);
        out.extend([paint.paint(Mark::Bad, "broken:").as_str(), " ", message.as_str(), "\n"]);
    }
    for remark in &report.remarks {
        let remark = text::strict_line(remark);
        out.extend([paint.paint(Mark::Caution, "noted:").as_str(), " ", remark.as_str(), "\n"]);
    }
    if report.unchained > 0 {
        out.push_str(&lines_of(report.unchained));
        out.push_str(
            " from before the chain: guarded as a whole from the first line of the chain on\n",
        );
    }
    let file = text::strict_line(file);
    let (mark, verdict) = match (report.problems.len(), report.chained) {
        (0, 0) => (Mark::Plain, format!("No chained lines in {file} yet.")),
        (0, chained) => (Mark::Good, format!("The chain holds: {} in {file}.", lines_of(chained))),
        (count, _) => {
            let places = if count == 1 { "1 place" } else { &format!("{count} places") };
            (Mark::Bad, format!("The chain is broken in {places}: {file}"))
        }
    };
    out.extend([paint.paint(mark, &verdict).as_str(), "\n"]);
    if let Some(hash) = &report.hash {
        out.extend(["Last line: ", text::strict_line(hash).as_str(), "\n"]);
    }
    out
}

fn lines_of(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
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
    let tool = match &line.note {
        Some(_) => "(the log itself)".to_owned(),
        None => text::strict_line(&format!("{}/{}", line.server, line.tool)).into_string(),
    };
    let (what, mark) = if line.note.is_some() { ("noted", Mark::Caution) } else { (what, mark) };
    let by = line.by.as_deref().or(line.note.as_deref()).unwrap_or_default();
    vec![
        text::strict_line(line.when.get(..19).unwrap_or(&line.when)).into(),
        Cell::plain(tool),
        Cell::new(text::strict_line(what).into_string(), mark),
        Cell::number(line.duration_ms.map(|ms| format!("{ms} ms")).unwrap_or_default()),
        text::strict_line(by).into(),
    ]
}

fn figures(servers: &[Figures], tools: &[Figures], paint: Paint) -> String {
    if servers.is_empty() {
        return "No calls yet.\n".to_owned();
    }
    let mut rows = Vec::new();
    for server in servers {
        rows.push(figures_row(server, Mark::Strong));
        let own = tools.iter().filter(|tool| tool.server == server.server);
        rows.extend(own.map(|tool| figures_row(tool, Mark::Plain)));
    }
    output::table(paint, &["SERVER/TOOL", "CALLS", "DENIED", "ERRORS", "P50", "P95"], &rows)
}

fn figures_row(figures: &Figures, mark: Mark) -> Vec<Cell> {
    let name = match &figures.tool {
        Some(tool) => format!("  {}", text::strict_line(tool)),
        None => text::strict_line(&figures.server).into_string(),
    };
    let time = |ms: Option<u64>| Cell::number(ms.map(|ms| format!("{ms} ms")).unwrap_or_default());
    vec![
        Cell::new(name, mark),
        Cell::number(figures.calls.to_string()),
        Cell::number(figures.denials.to_string()),
        Cell::number(figures.errors.to_string()),
        time(figures.p50_ms),
        time(figures.p95_ms),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::{Kind, Problem};

    fn decision() -> AuditLine {
        AuditLine {
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
            ..AuditLine::default()
        }
    }

    fn outcome() -> AuditLine {
        AuditLine {
            decision: None,
            by: None,
            outcome: Some("ok".to_owned()),
            duration_ms: Some(12),
            ..decision()
        }
    }

    #[test]
    fn decision_and_outcome_each_have_a_row() {
        insta::assert_snapshot!(render(&[decision(), outcome()], Paint::Plain), @r"
        WHEN (UTC)           TOOL           WHAT      TIME  BY
        2026-11-30T18:15:12  bugs/get_task  allowed         user: once
        2026-11-30T18:15:12  bugs/get_task  ok       12 ms
        ");
    }

    #[test]
    fn figures_stand_under_their_server() {
        let (servers, tools) = stats::figures(&[decision(), outcome()]);
        insta::assert_snapshot!(figures(&servers, &tools, Paint::Plain), @r"
        SERVER/TOOL  CALLS  DENIED  ERRORS    P50    P95
        bugs             1       0       0  12 ms  12 ms
          get_task       1       0       0  12 ms  12 ms
        ");
    }

    #[test]
    fn a_broken_chain_names_its_lines() {
        let problem = Problem {
            line: 4,
            kind: Kind::Edited,
            message: "line 4 (entry 2) was changed".to_owned(),
        };
        let report = Report {
            chained: 5,
            unchained: 2,
            hash: Some("ab".to_owned()),
            problems: vec![problem],
            remarks: vec!["line 3: cut off".to_owned()],
        };
        insta::assert_snapshot!(verdict(&report, "audit.jsonl", Paint::Plain), @r"
        broken: line 4 (entry 2) was changed
        noted: line 3: cut off
        2 lines from before the chain: guarded as a whole from the first line of the chain on
        The chain is broken in 1 place: audit.jsonl
        Last line: ab
        ");
    }
}
