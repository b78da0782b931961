//! JSON pointers over a schema: which arguments it declares.

use std::collections::VecDeque;

use serde_json::Value;

/// Schemas that are looked at for one question, references and branches included.
const LOOKED_AT: usize = 2_000;
/// How deep declared arguments are listed.
const DEPTH: usize = 4;
/// Arguments that are listed.
const LISTED: usize = 500;

/// Whether a schema declares what the pointer leads to; `None` where it leaves that open, as an
/// object without `properties` does.
pub(super) fn declares(schema: &Value, pointer: &str) -> Option<bool> {
    let Some(path) = pointer.strip_prefix('/') else { return Some(false) };
    let mut here = spread(schema, vec![schema]);
    for token in path.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        let steps: Vec<Step<'_>> = here.iter().map(|schema| step(schema, &token)).collect();
        let open = steps.iter().any(|step| matches!(step, Step::Open));
        let next = steps.into_iter().filter_map(|step| match step {
            Step::To(schema) => Some(schema),
            Step::Open | Step::Nowhere => None,
        });
        let next: Vec<&Value> = next.collect();
        if next.is_empty() {
            return if open || here.is_empty() { None } else { Some(false) };
        }
        here = spread(schema, next);
    }
    Some(true)
}

/// The pointers to everything that a schema declares, the nearest to the top first; bounded.
pub(super) fn declared(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending: VecDeque<(String, Vec<&Value>, usize)> =
        VecDeque::from([(String::new(), vec![schema], 0)]);
    while let Some((path, schemas, depth)) = pending.pop_front() {
        for schema in spread(schema, schemas) {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, inner) in properties.into_iter().flatten() {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                if found.len() >= LISTED {
                    return found;
                }
                if !found.contains(&path) {
                    found.push(path.clone());
                }
                if depth + 1 < DEPTH {
                    pending.push_back((path, vec![inner], depth + 1));
                }
            }
        }
    }
    found
}

enum Step<'a> {
    To(&'a Value),
    Open,
    Nowhere,
}

fn step<'a>(schema: &'a Value, token: &str) -> Step<'a> {
    let Some(members) = schema.as_object() else {
        return if schema == &Value::Bool(true) { Step::Open } else { Step::Nowhere };
    };
    if let Some(inner) = members.get("properties").and_then(|all| all.get(token)) {
        return Step::To(inner);
    }
    let number = token.parse::<usize>().is_ok() || token == "-";
    if let (true, Some(items)) = (number, members.get("items")) {
        return Step::To(items);
    }
    let widened = |key: &str| members.get(key).is_some_and(|more| more != &Value::Bool(false));
    let wide = widened("additionalProperties") || widened("patternProperties");
    let says_nothing = !members.contains_key("properties")
        && !members.contains_key("items")
        && members.get("additionalProperties") != Some(&Value::Bool(false))
        && !members.keys().any(|key| BRANCHES.contains(&key.as_str()) || key == "$ref");
    let scalar = members.get("type").and_then(Value::as_str).is_some_and(is_scalar);
    if wide || number && members.contains_key("prefixItems") || says_nothing && !scalar {
        return Step::Open;
    }
    Step::Nowhere
}

fn is_scalar(kind: &str) -> bool {
    matches!(kind, "string" | "number" | "integer" | "boolean" | "null")
}

const BRANCHES: [&str; 6] = ["allOf", "anyOf", "oneOf", "if", "then", "else"];

/// The schemas with everything that they refer to and branch into.
fn spread<'a>(root: &'a Value, schemas: Vec<&'a Value>) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut pending = schemas;
    while let Some(schema) = pending.pop() {
        if found.len() >= LOOKED_AT || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        let referred = schema.get("$ref").and_then(Value::as_str);
        let referred = referred.and_then(|to| to.strip_prefix('#')).and_then(|to| root.pointer(to));
        pending.extend(referred);
        for branch in BRANCHES.iter().filter_map(|key| schema.get(key)) {
            match branch {
                Value::Array(several) => pending.extend(several),
                one => pending.push(one),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn declared_open_and_foreign_arguments_are_told_apart() {
        let schema = json!({
            "type": "object",
            "properties": {
                "owner": {"type": "string"},
                "filter": {"$ref": "#/$defs/filter"},
                "list": {"type": "array", "items": {"properties": {"id": {}}}},
                "free": {"type": "object"},
            },
            "anyOf": [{"properties": {"other": {}}}],
            "$defs": {"filter": {"type": "object", "properties": {"state": {"type": "string"}}}},
        });
        for (pointer, expected) in [
            ("/owner", Some(true)),
            ("/ownr", Some(false)),
            ("/filter/state", Some(true)),
            ("/filter/stat", Some(false)),
            ("/list/0/id", Some(true)),
            ("/list/0/no", Some(false)),
            ("/free/anything", None),
            ("/owner/deeper", Some(false)),
            ("/other", Some(true)),
            ("owner", Some(false)),
        ] {
            assert_eq!(declares(&schema, pointer), expected, "{pointer}");
        }
        assert_eq!(declares(&json!({"type": "object"}), "/x"), None);
        assert_eq!(declares(&json!({"properties": {}, "additionalProperties": {}}), "/x"), None);
        let listed = declared(&schema);
        assert!(listed.contains(&"/filter/state".to_owned()), "{listed:?}");
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        let schema = json!({"properties": {"child": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]});
        assert_eq!(declares(&schema, "/child/child/child"), Some(true));
        assert_eq!(declared(&schema).len(), DEPTH);
    }
}
