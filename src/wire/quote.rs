//! Quoting for a POSIX shell: what is pasted there arrives as it is, whatever it holds.

/// One word. A shell's word cannot hold NUL: what does belongs into [`bytes()`], here it is left out.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars().filter(|c| *c != '\0') {
        match c {
            '\'' => out.push_str("'\\''"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// A variable's value as part of a word.
pub(super) fn variable(name: &str) -> String {
    format!("\"${name}\"")
}

/// A command that prints exactly these bytes; it is made of visible ASCII characters alone.
pub fn bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2 + 9);
    out.push_str("printf '");
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            // In front it would begin an option.
            b'-' if at == 0 => out.push_str("\\055"),
            b'%' => out.push_str("%%"),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' if *byte != b'\'' => out.push(char::from(*byte)),
            // Always three digits: what follows may be one too.
            byte => out.extend([format!("\\{byte:03o}")]),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn shell(script: &str) -> Vec<u8> {
        let ran = Command::new("sh").args(["-c", script]).output().unwrap();
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
        ran.stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[cfg(unix)]
        #[test]
        fn a_shell_reads_a_word_as_it_was(text in "[^\\x00]{0,60}|[ '\"$`!\\\\~#&;|<>(){}\\[\\]*?\\n\\t-]{0,30}") {
            let script = format!("printf '%s' {}", word(&text));
            prop_assert_eq!(shell(&script), text.into_bytes());
        }

        #[cfg(unix)]
        #[test]
        fn a_shell_prints_bytes_as_they_were(body in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(shell(&bytes(&body)), body);
        }
    }

    #[cfg(unix)]
    #[test]
    fn every_byte_survives() {
        let all: Vec<u8> = (0..=255).chain(0..=255).collect();
        assert_eq!(shell(&bytes(&all)), all);
        assert_eq!(shell(&bytes(b"-n -e")), b"-n -e");
        let text: String = (1..=255_u8).map(char::from).collect();
        assert_eq!(shell(&format!("printf '%s' {}", word(&text))), text.into_bytes());
    }

    #[test]
    fn words_that_need_no_quotes_have_none() {
        assert_eq!(word("https://h.test:8/mcp"), "https://h.test:8/mcp");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("a=b"), "'a=b'");
    }
}
