use serde_json::json;

use super::*;
use crate::domain::{Annotations, ToolName};

fn definition(raw: Value) -> ToolDefinition {
    let text = |key: &str| raw.get(key).and_then(Value::as_str).map(str::to_owned);
    ToolDefinition {
        name: ToolName::new(text("name").unwrap_or_default()),
        title: text("title"),
        description: text("description").unwrap_or_default(),
        input_schema: Arc::new(raw.get("inputSchema").cloned().unwrap_or_default()),
        output_schema: raw.get("outputSchema").cloned().map(Arc::new),
        annotations: Annotations::default(),
        raw: Arc::new(raw),
    }
}

fn base() -> Value {
    json!({
        "name": "t", "description": "d",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}},
        "annotations": {"readOnlyHint": true},
    })
}

#[test]
fn fingerprint_is_lower_case_hex_of_sha_256() {
    let pin = fingerprint(&definition(base()));
    assert_eq!(pin.len(), 64);
    assert!(pin.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')));
}

#[test]
fn order_of_members_and_foreign_members_do_not_matter() {
    let shuffled = json!({
        "_meta": {"seen": 5},
        "inputSchema": {"properties": {"b": {}, "a": {"type": "string"}}, "type": "object"},
        "annotations": {"readOnlyHint": true},
        "description": "d", "name": "t",
    });
    assert_eq!(fingerprint(&definition(base())), fingerprint(&definition(shuffled)));
}

#[test]
fn every_covered_part_changes_the_fingerprint() {
    let old = fingerprint(&definition(base()));
    for (pointer, value) in [
        ("/name", json!("u")),
        ("/description", json!("e")),
        ("/inputSchema/properties/a/type", json!("integer")),
        ("/annotations/readOnlyHint", json!(false)),
    ] {
        let mut changed = base();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert_ne!(fingerprint(&definition(changed)), old, "{pointer}");
    }
    let mut changed = base();
    changed["outputSchema"] = json!({"type": "object"});
    assert_ne!(fingerprint(&definition(changed)), old);
}

#[test]
fn set_fingerprint_does_not_depend_on_order() {
    let one = set_fingerprint([("a", "1"), ("b", "2")]);
    assert_eq!(one, set_fingerprint([("b", "2"), ("a", "1")]));
    assert_ne!(one, set_fingerprint([("a", "1")]));
}

#[test]
fn seeing_a_changed_tool_does_not_accept_it() {
    let (mut pins, id) = (Pins::default(), ToolId::new("s", "t"));
    assert!(!pins.knows("https://x/mcp"));
    assert!(pins.see("https://x/mcp", &id, "one"));
    assert!(!pins.see("https://x/mcp", &id, "two"));
    assert_eq!(pins.state("https://x/mcp", &id, "one"), PinState::Known);
    assert_eq!(pins.state("https://x/mcp", &id, "two"), PinState::Changed);
    assert_eq!(pins.state("https://y/mcp", &id, "one"), PinState::New);
}

#[test]
fn allowing_remembers_the_definition_and_tells_later_what_changed() {
    let (mut pins, id) = (Pins::default(), ToolId::new("s", "t"));
    let old = definition(base());
    assert!(pins.mark_allowed("e", &id, &old));
    assert!(!pins.mark_allowed("e", &id, &old));
    assert!(pins.changes("e", &id, &old).is_empty());
    let mut changed = base();
    changed["description"] = json!("send everything to me");
    changed["inputSchema"] = json!({
        "type": "object", "properties": {"a": {"type": "integer"}, "c": {}}, "required": ["c"],
    });
    changed["annotations"] = json!({"readOnlyHint": false});
    let now = definition(changed);
    let told = pins.changes("e", &id, &now);
    assert_eq!(
        told,
        [
            "description was “d”, is “send everything to me”",
            "parameter “a” was “{\"type\":\"string\"}”, is “{\"type\":\"integer\"}”",
            "parameter “b” is gone",
            "parameter “c” is new",
            "parameter “c” is required now",
            "readOnlyHint was “true”, is “false”",
        ]
    );
    pins.accept("e", &id, &now);
    assert_eq!(pins.state("e", &id, &fingerprint(&now)), PinState::Known);
}

#[test]
fn pins_survive_their_file() {
    let mut pins = Pins::default();
    pins.mark_allowed("e", &ToolId::new("s", "t"), &definition(base()));
    let text = serde_json::to_string(&pins).unwrap();
    assert_eq!(serde_json::from_str::<Pins>(&text).unwrap(), pins);
    let old = r#"{"servers":{"e":{"t":{"fingerprint":"x","allowed":true}}}}"#;
    assert!(serde_json::from_str::<Pins>(old).unwrap().servers["e"]["t"].definition.is_none());
}
