//! Meanings → styles. ANSI colours only: the terminal's own palette decides how they look.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeName;

/// One style for every meaning on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// Less important text: hints, times, folded reasoning.
    pub muted: Style,
    /// What stands out without alarming: names of tools, keys in hints.
    pub accent: Style,
    /// The user's own messages.
    pub user: Style,
    /// Names of servers.
    pub server: Style,
    /// Done well: ready, ok, auto.
    pub good: Style,
    /// Needs attention: warnings, ask, changed.
    pub caution: Style,
    /// Failed, denied, destructive.
    pub danger: Style,
    /// Frames of areas without focus.
    pub border: Style,
    /// Frame of the area with focus.
    pub focus: Style,
    /// Titles of areas.
    pub title: Style,
    /// The selected row or choice.
    pub selected: Style,
    /// Headings in Markdown.
    pub heading: Style,
    /// Inline code and code blocks.
    pub code: Style,
    /// Keywords in code.
    pub keyword: Style,
    /// Strings in code and JSON.
    pub string: Style,
    /// Numbers, booleans, null in code and JSON.
    pub number: Style,
    /// Links.
    pub link: Style,
    /// Characters made visible, and other marks of ours inside outside text.
    pub mark: Style,
}

impl Theme {
    /// The theme of that name. `no_color` (the variable `NO_COLOR` is set and not empty) wins over
    /// every name.
    pub fn of(name: ThemeName, no_color: bool) -> Self {
        match name {
            _ if no_color => Self::none(),
            ThemeName::None => Self::none(),
            ThemeName::Light => Self::light(),
            ThemeName::Auto | ThemeName::Dark | ThemeName::Ansi => Self::dark(),
        }
    }

    fn dark() -> Self {
        let plain = Style::new();
        Self {
            text: plain,
            muted: plain.fg(Color::DarkGray),
            accent: plain.fg(Color::Cyan),
            user: plain.fg(Color::Blue).add_modifier(Modifier::BOLD),
            server: plain.fg(Color::Magenta),
            good: plain.fg(Color::Green),
            caution: plain.fg(Color::Yellow),
            danger: plain.fg(Color::Red),
            border: plain.fg(Color::DarkGray),
            focus: plain.fg(Color::Cyan),
            title: plain.add_modifier(Modifier::BOLD),
            selected: plain.add_modifier(Modifier::REVERSED),
            heading: plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            code: plain.fg(Color::Green),
            keyword: plain.fg(Color::Magenta),
            string: plain.fg(Color::Green),
            number: plain.fg(Color::Yellow),
            link: plain.fg(Color::Blue).add_modifier(Modifier::UNDERLINED),
            mark: plain.fg(Color::Red).add_modifier(Modifier::REVERSED),
        }
    }

    fn light() -> Self {
        Self {
            accent: Style::new().fg(Color::Blue),
            caution: Style::new().fg(Color::Magenta),
            number: Style::new().fg(Color::Blue),
            heading: Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD),
            focus: Style::new().fg(Color::Blue),
            ..Self::dark()
        }
    }

    fn none() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            text: plain,
            muted: dim,
            accent: bold,
            user: bold,
            server: bold,
            good: plain,
            caution: bold,
            danger: bold,
            border: dim,
            focus: bold,
            title: bold,
            selected: plain.add_modifier(Modifier::REVERSED),
            heading: bold,
            code: plain,
            keyword: bold,
            string: plain,
            number: plain,
            link: plain.add_modifier(Modifier::UNDERLINED),
            mark: plain.add_modifier(Modifier::REVERSED),
        }
    }
}
