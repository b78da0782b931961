//! Names and hosts that look like others.
//!
//! Two texts look alike when their skeletons are the same: letters of other scripts become the
//! Latin ones they are mistaken for, `0` and `o` are one, as are `1`, `I`, `l` and `|`, `rn` and
//! `m`, `vv` and `w`; case, accents and separators do not count. A guess made to warn, never to decide.

/// What a text looks like at a glance.
pub fn skeleton(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' => push(&mut seen, c),
            'A'..='Z' if c != 'I' => push(&mut seen, c.to_ascii_lowercase()),
            '-' | '_' | ' ' => {}
            '0' | '1' | 'I' | '|' | '!' => push(&mut seen, twin(c).unwrap_or(c)),
            c if c.is_ascii() => push(&mut seen, c),
            c => push(&mut seen, twin(c).unwrap_or(c)),
        }
    }
    seen
}

fn push(seen: &mut String, c: char) {
    let c = if c == 'i' { 'l' } else { c };
    match (seen.chars().next_back(), c) {
        (Some('r'), 'n') => {
            seen.pop();
            seen.push('m');
        }
        (Some('v'), 'v') => {
            seen.pop();
            seen.push('w');
        }
        (_, c) => seen.push(c),
    }
}

/// Of `known`, the first that looks like `text` without being it. Case alone is no disguise.
pub fn resembles<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let own = skeleton(text);
    known.into_iter().find(|other| {
        !other.eq_ignore_ascii_case(text) && !own.is_empty() && skeleton(other) == own
    })
}

/// A sentence about a host that is not what it seems to be; `None` if it reads as it is. `host` may
/// have a port. The sentence is clean.
pub fn suspicious_host(host: &str) -> Option<String> {
    let bare = match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => host,
    };
    let ascii = bare.is_ascii();
    let coded =
        ascii && bare.split('.').any(|label| label.to_ascii_lowercase().starts_with("xn--"));
    if ascii && !coded {
        return None;
    }
    let unicode = url::quirks::domain_to_unicode(bare);
    let unicode = if unicode.is_empty() { bare.to_owned() } else { unicode };
    let shown = super::strict_line(&unicode);
    let latin = |c: char| if c.is_ascii() { c } else { twin(c).unwrap_or(c) };
    let latin: String = unicode.chars().map(latin).collect();
    let looks = if latin.is_ascii() && latin != unicode {
        format!(", which looks like {}", super::strict_line(&latin))
    } else {
        String::new()
    };
    let coded = if coded {
        format!("the host {} stands for {shown}{looks}", super::strict_line(bare))
    } else {
        format!("the host {shown} is written with letters that are not Latin{looks}")
    };
    Some(super::cut(&coded, 300))
}

/// Of `known`, the first host that `host` only begins like: `api.example.com.other.test`.
pub fn poses_as<'k>(host: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let host = host.to_ascii_lowercase();
    known.into_iter().find(|other| {
        let other = other.to_ascii_lowercase();
        other.contains('.')
            && host.strip_prefix(&other).is_some_and(|rest| rest.starts_with(['.', '-']))
    })
}

/// The Latin letters, and what is mistaken for each.
const TWINS: [(char, &str); 25] = [
    ('o', "0ОоΟοσՕօ০０Ｏｏ"),
    ('l', "1Ii|!ІіӀӏΙιıǀⅼⅠ１ＩｌｉЇїוןا"),
    ('a', "АаΑαａＡɑàáâãäåāăą"),
    ('b', "ВΒЬьＢｂᏏ"),
    ('c', "СсϲϹｃＣçćčⅽ"),
    ('d', "ԁｄＤⅾđďᎠ"),
    ('e', "ЕеΕεёЁｅＥèéêëēėęěҽ"),
    ('f', "ｆＦƒſ"),
    ('g', "ɡցｇＧğġ"),
    ('h', "НΗһհｈＨ"),
    ('j', "ЈјϳｊＪ"),
    ('k', "КкΚκｋＫ"),
    ('m', "МΜмｍＭⅿ"),
    ('n', "ΝոռｎＮпñńňη"),
    ('p', "РрΡρｐＰ"),
    ('q', "ԛզｑＱ"),
    ('r', "гｒＲř"),
    ('s', "ЅѕｓＳşšś"),
    ('t', "ТтΤτｔＴţ"),
    ('u', "υսｕＵùúûüūц"),
    ('v', "νѵｖＶⅴ"),
    ('w', "ԝωｗＷш"),
    ('x', "ХхΧχｘＸⅹ"),
    ('y', "УуΥγүｙＹýÿ"),
    ('z', "ΖｚＺžż"),
];

/// The Latin letter that a character is mistaken for.
fn twin(c: char) -> Option<char> {
    TWINS.iter().find(|(_, twins)| twins.contains(c)).map(|(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_found() {
        for (one, other) in [
            ("github", "gıthub"),
            ("github", "GitHub_"),
            ("paypal", "раураl"),
            ("modern", "modem"),
            ("list_files", "Iist-fi1es"),
            ("docs", "d0cs"),
            ("api", "арі"),
        ] {
            let found = resembles(other, [one]);
            assert_eq!(found, (!one.eq_ignore_ascii_case(other)).then_some(one), "{other}");
        }
        for other in ["gitlab", "github", "GITHUB", "git", ""] {
            assert_eq!(resembles(other, ["github"]), None, "{other}");
        }
    }

    #[test]
    fn a_host_in_other_letters_is_spelt_out() {
        let apple = suspicious_host("xn--80ak6aa92e.com:443").unwrap();
        assert!(apple.contains("аррӏе.com, which looks like apple.com"), "{apple}");
        assert!(suspicious_host("münchen.example").is_some());
        for plain in ["api.example.com:443", "127.0.0.1:80", "[::1]:80", "localhost", "xnode.test"]
        {
            assert_eq!(suspicious_host(plain), None, "{plain}");
        }
    }

    #[test]
    fn a_host_that_only_begins_like_another_is_found() {
        let known = ["api.github.com"];
        for posing in ["api.github.com.evil.test", "API.github.com-login.test"] {
            assert_eq!(poses_as(posing, known), Some("api.github.com"), "{posing}");
        }
        for honest in ["api.github.com", "api.github.community", "github.com"] {
            assert_eq!(poses_as(honest, known), None, "{honest}");
        }
    }
}
