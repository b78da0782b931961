use proptest::prelude::*;
use ratatui::style::Style;
use serde_json::json;

use super::*;
use crate::config::ThemeName;
use crate::text;

fn theme() -> Theme {
    Theme::of(ThemeName::Dark, false)
}

fn styled(language: &str, line: &str) -> Vec<(String, Style)> {
    let mut highlighter = Highlighter::new(language);
    highlighter.line(line, &theme()).into_iter().map(|piece| (piece.text, piece.style)).collect()
}

fn style_of(language: &str, line: &str, word: &str) -> Style {
    let all = styled(language, line);
    let found = all.iter().find(|(text, _)| text.contains(word));
    found.map_or_else(|| panic!("{word} is not in {all:?}"), |(_, style)| *style)
}

#[test]
fn keywords_strings_numbers_and_comments_have_their_colours() {
    let theme = theme();
    for (language, line, word, style) in [
        ("rust", "let x = 42; // why", "let", theme.keyword),
        ("rust", "let x = 42; // why", "42", theme.number),
        ("rust", "let x = 42; // why", "why", theme.muted),
        ("rust,no_run", "let s = \"a \\\" b\";", "a \\\" b", theme.string),
        ("python", "def f(): return None # x", "None", theme.number),
        ("ts", "const a = `b`", "`b`", theme.string),
        ("sql", "SELECT id FROM t -- all", "SELECT", theme.keyword),
        ("yaml", "name: value", "name", theme.accent),
        ("toml", "name = \"value\"", "name", theme.accent),
        ("json", "{\"a\": \"b\"}", "\"a\"", theme.accent),
        ("json", "{\"a\": \"b\"}", "\"b\"", theme.string),
        ("html", "<div class=\"x\">", "div", theme.keyword),
        ("diff", "+ added", "added", theme.good),
        ("diff", "- gone", "gone", theme.danger),
        ("sh", "echo a#b # c", "# c", theme.muted),
        ("go", "func main() {", "func", theme.keyword),
        ("java", "public class A {", "public", theme.keyword),
        ("c++", "int x = 0x1f;", "0x1f", theme.number),
    ] {
        assert_eq!(style_of(language, line, word), style, "{language}: {line}: {word}");
    }
}

#[test]
fn comment_over_lines_ends_where_it_is_closed() {
    let theme = theme();
    let mut highlighter = Highlighter::new("c");
    highlighter.line("int a; /* begins", &theme);
    assert_eq!(highlighter.line("still", &theme)[0].style, theme.muted);
    let last = highlighter.line("ends */ int b;", &theme);
    assert_eq!(last[0], Piece::new("ends */", theme.muted));
    assert!(last.contains(&Piece::new("int", theme.keyword)));
}

#[test]
fn unknown_language_stays_plain() {
    assert_eq!(styled("klingon", "let x"), [("let x".to_owned(), theme().code)]);
}

fn plain(rows: &[flow::Row]) -> String {
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn json_is_pretty_printed_with_line_breaks_shown_and_followed() {
    let value = json!({"title": "Crash", "body": "first\nsecond\n", "n": [1, null], "empty": {}});
    insta::assert_snapshot!(plain(&json_rows(&value, 40, &theme(), JsonLimits::CARD)));
}

#[test]
fn what_is_left_out_of_json_is_said_in_figures() {
    let value = json!({"a": "x".repeat(50), "b": [1, 2, 3, 4, 5, 6, 7, 8]});
    let limits = JsonLimits { string: 10, lines: 5 };
    insta::assert_snapshot!(plain(&json_rows(&value, 60, &theme(), limits)));
}

#[test]
fn indenting_json_changes_nothing_but_white_space() {
    let json = r#"{"a":12345678901234567890123, "b":["x, \"y\": [",{}, [ ]],"c":{"d":null}}"#;
    insta::assert_snapshot!(indented(json).unwrap());
    assert_eq!(indented("{\n\"a\": 1}"), None, "it has lines already");
    assert_eq!(indented("{\"a\": "), None, "it is broken");
    assert_eq!(indented("plain"), None);
    assert_eq!(indented(&("[".repeat(9_000) + &"]".repeat(9_000))), None);
}

#[test]
fn arguments_fit_in_one_line() {
    let serde_json::Value::Object(arguments) =
        json!({"owner": "my-org", "page": 2, "x": {"y": [1]}})
    else {
        panic!("not an object")
    };
    let shown = |width| {
        json_line(&arguments, width, &theme())
            .into_iter()
            .map(|piece| piece.text)
            .collect::<String>()
    };
    assert_eq!(shown(80), "owner=\"my-org\" page=2 x={y: [1]}");
    assert_eq!(shown(12), "owner=\"my-o…");
    assert!(text::width(&shown(5)) <= 5);
}

proptest! {
    #[test]
    fn colouring_changes_no_text(line in "\\PC{0,60}", language in "(rust|py|js|sh|json|html|sql|yaml|x)") {
        let text: String = styled(&language, &line).into_iter().map(|(text, _)| text).collect();
        prop_assert_eq!(text, line);
    }

    #[test]
    fn blocks_fit_at_any_width(source in "[a-z\"/*#日 \n]{0,80}", width in 1usize..60) {
        for row in block("rust", &source, width, &theme()) {
            prop_assert!(flow::width(&row) <= width);
        }
    }
}
