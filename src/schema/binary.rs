//! Finds tools that want raw bytes.
//!
//! A tool asks for bytes if no call can do without them: the value is required, all the way up.
//! Parameters that only carry such a name, or an optional one that can be left out, are no reason.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::resolve;

/// Deepest nesting that is looked at.
const DEPTH: usize = 64;
/// Schemas that are looked at, counting repeats.
const VISITS: usize = 5_000;

/// The path of a required value that must be binary, if the schema has one: such as `body`,
/// `files[].data`; `arguments` where it is the whole.
pub fn binary_parameter(schema: &Value) -> Option<String> {
    let mut search = Search { root: schema, open: HashSet::new(), left: VISITS };
    let path = search.look(schema, 0)?;
    let path = path.trim_start_matches('.');
    Some(if path.is_empty() { "arguments".to_owned() } else { path.to_owned() })
}

struct Search<'a> {
    root: &'a Value,
    /// References being followed; one that comes up again asks for nothing new.
    open: HashSet<&'a str>,
    left: usize,
}

impl<'a> Search<'a> {
    fn look(&mut self, schema: &'a Value, depth: usize) -> Option<String> {
        let schema = schema.as_object()?;
        self.left = self.left.checked_sub(1)?;
        if depth > DEPTH {
            return None;
        }
        if is_binary(schema) {
            return Some(String::new());
        }
        self.reference(schema, depth)
            .or_else(|| self.all(schema, depth))
            .or_else(|| self.either(schema, depth))
            .or_else(|| self.properties(schema, depth))
            .or_else(|| self.items(schema, depth))
    }

    fn reference(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        let reference = schema.get("$ref")?.as_str()?;
        let target = resolve(self.root, reference)?;
        if !self.open.insert(reference) {
            return None;
        }
        let found = self.look(target, depth + 1);
        self.open.remove(reference);
        found
    }

    fn all(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        let members = schema.get("allOf")?.as_array()?;
        members.iter().find_map(|member| self.look(member, depth + 1))
    }

    /// Alternatives ask for bytes only if every one of them does.
    fn either(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        ["anyOf", "oneOf"].into_iter().find_map(|key| {
            let members = schema.get(key)?.as_array()?;
            let found: Option<Vec<String>> =
                members.iter().map(|member| self.look(member, depth + 1)).collect();
            found?.into_iter().next()
        })
    }

    fn properties(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        let mut required = Vec::new();
        self.required(schema, 0, &mut required);
        required.into_iter().find_map(|name| {
            let property = self.property(schema, name, 0)?;
            let rest = self.look(property, depth + 1)?;
            Some(format!(".{name}{rest}"))
        })
    }

    /// The names that a schema and the parts it is made of require.
    fn required(&mut self, schema: &'a Map<String, Value>, depth: usize, names: &mut Vec<&'a str>) {
        let own = schema.get("required").and_then(Value::as_array);
        names.extend(own.into_iter().flatten().filter_map(Value::as_str));
        for part in self.parts(schema, depth) {
            self.required(part, depth + 1, names);
        }
    }

    fn property(
        &mut self,
        schema: &'a Map<String, Value>,
        name: &str,
        depth: usize,
    ) -> Option<&'a Value> {
        let own = schema.get("properties").and_then(|properties| properties.get(name));
        own.or_else(|| {
            self.parts(schema, depth)
                .into_iter()
                .find_map(|part| self.property(part, name, depth + 1))
        })
    }

    fn parts(
        &mut self,
        schema: &'a Map<String, Value>,
        depth: usize,
    ) -> Vec<&'a Map<String, Value>> {
        if depth >= 4 {
            return Vec::new();
        }
        let members = schema.get("allOf").and_then(Value::as_array);
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| resolve(self.root, reference));
        let parts = members.into_iter().flatten().chain(target).take(self.left);
        let parts: Vec<_> = parts.filter_map(Value::as_object).collect();
        self.left -= parts.len();
        parts
    }

    fn items(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        let items = ["items", "prefixItems"].into_iter().filter_map(|key| schema.get(key));
        for items in items {
            let found = match items {
                Value::Array(several) => several.iter().find_map(|item| self.look(item, depth + 1)),
                one => self.look(one, depth + 1),
            };
            if let Some(rest) = found {
                return Some(format!("[]{rest}"));
            }
        }
        None
    }
}

fn is_binary(schema: &Map<String, Value>) -> bool {
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind == "binary",
        Some(Value::Array(kinds)) => !kinds.is_empty() && kinds.iter().all(|kind| kind == "binary"),
        _ => false,
    };
    kind || schema.get("format").is_some_and(|format| format == "binary")
        || schema.get("contentEncoding").is_some_and(Value::is_string)
}
