//! Standard output and standard error of commands: colour only on a terminal, tables aligned, and
//! no panic when a reader goes away.

use std::io::{self, IsTerminal, Write};

use crate::domain::{Server, ServerState, Source, Warning};
use crate::text::{self, Shown};

/// What a word means; the terminal's palette decides how that looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// As usual.
    Plain,
    /// Stands out.
    Strong,
    /// Stands back.
    Faint,
    /// All is well.
    Good,
    /// Look at this.
    Caution,
    /// This failed.
    Bad,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Escape sequences for colours.
    Colour,
    /// Plain text.
    Plain,
}

impl Paint {
    /// Colours for a terminal whose user did not refuse them.
    pub fn for_stdout() -> Self {
        Self::when(io::stdout().is_terminal())
    }

    fn when(terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if terminal && !refused && !dumb { Self::Colour } else { Self::Plain }
    }

    /// A text with its mark.
    pub fn paint(self, mark: Mark, text: &str) -> String {
        let code = match mark {
            Mark::Plain => return text.to_owned(),
            Mark::Strong => "1",
            Mark::Faint => "2",
            Mark::Good => "32",
            Mark::Caution => "33",
            Mark::Bad => "31",
        };
        match self {
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}

/// A cell of a table: clean text and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    mark: Mark,
    right: bool,
}

impl Cell {
    /// A cell of our own words or of text that has been cleaned.
    pub fn new(text: impl Into<String>, mark: Mark) -> Self {
        Self { text: text.into(), mark, right: false }
    }

    /// A plain cell.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Mark::Plain)
    }

    /// A plain cell that ends at the right side of its column.
    pub fn number(text: impl Into<String>) -> Self {
        Self { right: true, ..Self::plain(text) }
    }
}

impl From<Shown> for Cell {
    fn from(shown: Shown) -> Self {
        Self::plain(shown.into_string())
    }
}

/// Widest cell that a column is made to fit, in terminal columns: one longer name must not push
/// every row apart.
const WIDEST: usize = 72;

/// Rows under a heading, columns aligned, two spaces between them, nothing after the last.
pub fn table(paint: Paint, heading: &[&str], rows: &[Vec<Cell>]) -> String {
    let widths: Vec<usize> = heading
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let wide = cells.map(|cell| text::width(&cell.text)).filter(|wide| *wide <= WIDEST);
            wide.chain([text::width(title)]).max().unwrap_or(0)
        })
        .collect();
    let titles = heading.iter().enumerate().map(|(column, title)| {
        let right = rows.first().and_then(|row| row.get(column)).is_some_and(|cell| cell.right);
        Cell { right, ..Cell::new(*title, Mark::Faint) }
    });
    let mut out = line(paint, &titles.collect::<Vec<_>>(), &widths);
    for row in rows {
        out.push_str(&line(paint, row, &widths));
    }
    out
}

fn line(paint: Paint, cells: &[Cell], widths: &[usize]) -> String {
    let mut out = String::new();
    let mut owed = 0;
    for (cell, width) in cells.iter().zip(widths) {
        let room = width.saturating_sub(text::width(&cell.text));
        let before = if cell.right { owed + room } else { owed };
        if cell.text.is_empty() {
            owed += width + 2;
            continue;
        }
        out.push_str(&" ".repeat(before));
        out.push_str(&paint.paint(cell.mark, &cell.text));
        owed = if cell.right { 2 } else { room + 2 };
    }
    out.push('\n');
    out
}

/// How a server stands, as the end of a sentence that names it: `files failed: refused`.
pub fn stands(server: &Server) -> String {
    let word = match &server.state {
        ServerState::NeedsAuth { .. } | ServerState::Failed { .. } => "",
        ServerState::Connecting
        | ServerState::Ready
        | ServerState::Degraded { .. }
        | ServerState::Disabled { .. } => "is ",
    };
    let reason = server.state.reason();
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    format!("{} {word}{}{because}", server.name, server.state.word())
}

/// A warning as lines for people, its advice below.
pub fn warning(paint: Paint, warning: &Warning) -> String {
    let origin = text::line(&source(&warning.source));
    let message = text::line(&warning.message);
    let head = paint.paint(Mark::Caution, "warning:");
    let mut out = format!("{head} {origin}: {message}\n");
    if !warning.advice.is_empty() {
        let advice = text::line(&warning.advice);
        out.extend([format!("  {advice}\n")]);
    }
    out
}

/// Where a warning comes from, in words. Raw: it may name things of outside.
pub fn source(source: &Source) -> String {
    match source {
        Source::Config { file, line: Some(line), .. } => format!("{}:{line}", file.display()),
        Source::Config { file, line: None, .. } => file.display().to_string(),
        Source::Server(server) => server.to_string(),
        Source::Tool(tool) => tool.to_string(),
        Source::Model => "model".to_owned(),
        Source::Program => "mini-me-tui".to_owned(),
    }
}

/// Writes to standard output; to a terminal nothing that commands it but colours, whoever forgot to
/// clean. To a file or another program the text goes as it is.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let text = if out.is_terminal() { text::console(text) } else { text.into() };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
    })
}

/// Writes a line to standard error. There is nobody to tell if that fails.
pub fn note(line: &str) {
    drop(writeln!(io::stderr().lock(), "{}", text::console(line)));
}

/// Writes to standard error and leaves the line open for an answer.
pub fn ask(prompt: &str) {
    let mut err = io::stderr().lock();
    drop(err.write_all(text::console(prompt).as_bytes()).and_then(|()| err.flush()));
}

/// Says on standard error why a command stopped.
pub fn complain(message: &str) {
    if !message.is_empty() {
        note(&format!("mini-me-tui: {}", text::block(message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_width_and_lines_end_without_spaces() {
        let rows = [
            vec![Cell::plain("検索"), Cell::number("7"), Cell::plain("")],
            vec![Cell::plain("a"), Cell::number("1204"), Cell::plain("x")],
        ];
        let shown = table(Paint::Plain, &["NAME", "PRICE", "NOTE"], &rows);
        assert_eq!(shown, "NAME  PRICE  NOTE\n検索      7\na      1204  x\n");
    }

    #[test]
    fn one_very_long_name_does_not_push_the_others_apart() {
        let long = "n".repeat(1_000);
        let rows = [
            vec![Cell::plain(long.clone()), Cell::plain("x")],
            vec![Cell::plain("ab"), Cell::plain("y")],
        ];
        let shown = table(Paint::Plain, &["NAME", "NOTE"], &rows);
        assert_eq!(shown, format!("NAME  NOTE\n{long}  x\nab    y\n"));
    }

    #[test]
    fn plain_output_has_no_escape_sequences() {
        assert_eq!(Paint::Plain.paint(Mark::Bad, "failed"), "failed");
        assert_eq!(Paint::Colour.paint(Mark::Bad, "failed"), "\u{1b}[31mfailed\u{1b}[0m");
    }

    #[test]
    fn warning_names_its_source_and_carries_its_advice() {
        let one = Warning::new(Source::Server("s".into()), "It is odd.", "Mend it.");
        assert_eq!(warning(Paint::Plain, &one), "warning: s: It is odd.\n  Mend it.\n");
    }
}
