//! What a panic says on the terminal: cleaned like all text, and without the secrets of the config.

use std::borrow::Cow;
use std::fmt;
use std::panic::PanicHookInfo;
use std::sync::{PoisonError, RwLock};

use color_eyre::config::HookBuilder;
use color_eyre::section::PanicMessage;

use crate::redact::Secrets;
use crate::text;

/// What no report may hold; empty before a config is read.
static HIDDEN: RwLock<Option<Secrets>> = RwLock::new(None);

/// Installs the reports of errors and panics.
///
/// # Errors
/// Something else in this process installed its own.
pub fn install() -> color_eyre::Result<()> {
    HookBuilder::default().panic_message(Report).install()
}

/// Takes these out of every report from now on, in every spelling.
pub fn hide(secrets: &Secrets) {
    // A poisoned lock still holds what was put there.
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    *hidden = Some(hidden.as_ref().map_or_else(|| secrets.clone(), |known| known.and(secrets)));
}

struct Report;

impl PanicMessage for Report {
    fn display(&self, info: &PanicHookInfo<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = info.payload();
        let message = payload.downcast_ref::<&str>().copied();
        let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        writeln!(f, "mini-me-tui crashed. This is a fault of the program.")?;
        writeln!(f, "Message:  {}", shown(message.unwrap_or("none")).as_str())?;
        match info.location() {
            Some(at) => write!(f, "Location: {}:{}", at.file(), at.line()),
            None => Ok(()),
        }
    }
}

/// The message of a panic may quote whatever the program was working on.
fn shown(message: &str) -> text::Shown {
    // A panic while the lock is held for writing must not wait for itself.
    let hidden = match HIDDEN.try_read() {
        Ok(hidden) => hidden,
        Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(std::sync::TryLockError::WouldBlock) => return text::strict_line("not known"),
    };
    let message = hidden.as_ref().map_or(Cow::Borrowed(message), |known| known.text(message));
    text::strict_line(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_shows_neither_secrets_nor_escape_sequences() {
        hide(&Secrets::new([("CRASH_TOKEN", "tok-crash-EXAMPLE")]));
        hide(&Secrets::new([("OTHER_TOKEN", "tok-other-EXAMPLE")]));
        let message = shown("not in `tok-crash-EXAMPLE`\u{1b}[2J\n\u{202e} tok-other-EXAMPLE");
        let message = message.as_str();
        assert!(!message.contains("EXAMPLE"), "{message}");
        assert!(message.contains("[redacted: CRASH_TOKEN]"), "{message}");
        assert!(!message.contains(['\u{1b}', '\n', '\u{202e}']), "{message}");
    }
}
