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
    /// More may be found.
    searching: bool,
}

/// What an event led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing decided yet.
    Stay,
    /// This one, for this run.
    Chosen(Choice),
    /// This one, and a config that says so.
    Kept(Choice),
    /// Leave the program.
    Leave,
}

impl Welcome {
    /// A screen with these choices.
    pub fn new(why: impl Into<String>, choices: Vec<Choice>) -> Self {
        Self { why: why.into(), choices, selected: 0, searching: false }
    }

    /// The same while it is looked for more.
    #[must_use]
    pub fn searching(self) -> Self {
        Self { searching: true, ..self }
    }

    /// One more was found. What is selected stays selected.
    pub fn found(&mut self, choice: Choice) {
        let is_first = |choice: &Choice| matches!(choice, Choice::Demo | Choice::Local { .. });
        let at = self.choices.iter().take_while(|known| is_first(known)).count();
        self.choices.insert(at, choice);
        if self.selected >= at {
            self.selected += 1;
        }
    }

    /// Nothing more will be found.
    pub fn searched(&mut self) {
        self.searching = false;
    }

    /// Whether a config could say what is selected.
    fn keeps(&self) -> Option<&Choice> {
        let selected = self.choices.get(self.selected)?;
        matches!(selected, Choice::Local { .. } | Choice::Key { .. }).then_some(selected)
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
            KeyCode::Char('w') => {
                return self.keeps().map_or(Step::Stay, |choice| Step::Kept(choice.clone()));
            }
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
        let room = usize::from(screen.height).saturating_sub(rows.len() + 3);
        let explained = self.choices.len() * 2 <= room;
        for (at, choice) in self.choices.iter().enumerate() {
            let [title, about] = self.choice(at, choice, columns, theme);
            rows.push(title);
            // Where there is no room, only what is selected is explained.
            if explained || at == self.selected {
                rows.push(about);
            }
        }
        if self.searching {
            let line = "  looking for models on this machine…";
            rows.push(Line::styled(text::cut(line, columns), theme.muted));
        }
        rows.push(Line::default());
        let hint = match self.keeps() {
            Some(_) => "Enter or the number: for this run · w: and write a config · Esc leaves",
            None => "↑↓ and Enter, or the number · Esc leaves",
        };
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

    fn local() -> Choice {
        let url = "http://localhost:11434/v1".to_owned();
        Choice::Local { name: "Ollama".to_owned(), url, model: "qwen3".to_owned() }
    }

    #[test]
    fn what_is_found_later_stands_behind_the_demo_and_moves_no_selection() {
        let mut welcome = Welcome::new("", vec![Choice::Demo, Choice::StarterConfig]).searching();
        welcome.update(&press(KeyCode::Down));
        welcome.found(local());
        assert_eq!(welcome.choices, [Choice::Demo, local(), Choice::StarterConfig]);
        assert_eq!(welcome.update(&press(KeyCode::Enter)), Step::Chosen(Choice::StarterConfig));
        let mut welcome = Welcome::new("", vec![Choice::Demo]);
        welcome.found(local());
        assert_eq!(welcome.update(&press(KeyCode::Enter)), Step::Chosen(Choice::Demo));
    }

    #[test]
    fn only_a_model_can_be_written_into_a_config() {
        let mut welcome = Welcome::new("", vec![Choice::Demo, local()]);
        assert_eq!(welcome.update(&press(KeyCode::Char('w'))), Step::Stay);
        welcome.update(&press(KeyCode::Down));
        assert_eq!(welcome.update(&press(KeyCode::Char('w'))), Step::Kept(local()));
    }

    #[test]
    fn a_number_without_a_choice_does_nothing() {
        let mut welcome = Welcome::new("nothing here", vec![Choice::Demo]);
        assert_eq!(welcome.update(&press(KeyCode::Char('2'))), Step::Stay);
        assert_eq!(welcome.update(&press(KeyCode::Char('1'))), Step::Chosen(Choice::Demo));
    }
}
