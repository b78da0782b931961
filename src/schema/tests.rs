use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::adapt::{Target, adapt};
use super::binary::binary_parameter;
use super::check::{check, schema_fault};
use super::form::{arguments, fields, loose_arguments};

const TARGETS: [Target; 3] = [Target::OpenAi, Target::Anthropic, Target::Gemini];

fn args(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

fn fault(schema: &Value, arguments: Value) -> String {
    check(schema, &args(arguments)).unwrap_err()
}

/// Whether a keyword occurs where keywords stand.
fn has_keyword(schema: &Value, word: &str) -> bool {
    let Some(map) = schema.as_object() else { return false };
    map.iter().any(|(key, value)| match key.as_str() {
        "default" | "enum" | "const" | "examples" | "required" => key == word,
        "properties" | "$defs" => {
            key == word
                || value
                    .as_object()
                    .is_some_and(|map| map.values().any(|inner| has_keyword(inner, word)))
        }
        _ => {
            key == word
                || has_keyword(value, word)
                || value
                    .as_array()
                    .is_some_and(|items| items.iter().any(|inner| has_keyword(inner, word)))
        }
    })
}

mod binary {
    use super::*;

    #[test]
    fn required_bytes_are_found_and_look_alikes_are_not() {
        let upload = json!({"properties": {
            "name": {"type": "string"}, "body": {"type": "string", "format": "binary"},
        }, "required": ["body"]});
        assert_eq!(binary_parameter(&upload).as_deref(), Some("body"));
        let attach =
            json!({"properties": {"data": {"contentEncoding": "base64"}}, "required": ["data"]});
        assert_eq!(binary_parameter(&attach).as_deref(), Some("data"));
        let note = json!({"properties": {
            "text": {"type": "string"}, "icon": {"type": "string", "contentEncoding": "base64"},
        }, "required": ["text"]});
        assert_eq!(binary_parameter(&note), None);
        let convert = json!({"properties": {
            "binary": {"type": "boolean"},
            "mode": {"enum": ["text", "binary"], "description": "format: binary or text"},
            "format": {"type": "string", "default": "binary"},
        }, "required": ["binary", "mode", "format"]});
        assert_eq!(binary_parameter(&convert), None);
    }

    #[test]
    fn bytes_are_found_wherever_they_can_be_reached() {
        let bytes = json!({"type": "binary"});
        let cases = [
            (
                json!({"required": ["a"], "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": bytes}}),
                "a",
            ),
            (
                json!({"required": ["a"], "properties": {"a": {"type": "array", "items": bytes}}}),
                "a[]",
            ),
            (json!({"allOf": [{"required": ["a"]}, {"properties": {"a": bytes}}]}), "a"),
            (
                json!({"required": ["a"], "properties": {"a": {"required": ["b"], "properties": {"b": bytes}}}}),
                "a.b",
            ),
            (
                json!({"required": ["a"], "properties": {"a": {"anyOf": [bytes, {"format": "binary"}]}}}),
                "a",
            ),
            (json!({"required": ["a"], "properties": {"a": {"type": ["binary"]}}}), "a"),
        ];
        for (schema, path) in cases {
            assert_eq!(binary_parameter(&schema).as_deref(), Some(path), "{schema}");
        }
    }

    #[test]
    fn bytes_that_can_be_avoided_are_no_reason() {
        for schema in [
            json!({"required": ["a"], "properties": {"a": {"anyOf": [{"type": "binary"}, {"type": "string"}]}}}),
            json!({"properties": {"a": {"required": ["b"], "properties": {"b": {"type": "binary"}}}}}),
            json!({"required": ["a"], "properties": {"a": {"type": ["binary", "null"]}}}),
        ] {
            assert_eq!(binary_parameter(&schema), None, "{schema}");
        }
    }

    #[test]
    fn circles_end() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {
            "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}, "allOf": [{"$ref": "#"}],
        }}});
        assert_eq!(binary_parameter(&schema), None);
    }
}

mod checking {
    use super::*;

    #[test]
    fn texts_of_numbers_go_back_with_path_and_type() {
        let schema = json!({"type": "object", "properties": {
            "depth": {"type": "integer"}, "ratio": {"type": "number"}, "deep": {"type": "boolean"},
            "name": {"type": "string"},
        }});
        for depth in ["3", "1e3", "0x10", "12abc", " 7 "] {
            let report = fault(&schema, json!({"depth": depth}));
            assert!(report.contains("/depth") && report.contains("an integer"), "{report}");
        }
        assert_eq!(
            check(&schema, &args(json!({"depth": 3, "ratio": 0.5, "deep": true, "name": "007"}))),
            Ok(())
        );
    }

    #[test]
    fn report_lists_every_fault_with_what_is_allowed() {
        let schema = json!({"type": "object", "properties": {
            "owner": {"type": "string"}, "state": {"enum": ["open", "closed"]}, "n": {"type": "integer"},
        }, "required": ["owner"], "additionalProperties": false});
        let report = fault(&schema, json!({"state": "opne", "n": "x", "ownr": "me"}));
        for part in [
            "/owner is missing, it is required (string)",
            "/state is \"opne\", must be one of \"open\", \"closed\"",
            "/n is \"x\" (a string), must be an integer",
            "“ownr” (did you mean “owner”?)",
        ] {
            assert!(report.contains(part), "{part} not in {report}");
        }
    }

    #[test]
    fn alternatives_say_why_each_does_not_fit() {
        let schema =
            json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}});
        let report = fault(&schema, json!({"a": true}));
        assert!(report.contains("1) ") && report.contains("2) "), "{report}");
    }

    #[test]
    fn report_is_bounded() {
        let schema = json!({"additionalProperties": {"type": "integer"}});
        let many: Map<String, Value> =
            (0..5000).map(|n| (format!("k{n}"), json!("x".repeat(5000)))).collect();
        let report = check(&schema, &many).unwrap_err();
        assert!(report.len() < 5000 && report.contains("and more"), "{}", report.len());
    }

    #[test]
    fn references_that_lead_nowhere_accept_anything_and_fetch_nothing() {
        let schema = json!({"properties": {
            "lost": {"$ref": "#/$defs/nowhere"}, "far": {"$ref": "https://far.example.test/x.json"},
            "n": {"type": "integer"},
        }});
        assert_eq!(check(&schema, &args(json!({"lost": 1, "far": "x", "n": 1}))), Ok(()));
        assert!(check(&schema, &args(json!({"n": "x"}))).is_err());
    }

    #[test]
    fn circles_of_references_end() {
        let looped = json!({"$defs": {
            "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"},
            "c": {"allOf": [{"anyOf": [{"$ref": "#/$defs/c"}]}]},
        }, "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/c"}, "z": {"$ref": "#/properties/z"}}});
        assert_eq!(check(&looped, &args(json!({"x": 1, "y": 2, "z": 3}))), Ok(()));
        let own = json!({"$ref": "#"});
        assert_eq!(check(&own, &args(json!({"x": 1}))), Ok(()));
        let tree = json!({"$defs": {"node": {"type": "object", "properties": {
            "label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}}, "properties": {"root": {"$ref": "#/$defs/node"}}});
        let report = fault(&tree, json!({"root": {"children": [{"children": [{"label": 5}]}]}}));
        assert!(report.contains("/root/children/0/children/0/label"), "{report}");
    }

    #[test]
    fn sloppy_schemas_still_check_what_they_can() {
        for schema in [
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "pattern": "(["}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "binary"}}}),
            json!({"$schema": "https://odd.example.test/s", "required": ["a"], "properties": {"a": {"type": "integer"}}}),
            json!({"required": ["a"], "properties": {"a": {"type": "integer", "minimum": 0, "exclusiveMinimum": true}}}),
        ] {
            assert_eq!(check(&schema, &args(json!({"a": 1}))), Ok(()), "{schema}");
            assert!(fault(&schema, json!({})).contains("/a is missing"), "{schema}");
            assert!(fault(&schema, json!({"a": "x"})).contains("must be an integer"), "{schema}");
        }
    }

    #[test]
    fn runaway_pattern_ends() {
        let schema = json!({"properties": {"a": {"pattern": "^(?=(a+)+$)(a+)+b$"}}});
        let long = "a".repeat(40);
        assert!(check(&schema, &args(json!({"a": long}))).is_err());
    }

    #[test]
    fn faulty_schemas_are_named() {
        assert!(schema_fault(&json!("x")).unwrap().contains("a string"));
        assert!(schema_fault(&json!({"type": "string"})).unwrap().contains("\"string\""));
        assert!(schema_fault(&json!({"type": "object", "properties": []})).is_some());
        assert_eq!(schema_fault(&json!({"type": "object"})), None);
        assert_eq!(schema_fault(&json!({"anyOf": [{"type": "object"}]})), None);
        assert_eq!(
            schema_fault(&json!({"type": "object", "properties": {"p": true, "n": false}})),
            None
        );
        let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(schema_fault(&deep).unwrap().contains("schemaDepth"));
        let wide = json!({"enum": vec![0; 30_000]});
        assert!(schema_fault(&wide).unwrap().contains("schemaNodes"));
    }
}

mod adapting {
    use super::*;

    #[test]
    fn tool_without_parameters_gets_properties() {
        for target in TARGETS {
            for schema in [
                json!({"type": "object"}),
                json!({"$schema": "x", "title": "Nothing", "type": "object", "additionalProperties": false}),
            ] {
                let copy = adapt(&schema, target).schema;
                assert_eq!((&copy["type"], &copy["properties"]), (&json!("object"), &json!({})));
            }
        }
    }

    #[test]
    fn ordinary_schema_stays_as_it_is() {
        let schema = json!({"type": "object", "title": "T", "properties": {
            "a": {"type": "string", "minLength": 1, "default": "x", "format": "date"},
            "b": {"type": ["integer", "null"], "exclusiveMinimum": 0},
            "c": {"$ref": "#/$defs/d"}, "e": {"oneOf": [{"const": 1}, {"const": "x"}]},
        }, "required": ["a"], "additionalProperties": false, "$defs": {"d": {"type": "boolean"}}});
        assert_eq!(adapt(&schema, Target::OpenAi).schema, schema);
        assert_eq!(adapt(&schema, Target::Anthropic).schema, schema);
    }

    #[test]
    fn lists_say_what_they_hold() {
        let schema = json!({"type": "object", "properties": {
            "ids": {"type": "array", "description": "list"},
            "deep": {"type": "array", "items": {"type": "object", "properties": {"v": {"type": "array"}}}},
        }});
        for target in TARGETS {
            let copy = adapt(&schema, target).schema;
            assert!(copy.pointer("/properties/ids/items").is_some());
            assert!(copy.pointer("/properties/deep/items/properties/v/items").is_some());
            assert_eq!(copy.pointer("/properties/ids/description"), Some(&json!("list")));
        }
    }

    #[test]
    fn union_at_the_top_becomes_one_object() {
        let schema = json!({"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ]});
        let expected = json!({
            "properties": {"kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {}},
            "required": ["kind"], "type": "object",
        });
        assert_eq!(adapt(&schema, Target::OpenAi).schema, expected);
    }

    #[test]
    fn boolean_schemas_become_objects() {
        let schema = json!({"type": "object", "properties": {"payload": true, "never": false, "name": {"type": "string"}}, "required": ["never", "name"]});
        for target in TARGETS {
            let copy = adapt(&schema, target).schema;
            assert_eq!(copy["properties"], json!({"payload": {}, "name": {"type": "string"}}));
            assert_eq!(copy["required"], json!(["name"]));
        }
    }

    #[test]
    fn narrow_target_keeps_the_meaning_of_constants_and_type_lists() {
        let schema = json!({"type": "object", "properties": {
            "currency": {"const": "NOK"}, "version": {"const": 3}, "note": {"type": ["string", "null"]},
            "mode": {"oneOf": [{"const": "fast"}, {"const": "safe"}]},
        }, "required": ["currency"]});
        let copy = adapt(&schema, Target::Gemini).schema;
        let expected = json!({"type": "object", "properties": {
            "currency": {"type": "string", "enum": ["NOK"]},
            "version": {"type": "integer", "description": "Always 3."},
            "note": {"type": "string", "nullable": true},
            "mode": {"type": "string", "enum": ["fast", "safe"]},
        }, "required": ["currency"]});
        assert_eq!(copy, expected);
    }

    #[test]
    fn narrow_target_gets_references_written_out() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": {"who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}},
            "properties": {
                "guest": {"$ref": "#/$defs/who"}, "host": {"$ref": "#/$defs/who", "description": "who pays"},
                "lost": {"$ref": "#/$defs/nowhere"}, "n": {"type": "integer", "exclusiveMinimum": 0},
            },
        });
        let copy = adapt(&schema, Target::Gemini).schema;
        let who = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        assert_eq!(copy["properties"]["guest"], who);
        assert_eq!(copy["properties"]["host"]["description"], "who pays");
        assert_eq!(copy["properties"]["lost"], json!({"type": "object"}));
        assert_eq!(copy["properties"]["n"]["description"], "Greater than 0.");
        for word in ["$ref", "$defs", "$schema", "additionalProperties", "exclusiveMinimum"] {
            assert!(!has_keyword(&copy, word), "{word}");
        }
    }

    #[test]
    fn recursion_ends_in_an_open_schema() {
        let schema = json!({"type": "object", "$defs": {
            "node": {"type": "object", "properties": {"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
            "any": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/any"}}]},
        }, "properties": {"root": {"$ref": "#/$defs/node"}, "value": {"$ref": "#/$defs/any"}}});
        let copy = adapt(&schema, Target::Gemini).schema;
        assert_eq!(copy.pointer("/properties/root/properties/label/type"), Some(&json!("string")));
        assert_eq!(
            copy.pointer("/properties/root/properties/children/items"),
            Some(&json!({"type": "object"}))
        );
        assert!(!has_keyword(&copy, "$ref"));
        assert!(copy.to_string().len() < 65_536);
    }

    #[test]
    fn many_references_to_each_other_stay_small() {
        let defs: Map<String, Value> = (0..40)
            .map(|n| {
                let all: Map<String, Value> = (0..40)
                    .map(|m| (format!("p{m}"), json!({"$ref": format!("#/$defs/d{m}")})))
                    .collect();
                (format!("d{n}"), json!({"type": "object", "properties": all}))
            })
            .collect();
        let schema =
            json!({"type": "object", "$defs": defs, "properties": {"x": {"$ref": "#/$defs/d0"}}});
        let size = adapt(&schema, Target::Gemini).schema.to_string().len();
        assert!(size < 131_072, "{size}");
    }

    #[test]
    fn parameter_names_are_no_keywords_and_renamed_keys_lead_back() {
        let schema = json!({"type": "object", "properties": {
            "title": {"type": "string"}, "type": {"type": "string", "default": "manual"},
            "format": {"type": "string", "enum": ["binary", "text"]}, "required": {"type": "boolean"},
            "const": {"type": "string"}, "$defs": {"type": "string"}, "$ref": {"type": "string"},
            "page[size]": {"type": "integer"},
        }, "required": ["title", "page[size]"]});
        for target in [Target::Anthropic, Target::Gemini] {
            let adapted = adapt(&schema, target);
            let properties = adapted.schema["properties"].as_object().unwrap();
            assert_eq!(properties.len(), 8, "{properties:?}");
            assert!(
                properties
                    .keys()
                    .all(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)))
            );
            assert_eq!(adapted.schema["required"], json!(["title", "page_size_"]));
            let sent: Map<String, Value> =
                properties.keys().map(|key| (key.clone(), json!(1))).collect();
            let restored = adapted.restore(sent.clone());
            let originals: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(restored.keys().collect::<Vec<_>>(), originals);
            assert_eq!(adapted.conceal(restored), sent);
        }
        let open = adapt(&schema, Target::OpenAi);
        assert_eq!((open.schema, open.renamed), (schema, vec![]));
    }

    #[test]
    fn renamed_keys_lead_back_from_lists_references_and_each_other() {
        let schema = json!({"type": "object", "$defs": {"i": {"type": "object", "properties": {"a[b]": {}, "a_b_": {}}}},
            "properties": {"l i": {"type": "array", "items": {"$ref": "#/$defs/i"}}}});
        let adapted = adapt(&schema, Target::Anthropic);
        let original = args(json!({"l i": [{"a[b]": 1, "a_b_": 2}, {"a[b]": 3}]}));
        let sent = adapted.conceal(original.clone());
        assert_eq!(
            Value::Object(sent.clone()),
            json!({"l_i": [{"a_b__2": 1, "a_b_": 2}, {"a_b__2": 3}]})
        );
        assert_eq!(adapted.restore(sent), original);
    }
}

mod forms {
    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "$defs": {"size": {"type": "number", "description": "how big"}}, "properties": {
            "owner": {"type": "string", "description": "who"},
            "n": {"type": "integer", "default": 5},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": ["array", "null"], "items": {"type": "integer"}},
            "state": {"enum": ["open", "closed", 3]},
            "id": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "size": {"$ref": "#/$defs/size"},
            "when": {"type": "string", "format": "date"},
            "meta": {"type": "object"},
            "free": {},
        }, "required": ["owner"], "additionalProperties": false})
    }

    fn read(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        arguments(&schema(), &words).map(Value::Object)
    }

    #[test]
    fn fields_come_in_order_with_types_in_words() {
        let rows: Vec<_> = fields(&schema())
            .into_iter()
            .map(|field| format!("{}: {}", field.name, field.kind))
            .collect();
        let expected = [
            "owner: string",
            "n: integer",
            "deep: boolean",
            "tags: list of string",
            "ids: list of integer or null",
            "state: one of open, closed, 3",
            "id: integer or string",
            "size: number",
            "when: string (date)",
            "meta: object",
            "free: any",
        ];
        assert_eq!(rows, expected);
        let first = &fields(&schema())[0];
        assert!(first.required && first.description == "who");
        assert_eq!(fields(&schema())[1].default, Some(json!(5)));
        assert_eq!(fields(&schema())[7].description, "how big");
    }

    #[test]
    fn values_take_the_type_of_the_schema() {
        let words = [
            "owner=007",
            "n=-3",
            "deep=true",
            "tags=a",
            "tags=b,c",
            "ids=[1,2]",
            "ids=3",
            "state=3",
            "id=42",
            "size=1.5",
            "meta={\"a\":1}",
            "free=5",
            "when:=null",
        ];
        let expected = json!({
            "owner": "007", "n": -3, "deep": true, "tags": ["a", "b,c"], "ids": [1, 2, 3], "state": 3,
            "id": 42, "size": 1.5, "meta": {"a": 1}, "free": "5", "when": null,
        });
        assert_eq!(read(&words), Ok(expected));
        assert_eq!(read(&["id=x1", "owner=a=b"]), Ok(json!({"id": "x1", "owner": "a=b"})));
    }

    #[test]
    fn value_that_does_not_fit_names_key_and_type() {
        for (word, parts) in [
            ("n=1.5", ["“n”", "integer"]),
            ("n=1e3", ["“n”", "integer"]),
            ("deep=yes", ["“deep”", "boolean"]),
            ("state=opne", ["“state”", "one of open"]),
            ("ids=x", ["“ids”", "integer"]),
            ("meta=[1]", ["“meta”", "object"]),
            ("ownr=x", ["“ownr”", "“owner”"]),
            ("zzz=x", ["“zzz”", "owner, n"]),
            ("n:=x", ["“n”", "JSON"]),
            ("word", ["“word”", "KEY=VALUE"]),
        ] {
            let fault = read(&[word]).unwrap_err();
            assert!(parts.iter().all(|part| fault.contains(part)), "{word}: {fault}");
        }
        assert!(read(&["n=1", "n=2"]).unwrap_err().contains("twice"));
    }

    #[test]
    fn list_of_itself_ends() {
        let schema =
            json!({"properties": {"a": {"type": "array", "items": {"$ref": "#/properties/a"}}}});
        assert!(arguments(&schema, &["a=x".to_owned()]).unwrap_err().contains("“a” must be list"));
        assert_eq!(fields(&schema).len(), 1);
    }

    #[test]
    fn unchecked_words_keep_types_that_fit_and_are_text_where_none_does() {
        let schema =
            json!({"properties": {"n": {"type": "integer"}}, "additionalProperties": false});
        let words = ["n=many", "m=1", "k:=1"].map(str::to_owned);
        assert!(arguments(&schema, &words).is_err());
        let expected = args(json!({"n": "many", "m": "1", "k": 1}));
        assert_eq!(loose_arguments(&schema, &words), Ok(expected));
        assert_eq!(loose_arguments(&schema, &["n=5".to_owned()]), Ok(args(json!({"n": 5}))));
    }

    #[test]
    fn further_keys_pass_where_the_schema_is_open() {
        let words = ["x=5".to_owned()];
        assert_eq!(arguments(&json!({}), &words), Ok(args(json!({"x": "5"}))));
        let typed = json!({"additionalProperties": {"type": "integer"}});
        assert_eq!(arguments(&typed, &words), Ok(args(json!({"x": 5}))));
    }
}

/// Everything that walks a schema, on one whose parts multiply.
#[test]
fn schemas_that_multiply_end() {
    for key in ["allOf", "anyOf", "oneOf"] {
        let many = |to: &str| vec![json!({"$ref": to}); 60];
        let own = json!({key: many("#"), "required": ["a"], "properties": {"a": {key: many("#/properties/a")}}});
        let mut defs: Map<String, Value> = (0..12)
            .map(|n| (format!("d{n}"), json!({key: many(&format!("#/$defs/d{}", n + 1))})))
            .collect();
        defs.insert("d12".to_owned(), json!({"type": "integer"}));
        let chained =
            json!({"$defs": defs, "required": ["a"], "properties": {"a": {"$ref": "#/$defs/d0"}}});
        for schema in [own, chained] {
            assert_eq!((schema_fault(&schema), binary_parameter(&schema)), (None, None));
            assert_eq!(fields(&schema)[0].name, "a");
            assert!(fault(&schema, json!({})).contains("/a is missing"));
            arguments(&schema, &["a=x".to_owned()]).ok();
            for target in TARGETS {
                assert!(adapt(&schema, target).schema.to_string().len() < 1_000_000);
            }
        }
    }
}

/// Schemas that are wrong in likely ways.
fn hostile() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("items"),
        Just("required"),
        Just("$ref"),
        Just("$defs"),
        Just("anyOf"),
        Just("allOf"),
        Just("oneOf"),
        Just("enum"),
        Just("const"),
        Just("format"),
        Just("additionalProperties"),
        Just("a"),
        Just("a[b]"),
        Just("not"),
        Just("pattern"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        prop_oneof![
            Just("object"),
            Just("string"),
            Just("array"),
            Just("binary"),
            Just("#"),
            Just("#/$defs/a"),
            Just("#/properties/a"),
            Just("a"),
            Just("(["),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn hostile_schemas_are_survived(schema in hostile(), arguments in hostile()) {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let _ = (schema_fault(&schema), binary_parameter(&schema), fields(&schema), check(&schema, &arguments).is_ok());
        super::form::arguments(&schema, &["a=1".to_owned()]).ok();
        for target in TARGETS {
            let adapted = adapt(&schema, target);
            prop_assert_eq!(&adapted.schema["type"], "object");
            prop_assert!(adapted.schema["properties"].is_object());
            prop_assert_eq!(adapted.restore(adapted.conceal(arguments.clone())), arguments.clone());
        }
    }
}

#[test]
fn long_lists_do_not_multiply_where_references_are_written_out() {
    let properties: Map<String, Value> =
        (0..1000).map(|n| (format!("p{n}"), json!({"$ref": "#/$defs/long"}))).collect();
    let long: Vec<String> = (0..5000).map(|n| format!("choice number {n}")).collect();
    let schema = json!({"properties": properties, "$defs": {"long": {"enum": long}}});
    let size = adapt(&schema, Target::Gemini).schema.to_string().len();
    assert!(size < 1_000_000, "{size}");
}
