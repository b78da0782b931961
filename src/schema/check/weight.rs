//! How much work checking would be, found out before it is done.
//!
//! Alternatives that lead to alternatives multiply: a schema of a few hundred bytes can ask for
//! more comparisons than there is time. Counts them, for arguments as deep as those at hand.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::resolve;

/// `schemaWork`: comparisons that one check may cost in the worst case.
const WORK: u64 = 200_000;
/// Steps of the count itself.
const STEPS: u32 = 500_000;
/// Schemas that lead to one another about one value.
const CHAIN: usize = 128;

/// Whether a schema, without circles about one value, is too costly for these arguments.
pub(super) fn too_heavy(root: &Value, arguments: &Value) -> bool {
    let mut count = Count { root, known: HashMap::new(), steps: STEPS };
    count.schema(root, depth(arguments), CHAIN).is_none_or(|work| work > WORK)
}

fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(value, 1)];
    while let Some((value, depth)) = pending.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => pending.extend(map.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    deepest
}

struct Count<'a> {
    root: &'a Value,
    /// By reference and depth of what is left of the arguments.
    known: HashMap<(&'a str, usize), u64>,
    steps: u32,
}

impl<'a> Count<'a> {
    /// `None` where it cannot be counted.
    fn schema(&mut self, schema: &'a Value, depth: usize, chain: usize) -> Option<u64> {
        let Some(map) = schema.as_object() else { return Some(1) };
        self.steps = self.steps.checked_sub(1)?;
        let chain = chain.checked_sub(1)?;
        let mut work = 1_u64;
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            work = work.saturating_add(self.reference(reference, depth, chain)?);
        }
        for part in about_the_same(map) {
            work = work.saturating_add(self.schema(part, depth, chain)?);
        }
        if let Some(depth) = depth.checked_sub(1) {
            for part in about_members(map) {
                work = work.saturating_add(self.schema(part, depth, CHAIN)?);
            }
        }
        Some(work)
    }

    fn reference(&mut self, reference: &'a str, depth: usize, chain: usize) -> Option<u64> {
        if let Some(work) = self.known.get(&(reference, depth)) {
            return Some(*work);
        }
        let work = self.schema(resolve(self.root, reference)?, depth, chain)?;
        self.known.insert((reference, depth), work);
        Some(work)
    }
}

fn about_the_same(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| map.get(key)?.as_array());
    let single = ["not", "if", "then", "else"].into_iter().filter_map(|key| map.get(key));
    let dependent = map.get("dependentSchemas").and_then(Value::as_object);
    lists.flatten().chain(single).chain(dependent.into_iter().flat_map(Map::values))
}

fn about_members(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let maps = ["properties", "patternProperties"];
    let maps = maps.into_iter().filter_map(|key| map.get(key)?.as_object()).flat_map(Map::values);
    let several = ["items", "prefixItems"].into_iter().filter_map(|key| map.get(key)?.as_array());
    let single = [
        "items",
        "contains",
        "additionalItems",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "propertyNames",
    ];
    maps.chain(several.flatten()).chain(single.into_iter().filter_map(|key| map.get(key)))
}
