//! `tools --pins`: what is remembered of each tool's definition, and what changed since; and
//! `tools --accept-pin`.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use time::UtcDateTime;
use tokio::time::{Instant, timeout_at};

use crate::bridge::{Notice, Op};
use crate::cli;
use crate::cmd::headless::Headless;
use crate::cmd::output::{self, Cell, Mark, Paint};
use crate::cmd::{Exit, Stop, json, resolve};
use crate::config::PinMode;
use crate::domain::change::{Change, ChangeKind, Kept, Words};
use crate::domain::{Catalog, PinState, Server, ServerName, Tool};
use crate::paths::Paths;
use crate::pin::{Board, Pin, SetChange};
use crate::runtime::{Setup, assemble};
use crate::store;
use crate::text;

/// How long an acceptance may take to be seen.
const PATIENCE: Duration = Duration::from_secs(5);
/// Characters of a fingerprint that are shown.
const SHORT: usize = 12;

/// What was remembered before this run looked at anything.
pub(super) fn remembered(paths: Option<&Paths>) -> Board {
    let Some(paths) = paths else { return Board::default() };
    let (pins, warnings) = store::read_pins(paths);
    for warning in warnings {
        output::note(text::line(&format!("{} {}", warning.message, warning.advice)).as_str());
    }
    Board::new(pins)
}

/// One tool as its pin stands.
struct Row<'a> {
    server: &'a ServerName,
    name: String,
    /// The tool, if it is on offer.
    tool: Option<&'a Tool>,
    pin: Option<&'a Pin>,
    blocked: bool,
}

/// A server's list as a whole.
struct Listed<'a> {
    server: &'a ServerName,
    fingerprint: String,
    remembered: Option<&'a str>,
    change: SetChange,
}

/// What is shown.
pub(super) struct Shown<'a> {
    rows: Vec<Row<'a>>,
    sets: Vec<Listed<'a>>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        board: &'a Board,
        setup: &'a Setup,
        only: Option<&ServerName>,
    ) -> Self {
        let mcp = &setup.config.mcp;
        let keys = assemble::pin_keys(&mcp.servers);
        let mut shown = Self { rows: Vec::new(), sets: Vec::new() };
        for (config, key) in mcp.servers.iter().zip(&keys) {
            let wanted = only.is_none_or(|name| config.name == *name);
            if let Some(server) = catalog.server(&config.name).filter(|_| wanted) {
                shown.add(server, key, board, mcp.pins);
            }
        }
        shown
    }

    fn add(&mut self, server: &'a Server, key: &str, board: &'a Board, mode: PinMode) {
        let offered: HashSet<&str> =
            server.tools.iter().map(|tool| tool.id.tool.as_str()).collect();
        let filtered = server.filtered.iter().map(|tool| tool.name.as_str());
        let names: HashSet<&str> = offered.iter().copied().chain(filtered).collect();
        for tool in &server.tools {
            self.rows.push(Row {
                server: &server.name,
                name: tool.id.tool.to_string(),
                tool: Some(tool),
                pin: board.get(key, &tool.id),
                blocked: mode == PinMode::Block && tool.pin_state == PinState::Changed,
            });
        }
        let usable = server.state.usable();
        let others = board.of(key).filter(|(name, _)| !offered.contains(name.as_str()));
        for (name, pin) in others {
            // Of a server that did not list anything it cannot be said what is gone.
            if usable && !names.contains(name.as_str()) {
                let name = name.clone();
                self.rows.push(Row {
                    server: &server.name,
                    name,
                    tool: None,
                    pin: Some(pin),
                    blocked: false,
                });
            }
        }
        if usable {
            self.sets.push(Listed {
                server: &server.name,
                fingerprint: fingerprint(server),
                remembered: board.set(key).map(|set| set.fingerprint.as_str()),
                change: board.set_change(key, names).unwrap_or_default(),
            });
        }
    }

    /// For people, or as JSON.
    pub(super) fn told(&self, as_json: bool, paint: Paint) -> String {
        if as_json {
            let pins: Vec<Value> = self.rows.iter().map(Row::json).collect();
            let sets: Vec<Value> = self.sets.iter().map(Listed::json).collect();
            return json::line(&json!({ "pins": pins, "sets": sets }));
        }
        if self.rows.is_empty() {
            return "No pins.\n".to_owned();
        }
        let heading = ["SERVER", "TOOL", "STATE", "ALLOWED", "FIRST SEEN", "PIN"];
        let rows: Vec<Vec<Cell>> = self.rows.iter().map(Row::cells).collect();
        let mut out = output::table(paint, &heading, &rows);
        for row in &self.rows {
            if let Some(tool) = row.tool.filter(|tool| tool.pin_state == PinState::Changed) {
                out.push_str(&changed(tool, row.blocked, paint));
            }
        }
        for set in &self.sets {
            out.push_str(&set.told(paint));
        }
        out
    }
}

/// The fingerprint of what a server offers.
fn fingerprint(server: &Server) -> String {
    let tools = server.tools.iter().map(|tool| (tool.id.tool.as_str(), tool.pin.as_str()));
    crate::pin::set_fingerprint(tools)
}

impl Row<'_> {
    fn state(&self) -> &'static str {
        match self.tool.map(|tool| tool.pin_state) {
            None => "gone",
            Some(PinState::Changed) if self.blocked => "blocked",
            Some(state) => json::pin_state(state),
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let mark = match self.state() {
            "changed" | "blocked" => Mark::Bad,
            "new" | "gone" => Mark::Caution,
            _ => Mark::Good,
        };
        let allowed = match self.pin {
            Some(pin) if pin.allowed => "yes",
            Some(pin) if pin.accepted => "accepted",
            _ => "no",
        };
        let pin = self.tool.map(|tool| tool.pin.as_str());
        let pin = pin.or_else(|| self.pin.map(|pin| pin.fingerprint.as_str())).unwrap_or_default();
        vec![
            text::strict_line(self.server.as_str()).into(),
            Cell::new(text::strict_line(&self.name).into_string(), Mark::Strong),
            Cell::new(self.state(), mark),
            Cell::plain(allowed),
            Cell::plain(self.first_seen().unwrap_or_else(|| "now".to_owned())),
            Cell::new(short(pin), Mark::Faint),
        ]
    }

    /// The day, as far as it is remembered.
    fn first_seen(&self) -> Option<String> {
        let pin = self.pin?;
        let seconds = i64::try_from(pin.first_seen?).ok()?;
        let at = UtcDateTime::from_unix_timestamp(seconds).ok()?;
        Some(at.date().to_string())
    }

    fn json(&self) -> Value {
        json!({
            "server": self.server,
            "name": self.name,
            "state": self.tool.map_or("gone", |tool| json::pin_state(tool.pin_state)),
            "blocked": self.blocked,
            "pin": self.tool.map(|tool| &tool.pin),
            "remembered": self.pin.map(|pin| &pin.fingerprint),
            "allowed": self.pin.is_some_and(|pin| pin.allowed),
            "accepted": self.pin.is_some_and(|pin| pin.accepted),
            "firstSeen": self.first_seen(),
            "changes": self.tool.map(|tool| &tool.changes),
        })
    }
}

impl Listed<'_> {
    fn json(&self) -> Value {
        json!({
            "server": self.server,
            "fingerprint": self.fingerprint,
            "remembered": self.remembered,
            "added": self.change.added,
            "removed": self.change.removed,
        })
    }

    fn told(&self, paint: Paint) -> String {
        let server = text::strict_line(self.server.as_str());
        let mut out = format!(
            "{} {server}: {}\n",
            paint.paint(Mark::Faint, "set of"),
            short(&self.fingerprint)
        );
        for (sign, mark, names) in
            [('+', Mark::Caution, &self.change.added), ('-', Mark::Bad, &self.change.removed)]
        {
            for name in names {
                let line = format!("  {sign} {}", text::strict_line(name));
                out.extend([paint.paint(mark, &line), "\n".to_owned()]);
            }
        }
        out
    }
}

fn short(fingerprint: &str) -> String {
    text::strict_line(&fingerprint.chars().take(SHORT).collect::<String>()).into_string()
}

/// What changed of one tool.
fn changed(tool: &Tool, blocked: bool, paint: Paint) -> String {
    let name = text::strict_line(&tool.id.to_string());
    let mut out = format!("{} {name}\n", paint.paint(Mark::Bad, "changed:"));
    out.extend(tool.changes.iter().map(|change| told(change, paint)));
    if tool.changes.is_empty() {
        out.push_str("  only the fingerprint of what it was is remembered\n");
    }
    let what = if blocked { "until it is accepted it cannot be called" } else { "to accept it" };
    out.extend([format!("  {what}: mini-me-tui tools --accept-pin {name}\n")]);
    out
}

/// One change on a line of its own; changed words stand in their text.
fn told(change: &Change, paint: Paint) -> String {
    let line = |sign: char, mark: Mark, text: &str| {
        format!("  {}\n", paint.paint(mark, &format!("{sign} {}", text::strict_line(text))))
    };
    match &change.kind {
        ChangeKind::Added { .. } => line('+', Mark::Caution, change),
        ChangeKind::Removed { .. } => line('-', Mark::Bad, change),
        ChangeKind::Replaced { .. } => line('~', Mark::Caution, change),
        ChangeKind::Reworded { words } => {
            let mut out = format!("  ~ {}:", text::strict_line(&change.subject));
            for run in words {
                out.push_str(&reworded(run, paint));
            }
            out.push('\n');
            out
        }
    }
}

fn reworded(run: &Words, paint: Paint) -> String {
    let words = text::strict_line(run.text.trim());
    if words.as_str().is_empty() {
        return String::new();
    }
    match run.kept {
        Kept::Same => format!(" {words}"),
        Kept::Removed => format!(" {}", paint.paint(Mark::Bad, &format!("[-{words}-]"))),
        Kept::Added => format!(" {}", paint.paint(Mark::Good, &format!("{{+{words}+}}"))),
    }
}

/// Accepts the changed definition of one tool.
pub(super) async fn accept(
    program: &mut Headless,
    word: &str,
    options: &cli::Tools,
) -> Result<Exit, Stop> {
    let tool = resolve::resolve(&program.catalog, word)?;
    let name = text::strict_line(&tool.id.to_string());
    let wanted = options.fingerprint.as_deref().unwrap_or_default().to_ascii_lowercase();
    if !tool.pin.starts_with(&wanted) {
        let message = format!(
            "the definition of {name} has the fingerprint {}, which does not begin with {wanted}; nothing was accepted",
            tool.pin
        );
        return Err(Stop::new(Exit::Failed, message));
    }
    if tool.pin_state != PinState::Changed {
        let state = json::pin_state(tool.pin_state);
        output::print(&acceptance(
            &tool,
            false,
            options.json,
            &format!("{name} is {state}: there is no change to accept\n"),
        ))?;
        return Ok(Exit::Done);
    }
    program.send(Op::AcceptPin { tool: tool.id.clone(), pin: tool.pin.clone() }).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = program.catalog.tool(&tool.id);
        if now.is_some_and(|now| now.pin == tool.pin && now.pin_state != PinState::Changed) {
            break;
        }
        match timeout_at(deadline, program.next()).await {
            Ok(Some(Notice::Warned { warning })) => {
                return Err(Stop::new(Exit::Failed, warning.message));
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => {
                return Err(Stop::new(
                    Exit::Failed,
                    format!("the change of {name} was not accepted in time"),
                ));
            }
        }
    }
    let paint = Paint::for_stdout();
    let mut shown: String = tool.changes.iter().map(|change| told(change, paint)).collect();
    shown.extend([format!(
        "{name} is compared with this definition from now on. No call was allowed by it.\n"
    )]);
    output::print(&acceptance(&tool, true, options.json, &shown))?;
    Ok(Exit::Done)
}

fn acceptance(tool: &Tool, accepted: bool, as_json: bool, shown: &str) -> String {
    if !as_json {
        return shown.to_owned();
    }
    json::line(&json!({
        "tool": tool.id.to_string(),
        "accepted": accepted,
        "pin": tool.pin,
        "changes": tool.changes,
    }))
}
