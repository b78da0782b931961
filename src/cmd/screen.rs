//! The screen as a command: config, first-run choices, then the full-screen face.

mod first;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use super::launch::Launch;
use super::sessions::{self, Sought};
use super::{Exit, Stop, output, runtime};
use crate::app;
use crate::cli::{Common, Resume};
use crate::config::Presence;
use crate::domain::Interaction;
use crate::linear;
use crate::runtime as conductor;
use crate::session::SessionId;
use crate::ui::UiOptions;
use crate::ui::pick::{Chosen, Picker};

/// How the program shows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The full screen.
    Screen,
    /// Plain lines.
    Linear,
}

/// Whether the environment asks for plain lines, or says that the terminal can show nothing else.
pub fn accessible() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    dumb || std::env::var_os("ACCESSIBLE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Opens the screen, or talks in plain lines.
pub fn run(
    common: &Common,
    resume: &Resume,
    prompt: Option<String>,
    face: Face,
) -> Result<Exit, Stop> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Stop::usage(
            "the screen needs a terminal. Without one, use a command: exec, tools, call, servers, check.",
        ));
    }
    // A conversation that cannot be had is said before anything is started.
    let sought = sessions::sought(resume)?;
    runtime()?.block_on(async {
        let mut launch = Launch::prepare(common, Interaction::Interactive)?;
        if launch.setup.config.model.is_none() && launch.presence != Presence::Given {
            if face == Face::Linear {
                return Err(Stop::usage(
                    "no model is configured. `mini-me-tui config init` writes a starter file; --demo needs none.",
                ));
            }
            match first::choose(common, &options(&launch), launch).await? {
                first::Way::On(chosen) => launch = *chosen,
                first::Way::End(exit) => return Ok(exit),
            }
        }
        launch.setup.resume = match sought {
            Sought::New => None,
            Sought::This(id) => Some(sessions::opened(&id)?),
            // No full screen, for a choice neither.
            Sought::Asked if face == Face::Linear => Some(sessions::opened(&sessions::choose()?)?),
            Sought::Asked => match chosen(&launch).await? {
                Some(id) => Some(sessions::opened(&id)?),
                None => return Ok(Exit::Done),
            },
        };
        match face {
            Face::Screen => Box::pin(show(launch, prompt)).await,
            Face::Linear => talk(launch, prompt).await,
        }
    })
}

async fn talk(mut launch: Launch, prompt: Option<String>) -> Result<Exit, Stop> {
    let model = options(&launch).model;
    let options = linear::Options { prompt, model };
    let services = launch.accompaniment();
    let outcome = Launch::accompany(services, async {
        linear::run(options, conductor::start(launch.setup)).await
    })
    .await?;
    Ok(farewell(outcome.transcript, outcome.signal))
}

/// Names the transcript. It appears with its first line, and not at all where it cannot be written.
fn farewell(transcript: Option<PathBuf>, signal: Option<i32>) -> Exit {
    if let Some(transcript) = transcript.filter(|file| file.exists()) {
        output::note(&format!("Transcript: {}", transcript.display()));
    }
    signal.map_or(Exit::Done, Exit::Signal)
}

/// Lets the user choose a conversation; `None` when none is.
async fn chosen(launch: &Launch) -> Result<Option<SessionId>, Stop> {
    let picker = Picker::sessions(&sessions::offered()?);
    let chosen = app::pick(&options(launch), picker)
        .await
        .map_err(|report| Stop::new(Exit::Failed, format!("{report:#}")))?;
    Ok(match chosen {
        Some(Chosen::Session(id)) => Some(id),
        Some(Chosen::Message(_)) | None => None,
    })
}

async fn show(mut launch: Launch, prompt: Option<String>) -> Result<Exit, Stop> {
    let options = options(&launch);
    let services = launch.accompaniment();
    let withheld = launch.setup.config.secret_variables();
    let ended = Launch::accompany(services, async {
        let handle = conductor::start(launch.setup);
        app::run(options, handle, prompt, withheld).await
    })
    .await;
    let outcome = ended.map_err(|report| Stop::new(Exit::Failed, format!("{report:#}")))?;
    Ok(farewell(outcome.transcript, outcome.signal))
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
