//! JSON Schemas of tools: checking arguments, copies for providers, the binary filter, forms.
//!
//! Schemas come from servers: everything here is bounded in depth and work, follows references only
//! inside the schema itself, and survives references that lead in circles. Nothing is fetched.

pub mod adapt;
pub mod binary;
pub mod check;
pub mod form;
mod merge;

use serde_json::Value;

/// What a reference inside the same schema leads to; `None` for one that leads nowhere or elsewhere.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.contains('%') {
        let decoded: String = percent_decoded(fragment)?;
        return root.pointer(&decoded);
    }
    root.pointer(fragment)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let code = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A key as one part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests;
