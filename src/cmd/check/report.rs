//! The report on a server: its stages, for people and as JSON. Pure.

use std::time::Duration;

use serde_json::{Value, json};

use super::probe::Heard;
use crate::cmd::json;
use crate::cmd::output::{self, Cell, Mark, Paint};
use crate::cmd::servers::time;
use crate::config::RefusedServer;
use crate::domain::{ServerName, ServerState, Stage, Warning};
use crate::text;

/// How a stage went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Warning,
    Failed,
    Skipped,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    fn mark(self) -> Mark {
        match self {
            Self::Ok => Mark::Good,
            Self::Warning => Mark::Caution,
            Self::Failed => Mark::Bad,
            Self::Skipped => Mark::Faint,
        }
    }
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) stage: Stage,
    pub(super) verdict: Verdict,
    pub(super) took: Option<Duration>,
    /// What was found, or what went wrong and what to do. May be outside text.
    pub(super) note: String,
}

impl Step {
    pub(super) fn new(
        stage: Stage,
        verdict: Verdict,
        took: Option<Duration>,
        note: String,
    ) -> Self {
        Self { stage, verdict, took, note }
    }

    pub(super) fn ok(stage: Stage, took: Option<Duration>, note: String) -> Self {
        Self::new(stage, Verdict::Ok, took, note)
    }

    pub(super) fn failed(stage: Stage, took: Option<Duration>, note: String) -> Self {
        Self::new(stage, Verdict::Failed, took, note)
    }
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    name: ServerName,
    url: String,
    steps: Vec<Step>,
    warnings: Vec<Warning>,
    /// It is switched off, so nothing was tried.
    pub(super) off: bool,
}

impl Report {
    pub(super) fn new(name: &ServerName, url: &str) -> Self {
        Self {
            name: name.clone(),
            url: url.to_owned(),
            steps: Vec::new(),
            warnings: Vec::new(),
            off: false,
        }
    }

    /// An entry of the config that is not used until it is mended.
    pub(super) fn refused(server: &RefusedServer) -> Self {
        let mut report = Self::new(&server.name.as_str().into(), &server.url);
        report.add(Step::failed(Stage::Config, None, server.reason.clone()));
        report
    }

    pub(super) fn add(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether every stage was passed.
    pub(super) fn ok(&self) -> bool {
        !self.off && self.steps.iter().all(|step| step.verdict != Verdict::Failed)
    }

    /// Whether it is switched off.
    pub(super) fn off(&self) -> bool {
        self.off
    }

    /// Adds what the client said: the stages it passed, and the one that stopped it.
    pub(super) fn tell(&mut self, heard: &Heard) {
        self.warnings.extend(heard.warnings.iter().cloned());
        let failed = self.steps.iter().filter(|step| step.verdict == Verdict::Failed);
        let failed_before = failed.map(|step| step.stage).max();
        let failure = failure(heard);
        let passed = |stage: Stage| {
            heard.stages.iter().find(|(known, _)| *known == stage).map(|(_, took)| *took)
        };
        for stage in [Stage::Http, Stage::Negotiate, Stage::List] {
            let Some(took) = passed(stage) else { continue };
            if failure.as_ref().is_none_or(|step| step.stage != stage) {
                self.add(Step::ok(stage, Some(took), note(heard, stage)));
            }
        }
        // What was met on the way there says it better than the client that met it again.
        let new = |step: &Step| failed_before.is_none_or(|before| step.stage > before);
        if let Some(step) = failure.filter(new) {
            self.add(step);
        }
    }

    fn next(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.verdict == Verdict::Failed)
    }
}

fn note(heard: &Heard, stage: Stage) -> String {
    let agreed = heard.agreed.as_ref();
    match stage {
        Stage::Negotiate => agreed.map_or_else(String::new, |agreed| {
            let session = if agreed.session { ", with an MCP session" } else { "" };
            format!("{} ({} era){session}", agreed.protocol_version, json::era(agreed.era))
        }),
        Stage::List => format!("{} tools", heard.tools.len()),
        _ => String::new(),
    }
}

fn failure(heard: &Heard) -> Option<Step> {
    let took = Some(heard.took);
    match &heard.state {
        Some(ServerState::Ready) => None,
        Some(ServerState::Degraded { reason }) => {
            Some(Step::new(Stage::List, Verdict::Warning, took, reason.clone()))
        }
        Some(ServerState::NeedsAuth { reason }) => {
            Some(Step::failed(Stage::Http, took, reason.clone()))
        }
        Some(ServerState::Failed { stage, reason }) => {
            Some(Step::failed(*stage, took, reason.clone()))
        }
        Some(ServerState::Disabled { reason }) => {
            Some(Step::new(Stage::Config, Verdict::Skipped, None, reason.clone()))
        }
        Some(ServerState::Connecting) | None => Some(Step::failed(
            Stage::Negotiate,
            took,
            "discovery did not come to an end in time (`discoveryTimeout`)".to_owned(),
        )),
    }
}

/// The reports for people.
pub(super) fn render(reports: &[Report], warnings: &[Warning], paint: Paint) -> String {
    let mut out = String::new();
    if reports.is_empty() {
        out.push_str("No servers are configured. `mini-me-tui config init` writes a starter file; --url adds one for a run.\n");
    }
    for report in reports {
        let name = text::strict_line(report.name.as_str());
        let url = text::strict_line(&report.url);
        out.extend([format!("{}  {url}\n", paint.paint(Mark::Strong, name.as_str()))]);
        let rows: Vec<Vec<Cell>> = report.steps.iter().map(row).collect();
        let table = output::table(paint, &["  STAGE", "", "TIME", ""], &rows);
        out.extend(table.lines().skip(1).map(|line| format!("{line}\n")));
        for warning in &report.warnings {
            out.push_str(&output::warning(paint, warning));
        }
        if let Some(step) = report.next() {
            let note = text::block(&step.note);
            out.extend([format!(
                "  {} {}: {note}\n",
                paint.paint(Mark::Bad, "stopped at"),
                step.stage
            )]);
        }
        out.push('\n');
    }
    out.extend(warnings.iter().map(|warning| output::warning(paint, warning)));
    out
}

fn row(step: &Step) -> Vec<Cell> {
    let note = if step.verdict == Verdict::Failed { "" } else { step.note.as_str() };
    vec![
        Cell::plain(format!("  {}", step.stage)),
        Cell::new(step.verdict.word(), step.verdict.mark()),
        Cell::number(step.took.map(time).unwrap_or_default()),
        text::line(note).into(),
    ]
}

/// `check --json`.
pub(super) fn json(reports: &[Report], warnings: &[Warning]) -> Value {
    let servers = reports.iter().map(|report| {
        let stages = report.steps.iter().map(|step| {
            json!({
                "stage": step.stage,
                "outcome": step.verdict.word(),
                "durationMs": step.took.as_ref().map(json::millis),
                "note": step.note,
            })
        });
        json!({
            "name": report.name,
            "url": report.url,
            "ok": report.ok(),
            "stages": stages.collect::<Vec<_>>(),
            "next": report.next().map(|step| &step.note),
            "warnings": report.warnings.iter().map(json::warning).collect::<Vec<_>>(),
        })
    });
    json!({
        "servers": servers.collect::<Vec<_>>(),
        "warnings": warnings.iter().map(json::warning).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Era, ServerConnection};

    fn heard(state: ServerState) -> Heard {
        Heard {
            stages: vec![
                (Stage::Http, Duration::from_millis(3)),
                (Stage::Negotiate, Duration::from_millis(5)),
                (Stage::List, Duration::from_millis(2)),
            ],
            state: Some(state),
            agreed: Some(ServerConnection {
                era: Era::Modern,
                protocol_version: "2026-07-28".to_owned(),
                session: false,
                capabilities: Vec::new(),
                identity: String::new(),
                instructions: None,
            }),
            took: Duration::from_millis(11),
            ..Heard::default()
        }
    }

    fn report() -> Report {
        let mut report = Report::new(&"bugs".into(), "https://bugs.example/mcp");
        report.add(Step::ok(Stage::Config, None, "line 3".to_owned()));
        report
    }

    #[test]
    fn good_server_has_every_stage_with_its_time() {
        let mut report = report();
        report.tell(&heard(ServerState::Ready));
        insta::assert_snapshot!(render(&[report], &[], Paint::Plain), @r"
        bugs  https://bugs.example/mcp
          config     ok          line 3
          HTTP       ok  3.0 ms
          negotiate  ok  5.0 ms  2026-07-28 (modern era)
          list       ok  2.0 ms  0 tools
        ");
    }

    #[test]
    fn failure_names_its_stage_and_what_to_do() {
        let mut report = report();
        let state = ServerState::Failed {
            stage: Stage::List,
            reason: "the list never ends; tell the server's author".to_owned(),
        };
        let mut heard = heard(state);
        heard.stages.pop();
        report.tell(&heard);
        assert!(!report.ok());
        let shown = render(&[report.clone()], &[], Paint::Plain);
        assert!(shown.contains("stopped at list: the list never ends"), "{shown}");
        let shape = json(&[report], &[]);
        assert_eq!(shape["servers"][0]["next"], "the list never ends; tell the server's author");
        assert_eq!(shape["servers"][0]["stages"][3]["outcome"], "failed");
    }

    #[test]
    fn closed_port_is_said_once() {
        let mut report = report();
        report.add(Step::failed(Stage::Tcp, None, "nothing listens on port 1".to_owned()));
        let mut heard = heard(ServerState::Failed {
            stage: Stage::Tcp,
            reason: "connection refused".to_owned(),
        });
        heard.stages.clear();
        report.tell(&heard);
        assert_eq!(report.steps.iter().filter(|step| step.verdict == Verdict::Failed).count(), 1);
    }

    #[test]
    fn refused_entry_fails_at_the_config() {
        let server = RefusedServer {
            name: "x".to_owned(),
            url: String::new(),
            reason: "config.yaml:3: `url`: is missing".to_owned(),
            line: 3,
        };
        assert_eq!(Report::refused(&server).next().unwrap().stage, Stage::Config);
    }
}
