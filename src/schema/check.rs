//! Arguments against the schema, before anything is asked or sent.
//!
//! No value is turned into another type: what does not fit goes back to the model, with the path,
//! what was found there and what is allowed. Nothing is fetched, patterns cannot run away, and the
//! report is bounded. Where a schema itself cannot be used, what can be said without it is
//! checked: a sloppy server must not cost its tools.

mod report;
mod weight;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::{Map, Value};

use super::{form, merge, resolve};

/// `schemaDepth`: deepest nesting of an input schema.
pub const SCHEMA_DEPTH: usize = 96;
/// `schemaNodes`: values in one input schema.
pub const SCHEMA_NODES: usize = 20_000;
/// Faults that one report lists.
const FAULTS: usize = 8;
/// `resultNodes`: values in one structured result that is compared with its schema.
pub const RESULT_NODES: usize = 50_000;
/// Faults of a structured result that are named.
const MISFITS: usize = 3;
/// Steps that a pattern with look-around may take on one text.
const STEPS: usize = 100_000;

/// What is wrong with a tool's input schema itself; `None` when arguments can be checked by it.
/// Looks at its shape only, so that listing thousands of tools stays cheap.
pub fn schema_fault(schema: &Value) -> Option<String> {
    let Some(map) = schema.as_object() else {
        return Some(format!("its input schema is {}, not an object", report::kind(schema)));
    };
    let object = match map.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    };
    if !object {
        let kind = map.get("type").map(ToString::to_string).unwrap_or_default();
        return Some(format!(
            "its input schema asks for {}, but arguments are always an object",
            crate::text::cut(&kind, 60)
        ));
    }
    if map.get("properties").is_some_and(|properties| !properties.is_object()) {
        return Some("the properties of its input schema are not an object".to_owned());
    }
    too_large(schema)
}

fn too_large(schema: &Value) -> Option<String> {
    let mut pending = vec![(schema, 1)];
    let mut nodes = 0;
    while let Some((value, depth)) = pending.pop() {
        nodes += 1;
        if depth > SCHEMA_DEPTH {
            return Some(format!(
                "its input schema is nested deeper than the limit schemaDepth of {SCHEMA_DEPTH}"
            ));
        }
        if nodes > SCHEMA_NODES {
            return Some(format!(
                "its input schema holds more values than the limit schemaNodes of {SCHEMA_NODES}"
            ));
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    None
}

/// Checks arguments; the error names each path and what is wrong there, for a model to mend.
pub fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let arguments = Value::Object(arguments.clone());
    let faults = match validator(schema, &arguments) {
        Some(validator) => {
            let errors = validator.iter_errors(&arguments).take(FAULTS + 1);
            errors.map(|error| report::sentence(&error, schema)).collect()
        }
        None => plainly(schema, &arguments),
    };
    report::whole(&faults, FAULTS)
}

/// What of a structured result does not fit its schema, in a few words; `None` where it fits, where
/// the schema cannot be used, or where the value is too large to be compared.
pub fn misfit(schema: &Value, value: &Value) -> Option<String> {
    if nodes(value) > RESULT_NODES {
        return None;
    }
    let validator = validator(schema, value)?;
    let mut errors = validator.iter_errors(value).map(|error| report::sentence(&error, schema));
    let named: Vec<String> = errors.by_ref().take(MISFITS).collect();
    let more = if errors.next().is_some() { ", and more" } else { "" };
    (!named.is_empty()).then(|| format!("{}{more}", named.join("; ")))
}

/// Values in a value, itself included; no further than is asked for.
fn nodes(value: &Value) -> usize {
    let mut pending = vec![value];
    let mut nodes = 0;
    while let Some(value) = pending.pop() {
        nodes += 1;
        if nodes > RESULT_NODES {
            break;
        }
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    nodes
}

/// Builds a validator, the way in which the schema can be used as it is first. None for a schema
/// that cannot be used at all, or would take too long with these arguments.
fn validator(schema: &Value, arguments: &Value) -> Option<Validator> {
    if too_large(schema).is_some() {
        return None;
    }
    let schema = usable(schema);
    if weight::too_heavy(&schema, arguments) {
        return None;
    }
    let declared = schema.get("$schema").is_some();
    let drafts =
        if declared { vec![None] } else { vec![None, Some(Draft::Draft7), Some(Draft::Draft4)] };
    drafts.into_iter().find_map(|draft| {
        let options = || {
            let options = jsonschema::options().offline().should_validate_formats(false);
            match draft {
                Some(draft) => options.with_draft(draft),
                None => options,
            }
        };
        // Linear patterns first; look-around needs the engine that can backtrack, on a short leash.
        let linear = |options: ValidationOptions<'static>| {
            options.with_pattern_options(PatternOptions::regex()).build(&schema)
        };
        let bounded = |options: ValidationOptions<'static>| {
            let patterns = PatternOptions::fancy_regex().backtrack_limit(STEPS);
            options.with_pattern_options(patterns).build(&schema)
        };
        linear(options()).or_else(|_| bounded(options())).ok()
    })
}

/// A copy without what would make the whole schema unusable: references that lead nowhere, outside
/// or only to themselves accept anything; an unknown dialect is taken for the usual one.
fn usable(schema: &Value) -> Value {
    let mut copy = schema.clone();
    if let Some(map) = copy.as_object_mut() {
        let known = map.get("$schema").and_then(Value::as_str);
        if known.is_some_and(|dialect| !dialect.contains("json-schema.org/")) {
            map.shift_remove("$schema");
        }
    }
    mend(schema, &mut copy);
    copy
}

fn mend(root: &Value, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| mend(root, item)),
        Value::Object(map) => {
            let reference = map.get("$ref").and_then(Value::as_str);
            if reference.is_some_and(|reference| !leads_somewhere(root, reference)) {
                map.shift_remove("$ref");
            }
            // Where these stand for a parameter's name, a schema follows and not a text.
            for keyword in ["$id", "$dynamicRef", "$recursiveRef"] {
                if map.get(keyword).is_some_and(Value::is_string) {
                    map.shift_remove(keyword);
                }
            }
            let values = map.iter_mut().filter(|(key, value)| *key != "enum" || !value.is_array());
            values.for_each(|(_, member)| mend(root, member));
        }
        _ => {}
    }
}

/// Whether following a reference comes to a schema that says something: not to itself, directly or
/// by parts that apply to the same value.
fn leads_somewhere(root: &Value, reference: &str) -> bool {
    let Some(target) = resolve(root, reference) else {
        return false;
    };
    let mut pending = vec![target];
    let mut seen = std::collections::HashSet::from([reference]);
    while let Some(schema) = pending.pop() {
        let Some(map) = schema.as_object() else { continue };
        if let Some(next) = map.get("$ref").and_then(Value::as_str) {
            if next == reference {
                return false;
            }
            if seen.insert(next) {
                pending.extend(resolve(root, next));
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            pending.extend(map.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        pending.extend(["not", "if", "then", "else"].iter().filter_map(|key| map.get(*key)));
        let dependent = map.get("dependentSchemas").and_then(Value::as_object);
        pending.extend(dependent.into_iter().flat_map(Map::values));
    }
    true
}

/// What can be said without a validator: what is missing, and the types at the top.
fn plainly(schema: &Value, arguments: &Value) -> Vec<String> {
    let flat = merge::flatten(schema);
    let names = flat.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = names
        .filter_map(Value::as_str)
        .filter(|name| arguments.get(*name).is_none())
        .map(|name| report::missing("", name, schema));
    let wrong = form::fields(schema).into_iter().filter_map(|field| {
        let value = arguments.get(&field.name)?;
        let kinds = form::types(schema, &field.name)?;
        (!kinds.iter().any(|kind| report::is(value, kind))).then(|| {
            report::wrong_type(
                &format!("/{}", super::escaped(&field.name)),
                value,
                &kinds.join(" or "),
            )
        })
    });
    missing.chain(wrong).collect()
}
