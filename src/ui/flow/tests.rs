use proptest::prelude::*;

use super::*;

fn plain(rows: &[Row]) -> Vec<String> {
    rows.iter().map(ToString::to_string).collect()
}

fn piece(text: &str) -> Vec<Piece> {
    vec![Piece::new(text, Style::new())]
}

#[test]
fn words_move_to_the_next_row_whole() {
    assert_eq!(plain(&wrap(&piece("one two three"), 8)), ["one two", "three"]);
}

#[test]
fn words_longer_than_a_row_are_broken_by_cells() {
    assert_eq!(plain(&wrap(&piece("abcdefghij kl"), 4)), ["abcd", "efgh", "ij", "kl"]);
}

#[test]
fn wide_characters_count_two_cells_and_may_be_parted() {
    assert_eq!(plain(&wrap(&piece("日本語日本"), 5)), ["日本", "語日", "本"]);
}

#[test]
fn closing_marks_do_not_begin_a_row() {
    assert_eq!(plain(&wrap(&piece("日本語。日"), 6)), ["日本", "語。日"]);
}

#[test]
fn indentation_after_a_line_break_stays() {
    assert_eq!(plain(&wrap(&piece("a\n    b c"), 20)), ["a", "    b c"]);
}

#[test]
fn folding_loses_nothing_and_marks_what_continues() {
    let rows = fold(&piece("abcdefghij"), 6, &Piece::new("↪ ", Style::new()));
    assert_eq!(plain(&rows.into_iter().map(row).collect::<Vec<_>>()), ["abcdef", "↪ ghij"]);
}

#[test]
fn cutting_ends_in_an_ellipsis_and_fits() {
    let cut = |text: &str, width| row(cut(&piece(text), width)).to_string();
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本語", 4), "日…");
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("abc", 0), "");
}

#[test]
fn figures_are_written_as_people_read_them() {
    assert_eq!(figure(1_234_567), "1,234,567");
    assert_eq!(seconds(std::time::Duration::from_millis(1_250)), "1 s");
    assert_eq!(seconds(std::time::Duration::from_secs(125)), "2 min 5 s");
}

proptest! {
    #[test]
    fn every_row_fits_and_no_word_is_lost(text in "[a-z 日é\u{301}👍\u{fe0f}\n]{0,80}", width in 1usize..40) {
        let rows = plain(&wrap(&piece(&text), width));
        for row in &rows {
            prop_assert!(text::width(row) <= width, "{row:?} in {width}");
        }
        if width > 1 {
            let kept: String = rows.concat().chars().filter(|c| !c.is_whitespace()).collect();
            let all: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert_eq!(kept, all);
        }
    }
}
