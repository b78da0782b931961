//! Templates of URIs (RFC 6570): expansion with text values, and whether a URI may come from one.
//! Bounded by the length of the template and its values; no input fails hard.

use std::fmt::Write as _;

/// How the variables of one expression are written: by its first character.
struct Style {
    first: &'static str,
    between: char,
    named: bool,
    /// What follows the name of a variable whose value is empty.
    if_empty: &'static str,
    reserved: bool,
}

fn style(operator: Option<char>) -> Style {
    let plain =
        |first, between| Style { first, between, named: false, if_empty: "", reserved: false };
    match operator {
        Some('+') => Style { reserved: true, ..plain("", ',') },
        Some('#') => Style { reserved: true, ..plain("#", ',') },
        Some('.') => plain(".", '.'),
        Some('/') => plain("/", '/'),
        Some(';') => Style { named: true, ..plain(";", ';') },
        Some('?') => Style { named: true, if_empty: "=", ..plain("?", '&') },
        Some('&') => Style { named: true, if_empty: "=", ..plain("&", '&') },
        _ => plain("", ','),
    }
}

/// A piece of a template.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Variables(Option<char>, &'a str),
}

/// Text and expressions in turn. A brace without its partner is text.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, behind)) = after.split_once('}') else { break };
        pieces.push(Piece::Text(before));
        let operator = inside.chars().next().filter(|c| "+#./;?&".contains(*c));
        let names = operator.and_then(|c| inside.strip_prefix(c)).unwrap_or(inside);
        pieces.push(Piece::Variables(operator, names));
        rest = behind;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// Names with their modifier cut off: prefix length (`:3`) or explode (`*`).
fn names(list: &str) -> impl Iterator<Item = (&str, Option<usize>)> {
    list.split(',').filter(|name| !name.is_empty()).map(|name| match name.split_once(':') {
        Some((name, length)) => (name, length.parse().ok()),
        None => (name.trim_end_matches('*'), None),
    })
}

/// Names of a template's variables, in order.
pub fn variables(template: &str) -> Vec<&str> {
    let lists = pieces(template).into_iter().filter_map(|piece| match piece {
        Piece::Variables(_, list) => Some(list),
        Piece::Text(_) => None,
    });
    lists.flat_map(|list| names(list).map(|(name, _)| name)).collect()
}

/// The URI that a template gives with these values. A variable without a value is left out, as the
/// standard says.
///
/// ```
/// use mini_me_tui::domain::resource::expand;
///
/// let value = |name: &str| (name == "id").then(|| "a b/c".to_owned());
/// assert_eq!(expand("notes://{id}{?page}", &value), "notes://a%20b%2Fc");
/// ```
pub fn expand(template: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut uri = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => encode(&mut uri, text, true),
            Piece::Variables(operator, list) => {
                let style = style(operator);
                let mut begun = false;
                for (name, length) in names(list) {
                    let Some(value) = value(name) else { continue };
                    if std::mem::replace(&mut begun, true) {
                        uri.push(style.between);
                    } else {
                        uri.push_str(style.first);
                    }
                    let value: String = value.chars().take(length.unwrap_or(usize::MAX)).collect();
                    if style.named {
                        encode(&mut uri, name, true);
                        uri.push_str(if value.is_empty() { style.if_empty } else { "=" });
                    }
                    encode(&mut uri, &value, style.reserved);
                }
            }
        }
    }
    uri
}

/// Percent-encodes what may not stand bare; with `reserved` the reserved characters and what is
/// encoded already stay.
fn encode(uri: &mut String, text: &str, reserved: bool) {
    for (at, byte) in text.bytes().enumerate() {
        let triplet = || {
            let digits = text.as_bytes().get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let bare = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || (reserved && b":/?#[]@!$&'()*+,;=".contains(&byte))
            || (reserved && byte == b'%' && triplet());
        if bare {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            write!(uri, "%{byte:02X}").ok();
        }
    }
}

/// Whether the text between the variables stands in a URI, in its order.
pub(super) fn fits(template: &str, uri: &str) -> bool {
    let pieces = pieces(template);
    let mut texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(*text),
        Piece::Variables(..) => None,
    });
    let Some(mut rest) = texts.next().and_then(|first| uri.strip_prefix(first)) else {
        return false;
    };
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(text) = texts.next() {
        if texts.peek().is_none() {
            return rest.ends_with(text);
        }
        let Some((_, behind)) = rest.split_once(text) else { return false };
        rest = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Option<String> {
        let known = [
            ("var", "value"),
            ("hello", "Hello World!"),
            ("path", "/foo/bar"),
            ("empty", ""),
            ("x", "1024"),
            ("half", "50%"),
        ];
        known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn expansion_follows_the_standards_own_examples() {
        for (template, expected) in [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}", "50%25"),
            ("O{empty}X", "OX"),
            ("O{undef}X", "OX"),
            ("{x,empty}", "1024,"),
            ("{+hello}", "Hello%20World!"),
            ("{+path}/here", "/foo/bar/here"),
            ("{+path,x}/here", "/foo/bar,1024/here"),
            ("{#path}", "#/foo/bar"),
            ("X{.var}", "X.value"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{;x,empty}", ";x=1024;empty"),
            ("{?x,empty}", "?x=1024&empty="),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{var:3}", "val"),
            ("{?undef}", ""),
        ] {
            assert_eq!(expand(template, &value), expected, "{template}");
        }
    }

    #[test]
    fn a_template_that_is_none_is_text() {
        assert_eq!(expand("a{b", &value), "a%7Bb");
        assert_eq!(expand("a}b{}c", &value), "a%7Dbc");
    }

    #[test]
    fn a_uri_fits_by_the_text_between_the_variables() {
        assert!(fits("notes://{id}", "notes://n1"));
        assert!(fits("shop://{kind}/x/{name}.json", "shop://a/x/b.json"));
        assert!(!fits("shop://{kind}/x/{name}.json", "shop://a/y/b.json"));
        assert!(!fits("notes://{id}", "other://n1"));
        assert!(fits("a:b", "a:b") && !fits("a:b", "a:bc"));
    }

    proptest::proptest! {
        #[test]
        fn no_template_fails_hard_and_its_expansion_is_a_plain_text(template in ".{0,40}", text in ".{0,10}") {
            let uri = expand(&template, &|_| Some(text.clone()));
            proptest::prop_assert!(uri.bytes().all(|byte| (0x21..0x7F).contains(&byte)));
            fits(&template, &uri);
        }
    }
}
