use std::time::Duration;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

const HOSTILE: &str = "A\u{1b}]52;c;ZXZpbA==\u{7}B\u{1b}]0;owned\u{1b}\\C\u{1b}]8;;https://bad.example.test\u{1b}\\link\u{1b}]8;;\u{1b}\\D\u{1b}[2J\u{1b}[10AE\u{1b}[6nF\u{1b}cG\u{1b}Pq#0\u{1b}\\H\u{1b}_x\u{1b}\\I\u{1b}[31mred\u{1b}[0m";

#[test]
fn escape_sequences_leave_with_their_payload() {
    assert_eq!(block(HOSTILE).as_str(), "ABClinkDEFGHIred");
    assert_eq!(line(HOSTILE).as_str(), "ABClinkDEFGHIred");
}

#[test]
fn eight_bit_forms_leave_too() {
    assert_eq!(line("a\u{9b}31mb\u{9d}0;x\u{9c}c\u{90}q\u{9c}d\u{98}s\u{7}e").as_str(), "abcde");
}

#[test]
fn charset_and_two_character_sequences_leave() {
    assert_eq!(line("a\u{1b}(Bb\u{1b}#8c\u{1b}7d").as_str(), "abcd");
}

#[test]
fn open_string_sequence_costs_its_line_only() {
    assert_eq!(block("a\u{1b}]0;hidden\nnext").as_str(), "a\nnext");
    assert_eq!(block("a\u{1b}]0;one\u{1b}]0;two").as_str(), "a");
    assert_eq!(line("a\u{1b}[12").as_str(), "a");
}

#[test]
fn lone_escape_becomes_visible() {
    assert_eq!(line("a\u{1b}").as_str(), "a␛");
    assert_eq!(line("a\u{1b}\u{1b}[31mb").as_str(), "a␛b");
    assert_eq!(line("a\u{1b}é").as_str(), "a␛é");
}

#[test]
fn removal_never_makes_a_new_sequence() {
    let twice = "\u{1b}\u{1b}[1m[31mx";
    assert!(!line(twice).as_str().contains('\u{1b}'));
}

#[test]
fn block_expands_tabs_shows_last_state_and_pictures_controls() {
    let raw = "a\tb\n\tindent\nabcdefg\th\n10%\r50%\r100%\nab\u{8}\u{8}cd\n\u{c}\0\u{7}end\u{7f}";
    let shown = "a       b\n        indent\nabcdefg h\n100%\nab␈␈cd\n␌␀␇end␡";
    assert_eq!(block(raw).as_str(), shown);
}

#[test]
fn windows_line_ends_are_line_ends() {
    assert_eq!(block("a\r\nb\r\n").as_str(), "a\nb\n");
    assert_eq!(line("Run\r\nme").as_str(), "Run me");
}

#[test]
fn tab_stops_count_columns_of_wide_text() {
    assert_eq!(block("日本\tx").as_str(), "日本    x");
}

#[test]
fn direction_marks_and_separators_are_always_visible() {
    assert_eq!(
        line("rm \u{202e}gol \u{2066}x\u{2069}").as_str(),
        "rm \\u{202e}gol \\u{2066}x\\u{2069}"
    );
    assert_eq!(block("a\u{2028}b\u{2029}").as_str(), "a\\u{2028}b\\u{2029}");
    assert_eq!(
        strict_line("docs/\u{200b}important\u{ad}").as_str(),
        "docs/\\u{200b}important\\u{ad}"
    );
}

#[test]
fn joiners_selectors_and_tags_with_a_job_stay_in_running_text() {
    let text = "می\u{200c}روم | क्\u{200d}ष | 👨\u{200d}👩\u{200d}👧 | 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} | ❤\u{fe0f} | 1\u{fe0f}\u{20e3} | ❤\u{fe0f}\u{200d}🔥";
    assert_eq!(line(text).as_str(), text);
    assert_eq!(block(text).as_str(), text);
    let strict = strict_line(text);
    assert!(!strict.as_str().contains(['\u{200c}', '\u{200d}', '\u{fe0f}', '\u{e0067}']));
}

#[test]
fn joiners_selectors_and_tags_without_a_job_are_visible() {
    assert_eq!(
        line("pass\u{200b}word pay\u{2060}pal").as_str(),
        "pass\\u{200b}word pay\\u{2060}pal"
    );
    assert_eq!(line("a\u{200d}b").as_str(), "a\\u{200d}b");
    assert_eq!(line("x\u{fe0f}\u{fe01}").as_str(), "x\\u{fe0f}\\u{fe01}");
    assert_eq!(line("x\u{e0068}\u{e0069}").as_str(), "x\\u{e0068}\\u{e0069}");
    assert_eq!(line("❤\u{fe0f}\u{fe0f}").as_str(), "❤\u{fe0f}\\u{fe0f}");
}

#[test]
fn floods_of_marks_are_bounded() {
    let flood = format!("e{}x", "\u{301}".repeat(40));
    let shown = line(&flood);
    assert_eq!(shown.as_str(), format!("e{}\u{fffd}x", "\u{301}".repeat(8)));
    assert!(strict_line(&flood).as_str().contains("\\u{301}"));
}

#[test]
fn clusters_that_never_end_are_bounded() {
    for unit in ["👩\u{200d}", "क्", "का", "ा", "ᄀ", "👩🏻🏻", "\u{600}"] {
        let shown = line(&unit.repeat(10_000));
        let longest = shown.as_str().graphemes(true).map(|cluster| cluster.chars().count()).max();
        assert!(longest <= Some(65), "{unit}: {longest:?}");
    }
    assert!(strict_line(&"ᄀ".repeat(100)).as_str().ends_with("\\u{1100}"));
}

#[test]
fn mark_without_a_base_gets_one() {
    assert_eq!(line("\u{301}a").as_str(), "\u{25cc}\u{301}a");
    assert_eq!(block("a\n\u{301}").as_str(), "a\n\u{25cc}\u{301}");
}

#[test]
fn strict_loses_nothing() {
    assert_eq!(strict_line("go\u{1b}[31m").as_str(), "go\\u{1b}[31m");
    assert_eq!(strict_line("a\nb\tc\u{a0}d").as_str(), "a\\nb\\tc\\u{a0}d");
    assert_eq!(strict_block("a\nb\u{9b}2J").as_str(), "a\nb\\u{9b}2J");
}

#[test]
fn suspicion_names_hidden_characters_and_mixed_scripts() {
    let hidden = is_suspicious("rm \u{202e}x\u{200b}").unwrap();
    assert_eq!(hidden, "hidden characters: U+200B (zero-width space), U+202E (direction override)");
    let mixed = is_suspicious("https://ex\u{430}mple.test/x").unwrap();
    assert!(mixed.contains("different scripts") && mixed.contains("ex\u{430}mple"), "{mixed}");
}

#[test]
fn ordinary_text_is_not_suspicious() {
    for text in
        ["ls -la", "Привет world", "größe", "5 μm", "日本語 text", "line\nbreak\tTab", "Ωmega?"]
    {
        assert_eq!(is_suspicious(text), None, "{text}");
    }
}

#[test]
fn suspicion_looks_into_json() {
    let value = serde_json::json!({"a": [{"b\u{200b}": 1}, "x\u{1b}"]});
    let sentence = is_suspicious_value(&value).unwrap();
    assert!(sentence.contains("U+200B") && sentence.contains("U+001B"), "{sentence}");
}

#[test]
fn width_is_that_of_the_screen_buffer() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    for text in [
        "日本x12",
        "♻\u{fe0f} one ❄\u{fe0f} two",
        "👨\u{200d}👩\u{200d}👧",
        "क्\u{200d}ष",
        "ｶﾞ",
        "🇳🇴",
        "1\u{fe0f}\u{20e3}",
    ] {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 1));
        let (end, _) = buffer.set_stringn(0, 0, text, 80, ratatui::style::Style::default());
        assert_eq!(width(text), usize::from(end), "{text}");
    }
}

#[test]
fn cut_never_halves_a_cluster() {
    assert_eq!(cut("hello", 5), "hello");
    assert_eq!(cut("hello!", 5), "hell…");
    assert_eq!(cut("日本語", 4), "日…");
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本", 1), "…");
    assert_eq!(cut("日本", 0), "");
    assert_eq!(cut("👨\u{200d}👩\u{200d}👧!", 2), "…");
}

#[test]
fn wrap_breaks_at_words_and_keeps_indentation() {
    assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(wrap("    indented text", 12), ["    indented", "text"]);
    assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
    assert_eq!(wrap("", 5), [""]);
    assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrap("日本語です。", 4), ["日本", "語で", "す。"]);
    assert_eq!(wrap("x 日", 1), ["x", "…"]);
    assert!(wrap("abc", 0).is_empty());
}

#[test]
fn nearest_sees_through_spelling() {
    assert_eq!(nearest("exclude_tools", ["tools", "excludeTools"]), Some("excludeTools"));
    assert_eq!(nearest("permisions", ["permissions", "rules"]), Some("permissions"));
    assert_eq!(
        nearest("get-libary-docs", ["query-docs", "get-library-docs"]),
        Some("get-library-docs")
    );
    assert_eq!(nearest("urls", ["rules"]), Some("rules"));
    assert_eq!(nearest("zzzzzz", ["rules", "url"]), None);
    assert_eq!(nearest("", ["rules"]), None);
    assert_eq!(nearest("a", ["b"]), None);
}

#[test]
fn distance_counts_a_swap_as_one() {
    assert_eq!(distance("tools", "tolos"), 1);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("kitten", "sitting"), 3);
}

#[test]
fn numbers_read_as_people_read_them() {
    assert_eq!(human::bytes(0), "0 B");
    assert_eq!(human::bytes(1_234_567), "1.2 MB");
    assert_eq!(human::bytes(u64::MAX), "18.4 EB");
    assert_eq!(human::count(999), "999");
    assert_eq!(human::count(12_345), "12.3k");
    assert_eq!(human::duration(Duration::from_millis(340)), "340 ms");
    assert_eq!(human::duration(Duration::from_millis(1250)), "1.2 s");
    assert_eq!(human::duration(Duration::from_secs(125)), "2 min 5 s");
    assert!(!human::duration(Duration::MAX).is_empty());
}

/// Text that is likely to hit something.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z \t\r\n]{0,6}",
        Just("\u{1b}".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("\u{1b}]0;x".to_owned()),
        Just("\u{9d}".to_owned()),
        Just("\u{7}".to_owned()),
        Just("\u{301}\u{301}\u{301}\u{301}\u{301}".to_owned()),
        Just("क्".to_owned()),
        Just("\u{200d}".to_owned()),
        Just("❤".to_owned()),
        Just("\u{fe0f}".to_owned()),
        Just("🏴\u{e0067}".to_owned()),
        Just("\u{e007f}".to_owned()),
        Just("日本".to_owned()),
        Just("ा".repeat(40)),
        Just("👩\u{200d}".repeat(40)),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn shown_text_never_holds_a_control(raw in hostile()) {
        for shown in [line(&raw), strict_line(&raw)] {
            prop_assert!(!shown.as_str().contains(char::is_control), "{:?}", shown);
        }
        for shown in [block(&raw), strict_block(&raw)] {
            prop_assert!(!shown.as_str().contains(|c: char| c.is_control() && c != '\n'), "{:?}", shown);
        }
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(raw in hostile()) {
        for clean in [line, block, strict_line, strict_block] {
            let once = clean(&raw);
            prop_assert_eq!(clean(once.as_str()), once.clone());
        }
    }

    #[test]
    fn cut_text_fits_and_begins_alike(raw in hostile(), columns in 0usize..12) {
        let text = line(&raw).into_string();
        let short = cut(&text, columns);
        prop_assert!(width(&short) <= columns);
        let head = short.strip_suffix('…').unwrap_or(&short);
        prop_assert!(text.starts_with(head));
    }

    #[test]
    fn wrapped_rows_fit(raw in hostile(), columns in 1usize..12) {
        for row in wrap(block(&raw).as_str(), columns) {
            prop_assert!(width(&row) <= columns, "{row:?}");
        }
    }

    #[test]
    fn wrapping_loses_nothing_but_spaces(raw in hostile(), columns in 2usize..12) {
        let text = block(&raw).into_string();
        prop_assume!(text.graphemes(true).all(|cluster| width(cluster) <= columns));
        let solid = |text: &str| text.chars().filter(|c| !matches!(c, ' ' | '\n')).collect::<String>();
        prop_assert_eq!(solid(&wrap(&text, columns).concat()), solid(&text));
    }

    #[test]
    fn nothing_panics_on_raw_text(raw in any::<String>(), columns in 0usize..5) {
        let _ = (width(&raw), cut(&raw, columns), wrap(&raw, columns), is_suspicious(&raw));
    }
}

#[test]
fn names_that_begin_alike_are_cut_in_the_middle() {
    assert_eq!(cut_middle("list_of_things_10", 17), "list_of_things_10");
    assert_eq!(cut_middle("list_of_things_10", 10), "list_o…_10");
    assert_eq!(cut_middle("日本語日本語", 7), "日本…語");
    assert_eq!(cut_middle("abc", 1), "…");
    assert_eq!(cut_middle("abc", 0), "");
}
