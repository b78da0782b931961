//! Copies of schemas for providers that cannot take every keyword. The original is never changed.

mod copy;
mod narrow;

use serde_json::{Map, Value};

use super::merge;

/// What kind of endpoint a schema is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Chat completions as OpenAI and most others take them.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Gemini's compatible endpoint, the narrowest of all.
    Gemini,
}

/// A schema adapted for a provider, and how renamed properties lead back.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The copy.
    pub schema: Value,
    /// Renamed properties: JSON pointer of the object in the arguments, sent key, original key.
    /// The pointer consists of sent keys; `*` in it stands for every item of a list and every
    /// further member of an object. Inner objects come before those that hold them.
    pub renamed: Vec<(String, String, String)>,
}

/// Adapts a copy of `schema`.
///
/// Every copy is an object schema with `properties`, without combinations at its top; boolean
/// schemas become objects, lists say what they hold, references lead somewhere. Beyond that only
/// what the target refuses is changed. Bounded in depth and size: what lies beyond accepts
/// anything.
pub fn adapt(schema: &Value, target: Target) -> Adapted {
    let flat = Value::Object(merge::flatten(schema));
    let (copied, renamed) = copy::copy(&flat, target);
    Adapted { schema: copied, renamed }
}

impl Adapted {
    /// Arguments as the model wrote them, under the keys that the server knows.
    pub fn restore(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let mut root = Value::Object(arguments);
        for (pointer, sent, original) in &self.renamed {
            rename(&mut root, pointer, sent, original);
        }
        into_object(root)
    }

    /// Arguments of an earlier call, under the keys that the model knows.
    pub fn conceal(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let mut root = Value::Object(arguments);
        for (pointer, sent, original) in self.renamed.iter().rev() {
            rename(&mut root, pointer, original, sent);
        }
        into_object(root)
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Renames a key in every object that the pointer leads to; keeps the order of members.
fn rename(value: &mut Value, pointer: &str, from: &str, to: &str) {
    let Some(path) = pointer.strip_prefix('/') else {
        if let Value::Object(map) = value
            && map.contains_key(from)
            && !map.contains_key(to)
        {
            let members = std::mem::take(map).into_iter();
            let renamed = |key| if key == from { to.to_owned() } else { key };
            map.extend(members.map(|(key, value)| (renamed(key), value)));
        }
        return;
    };
    let (first, rest) = match path.find('/') {
        Some(slash) => path.split_at(slash),
        None => (path, ""),
    };
    let first = first.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Array(items) if first == "*" => {
            for item in items {
                rename(item, rest, from, to);
            }
        }
        Value::Object(members) => {
            if let Some(member) = members.get_mut(&first) {
                rename(member, rest, from, to);
            } else if first == "*" {
                for member in members.values_mut() {
                    rename(member, rest, from, to);
                }
            }
        }
        _ => {}
    }
}
