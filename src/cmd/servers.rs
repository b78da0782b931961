//! `servers`: the state of each server.

use std::time::Duration;

use super::headless::{Headless, interrupted};
use super::launch::Launch;
use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json};
use crate::cli::Common;
use crate::domain::{Catalog, Interaction, Server, ServerState};
use crate::text;

/// Runs the command.
pub async fn run(common: &Common, as_json: bool) -> Result<Exit, Stop> {
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut program = Headless::start(&launch);
        let settled = tokio::select! {
            () = program.settle(None) => true,
            () = interrupted() => false,
        };
        let catalog = program.catalog.clone();
        program.end().await;
        if !settled {
            return Ok(Exit::Interrupted);
        }
        let shown = if as_json {
            json::line(&json::servers(&catalog))
        } else {
            render(&catalog, Paint::for_stdout())
        };
        output::print(&shown)?;
        Ok(Exit::Done)
    })
    .await
}

/// The output for people.
pub fn render(catalog: &Catalog, paint: Paint) -> String {
    let mut out = String::new();
    if catalog.servers.is_empty() {
        out.push_str("No servers are configured. `mini-me-tui config init` writes a starter file; --url adds one for a run; --demo needs none.\n");
    } else {
        let rows: Vec<Vec<Cell>> = catalog.servers.iter().map(row).collect();
        let heading = ["SERVER", "STATE", "ERA", "PROTOCOL", "SESSION", "TOOLS", "LATENCY", "URL"];
        out.push_str(&output::table(paint, &heading, &rows));
    }
    for server in &catalog.servers {
        if !server.state.reason().is_empty() {
            let name = text::strict_line(server.name.as_str());
            let reason = text::block(server.state.reason());
            out.push_str(&format!("{} {reason}\n", paint.paint(Mark::Strong, &format!("{name}:"))));
        }
    }
    catalog.all_warnings().for_each(|warning| out.push_str(&output::warning(paint, warning)));
    out
}

fn row(server: &Server) -> Vec<Cell> {
    let connection = server.connection.as_ref();
    let session = connection.map_or("", |connection| if connection.session { "yes" } else { "no" });
    let protocol = connection.map(|connection| text::strict_line(&connection.protocol_version));
    vec![
        Cell::new(text::strict_line(server.name.as_str()).into_string(), Mark::Strong),
        Cell::new(server.state.word(), mark(&server.state)),
        Cell::plain(connection.map_or("", |connection| json::era(connection.era))),
        protocol.map_or_else(|| Cell::plain(""), Cell::from),
        Cell::plain(session),
        Cell::number(server.tools.len().to_string()),
        Cell::number(server.latency.last().copied().map(time).unwrap_or_default()),
        text::strict_line(&server.url).into(),
    ]
}

/// How good or bad a state is.
pub fn mark(state: &ServerState) -> Mark {
    match state {
        ServerState::Ready => Mark::Good,
        ServerState::Connecting | ServerState::Degraded { .. } | ServerState::NeedsAuth { .. } => {
            Mark::Caution
        }
        ServerState::Failed { .. } => Mark::Bad,
        ServerState::Disabled { .. } => Mark::Faint,
    }
}

/// A duration as a person reads it.
pub fn time(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1000.0;
    if millis < 10.0 {
        format!("{millis:.1} ms")
    } else if millis < 1000.0 {
        format!("{millis:.0} ms")
    } else {
        format!("{:.1} s", millis / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fixtures::{catalog, server};
    use crate::domain::Stage;

    #[test]
    fn each_server_has_a_row_and_a_failed_one_its_reason() {
        let mut down = server("down", &[]);
        down.state = ServerState::Failed {
            stage: Stage::Tcp,
            reason: "connection refused; is it running?".to_owned(),
        };
        (down.connection, down.latency) = (None, Vec::new());
        let shown = render(&catalog(vec![server("bugs", &["a", "b"]), down]), Paint::Plain);
        insta::assert_snapshot!(shown, @r"
        SERVER  STATE   ERA     PROTOCOL    SESSION  TOOLS  LATENCY  URL
        bugs    ready   modern  2026-07-28  no           2    12 ms  https://bugs.example/mcp
        down    failed                                   0           https://down.example/mcp
        down: connection refused; is it running?
        ");
    }

    #[test]
    fn no_servers_says_what_to_do() {
        assert!(render(&catalog(Vec::new()), Paint::Plain).contains("config init"));
    }

    #[test]
    fn times_are_short() {
        let shown =
            [Duration::from_micros(250), Duration::from_millis(37), Duration::from_millis(2_540)]
                .map(time);
        assert_eq!(shown, ["0.2 ms", "37 ms", "2.5 s"]);
    }
}
