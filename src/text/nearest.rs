//! Did you mean: the nearest of known names.

/// Words are compared up to this many characters: enough for any name a person types.
const LONGEST: usize = 64;

/// The entry of `known` that is nearest to `word`, if one is near enough to be meant. Spellings
/// that differ only in case, `-`, `_` and spaces count as equal.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let allowed = match word.len() {
        0 => return None,
        1..=3 => 1,
        4..=8 => 2,
        9..=14 => 3,
        _ => 4,
    };
    known
        .into_iter()
        .map(|candidate| (candidate, folded(candidate)))
        .filter(|(_, folded)| !folded.is_empty() && folded.len().abs_diff(word.len()) <= allowed)
        .map(|(candidate, folded)| (edits(&word, &folded), candidate))
        .filter(|(edits, _)| *edits <= allowed && *edits < word.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added, left out or swapped with their neighbour to come from
/// one spelling to the other. Looks at the first 64 characters.
pub fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(LONGEST).collect();
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    edits(&left, &right)
}

fn folded(word: &str) -> Vec<char> {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .take(LONGEST)
        .collect()
}

/// Damerau–Levenshtein in its restricted form, two rows back.
fn edits(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, &l) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        let mut left_of = None;
        for (column, &r) in right.iter().enumerate() {
            let at =
                |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, column) + usize::from(l != r))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            if previous == Some(r) && left_of == Some(l) {
                best = best.min(at(&before_last, column.wrapping_sub(1)) + 1);
            }
            current.push(best);
            left_of = Some(r);
        }
        before_last = std::mem::replace(&mut last, current);
        previous = Some(l);
    }
    last.last().copied().unwrap_or(0)
}
