//! Properties that a provider cannot take under their own name: renamed on the way out, named back
//! in the arguments that a model writes.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::domain::ModelName;
use crate::schema::adapt::Adapted;

/// The adapted schemas of the tools that have renamed properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Renames(HashMap<ModelName, Adapted>);

impl Renames {
    /// Remembers the renamed properties of one tool, and gives out its schema.
    pub(super) fn add(&mut self, tool: &ModelName, adapted: Adapted) -> Value {
        let schema = adapted.schema.clone();
        if !adapted.renamed.is_empty() {
            self.0.insert(tool.clone(), adapted);
        }
        schema
    }

    /// Arguments as a model wrote them, under the original names.
    pub(super) fn back(&self, tool: &ModelName, arguments: &mut Map<String, Value>) {
        if let Some(adapted) = self.0.get(tool) {
            *arguments = adapted.restore(std::mem::take(arguments));
        }
    }

    /// Arguments of an earlier call, under the names that the model knows.
    pub(super) fn out(&self, tool: &ModelName, arguments: &mut Map<String, Value>) {
        if let Some(adapted) = self.0.get(tool) {
            *arguments = adapted.conceal(std::mem::take(arguments));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::adapt::{Target, adapt};

    #[test]
    fn names_go_out_and_come_back() {
        let tool = ModelName::from("t");
        let schema = json!({"type": "object", "properties": {"@x y": {"type": "string"}}});
        let adapted = adapt(&schema, Target::Anthropic);
        assert!(!adapted.renamed.is_empty(), "{adapted:?}");
        let mut renames = Renames::default();
        let sent = renames.add(&tool, adapted);
        assert!(sent["properties"].get("@x y").is_none());
        let original = json!({"@x y": "1", "other": true}).as_object().cloned().unwrap();
        let mut arguments = original.clone();
        renames.out(&tool, &mut arguments);
        assert!(arguments.get("@x y").is_none());
        renames.back(&tool, &mut arguments);
        assert_eq!(arguments, original);
    }
}
