//! The data of one event while it grows, from pieces that may be cut anywhere.
//!
//! Always UTF-8 (S1): each piece is looked at once, on its way in. What is no character becomes
//! U+FFFD; only the beginning of a character at the end of a piece waits for the next one.

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
/// Pieces shorter than this are not worth the preparations of vector code.
const SHORT: usize = 64;
/// Room that a text has from the start: most grow by a few bytes at a time.
const ROOM: usize = 64;

/// The data of the event that is being read.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// `None` before the event's first data line.
    text: Option<String>,
    /// The beginning of a character, at most three bytes.
    torn: Vec<u8>,
}

impl Data {
    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.as_ref().map_or(0, String::len) + self.torn.len()
    }

    /// Another data line begins, of so many bytes as far as known: lines are joined with LF (S4).
    pub(super) fn begin_line(&mut self, expected: usize) {
        match &mut self.text {
            Some(text) => text.push('\n'),
            None => self.text = Some(String::with_capacity(expected.max(ROOM))),
        }
    }

    /// Takes the next piece of the line.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let Some(text) = &mut self.text else { return };
        if let ([byte @ ..0x80], []) = (piece, self.torn.as_slice()) {
            text.push(char::from(*byte));
            return;
        }
        let piece = if self.torn.is_empty() { piece } else { mend(text, &mut self.torn, piece) };
        match valid(piece) {
            Some(piece) => text.push_str(piece),
            None => push_broken(text, &mut self.torn, piece),
        }
    }

    /// The line is at its end: a character that was cut does not go on after it.
    pub(super) fn end_line(&mut self) {
        if !self.torn.is_empty() {
            self.torn.clear();
            self.text.get_or_insert_default().push(REPLACEMENT);
        }
    }

    /// The data, if there was any line of it; the next event starts with none.
    pub(super) fn take(&mut self) -> Option<String> {
        self.torn.clear();
        self.text.take()
    }
}

fn valid(piece: &[u8]) -> Option<&str> {
    if piece.len() < SHORT {
        str::from_utf8(piece).ok()
    } else {
        simdutf8::basic::from_utf8(piece).ok()
    }
}

/// Completes a torn character with the bytes that follow, and returns what is left of them.
fn mend<'a>(text: &mut String, torn: &mut Vec<u8>, piece: &'a [u8]) -> &'a [u8] {
    let mut rest = piece;
    while let Some((byte, after)) = rest.split_first() {
        torn.push(*byte);
        match str::from_utf8(torn) {
            Ok(character) => text.push_str(character),
            Err(fault) if fault.error_len().is_none() => {
                rest = after;
                continue;
            }
            // It was none; the byte that shows it may begin one.
            Err(_) => {
                torn.clear();
                text.push(REPLACEMENT);
                return rest;
            }
        }
        torn.clear();
        return after;
    }
    rest
}

fn push_broken(text: &mut String, torn: &mut Vec<u8>, piece: &[u8]) {
    let mut chunks = piece.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let invalid = chunk.invalid();
        let cut = || str::from_utf8(invalid).is_err_and(|fault| fault.error_len().is_none());
        if chunks.peek().is_none() && cut() {
            torn.extend_from_slice(invalid);
        } else if !invalid.is_empty() {
            text.push(REPLACEMENT);
        }
    }
}
