//! Properties that a provider cannot take under their own name: renamed on the way out, named back
//! in the arguments that a model writes.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::domain::ModelName;

/// Which way a name is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Original to sent.
    Out,
    /// Sent to original.
    Back,
}

/// Renamed properties: pointer of the object in the arguments, sent key, original key.
type List = Vec<(String, String, String)>;

/// The renamed properties of each tool that has any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames(HashMap<ModelName, List>);

impl Renames {
    /// Remembers the renamed properties of one tool.
    pub(super) fn add(&mut self, tool: &ModelName, renamed: List) {
        if !renamed.is_empty() {
            self.0.insert(tool.clone(), renamed);
        }
    }

    /// Changes the names in the arguments of one call.
    pub(super) fn apply(&self, tool: &ModelName, arguments: &mut Map<String, Value>, way: Way) {
        let Some(list) = self.0.get(tool) else { return };
        // Pointers are in original names: outer objects are named back first and sent last.
        let mut order: Vec<_> = list.iter().collect();
        order.sort_by_key(|(pointer, ..)| pointer.split('/').count());
        if way == Way::Out {
            order.reverse();
        }
        for (pointer, sent, original) in order {
            let (from, to) = match way {
                Way::Out => (original, sent),
                Way::Back => (sent, original),
            };
            let path: Vec<String> = pointer.split('/').skip(1).map(unescape).collect();
            rename(arguments, &path, from, to);
        }
    }
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn rename(object: &mut Map<String, Value>, path: &[String], from: &str, to: &str) {
    let Some((first, rest)) = path.split_first() else {
        // Rebuilt, so that the order of the members stays.
        if object.contains_key(from) && !object.contains_key(to) {
            let named = std::mem::take(object).into_iter().map(|(key, value)| {
                if key == from { (to.to_owned(), value) } else { (key, value) }
            });
            *object = named.collect();
        }
        return;
    };
    if let Some(inner) = object.get_mut(first) {
        descend(inner, rest, from, to);
    }
}

/// A list stands for each of its entries, whether the pointer has a segment for them or not.
fn descend(value: &mut Value, path: &[String], from: &str, to: &str) {
    match value {
        Value::Object(object) => rename(object, path, from, to),
        Value::Array(entries) => {
            let rest = match path.split_first() {
                Some((first, rest)) if is_entry(first) => rest,
                _ => path,
            };
            for entry in entries {
                descend(entry, rest, from, to);
            }
        }
        _ => {}
    }
}

fn is_entry(segment: &str) -> bool {
    matches!(segment, "*" | "-") || segment.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_go_out_and_come_back_in_nested_objects_and_lists() {
        let mut renames = Renames::default();
        let tool = ModelName::from("t");
        renames.add(
            &tool,
            vec![
                (String::new(), "x_at".to_owned(), "@x".to_owned()),
                ("/@x/*".to_owned(), "y_z".to_owned(), "y.z".to_owned()),
            ],
        );
        let original = json!({"@x": [{"y.z": 1, "k": 2}], "other": true});
        let Value::Object(mut arguments) = original.clone() else { unreachable!() };
        renames.apply(&tool, &mut arguments, Way::Out);
        assert_eq!(
            Value::Object(arguments.clone()),
            json!({"x_at": [{"y_z": 1, "k": 2}], "other": true})
        );
        renames.apply(&tool, &mut arguments, Way::Back);
        assert_eq!(Value::Object(arguments), original);
    }
}
