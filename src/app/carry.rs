//! Carrying out what the screen asks for. While another program has the terminal, the input
//! stream does not exist.

use std::time::Instant;

use super::{App, Leaving, browser, editor};
use crate::terminal::{out, signals};
use crate::ui::{Intent, Msg};

impl App {
    pub(super) fn carry_out(&mut self, intent: Intent) -> color_eyre::Result<()> {
        match intent {
            Intent::Send(op) => self.outbox.push_back(op),
            Intent::Copy { text } => self.copy(&text)?,
            Intent::OpenUrl { url } => self.open(&url)?,
            Intent::Edit { text } => self.edit(&text)?,
            Intent::Suspend => self.suspend()?,
            Intent::Redraw => {
                self.guard.redraw()?;
                self.dirty = true;
            }
            Intent::Mouse { on } => self.guard.set_mouse(on)?,
            Intent::Notify { text } => {
                let variable = |name| std::env::var(name).unwrap_or_default();
                let how = self.ui.state.options.notify;
                let sequence =
                    out::notice(how, &text, &variable("TERM_PROGRAM"), &variable("TERM"));
                self.guard.write(&sequence)?;
            }
            Intent::Exit => self.leaving = Some(Leaving::Quit),
        }
        Ok(())
    }

    fn copy(&mut self, text: &str) -> color_eyre::Result<()> {
        match out::copy(text) {
            Ok(sequence) => self.guard.write(&sequence)?,
            Err(fault) => self.say(fault),
        }
        Ok(())
    }

    /// Shows a page in the browser; without one its address goes to the clipboard.
    fn open(&mut self, url: &str) -> color_eyre::Result<()> {
        match browser::open(url, &self.withheld) {
            Ok(()) => self.say("opened in your browser; come back when you are done".to_owned()),
            Err(fault) => {
                self.copy(url)?;
                self.say(format!("{fault}: the address was copied, paste it into a browser"));
            }
        }
        Ok(())
    }

    fn say(&mut self, text: String) {
        drop(self.ui.update(Msg::Said { text, at: Instant::now() }));
        self.dirty = true;
    }

    fn suspend(&mut self) -> color_eyre::Result<()> {
        self.input.stop();
        self.guard.pause();
        let stopped = signals::stop();
        self.again()?;
        if let Err(error) = stopped {
            self.say(format!("cannot suspend: {error}"));
        }
        Ok(())
    }

    fn edit(&mut self, text: &str) -> color_eyre::Result<()> {
        self.input.stop();
        self.guard.pause();
        let edited = editor::edit(text, &self.withheld);
        self.lent = true;
        self.again()?;
        match edited {
            Ok(text) => drop(self.ui.update(Msg::Edited { text })),
            Err(fault) => self.say(fault),
        }
        Ok(())
    }

    fn again(&mut self) -> color_eyre::Result<()> {
        self.guard.resume()?;
        self.title = "";
        self.input.restart();
        self.dirty = true;
        Ok(())
    }
}
