use proptest::prelude::*;
use serde_json::json;

use super::*;

fn schema(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn values_travel_bare_where_they_can_and_in_base64_where_not() {
    for (value, written) in [
        ("météo", "=?base64?bcOpdMOpbw==?="),
        ("Zürich ", "=?base64?WsO8cmljaCA=?="),
        ("a\tb", "=?base64?YQli?="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ("us west 1", "us west 1"),
        ("", ""),
        (" x", "=?base64?IHg=?="),
        ("a\nb", "=?base64?YQpi?="),
    ] {
        assert_eq!(encode(value), written, "{value:?}");
    }
}

proptest! {
    #[test]
    fn every_value_survives_the_way_through_a_header(value in any::<String>()) {
        let written = encode(&value);
        prop_assert!(written.bytes().all(|byte| (0x20..=0x7E).contains(&byte)));
        let packed = written.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE));
        let read = packed.map_or_else(|| written.clone(), |packed| {
            String::from_utf8(STANDARD.decode(packed).unwrap()).unwrap()
        });
        prop_assert_eq!(read, value);
    }
}

#[test]
fn annotated_properties_are_found_nested_ones_too() {
    let schema = schema(&json!({
        "region": { "type": "string", "x-mcp-header": "Region" },
        "deep": { "type": "object", "properties": {
            "n": { "type": ["integer", "null"], "x-mcp-header": "N" } } },
        "x-mcp-header": { "type": "string" },
        "other": { "type": "object", "default": { "x-mcp-header": 1 } },
    }));
    let found = scan(&schema).unwrap();
    let paths: Vec<_> = found.iter().map(|header| header.path.join("/")).collect();
    assert_eq!(paths, ["region", "deep/n"]);
}

#[test]
fn a_broken_annotation_costs_the_tool() {
    for properties in [
        json!({ "a": { "type": "string", "x-mcp-header": "" } }),
        json!({ "a": { "type": "string", "x-mcp-header": "no space" } }),
        json!({ "a": { "type": "string", "x-mcp-header": 7 } }),
        json!({ "a": { "type": "number", "x-mcp-header": "A" } }),
        json!({ "a": { "x-mcp-header": "A" } }),
        json!({ "a": { "type": ["string", "integer"], "x-mcp-header": "A" } }),
        json!({ "a": { "type": "string", "x-mcp-header": "A" },
                "b": { "type": "string", "x-mcp-header": "a" } }),
        json!({ "a": { "type": "array", "items": { "type": "string", "x-mcp-header": "A" } } }),
        json!({ "a": { "anyOf": [{ "type": "string", "x-mcp-header": "A" }] } }),
    ] {
        assert!(scan(&schema(&properties)).is_err(), "{properties}");
    }
    let behind_ref = json!({ "type": "object", "$defs": {
        "a": { "type": "string", "x-mcp-header": "A" } } });
    assert!(scan(&behind_ref).is_err());
}

#[test]
fn arguments_are_mirrored_by_type_and_absent_or_null_ones_are_not() {
    let header = |name: &str| ParamHeader { name: name.to_owned(), path: vec![name.to_owned()] };
    let headers: Vec<_> = ["s", "i", "b", "n", "missing"].into_iter().map(header).collect();
    let Value::Object(arguments) =
        json!({ "s": "north-1", "i": 25, "b": false, "n": null, "unannotated": 1 })
    else {
        panic!()
    };
    let pair = |name: &str, value: &str| (format!("Mcp-Param-{name}"), value.to_owned());
    assert_eq!(
        mirror(&headers, &arguments).unwrap(),
        [pair("s", "north-1"), pair("i", "25"), pair("b", "false")]
    );
}

#[test]
fn an_integer_that_readers_would_round_is_refused() {
    let headers = [ParamHeader { name: "I".to_owned(), path: vec!["i".to_owned()] }];
    for number in [json!(1_i64 << 53), json!(u64::MAX), json!(-(1_i64 << 53)), json!(1e300)] {
        let Value::Object(arguments) = json!({ "i": number }) else { panic!() };
        assert!(mirror(&headers, &arguments).is_err());
    }
    for (number, written) in
        [(json!((1_i64 << 53) - 1), "9007199254740991"), (json!(-3.0), "-3"), (json!(0), "0")]
    {
        let Value::Object(arguments) = json!({ "i": number }) else { panic!() };
        let mirrored = mirror(&headers, &arguments).unwrap();
        assert_eq!(mirrored, [("Mcp-Param-I".to_owned(), written.to_owned())]);
    }
}

#[test]
fn mirrored_arguments_are_bounded_and_the_limit_is_named() {
    let headers = [ParamHeader { name: "S".to_owned(), path: vec!["s".to_owned()] }];
    let Value::Object(arguments) = json!({ "s": "x".repeat(PARAM_LIMIT) }) else { panic!() };
    assert!(mirror(&headers, &arguments).unwrap_err().contains("limit of 16384 bytes"));
}
