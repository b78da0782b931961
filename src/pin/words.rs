//! Which words of a text changed.

use crate::domain::change::{Kept, Words};

/// Longest part of a text that is compared, in bytes.
const COMPARED: usize = 16 * 1024;
/// Cells of the table that two texts may need; beyond it what differs is one run.
const CELLS: usize = 1_000_000;

/// The old and the new text in one: what is in both, what was taken out, what was put in. Putting
/// the same and the removed words together gives the old text, the same and the added the new one,
/// as far as they are compared.
pub(super) fn words(old: &str, new: &str) -> Vec<Words> {
    let (old, new) = (split(cut(old)), split(cut(new)));
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = tail.take_while(|(old, new)| old == new).count();
    let middle = |words: &[&str]| -> Vec<String> {
        let inner = words.iter().take(words.len() - tail).skip(head);
        inner.map(|word| (*word).to_owned()).collect()
    };
    let mut runs = Runs::default();
    old.iter().take(head).for_each(|word| runs.push(Kept::Same, word));
    compare(&middle(&old), &middle(&new), &mut runs);
    old.iter().skip(old.len() - tail).for_each(|word| runs.push(Kept::Same, word));
    runs.0
}

#[derive(Default)]
struct Runs(Vec<Words>);

impl Runs {
    fn push(&mut self, kept: Kept, word: &str) {
        match self.0.last_mut() {
            Some(last) if last.kept == kept => last.text.push_str(word),
            _ => self.0.push(Words { kept, text: word.to_owned() }),
        }
    }
}

/// By the longest words that both have in common, in order.
fn compare(old: &[String], new: &[String], runs: &mut Runs) {
    let wide = new.len() + 1;
    if (old.len() + 1).saturating_mul(wide) > CELLS {
        for word in old {
            runs.push(Kept::Removed, word);
        }
        for word in new {
            runs.push(Kept::Added, word);
        }
        return;
    }
    let mut common = vec![0_u32; (old.len() + 1) * wide];
    let cell = |common: &[u32], row: usize, column: usize| {
        common.get(row * wide + column).copied().unwrap_or(0)
    };
    for (row, left) in old.iter().enumerate().rev() {
        for (column, right) in new.iter().enumerate().rev() {
            let most = if left == right {
                cell(&common, row + 1, column + 1) + 1
            } else {
                cell(&common, row + 1, column).max(cell(&common, row, column + 1))
            };
            if let Some(place) = common.get_mut(row * wide + column) {
                *place = most;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    loop {
        match (old.get(row), new.get(column)) {
            (Some(left), Some(right)) if left == right => {
                runs.push(Kept::Same, left);
                (row, column) = (row + 1, column + 1);
            }
            (Some(left), right)
                if right.is_none()
                    || cell(&common, row + 1, column) >= cell(&common, row, column + 1) =>
            {
                runs.push(Kept::Removed, left);
                row += 1;
            }
            (_, Some(right)) => {
                runs.push(Kept::Added, right);
                column += 1;
            }
            (_, None) => return,
        }
    }
}

/// Words with the white space after them.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let letters = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let after = rest.get(letters..).unwrap_or_default();
        let blank = after.find(|c: char| !c.is_whitespace()).unwrap_or(after.len());
        let (word, next) = rest.split_at_checked(letters + blank).unwrap_or((rest, ""));
        words.push(word);
        rest = next;
    }
    words
}

fn cut(text: &str) -> &str {
    let end = (0..=COMPARED.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(old: &str, new: &str) -> String {
        let mark = |words: &Words| match words.kept {
            Kept::Same => words.text.clone(),
            Kept::Removed => format!("[-{}-]", words.text),
            Kept::Added => format!("[+{}+]", words.text),
        };
        words(old, new).iter().map(mark).collect()
    }

    #[test]
    fn changed_words_stand_beside_those_that_stayed() {
        assert_eq!(
            told("Creates an issue in a repository.", "Creates an issue in any repository."),
            "Creates an issue in [-a -][+any +]repository."
        );
        assert_eq!(told("same", "same"), "same");
        assert_eq!(told("", "new words"), "[+new words+]");
        assert_eq!(told("one two", ""), "[-one two-]");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_it(old in "[ab \n]{0,30}", new in "[ab \n]{0,30}") {
            let words = words(&old, &new);
            let read = |but: Kept| -> String {
                words.iter().filter(|run| run.kept != but).map(|run| run.text.as_str()).collect()
            };
            prop_assert_eq!(read(Kept::Added), old);
            prop_assert_eq!(read(Kept::Removed), new);
        }
    }

    #[test]
    fn very_long_texts_are_compared_as_far_as_the_limit() {
        let (old, new) = ("a ".repeat(100_000), "b ".repeat(100_000));
        let words = words(&old, &new);
        assert!(words.iter().map(|run| run.text.len()).sum::<usize>() <= 2 * COMPARED);
    }
}
