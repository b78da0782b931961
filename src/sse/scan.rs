//! Finding line ends and field names in bytes.

/// Bytes that are looked at one by one.
const SHORT: usize = 16;

/// The first line, the byte that ends it (CR or LF) and what follows; `None` while there is no
/// line end.
pub(super) fn split_line(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let at = line_end(bytes)?;
    let (line, rest) = bytes.split_at_checked(at)?;
    let (ending, tail) = rest.split_first()?;
    Some((line, *ending, tail))
}

/// Field name and value by S3: split at the first colon, one space after it dropped. A comment has
/// an empty name.
pub(super) fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return (line, &[]);
    };
    let Some((name, rest)) = line.split_at_checked(colon) else { return (line, &[]) };
    let value = rest.strip_prefix(b":").unwrap_or(rest);
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// Where the first CR or LF is. The empty line after an event is met as often as any other, and
/// few bytes are not worth the preparations of vector code.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if bytes.len() < SHORT || bytes.first().is_some_and(is_end) {
        return bytes.iter().position(is_end);
    }
    memchr::memchr2(b'\n', b'\r', bytes)
}
