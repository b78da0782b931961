//! Cases of the renderer alone: every size of the screen, every prefix of a text.

use crossterm::event::{KeyCode, KeyModifiers};
use mini_me_tui::bridge::Notice;
use mini_me_tui::config::ThemeName;
use mini_me_tui::domain::{TurnEnd, TurnId, Usage};
use mini_me_tui::text;
use mini_me_tui::ui::stream::Document;
use mini_me_tui::ui::{Intent, Theme};
use ratatui::style::Style;
use serde_json::Value;
use std::time::Duration;

use super::{Faults, texts};
use crate::frames::{self, Screen};

fn sizes(input: &Value) -> Vec<(u16, u16)> {
    let numbers = |key: &str| -> Vec<u16> {
        let all = input["sizes"][key].as_array().unwrap().iter();
        all.map(|number| u16::try_from(number.as_u64().unwrap()).unwrap()).collect()
    };
    let rows = numbers("rows");
    numbers("cols").into_iter().flat_map(|col| rows.iter().map(move |row| (col, *row))).collect()
}

/// Every view at every size, and the keys that quit at the end.
pub(super) fn views(input: &Value, checks: &[Value]) -> Faults {
    let mut faults = Faults::new();
    let mut quits = true;
    for size in sizes(input) {
        for view in texts(&input["views"]) {
            let mut screen = Screen::new(size, frames::catalog());
            screen.frame();
            if !show(&mut screen, &view) {
                return vec![format!("the driver does not know the view {view}")];
            }
            screen.frame();
            screen.wait(700);
            screen.frame();
            quits &= quit(&mut screen);
        }
    }
    for (word, value) in checks.iter().flat_map(|check| check.as_object().unwrap()) {
        match word.as_str() {
            // Else this would not be reached.
            "no_panic" if value == true => {}
            "quit_key_works" if *value == quits => {}
            word => faults.push(format!("{word} {value} does not hold, or is not known")),
        }
    }
    faults
}

fn show(screen: &mut Screen, view: &str) -> bool {
    match view {
        "chat" => screen.kinds("some words of a draft"),
        "sidebar" => screen.key(KeyCode::Tab, KeyModifiers::SHIFT),
        "approval" => frames::asked(screen),
        "help" => screen.press(KeyCode::F(1)),
        "tool_detail" => {
            screen.key(KeyCode::Tab, KeyModifiers::SHIFT);
            screen.frame();
            screen.press(KeyCode::Down);
            screen.press(KeyCode::Enter);
        }
        "error" => {
            let turn = TurnId(1);
            screen.tell(Notice::TurnStarted { turn, text: "go".to_owned() });
            let reason = TurnEnd::Failed {
                reason: "the model does not answer: connection refused".to_owned(),
                unreachable: true,
            };
            let (usage, took) = (Usage::default(), Duration::ZERO);
            screen.tell(Notice::TurnEnded { turn, reason, usage, took });
            screen.press(KeyCode::F(4));
        }
        _ => return false,
    }
    true
}

/// Whether a few presses of Ctrl-C end the program, whatever is open.
fn quit(screen: &mut Screen) -> bool {
    (0..5).any(|_| {
        let intents = screen.keyed(KeyCode::Char('c'), KeyModifiers::CONTROL);
        screen.frame();
        // The runtime ends the turn that was cancelled.
        let (reason, usage) = (TurnEnd::Cancelled, Usage::default());
        screen.tell(Notice::TurnEnded { turn: TurnId(1), reason, usage, took: Duration::ZERO });
        intents.contains(&Intent::Exit)
    })
}

/// A table that is written character by character, at every width.
pub(super) fn table(input: &Value, checks: &[Value]) -> Faults {
    let mut faults = Faults::new();
    assert_eq!(input["stream"], "every_char", "the driver does not know how else to stream");
    let (source, theme) = (input["markdown"].as_str().unwrap(), Theme::of(ThemeName::None, true));
    for (width, _) in sizes(input) {
        let width = usize::from(width);
        let mut document = Document::default();
        for c in source.chars() {
            document.push(&c.to_string());
            for part in 0..document.parts() {
                for row in document.rows(part, width, &theme, Style::new()) {
                    let wide = text::width(&row.to_string());
                    if wide > width {
                        faults.push(format!("{wide} columns in {width}: {row}"));
                    }
                }
            }
        }
    }
    for check in checks {
        for (word, value) in check.as_object().unwrap() {
            match word.as_str() {
                "no_panic" if value == true => {}
                "at_width" => {}
                "table_borders_aligned" => {
                    let width = usize::try_from(check["at_width"].as_u64().unwrap()).unwrap();
                    faults.extend(unaligned(source, width, &theme, value == true));
                }
                word => faults.push(format!("the driver does not know {word} {value}")),
            }
        }
    }
    faults
}

fn unaligned(source: &str, width: usize, theme: &Theme, wanted: bool) -> Option<String> {
    let document = Document::of(source);
    let rows: Vec<String> = (0..document.parts())
        .flat_map(|part| document.rows(part, width, theme, Style::new()))
        .map(|row| row.to_string())
        .collect();
    // Columns of what stands between cells, counted in cells of the screen.
    let borders = |row: &String| -> Vec<usize> {
        let bars = row.char_indices().filter(|(_, c)| "│┼├┤".contains(*c));
        bars.map(|(at, _)| text::width(&row[..at])).collect()
    };
    let all: Vec<Vec<usize>> = rows.iter().map(borders).filter(|row| !row.is_empty()).collect();
    let aligned = all.len() >= 3 && all.windows(2).all(|two| two[0] == two[1]);
    (aligned != wanted).then(|| rows.join("\n"))
}
