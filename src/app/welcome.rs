//! The first screen, on its own.

use color_eyre::eyre::WrapErr as _;

use crate::terminal::Guard;
use crate::terminal::input::Input;
use crate::terminal::signals::{Caught, Signals, stop};
use crate::ui::welcome::{Choice, Step, Welcome};
use crate::ui::{Theme, UiOptions};

/// Shows the first screen until something is chosen; `None` when the user leaves. The caller
/// carries the choice out. The terminal is as it was when this returns.
pub async fn welcome(
    options: &UiOptions,
    mut welcome: Welcome,
) -> color_eyre::Result<Option<Choice>> {
    let theme = Theme::of(options.theme, options.no_color);
    let mut signals = Signals::listen().wrap_err("cannot listen for signals")?;
    // The mouse has no use here.
    let mut guard = Guard::enter(false).wrap_err("cannot take the terminal")?;
    let mut input = Input::start();
    loop {
        guard.draw(|frame| welcome.draw(frame, &theme)).wrap_err("cannot draw")?;
        tokio::select! { biased;
            caught = signals.next() => match caught {
                Caught::End(_) => return Ok(None),
                Caught::Stop => {
                    input.stop();
                    guard.pause();
                    let stopped = stop();
                    guard.resume()?;
                    input.restart();
                    stopped?;
                }
            },
            event = input.next() => match event {
                Some(Ok(event)) => match welcome.update(&event) {
                    Step::Stay => {}
                    Step::Chosen(choice) => return Ok(Some(choice)),
                    Step::Leave => return Ok(None),
                },
                Some(Err(_)) | None => return Ok(None),
            },
        }
    }
}
