//! A terminal that can show links: runs of cells that lead to an address are put between the
//! sequences of OSC 8. Which cells do, a function says; without one, nothing is a link.

use std::io::{self, Write};
use std::sync::Arc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::Color;

/// The address that a cell with this underline colour leads to.
pub type Targets = fn(Color) -> Option<Arc<str>>;

/// The library's own way to the terminal, and links.
#[derive(Debug)]
pub struct Linked<W: Write> {
    inner: CrosstermBackend<W>,
    targets: Option<Targets>,
}

impl<W: Write> Linked<W> {
    /// Writes to `out`; `targets` only where the terminal knows links.
    pub fn new(out: W, targets: Option<Targets>) -> Self {
        Self { inner: CrosstermBackend::new(out), targets }
    }

    fn run(&mut self, run: &[(u16, u16, &Cell)]) -> io::Result<()> {
        let Some((_, _, first)) = run.first() else { return Ok(()) };
        let tag = first.underline_color;
        if tag == Color::Reset {
            return self.inner.draw(run.iter().copied());
        }
        // The colour was never meant to be seen.
        let plain: Vec<(u16, u16, Cell)> = run
            .iter()
            .map(|(x, y, cell)| {
                let mut cell = Cell::clone(cell);
                cell.underline_color = Color::Reset;
                (*x, *y, cell)
            })
            .collect();
        let cells = plain.iter().map(|(x, y, cell)| (*x, *y, cell));
        let target = self.targets.and_then(|targets| targets(tag)).filter(|target| clean(target));
        let Some(target) = target else { return self.inner.draw(cells) };
        // The same id on every row: a link that is broken into rows is one link.
        write!(self.inner, "\x1b]8;id={:x};{target}\x1b\\", number(tag))?;
        self.inner.draw(cells)?;
        self.inner.write_all(b"\x1b]8;;\x1b\\")
    }
}

/// Nothing that could end the sequence early. Whoever made the address has seen to that; so does
/// whoever writes it.
fn clean(target: &str) -> bool {
    target.bytes().all(|byte| byte.is_ascii_graphic())
}

fn number(tag: Color) -> u32 {
    match tag {
        Color::Rgb(high, middle, low) => u32::from_be_bytes([0, high, middle, low]),
        _ => 0,
    }
}

impl<W: Write> Backend for Linked<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let cells: Vec<(u16, u16, &Cell)> = content.collect();
        for run in cells.chunk_by(|one, next| one.2.underline_color == next.2.underline_color) {
            self.run(run)?;
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        self.inner.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

impl<W: Write> Write for Linked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.inner)
    }
}

/// Whether the terminal is known to show links. `FORCE_HYPERLINK` decides where it is set, as other
/// programs have it. Most that do not know them leave the text as it is, but not all.
pub fn known(env: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let holds = |name: &str, words: &[&str]| {
        env(name).is_some_and(|value| words.iter().any(|word| value.contains(word)))
    };
    if let Some(forced) = env("FORCE_HYPERLINK") {
        return !matches!(forced.as_str(), "" | "0");
    }
    let programs =
        ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio", "Tabby", "WarpTerminal"];
    let kinds = ["kitty", "ghostty", "alacritty", "foot", "wezterm", "contour", "rio"];
    let vte = env("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    holds("TERM_PROGRAM", &programs)
        || holds("TERM", &kinds)
        || vte.is_some_and(|version| version >= 5_000)
        || set("WT_SESSION")
        || set("KONSOLE_VERSION")
        || set("KITTY_WINDOW_ID")
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::style::Style;
    use ratatui::text::{Line, Span};

    use super::*;

    fn targets(tag: Color) -> Option<Arc<str>> {
        match tag {
            Color::Indexed(1) => Some("https://good.example/".into()),
            Color::Indexed(2) => Some("https://bad.example/\u{1b}]52;c;x\u{7}".into()),
            _ => None,
        }
    }

    fn written(targets: Option<Targets>) -> String {
        let mut out = Vec::new();
        let options = ratatui::TerminalOptions {
            viewport: ratatui::Viewport::Fixed(ratatui::layout::Rect::new(0, 0, 20, 1)),
        };
        let backend = Linked::new(&mut out, targets);
        let mut terminal = Terminal::with_options(backend, options).unwrap();
        let link =
            |text, tag| Span::styled(text, Style::new().underline_color(Color::Indexed(tag)));
        let row =
            Line::from(vec![Span::raw("a "), link("good", 1), Span::raw(" "), link("bad", 2)]);
        terminal.draw(|frame| frame.render_widget(row, frame.area())).unwrap();
        drop(terminal);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_the_text_of_the_link_stands_between_its_sequences() {
        let written = written(Some(targets));
        let (_, after) = written.split_once("\u{1b}]8;id=0;https://good.example/\u{1b}\\").unwrap();
        let (inside, after) = after.split_once("\u{1b}]8;;\u{1b}\\").unwrap();
        assert!(inside.contains("good"), "{inside:?}");
        assert!(!after.contains("]8;") && !after.contains("]52"), "{after:?}");
        assert!(!written.contains("58:5"), "the tag was drawn: {written:?}");
    }

    #[test]
    fn without_links_there_is_only_text() {
        let written = written(None);
        assert!(written.contains("good") && !written.contains("]8;"), "{written:?}");
    }

    #[test]
    fn terminals_are_told_by_their_variables() {
        let of = |pairs: &'static [(&str, &str)]| {
            known(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned())
            })
        };
        assert!(of(&[("TERM_PROGRAM", "WezTerm")]) && of(&[("TERM", "xterm-kitty")]));
        assert!(of(&[("VTE_VERSION", "7200")]) && !of(&[("VTE_VERSION", "4800")]));
        assert!(!of(&[("TERM", "xterm-256color")]) && !of(&[]));
        assert!(!of(&[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")]));
        assert!(of(&[("FORCE_HYPERLINK", "1")]));
    }
}
