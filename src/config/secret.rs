//! What looks like a secret, so that it is refused where it does not belong and shown nowhere.
//!
//! A guess, made to err on the side of hiding.

use crate::text;

/// What stands in place of a hidden text.
pub(super) const HIDDEN: &str = "…hidden…";
/// Longest excerpt of a file that a message shows, in characters.
const MAX_EXCERPT: usize = 160;
/// How much of a line is looked at, in characters.
const MAX_READ: usize = 4096;
/// Longest value that a message quotes, in characters.
const MAX_QUOTE: usize = 60;

const SECRET_WORDS: &[&str] = &[
    "auth",
    "authorization",
    "authentication",
    "token",
    "secret",
    "secrets",
    "password",
    "passwd",
    "pass",
    "pwd",
    "key",
    "apikey",
    "credential",
    "credentials",
    "cookie",
    "bearer",
    "sig",
    "signature",
    "jwt",
    "pat",
];
const SECRET_PARTS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "authkey",
    "accesstoken",
    "authtoken",
    "password",
    "clientsecret",
];
const SECRET_STARTS: &[&str] = &[
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk_",
    "tok-",
    "tok_",
    "key-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "hf_",
    "eyJ",
    "AKIA",
    "AIza",
    "ctx7sk",
    "gsk_",
];

/// Whether a header, query parameter or key of this name holds a credential.
pub(super) fn name_of_secret(name: &str) -> bool {
    let joined: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    SECRET_PARTS.iter().any(|part| joined.contains(part))
        || words(name).iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Whether a key of the config that nobody knows was meant to hold a credential: its last word says
/// what it is, so `apiKey` does and `tokenLimit` does not.
pub(super) fn key_of_secret(key: &str) -> bool {
    let last = words(key).into_iter().rfind(|word| !word.is_empty());
    last.is_some_and(|word| {
        SECRET_WORDS.contains(&word.as_str()) || SECRET_PARTS.iter().any(|part| word.contains(part))
    })
}

/// `X-Api-Key`, `api_key` and `apiKey` as lower-case words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        let breaks = !c.is_ascii_alphanumeric() || (after_small && c.is_ascii_uppercase());
        if breaks {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        after_small = c.is_ascii_lowercase();
    }
    words
}

/// Whether a value looks like a credential by itself.
pub(super) fn looks_secret(value: &str) -> bool {
    let value = value.trim();
    let scheme = ["bearer ", "basic ", "token ", "apikey "];
    let lower = value.to_ascii_lowercase();
    if scheme.iter().any(|scheme| lower.starts_with(scheme)) {
        return true;
    }
    let long_enough = value.chars().count() >= 8;
    (long_enough && SECRET_STARTS.iter().any(|start| value.starts_with(start)))
        || looks_random(value)
}

/// A long run of letters and digits that nobody would type by hand.
fn looks_random(value: &str) -> bool {
    let body = |c: char| c.is_ascii_alphanumeric() || "-_+/=~.".contains(c);
    if value.len() < 24 || !value.chars().all(body) || value.contains("//") || is_uuid(value) {
        return false;
    }
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    let breaks = value.chars().filter(|c| "-_./".contains(*c)).count();
    // Words joined by separators have many breaks and few digits; dates and versions few letters.
    digits >= 4 && letters >= 4 && breaks * 6 <= value.len()
}

/// A UUID names a thing more often than it opens one.
fn is_uuid(value: &str) -> bool {
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && value.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Whether what is written as a variable's name is a secret instead. Names in capitals are names,
/// however long.
pub(super) fn is_secret_for_a_name(written: &str) -> bool {
    let capitals = written.chars().all(|c| !c.is_ascii_lowercase());
    looks_secret(written) && (!capitals || written.starts_with("AKIA"))
}

/// A found value for a message: hidden if it looks like a secret, cleaned and cut otherwise.
pub(super) fn quote(value: &str) -> String {
    if value.split_whitespace().any(looks_secret) || looks_secret(value) {
        return HIDDEN.to_owned();
    }
    let mut cut: String = value.chars().take(MAX_QUOTE).collect();
    if cut.len() < value.len() {
        cut.push('…');
    }
    format!("`{}`", text::strict_line(&cut.escape_debug().to_string()))
}

/// A line of the file for a message: what looks like a secret is hidden, also everything after a
/// key that names one, and every long word of a line that shows no key at all.
pub(super) fn excerpt(line: &str) -> String {
    let line: String = line
        .trim_end_matches(['\r', '\n'])
        .chars()
        .take(MAX_READ)
        .map(|c| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    let keyless = !line.contains(':') && !line.trim_start().starts_with(['#', '-']);
    let mut shown = String::new();
    let mut word = String::new();
    let mut before = String::new();
    let mut hide = if keyless { Hide::Long } else { Hide::Secrets };
    for c in line.chars().chain(std::iter::once('\n')) {
        if !" \t,{}[]\"'\n".contains(c) {
            word.push(c);
            continue;
        }
        let done = std::mem::take(&mut word);
        if let Some(key) = done.strip_suffix(':').filter(|key| !looks_secret(key)) {
            // A quoted key ends before its colon.
            let key = if key.is_empty() { before.as_str() } else { key };
            // A key that names a variable holds no secret, whatever its name says.
            let secret = name_of_secret(key) && !names_variable(key);
            hide = if secret { Hide::All } else { Hide::Secrets };
            shown.push_str(&done);
        } else {
            shown.push_str(&mask(&done, hide));
            if ["bearer", "basic"].contains(&done.to_ascii_lowercase().as_str()) {
                hide = Hide::All;
            }
        }
        if !done.is_empty() {
            before = done;
        }
        if ",}".contains(c) && hide == Hide::All {
            hide = Hide::Secrets;
        }
        if c != '\n' {
            shown.push(c);
        }
    }
    let mut cut: String = shown.chars().take(MAX_EXCERPT).collect();
    if cut.len() < shown.len() {
        cut.push('…');
    }
    text::strict_line(&cut).into_string()
}

fn names_variable(key: &str) -> bool {
    key.ends_with("Env") || key.ends_with("_env") || key == "keys" || key == "auth"
}

/// How much of a line's words is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hide {
    Secrets,
    Long,
    All,
}

fn mask(word: &str, hide: Hide) -> String {
    if word.is_empty() {
        return String::new();
    }
    if hide == Hide::All || (hide == Hide::Long && word.chars().count() >= 4) {
        return HIDDEN.to_owned();
    }
    if let Some((key, value)) = word.split_once(':')
        && !value.starts_with("//")
        && name_of_secret(key)
        && !names_variable(key)
        && !value.is_empty()
    {
        return format!("{key}:{HIDDEN}");
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let bare = rest.split(['?', '#']).next().unwrap_or_default();
        return format!("{scheme}://{bare}");
    }
    let stripped = word.rsplit_once([':', '=']).map_or(word, |(_, value)| value);
    if looks_secret(word) || looks_secret(stripped) || is_uuid(stripped) {
        HIDDEN.to_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_line_panics_and_no_long_word_after_a_secret_key_is_shown(
            before in "[-a-z{ ,'\"]{0,12}",
            key in prop::sample::select(vec!["token", "apiKey", "password", "X-Api-Key"]),
            gap in "[ \t]{1,3}['\"]?",
            secret in "[A-Za-z0-9_/+=-]{8,40}",
            after in "[\\]}a-z ,'\"]{0,8}",
        ) {
            let shown = excerpt(&format!("{before} {key}:{gap}{secret}{after}"));
            prop_assert!(!shown.contains(&secret), "{shown}");
        }

        #[test]
        fn no_text_panics(line in "\\PC{0,200}") {
            // Characters that are made visible take more room: at most ten for one.
            prop_assert!(excerpt(&line).chars().count() <= 10 * (MAX_EXCERPT + 1));
            prop_assert!(quote(&line).chars().count() <= 10 * (MAX_QUOTE + 3));
        }
    }

    #[test]
    fn names_of_secrets_are_known_by_their_words() {
        for name in [
            "Authorization",
            "X-Api-Key",
            "apiKey",
            "access_token",
            "Cookie",
            "X-Auth-Token",
            "client_secret",
            "PASSWORD",
            "key",
            "sig",
            "xapikey",
        ] {
            assert!(name_of_secret(name), "{name}");
        }
        for name in ["X-Toolset", "monkey", "author", "X-Title", "tokenizer", "page", "keyboard"] {
            assert!(!name_of_secret(name), "{name}");
        }
    }

    #[test]
    fn values_that_look_like_secrets_are_known() {
        for value in [
            "sk-EXAMPLE-4",
            "ghp_abcdefghijkl",
            "Bearer x",
            "Basic dXNlcjpwYXNz",
            "a8Jk2lmQ09xZpL4tRw7yVb31",
            "tok-EXAMPLE-literal",
        ] {
            assert!(looks_secret(value), "{value}");
        }
        for value in [
            "repos",
            "mini-me",
            "GITHUB_PERSONAL_ACCESS_TOKEN",
            "CONTEXT7_API_KEY",
            "2025-11-25",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "https://api.githubcopilot.com/mcp/",
            "ai/qwen3",
            "sk-1",
        ] {
            assert!(!looks_secret(value), "{value}");
        }
    }

    #[test]
    fn of_a_key_the_last_word_says_what_it_holds() {
        for key in ["token", "apiKey", "api_key", "bearer-token", "clientSecret", "password"] {
            assert!(key_of_secret(key), "{key}");
        }
        for key in ["tokenLimit", "maxTokens", "authType", "key_id", "keyboard", ""] {
            assert!(!key_of_secret(key), "{key}");
        }
    }

    #[test]
    fn long_names_in_capitals_are_names_of_variables() {
        assert!(!is_secret_for_a_name("SERVICE20240801PRODUCTIONTOKEN"));
        assert!(is_secret_for_a_name("AKIA20240801PRODUCTION"));
        assert!(is_secret_for_a_name("ghp_EXAMPLE0123456789"));
    }

    #[test]
    fn an_excerpt_keeps_the_line_and_hides_its_secrets() {
        assert_eq!(
            excerpt("    auth: { type: bearer, token: abcd1234 "),
            format!("    auth: {{ type: bearer, token: {HIDDEN} ")
        );
        assert_eq!(excerpt("  url: http://u:pw@h/mcp?key=x"), "  url: http://h/mcp");
        assert_eq!(excerpt("  tokenEnv: DOCS_TOKEN ]"), "  tokenEnv: DOCS_TOKEN ]");
        assert_eq!(excerpt("  permissions: [ask\r"), "  permissions: [ask");
        for line in [
            "token:\"tok-EXAMPLE-1",
            "sometoken",
            "  - sk-EXAMPLE-9",
            "password: hunter22 x",
            "Authorization: Bearer abcdefgh",
            "x: tok-EXAMPLE-1]",
            "apiKey:sk-EXAMPLE-1",
            "\"token\": \"hunter22\" x",
            "X-Y: [Bearer abcdefgh",
        ] {
            let shown = excerpt(line);
            assert!(shown.contains(HIDDEN), "{line} → {shown}");
            for secret in ["EXAMPLE", "sometoken", "hunter22", "abcdefgh"] {
                assert!(!shown.contains(secret), "{line} → {shown}");
            }
        }
    }
}
