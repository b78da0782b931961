use proptest::prelude::*;

use super::*;
use crate::config::ThemeName;

fn theme() -> Theme {
    Theme::of(ThemeName::Dark, false)
}

fn all_rows(document: &Document, width: usize) -> Vec<Row> {
    (0..document.parts())
        .flat_map(|part| document.rows(part, width, &theme(), Style::new()))
        .collect()
}

fn plain(document: &Document, width: usize) -> Vec<String> {
    all_rows(document, width).iter().map(ToString::to_string).collect()
}

fn paragraph(word: &str) -> String {
    format!("{} end.", word.repeat(SMALL / word.len() + 1))
}

#[test]
fn paragraphs_become_parts_that_stay() {
    let first = paragraph("one ");
    let mut document = Document::of(&format!("{first}\n\nSecond"));
    assert_eq!(document.parts(), 1, "the second line is not complete yet");
    document.push(" line\n");
    assert_eq!(document.parts(), 2);
    let revision = document.revision(0);
    document.push("more and more\n\nand more\n");
    assert_eq!(document.revision(0), revision);
    assert!(plain(&document, 2_000)[1].is_empty(), "a blank row between the parts");
}

#[test]
fn list_is_not_torn_at_its_blank_lines() {
    let item = paragraph("word ");
    let document = Document::of(&format!("1. {item}\n\n1. {item}\n\n1. third\n\nAfter.\n"));
    assert_eq!(document.parts(), 2);
    assert!(plain(&document, 2_000).iter().any(|row| row == "3. third"));
}

#[test]
fn indented_text_stays_with_what_it_belongs_to() {
    let item = paragraph("word ");
    let document = Document::of(&format!("- {item}\n\n  belongs to it\n"));
    assert_eq!(document.parts(), 1);
}

#[test]
fn code_block_is_cut_between_lines_and_keeps_its_colours() {
    let line = "let x = 1;\n";
    let source = format!("```rust\n{}```\nafter\n", line.repeat(SOFT / line.len() * 2));
    let document = Document::of(&source);
    assert!(document.parts() >= 3);
    let rows = all_rows(&document, 40);
    let code: Vec<&Row> =
        rows.iter().filter(|row| row.to_string().ends_with("let x = 1;")).collect();
    assert_eq!(code.len(), SOFT / line.len() * 2);
    assert!(code.iter().all(|row| row.spans == code[0].spans));
    assert_eq!(rows.last().map(ToString::to_string).as_deref(), Some("after"));
    assert_eq!(rows.iter().filter(|row| row.width() == 0).count(), 1);
}

#[test]
fn line_without_an_end_is_bounded() {
    let mut document = Document::default();
    for _ in 0..400 {
        document.push(&"日".repeat(100));
    }
    let longest = document.parts.iter().map(|part| part.range.len()).max();
    assert!(longest.is_some_and(|longest| longest <= 2 * HARD));
    assert!(document.parts() > 5);
}

/// Pieces of text that open, close and continue blocks.
fn source() -> impl Strategy<Value = Vec<String>> {
    let token = prop_oneof![
        Just("```rust\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~~\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("- item\n".to_owned()),
        Just("1. one\n".to_owned()),
        Just("  ```\n".to_owned()),
        Just("> quote\n".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
        Just("    indented\n".to_owned()),
        (1usize..900).prop_map(|count| "wörd ".repeat(count)),
        "[a-z *`\n]{0,30}",
    ];
    prop::collection::vec(token, 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn streamed_text_gives_the_rows_of_the_whole(tokens in source(), step in 1usize..700) {
        let whole = tokens.concat();
        let chars: Vec<char> = whole.chars().collect();
        let mut streamed = Document::default();
        for chunk in chars.chunks(step) {
            streamed.push(&chunk.iter().collect::<String>());
        }
        let whole = Document::of(&whole);
        prop_assert_eq!(&streamed.parts, &whole.parts);
        prop_assert_eq!(streamed.source(), whole.source());
        prop_assert_eq!(all_rows(&streamed, 60), all_rows(&whole, 60));
    }

    #[test]
    fn parts_cover_the_text_without_gaps(tokens in source()) {
        let document = Document::of(&tokens.concat());
        let mut end = 0;
        for part in &document.parts {
            prop_assert_eq!(part.range.start, end);
            prop_assert!(part.range.end > end);
            end = part.range.end;
        }
        prop_assert_eq!(document.open.range.start, end);
    }
}
