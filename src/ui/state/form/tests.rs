use serde_json::json;

use super::*;
use crate::domain::FieldKind;

fn field(name: &str, kind: FieldKind, required: bool, default: Option<Value>) -> FormField {
    let label = name.to_owned();
    FormField { name: name.to_owned(), label, description: String::new(), kind, required, default }
}

fn text() -> FieldKind {
    FieldKind::Text { min: None, max: None, format: None, pattern: None }
}

fn options(words: &[&str]) -> Vec<(String, String)> {
    words.iter().map(|word| ((*word).to_owned(), word.to_uppercase())).collect()
}

fn write(form: &mut Form, at: usize, text: &str) {
    let value = match form.fields[at].kind {
        Kind::Text { .. } => Value::from(text),
        _ => serde_json::from_str(text).unwrap_or_default(),
    };
    if form.fields[at].can_hold(&value) {
        form.fields[at].set(Some(&value));
    } else {
        let mut area = crate::ui::state::input::editor(text);
        area.move_cursor(tui_textarea::CursorMove::End);
        form.fields[at].entry = Entry::Written(Box::new(area));
        form.fields[at].touched = true;
    }
}

/// What is said about one text.
fn said(kind: FieldKind, entered: &str) -> Result<Option<Value>, String> {
    let mut form = Form::of_server(&[field("x", kind, false, None)]);
    write(&mut form, 0, entered);
    form.fields[0].value()
}

#[test]
fn untouched_fields_are_sent_as_their_defaults_with_their_types() {
    let mut form = Form::of_server(&[
        field("name", text(), false, Some(json!("Ana"))),
        field(
            "age",
            FieldKind::Number { integer: true, min: None, max: None },
            true,
            Some(json!(30)),
        ),
        field(
            "score",
            FieldKind::Number { integer: false, min: None, max: None },
            false,
            Some(json!(95.5)),
        ),
        field("verified", FieldKind::Bool, false, Some(json!(false))),
        field("level", FieldKind::Choice(options(&["low", "high"])), false, Some(json!("high"))),
        field(
            "tags",
            FieldKind::Many { options: options(&["a", "b"]), min: None, max: None },
            false,
            Some(json!(["b"])),
        ),
    ]);
    let expected = json!({
        "name": "Ana", "age": 30, "score": 95.5, "verified": false, "level": "high", "tags": ["b"],
    });
    assert_eq!(form.content().map(Value::Object), Some(expected));
}

#[test]
fn empty_optional_fields_are_left_out_and_empty_required_ones_are_said() {
    let mut form = Form::of_server(&[
        field("a", text(), false, None),
        field("b", FieldKind::Bool, false, None),
        field("c", text(), true, None),
        field("d", FieldKind::Choice(options(&["x"])), true, None),
    ]);
    let untouched: Vec<_> = form.fields.iter().map(|field| form.fault_of(field)).collect();
    assert_eq!(untouched, [None, None, None, None]);
    assert_eq!(form.content(), None);
    assert_eq!(form.at, 2);
    let said: Vec<_> = form.fields.iter().filter_map(|field| form.fault_of(field)).collect();
    assert_eq!(said, ["This has to be filled in.", "Choose one."]);
    write(&mut form, 2, "now");
    form.fields[3].tick(0);
    assert_eq!(form.content().map(Value::Object), Some(json!({"c": "now", "d": "x"})));
}

#[test]
fn a_default_that_is_emptied_is_left_out() {
    let mut form = Form::of_server(&[field("name", text(), false, Some(json!("Ana")))]);
    write(&mut form, 0, "");
    assert_eq!(form.content().map(Value::Object), Some(json!({})));
}

#[test]
fn a_default_that_cannot_be_shown_is_not_sent() {
    for (kind, default) in [
        (FieldKind::Choice(options(&["low"])), json!("high")),
        (FieldKind::Number { integer: true, min: None, max: None }, json!("30")),
        (FieldKind::Bool, json!("yes")),
        (text(), json!({"a": 1})),
    ] {
        let mut form = Form::of_server(&[field("x", kind, false, Some(default.clone()))]);
        assert_eq!(form.fields[0].unusable, Some(default));
        assert_eq!(form.content().map(Value::Object), Some(json!({})));
    }
}

#[test]
fn texts_are_held_to_length_format_and_pattern() {
    let limited = |min, max| FieldKind::Text { min, max, format: None, pattern: None };
    assert_eq!(
        said(limited(Some(3), None), "ab").unwrap_err(),
        "It must have at least 3 characters."
    );
    assert_eq!(
        said(limited(None, Some(1)), "äö").unwrap_err(),
        "It must have at most 1 characters."
    );
    let formatted = |format: &str| FieldKind::Text {
        min: None,
        max: None,
        format: Some(format.to_owned()),
        pattern: None,
    };
    for (format, good, bad) in [
        ("email", "ana@example.org", "ana@"),
        ("email", "a.b+c@x.y", "a b@x.y"),
        ("uri", "https://example.org/a?b", "example"),
        ("date", "2028-02-29", "2027-02-29"),
        ("date-time", "2026-11-30T18:00:00+01:00", "2026-11-30"),
    ] {
        assert_eq!(said(formatted(format), good), Ok(Some(good.into())), "{format}");
        assert!(said(formatted(format), bad).is_err(), "{format}: {bad}");
    }
    assert!(said(formatted("unheard-of"), "anything").is_ok());
    let patterned = |pattern: &str| FieldKind::Text {
        min: None,
        max: None,
        format: None,
        pattern: Some(pattern.to_owned()),
    };
    assert!(said(patterned("^[A-Z]{3}$"), "ABC").is_ok());
    assert!(said(patterned("^[A-Z]{3}$"), "abc").unwrap_err().contains("^[A-Z]{3}$"));
    assert!(said(patterned("("), "a pattern that does not compile asks for nothing").is_ok());
}

#[test]
fn numbers_are_exact_and_held_to_their_limits() {
    let whole = |min, max| FieldKind::Number { integer: true, min, max };
    let any = || FieldKind::Number { integer: false, min: None, max: None };
    assert_eq!(
        said(whole(None, None), "9007199254740993"),
        Ok(Some(json!(9_007_199_254_740_993_u64)))
    );
    assert_eq!(said(any(), "-0.5"), Ok(Some(json!(-0.5))));
    for wrong in ["abc", "1,5", "NaN", "0x10", "\"1\"", "1 2"] {
        assert!(said(any(), wrong).is_err(), "{wrong}");
    }
    assert_eq!(said(whole(None, None), "1.5").unwrap_err(), "It must be a whole number.");
    assert_eq!(said(whole(Some(2.0), None), "1").unwrap_err(), "It must be at least 2.");
    assert_eq!(said(whole(None, Some(0.5)), "1").unwrap_err(), "It must be at most 0.5.");
}

#[test]
fn several_are_held_to_their_limits_and_sent_in_the_order_of_the_options() {
    let kind = FieldKind::Many { options: options(&["a", "b", "c"]), min: Some(2), max: Some(2) };
    let mut form = Form::of_server(&[field("x", kind, true, None)]);
    assert_eq!(form.content(), None);
    form.fields[0].tick(2);
    assert_eq!(form.fields[0].value().unwrap_err(), "It must have at least 2 choices.");
    form.fields[0].tick(0);
    assert_eq!(form.fields[0].value(), Ok(Some(json!(["a", "c"]))));
    form.fields[0].tick(1);
    assert!(form.fields[0].value().is_err());
    form.fields[0].tick(2);
    assert_eq!(form.fields[0].value(), Ok(Some(json!(["a", "b"]))));
}

#[test]
fn one_choice_at_a_time_and_none_only_where_it_may_be_left_out() {
    for (required, after) in [(true, json!({"x": "b"})), (false, json!({}))] {
        let choice = FieldKind::Choice(options(&["a", "b"]));
        let mut form = Form::of_server(&[field("x", choice, required, None)]);
        form.fields[0].tick(0);
        form.fields[0].tick(1);
        assert_eq!(form.fields[0].value(), Ok(Some(json!("b"))));
        form.fields[0].tick(1);
        assert_eq!(form.content().map(Value::Object), Some(after));
    }
}

#[test]
fn fields_that_ask_for_secrets_are_noticed_however_they_are_written() {
    let looks = |name: &str| looks_secret(&Field::of_server(&field(name, text(), false, None)));
    for secret in [
        "password",
        "userPassword",
        "API_KEY",
        "apiKey",
        "access-token",
        "Pass\u{200b}word",
        "pin",
        "Card number",
    ] {
        assert!(looks(secret), "{secret}");
    }
    for plain in ["name", "keyboard", "key", "compassion", "secretary", "pinned", "tokens"] {
        assert!(!looks(plain), "{plain}");
    }
    let form = Form::of_server(&[field("answer", text(), false, None)]);
    assert!(asks_for_secret(&form, "Enter the password of your mail account").is_some());
    assert_eq!(asks_for_secret(&form, "How many tokens may it take?"), None);
}

#[test]
fn values_go_from_json_into_the_form_and_back() {
    let schema = json!({
        "properties": {
            "title": {"type": "string"},
            "count": {"type": "integer", "default": 3},
            "state": {"enum": ["open", "closed"]},
            "where": {"type": "object"},
            "maybe": {"type": ["string", "null"]},
        },
        "required": ["title", "maybe"],
    });
    let mut form = Form::of_tool(crate::schema::form::entry::parameters(&schema));
    assert_eq!(Value::Object(form.sound()), json!({"count": 3, "maybe": null}));
    let values = json!({"title": "a\nb", "state": "open", "where": {"a": [1]}, "maybe": null});
    form.fill(values.as_object().unwrap()).unwrap();
    assert_eq!(form.content().map(Value::Object), Some(values));
    for wrong in [json!({"other": 1}), json!({"state": "half"}), json!({"title": 1})] {
        assert!(form.fill(wrong.as_object().unwrap()).is_err(), "{wrong}");
    }
}
