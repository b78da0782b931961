//! Control sequences of our own: clipboard, notices. Pure; everything that goes in is cleaned.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::config::Notify;
use crate::text;

/// Longest text put on the clipboard, in bytes: terminals drop longer sequences silently.
pub const COPY_LIMIT: usize = 74_000;

/// A control sequence; can only be made here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence(String);

impl Sequence {
    /// Its characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// OSC 52: puts a text on the clipboard of whoever shows the terminal, over SSH too.
pub fn copy(text: &str) -> Result<Sequence, String> {
    if text.len() > COPY_LIMIT {
        return Err(format!(
            "{} bytes are too many for the terminal's clipboard (limit {COPY_LIMIT})",
            text.len()
        ));
    }
    Ok(Sequence(format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))))
}

/// The sequence that makes a waiting decision known. `program` is `$TERM_PROGRAM`, `term` `$TERM`.
pub fn notice(how: Notify, message: &str, program: &str, term: &str) -> Sequence {
    let knows = matches!(program, "iTerm.app" | "WezTerm" | "ghostty")
        || term.contains("kitty")
        || term.contains("ghostty");
    Sequence(match how {
        Notify::Off => String::new(),
        Notify::Bell => "\u{7}".to_owned(),
        Notify::Auto if !knows => "\u{7}".to_owned(),
        Notify::Auto | Notify::Desktop => {
            let message = text::strict_line(message).into_string();
            let message: String = message.chars().filter(|c| !c.is_control()).collect();
            format!("\u{1b}]9;{}\u{7}", text::cut(&message, 120))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_cannot_end_the_sequence_early() {
        let sequence = copy("a\u{7}\u{1b}\\b").unwrap();
        assert_eq!(sequence.as_str().matches('\u{7}').count(), 1);
        assert_eq!(sequence.as_str().matches('\u{1b}').count(), 1);
    }

    #[test]
    fn too_much_for_the_clipboard_is_said_with_the_limit() {
        let fault = copy(&"x".repeat(COPY_LIMIT + 1)).unwrap_err();
        assert!(fault.contains("74000"), "{fault}");
    }

    #[test]
    fn a_notice_holds_no_control_character_of_its_text() {
        let sequence = notice(Notify::Desktop, "a\u{7}b\u{1b}]0;x", "", "");
        assert_eq!(sequence.as_str().matches('\u{7}').count(), 1);
        assert_eq!(sequence.as_str().matches('\u{1b}').count(), 1);
    }

    #[test]
    fn a_terminal_that_is_not_known_gets_the_bell() {
        assert_eq!(notice(Notify::Auto, "x", "", "xterm-256color").as_str(), "\u{7}");
        assert!(notice(Notify::Auto, "x", "WezTerm", "").as_str().starts_with("\u{1b}]9;"));
        assert_eq!(notice(Notify::Off, "x", "WezTerm", ""), Sequence::default());
    }
}
