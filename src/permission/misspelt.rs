//! Near misses: whether a pattern was probably meant to fit, had one letter of it been right.
//!
//! One letter replaced, dropped, added, or two neighbours swapped; capitals count as equal. A rule
//! that fits nothing as it is written and tightens is read so: a slip of the finger never loosens.

use super::rule::Pattern;

/// Longest pattern and text that are looked at, in characters.
const LONGEST: usize = 128;

/// One place of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// Exactly this character.
    Is(char),
    /// Any one character: the letter that is missing.
    Any,
    /// Any run of characters.
    Run,
}

/// Whether the pattern with one letter mended fits the text. That it fits as it is written is not
/// asked here.
pub(super) fn misspelt(pattern: &Pattern, text: &str) -> bool {
    let pieces: Vec<Piece> = pattern
        .0
        .to_lowercase()
        .chars()
        .map(|c| if c == '*' { Piece::Run } else { Piece::Is(c) })
        .collect();
    let text: Vec<char> = text.to_lowercase().chars().collect();
    if pieces.len() > LONGEST || text.len() > LONGEST {
        return false;
    }
    fits(&pieces, &text) || mended(&pieces).any(|pieces| fits(&pieces, &text))
}

/// Every pattern that is one letter away.
fn mended(pieces: &[Piece]) -> impl Iterator<Item = Vec<Piece>> + '_ {
    let letter = |at: usize| matches!(pieces.get(at), Some(Piece::Is(_)));
    let with = |at: usize, taken: usize, put: &[Piece]| {
        let rest = pieces.iter().skip(at + taken);
        pieces.iter().take(at).chain(put).chain(rest).copied().collect::<Vec<_>>()
    };
    let missing = (0..=pieces.len()).map(move |at| with(at, 0, &[Piece::Any]));
    let wrong = (0..pieces.len()).filter(move |at| letter(*at));
    let wrong = wrong.flat_map(move |at| [with(at, 1, &[Piece::Any]), with(at, 1, &[])]);
    let swapped = pieces.windows(2).enumerate().filter_map(move |(at, pair)| match pair {
        [a @ Piece::Is(_), b @ Piece::Is(_)] => Some(with(at, 2, &[*b, *a])),
        _ => None,
    });
    missing.chain(wrong).chain(swapped)
}

/// Whether the whole of the text fits.
fn fits(pieces: &[Piece], text: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while read < text.len() {
        match (pieces.get(at), text.get(read)) {
            (Some(Piece::Run), _) => {
                back = Some((at + 1, read));
                at += 1;
            }
            (Some(Piece::Any), Some(_)) => (at, read) = (at + 1, read + 1),
            (Some(Piece::Is(wanted)), Some(found)) if wanted == found => {
                (at, read) = (at + 1, read + 1);
            }
            // The latest run takes one character more.
            _ => match &mut back {
                Some((after, from)) => {
                    *from += 1;
                    (at, read) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pieces.iter().skip(at).all(|piece| *piece == Piece::Run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(pattern: &str, text: &str) -> bool {
        misspelt(&Pattern(pattern.to_owned()), text)
    }

    #[test]
    fn one_letter_is_mended_and_no_more() {
        for pattern in ["create_isue", "create_issuee", "create_isseu", "creete_issue"] {
            assert!(near(pattern, "create_issue"), "{pattern}");
        }
        assert!(near("Create_Issue", "create_issue"));
        for pattern in ["creat_isue", "issue", "create", "get", "delete_issue"] {
            assert!(!near(pattern, "create_issue"), "{pattern}");
        }
    }

    #[test]
    fn stars_stay_stars() {
        assert!(near("delte_*", "delete_branch"));
        assert!(near("*_brnch", "delete_branch"));
        assert!(!near("dlte_*", "delete_branch"));
        assert!(!near("get*", "delete_branch"));
    }
}
