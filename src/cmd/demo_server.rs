//! `demo-server`: the demo's bug tracker alone, for any MCP client of this machine.

use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use super::headless::interrupted;
use super::{Exit, Stop, output};
use crate::demo;

/// Serves until Ctrl-C. The first line of standard output is the URL, for scripts.
pub async fn run(port: u16, extra_tools: usize) -> Result<Exit, Stop> {
    let (url, key, services) = demo::server_alone(port).map_err(|error| {
        Stop::new(
            Exit::Failed,
            format!("cannot listen on port {port}: {error}. --port 0 takes any free one."),
        )
    })?;
    let services = services.with_extra_tools(extra_tools);
    output::print(&format!("{url}\n"))?;
    output::note(&format!(
        "Sample data of a bug tracker, read-only, for clients on this machine. No key is needed; the project key is\n  {}\nTry it: mini-me-tui --url {url} tools\nCtrl-C ends it.",
        key.expose_secret()
    ));
    let cancel = CancellationToken::new();
    tokio::select! {
        ended = services.serve(cancel.clone()) => ended?,
        () = interrupted() => cancel.cancel(),
    }
    Ok(Exit::Done)
}
