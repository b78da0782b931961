//! `sessions list|show|export|fork|delete`: conversations on disk, and which one to go on with.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::output::{self, Cell, Mark, Paint};
use super::{Exit, Stop, json, launch};
use crate::cli::{self, ExportFormat};
use crate::paths::Paths;
use crate::runtime::Resume;
use crate::session::store::{self, SessionError, Summary};
use crate::session::{SessionId, transcript};
use crate::text;

/// Columns of a conversation's title in the list.
const TITLE: usize = 60;
/// Conversations that are offered to be resumed without a screen.
const OFFERED: usize = 15;
/// The version of the shapes of `list`, `fork` and `export`.
const VERSION: u32 = 1;

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
            warn(&read.warnings());
            text::block(&transcript::markdown(&read)).into_string()
        }
        cli::Sessions::Export(options) => export(&directory, options)?,
        cli::Sessions::Fork { id, at, json } => fork(&directory, id, *at, *json)?,
        cli::Sessions::Delete { ids, yes } => delete(&directory, ids, *yes)?,
    };
    output::print(&shown)?;
    Ok(Exit::Done)
}

fn export(directory: &Path, options: &cli::Export) -> Result<String, Stop> {
    let read = store::read(directory, &store::find(directory, &options.id)?)?;
    warn(&read.warnings());
    let json = options.json || options.format == ExportFormat::Json;
    let page =
        if json { json::line(&transcript::json(&read)) } else { transcript::markdown(&read) };
    let Some(file) = &options.output else { return Ok(page) };
    crate::store::replace(file, page.as_bytes())
        .map_err(|fault| Stop::new(Exit::Failed, format!("{fault}.")))?;
    output::note(&format!("Wrote {}.", text::strict_line(&file.display().to_string())));
    Ok(String::new())
}

fn fork(directory: &Path, id: &str, at: Option<usize>, json: bool) -> Result<String, Stop> {
    let parent = store::find(directory, id)?;
    let made = store::fork(directory, &parent, at)?;
    let Some(file) = &made.file else {
        return Err(Stop::new(Exit::Failed, made.remarks.join(" ")));
    };
    warn(&made.warnings);
    if json {
        return Ok(json::line(&json!({
            "version": VERSION, "id": made.id, "path": file.path(), "parent": parent,
            "turns": made.transcript.turns(), "draft": made.draft,
        })));
    }
    let until = at.map(|at| format!(" up to message {at}")).unwrap_or_default();
    output::note(&format!(
        "A copy of {parent}{until}; go on with it by `mini-me-tui --resume {}`.",
        made.id
    ));
    Ok(format!("{}\n", made.id))
}

fn delete(directory: &Path, ids: &[String], yes: bool) -> Result<String, Stop> {
    // All are found before the first is gone.
    let mut found: Vec<SessionId> = Vec::new();
    for id in ids {
        let id = store::find(directory, id)?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    if !yes {
        confirm(directory, &found)?;
    }
    let mut said = String::new();
    for id in found {
        store::delete(directory, &id)?;
        said.extend(["Deleted ", id.as_str(), ".\n"]);
    }
    Ok(said)
}

/// Asks on the terminal. Anything but a yes is a no.
fn confirm(directory: &Path, ids: &[SessionId]) -> Result<(), Stop> {
    if !io::stdin().is_terminal() {
        return Err(Stop::usage(
            "deleting asks first, and there is no terminal to ask on; --yes deletes without asking.",
        ));
    }
    let all = store::list(directory)?;
    for summary in all.iter().filter(|summary| ids.contains(&summary.id)) {
        let title = text::cut(text::line(&summary.title).as_str(), TITLE);
        let turns = summary.turns;
        let messages = if turns == 1 { "message" } else { "messages" };
        output::note(&format!("{}  {turns} {messages}  {title}", summary.id));
    }
    let what = if ids.len() == 1 { "it".to_owned() } else { format!("these {}", ids.len()) };
    output::ask(&format!("Delete {what} for good? [y/N] "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Stop::new(Exit::Failed, "nothing was deleted."))
}

/// Which conversation to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sought {
    /// None: a new one.
    New,
    /// This one.
    This(SessionId),
    /// The user wants to choose.
    Asked,
}

/// What `--resume` and `--continue` ask for.
pub fn sought(which: &cli::Resume) -> Result<Sought, Stop> {
    Ok(match (&which.resume, which.r#continue) {
        (None, false) => Sought::New,
        (None, true) => Sought::This(latest()?),
        (Some(None), _) => Sought::Asked,
        (Some(Some(start)), _) => Sought::This(store::find(&directory()?, start)?),
    })
}

/// The same for a command without a screen: whoever wants to choose is asked in lines.
pub fn resumed(which: &cli::Resume) -> Result<Option<Resume>, Stop> {
    let id = match sought(which)? {
        Sought::New => return Ok(None),
        Sought::This(id) => id,
        Sought::Asked => choose()?,
    };
    let earlier = opened(&id)?;
    for remark in &earlier.remarks {
        output::note(&format!("mini-me-tui: {}", text::line(remark)));
    }
    warn(&earlier.warnings);
    Ok(Some(earlier))
}

/// Opens a conversation to go on with.
pub fn opened(id: &SessionId) -> Result<Resume, Stop> {
    Ok(store::open(&directory()?, id)?.into())
}

/// The conversations that there are to choose from.
pub fn offered() -> Result<Vec<Summary>, Stop> {
    let mut all = store::list(&directory()?)?;
    all.retain(|summary| summary.turns > 0);
    Ok(all)
}

fn latest() -> Result<SessionId, Stop> {
    let found = store::latest(&directory()?)?;
    found.ok_or_else(|| Stop::usage("there is no conversation to go on with yet."))
}

/// Lists the latest conversations and asks for a number, on standard error.
fn choose() -> Result<SessionId, Stop> {
    if !io::stdin().is_terminal() {
        return Err(Stop::usage(
            "--resume without an id asks which, and there is no terminal to ask on. `mini-me-tui sessions list` shows the ids; --continue takes the latest.",
        ));
    }
    let mut all = offered()?;
    all.truncate(OFFERED);
    if all.is_empty() {
        return latest();
    }
    for (number, summary) in all.iter().enumerate() {
        let title = text::cut(text::line(&summary.title).as_str(), TITLE);
        output::note(&format!("{:>3}  {}  {title}", number + 1, minute(&summary.changed)));
    }
    output::ask("Which one? [1] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
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

fn warn(warnings: &[crate::domain::Warning]) {
    for warning in warnings {
        output::warning(Paint::Plain, warning).lines().for_each(output::note);
    }
}

impl From<SessionError> for Stop {
    fn from(error: SessionError) -> Self {
        let exit = match error {
            SessionError::Missing { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::NoSuchMessage { .. } => Exit::Usage,
            SessionError::Open { .. }
            | SessionError::Here { .. }
            | SessionError::Unreadable { .. }
            | SessionError::Io { .. }
            | SessionError::Store(_) => Exit::Failed,
        };
        Self::new(exit, format!("{error}."))
    }
}

fn listed(all: &[Summary]) -> Value {
    json!({ "version": VERSION, "sessions": all })
}

fn render(all: &[Summary], paint: Paint) -> String {
    if all.is_empty() {
        return "No conversations yet.\n".to_owned();
    }
    let row = |summary: &Summary| {
        vec![
            Cell::new(summary.id.to_string(), Mark::Strong),
            minute(&summary.changed).into(),
            Cell::number(summary.turns.to_string()),
            text::line(summary.model.as_deref().unwrap_or_default()).into(),
            text::line(&summary.servers.join(", ")).into(),
            Cell::plain(text::cut(text::line(&summary.title).as_str(), TITLE)),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().map(row).collect();
    let heading = ["ID", "LAST USED (UTC)", "MESSAGES", "MODEL", "SERVERS", "FIRST MESSAGE"];
    output::table(paint, &heading, &rows)
}

/// A time without its seconds.
fn minute(time: &str) -> text::Shown {
    text::strict_line(&time.get(..16).unwrap_or(time).replace('T', " "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn list_has_a_row_for_each_and_titles_cannot_steer_the_terminal() {
        let summary = Summary {
            id: SessionId::parse("20261130-181512-ab12cd").unwrap(),
            path: PathBuf::from("/x"),
            created: "2026-11-30T18:15:12Z".to_owned(),
            changed: "2026-11-30T18:20:12Z".to_owned(),
            age: Duration::ZERO,
            model: Some("qwen3".to_owned()),
            servers: vec!["tracker".to_owned()],
            title: "Look\u{1b}[2J at".to_owned(),
            turns: 2,
            bytes: 9,
            parent: None,
        };
        let shown = render(std::slice::from_ref(&summary), Paint::Plain);
        assert!(shown.contains("2026-11-30 18:20") && !shown.contains('\u{1b}'), "{shown}");
        assert!(shown.contains("tracker"), "{shown}");
        assert_eq!(listed(&[summary])["sessions"][0]["turns"], 2);
        assert!(render(&[], Paint::Plain).contains("No conversations"));
    }
}
