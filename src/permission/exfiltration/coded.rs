//! Texts inside texts: what percent-encoding, Base64 or hex hide from a plain look.
//!
//! One layer each, and Base64 or hex inside percent-encoding. Linear: a text is never read more
//! than once for each code.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::fold::Folded;
use super::index::PIECE;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);

/// What else the text may say.
pub(super) fn readings(text: &str) -> Vec<Folded> {
    let percent = percent(text);
    let mut all: Vec<String> = codes(text);
    if let Some(percent) = percent {
        all.extend(codes(&percent));
        all.push(percent);
    }
    all.into_iter().map(Folded::new).collect()
}

/// The text without percent-encoding, if there is any in it.
fn percent(text: &str) -> Option<String> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut rest = text.bytes();
    let mut plain = Vec::new();
    let mut any = false;
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                plain.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = ahead;
                any = true;
            }
            (byte, ..) => plain.push(byte),
        }
    }
    any.then(|| String::from_utf8_lossy(&plain).into_owned())
}

/// What every long word may be the Base64 or hex of, all in one text each.
fn codes(text: &str) -> Vec<String> {
    let mut base64 = String::new();
    let mut hex = String::new();
    let is_code = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    for word in text.split(|c| !is_code(c)) {
        if word.len() >= PIECE * 4 / 3 {
            let standard = word.replace('-', "+").replace('_', "/");
            // What stands before it in the same word, such as a path, may have any length.
            for from in 0..4 {
                let code = standard.get(from..).unwrap_or_default();
                let whole = code.get(..code.len() / 4 * 4).unwrap_or_default();
                let rest = code.get(whole.len()..).filter(|rest| rest.len() > 1);
                let decoded = [Some(whole), rest].into_iter().flatten();
                for bytes in decoded.filter_map(|code| STANDARD.decode(code).ok()) {
                    base64.push_str(&String::from_utf8_lossy(&bytes));
                }
            }
        }
        if word.len() >= PIECE * 2 {
            hex.push_str(&String::from_utf8_lossy(&unhexed(word).unwrap_or_default()));
        }
    }
    [base64, hex].into_iter().filter(|text| text.len() >= PIECE).collect()
}

fn unhexed(word: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = word.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits?;
    let pairs = digits.chunks_exact(2).map(|pair| {
        let value = pair.iter().fold(0, |value, digit| value * 16 + digit);
        u8::try_from(value).unwrap_or_default()
    });
    Some(pairs.collect())
}
