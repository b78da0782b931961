//! Finding line ends and field names in bytes, many at a time.

/// Bytes looked at together: the comparison of a block has no branch, so that the compiler makes
/// vector code of it.
const BLOCK: usize = 32;

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

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let quiet =
        blocks.iter().take_while(|block| !block.iter().fold(false, |hit, b| hit | is_end(*b)));
    let start = quiet.count() * BLOCK;
    let tail = bytes.get(start..)?;
    tail.iter().position(|byte| is_end(*byte)).map(|at| start + at)
}
