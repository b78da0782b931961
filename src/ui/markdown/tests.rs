use proptest::prelude::*;
use ratatui::style::Color;

use super::*;
use crate::config::ThemeName;

fn theme() -> Theme {
    Theme::of(ThemeName::Dark, false)
}

fn plain(source: &str, width: usize) -> String {
    let rows = rows(source, width, &theme(), Style::new());
    rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn nested_lists_keep_their_numbers_and_indentation() {
    let source =
        "3. three\n   - a\n     - b\n4. four is longer than the row\n\n- [x] done\n- [ ] open";
    insta::assert_snapshot!(plain(source, 20));
}

#[test]
fn loose_lists_have_a_blank_row_between_items() {
    insta::assert_snapshot!(plain("- a\n\n  more\n\n- b\n\nafter", 20));
}

#[test]
fn quotes_keep_their_bar_on_every_row() {
    insta::assert_snapshot!(plain("> one two three four\n>\n> > deep\n\nafter", 12));
}

const TABLE: &str = "| id | title | state |\n|---:|:--|:-:|\n| 1 | a long title that has to wrap | ok |\n| 22 | 日本語の題 | **new** |\n";

#[test]
fn table_columns_are_aligned_by_cells() {
    insta::assert_snapshot!(plain(TABLE, 80));
}

#[test]
fn table_that_is_too_wide_shrinks_and_wraps() {
    insta::assert_snapshot!(plain(TABLE, 30));
}

#[test]
fn table_without_room_is_stacked() {
    insta::assert_snapshot!(plain(TABLE, 14));
}

#[test]
fn separators_of_a_table_stand_in_the_same_columns() {
    for width in [24, 30, 40, 80] {
        let rows = plain(TABLE, width);
        let column = |row: &str, sign: char| {
            row.split(sign).next().map(text::width).filter(|_| row.contains(sign))
        };
        let bars: Vec<_> = rows
            .lines()
            .map(|row| column(row, '│').or_else(|| column(row, '┼')).unwrap_or(usize::MAX))
            .collect();
        assert!(bars.windows(2).all(|pair| pair[0] == pair[1]), "{width}: {bars:?}\n{rows}");
    }
}

#[test]
fn long_code_lines_are_folded_with_a_mark() {
    insta::assert_snapshot!(plain("```\nabcdefghijklmnopqrstuvwxyz\n\n  x\n```", 20));
}

#[test]
fn address_is_shown_beside_every_label_that_is_not_it() {
    assert_eq!(plain("[f](https://good.example/ok)", 80), "f (https://good.example/ok)");
    assert_eq!(
        plain("[https://bank.example](https://bad.example/login)", 80),
        "https://bank.example (https://bad.example/login) [⚠ it leads to bad.example]"
    );
    assert_eq!(
        plain("[bank](https://xn--80ak6aa92e.example/)", 200),
        "bank (https://xn--80ak6aa92e.example/) [⚠ the host xn--80ak6aa92e.example stands for аррӏе.example, which looks like apple.example]"
    );
    assert_eq!(plain("<https://good.example/>", 80), "https://good.example/");
    assert_eq!(plain("![a cat](https://x.example/c.png)", 80), "[image: a cat]");
}

#[test]
fn html_is_shown_as_text_and_br_breaks() {
    assert_eq!(plain("a <b>c</b><br>d", 80), "a <b>c</b>\nd");
    assert_eq!(plain("<div>\nx\n</div>", 80), "<div>\nx\n</div>");
}

#[test]
fn inline_code_keeps_its_backticks_where_there_are_no_colours() {
    let none = Theme::of(ThemeName::None, false);
    let shown = rows("run `ls`", 80, &none, Style::new());
    assert_eq!(shown.first().map(ToString::to_string).as_deref(), Some("run `ls`"));
}

#[test]
fn emphasis_and_code_have_their_styles() {
    let shown = rows("**b** *i* ~~s~~ `c`", 80, &theme(), Style::new());
    let styles: Vec<(String, Style)> = shown[0]
        .spans
        .iter()
        .filter(|span| span.content != " ")
        .map(|span| (span.content.to_string(), span.style))
        .collect();
    let plain = Style::new();
    assert_eq!(
        styles,
        [
            ("b".to_owned(), plain.add_modifier(Modifier::BOLD)),
            ("i".to_owned(), plain.add_modifier(Modifier::ITALIC)),
            ("s".to_owned(), plain.add_modifier(Modifier::CROSSED_OUT)),
            ("c".to_owned(), plain.fg(Color::LightYellow)),
        ]
    );
}

#[test]
fn nothing_that_was_said_is_hidden() {
    assert_eq!(
        plain("[t][1] x\n\n[1]: https://e.example/a \"title\"\n[2]: b", 80),
        "t (https://e.example/a) x\n\n[1]: https://e.example/a \"title\"\n[2]: b"
    );
    assert_eq!(plain(">", 80), "▎");
    assert_eq!(plain("a <!-- hidden --> b", 80), "a <!-- hidden --> b");
}

#[test]
fn other_schemes_do_not_look_like_links() {
    for url in ["javascript:alert(1)", "file:///notes.txt", "data:text/html,x"] {
        let shown = rows(&format!("[c]({url})"), 80, &theme(), Style::new());
        assert_eq!(shown[0].to_string(), format!("c ({url})"));
        assert_eq!(shown[0].spans[0].style, Style::new());
    }
}

#[test]
fn escapes_and_entities_reach_no_row() {
    let source = "A\u{1b}]52;c;ZQ==\u{7}B `\u{1b}[31mC` [D\u{1b}[5m](http://e.x/\u{7}) &#27;[2J E\n\n    F\u{1b}[1m\n";
    let shown = plain(source, 80);
    assert!(!shown.replace('\n', "").contains(char::is_control), "{shown:?}");
    assert!(!shown.contains("52;c"), "{shown:?}");
    let letters: String = shown.chars().filter(char::is_ascii_uppercase).take(6).collect();
    assert_eq!(letters, "ABCDJE", "{shown:?}");
}

/// Texts made of what Markdown gives a meaning to.
fn markdown() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "# ",
        "- ",
        "1. ",
        "> ",
        "```",
        "```rust\n",
        "\n",
        "\n\n",
        "| a | b |\n|---|:-:|\n",
        "| ",
        "*",
        "**",
        "_",
        "~~",
        "`",
        "[x](",
        "](http://e.x)",
        "![",
        "<br>",
        "<div>",
        "&#27;",
        "&lt;",
        "    ",
        "\t",
        "word ",
        "日本",
        "👨\u{200d}👩\u{200d}👧",
        "e\u{301}",
        "---\n",
        "- [x] ",
        "\\",
        "\u{1b}[31m",
        "\r\n",
        "[a]: /b\n",
        "long_word_without_a_break",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn any_text_at_any_width_fits(source in markdown(), width in 1usize..200) {
        for row in rows(&source, width, &theme(), Style::new()) {
            let cells = text::width(&row.to_string());
            prop_assert!(cells <= width, "{cells} > {width}: {row:?}");
        }
    }
}

#[test]
fn every_prefix_of_a_hard_text_fits_at_every_width() {
    let source = "| 項目 | 値 “x” | ok |\n|:--|--:|:-:|\n| `a｜b` | 12 | ✓ |\n| 長い長い長い説明 | \
                  **太字** | – |\n\n> “quoted” — *naïve* text\n";
    for width in [1, 2, 5, 10, 20, 40, 80] {
        for (at, _) in source.char_indices() {
            for row in rows(source.get(..at).unwrap(), width, &theme(), Style::new()) {
                assert!(text::width(&row.to_string()) <= width);
            }
        }
    }
}
