//! The screen as a command: config, first-run choices, then the full-screen face.

mod first;

use std::io::{self, IsTerminal};

use super::launch::Launch;
use super::{Exit, Stop, output, runtime, sessions};
use crate::app;
use crate::bridge::Notice;
use crate::cli::{Common, Resume};
use crate::config::Presence;
use crate::domain::Interaction;
use crate::runtime as conductor;
use crate::session::replay;
use crate::ui::UiOptions;

/// Opens the screen.
pub fn run(common: &Common, resume: &Resume, prompt: Option<String>) -> Result<Exit, Stop> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Stop::usage(
            "the screen needs a terminal. Without one, use a command: exec, tools, call, servers, check.",
        ));
    }
    let history = sessions::resumed(resume)?;
    runtime()?.block_on(async {
        let mut launch = Launch::prepare(common, Interaction::Interactive)?;
        if launch.setup.config.model.is_none() && launch.presence != Presence::Given {
            match first::choose(common, &options(&launch), launch).await? {
                first::Way::On(chosen) => launch = *chosen,
                first::Way::End(exit) => return Ok(exit),
            }
        }
        let earlier =
            history.as_ref().map(|(_, history)| replay::notices(history)).unwrap_or_default();
        (launch.setup.session, launch.setup.resume) =
            history.map(|(id, history)| (id, history.messages())).unzip();
        show(launch, prompt, earlier).await
    })
}

async fn show(
    mut launch: Launch,
    prompt: Option<String>,
    history: Vec<Notice>,
) -> Result<Exit, Stop> {
    let options = UiOptions { history, ..options(&launch) };
    let services = launch.accompaniment();
    let ended = Launch::accompany(services, async {
        let handle = conductor::start(launch.setup);
        app::run(options, handle, prompt).await
    })
    .await;
    let outcome = ended.map_err(|report| Stop::new(Exit::Failed, format!("{report:#}")))?;
    // It appears with its first line, and not at all where it cannot be written.
    if let Some(transcript) = outcome.transcript.filter(|file| file.exists()) {
        output::note(&format!("Transcript: {}", transcript.display()));
    }
    Ok(outcome.signal.map_or(Exit::Done, Exit::Signal))
}

fn options(launch: &Launch) -> UiOptions {
    let config = &launch.setup.config;
    let mut options = UiOptions::new(&config.ui);
    options.no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    options.keys.clone_from(&config.keys);
    options.file.clone_from(&config.file);
    options.model = config.model.as_ref().map(|model| model.name.clone()).unwrap_or_default();
    options.program.clone_from(&launch.program);
    options.rules_file = launch.setup.paths.as_ref().map(crate::paths::Paths::rules_file);
    options
}
