//! What stood on the screen at one moment, and what was written to the terminal.

use crate::support::pty::Tty;

/// A screen, cell by cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Rows of cells; the second half of a wide character is empty.
    pub(super) cells: Vec<Vec<String>>,
    /// Everything that could be scrolled to in the conversation, where it was looked at.
    pub(super) pages: String,
    /// Everything that could be scrolled to in the decision box, where there is one.
    pub(super) dialog: Option<String>,
    /// Messages that were sent until then.
    pub(super) submitted: Vec<String>,
    pub(super) alive: bool,
    /// The screen was cleared and drawn whole since it was last taken.
    pub(super) redrawn: bool,
}

const CORNERS: [char; 2] = ['╭', '┏'];
const ENDS: [char; 2] = ['╰', '┗'];
const SIDES: [char; 2] = ['│', '┃'];

/// A frame on the screen: its corners.
struct Frame {
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
}

impl Seen {
    pub(super) fn of(tty: &Tty) -> Self {
        let cells = tty.screen(|screen| {
            let (rows, cols) = screen.size();
            let cell = |row: u16, col: u16| {
                let cell = screen.cell(row, col);
                match cell {
                    Some(cell) if cell.is_wide_continuation() => String::new(),
                    Some(cell) if cell.has_contents() => cell.contents().to_owned(),
                    _ => " ".to_owned(),
                }
            };
            let (rows, cols): (u16, u16) = (rows.into(), cols.into());
            (0..rows).map(|row| (0..cols).map(|col| cell(row, col)).collect()).collect()
        });
        Self { cells, alive: true, ..Self::default() }
    }

    /// The screen as text, a row a line.
    pub(super) fn text(&self) -> String {
        self.cells.iter().map(|row| row.concat() + "\n").collect()
    }

    /// The same without breaks between rows, frames and spaces: what is broken where a row ends.
    pub(super) fn squeezed(&self) -> String {
        squeeze(&self.text())
    }

    fn at(&self, row: usize, col: usize) -> Option<char> {
        self.cells.get(row)?.get(col)?.chars().next()
    }

    fn is(&self, row: usize, col: usize, kinds: &[char]) -> bool {
        self.at(row, col).is_some_and(|c| kinds.contains(&c))
    }

    /// Every frame whose corners are there.
    fn frames(&self) -> Vec<Frame> {
        let mut frames = Vec::new();
        for (top, row) in self.cells.iter().enumerate() {
            for left in 0..row.len() {
                if !self.is(top, left, &CORNERS) {
                    continue;
                }
                let right = (left + 1..row.len()).find(|col| self.is(top, *col, &['╮', '┓']));
                let bottom = (top + 1..self.cells.len()).find(|row| self.is(*row, left, &ENDS));
                if let (Some(right), Some(bottom)) = (right, bottom) {
                    frames.push(Frame { top, bottom, left, right });
                }
            }
        }
        frames
    }

    /// Rows on which a side of a frame is not where its corners are.
    pub(super) fn torn(&self) -> Vec<String> {
        let mut torn = Vec::new();
        for frame in self.frames() {
            for row in frame.top + 1..frame.bottom {
                let sound = self.is(row, frame.left, &SIDES) && self.is(row, frame.right, &SIDES);
                if !sound {
                    torn.push(self.cells[row].concat());
                }
            }
            if !self.is(frame.bottom, frame.right, &['╯', '┛']) {
                torn.push(self.cells[frame.bottom].concat());
            }
        }
        torn
    }

    /// What is inside the frame with this in its upper edge: rows of cells.
    fn inside(&self, title: &str) -> Option<Vec<&[String]>> {
        let titled =
            |frame: &Frame| self.cells[frame.top][frame.left..frame.right].concat().contains(title);
        let frame = self.frames().into_iter().find(titled)?;
        let rows = frame.top + 1..frame.bottom;
        Some(rows.map(|row| &self.cells[row][frame.left + 1..frame.right]).collect())
    }

    /// The draft: its cells from the first column of its text on.
    pub(super) fn draft_cells(&self) -> Vec<&[String]> {
        let rows = self.inside(" message ").unwrap_or_default();
        rows.into_iter().map(|row| &row[2..]).collect()
    }

    /// The draft, without the spaces at the ends of its rows.
    pub(super) fn draft(&self) -> String {
        let rows = self.draft_cells().into_iter().map(|row| row.concat().trim_end().to_owned());
        let text = rows.collect::<Vec<_>>().join("\n");
        let empty = text.trim_start().starts_with("Ask something; / for commands");
        if empty { String::new() } else { text }
    }

    /// The title of the decision box, where there is one.
    pub(super) fn asks(&self) -> bool {
        ["Allow this call?", "Go on?", "A server asks"]
            .iter()
            .any(|title| self.inside(title).is_some())
    }

    /// What the decision box shows now.
    pub(super) fn boxed(&self) -> Option<String> {
        let rows = self.inside("Allow this call?")?;
        Some(rows.into_iter().map(|row| row.concat() + "\n").collect())
    }

    /// Rows of the side panel.
    pub(super) fn panel(&self) -> Vec<String> {
        let rows = self.inside("servers and tools").or_else(|| self.inside("filter:"));
        rows.unwrap_or_default().into_iter().map(<[String]>::concat).collect()
    }
}

/// Text without white space and frames.
pub(super) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"│┃↪".contains(*c)).collect()
}

/// Links as they were written to a terminal: where they lead, and the text between.
pub(super) fn links(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let mut links = Vec::new();
    for piece in text.split("\u{1b}]8;").skip(1) {
        let Some((head, shown)) = piece.split_once("\u{1b}\\") else { continue };
        let target = head.split_once(';').map(|(_, target)| target.to_owned()).unwrap_or_default();
        if !target.is_empty() {
            links.push((target, without_sequences(shown)));
        }
    }
    links
}

/// Text without control sequences.
fn without_sequences(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| ('@'..='~').contains(&c)).map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

/// What the latest copy put on the clipboard.
pub(super) fn clipboard(bytes: &[u8]) -> Option<String> {
    use base64::Engine as _;
    let text = String::from_utf8_lossy(bytes);
    let (_, after) = text.rsplit_once("\u{1b}]52;c;")?;
    let end = after.find(['\u{7}', '\u{1b}'])?;
    let raw = base64::engine::general_purpose::STANDARD.decode(&after[..end]).ok()?;
    String::from_utf8(raw).ok()
}

/// Questions to the terminal whose answers it would type.
pub(super) fn questions(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let asked =
        ["\u{1b}[6n", "\u{1b}[5n", "\u{1b}[c", "\u{1b}[0c", "\u{1b}[>c", "\u{1b}[?u", "\u{1b}Z"];
    asked.iter().map(|asked| text.matches(asked).count()).sum()
}

impl Seen {
    /// The first words in the upper edges of all frames.
    pub(super) fn frames_titled(&self) -> Vec<String> {
        let title = |frame: Frame| {
            let edge = self.cells[frame.top][frame.left..frame.right].concat();
            edge.trim_matches(|c: char| "╭┏─━ ".contains(c))
                .split_whitespace()
                .next()
                .map(str::to_owned)
        };
        self.frames().into_iter().map(|frame| title(frame).unwrap_or_default()).collect()
    }
}
