//! The first screen, on its own.

use color_eyre::eyre::WrapErr as _;
use tokio::sync::mpsc;

use crate::terminal::Guard;
use crate::terminal::input::Input;
use crate::terminal::signals::{Caught, Signals};
use crate::ui::welcome::{Choice, Step, Welcome};
use crate::ui::{Theme, UiOptions};

/// What was chosen on the first screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What.
    pub choice: Choice,
    /// Whether a config is to say so from now on.
    pub keep: bool,
}

/// Shows the first screen until something is chosen; `None` when the user leaves. `found` brings
/// more choices while it is shown. The caller carries the choice out. The terminal is as it was
/// when this returns.
pub async fn welcome(
    options: &UiOptions,
    mut welcome: Welcome,
    mut found: mpsc::Receiver<Choice>,
) -> color_eyre::Result<Option<Chosen>> {
    let theme = Theme::of(options.theme, options.no_color);
    let mut signals = Signals::listen().wrap_err("cannot listen for signals")?;
    // The mouse has no use here.
    let mut guard = Guard::enter(false).wrap_err("cannot take the terminal")?;
    let mut input = Input::start();
    let mut searching = true;
    loop {
        guard.draw(|frame| welcome.draw(frame, &theme)).wrap_err("cannot draw")?;
        tokio::select! { biased;
            caught = signals.next() => match caught {
                Caught::End(_) => return Ok(None),
                Caught::Stop => super::suspend(&mut guard, &mut input)?,
            },
            event = input.next() => match event {
                Some(Ok(event)) => match welcome.update(&event) {
                    Step::Stay => {}
                    Step::Chosen(choice) => return Ok(Some(Chosen { choice, keep: false })),
                    Step::Kept(choice) => return Ok(Some(Chosen { choice, keep: true })),
                    Step::Leave => return Ok(None),
                },
                Some(Err(_)) | None => return Ok(None),
            },
            choice = found.recv(), if searching => {
                searching = choice.is_some();
                if let Some(choice) = choice {
                    welcome.found(choice);
                } else {
                    welcome.searched();
                }
            }
        }
    }
}
