//! The first screen when there is nothing to work with yet: says so, and offers ways on.
//!
//! The choices are given by the caller, who also carries them out.

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::layout;
use super::theme::Theme;
use crate::text;

/// One way on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The embedded demo: nothing to configure, no network.
    Demo,
    /// Write a starter config.
    StarterConfig,
    /// A model endpoint that answers on this machine.
    Local {
        /// What it is, such as `Ollama`.
        name: String,
        /// Its base URL.
        url: String,
        /// A model it has.
        model: String,
    },
    /// A key found in the environment.
    Key {
        /// Whose it is, such as `Anthropic`.
        provider: String,
        /// The variable.
        variable: String,
    },
    /// Go on without a model: servers and tools only.
    Without,
}

/// The screen: what is missing and the choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// What is missing, in a sentence or two.
    pub why: String,
    /// The choices, best first.
    pub choices: Vec<Choice>,
    selected: usize,
}

/// What an event led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing decided yet.
    Stay,
    /// This one.
    Chosen(Choice),
    /// Leave the program.
    Leave,
}

impl Welcome {
    /// A screen with these choices.
    pub fn new(why: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self { why: why.into(), choices, selected: 0 }
    }

    /// Takes in one event of the terminal.
    pub fn update(&mut self, event: &Event) -> Step {
        let Event::Key(key) = event else { return Step::Stay };
        if key.kind == KeyEventKind::Release {
            return Step::Stay;
        }
        let last = self.choices.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('c' | 'd') if key.modifiers == KeyModifiers::CONTROL => {
                return Step::Leave;
            }
            KeyCode::Esc | KeyCode::Char('q') => return Step::Leave,
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.selected = (self.selected + 1).min(last);
            }
            KeyCode::Enter => return self.take(self.selected),
            KeyCode::Char(digit @ '1'..='9') => {
                let at = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
                return self.take(at);
            }
            _ => {}
        }
        Step::Stay
    }

    fn take(&self, at: usize) -> Step {
        self.choices.get(at).map_or(Step::Stay, |choice| Step::Chosen(choice.clone()))
    }

    /// Draws the screen.
    pub fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) {
        let screen = frame.area();
        let area = layout::middle(screen, screen.width.saturating_sub(2).min(80), screen.height);
        let columns = usize::from(area.width.max(1));
        let mut rows = vec![Line::styled("mini-me", theme.heading), Line::default()];
        let why = text::block(&self.why);
        rows.extend(text::wrap(why.as_str(), columns).into_iter().map(Line::from));
        rows.push(Line::default());
        let room = usize::from(screen.height).saturating_sub(rows.len() + 2);
        let explained = self.choices.len() * 2 <= room;
        for (at, choice) in self.choices.iter().enumerate() {
            let [title, about] = self.choice(at, choice, columns, theme);
            rows.push(title);
            // Where there is no room, only what is selected is explained.
            if explained || at == self.selected {
                rows.push(about);
            }
        }
        rows.push(Line::default());
        let hint = "↑↓ and Enter, or the number · Esc leaves";
        rows.push(Line::styled(text::cut(hint, columns), theme.muted));
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let place: Rect = layout::middle(area, area.width, height);
        frame.render_widget(Paragraph::new(rows), place);
    }

    fn choice(
        &self,
        at: usize,
        choice: &Choice,
        columns: usize,
        theme: &Theme,
    ) -> [Line<'static>; 2] {
        let (title, about) = words(choice);
        let chosen = at == self.selected;
        let style = if chosen { theme.selected } else { theme.text };
        let title = text::cut(&format!(" {} {title} ", at + 1), columns);
        let about = text::cut(&format!("   {about}"), columns);
        [Line::from(Span::styled(title, style)), Line::styled(about, theme.muted)]
    }
}

fn words(choice: &Choice) -> (String, String) {
    let clean = |raw: &str| text::strict_line(raw).into_string();
    match choice {
        Choice::Demo => (
            "Try the demo".to_owned(),
            "A bug tracker and a scripted model on this machine; no account, no network."
                .to_owned(),
        ),
        Choice::StarterConfig => (
            "Write a starter config".to_owned(),
            "A commented file to fill in, then leave.".to_owned(),
        ),
        Choice::Local { name, url, model } => (
            format!("Use {} with {}", clean(name), clean(model)),
            format!("Answers at {}.", clean(url)),
        ),
        Choice::Key { provider, variable } => {
            (format!("Use {}", clean(provider)), format!("With the key in ${}.", clean(variable)))
        }
        Choice::Without => (
            "Go on without a model".to_owned(),
            "Servers and tools can be looked at and called.".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    fn press(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_move_and_enter_takes_what_is_selected() {
        let mut welcome = Welcome::new("nothing here", vec![Choice::Demo, Choice::StarterConfig]);
        assert_eq!(welcome.update(&press(KeyCode::Down)), Step::Stay);
        assert_eq!(welcome.update(&press(KeyCode::Down)), Step::Stay);
        assert_eq!(welcome.update(&press(KeyCode::Enter)), Step::Chosen(Choice::StarterConfig));
    }

    #[test]
    fn a_number_without_a_choice_does_nothing() {
        let mut welcome = Welcome::new("nothing here", vec![Choice::Demo]);
        assert_eq!(welcome.update(&press(KeyCode::Char('2'))), Step::Stay);
        assert_eq!(welcome.update(&press(KeyCode::Char('1'))), Step::Chosen(Choice::Demo));
    }
}
