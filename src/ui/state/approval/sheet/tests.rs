use proptest::prelude::*;
use serde_json::json;

use super::*;

fn sheet(arguments: &Value, columns: usize) -> Sheet {
    let mut sheet = Sheet::of(arguments.as_object().unwrap());
    sheet.fit(columns);
    sheet
}

fn rows(sheet: &Sheet) -> Vec<Row<'_>> {
    (0..sheet.len()).map(|place| sheet.row(place).unwrap()).collect()
}

/// What a person reads, put together again: marks back into the characters they stand for.
fn read(sheet: &Sheet) -> String {
    let mut out = String::new();
    for row in rows(sheet) {
        if !row.goes_on {
            out.push('\n');
        }
        for (text, mark) in marks(row.text) {
            let hex = text.trim_start_matches("\\u{").trim_end_matches('}');
            match u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).filter(|_| mark) {
                Some(c) => out.push(c),
                None => out.push_str(text),
            }
        }
    }
    out
}

#[test]
fn spelling_of_numbers_order_and_escapes_are_those_that_are_sent() {
    let text = r#"{"z":1.0,"a":1,"b":-0.0,"c":18446744073709551615,"d":1e300,"e":"\u0001\\u{202e}\n\"","f":"é"}"#;
    let arguments: Value = serde_json::from_str(text).unwrap();
    let sheet = sheet(&arguments, 40);
    let shown: Value = serde_json::from_str(&read(&sheet)).unwrap();
    assert_eq!(shown.to_string(), arguments.to_string());
    assert!(sheet.text.contains("\"z\": 1.0") && sheet.text.contains("\"a\": 1,"));
    assert!(sheet.text.contains("18446744073709551615") && sheet.text.contains("-0.0"));
}

#[test]
fn text_of_several_lines_is_broken_where_its_lines_end() {
    let sheet = sheet(&json!({"body": "Steps:\n1. log in\n\n2. wait"}), 60);
    let texts: Vec<&str> = rows(&sheet).iter().map(|row| row.text).collect();
    assert_eq!(texts, ["{", r#""body": "Steps:\n"#, r"1. log in\n\n", r#"2. wait""#, "}"]);
}

#[test]
fn spaces_where_a_row_is_broken_can_be_counted() {
    let sheet = sheet(&json!({"x": format!("{}   tail", "word ".repeat(6))}), 30);
    let rows = rows(&sheet);
    let joined: String =
        rows.iter().filter(|row| row.text != "{" && row.text != "}").map(|row| row.text).collect();
    assert!(joined.contains("word    tail"), "{rows:?}");
    assert!(rows.iter().filter(|row| row.goes_on).all(|row| row.text.starts_with(' ')), "{rows:?}");
}

#[test]
fn what_is_nested_deep_keeps_room_for_its_text() {
    let mut value = json!("leaf");
    for _ in 0..100 {
        value = json!([value]);
    }
    let sheet = sheet(&json!({ "deep": value }), 60);
    assert!(rows(&sheet).iter().all(|row| row.indent <= 20));
    assert_eq!(sheet.len(), 203);
}

#[test]
fn a_name_is_told_from_a_text() {
    assert_eq!(name(r#""a\"b": 1"#), Some(r#""a\"b""#));
    assert_eq!(name(r#""just: text","#), None);
    assert_eq!(name("{"), None);
}

#[test]
fn a_row_costs_itself_and_not_the_text_round_it() {
    // The same number of rows of any size of text comes from slices of it.
    let many: Vec<u32> = (0..100_000).collect();
    let mut sheet = sheet(&json!({ "many": many, "line": "x".repeat(1 << 20) }), 76);
    assert!(sheet.len() > 110_000);
    let (laid, text) = (sheet.rows.as_ptr(), sheet.text.as_bytes().as_ptr_range());
    for place in [0, 50_000, sheet.len() - 1] {
        let row = sheet.row(place).unwrap();
        assert!(text.contains(&row.text.as_ptr()) && row.text.len() <= 76);
    }
    sheet.fit(76);
    assert_eq!(sheet.rows.as_ptr(), laid, "laid out again for the same width");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::from),
        "[ \\\\n\"a{}u\u{202e}\u{200b}日]{0,60}".prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_sent_can_be_read_back_from_the_rows(value in any_json(), columns in 0_usize..90) {
        let arguments = json!({ "value": value });
        let sheet = sheet(&arguments, columns);
        for row in rows(&sheet) {
            let mark = if row.goes_on { GOES_ON_COLUMNS } else { 0 };
            prop_assert!(row.indent + mark + text::width(row.text) <= columns.max(40), "{row:?}");
        }
        // The cleaner puts a circle under a mark that has no letter; nothing else is added.
        let plain = |text: &str| text.replace('\u{25cc}', "");
        let shown: Result<Value, _> = serde_json::from_str(&read(&sheet));
        let shown = shown.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(plain(&shown.to_string()), plain(&arguments.to_string()));
    }
}
