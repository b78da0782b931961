//! Tool definitions as servers give them (D1–D11). One bad definition costs that tool alone.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::headers::{self, ParamHeader};
use super::super::paging::TOOL_LIMIT;
use crate::domain::{Annotations, Era, ToolDefinition, ToolName};

/// Most bytes that the definitions of one server may take together, roughly counted.
pub const LIST_LIMIT: usize = 64 * 1024 * 1024;

/// A usable definition, and which of its arguments travel in headers too.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The definition.
    pub definition: ToolDefinition,
    /// Empty for legacy servers, where the annotation means nothing.
    pub headers: Vec<ParamHeader>,
}

/// All pages of one list, put together.
#[derive(Debug, Default)]
pub struct ToolList {
    /// Usable tools in the server's order.
    pub tools: Vec<Listed>,
    /// The others: name as far as known, and reason.
    pub dropped: Vec<(String, String)>,
    /// What the protocol does not allow and was put up with: what, and in which tool.
    pub breaches: Vec<(&'static str, String)>,
    places: HashMap<String, usize>,
    weight: usize,
    full: Option<String>,
}

impl ToolList {
    /// Takes one page; returns how many items it had. `Err` where it is no list at all.
    pub fn take_page(&mut self, result: Value, era: Era) -> Result<usize, String> {
        let Value::Object(mut page) = result else {
            return Err("its answer to tools/list is not an object".to_owned());
        };
        let Some(Value::Array(items)) = page.remove("tools") else {
            return Err("its answer to tools/list has no list of tools".to_owned());
        };
        let count = items.len();
        for item in items {
            self.weight = self.weight.saturating_add(weight(&item));
            if self.tools.len() + self.dropped.len() >= TOOL_LIMIT {
                self.full = Some(format!("more than the limit of {TOOL_LIMIT} tools"));
            } else if self.weight > LIST_LIMIT {
                self.full = Some(format!("more than the limit of {LIST_LIMIT} bytes (tool list)"));
            } else {
                self.take(item, era);
                continue;
            }
            break;
        }
        Ok(count)
    }

    /// Which limit the list has reached, in words. Nothing is taken beyond it.
    pub fn full(&self) -> Option<&str> {
        self.full.as_deref()
    }

    fn take(&mut self, item: Value, era: Era) {
        match read(item, era) {
            Err(dropped) => self.dropped.push(dropped),
            Ok(listed) => {
                self.judge(&listed.definition);
                let name = listed.definition.name.as_str();
                if let Some(first) = self.places.get(name).and_then(|at| self.tools.get(*at)) {
                    // The very same again, as when a page comes twice, is not worth a word.
                    if first.definition.raw != listed.definition.raw {
                        let reason = "listed twice: the first one counts";
                        self.dropped.push((name.to_owned(), reason.to_owned()));
                    }
                } else {
                    self.places.insert(name.to_owned(), self.tools.len());
                    self.tools.push(listed);
                }
            }
        }
    }

    /// Notes what a usable definition should not be, the first tool of each kind.
    fn judge(&mut self, tool: &ToolDefinition) {
        for breach in breaches(tool) {
            if self.breaches.iter().all(|(known, _)| *known != breach) {
                self.breaches.push((breach, tool.name.as_str().to_owned()));
            }
        }
    }
}

/// D4, D5: what is wrong with a definition that can be used all the same. Cheap: lists may be long.
fn breaches(tool: &ToolDefinition) -> Vec<&'static str> {
    let input = tool.input_schema.as_object();
    let output = tool.output_schema.as_deref();
    let hints = tool.raw.get("annotations").and_then(Value::as_object);
    let hint = |key| hints.is_none_or(|hints| hints.get(key).is_none_or(Value::is_boolean));
    let hints_are_booleans = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
        .into_iter()
        .all(hint);
    let odd = [
        (
            input.is_some_and(|schema| schema.get("type").is_none_or(|kind| kind != "object")),
            "lists an input schema whose type is not object",
        ),
        (input.is_some_and(is_no_schema), "lists an input schema that is no schema"),
        (
            output.is_some_and(|schema| schema.as_object().is_none_or(is_no_schema)),
            "lists an output schema that is no schema",
        ),
        (
            refers_elsewhere(&tool.input_schema) || output.is_some_and(refers_elsewhere),
            "refers in a schema to another address; nothing is fetched, so that part is not checked",
        ),
        (!hints_are_booleans, "gives annotations that are neither true nor false"),
    ];
    odd.into_iter().filter_map(|(is_so, breach)| is_so.then_some(breach)).collect()
}

/// D7: whether a schema refers to an address outside itself.
fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| match (key.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(to)) => to.contains("://"),
            ("default" | "const" | "enum" | "examples", _) => false,
            (_, value) => refers_elsewhere(value),
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}

/// Whether the keywords at the top of a schema have values that no schema may have.
fn is_no_schema(schema: &Map<String, Value>) -> bool {
    let kinds = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let kind = |value: &Value| value.as_str().is_some_and(|name| kinds.contains(&name));
    let holds = |key: &str, fits: &dyn Fn(&Value) -> bool| schema.get(key).is_none_or(fits);
    let strings =
        |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    let is_kind = |value: &Value| match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(kind),
        one => kind(one),
    };
    let named = |value: &Value| {
        let named = value.as_object();
        named.is_some_and(|named| named.values().all(|v| v.is_object() || v.is_boolean()))
    };
    !(holds("type", &is_kind)
        && holds("properties", &named)
        && holds("required", &strings)
        && holds("$defs", &named))
}

/// Roughly the bytes that a value takes.
pub fn weight(value: &Value) -> usize {
    16 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(k, v)| k.len() + weight(v)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn read(item: Value, era: Era) -> Result<Listed, (String, String)> {
    let name = item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let fault = |reason: &str| Err((name.clone(), reason.to_owned()));
    if name.is_empty() {
        return fault("its definition has no name");
    }
    let Some(schema) = item.get("inputSchema").filter(|schema| schema.is_object()) else {
        return fault("its inputSchema is missing or not an object");
    };
    if !takes_object(schema) {
        return fault("its inputSchema does not describe an object");
    }
    if era == Era::Legacy && wants_task(&item) {
        return fault(
            "it can only be called as a task of 2025-11-25, which this program does not do",
        );
    }
    let headers = match era {
        Era::Legacy => Vec::new(),
        Era::Modern => headers::scan(schema).map_err(|reason| (name.clone(), reason))?,
    };
    let definition = ToolDefinition {
        name: ToolName::new(name.as_str()),
        title: title(&item),
        description: string(&item, "description").unwrap_or_default(),
        input_schema: Arc::new(schema.clone()),
        output_schema: item.get("outputSchema").filter(|s| !s.is_null()).cloned().map(Arc::new),
        annotations: annotations(&item),
        raw: Arc::new(item),
    };
    Ok(Listed { definition, headers })
}

/// D5, tolerant: a schema that names no type at its root may still be meant.
fn takes_object(schema: &Value) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    }
}

/// Y1.
fn wants_task(item: &Value) -> bool {
    item.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required")
}

fn string(item: &Value, key: &str) -> Option<String> {
    item.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// D3.
fn title(item: &Value) -> Option<String> {
    let annotated = || item.get("annotations").and_then(|claims| string(claims, "title"));
    string(item, "title").or_else(annotated).filter(|title| !title.is_empty())
}

/// D4: what is not a boolean was not said.
fn annotations(item: &Value) -> Annotations {
    let claim = |key| item.get("annotations")?.get(key)?.as_bool();
    Annotations {
        read_only_hint: claim("readOnlyHint"),
        destructive_hint: claim("destructiveHint"),
        idempotent_hint: claim("idempotentHint"),
        open_world_hint: claim("openWorldHint"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(era: Era, tools: &Value) -> ToolList {
        let mut list = ToolList::default();
        list.take_page(json!({ "tools": tools }), era).unwrap();
        list
    }

    #[test]
    fn a_definition_keeps_its_schema_and_unknown_members_verbatim() {
        let schema = json!({"$schema": "x", "type": "object", "allOf": [{"$ref": "#/$defs/a"}]});
        let tool = json!({"name": "t", "inputSchema": schema, "odd": [1], "description": "d",
            "annotations": {"title": "T", "readOnlyHint": true, "destructiveHint": "no"}});
        let list = list(Era::Modern, &json!([tool]));
        let definition = &list.tools[0].definition;
        assert_eq!(*definition.input_schema, schema);
        assert_eq!(*definition.raw, tool);
        assert_eq!(definition.title.as_deref(), Some("T"));
        assert_eq!(definition.annotations.read_only_hint, Some(true));
        assert_eq!(definition.annotations.destructive_hint, None);
    }

    #[test]
    fn a_malformed_tool_goes_alone_and_with_a_reason() {
        let list = list(
            Era::Legacy,
            &json!([
                {"name": "a", "inputSchema": {"type": "object"}},
                {"name": "no schema"},
                {"inputSchema": {"type": "object"}},
                {"name": "array", "inputSchema": {"type": "array"}},
                "text",
                {"name": "a", "inputSchema": {"type": "object"}},
                {"name": "a", "inputSchema": {"type": "object"}, "title": "other"},
                {"name": "task", "inputSchema": {}, "execution": {"taskSupport": "required"}},
                {"name": "z", "inputSchema": {}}
            ]),
        );
        let names: Vec<_> = list.tools.iter().map(|tool| tool.definition.name.as_str()).collect();
        assert_eq!(names, ["a", "z"]);
        let dropped: Vec<_> = list.dropped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(dropped, ["no schema", "", "array", "", "a", "task"]);
    }

    #[test]
    fn schemas_that_are_none_are_noted_once_for_each_kind() {
        let list = list(
            Era::Modern,
            &json!([
                {"name": "good", "inputSchema": {"type": "object", "required": ["a"],
                    "properties": {"a": {"type": ["string", "null"]}, "b": true}},
                    "outputSchema": {"type": "array"}, "annotations": {"readOnlyHint": true}},
                {"name": "no type", "inputSchema": {}},
                {"name": "no type either", "inputSchema": {"properties": {}}},
                {"name": "required", "inputSchema": {"type": "object", "required": true}},
                {"name": "properties", "inputSchema": {"type": "object", "properties": {"a": "string"}}},
                {"name": "output", "inputSchema": {"type": "object"}, "outputSchema": "text"},
                {"name": "hints", "inputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": "yes"}},
                {"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"items":
                    {"$ref": "https://far.example.test/x.json"}}}}},
                {"name": "near", "inputSchema": {"type": "object", "$defs": {"a": {}},
                    "properties": {"$ref": {"$ref": "#/$defs/a", "default": {"$ref": "a://b"}}}}}
            ]),
        );
        assert_eq!(list.tools.len(), 9);
        let noted: Vec<_> = list.breaches.iter().map(|(_, tool)| tool.as_str()).collect();
        assert_eq!(noted, ["no type", "required", "output", "hints", "far"]);
    }

    #[test]
    fn a_header_annotation_counts_for_modern_servers_only() {
        let tools = json!([{"name": "t", "inputSchema": {"type": "object",
            "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}}]);
        assert!(list(Era::Modern, &tools).tools.is_empty());
        assert_eq!(list(Era::Legacy, &tools).tools.len(), 1);
    }

    #[test]
    fn a_list_is_bounded_in_number_and_size_and_names_the_limit() {
        let tool = |at: usize| json!({"name": at.to_string(), "inputSchema": {}});
        let many: Vec<Value> = (0..=TOOL_LIMIT).map(tool).collect();
        let many = list(Era::Legacy, &json!(many));
        assert_eq!(many.tools.len(), TOOL_LIMIT);
        assert!(many.full().unwrap().contains("10000 tools"));
        let text = "x".repeat(LIST_LIMIT / 2);
        let large = |name| json!({"name": name, "inputSchema": {}, "description": text});
        let huge = list(Era::Legacy, &json!([tool(1), large("a"), large("b")]));
        assert_eq!(huge.tools.len(), 2);
        assert!(huge.full().unwrap().contains("67108864 bytes (tool list)"));
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let mut list = ToolList::default();
        assert!(list.take_page(json!({ "tools": {} }), Era::Legacy).is_err());
        assert!(list.take_page(json!([]), Era::Legacy).is_err());
    }
}
