//! `exec`: one turn without a screen. Text to standard output, progress to standard error; what
//! would ask is denied, and the message names the rule that would allow it.

mod ending;
mod tell;

use std::time::Duration;

use tokio::time::timeout;

use super::headless::{Headless, Stops};
use super::launch::{self, Launch};
use super::rules;
use super::sessions;
use super::{Exit, Stop, output};
use crate::bridge::{Notice, Op};
use crate::cli::{self, Common};
use crate::domain::{Interaction, ServerName};

use tell::{Form, Teller};

/// JSON Schema of the events of `--json`.
pub const SCHEMA: &str = include_str!("../../assets/exec-events.schema.json");
/// The version of their shapes.
const VERSION: u32 = 1;
/// How long an interrupted turn is given to end in order.
const ENDING: Duration = Duration::from_secs(5);

/// Runs the command.
pub async fn run(common: &Common, options: &cli::Exec) -> Result<Exit, Stop> {
    if options.json_schema {
        output::print(SCHEMA)?;
        return Ok(Exit::Done);
    }
    let prompt = prompt(options.prompt.as_deref().unwrap_or_default())?;
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    launch.setup.resume = sessions::resumed(&options.resume)?;
    launch.setup.extra_rules = rules::rules(&options.allow, &options.deny)?;
    let Some(model) = &launch.setup.config.model else {
        return Err(Stop::new(
            Exit::NoModel,
            "no model is configured. Add `model:` to the config (`mini-me-tui config init` writes a starter file), or use --demo.",
        ));
    };
    let form = if options.json { Form::Json } else { Form::Text };
    let teller = Teller::new(form, &model.name);
    let needed = needed(common, &launch);
    let mut stops = Stops::listen()?;
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut program = Headless::start(&launch);
        let told = tokio::select! {
            () = program.settle(None) => {
                let run = Run { program: &mut program, stops: &mut stops, teller };
                run.turn(prompt, needed.as_ref(), &launch).await
            }
            exit = stops.next() => Ok(exit),
        };
        program.end().await;
        told
    })
    .await
}

fn prompt(given: &str) -> Result<String, Stop> {
    let mut text = if given == "-" { launch::standard_input()? } else { given.to_owned() };
    text.truncate(text.trim_end().len());
    if text.is_empty() {
        return Err(Stop::usage(
            "the message is empty. Give it as an argument, or `-` and pipe it in.",
        ));
    }
    Ok(text)
}

/// The server that the command line itself names: without it the run has no sense.
fn needed(common: &Common, launch: &Launch) -> Option<ServerName> {
    common.url.as_ref()?;
    launch.setup.config.mcp.servers.last().map(|server| server.name.clone())
}

/// One turn and those who take part in it.
struct Run<'a> {
    program: &'a mut Headless,
    stops: &'a mut Stops,
    teller: Teller,
}

impl Run<'_> {
    /// Sends the message and tells what happens until the turn has ended.
    async fn turn(
        mut self,
        text: String,
        needed: Option<&ServerName>,
        launch: &Launch,
    ) -> Result<Exit, Stop> {
        let catalog = &self.program.catalog;
        let idle = rules::idle(&launch.setup.extra_rules, catalog);
        say(&self.teller.opening(catalog, &idle, self.program.session.as_deref()))?;
        let needed = needed.and_then(|name| catalog.server(name));
        if let Some(server) = needed.filter(|server| !server.state.usable()) {
            let stands = output::stands(server);
            return Err(Stop::new(Exit::NoServer, format!("the server {stands}")));
        }
        self.program.send(Op::Submit { text }).await?;
        loop {
            let notice = tokio::select! {
                notice = self.program.next() => notice,
                exit = self.stops.next() => return self.interrupt(exit).await,
            };
            let Some(notice) = notice else {
                return Err(Stop::new(Exit::Failed, "the program's own runtime has ended"));
            };
            if let Notice::Questioned { question } = &notice {
                // Nobody is here to say that it may go on.
                self.program.send(Op::Decide { question: question.id, go_on: false }).await?;
            }
            say(&self.teller.hear(&notice))?;
            if let Some(exit) = self.teller.ended() {
                return Ok(exit);
            }
        }
    }

    /// Cancels the turn and tells its end, within bounds.
    async fn interrupt(mut self, exit: Exit) -> Result<Exit, Stop> {
        self.teller.stopped(exit);
        self.program.send(Op::Interrupt).await?;
        let rest = async {
            while let Some(notice) = self.program.next().await {
                say(&self.teller.hear(&notice))?;
                if self.teller.ended().is_some() {
                    break;
                }
            }
            Ok::<_, Stop>(())
        };
        tokio::select! {
            ended = timeout(ENDING, rest) => ended.unwrap_or(Ok(()))?,
            _ = self.stops.next() => {}
        }
        Ok(exit)
    }
}

fn say(said: &tell::Said) -> Result<(), Stop> {
    if !said.out.is_empty() {
        output::print(&said.out)?;
    }
    for line in said.err.lines() {
        output::note(line);
    }
    Ok(())
}
