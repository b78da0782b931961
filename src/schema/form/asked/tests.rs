use serde_json::{Map, Value, json};

use super::{answer, form, value};
use crate::domain::{FieldKind, FormField};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn one(property: &Value) -> FormField {
    let schema = json!({ "type": "object", "properties": { "x": property } });
    form(&schema).unwrap().remove(0)
}

fn options(field: &FormField) -> Vec<(&str, &str)> {
    let (FieldKind::Choice(options) | FieldKind::Many { options, .. }) = &field.kind else {
        panic!("{field:?}")
    };
    options.iter().map(|(value, label)| (value.as_str(), label.as_str())).collect()
}

/// The shape that the official suite asks for (SEP-1034).
fn with_defaults() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive"], "default": "active"},
        "verified": {"type": "boolean", "default": true}}, "required": []})
}

#[test]
fn untouched_fields_keep_their_defaults_with_their_types() {
    let fields = form(&with_defaults()).unwrap();
    let filled = answer(&fields, &Map::new()).unwrap();
    let expected = json!({"name": "John Doe", "age": 30, "score": 95.5, "status": "active",
        "verified": true});
    assert_eq!(Value::Object(filled), expected);
    let filled = answer(&fields, &object(&json!({"age": 31, "verified": false}))).unwrap();
    assert_eq!((&filled["age"], &filled["verified"]), (&json!(31), &json!(false)));
    assert_eq!(filled["name"], "John Doe");
}

#[test]
fn optional_field_without_default_is_left_out_and_a_required_one_is_missed() {
    let schema = json!({"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let fields = form(&schema).unwrap();
    let given = object(&json!({"a": "x"}));
    assert_eq!(answer(&fields, &given).unwrap(), given);
    let faults = answer(&fields, &object(&json!({"b": "y", "c": 1}))).unwrap_err();
    let names: Vec<_> = faults.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn choices_are_read_in_every_way_they_are_written() {
    for (property, expected) in [
        (json!({"type": "string", "enum": ["a", "b"]}), [("a", "a"), ("b", "b")]),
        (
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            [("a", "A"), ("b", "B")],
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
            [("a", "A"), ("b", "b")],
        ),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), [("a", "a"), ("b", "b")]),
        (
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"},
                {"const": "b", "title": "B"}]}}),
            [("a", "A"), ("b", "B")],
        ),
    ] {
        assert_eq!(options(&one(&property)), expected, "{property}");
    }
}

#[test]
fn what_is_no_flat_form_says_so() {
    for (schema, word) in [
        (json!([]), "no object"),
        (json!({"type": "array"}), "something else"),
        (json!({"properties": {"x": {"type": "object"}}}), "object"),
        (json!({"properties": {"x": {"type": "array", "items": {"type": "string"}}}}), "list"),
        (json!({"properties": {"x": {"enum": [1, 2]}}}), "no texts"),
        (json!({"properties": {"x": {}}}), "no type"),
        (json!({"properties": {"x": true}}), "no schema"),
        (json!({"properties": {}, "required": ["y"]}), "“y”"),
    ] {
        let why = form(&schema).unwrap_err();
        assert!(why.contains(word), "{schema}: {why}");
    }
    assert_eq!(form(&json!({"type": "object"})), Ok(Vec::new()));
}

#[test]
fn optional_fields_as_libraries_write_them_are_understood() {
    let field = one(&json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
        "title": "Guests", "default": null}));
    assert_eq!(field.label, "Guests");
    assert_eq!(field.kind, FieldKind::Number { integer: true, min: Some(1.0), max: None });
    assert_eq!(field.default, None);
    assert_eq!(one(&json!({"type": ["boolean", "null"]})).kind, FieldKind::Bool);
}

#[test]
fn default_that_does_not_fit_is_none() {
    for property in [
        json!({"type": "integer", "default": "30"}),
        json!({"type": "string", "enum": ["a"], "default": "b"}),
        json!({"type": "string", "minLength": 3, "default": ""}),
    ] {
        assert_eq!(one(&property).default, None, "{property}");
    }
}

#[test]
fn typed_text_becomes_a_value_of_the_field_or_says_what_is_wanted() {
    let typed = |property: &Value, text: &str| value(&one(property), text);
    let text = json!({"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$"});
    assert_eq!(typed(&text, "ab"), Ok(Some(json!("ab"))));
    assert_eq!(typed(&text, "  "), Ok(None));
    for wrong in ["a", "abcd", "AB"] {
        assert!(typed(&text, wrong).is_err(), "{wrong}");
    }
    let age = json!({"type": "integer", "minimum": 0, "maximum": 130});
    assert_eq!(typed(&age, " 30 "), Ok(Some(json!(30))));
    for wrong in ["x", "1.5", "-1", "131"] {
        assert!(typed(&age, wrong).is_err(), "{wrong}");
    }
    assert_eq!(typed(&json!({"type": "number"}), "9.5"), Ok(Some(json!(9.5))));
    assert!(typed(&json!({"type": "number"}), "inf").is_err());
    assert_eq!(typed(&json!({"type": "boolean"}), "Yes"), Ok(Some(json!(true))));
    assert!(typed(&json!({"type": "boolean"}), "maybe").is_err());
    let one_of = json!({"oneOf": [{"const": "a", "title": "Alpha"}, {"const": "b"}]});
    assert_eq!(typed(&one_of, "Alpha"), Ok(Some(json!("a"))));
    assert!(typed(&one_of, "c").unwrap_err().contains("a, b"));
    let many = json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1,
        "maxItems": 2});
    assert_eq!(typed(&many, "a, c"), Ok(Some(json!(["a", "c"]))));
    assert_eq!(typed(&many, "[\"b\"]"), Ok(Some(json!(["b"]))));
    for wrong in ["a,b,c", "a,a", "d", "[]"] {
        assert!(typed(&many, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn formats_are_checked_and_unknown_ones_are_not() {
    for (format, right, wrong) in [
        ("email", "a@b.example", "a.b.example"),
        ("uri", "https://a.example/x", "a.example"),
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-05-01T12:00:00Z", "2026-05-01"),
    ] {
        let field = one(&json!({"type": "string", "format": format}));
        assert!(value(&field, right).is_ok(), "{right}");
        assert!(value(&field, wrong).is_err(), "{wrong}");
    }
    let field = one(&json!({"type": "string", "format": "colour", "pattern": "(["}));
    assert_eq!(value(&field, "red"), Ok(Some(json!("red"))));
}

#[test]
fn too_many_fields_or_choices_are_refused_by_the_name_of_the_limit() {
    let many: Map<String, Value> =
        (0..65).map(|nth| (format!("f{nth}"), json!({"type": "string"}))).collect();
    assert!(form(&json!({ "properties": many })).unwrap_err().contains("form fields"));
    let words: Vec<String> = (0..501).map(|nth| nth.to_string()).collect();
    let schema = json!({"properties": {"x": {"enum": words}}});
    assert!(form(&schema).unwrap_err().contains("form choices"));
}
