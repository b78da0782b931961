//! Tools on the screen: their texts in a narrow panel and on a page.

use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use mini_me_tui::text;
use mini_me_tui::ui::{Msg, Ui, UiOptions};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::offered::Offered;

/// Draws every tool with a panel of this width; wraps and cuts its description to it.
pub(super) fn at_width(width: u64, offered: &Offered) -> Result<(), String> {
    let columns = usize::try_from(width).unwrap();
    for tool in offered.catalog.tools() {
        let description = text::line(&tool.definition.description);
        let mut lines = text::wrap(description.as_str(), columns);
        // A character that is wider than the column has no other place than a line of its own.
        lines.retain(|line| columns > 1 || text::width(line) <= 1);
        lines.push(text::cut(description.as_str(), columns));
        if let Some(line) = lines.iter().find(|line| text::width(line) > columns) {
            return Err(format!("at {width} columns: {line:?}"));
        }
    }
    let sidebar_width = u16::try_from(width).unwrap();
    let options = UiOptions { sidebar_width, ..UiOptions::default() };
    let mut ui = Ui::new(options, Arc::new(offered.catalog.clone()));
    let now = Instant::now();
    let press = |ui: &mut Ui, code, modifiers| {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        drop(ui.update(Msg::Input { event, at: now }));
    };
    press(&mut ui, KeyCode::Tab, KeyModifiers::SHIFT);
    for _ in 0..=offered.sent.len() + offered.catalog.servers.len() {
        for size in [(200, 50), (100, 30), (41, 12)] {
            draw(&mut ui, size, now)?;
        }
        press(&mut ui, KeyCode::Enter, KeyModifiers::NONE);
        draw(&mut ui, (90, 30), now)?;
        press(&mut ui, KeyCode::Esc, KeyModifiers::NONE);
        press(&mut ui, KeyCode::Down, KeyModifiers::NONE);
    }
    Ok(())
}

fn draw(ui: &mut Ui, size: (u16, u16), now: Instant) -> Result<(), String> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| ui.draw(frame, now)).unwrap();
    let buffer = terminal.backend().buffer();
    for row in 0..size.1 {
        let last = buffer[(size.0 - 1, row)].symbol();
        if text::width(last) > 1 {
            return Err(format!("half of {last:?} in the last column of row {row} at {size:?}"));
        }
    }
    Ok(())
}
