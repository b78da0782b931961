//! Takes terminal escape sequences out of running text, payload included.
//!
//! Knows CSI, OSC, DCS, SOS, PM, APC and the short sequences, in their 7-bit (`ESC [`) and 8-bit
//! (U+009B) forms. A string sequence that never ends costs its line, not what follows: nobody can
//! hide the rest of a text by opening one. An ESC that begins nothing is left for the caller to
//! make visible.

use std::borrow::Cow;

const ESC: char = '\u{1b}';
const STRING_TERMINATOR: char = '\u{9c}';

/// The text without its escape sequences. One pass; borrowed when there are none.
pub(super) fn strip(raw: &str) -> Cow<'_, str> {
    let Some(first) = raw.find(introduces) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let (head, mut rest) = raw.split_at(first);
    out.push_str(head);
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            ESC => escape(after).unwrap_or_else(|| {
                out.push(ESC);
                after
            }),
            _ => eight_bit(c, after),
        };
        let plain = rest.find(introduces).unwrap_or(rest.len());
        let (text, more) = rest.split_at(plain);
        out.push_str(text);
        rest = more;
    }
    Cow::Owned(out)
}

fn introduces(c: char) -> bool {
    c == ESC || matches!(c, '\u{8e}' | '\u{8f}' | '\u{90}' | '\u{98}' | '\u{9b}'..='\u{9f}')
}

/// What follows the sequence that an ESC before `after` begins; `None` if it begins none.
fn escape(after: &str) -> Option<&str> {
    let c = after.chars().next()?;
    let body = after.get(c.len_utf8()..)?;
    match c {
        '[' => Some(control_sequence(body)),
        ']' | 'P' | 'X' | '^' | '_' => Some(string(body)),
        ' '..='/' => short(body),
        '0'..='~' => Some(body),
        _ => None,
    }
}

fn eight_bit(c: char, body: &str) -> &str {
    match c {
        '\u{9b}' => control_sequence(body),
        '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string(body),
        _ => body,
    }
}

/// Skips parameters, intermediates and the final byte; stops before anything else.
fn control_sequence(body: &str) -> &str {
    let body = body.trim_start_matches(|c| matches!(c, '0'..='?'));
    let body = body.trim_start_matches(|c| matches!(c, ' '..='/'));
    body.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(body)
}

/// Skips further intermediates and the final byte of a sequence such as `ESC ( B`.
fn short(body: &str) -> Option<&str> {
    body.trim_start_matches(|c| matches!(c, ' '..='/')).strip_prefix(|c| matches!(c, '0'..='~'))
}

/// Skips the payload of a string sequence and its end. The search stops at whatever ends or aborts
/// a string, another sequence included, so that many open ones stay linear.
fn string(body: &str) -> &str {
    let ends = |c| introduces(c) || matches!(c, '\u{7}' | '\u{18}' | '\u{1a}');
    let end = body.find(ends).unwrap_or(body.len());
    let (payload, rest) = body.split_at(end);
    if let Some(rest) = rest.strip_prefix("\u{1b}\\") {
        return rest;
    }
    if let Some(rest) = rest.strip_prefix(['\u{7}', '\u{18}', '\u{1a}', STRING_TERMINATOR]) {
        return rest;
    }
    payload.find('\n').and_then(|line| body.get(line..)).unwrap_or(rest)
}
