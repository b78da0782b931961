//! Texts as they are compared: letters and digits alone, in lower case.
//!
//! White space, punctuation and the escapes of JSON are left out, so that a text is the same
//! whether it was wrapped, quoted, or put into a string of a string.

use serde_json::{Map, Value};

use super::index::Span;

/// A text and what is compared of it.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// What was written.
    pub(super) text: String,
    /// What is compared.
    pub(super) bytes: Vec<u8>,
    /// Where in `text` each of the bytes comes from.
    places: Vec<u32>,
    /// Where the names of arguments stand in `text`, in order.
    names: Vec<Span>,
}

/// Whether the names of arguments are part of what is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// As in a record that is handed on.
    With,
    /// As in a text that is spread over several arguments.
    Without,
}

impl Folded {
    /// A text with its places. What lies beyond 4 GiB is not looked at.
    pub(super) fn new(text: String) -> Self {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        fold(&text, |at, byte| {
            bytes.push(byte);
            places.push(u32::try_from(at).unwrap_or(u32::MAX));
        });
        Self { text, bytes, places, names: Vec::new() }
    }

    /// All values of arguments, one a line.
    pub(super) fn arguments(arguments: &Map<String, Value>, names: Names) -> Self {
        let mut written = Written { text: String::new(), names: Vec::new(), with: names };
        written.members(arguments);
        Self { names: written.names, ..Self::new(written.text) }
    }

    /// How many of these bytes are of values: names say nothing.
    pub(super) fn weight(&self, span: &Span) -> usize {
        let places = self.places.get(span.start..span.end).unwrap_or_default();
        let is_value = |place: &&u32| {
            let place = usize::try_from(**place).unwrap_or(usize::MAX);
            let after = self.names.partition_point(|name| name.end <= place);
            self.names.get(after).is_none_or(|name| place < name.start)
        };
        places.iter().filter(is_value).count()
    }

    /// What was written where these bytes come from.
    pub(super) fn original(&self, span: &Span) -> &str {
        let place = |at: usize| self.places.get(at).and_then(|at| usize::try_from(*at).ok());
        let start = place(span.start).unwrap_or_default();
        let last = span.end.checked_sub(1).and_then(place).unwrap_or(start);
        let rest = self.text.get(last..).unwrap_or_default();
        let end = last + rest.chars().next().map_or(0, char::len_utf8);
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Arguments as lines.
struct Written {
    text: String,
    names: Vec<Span>,
    with: Names,
}

impl Written {
    fn members(&mut self, members: &Map<String, Value>) {
        for (name, value) in members {
            if self.with == Names::With {
                let start = self.text.len();
                self.line(name);
                self.names.push(Span { start, end: self.text.len() });
            }
            self.value(value);
        }
    }

    /// Depth is bounded: the arguments were parsed.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(string) => self.line(string),
            Value::Bool(_) | Value::Number(_) => self.line(&value.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::Object(members) => self.members(members),
        }
    }

    fn line(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.text.push('\n');
    }
}

/// What is compared of a text, at most so many bytes.
pub(super) fn bytes(text: &str, limit: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len().min(limit));
    fold(text, |_, byte| {
        if bytes.len() < limit {
            bytes.push(byte);
        }
    });
    bytes
}

/// Gives every byte that is compared, and where the character that it is of begins.
fn fold(text: &str, mut take: impl FnMut(usize, u8)) {
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            'a'..='z' | '0'..='9' => take(at, c as u8),
            'A'..='Z' => take(at, c.to_ascii_lowercase() as u8),
            '\\' => {
                let behind = rest.as_str();
                let code = behind.trim_start_matches('\\');
                let slashes = behind.len() - code.len();
                if let Some(escaped) = unicode(code) {
                    letters(at, escaped, &mut take);
                    skip(&mut rest, slashes + 5);
                } else if code.starts_with(['n', 'r', 't']) {
                    skip(&mut rest, slashes + 1);
                } else {
                    skip(&mut rest, slashes);
                }
            }
            c if c.is_ascii() => {}
            c => letters(at, c, &mut take),
        }
    }
}

fn skip(rest: &mut impl Iterator, count: usize) {
    for _ in 0..count {
        if rest.next().is_none() {
            return;
        }
    }
}

fn letters(at: usize, c: char, take: &mut impl FnMut(usize, u8)) {
    if !c.is_alphanumeric() {
        return;
    }
    for small in c.to_lowercase() {
        let mut room = [0; 4];
        small.encode_utf8(&mut room).bytes().for_each(|byte| take(at, byte));
    }
}

/// The character of `uXXXX`.
fn unicode(code: &str) -> Option<char> {
    let digits = code.strip_prefix('u')?.get(..4)?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        String::from_utf8(bytes(text, 1000)).unwrap()
    }

    #[test]
    fn space_case_punctuation_and_escapes_make_no_difference() {
        let plain = "The \"Quick\"\n brown\tfox, naïve: 7";
        let once = Value::from(plain).to_string();
        let twice = Value::from(once.as_str()).to_string();
        for text in [
            plain,
            "the quick BROWN fox naïve 7",
            &once,
            &twice,
            r"the quick brown fox na\u00efve 7",
        ] {
            assert_eq!(folded(text), "thequickbrownfoxnaïve7", "{text}");
        }
    }

    #[test]
    fn a_piece_is_given_as_it_was_written() {
        let folded = Folded::new("a, B-c ï!".to_owned());
        assert_eq!(folded.original(&Span { start: 1, end: 3 }), "B-c");
        assert_eq!(folded.original(&Span { start: 2, end: folded.bytes.len() }), "c ï");
    }
}
