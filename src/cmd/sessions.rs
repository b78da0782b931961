//! `sessions list|show|export|delete`: conversations on disk.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json, launch};
use crate::cli;
use crate::paths::Paths;
use crate::session::store::{self, SessionError, Summary};
use crate::session::{SessionId, Transcript, transcript};
use crate::text;

/// Columns of a conversation's title in the list.
const TITLE: usize = 60;
/// Conversations that are offered to be resumed.
const OFFERED: usize = 15;

/// Runs the command.
pub fn run(what: &cli::Sessions) -> Result<Exit, Stop> {
    let directory = directory()?;
    let shown = match what {
        cli::Sessions::List(form) => {
            let all = store::list(&directory)?;
            if form.json { json::line(&listed(&all)) } else { render(&all, Paint::for_stdout()) }
        }
        cli::Sessions::Show { id } => {
            let read = store::read(&directory, &store::find(&directory, id)?)?;
            text::block(&transcript::markdown(&read)).into_string()
        }
        cli::Sessions::Export { id, json } => {
            let read = store::read(&directory, &store::find(&directory, id)?)?;
            if *json { json::line(&transcript::json(&read)) } else { transcript::markdown(&read) }
        }
        cli::Sessions::Delete { id } => {
            let id = store::find(&directory, id)?;
            store::delete(&directory, &id)?;
            format!("Deleted {id}.\n")
        }
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

/// The conversation to go on with, as `--resume` and `--continue` ask for.
pub fn resumed(which: &cli::Resume) -> Result<Option<(SessionId, Transcript)>, Stop> {
    let wanted = match (&which.resume, which.r#continue) {
        (None, false) => return Ok(None),
        (None, true) => latest()?,
        (Some(None), _) => choose()?,
        (Some(Some(start)), _) => store::find(&directory()?, start)?,
    };
    let read = store::read(&directory()?, &wanted)?;
    Ok(Some((wanted, read)))
}

fn latest() -> Result<SessionId, Stop> {
    let found = store::latest(&directory()?)?;
    found.ok_or_else(|| Stop::usage("there is no conversation to go on with yet."))
}

/// Lists the latest conversations and asks for a number, on standard error.
fn choose() -> Result<SessionId, Stop> {
    let mut all = store::list(&directory()?)?;
    all.truncate(OFFERED);
    if all.is_empty() {
        return latest();
    }
    if !std::io::stdin().is_terminal() {
        return Err(Stop::usage(
            "--resume without an id asks which, and there is no terminal to ask on. `mini-me-tui sessions list` shows the ids; --continue takes the latest.",
        ));
    }
    for (number, summary) in all.iter().enumerate() {
        let title = text::cut(text::line(&summary.title).as_str(), TITLE);
        output::note(&format!("{:>3}  {}  {title}", number + 1, summary.created));
    }
    output::ask("Which one? [1] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let number = if answer.trim().is_empty() { Some(1) } else { answer.trim().parse().ok() };
    number
        .and_then(|number: usize| all.get(number.checked_sub(1)?))
        .map(|summary| summary.id.clone())
        .ok_or_else(|| Stop::usage(format!("`{}` is none of these numbers.", answer.trim())))
}

fn directory() -> Result<PathBuf, Stop> {
    let paths = Paths::discover(&launch::variable).ok_or_else(|| {
        Stop::usage(
            "there is no home directory, so there are no conversations: set HOME or MINI_ME_HOME.",
        )
    })?;
    Ok(paths.sessions_dir())
}

impl From<SessionError> for Stop {
    fn from(error: SessionError) -> Self {
        let exit = match error {
            SessionError::Missing { .. } | SessionError::Ambiguous { .. } => Exit::Usage,
            SessionError::Unreadable { .. } | SessionError::Io { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

fn listed(all: &[Summary]) -> Value {
    json!({ "sessions": all })
}

fn render(all: &[Summary], paint: Paint) -> String {
    if all.is_empty() {
        return "No conversations yet.\n".to_owned();
    }
    let row = |summary: &Summary| {
        vec![
            Cell::new(summary.id.to_string(), Mark::Strong),
            text::strict_line(summary.created.get(..16).unwrap_or(&summary.created)).into(),
            Cell::number(summary.turns.to_string()),
            text::line(summary.model.as_deref().unwrap_or_default()).into(),
            Cell::plain(text::cut(text::line(&summary.title).as_str(), TITLE)),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    output::table(paint, &["ID", "BEGUN (UTC)", "TURNS", "MODEL", "FIRST MESSAGE"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_a_row_for_each_and_titles_cannot_steer_the_terminal() {
        let summary = Summary {
            id: SessionId::parse("20261130-181512-ab12cd").unwrap(),
            path: PathBuf::from("/x"),
            created: "2026-11-30T18:15:12Z".to_owned(),
            model: Some("qwen3".to_owned()),
            title: "Look\u{1b}[2J at".to_owned(),
            turns: 2,
            bytes: 9,
        };
        let shown = render(std::slice::from_ref(&summary), Paint::Plain);
        assert!(shown.contains("2026-11-30T18:15") && !shown.contains('\u{1b}'), "{shown}");
        assert_eq!(listed(&[summary])["sessions"][0]["turns"], 2);
        assert!(render(&[], Paint::Plain).contains("No conversations"));
    }
}
