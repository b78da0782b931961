//! `exec`: one turn without a screen. Text to standard output, progress to standard error; what
//! would ask is denied, and the message names the rule that would allow it.

mod tell;

use std::time::Duration;

use tokio::time::timeout;

use super::headless::{Headless, interrupted};
use super::launch::{self, Launch};
use super::rules;
use super::sessions;
use super::{Exit, Stop, output};
use crate::bridge::{Notice, Op};
use crate::cli::{self, Common};
use crate::domain::Interaction;

use tell::{Form, Teller};

/// How long an interrupted turn is given to end in order.
const ENDING: Duration = Duration::from_secs(5);

/// Runs the command.
pub async fn run(common: &Common, options: &cli::Exec) -> Result<Exit, Stop> {
    let prompt = prompt(&options.prompt)?;
    let mut launch = Launch::prepare(common, Interaction::Headless)?;
    launch.setup.resume = sessions::resumed(&options.resume)?;
    launch.setup.extra_rules = rules::rules(&options.allow, &options.deny)?;
    if launch.setup.config.model.is_none() {
        return Err(Stop::new(
            Exit::NoModel,
            "no model is configured. Add `model:` to the config (`mini-me-tui config init` writes a starter file), or use --demo.",
        ));
    }
    let form = if options.json { Form::Json } else { Form::Text };
    let services = launch.accompaniment();
    Launch::accompany(services, async {
        let mut program = Headless::start(&launch);
        let told = tokio::select! {
            () = program.settle(None) => turn(&mut program, prompt, Teller::new(form)).await,
            () = interrupted() => Ok(Exit::Interrupted),
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

/// Sends the message and tells what happens until the turn has ended.
async fn turn(program: &mut Headless, text: String, mut teller: Teller) -> Result<Exit, Stop> {
    say(&teller.opening(&program.catalog))?;
    program.send(Op::Submit { text }).await?;
    loop {
        let notice = tokio::select! {
            notice = program.next() => notice,
            () = interrupted() => return interrupt(program, teller).await,
        };
        let Some(notice) = notice else {
            return Err(Stop::new(Exit::Failed, "the program's own runtime has ended"));
        };
        if let Notice::Questioned { question } = &notice {
            // Nobody is here to say that it may go on.
            program.send(Op::Decide { question: question.id, go_on: false }).await?;
        }
        say(&teller.hear(&notice))?;
        if let Some(exit) = teller.ended() {
            return Ok(exit);
        }
    }
}

async fn interrupt(program: &mut Headless, mut teller: Teller) -> Result<Exit, Stop> {
    program.send(Op::Interrupt).await?;
    let rest = async {
        while let Some(notice) = program.next().await {
            say(&teller.hear(&notice))?;
            if teller.ended().is_some() {
                break;
            }
        }
        Ok::<_, Stop>(())
    };
    tokio::select! {
        ended = timeout(ENDING, rest) => ended.unwrap_or(Ok(()))?,
        () = interrupted() => {}
    }
    Ok(Exit::Interrupted)
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
