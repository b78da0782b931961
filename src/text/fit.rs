//! The last look before the terminal: what got past everybody else is stopped here.
//!
//! Whoever draws or prints outside text cleans it first; these two hold the line where that was
//! forgotten. What has been cleaned passes unchanged.

use std::borrow::Cow;

use super::clean::{self, Kind};

/// Characters of one cell; no cluster of any script has so many.
const CELL: usize = 72;

/// What stands for a cell of the screen that must not be drawn as it is; `None` if it may.
///
/// Joiners, selectors and tags may only follow something in their own cell.
pub fn cell(symbol: &str) -> Option<&'static str> {
    if symbol.len() == 1 && symbol.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let fits = |(place, c): (usize, char)| match clean::kind(c) {
        Kind::Control => false,
        Kind::Invisible => place > 0 && place < CELL && sticks(c),
        Kind::Blank | Kind::Mark | Kind::Plain => place < CELL,
    };
    if symbol.chars().enumerate().all(fits) { None } else { Some("\u{fffd}") }
}

/// Whether a character commands a terminal, cannot be seen, or changes the order of others.
pub fn is_unseen(c: char) -> bool {
    matches!(clean::kind(c), Kind::Control | Kind::Invisible)
}

/// Invisible characters that shape what they follow, and nothing else.
fn sticks(c: char) -> bool {
    matches!(c,
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{180f}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// A text for a terminal of which nothing but line breaks and colours commands the terminal.
/// Borrowed where there is nothing to take out.
pub fn console(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c == '\n' || (' '..='~').contains(&c);
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((colour, length)) = next_colour(rest) {
        let (before, after) = rest.split_at(colour);
        out.push_str(&clean::block(before));
        let (sequence, behind) = after.split_at(length);
        out.push_str(sequence);
        rest = behind;
    }
    out.push_str(&clean::block(rest));
    Cow::Owned(out)
}

/// Where the next `ESC [ … m` stands and how long it is.
fn next_colour(text: &str) -> Option<(usize, usize)> {
    text.match_indices("\u{1b}[").find_map(|(at, start)| {
        let body = text.get(at + start.len()..)?;
        let length = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        body.get(length..)?.starts_with('m').then_some((at, start.len() + length + 1))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_of_clean_text_pass() {
        for symbol in [
            "a",
            " ",
            "",
            "é",
            "e\u{301}",
            "検",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "ی\u{200c}",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
        ] {
            assert_eq!(cell(symbol), None, "{symbol:?}");
        }
    }

    #[test]
    fn cells_that_command_or_hide_do_not() {
        for symbol in [
            "\u{1b}",
            "\u{7}",
            "\u{9b}",
            "\u{202e}",
            "a\u{200b}",
            "\u{feff}",
            "\u{200d}",
            "a\u{2066}",
        ] {
            assert_eq!(cell(symbol), Some("\u{fffd}"), "{symbol:?}");
        }
        let flood = format!("a{}", "\u{301}".repeat(100));
        assert_eq!(cell(&flood), Some("\u{fffd}"));
    }

    #[test]
    fn colours_and_line_breaks_reach_the_console_and_nothing_else_does() {
        let text = "a \u{1b}[1;31mred\u{1b}[0m\n\u{1b}]52;c;eA==\u{7}b\u{1b}[2Jc\u{202e}d";
        assert_eq!(console(text), "a \u{1b}[1;31mred\u{1b}[0m\nbc\\u{202e}d");
        assert!(matches!(console("plain\ntext"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn what_was_cleaned_passes_unchanged(raw in ".*") {
            let clean = clean::block(&raw);
            prop_assert_eq!(console(&clean).into_owned(), clean);
        }

        #[test]
        fn no_command_passes(raw in "[\u{1b}\u{9b}\u{7}\\[\\]0-9;mJHa\u{202e}\n]*") {
            let shown = console(&raw).into_owned();
            let left = shown.replace("\u{1b}[m", "");
            for (at, _) in left.match_indices('\u{1b}') {
                let body = left.get(at + 1..).unwrap_or_default();
                let end = body.trim_start_matches(['[', ';']).trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
                prop_assert!(body.starts_with('[') && end.starts_with('m'), "{shown:?}");
            }
            let hidden = ['\u{9b}', '\u{7}', '\u{202e}'];
            prop_assert!(!shown.contains(hidden));
        }
    }
}
