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
            ThemeName::Ansi => Self::ansi(),
            ThemeName::Auto | ThemeName::Dark => Self::dark(),
        }
    }

    /// For dark backgrounds. Less important text is dimmed, not grey: bright black is the
    /// background itself in some palettes.
    fn dark() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            text: plain,
            muted: dim,
            accent: plain.fg(Color::Cyan),
            user: bold.fg(Color::LightBlue),
            server: plain.fg(Color::Magenta),
            good: plain.fg(Color::Green),
            caution: plain.fg(Color::Yellow),
            danger: plain.fg(Color::LightRed),
            border: plain.fg(Color::DarkGray),
            focus: plain.fg(Color::Cyan),
            title: bold,
            selected: plain.add_modifier(Modifier::REVERSED),
            heading: bold.fg(Color::Cyan),
            code: plain.fg(Color::LightYellow),
            keyword: plain.fg(Color::LightMagenta),
            string: plain.fg(Color::Green),
            number: plain.fg(Color::Yellow),
            link: plain.fg(Color::LightBlue).add_modifier(Modifier::UNDERLINED),
            mark: plain.fg(Color::LightRed).add_modifier(Modifier::REVERSED),
        }
    }

    /// For light backgrounds: no yellow, no bright colours.
    fn light() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        Self {
            accent: plain.fg(Color::Blue),
            user: bold.fg(Color::Blue),
            server: plain.fg(Color::Cyan),
            caution: bold.fg(Color::Magenta),
            danger: plain.fg(Color::Red),
            border: plain.fg(Color::Gray),
            focus: plain.fg(Color::Blue),
            heading: bold.fg(Color::Blue),
            code: plain.fg(Color::Blue),
            keyword: plain.fg(Color::Magenta),
            number: plain.fg(Color::Cyan),
            link: plain.fg(Color::Blue).add_modifier(Modifier::UNDERLINED),
            mark: plain.fg(Color::Red).add_modifier(Modifier::REVERSED),
            ..Self::dark()
        }
    }

    /// The eight colours that every terminal has.
    fn ansi() -> Self {
        let plain = Style::new();
        Self {
            user: plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            danger: plain.fg(Color::Red),
            border: plain.add_modifier(Modifier::DIM),
            code: plain.fg(Color::Yellow),
            keyword: plain.fg(Color::Magenta),
            link: plain.fg(Color::Cyan).add_modifier(Modifier::UNDERLINED),
            mark: plain.fg(Color::Red).add_modifier(Modifier::REVERSED),
            ..Self::dark()
        }
    }

    /// No colours: weight, dimming and reversal only.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_wins_over_every_name_and_leaves_no_colour() {
        for name in [ThemeName::Auto, ThemeName::Dark, ThemeName::Light, ThemeName::Ansi] {
            assert_eq!(Theme::of(name, true), Theme::of(ThemeName::None, false));
        }
        let debug = format!("{:?}", Theme::of(ThemeName::None, false));
        assert!(!debug.contains("fg"), "{debug}");
    }
}
