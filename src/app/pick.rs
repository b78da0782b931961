//! A list to choose from before there is a screen.

use std::time::Instant;

use color_eyre::eyre::WrapErr as _;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::terminal::Guard;
use crate::terminal::input::Input;
use crate::terminal::signals::{Caught, Signals};
use crate::ui::keymap::{Key, Keymap};
use crate::ui::pick::{Chosen, Picker, Step};
use crate::ui::{Theme, UiOptions, view};

/// Shows the list until something is chosen; `None` when the user leaves. The terminal is as it was
/// when this returns.
pub async fn pick(options: &UiOptions, mut picker: Picker) -> color_eyre::Result<Option<Chosen>> {
    let theme = Theme::of(options.theme, options.no_color);
    let (keymap, _) = Keymap::new(&options.keys, options.file.as_ref());
    let mut signals = Signals::listen().wrap_err("cannot listen for signals")?;
    // The mouse has no use here.
    let mut guard = Guard::enter(false).wrap_err("cannot take the terminal")?;
    let mut input = Input::start();
    loop {
        let now = Instant::now();
        guard
            .draw(|frame| view::picker(frame, &mut picker, &keymap, &theme, now))
            .wrap_err("cannot draw")?;
        tokio::select! { biased;
            caught = signals.next() => match caught {
                Caught::End(_) => return Ok(None),
                Caught::Stop => super::suspend(&mut guard, &mut input)?,
            },
            event = input.next() => match event {
                Some(Ok(event)) => match taken(&mut picker, &keymap, &event) {
                    Step::Stay => {}
                    Step::Chosen(chosen) => return Ok(Some(chosen)),
                    Step::Close => return Ok(None),
                },
                Some(Err(_)) | None => return Ok(None),
            },
        }
    }
}

fn taken(picker: &mut Picker, keymap: &Keymap, event: &Event) -> Step {
    match event {
        Event::Paste(text) => picker.paste(text),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let leaves = matches!(key.code, KeyCode::Char('c' | 'd'))
                && key.modifiers == KeyModifiers::CONTROL;
            if leaves {
                return Step::Close;
            }
            return picker.key(keymap, Key::of(key), key.kind == KeyEventKind::Repeat);
        }
        _ => {}
    }
    Step::Stay
}
