//! What a word that is not known was probably meant to be.

use crate::text;

/// Letters to change, add, take out or swap to make `b` of `a`, capitals counting as equal.
pub(super) fn distance(a: &str, b: &str) -> usize {
    text::distance(&a.to_lowercase(), &b.to_lowercase())
}

/// Without capitals, underscores, hyphens and blanks: how `exclude_tools` and `excludeTools` are
/// the same word.
pub(super) fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The entry of `known` that is nearest to `word`, if near enough to be meant: equal but for
/// spelling conventions, or a third of its letters away at most.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let spelled = plain(word);
    if let Some(same) = known.iter().find(|candidate| plain(candidate) == spelled) {
        return Some(same);
    }
    known
        .iter()
        .map(|candidate| (text::distance(&spelled, &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_added_missing_and_changed_letters_count_one_each() {
        for word in ["permisions", "permissoins", "permissionss", "permissiams"] {
            assert!(distance(word, "permissions") <= 2, "{word}");
        }
        assert_eq!(distance("atuh", "auth"), 1);
        assert_eq!(distance("", "auth"), 4);
        assert_eq!(distance("AUTH", "auth"), 0);
    }

    #[test]
    fn other_spelling_conventions_are_the_same_word() {
        let known = ["excludeTools", "tools", "enabled"];
        for word in ["exclude_tools", "exclude-tools", "ExcludeTools", "exclud_tols"] {
            assert_eq!(nearest(word, &known), Some("excludeTools"), "{word}");
        }
        assert_eq!(nearest("banana", &known), None);
    }
}
