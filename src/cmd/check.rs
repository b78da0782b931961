//! `check`: each server stage by stage, with times and the next action on failure.

mod probe;
mod report;

use futures_util::future::join_all;

use super::headless::interrupted;
use super::launch::Launch;
use super::output::{self, Paint};
use super::{Exit, Stop, json};
use crate::cli::Common;
use crate::domain::Interaction;
use crate::mcp::ServerSpec;
use crate::mcp::http::Http;
use crate::pin::Pins;
use crate::runtime::spec;

use report::Report;

/// Runs the command.
pub async fn run(common: &Common, as_json: bool) -> Result<Exit, Stop> {
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let reports = tokio::select! {
            reports = check(&mut launch) => reports,
            () = interrupted() => return Ok(Exit::Interrupted),
        };
        let shown = if as_json {
            json::line(&report::json(&reports, &launch.setup.warnings))
        } else {
            report::render(&reports, &launch.setup.warnings, Paint::for_stdout())
        };
        output::print(&shown)?;
        let all = reports.iter().all(|report| report.ok() || report.off());
        Ok(if all { Exit::Done } else { Exit::NoServer })
    })
    .await
}

async fn check(launch: &mut Launch) -> Vec<Report> {
    let setup = &mut launch.setup;
    let ca = spec::certificates(&setup.config.mcp, &mut setup.warnings);
    let secrets = spec::secrets(&setup.config);
    let pins = remembered(setup.paths.as_ref());
    let mcp = &setup.config.mcp;
    let needles = spec::needles(&setup.config);
    let specs = mcp.servers.iter().map(|server| {
        let wire = Some(spec::tap(server, &setup.wire, &needles));
        (server, ServerSpec { wire, ..spec::of(server, mcp, ca.clone()) })
    });
    let specs: Vec<_> = specs.collect();
    for (_, spec) in &specs {
        // A client that cannot be made says so when the server's turn comes.
        drop(Http::new(spec).prepare());
    }
    // Ways first, protocols then: what one server costs must not stand in another's times.
    let ways = join_all(specs.iter().map(|(server, spec)| probe::reach(server, spec))).await;
    let probes = specs.into_iter().zip(ways);
    let probes = probes
        .map(|((server, spec), way)| probe::server(server, spec, way, pins.as_ref(), &secrets));
    let mut reports = join_all(probes).await;
    reports.extend(setup.refused.iter().map(Report::refused));
    reports
}

/// What is remembered of tools' definitions; `None` where nothing is.
fn remembered(paths: Option<&crate::paths::Paths>) -> Option<Pins> {
    let text = std::fs::read(paths?.pins_file()).ok()?;
    serde_json::from_slice(&text).ok()
}
